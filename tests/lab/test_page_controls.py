"""Controls of the lab's page: mouse, buttons, lists, sliders, downloads, with the lecture's pendulum behind them.

References: the pendulum's own geometry; recordings as `saltus.Trajectory` reads them; the energy of a pendulum that
keeps it. Frames carry 32-bit numbers.
"""

import threading

import numpy as np
import pytest
from helpers.browser import LabPage

import saltus
from saltus import lab
from saltus.lab.data.recording import Downloads

WEIGHT, STEP = 39.24, 0.05  # N m, s
BOB = "[0, 0, -2]"  # in the body's frame


@pytest.mark.slow
def test_a_body_is_dragged_with_the_mouse(page):
    """The grabbed point follows the mouse along its circle, and falls when it is let go."""
    pivot, bob = (page.get(f"Object.values(lab.project('pendulum', {p}))") for p in ("[0, 0, 0]", BOB))
    reach = np.hypot(bob[0] - pivot[0], bob[1] - pivot[1])
    goal = (pivot[0] + reach * np.sin(0.5), pivot[1] + reach * np.cos(0.5))
    page.tab.mouse.move(*bob)
    page.tab.mouse.down()
    page.tab.mouse.move(*goal, steps=8)
    page.tab.keyboard.press("Space")
    page.until("lab.status.playing")
    page.until(
        f"Math.hypot(lab.project('pendulum', {BOB}).x - {goal[0]}, lab.project('pendulum', {BOB}).y - {goal[1]}) < 25"
    )
    page.tab.wait_for_timeout(800)
    assert page.get("lab.frame.dofs[0][0]") == pytest.approx(0.5, abs=0.15)  # held against its weight
    page.tab.mouse.up()
    page.until("lab.frame.dofs[0][0] < -0.3")
    page.pause()


@pytest.mark.slow
def test_dragging_beside_the_bodies_turns_the_camera(page):
    before = page.get(f"Object.values(lab.project('pendulum', {BOB}))")
    box = page.tab.locator("#canvas").bounding_box()
    start = (box["x"] + box["width"] - 40, box["y"] + box["height"] - 40)
    page.tab.mouse.move(*start)
    page.tab.mouse.down()
    page.tab.mouse.move(start[0] - 60, start[1], steps=3)
    page.tab.mouse.up()
    after = page.get(f"Object.values(lab.project('pendulum', {BOB}))")
    assert np.hypot(*np.subtract(after, before)) > 5
    assert page.get("lab.frame.time") == 0
    page.tab.locator("#canvas").focus()
    page.tab.keyboard.press("Home")
    assert page.get(f"Object.values(lab.project('pendulum', {BOB}))") == pytest.approx(before)


@pytest.mark.slow
def test_the_list_box_chooses_an_integrator(page):
    page.tab.select_option("#integrator", "rk4")
    page.until("lab.hud.includes('integrator = runge-kutta') && lab.status.integrator === 'rk4'", 60)


@pytest.mark.slow
def test_pause_step_reset(page):
    page.play()
    page.until("lab.frame.time > 0.3")
    page.pause()
    time = page.get("lab.frame.time")
    page.tab.wait_for_timeout(300)
    assert page.get("lab.frame.time") == time
    page.tab.click("#step")
    page.until(f"lab.frame.time > {time}")
    page.tab.wait_for_timeout(200)
    assert page.get("lab.frame.time") == pytest.approx(time + STEP, abs=1e-9)
    page.press("r")
    page.until("lab.frame.time === 0")
    assert page.get("lab.frame.dofs[0]") == pytest.approx([np.pi / 2, 0], abs=1e-6)


def test_a_step_size_typed_into_its_field(page):
    page.tab.fill("#timestep", "0.02")
    page.tab.keyboard.press("Enter")
    page.until("lab.status.timestep === 0.02 && lab.hud.includes('dt = 0.02')", 60)
    page.tab.fill("#timestep", str(STEP))
    page.tab.keyboard.press("Enter")
    page.until(f"lab.status.timestep === {STEP}", 60)


@pytest.mark.slow
def test_an_unstable_step_is_told_with_one_that_is_stable(page):
    """The servo's warning stands until its button has chosen the step, and is in the list once."""
    note = page.tab.locator("#stability")
    try:
        page.press("c")
        page.until("lab.status.servo")
        page.tab.fill("#timestep", "0.2")
        page.tab.keyboard.press("Enter")
        page.until("lab.status.timestep === 0.2 && lab.status.stability", 60)
        step = page.get("lab.status.stability.timestep")
        assert 0.05 < step < 0.2
        page.wait(note.is_visible)
        assert "velocity_verlet is unstable with this controller" in note.inner_text()
        page.tab.wait_for_timeout(500)
        note.get_by_role("button", name=f"Use {step} s").click()
        page.until(f"lab.status.timestep === {step} && lab.status.stability === null", 60)
        page.wait(lambda: not note.is_visible())
        listed = page.tab.locator("#notices li").all_text_contents()
        assert sum("velocity_verlet is unstable" in text for text in listed) == 1
    finally:
        page.tab.fill("#timestep", str(STEP))
        page.tab.keyboard.press("Enter")
        page.until(f"lab.status.timestep === {STEP}", 60)


@pytest.mark.slow
def test_what_is_recorded_can_be_downloaded(page, tmp_path):
    section = page.unfolded("record-section")
    page.play()
    section.locator("#record").click()
    page.until("lab.status.recording && lab.status.recorded > 0.8")
    section.locator("#record").click()
    page.until("!lab.status.recording")
    with page.tab.expect_download() as download:
        section.locator("#download-trajectory").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    trajectory = saltus.Trajectory.load(path)
    assert path.name == "trajectory.nc" and trajectory.model.name == "pendulum"
    assert trajectory.time[-1] - trajectory.time[0] == pytest.approx(page.get("lab.status.recorded"), abs=1e-9)
    # velocity Verlet from π/2 at rest: the recorded angles are those of the recursion at their times
    assert np.ptp(trajectory.energy.sum(axis=1)) < 0.003 * WEIGHT
    page.pause()


def recorded(page):
    section = page.unfolded("record-section")
    page.play()
    section.locator("#record").click()
    page.until("lab.status.recording && lab.status.recorded > 0.2")
    section.locator("#record").click()
    page.until("!lab.status.recording")
    page.pause()
    return section


@pytest.mark.slow
def test_a_download_that_takes_long_says_so_and_can_be_cancelled(page, monkeypatch):
    """While it is made the page goes on; cancelled, nothing comes; and what comes is what the server has."""
    section = recorded(page)
    gate, content = threading.Event(), bytes(range(256)) * 40_000

    def slowly(self, what):
        assert gate.wait(60)
        return content

    monkeypatch.setattr(Downloads, "content", slowly)
    text = page.tab.locator("#download-text")
    section.locator("#download-trajectory").click()
    page.wait(lambda: text.is_visible() and "Preparing trajectory.nc: 1 s" in text.inner_text())
    time = page.get("lab.frame.time")
    page.tab.click("#step")
    page.until(f"lab.frame.time > {time}")
    page.tab.click("#download-cancel")
    page.wait(lambda: not text.is_visible() and "trajectory.nc was not downloaded" in page.tab.inner_text("#toasts"))
    section.locator("#download-report").click()
    page.wait(lambda: text.is_visible() and "Preparing report.html" in text.inner_text())
    with page.tab.expect_download() as download:
        gate.set()
    with open(download.value.path(), "rb") as file:
        assert file.read() == content
    assert download.value.suggested_filename == "report.html"
    page.wait(lambda: not text.is_visible())


@pytest.mark.slow
def test_one_writes_and_the_others_watch(browser, url, page):
    second = LabPage(browser, url, 820, 520).opened()
    assert second.get("lab.role") == "viewer" and page.get("lab.role") == "writer"
    assert second.tab.locator("#play").is_disabled() and second.tab.locator("#integrator").is_disabled()
    second.press("Space", "c")
    second.tab.wait_for_timeout(300)
    assert not page.get("lab.status.playing") and "Servo: disabled" in page.hud()
    assert "You are watching" in second.tab.inner_text("#toasts")
    second.tab.click("#take")
    second.until("lab.role === 'writer'")
    page.until("lab.role === 'viewer'")
    second.press("Space")
    page.until("lab.status.playing && lab.frame.time > 0.1")  # both see the same
    page.tab.click("#take")
    page.until("lab.role === 'writer'")
    assert second.complaints == []
    second.close()


@pytest.mark.slow
def test_a_recording_is_replayed(browser, page, tmp_path):
    """At each time that the slider is put to, the angle is that of the recording."""
    sim = saltus.Simulation("pendulum", "velocity_verlet")
    sim.reset("release")
    trajectory = sim.run(4.0)
    with lab.open(trajectory, browser=False, playing=False) as opened:
        replay = LabPage(browser, opened.url, 820, 520).opened()
        slider = replay.tab.locator("#seek")
        assert slider.is_visible() and not replay.tab.locator("#integrator").is_visible()
        for time in (1.0, 3.5, 0.25):
            slider.fill(f"{time}")
            replay.until(f"Math.abs(lab.frame.time - {time}) < 1e-9")
            angle = np.interp(time, trajectory.time, trajectory.qpos[:, 0])
            assert replay.get("lab.frame.dofs[0][0]") == pytest.approx(angle, abs=1e-5)
        assert replay.complaints == [] and replay.get("lab.error") is None
        replay.close()


@pytest.mark.slow
def test_a_video_of_the_recording(page, tmp_path):
    av = pytest.importorskip("av")
    section = page.unfolded("record-section")
    page.play()
    section.locator("#record").click()
    page.until("lab.status.recording && lab.status.recorded > 0.3")
    section.locator("#record").click()
    page.until("!lab.status.recording")
    page.pause()
    section.locator("#make-video").click()
    page.until("lab.status.video.state === 'ready'", 200)
    with page.tab.expect_download() as download:
        section.locator("#download-video").click()
    with av.open(str(download.value.path())) as video:
        frames = sum(1 for _ in video.decode(video=0))
    recorded = page.get("lab.status.recorded")
    assert abs(frames - 60 * recorded) <= 1


def test_sliders_and_their_numbers(page):
    row = page.tab.locator("[data-slider=kp]")
    row.locator("input[type=number]").fill("1234.5")
    row.locator("input[type=number]").press("Enter")
    page.until("lab.hud.includes('kp = 1234.50')")
    assert float(row.locator("input[type=range]").input_value()) == pytest.approx(1234.5, abs=3)  # its step
    row.locator("input[type=range]").fill("1500")
    page.until("lab.hud.includes('kp = 1500.00')")
    page.slide("qpos[theta]", 0.75)
    page.until("Math.abs(lab.frame.dofs[0][0] - 0.75) < 1e-6")


@pytest.mark.slow
def test_a_body_is_pulled_by_keyboard_alone(page):
    page.unfolded("pull-section")
    page.tab.select_option("#body", label="pendulum")
    page.slide("qpos[theta]", 0)
    page.until("lab.frame.dofs[0][0] === 0")
    page.play()
    page.tab.get_by_role("button", name="Pull along +x").focus()
    page.tab.keyboard.down("Enter")
    page.until("lab.frame.dofs[0][0] > 0.2")
    page.tab.keyboard.up("Enter")
    page.until("lab.frame.dofs[0][0] < 0")
    page.pause()


@pytest.mark.slow
def test_another_scene_from_the_list(page):
    page.tab.select_option("#scene", "pendulum_ghosts")
    page.until("lab.scene === 'pendulum_ghosts' && lab.ready && lab.status.ghosts && !lab.status.building", 200)
    assert len(page.get("lab.frame.energy")) == 5
    assert page.tab.locator("#energy-legend button:visible").count() == 7
    page.tab.select_option("#scene", "pendularm")
    page.until("lab.scene === 'pendularm' && lab.ready && !lab.status.ghosts && !lab.status.building", 200)


def test_the_panel_folds_and_help_opens(page):
    width = page.tab.locator("#canvas").bounding_box()["width"]
    page.tab.click("#fold")
    page.until("!document.getElementById('panel').checkVisibility()")
    assert page.tab.locator("#canvas").bounding_box()["width"] > width + 200
    page.tab.click("#fold")
    page.press("?")
    help_box = page.tab.locator("#help")
    assert help_box.is_visible() and "one step" in help_box.inner_text()
    page.tab.keyboard.press("c")  # no command while the help is open
    page.tab.keyboard.press("Escape")
    assert not help_box.is_visible() and "Servo: disabled" in page.hud()


def test_every_control_has_a_name(page):
    nameless = page.tab.evaluate("""[...document.querySelectorAll('button, input, select, a, #canvas')].filter(
        (e) => !(e.ariaLabel || e.title || [e, ...(e.labels ?? [])].some((l) => l.textContent.trim())))
        .map((e) => e.outerHTML)""")
    assert nameless == []


def test_the_slider_looks_back_and_the_run_goes_on_from_there(page):
    """The page shows the frame of the time that the slider has, and then the run from there."""
    page.tab.keyboard.press("Space")
    page.until("lab.frame.time > 1.2")
    seek = (
        "((s) => {{ s.value = {}; s.dispatchEvent(new Event('input')); return true }})(document.getElementById('seek'))"
    )
    page.get(seek.format(0.5))
    page.until("lab.status.looking !== null && lab.frame.time < 0.55 && !lab.status.playing")
    assert page.get("Math.abs(lab.frame.time - lab.status.looking)") < 1e-9
    page.tab.click("#from-here")
    page.until("lab.status.looking === null && lab.status.playing && lab.frame.time > 0.6")
    assert page.get("lab.status.past[1]") < 1.2
    page.pause()
    page.tab.click("#reset")
    page.until("lab.frame.time === 0")
    page.until("document.getElementById('seek').disabled")
