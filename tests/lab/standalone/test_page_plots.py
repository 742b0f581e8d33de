"""Energy and phase plots of a page: every step, and impacts as vertical lines.

Reference: a ball that falls from h hits the floor at sqrt(2 h / g) with sqrt(2 g h); a restitution e leaves e of its
velocity and e² of its energy. Between impacts its acceleration is -g.
"""

import numpy as np
import pytest
from helpers.browser import LabPage

G, E = 9.81, 0.8


@pytest.mark.slow
def test_impacts_are_vertical_and_every_step_is_drawn(browser, written):
    file = written("bouncing_ball", integrators=["rk4"])
    page = LabPage(browser, f"{file.as_uri()}#timestep=0.02", 820, 700).opened()
    page.until("lab.status.time > 1")
    page.pause()
    page.until("lab.phase && lab.energy && lab.energy[0].at(-1) === lab.status.time")
    (x, v), energy = page.get("lab.phase"), page.get("lab.energy")
    x, v = np.array(x, float), np.array(v, float)
    height = x[0]
    jump = int(np.argmax(np.diff(v)))
    assert x[jump] == x[jump + 1] == pytest.approx(0.0, abs=1e-4 * height)
    assert v[jump] == pytest.approx(-np.sqrt(2 * G * height), rel=1e-4)
    assert v[jump + 1] == pytest.approx(-E * v[jump], rel=1e-4)
    times, kinetic = np.array(energy[0]), np.array(energy[2], float)
    (k,) = np.flatnonzero((np.diff(times) == 0) & (times[:-1] < 0.5))
    assert times[k] == pytest.approx(np.sqrt(2 * height / G), abs=1e-5)
    assert kinetic[k + 1] / kinetic[k] == pytest.approx(E**2, rel=0.01)  # extrapolated along straight lines
    steps = np.diff(np.delete(times[: k + 10], [k, k + 1]))
    assert steps == pytest.approx(0.02)
    flight = slice(0, jump)
    assert np.diff(v[flight]) == pytest.approx(-G * 0.02, rel=1e-3)
    assert page.complaints == [] and page.get("lab.error") is None
    page.close()


@pytest.mark.slow
def test_the_phase_plot_shows_what_the_scene_names(browser, written):
    file = written("cart_pole", integrators=["rk4"])
    page = LabPage(browser, file.as_uri(), 820, 700).opened()
    assert page.tab.locator("#dof option:checked").inner_text() == "theta"
    page.close()


@pytest.mark.slow
def test_the_contact_force_at_rest_is_the_weight(browser, written):
    """The ball of 1 kg has come to rest after (1 + e) / (1 - e) falls from its height, at 2.87 s."""
    file = written("bouncing_ball", integrators=["rk4"])
    page = LabPage(browser, f"{file.as_uri()}#timestep=0.02", 820, 700).opened()
    page.until("lab.signals.chosen.includes('contact_force[floor ball]') && lab.status.time > 3.2")
    page.pause()
    page.until("lab.signals.times.at(-1) > 3.2")
    times, forces = page.get("((s) => [s.times, s.values['contact_force[floor ball]']])(lab.signals)")
    times, forces = np.array(times, float), np.array(forces, float)
    height = 0.5 * G * times[np.flatnonzero(forces > 0.0)[0]] ** 2
    assert forces[times < 0.9 * np.sqrt(2 * height / G)] == pytest.approx(0.0)
    assert forces[times > 3.0] == pytest.approx(G, rel=1e-6)
    page.close()
