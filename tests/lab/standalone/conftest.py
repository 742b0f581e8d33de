"""Pages of their own as files, in a browser that is cut off from every net."""

import pytest
from helpers.browser import LabPage

import saltus


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A function that gives the file of a scene's page, written once."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def file_of(name, **options):
        key = repr((name, options))
        if key not in known:
            known[key] = saltus.page(name, folder / f"{name}-{len(known)}.html", **options)
        return known[key]

    return file_of


@pytest.fixture(scope="module")
def shared(browser, written):
    file = written("pendularm", integrators=["explicit_euler", "verlet", "velocity_verlet", "rk4"])
    page = LabPage(browser, file.as_uri(), 820, 520, accept_downloads=True).opened()
    yield page
    assert page.complaints == [] and page.get("lab.error") is None
    allowed = (file.as_uri(), "blob:", "data:")
    assert [url for url in page.requests if not url.startswith(allowed)] == []  # no request leaves the page
    page.close()


@pytest.fixture
def page(shared):
    """The page with the pendulum in its first state, paused, the servo off, velocity Verlet, speed 1."""
    shared.tab.mouse.up()
    if shared.get("lab.status.playing"):
        shared.pause()
    shared.press("s", "3")
    shared.until("lab.hud.includes('velocity verlet')")
    shared.speed(1)
    shared.tab.click("#reset")
    shared.until("lab.frame.time === 0 && lab.status.time === 0 && lab.status.servo === false")
    return shared
