"""Plots of signals on the page: choosing them by mouse, keyboard and touch, and what the curves hold.

Reference: `saltus.Simulation` by itself, stepped and read by hand, to the 32 bits of samples.
"""

from pathlib import Path

import numpy as np
import pytest
from helpers.browser import LabPage

import saltus
from saltus import lab

SAMPLES = Path(saltus.__file__).parent / "lab" / "page" / "src" / "samples.js"
STEP = 0.05


@pytest.fixture(scope="module")
def swinging():
    with lab.open("pendulum", timestep=STEP, browser=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def plots(browser, swinging):
    """A page with a pendulum that swings."""
    page = LabPage(browser, swinging.url, 1000, 700).opened()
    page.until("lab.signals.times.length > 5", 200)
    page.unfolded("choose-signals")
    yield page
    assert page.complaints == [] and page.get("lab.error") is None
    page.close()


def box(page, signal):
    return page.tab.locator(f"[data-signal='{signal}']")


def curve(page, signal):
    """Times and samples of what is plotted."""
    read = page.get(f"((signals) => [signals.times, signals.values['{signal}']])(lab.signals)")
    return np.array(read[0]), np.array(read[1], float)


def by_hand(count, read):
    sim = saltus.Simulation("pendulum", timestep=STEP)
    values = []
    for _ in range(count):
        values.append(read(sim))
        sim.step()
    return np.float32(values)


@pytest.mark.slow
def test_a_scene_begins_with_plots_of_its_own(browser, url):
    page = LabPage(browser, url, 1000, 700).opened()
    page.until("lab.signals.times.length > 5 && lab.signals.plots.every(({ data }) => data[0].length > 5)", 200)
    assert page.get("lab.signals.plots.map(({ title, labels }) => [title, ...labels])") == [
        ["angle, rad", "x", "x_desired"],
        ["torque, N m", "u"],
    ]
    names = page.tab.get_by_role("img", name="x, x_desired over time: angle, rad")
    assert names.count() == 1 and page.tab.locator("#signal-plots canvas").count() == 2
    page.close()


@pytest.mark.slow
def test_a_signal_is_chosen_with_the_mouse_and_shows_what_was(plots):
    """All of it from the first moment, though it is chosen late."""
    plots.until("lab.frame.time > 1")
    box(plots, "qvel[theta]").click()
    plots.until("lab.signals.chosen.includes('qvel[theta]') && lab.signals.times.length > 20")
    assert box(plots, "qvel[theta]").is_checked()
    times, rates = curve(plots, "qvel[theta]")
    np.testing.assert_allclose(times, STEP * np.arange(len(times)), rtol=1e-9)
    np.testing.assert_array_equal(rates, by_hand(len(rates), lambda sim: sim.qvel[0]))
    plots.until("lab.signals.plots.some(({ title, data }) => title === 'velocity, rad/s' && data[1].length > 20)")
    box(plots, "qvel[theta]").click()
    plots.until("!lab.signals.chosen.includes('qvel[theta]')")


@pytest.mark.slow
def test_a_signal_is_chosen_by_keyboard(plots):
    plots.tab.locator("#signal-filter").focus()
    plots.tab.keyboard.type("kinetic j")
    assert plots.tab.locator("#signal-list [data-signal]").count() == 1
    plots.tab.keyboard.press("Tab")  # Preset
    plots.tab.keyboard.press("Tab")  # None
    plots.tab.keyboard.press("Tab")
    plots.tab.keyboard.press("Space")
    plots.until("lab.signals.chosen.includes('kinetic') && lab.status.playing")
    _, kinetic = curve(plots, "kinetic")
    np.testing.assert_allclose(kinetic, by_hand(len(kinetic), lambda sim: sim.energy()[1]), rtol=1e-5, atol=1e-5)
    plots.tab.fill("#signal-filter", "")
    plots.tab.click("#signal-none")
    plots.until("lab.signals.chosen.length === 0")
    assert plots.tab.locator("#no-signals").is_visible()
    plots.tab.click("#signal-preset")
    plots.until("lab.signals.chosen.join() === 'qpos[theta],ctrl[motor]'")


@pytest.mark.slow
def test_a_reset_begins_the_curves_anew(plots):
    plots.until("lab.frame.time > 1")
    plots.tab.click("#reset")
    plots.until("lab.signals.times.length > 2 && lab.signals.times.length < 15")
    times, angles = curve(plots, "qpos[theta]")
    assert times[0] == 0 and np.all(np.diff(times) > 0)
    np.testing.assert_array_equal(angles, by_hand(len(angles), lambda sim: sim.qpos[0]))


def test_a_legend_shows_and_hides(plots):
    line = plots.tab.locator("#signal-plots .legend button").first
    assert line.get_attribute("aria-pressed") == "true"
    line.click()
    assert line.get_attribute("aria-pressed") == "false"
    line.click()


@pytest.mark.slow
def test_a_phone_chooses_by_touch_and_a_viewer_sees_what_the_writer_chose(browser, swinging, plots):
    plots.until("lab.signals.times.length > 5")
    plots.pause()
    phone = LabPage(browser, swinging.url, 390, 844, has_touch=True).opened()
    phone.until("lab.signals.chosen.length > 0")
    phone.unfolded("choose-signals").scroll_into_view_if_needed()
    assert box(phone, "energy").is_disabled()
    phone.tab.locator("#take").tap()
    phone.until("lab.role === 'writer'")
    box(phone, "energy").tap()
    for page in (phone, plots):
        page.until("lab.signals.chosen.includes('energy') && lab.signals.values.energy.length > 5")
    plots.tab.click("#take")
    plots.until("lab.role === 'writer'")
    assert phone.complaints == []
    phone.close()


@pytest.mark.slow
def test_a_recording_shows_all_of_itself_with_a_mark_at_the_time_that_is_shown(browser):
    trajectory = saltus.Simulation("pendulum", timestep=STEP).run(30.0, sample=0.1)
    with lab.open(trajectory, browser=False, playing=False) as opened:
        page = LabPage(browser, opened.url, 1000, 700).opened()
        page.until("lab.signals.plots.length > 0 && lab.signals.plots[0].data[0].length === 301")
        times, angles = curve(page, "qpos[theta]")
        np.testing.assert_allclose(times, trajectory.time, atol=1e-9)
        np.testing.assert_array_equal(angles, np.float32(trajectory.qpos[:, 0]))
        page.tab.locator("#seek").focus()
        page.tab.keyboard.press("End")
        page.until("Math.abs(lab.signals.now - 30) < 1e-6")
        assert page.complaints == []
        page.close()


def test_samples_part_and_are_bounded(browser):
    """A time that is nan parts the curves; what was not computed is passed over; the oldest go."""
    tab = browser.new_page()
    script = """async (source) => {
        const { Samples, decodeSamples } = await import('data:text/javascript,' + encodeURIComponent(source));
        const samples = new Samples(100, [3]);
        const part = { times: Float64Array.of(0, 1, NaN, 1, 2), values: [Float32Array.of(5, NaN, NaN, 7, Infinity)] };
        samples.push(part);
        const first = [[...samples.times], samples.values[0].map((v) => (v === undefined ? 'none' : v))];
        for (let i = 3; i < 1000; i += 1) samples.push({ times: Float64Array.of(i), values: [Float32Array.of(-i)] });
        return [first, samples.times.length, samples.times.at(-1), samples.recent(10)[0]];
    }"""
    first, count, last, recent = tab.evaluate(script, SAMPLES.read_text())
    tab.close()
    assert first == [[0, 1, 1, 1, 2], [5, "none", None, 7, None]]
    assert 100 <= count <= 125 and last == 999
    assert recent == list(range(989, 1000))
