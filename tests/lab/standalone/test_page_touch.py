"""Touch on a page of its own: a double pendulum from a file on a phone, by fingers alone.

References: the window's own edges; the energy, which Runge and Kutta's method keeps to its order.
"""

import numpy as np
import pytest
from helpers.touch import TouchPage

pytestmark = pytest.mark.slow

PHONE, LYING = (390, 844), (844, 390)
SIZES = [(320, 568), (360, 640), PHONE, LYING, (640, 360), (768, 1024)]


@pytest.fixture(scope="module")
def page(browser, written):
    file = written("double_pendulum_ghosts", integrators=["explicit_euler", "velocity_verlet", "rk4"], playing=False)
    found = TouchPage(browser, file.as_uri(), *PHONE).opened()
    yield found
    assert found.complaints == [] and found.get("lab.error") is None
    assert [url for url in found.requests if not url.startswith((file.as_uri(), "blob:", "data:"))] == []
    found.close()


def left_unreachable(page):
    """What cannot be reached once plots and panel have found their new widths."""
    for _ in range(20):
        found = page.unreachable()
        if not found:
            break
        page.tab.wait_for_timeout(200)
    return found


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_everything_is_reached_and_nothing_is_cut(page, size):
    page.resize(*size)
    page.fold("fold", False)
    page.tab.evaluate("document.querySelectorAll('#panel details').forEach((part) => { part.open = true; })")
    page.fold("hud-fold", True)
    assert left_unreachable(page) == []
    page.fold("hud-fold", False)
    assert left_unreachable(page) == []
    page.fold("fold", True)
    assert left_unreachable(page) == []
    assert page.box("#canvas")[2] == size[0]
    page.fold("fold", False)
    page.fold("hud-fold", True)


def test_fingers_run_it_choose_a_method_and_pull(page):
    page.resize(*PHONE)
    page.tab.evaluate("document.querySelectorAll('#panel details').forEach((part) => { part.open = true; })")
    page.tab.tap("#play")
    page.until("lab.status.playing && lab.frame.time > 0.5")
    page.tab.select_option("#integrator", "rk4")
    page.until("lab.status.integrator === 'rk4'")
    page.fold("fold", True)
    start = page.get("lab.frame.time")
    page.until(f"lab.frame.time > {start} + 1")
    page.tab.tap("#play")
    page.until("!lab.status.playing && !lab.frame.playing")
    before = np.array(page.get("lab.frame.dofs[0]"))
    at = page.place("lower", "[0, 0, -2]")
    page.drag((at, (at[0], at[1] - 40)), lift=False)
    page.until("document.getElementById('canvas').classList.contains('pulling')")
    page.tab.keyboard.press("Space")  # other fingers would let go of it
    page.until("lab.status.playing")
    page.tab.wait_for_timeout(500)
    page.touch()
    page.tab.tap("#play")
    page.until("!lab.status.playing")
    assert np.abs(np.array(page.get("lab.frame.dofs[0]")) - before).max() > 1e-3


def test_its_energy_is_kept(page):
    """Under RK4 with steps of 5 ms, from rest, for five seconds: an error of order (ω h)⁴, 1e-6 with ω < 7 / s."""
    page.fold("fold", False)
    page.tab.evaluate("document.querySelectorAll('#panel details').forEach((part) => { part.open = true; })")
    page.tab.select_option("#integrator", "rk4")
    page.tab.fill("#timestep", "0.005")
    page.tab.keyboard.press("Enter")
    page.until("lab.status.integrator === 'rk4' && lab.status.timestep === 0.005")
    page.tab.tap("#reset")
    page.until("lab.status.time === 0")
    total = "lab.frame.energy[0].reduce((a, b) => a + b, 0)"
    first = page.get(total)
    page.tab.tap("#play")
    page.until("lab.frame.time > 5", 60)
    page.tab.tap("#play")
    assert page.get(total) == pytest.approx(first, rel=1e-5)
