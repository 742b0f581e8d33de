"""The lecture's pendulum in a browser, for the tests of the page; one for a module."""

import pytest
from helpers.browser import LabPage

from saltus import lab


@pytest.fixture(autouse=True)
def time_enough(monkeypatch):
    """Sessions that a test drives by hand take all their steps, however busy the machine is."""
    monkeypatch.setattr("saltus.lab.motion.BUDGET", 60.0)


@pytest.fixture(scope="module")
def url():
    with lab.open("pendularm", browser=False) as opened:
        yield opened.url


@pytest.fixture(scope="module")
def shared(browser, url):
    page = LabPage(browser, url, 820, 520, accept_downloads=True).opened()
    page.until("!lab.status.building", 200)  # compiled
    yield page
    assert page.complaints == [] and page.get("lab.error") is None
    page.close()


@pytest.fixture
def page(shared):
    """The page with the pendulum in its first state, paused, the servo off, velocity Verlet, speed 1."""
    shared.tab.mouse.up()
    if shared.get("lab.status.playing"):
        shared.pause()
    shared.press("s", "3")
    shared.until("lab.hud.includes('velocity verlet') && !lab.status.building", 60)
    shared.speed(1)
    shared.tab.click("#reset")
    shared.until("lab.frame.time === 0 && lab.status.time === 0 && lab.status.servo === false")
    return shared
