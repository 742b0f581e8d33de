"""A page of its own in a browser: the lecture's keys and readings, sliders, dragging, links, downloads, phones.

Reference: O. C. Jenkins, "Dynamics and Numerical Integration" (2019): its screen; the torque of its servo at rest,
m g l sin(-π/2.5) = -37.32 N m; states after steps as the native engine has them.
"""

import csv

import numpy as np
import pytest
from helpers.browser import LabPage

import saltus
from saltus.lab.scene.pendularm import GAINS, TARGETS
from saltus.model.actuator_enums import PID_TARGET

WEIGHT = 39.24  # N m
BOB = "[0, 0, -2]"  # in the body's frame
KEYS = [
    "[0-4] - select integrator",
    "a/d - apply user force",
    "q/e - adjust desired angle",
    "c - toggle servo",
    "s - disable servo",
]


@pytest.mark.slow
def test_the_readings_are_those_of_the_lecture(page):
    hud = page.hud()
    assert hud["System"] == [
        "t = 0.00 dt = 0.05",
        "integrator = velocity verlet",
        "x = 1.57",
        "x_dot = 0.00",
        "x_desired = -1.26",
    ]
    assert hud["Servo: disabled"] == ["u = 0.00", "kp = 1500.00", "kd = 15.00", "ki = 150.10"]
    assert hud["Pendulum"] == ["mass = 2.00", "length = 2.00", "gravity = 9.81"]
    assert hud["Keys"] == KEYS


@pytest.mark.slow
def test_the_keys_choose_integrators(page):
    for key, name in (("1", "euler"), ("2", "verlet"), ("4", "runge-kutta"), ("0", "none"), ("3", "velocity verlet")):
        page.press(key)
        page.until(f"lab.hud.includes('integrator = {name}\\n')")


@pytest.mark.slow
def test_the_servo_holds_the_pendulum(page):
    page.press("c")
    page.until("lab.status.servo === true")
    page.speed(8)
    page.play()
    page.until("lab.hud.includes('u = -37.32') && lab.hud.includes('x = -1.26')", 60)
    page.pause()
    assert page.reading("Servo", "u") == round(WEIGHT * np.sin(-np.pi / 2.5), 2) == -37.32
    page.press("x")
    page.until("lab.hud.includes('Servo: disabled')")


@pytest.mark.slow
def test_a_and_d_push_while_they_are_held(page):
    page.play()
    page.tab.locator("#canvas").focus()
    for key, force in (("a", -50), ("d", 50)):
        page.tab.keyboard.down(key)
        page.until(f"lab.hud.includes('u = {force}.00')")
        page.tab.keyboard.up(key)
        page.until("lab.hud.includes('u = 0.00')")
    page.pause()


@pytest.mark.slow
def test_q_and_e_move_the_target(page):
    for key, way in (("q", -1), ("e", 1)):
        before = page.reading("System", "x_desired")
        page.press(key)
        page.until(f"{way} * (lab.status.sliders.target - {before}) > 0.03")
        page.tab.wait_for_timeout(200)


@pytest.mark.slow
def test_steps_are_those_of_the_native_engine(page):
    """In Chromium, too, with all digits: the page's first 40 steps under Runge-Kutta with the servo on."""
    page.press("4", "c")
    page.until("lab.status.integrator === 'rk4' && lab.status.servo")
    for _ in range(40):
        page.tab.click("#step")
    page.until("Math.abs(lab.status.time - 2) < 1e-9")
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.05, control=saltus.PID(target=TARGETS[1], **GAINS[1]))
    target = page.get("lab.status.sliders.target")
    sim.control_prm[PID_TARGET] = target  # other tests have moved it
    sim.step(40)
    found = page.state()
    assert found["time"] == pytest.approx(sim.time, rel=1e-14)
    assert np.abs(found["qpos"] - sim.qpos).max() < 1e-12 and np.abs(found["qvel"] - sim.qvel).max() < 1e-12 * WEIGHT


@pytest.mark.slow
def test_sliders_and_gravity_act(page):
    page.slide("qpos[theta]", 0.5)
    page.until("Math.abs(lab.frame.dofs[0][0] - 0.5) < 1e-6")
    page.tab.locator("#gravity-z").evaluate("field => { field.closest('details').open = true }")
    page.tab.fill("#gravity-z", "0")
    page.tab.keyboard.press("Enter")
    page.until("lab.status.gravity[2] === 0")
    page.play()
    page.until("lab.frame.time > 0.3")
    page.pause()
    assert page.get("lab.frame.dofs[0][0]") == pytest.approx(0.5, abs=1e-6)  # nothing pulls
    page.tab.fill("#gravity-z", "-9.81")
    page.tab.keyboard.press("Enter")
    page.until("lab.status.gravity[2] === -9.81")


@pytest.mark.slow
def test_a_body_is_dragged(page):
    bob = page.get(f"Object.values(lab.project('pendulum', {BOB}))")
    page.tab.mouse.move(*bob)
    page.tab.mouse.down()
    page.tab.mouse.move(bob[0] - 60, bob[1] + 100, steps=8)
    page.tab.keyboard.press("Space")
    page.until("lab.status.playing")
    page.until("lab.frame.time > 1")
    held = page.get("lab.frame.dofs[0][0]")
    assert 0.0 < held < 1.4  # neither where it was nor where it would have swung
    page.tab.mouse.up()
    page.pause()


@pytest.mark.slow
def test_ghosts_run_beside(page):
    page.tab.locator("#ghosts").evaluate("field => { field.closest('details').open = true }")
    page.tab.check("#ghosts")
    page.until("lab.status.ghosts")
    page.play()
    page.until("lab.frame.time > 4")
    page.pause()
    ends = page.get("lab.frame.energy.map(([potential, kinetic]) => potential + kinetic)")
    names = page.get("lab.status.integrator")
    assert len(ends) == 5 and names == "velocity_verlet"
    assert max(ends) > 5.0 and abs(ends[0]) < 1.0  # explicit Euler gains energy, velocity Verlet does not
    page.tab.uncheck("#ghosts")
    page.until("!lab.status.ghosts")


def downloaded(page, section):
    """Titles and rows of the recording's table."""
    with page.tab.expect_download() as download:
        section.locator("#download-trajectory").click()
    lines = download.value.path().read_text().splitlines()
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    return rows[0], np.array(rows[1:], float)


@pytest.mark.slow
def test_a_recording_is_downloaded_as_a_table(page):
    section = page.unfolded("record-section")
    section.locator("#record").click()
    page.until("lab.status.recording")
    page.play()
    page.until("lab.frame.time > 1")
    section.locator("#record").click()
    page.until("!lab.status.recording && lab.status.recorded > 0.5")
    page.pause()
    names, table = downloaded(page, section)
    assert names[:2] == ["time (s)", "qpos[theta] (rad)"] and names[-2:] == ["potential (J)", "kinetic (J)"]
    energy = table[:, -2:].sum(axis=1)
    assert np.all(np.diff(table[:, 0]) > 0) and np.ptp(energy) < 1.0  # velocity Verlet's bounded error


@pytest.mark.slow
def test_a_link_holds_the_settings(browser, written):
    file = written("pendularm", integrators=["explicit_euler", "verlet", "velocity_verlet", "rk4"])
    address = f"{file.as_uri()}#integrator=rk4&timestep=0.02&slider.kp=700&gravity=0%2C0%2C-1.62&servo=true"
    page = LabPage(browser, address, 820, 520).opened()
    page.until("lab.status.integrator === 'rk4' && lab.status.timestep === 0.02 && lab.status.sliders.kp === 700")
    page.until("lab.status.gravity[2] === -1.62 && lab.status.servo")
    page.unfolded("view-section").locator("#share").click()
    page.tab.wait_for_timeout(300)
    after = page.tab.evaluate("location.hash")
    assert set(after[1:].split("&")) == set(address.split("#")[1].split("&"))
    assert page.complaints == []
    page.close()


@pytest.mark.slow
def test_hard_contact_is_a_choice_and_the_ball_bounces(browser, written):
    """From rest, with e = 0.8, the first apex is at e² = 0.64 of the height; a sample is at most 0.1 % below it."""
    file = written("bouncing_ball", integrators=["rk4"])
    page = LabPage(browser, file.as_uri(), 820, 520).opened()
    page.tab.select_option("#contact", "hard")
    page.until("lab.status.contact === 'hard'")
    page.pause()
    page.tab.click("#reset")
    page.until("lab.status.time === 0")
    section = page.unfolded("record-section")
    section.locator("#record").click()
    page.until("lab.status.recording")
    page.play()
    page.until("lab.frame.time > 1.2", 60)
    section.locator("#record").click()
    page.until("!lab.status.recording && lab.status.recorded > 1.0")
    page.pause()
    time, height = downloaded(page, section)[1][:, :2].T
    flight = (time > 0.35) & (time < 0.8)  # s, between the first two impacts, at 0.32 and 0.83 s
    assert height[flight].max() == pytest.approx(0.64 * height[0], rel=0.02)
    assert page.complaints == [] and page.get("lab.error") is None
    page.close()


@pytest.mark.slow
def test_it_is_small(written):
    file = written("pendularm", integrators=["explicit_euler", "verlet", "velocity_verlet", "rk4"])
    assert file.stat().st_size < 1_500_000
