"""Links to pages of their own: what they hold applies before the first step, and every reader's run has the same bits.

References: the native engine from the same start by the same steps, to 1e-12 of the state as long as twins that begin
1e-14 apart stay close (here 1 s): sine and cosine of the page and of this machine may differ by their last digit.
Loads of one link among each other: equal digits.
"""

import csv
from urllib.parse import parse_qsl

import numpy as np
import pytest
from helpers.browser import LabPage

import saltus

STEP, EVERY = 0.01, 2  # s; steps between two rows of a recording, of which there are 60 a second at most
SHOWN = 1.0  # s


@pytest.fixture(scope="module")
def file(written):
    """A double pendulum's page that starts with Euler's explicit method and 0.05 s, running."""
    return written("double_pendulum", integrator="explicit_euler", integrators=["rk4"], key="release")


def opened(browser, file, link):
    return LabPage(browser, f"{file.as_uri()}#{link}", 820, 520, accept_downloads=True).opened()


def closed(page):
    assert page.complaints == [] and page.get("lab.error") is None
    page.close()


def recorded(page, until):
    """Texts of the rows of the recording that the link has begun, as soon as the page has come so far (s)."""
    page.until(f"lab.status.recording && lab.status.recorded > {until}")
    section = page.unfolded("record-section")
    section.locator("#record").click()
    page.until("!lab.status.recording")
    with page.tab.expect_download() as download:
        section.locator("#download-trajectory").click()
    lines = download.value.path().read_text().splitlines()
    return [row for row in csv.reader(line for line in lines if not line.startswith("#"))][1:]


def natively(start, rows):
    """Rows of time, positions, velocities, controls, energies of the native engine."""
    sim = saltus.Simulation("double_pendulum", "rk4", timestep=STEP)
    sim.reset("release")
    for name, values in start.items():
        getattr(sim, name)[:] = values
    found = []
    for _ in range(rows):
        found.append(np.concatenate([[sim.time], sim.qpos, sim.qvel, sim.ctrl, sim.energy()]))
        sim.step(EVERY)
    return np.array(found)


@pytest.mark.parametrize(
    "start", [{}, {"qpos": (0.4, -0.2), "qvel": (0.3, -1.7), "ctrl": (2.5, 0.1)}], ids=["own", "given"]
)
def test_every_load_of_a_link_is_the_run_that_it_names(browser, file, start):
    given = "".join(f"&{name}={','.join(map(repr, values))}" for name, values in start.items())
    count = round(SHOWN / (EVERY * STEP))
    loads = []
    for _ in range(3):
        page = opened(browser, file, f"integrator=rk4&timestep={STEP}&record=true{given}")
        loads.append(recorded(page, SHOWN)[:count])
        closed(page)
    assert loads[0] == loads[1] == loads[2]
    expected = natively(start, count)
    assert np.abs(np.array(loads[0], float) - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.slow
def test_single_coordinates_and_a_paused_start(browser, file):
    page = opened(browser, file, "integrator=rk4&timestep=0.01&qpos[theta2]=0.7&qvel[theta1]=-0.3&playing=false")
    found = page.state()
    assert found["qpos"].tolist() == [np.pi / 2, 0.7] and found["qvel"].tolist() == [-0.3, 0.0]
    page.steps(3)
    page.tab.click("#reset")  # goes back to the link's start
    page.until("lab.status.time === 0")
    assert page.state()["qpos"].tolist() == [np.pi / 2, 0.7]
    closed(page)


@pytest.mark.slow
@pytest.mark.parametrize("button", ["share", "share-now"])
def test_a_copied_link_gives_back_start_settings_and_camera(browser, file, button):
    first = opened(browser, file, "integrator=rk4&timestep=0.01&qpos=1,2&playing=false")
    first.slide("ctrl[motor1]", 1.25)
    first.until("lab.status.sliders['ctrl[motor1]'] === 1.25")
    first.tab.fill("#gravity-z", "-1.62")
    first.tab.keyboard.press("Enter")
    first.until("lab.status.gravity[2] === -1.62")
    first.press("ArrowLeft")
    first.steps(7)
    now, camera = first.state(), first.get("lab.camera")
    first.unfolded("view-section").locator(f"#{button}").click()
    first.wait(lambda: "gravity" in first.tab.evaluate("location.hash"))
    link = first.tab.evaluate("location.hash")[1:]
    closed(first)
    second = opened(browser, file, f"{link}&playing=false")
    assert second.get("lab.status.integrator") == "rk4" and second.get("lab.status.timestep") == 0.01
    found = second.state()
    if button == "share":
        assert (found["time"], found["qpos"].tolist(), found["ctrl"].tolist()) == (0.0, [1.0, 2.0], [1.25, 0.0])
        second.steps(7)
        found = second.state()
    else:
        assert dict(parse_qsl(link))["time"] == f"{now['time']:.17g}".rstrip("0") or found["time"] == now["time"]
    for name in ("time", "qpos", "qvel", "ctrl"):
        assert np.array_equal(found[name], now[name]), name
    for name in ("position", "forward"):
        assert second.get(f"lab.camera.{name}") == pytest.approx(camera[name], rel=1e-5, abs=1e-5)
    closed(second)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("qpos=1,2,3", "qpos has 2 numbers on this page, not 3"),
        ("timestep=-1", "not between"),
        ("integrator=verlet", "verlet"),
        ("contact=hard", "no hard contact"),
        ("colour=red", "no such setting"),
        ("qpos[knee]=1", "no qpos[knee]"),
        ("servo=true", "no servo"),
        ("camera=1,2", "azimuth"),
        ("playing=perhaps", "neither true nor false"),
    ],
)
def test_what_a_link_cannot_set_is_named_and_the_rest_holds(browser, file, entry, words):
    page = opened(browser, file, f"{entry}&qvel=0.5,0&playing=false")
    page.wait(lambda: words in page.tab.inner_text("#toasts"))
    if not entry.startswith("playing"):
        assert page.state()["qvel"].tolist() == [0.5, 0.0]
    closed(page)
