"""The lecture's pendulum: its keys, its text, and the physics behind them.

Reference: O. C. Jenkins, "Dynamics and Numerical Integration" (2019): the text of its screen; u = m g l sin θ = -37.32
at the target; energies without servo after 100 s, from independent implementations (see tests/integrate/test_lecture).
"""

import math

import numpy as np
import pytest
from helpers.lab import FRAME, decoded, do, opened, ready, run

from saltus.lab.scene.pendularm import TURN

WEIGHT = 39.24  # N m, m g l
TARGET = -math.pi / 2.5


def lines(session):
    """All of the text over the picture."""
    return {block[0]: block[1] for block in session.status()["hud"]}


def press(session, key, seconds=0.0):
    """A key that is held for a while; by then, everything that it asks for is built."""
    do(session, "keydown", key=key)
    run(session, seconds)
    return do(session, "keyup", key=key)


def energy(theta, rate):
    """From the hanging rest (J)."""
    return 0.5 * 8.0 * rate**2 + WEIGHT * (1 - np.cos(theta))


# ---------------------------------------------------------------- the text


def test_the_screen_of_the_lecture():
    """Velocity Verlet with the servo, after 162 s, to the last digit."""
    session = press(opened("pendularm"), "c")
    do(session, "speed", value=60.0)
    run(session, 162.0 / 60)
    speed = f"{session.sim.qvel[0]:.2f}"
    assert speed in ("0.00", "-0.00")
    assert session.status()["hud"] == [
        [
            "System",
            [
                *["t = 162.00 dt = 0.05", "integrator = velocity verlet", "x = -1.26", f"x_dot = {speed}"],
                "x_desired = -1.26",
            ],
        ],
        ["Servo: active", ["u = -37.32", "kp = 1500.00", "kd = 15.00", "ki = 150.10"]],
        ["Pendulum", ["mass = 2.00", "length = 2.00", "gravity = 9.81"]],
        [
            "Keys",
            [
                *["[0-4] - select integrator", "a/d - apply user force", "q/e - adjust desired angle"],
                *["c - toggle servo", "s - disable servo"],
            ],
        ],
    ]
    assert session.sim.ctrl[0] == pytest.approx(WEIGHT * math.sin(TARGET), abs=0.005)


def test_the_text_with_two_joints():
    session = opened("pendularm2")
    assert [block[0] for block in session.status()["hud"]] == ["System", "Servo: disabled", "Pendulum", "Keys"]
    assert lines(session)["System"] == [
        *["t = 0.00 dt = 0.05", "integrator = velocity verlet", "x1 = 1.57", "x1_dot = 0.00", "x2 = -1.57"],
        *["x2_dot = 0.00", "x2 is relative to the first link", "x1_desired = -1.26", "x2_desired = 0.60"],
    ]
    assert lines(session)["Keys"] == [
        *["a/d - apply user force", "1/2 - adjust desired angle 1", "3/4 - adjust desired angle 2"],
        *["c/x - toggle servo", "s - disable servo"],
    ]


# ---------------------------------------------------------------- the keys


@pytest.mark.slow
def test_keys_choose_the_integrator():
    session = opened("pendularm")
    assert session.scene()["keyboard"] == [*"01234", *"adqe", "c", "x", "s"]
    assert session.scene()["integrators"][:5] == ["none", "explicit_euler", "verlet", "velocity_verlet", "rk4"]
    for key, name, label in (
        ("1", "explicit_euler", "euler"),
        ("2", "verlet", "verlet"),
        ("3", "velocity_verlet", "velocity verlet"),
        ("4", "rk4", "runge-kutta"),
        ("0", "none", "none"),
    ):
        press(session, key)
        assert session.status()["integrator"] == name
        assert lines(session)["System"][1] == f"integrator = {label}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "lowest", "highest"),
    [("1", 1.0, 13.5), ("2", 0.99, 1.01), ("3", 0.9974, 1.0), ("4", 0.9999, 1.0)],
)
def test_energies_without_the_servo(key, lowest, highest):
    """E/E0 over 100 s: explicit Euler gains, to 13.4; velocity Verlet stays in its band, rk4 loses little."""
    session = press(do(opened("pendularm"), "pause"), key)
    ratios = []
    for _ in range(2000):
        do(session, "step", n=1)
        session.tick(FRAME)
        ratios.append(energy(session.sim.qpos[0], session.sim.qvel[0]) / WEIGHT)
    assert session.sim.time == pytest.approx(100.0)
    assert lowest - 1e-4 < min(ratios) and max(ratios) < highest + 1e-4
    if key == "1":
        assert ratios[-1] == pytest.approx(13.386, abs=1e-3)


def test_verlet_begins_with_its_initial_step():
    """x1 = x0 + v0 h + a0 h²/2 and then x2 = 2 x1 - x0 + h² a1, whenever it is chosen."""
    session = do(opened("pendularm"), "pause")
    do(session, "step", n=9)
    run(session, FRAME)
    x0, v0 = float(session.sim.qpos[0]), float(session.sim.qvel[0])
    press(session, "2")
    h, a = 0.05, lambda x: -9.81 / 2 * math.sin(x)
    do(session, "step", n=1)
    run(session, FRAME)
    x1 = float(session.sim.qpos[0])
    assert x1 == pytest.approx(x0 + v0 * h + a(x0) * h**2 / 2, abs=1e-13)
    do(session, "step", n=1)
    run(session, FRAME)
    assert session.sim.qpos[0] == pytest.approx(2 * x1 - x0 + h**2 * a(x1), abs=1e-13)


def test_without_dynamics_it_turns():
    """π/180 a frame; two links against each other; what comes next begins at rest there."""
    session = press(run(opened("pendularm2"), 0.5), "c")
    do(session, "integrator", name="none")
    start, began = session.sim.qpos.copy(), session.sim.time
    run(session, 2.0)
    np.testing.assert_allclose(session.sim.qpos - start, [120 * TURN, -120 * TURN])
    assert not session.sim.qvel.any() and session.sim.time == pytest.approx(began + 2.0)
    do(session, "pause")
    do(session, "step", n=3)
    np.testing.assert_allclose(session.sim.qpos - start, [123 * TURN, -123 * TURN])
    do(session, "integrator", name="rk4")
    np.testing.assert_allclose(session.sim.qpos - start, [123 * TURN, -123 * TURN])
    do(session, "step", n=1)
    run(session, FRAME)
    assert session.sim.qvel.any()


@pytest.mark.parametrize("servo", [False, True])
def test_the_user_pushes_while_a_key_is_held(servo):
    """±50 N m, servo or not: θ' changes by h (τ - m g l sin θ + u) / (m l²) more than without."""
    session = do(opened("pendularm"), "pause")
    if servo:
        press(session, "c")
    for key, force in (("a", -50.0), ("d", 50.0)):
        do(session, "reset", key=None)
        do(session, "step", n=1)
        run(session, FRAME)
        without = float(session.sim.qpos[0])
        do(session, "reset", key=None)
        do(session, "keydown", key=key)
        do(session, "step", n=1)
        run(session, FRAME)
        assert session.sim.qfrc_applied[0] == force
        assert session.sim.qpos[0] - without == pytest.approx(0.05**2 / 2 * force / 8.0, rel=1e-9)
        assert float(lines(session)[f"Servo: {'active' if servo else 'disabled'}"][0][4:]) == pytest.approx(
            session.sim.ctrl[0] + force, abs=0.005
        )
        do(session, "keyup", key=key)
        run(session, FRAME)
        assert session.sim.qfrc_applied[0] == 0.0
    do(session, "keydown", key="d")
    do(session, "blur")
    run(session, FRAME)
    assert session.sim.qfrc_applied[0] == 0.0


def test_the_target_moves_while_a_key_is_held():
    """0.05 rad at once and with each further frame, wrapped into (-π, π]; a key that repeats is one press."""
    session = opened("pendularm")
    press(session, "e")
    assert session.knob("target") == pytest.approx(TARGET + 0.05)
    do(session, "keydown", key="e")
    do(session, "keydown", key="e")
    assert session.knob("target") == pytest.approx(TARGET + 0.10)
    run(session, 10 * FRAME)
    do(session, "keyup", key="e")
    run(session, 10 * FRAME)
    assert session.knob("target") == pytest.approx(TARGET + 12 * 0.05)
    press(session, "q", 100 * FRAME)
    turned = TARGET + 12 * 0.05 - 101 * 0.05
    assert turned < -math.pi and session.knob("target") == pytest.approx(turned + 2 * math.pi)
    assert lines(session)["System"][-1] == f"x_desired = {turned + 2 * math.pi:.2f}"


def test_two_joints_have_two_targets():
    session = opened("pendularm2")
    for key, joint, change in (("1", 1, -1), ("2", 1, 1), ("3", 2, -1), ("4", 2, 1)):
        before = [session.knob("target 1"), session.knob("target 2")]
        press(session, key, 9 * FRAME)
        before[joint - 1] += change * 10 * 0.05
        assert [session.knob("target 1"), session.knob("target 2")] == pytest.approx(before)


def test_the_servo_is_switched_once_a_press():
    session = opened("pendularm")
    assert session.status()["servo"] is False
    press(session, "c", 30 * FRAME)
    assert session.status()["servo"] is True
    press(session, "x", 30 * FRAME)
    assert session.status()["servo"] is False and session.sim.ctrl[0] == 0.0
    press(session, "C")  # shift or caps lock
    assert session.status()["servo"] is True
    press(session, "s")
    assert session.status()["servo"] is False
    press(session, "s")
    assert session.status()["servo"] is False


def test_the_servo_goes_the_short_way():
    """From π/2 to a target of -π/2 - 1 it is π - 1 over the top, not π + 1 the other way: the error is wrapped."""
    session = do(opened("pendularm"), "pause")
    do(session, "slider", id="target", value=-math.pi / 2 - 1)
    do(session, "slider", id="ki", value=0.0)
    press(session, "c")
    do(session, "step", n=1)
    run(session, FRAME)
    assert session.sim.qvel[0] > 0
    session.sim.forward()
    error = (-math.pi / 2 - 1) - session.sim.qpos[0] + 2 * math.pi
    assert session.sim.ctrl[0] == pytest.approx(1500 * error - 15 * session.sim.qvel[0])


def test_gains_change_while_it_runs_and_outlive_an_integrator():
    session = press(opened("pendularm"), "c")
    compiled = session.sim
    for gain, value in (("kp", 200.0), ("kd", 80.0), ("ki", 40.0), ("target", 0.5)):
        do(session, "slider", id=gain, value=value)
    assert session.sim is compiled  # nothing was built for it
    press(session, "4")
    assert lines(session)["Servo: active"][1:] == ["kp = 200.00", "kd = 80.00", "ki = 40.00"]
    do(session, "speed", value=20.0)
    run(session, 3.0)
    assert session.sim.qpos[0] == pytest.approx(0.5, abs=0.01)
    do(session, "reset", key=None)
    assert session.knob("kp") == 200.0 and session.status()["servo"] is True


def test_explicit_euler_cannot_hold_it():
    """|1 + h λ|² = 1.375 a step: where velocity Verlet has settled, it leaves again."""
    session = press(opened("pendularm"), "c")
    do(session, "speed", value=30.0)
    run(session, 1.0)
    assert abs(session.sim.qpos[0] - TARGET) < 0.05
    press(session, "1")
    run(session, 1.0)
    assert abs(session.sim.qvel[0]) > 1.0
    press(session, "3")
    do(session, "reset", key=None)
    do(session, "play")
    run(session, 1.0)
    assert abs(session.sim.qpos[0] - TARGET) < 0.05


def test_ghosts_show_euler_failing():
    """The scene of four integrators at once: after 100 s one has 13 times the energy, the others what they had."""
    session = opened("pendulum_ghosts")
    scene = session.scene()
    assert [ghost["name"] for ghost in scene["ghosts"]] == ["explicit_euler", "verlet", "velocity_verlet", "rk4"]
    assert len({ghost["color"] for ghost in scene["ghosts"]}) == 4 and session.status()["ghosts"]
    do(session, "speed", value=100.0)
    run(session, 1.0)
    frame = decoded(session.frame().encode(1), scene)
    assert session.sim.time == pytest.approx(100.0)
    ratios = (frame["energy"].sum(axis=1) + WEIGHT) / WEIGHT  # zero is the height of the hinge
    np.testing.assert_allclose(ratios[1], 13.386, atol=1e-3)
    np.testing.assert_allclose(ratios[[0, 2, 3, 4]], 1.0, atol=5e-3)
    np.testing.assert_array_equal(frame["bodies"][0], frame["bodies"][3])  # velocity Verlet, twice
    assert not np.allclose(frame["bodies"][0], frame["bodies"][1], atol=0.01)


def test_ghosts_get_the_same_pushes_and_servo():
    session = opened("pendulum_ghosts")
    press(session, "c")
    press(session, "a", 0.5)
    run(session, 0.5)
    twin = session.motion.ghosts[2].sim
    assert twin.integrator.name == "velocity_verlet" == session.sim.integrator.name
    for name in ("time", "qpos", "qvel", "act", "ctrl"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(session.sim, name), err_msg=name)


def test_the_double_pendulum_is_chaotic():
    """Four integrators agree for seconds and then no more."""
    session = opened("double_pendulum_ghosts")
    ready(session)
    apart = []
    for _ in range(40):
        run(session, 0.5)
        angles = np.array([ghost.sim.qpos[0] for ghost in session.motion.ghosts[1:]])
        apart.append(np.ptp(angles))
    assert apart[1] < 0.1 and max(apart) > 1.0


@pytest.mark.parametrize(("step", "text"), [(0.05, "0.05"), (0.00125, "0.00125"), (1 / 3000, "0.000333")])
def test_a_short_step_is_not_shown_as_none(step, text):
    """Three significant digits, as "%.3g" of C gives them."""
    session = opened("pendularm", {"timestep": step})
    assert session.status()["hud"][0][1][0] == f"t = 0.00 dt = {text}"


def test_the_view_is_told_torque_and_desired_angle():
    """The motor's torque is its control, clipped to no range here; with the user's 50 N m of the key d on top."""
    session = opened("pendularm", {"playing": False})
    session.sim.ctrl[:] = 12.5
    do(session, "keydown", key="d")
    session.apply_push()
    told = decoded(session.frame().encode(1), session.scene())["motors"]
    np.testing.assert_allclose(told, [[12.5 + 50.0, -np.pi / 2.5]], rtol=1e-6)
    (motor,) = session.scene()["motors"]
    assert (motor["axis"], motor["anchor"], motor["body"], motor["dof"]) == ([0, -1, 0], [0, 0, 0], 1, 0)


def test_that_the_second_angle_is_relative_is_said():
    session = opened("pendularm2", {"playing": False})
    assert "x2 is relative to the first link" in dict(session.status()["hud"])["System"]
    assert [dof["relative"] for dof in session.scene()["dofs"]] == [None, "upper"]


def test_what_keys_do_has_buttons():
    """Each key that the text names, but s, which c does too; a press of the button's key is a press of that key."""
    session = opened("pendularm", {"playing": False})
    scene = session.scene()
    buttons = {a["label"]: a for a in scene["actions"]}
    assert {a["key"] for a in scene["actions"]} == set(scene["keyboard"]) - {"x", "s"}
    assert [label for label, a in buttons.items() if a["hold"]] == ["Push −", "Push +", "Target −", "Target +"]
    press(session, buttons["Runge-kutta"]["key"])
    field, value = buttons["Runge-kutta"]["when"]
    assert session.status()[field] == value == "rk4"
