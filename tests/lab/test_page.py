"""The lab in a browser, with the lecture's pendulum: keys pressed, bodies dragged, and the physics behind them.

References: the pendulum's equation, I = m l² = 8 kg m², m g l = 39.24 J; recursions of the integrators in a few
lines of NumPy, a step each; the servo's torque at rest, m g l sin(-π/2.5) = -37.32 N m. Frames carry 32-bit numbers.
"""

import numpy as np
import pytest
from helpers.browser import LabPage

INERTIA, WEIGHT, STEP, PUSH = 8.0, 39.24, 0.05, 50.0  # kg m², N m, s, N m
BOB = "[0, 0, -2]"  # in the body's frame
INTEGRATORS = {"0": "none", "1": "euler", "2": "verlet", "3": "velocity verlet", "4": "runge-kutta"}


def set_target(page, value):
    page.slide("target", value)
    page.until(f"lab.hud.includes('x_desired = {value:.2f}')")


# ---------------------------------------------------------------- what is seen


@pytest.mark.slow
def test_it_opens_and_draws_the_pendulum(page):
    page.tab.wait_for_timeout(900)
    x, y = page.get(f"Object.values(lab.project('pendulum', {BOB}))")
    from io import BytesIO

    from PIL import Image

    image = np.asarray(Image.open(BytesIO(page.tab.screenshot())).convert("RGB")).astype(int)
    red, green, blue = image[int(y), int(x)]
    assert red > 1.5 * max(green, blue)  # the bob's rgba is 0.85 0.33 0.2
    background = image[int(y) + 150, int(x)]
    assert np.ptp(background) < 30 and np.abs(background - image[int(y), int(x)]).max() > 60


@pytest.mark.slow
def test_the_readings_are_the_lectures(page):
    expected = """System
t = 0.00 dt = 0.05
integrator = velocity verlet
x = 1.57
x_dot = 0.00
x_desired = -1.26

Servo: disabled
u = 0.00
kp = 1500.00
kd = 15.00
ki = 150.10

Pendulum
mass = 2.00
length = 2.00
gravity = 9.81

Keys
[0-4] - select integrator
a/d - apply user force
q/e - adjust desired angle
c - toggle servo
s - disable servo"""
    assert page.get("lab.hud") == expected.replace("-1.26", f"{page.reading('System', 'x_desired'):.2f}")
    assert page.tab.locator("#hud").text_content() == page.get("lab.hud")


@pytest.mark.slow
def test_nothing_leaves_the_machine(page, url):
    host = url.split("/")[2]
    assert {address.split("/")[2] for address in page.requests if not address.startswith("data:")} == {host}
    assert page.tab.evaluate("performance.getEntriesByType('resource').length") == 0
    policy = page.response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")


def test_the_wrong_token_opens_nothing(browser, url):
    wrong = LabPage(browser, url[:-1] + ("A" if url[-1] != "A" else "B"))
    assert wrong.response.status == 403 and "token" in wrong.tab.inner_text("body")
    wrong.close()


# ---------------------------------------------------------------- keys


@pytest.mark.slow
@pytest.mark.parametrize("key", INTEGRATORS)
def test_a_digit_chooses_the_integrator(page, key):
    page.press(key)
    page.until(f"lab.hud.includes('integrator = {INTEGRATORS[key]}\\n') && !lab.status.building", 120)
    page.press("3")
    page.until("lab.hud.includes('integrator = velocity verlet')")


@pytest.mark.slow
@pytest.mark.parametrize(("key", "torque"), [("d", PUSH), ("a", -PUSH)])
def test_a_held_key_pushes(page, key, torque):
    """Without weight I θ'' = τ: the velocity grows by τ / I a second while the key is down, and stays when it is up."""
    gravity(page, 0)
    try:
        page.play()
        page.tab.locator("#canvas").focus()
        page.tab.keyboard.down(key)
        page.until("Math.abs(lab.frame.dofs[0][1]) > 0.5")
        samples = [page.get("[lab.frame.time, lab.frame.dofs[0][1]]")]
        while samples[-1][0] - samples[0][0] < 0.6:
            page.tab.wait_for_timeout(20)
            samples.append(page.get("[lab.frame.time, lab.frame.dofs[0][1]]"))
        page.tab.keyboard.up(key)
        page.tab.wait_for_timeout(300)
        free = page.get("lab.frame.dofs[0][1]")
        page.tab.wait_for_timeout(300)
        assert page.get("lab.frame.dofs[0][1]") == pytest.approx(free, abs=1e-5)
        times, velocities = np.array(samples).T
        slope = np.polyfit(times, velocities, 1)[0]
        assert slope == pytest.approx(torque / INERTIA, rel=1e-3)
        page.pause()
    finally:
        gravity(page, -9.81)


def gravity(page, z):
    page.tab.fill("#gravity-z", str(z))
    page.tab.keyboard.press("Enter")
    page.until(f"lab.status.gravity[2] === {z} && !lab.status.building", 60)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "sign"), [("q", -1), ("e", 1)])
def test_a_held_key_moves_the_target(page, key, sign):
    page.play()
    page.tab.locator("#canvas").focus()
    before = page.reading("System", "x_desired")
    page.tab.keyboard.down(key)
    page.tab.wait_for_timeout(350)
    page.tab.keyboard.up(key)
    page.tab.wait_for_timeout(250)
    change = sign * (page.reading("System", "x_desired") - before)
    assert change >= 0.25  # five sixtieths of a second at least
    assert change / 0.05 == pytest.approx(round(change / 0.05), abs=0.4)  # whole steps, two decimals shown
    set_target(page, before)


@pytest.mark.slow
def test_c_switches_once_a_press_however_long_it_is_held(page):
    page.tab.locator("#canvas").focus()
    for expected in ("active", "disabled", "active"):
        for _ in range(5):
            page.tab.keyboard.down("c")  # each after the first is the keyboard's own repetition
        page.until(f"lab.hud.includes('Servo: {expected}')")
        page.tab.wait_for_timeout(250)
        assert f"Servo: {expected}" in page.hud()
        page.tab.keyboard.up("c")
    page.press("s")
    page.until("lab.hud.includes('Servo: disabled')")
    page.press("s")
    page.tab.wait_for_timeout(250)
    assert "Servo: disabled" in page.hud()


def test_keys_typed_into_a_field_are_text(page):
    page.tab.locator("#speed").focus()
    page.tab.keyboard.press("c")
    page.tab.keyboard.press("4")
    page.tab.wait_for_timeout(300)
    assert "Servo: disabled" in page.hud() and "velocity verlet" in page.get("lab.hud")
    page.tab.keyboard.press("Escape")
    page.speed(1)


def test_leaving_the_window_lets_go_of_all_keys(page):
    page.tab.locator("#canvas").focus()
    page.play()
    page.tab.keyboard.down("d")
    page.until("lab.hud.includes('u = 50.00')")
    page.tab.evaluate("window.dispatchEvent(new Event('blur'))")
    page.until("lab.hud.includes('u = 0.00')")
    page.tab.keyboard.up("d")


@pytest.mark.slow
def test_the_servo_settles_where_the_lecture_has_it(page):
    set_target(page, -np.pi / 2.5)
    page.press("c")
    page.speed(50)
    page.play()
    page.until("lab.hud.includes('u = -37.32') && lab.hud.includes('x = -1.26')", 60)
    page.until("Math.abs(lab.frame.dofs[0][1]) < 1e-3")
    page.pause()
    assert page.reading("Servo", "u") == round(WEIGHT * np.sin(-np.pi / 2.5), 2) == -37.32


# ---------------------------------------------------------------- energies


def recursions(steps):
    """Energies over that of the start, by explicit Euler and by velocity Verlet, from θ = π/2 at rest."""
    acceleration = lambda x: -WEIGHT / INERTIA * np.sin(x)  # noqa: E731
    energy = lambda x, v: (0.5 * INERTIA * v * v + WEIGHT * (1 - np.cos(x))) / WEIGHT  # noqa: E731
    x, v = np.pi / 2, 0.0
    y, w = x, v
    for _ in range(steps):
        x, v = x + STEP * v, v + STEP * acceleration(x)
        a = acceleration(y)
        y = y + STEP * w + 0.5 * STEP**2 * a
        w = w + 0.5 * STEP * (a + acceleration(y))
    return energy(x, v), energy(y, w)


@pytest.mark.slow
def test_ghosts_show_explicit_euler_gain_and_velocity_verlet_keep(page):
    page.tab.check("#ghosts")
    page.until("lab.status.ghosts && !lab.status.building", 200)
    page.tab.click("#reset")
    page.until("lab.frame.time === 0")
    legend = page.tab.locator("#energy-legend button:visible")
    names = legend.all_inner_texts()
    euler, verlet = (
        next(i for i, name in enumerate(names) if name.startswith(n)) - 2 for n in ("explicit", "velocity")
    )
    page.speed(50)
    page.play()
    kept = []
    while page.get("lab.frame.time") < 95:
        energies = page.get("lab.frame.energy")
        kept.append((sum(energies[verlet]) + WEIGHT) / WEIGHT)
        page.tab.wait_for_timeout(50)
    page.pause()
    while page.get("lab.frame.time") < 100 - 1e-6:
        time = page.get("lab.frame.time")
        page.press(".")
        page.until(f"lab.frame.time > {time}")
    steps = round(page.get("lab.frame.time") / STEP)
    found = [(sum(page.get("lab.frame.energy")[i]) + WEIGHT) / WEIGHT for i in (euler, verlet)]
    expected = recursions(steps)
    assert found == pytest.approx(expected, rel=1e-5)
    assert expected[0] > 10 and steps >= 2000
    assert 0.9973 < min(kept) and max(kept) < 1.0001
    page.tab.uncheck("#ghosts")
    page.until("!lab.status.ghosts && !lab.status.building", 60)
