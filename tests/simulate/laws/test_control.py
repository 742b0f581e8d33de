"""Controllers in the time loop.

Laws: the closed loop of a pendulum (m l² = 8 kg m², m g l = 39.24 N m) and a PID is θ'' = (u - m g l sin θ) / (m l²),
u = kp e + ki z - kd θ', z' = e; at rest the integral carries the weight, u = m g l sin θ_target. Tolerances: the
slowest mode decays as exp(-t ki/(kp + m g l cos θ)), to 2e-7 of its start after 162 s; the order of a method is fitted
within 0.2; SciPy's DOP853 at 1e-12 is the reference of trajectories; lanes and steps by hand differ by rounding alone.
"""

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import saltus
from saltus.dynamics.control import AT_STAGES
from saltus.dynamics.user_laws import laws_of
from saltus.errors import OptionError
from saltus.number.kernels import kernel

INERTIA, WEIGHT = 8.0, 39.24
GAINS = dict(kp=1500.0, ki=150.10, kd=15.0)
TARGET = -np.pi / 2.5
ALL = ("euler", "implicitfast", "midpoint", "velocity_verlet", "rk4")


def pendulum(integrator, timestep, angle=np.pi / 2):
    sim = saltus.Simulation("pendulum", integrator=integrator, timestep=timestep)
    sim.qpos[:], sim.qvel[:] = angle, 0.0
    return sim


def reference(duration, gains, target, angle, limit=None):
    """Angle, velocity and integral at the end, by another program."""

    def rate(t, y):
        error = target - y[0]
        error -= 2 * np.pi * np.ceil(error / (2 * np.pi) - 0.5)
        u = gains["kp"] * error + gains["ki"] * y[2] - gains["kd"] * y[1]
        return [y[1], (u - WEIGHT * np.sin(y[0])) / INERTIA, error]

    return solve_ivp(rate, (0, duration), [angle, 0, 0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["velocity_verlet", "euler", "rk4"])
def test_the_servo_of_the_lecture(integrator):
    """Pendulum at a step of 0.05 s, kp 1500, kd 15, ki 150.10, target -2π/5: it settles with u = -37.32 N m."""
    sim = pendulum(integrator, 0.05)
    run = sim.run(162, sample=1.0, control=saltus.PID(target=TARGET, **GAINS))
    slow = np.pi * np.exp(-162 * GAINS["ki"] / (GAINS["kp"] + WEIGHT))
    assert abs(run.qpos[-1, 0] - TARGET) < slow
    assert abs(run.qvel[-1, 0]) < slow
    assert run.ctrl[-1, 0] == pytest.approx(WEIGHT * np.sin(TARGET), abs=GAINS["kp"] * slow)
    assert round(run.ctrl[-1, 0], 2) == -37.32 and round(run.qpos[-1, 0], 2) == -1.26
    assert run.act.shape == (163, 1)
    assert GAINS["ki"] * run.act[-1, 0] == pytest.approx(run.ctrl[-1, 0], abs=GAINS["kp"] * slow)


@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("midpoint", 2), ("velocity_verlet", 2), ("rk4", 4)])
def test_stages_see_the_integral(integrator, order):
    """The closed loop converges with the method's order, and to the solution of another program."""
    gains, errors = dict(kp=300.0, ki=200.0, kd=20.0), []
    wanted = reference(1.0, gains, 0.5, 0.2)
    steps = [0.01, 0.005, 0.0025]
    for h in steps:
        sim = pendulum(integrator, h, angle=0.2)
        sim.run(1.0, sample=1.0, control=saltus.PID(target=0.5, **gains))
        errors.append(np.linalg.norm([sim.qpos[0] - wanted[0], sim.qvel[0] - wanted[1]]))
    fitted = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert fitted == pytest.approx(order, abs=0.2)


@pytest.mark.slow
def test_adaptive_and_implicit_methods():
    gains = dict(kp=300.0, ki=200.0, kd=20.0)
    wanted = reference(1.0, gains, 0.5, 0.2)
    for integrator, h, tolerance in (("dopri5", 0.01, 1e-7), ("implicit_midpoint", 0.0005, 1e-4)):
        sim = pendulum(integrator, h, angle=0.2)
        run = sim.run(1.0, sample=0.25, control=saltus.PID(target=0.5, **gains))
        np.testing.assert_allclose([run.qpos[-1, 0], run.qvel[-1, 0], run.act[-1, 0]], wanted, atol=tolerance)


def test_held_for_a_step():
    """With `hold` the control is that of the step's start, and the integral Euler's, as in a loop by hand."""
    gains = dict(kp=300.0, ki=200.0, kd=20.0)
    sim = pendulum("rk4", 0.01, angle=0.2)
    run = sim.run(0.5, sample=0.01, control=saltus.PID(target=0.5, hold=True, **gains))
    by_hand = pendulum("rk4", 0.01, angle=0.2)
    integral = 0.0
    for k in range(50):
        error = 0.5 - by_hand.qpos[0]
        by_hand.ctrl[0] = gains["kp"] * error + gains["ki"] * integral - gains["kd"] * by_hand.qvel[0]
        integral += 0.01 * error
        by_hand.step()
        np.testing.assert_allclose(run.qpos[k + 1], by_hand.qpos, rtol=0, atol=1e-13)


def test_errors_of_angles_take_the_shorter_way():
    """From 3 rad to -3 rad a pendulum without weight turns forward through π, unless wrapping is off."""
    text = """<mujoco><option gravity="0 0 0" timestep=".01"/><worldbody><body><joint name="j" axis="0 1 0"/>
      <geom size=".1" mass="1" pos="1 0 0"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""
    model = saltus.load(text)
    for wrap, end in ((True, 2 * np.pi - 3), (False, -3)):
        sim = saltus.Simulation(model, "rk4")
        sim.qpos[0] = 3.0
        sim.run(20, control=saltus.PID(kp=20, kd=10, target=-3.0, wrap=wrap))
        assert sim.qpos[0] == pytest.approx(end, abs=1e-6)


def test_the_limit_and_the_integral():
    """|u| stays within the limit, and the integral does not wind up while it is there."""
    gains = dict(kp=100.0, ki=50.0, kd=10.0)
    sim = pendulum("rk4", 0.01, angle=0.0)
    run = sim.run(3.0, sample=0.01, control=saltus.PID(target=1.5, limit=20.0, **gains))
    assert abs(run.ctrl).max() == 20.0
    saturated = abs(run.ctrl[:, 0]) == 20.0
    assert saturated.any()
    assert abs(run.act).max() <= 20.0 / gains["ki"] + 1.5 * 0.1


RANGED = """<mujoco><option timestep=".01"/><worldbody><body><joint name="j" axis="0 1 0"/>
  <inertial pos="0 0 -2" mass="2" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody>
  <actuator><motor joint="j" ctrllimited="true" ctrlrange="-10 10"/></actuator></mujoco>"""


def test_the_integral_and_the_motors_range():
    """A motor of 10 N m cannot lift the weight, 39.24 sin θ, to 1.5 rad; |u| = |kp e + ki z - kd v| stays near it.

    With conditional integration z grows only while |u| is below 10: it never holds more than what takes u there.
    """
    gains = dict(kp=100.0, ki=50.0, kd=40.0)
    sim = saltus.Simulation(RANGED, "rk4")
    run = sim.run(30.0, sample=0.05, control=saltus.PID(target=1.5, **gains))
    assert abs(run.ctrl).max() == 10.0
    reach = (10.0 + gains["kp"] * abs(1.5 - run.qpos).max() + gains["kd"] * abs(run.qvel).max()) / gains["ki"]
    assert abs(run.act).max() <= reach + 0.1
    # back to where it can hold: nothing has to be unwound first
    sim.run(20.0, control=saltus.PID(target=0.2, **gains))
    assert sim.qpos[0] == pytest.approx(0.2, abs=1e-3)


def test_a_rate_that_is_wanted():
    """kd alone, without weight: I dv/dt = kd (r - v), so that the rate is r (1 - exp(-kd t / I))."""
    text = RANGED.replace('timestep=".01"', 'timestep=".01" gravity="0 0 0"').replace("-10 10", "-100 100")
    sim = saltus.Simulation(text, "rk4")
    run = sim.run(2.0, sample=0.5, control=saltus.PID(kp=0, kd=8.0, target_rate=1.5))
    np.testing.assert_allclose(run.qvel[:, 0], 1.5 * (1 - np.exp(-run.time)), atol=1e-8)
    with pytest.raises(OptionError, match="target_rate must be finite"):
        saltus.PID(kp=1, target_rate=np.inf)


def test_functions_are_no_controllers_of_the_loop():
    for make in (saltus.Simulation, lambda model, control: saltus.Batch(model, 2, control=control)):
        with pytest.raises(OptionError, match=r"control must be a controller .* got a function; .* run\("):
            make("pendulum", control=lambda sim: None)


@pytest.mark.slow
def test_a_kernel_of_the_users():
    """A law written as kernel, with a state and parameters, is the PID written as a kernel."""
    gains = dict(kp=300.0, ki=200.0, kd=20.0)

    @saltus.controller(states=1, parameters=[300.0, 200.0, 20.0, 0.5])
    def law(m, d, z):
        p = d.control_prm
        error = p[3] - d.qpos[0]
        d.ctrl[0] = p[0] * error + p[1] * d.act[z] - p[2] * d.qvel[0]
        d.act_dot[z] = error

    ends = []
    for control in (law, saltus.PID(target=0.5, wrap=False, **gains)):
        sim = pendulum("rk4", 0.01, angle=0.2)
        run = sim.run(1.0, sample=0.1, control=control)
        ends.append(np.hstack([run.qpos, run.qvel, run.act]))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-12)


def of_closure(gain):
    def law(m, d, z):
        d.ctrl[0] = gain * d.time

    return law


def of_default(gain):
    def law(m, d, z, gain=gain):
        d.ctrl[0] = gain * d.time

    return law


def of_array(gain):
    gains = np.array([0.0, gain])

    def law(m, d, z):
        d.ctrl[0] = gains[1] * d.time

    return law


def of_called_kernel(gain):
    gains = np.array([gain])
    helper = kernel(lambda time, offset=0.0: gains[0] * time + offset)

    def law(m, d, z):
        d.ctrl[0] = helper(d.time)

    return law


@pytest.mark.parametrize("make", [of_closure, of_default, of_array, of_called_kernel])
def test_what_a_law_refers_to_belongs_to_it(make):
    """Another gain is another law, the same one again is not."""
    words = [saltus.controller(make(gain)).feature_key for gain in (1.0, 2.0, 1.0)]
    assert words[0] == words[2] != words[1]


@pytest.mark.slow
def test_a_kernel_that_changes_is_compiled_anew():
    for gain in (1.0, 2.0):
        sim = pendulum("euler", 0.01)
        sim.control = saltus.controller(of_called_kernel(gain))
        sim.step(2)
        assert sim.ctrl[0] == pytest.approx(0.01 * gain)


LOOKED_AT = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="1 0.1 0" mass="1"/>
    <site pos="1 0 0.1"/><body pos="1 0 0"><joint axis="0 1 0"/><geom size="0.1" pos="1 0.1 0" mass="1"/></body></body>
  </worldbody><tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>
  <actuator><motor joint="j"/><motor tendon="t"/></actuator></mujoco>"""


def looks(m, d, z):
    seen = d.xpos[2][0], d.xquat[2][2], d.xmat[2][2], d.xipos[2][0], d.geom_xpos[1][0], d.site_xpos[0][0]
    for i in range(6):
        d.control_prm[i] = seen[i]
    d.control_prm[6] = d.subtree_com[0][0]
    d.control_prm[7] = d.cvel[2][1]
    d.control_prm[8] = d.ten_length[0]
    d.control_prm[9] = d.ten_velocity[0]
    d.control_prm[10] = d.actuator_length[0]
    d.control_prm[11] = d.actuator_velocity[0]
    d.ctrl[0] = 0.0


@pytest.mark.slow
@pytest.mark.parametrize("hold", [False, True])
def test_a_law_reads_what_belongs_to_the_state(hold):
    """Against mj_forward at the step's start: also what steps would not compute but for the law."""
    model = saltus.load(LOOKED_AT, ignore=["contact"])
    sim = saltus.Simulation(
        model, "euler", timestep=0.01, control=saltus.controller(looks, parameters=[0.0] * 12, hold=hold)
    )
    sim.qpos[:], sim.qvel[:] = [0.3, 0.2], [1.0, 0.5]
    sim.step(10)
    m = mujoco.MjModel.from_xml_string(LOOKED_AT)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    sim.step()
    poses = d.xpos[2, 0], d.xquat[2, 2], d.xmat[2, 2], d.xipos[2, 0], d.geom_xpos[1, 0], d.site_xpos[0, 0]
    rates = d.cvel[2, 1], d.ten_length[0], d.ten_velocity[0], d.actuator_length[0], d.actuator_velocity[0]
    np.testing.assert_allclose(sim.control_prm[:12], [*poses, d.subtree_com[0, 0], *rates], rtol=1e-12, atol=1e-13)


def test_what_steps_do_not_compute_is_refused():
    def law(m, d, z):
        d.ctrl[0] = -d.sensordata[0]

    with pytest.raises(saltus.OptionError, match=r"law reads d\.sensordata, which steps do not compute"):
        saltus.Simulation("arm", control=saltus.controller(law))


def test_what_a_law_refers_to_must_not_change():
    """Compiled code would go on with the old value, and code compiled now would be kept under the old one's name."""
    gains = np.array([1.0])

    @saltus.controller
    def law(m, d, z):
        d.ctrl[0] = gains[0] * d.time

    sim = pendulum("euler", 0.01)
    sim.control = law
    gains[0] = 2.0
    with pytest.raises(OptionError, match="law: a value that it refers to has changed"):
        laws_of(sim.engine.m, AT_STAGES)  # what compilation asks for
    with pytest.raises(OptionError, match="law: a value that it refers to has changed"):
        pendulum("euler", 0.01).control = law
    gains[0] = 1.0
    sim.step()
    sim.step()
    assert sim.ctrl[0] == pytest.approx(0.01)


def test_what_compiled_code_cannot_hold():
    class Gains:
        kp = 1.0

    gains = Gains()

    @saltus.controller
    def law(m, d, z):
        d.ctrl[0] = gains.kp

    with pytest.raises(OptionError, match="law refers to gains, of type Gains"):
        pendulum("euler", 0.01).control = law


def test_batches_have_a_controller_with_its_own_gains_each():
    """Lanes equal single simulations with the same gains."""
    n = 5
    batch = saltus.Batch("pendulum", n, integrator="rk4", timestep=0.01, control=saltus.PID(target=0.5, **GAINS))
    parameters = batch.control_prm
    parameters[:, 0] = np.linspace(100, 500, n)
    batch.control_prm = parameters
    batch.qpos = np.full((n, 1), 0.2)
    batch.qvel = np.zeros((n, 1))
    batch.step(100)
    for k in range(n):
        sim = pendulum("rk4", 0.01, angle=0.2)
        sim.control = saltus.PID(target=0.5, **GAINS | {"kp": parameters[k, 0]})
        sim.step(100)
        np.testing.assert_allclose(batch.qpos[k], sim.qpos, rtol=0, atol=1e-13)
        np.testing.assert_allclose(batch.act[k], sim.act, rtol=0, atol=1e-13)


@pytest.mark.slow
def test_derivatives_go_through_the_controller():
    """A [3, 3] of (angle, velocity, integral), by differences of the step."""
    sim = pendulum("rk4", 0.01, angle=0.3)
    sim.control = saltus.PID(target=0.5, **GAINS)
    A, _ = sim.linearize()
    start, eps = sim.snapshot(), 1e-5
    for column, field in enumerate(("qpos", "qvel", "act")):
        ends = []
        for side in (1, -1):
            sim.restore(start)
            getattr(sim, field)[0] += side * eps
            sim.step()
            ends.append(np.array([sim.qpos[0], sim.qvel[0], sim.act[0]]))
        np.testing.assert_allclose(A[:, column], (ends[0] - ends[1]) / (2 * eps), rtol=0, atol=1e-8)


def test_the_certificate_holds_for_controlled_runs():
    sim = pendulum("rk4", 0.02, angle=0.2)
    run = sim.run(1.0, control=saltus.PID(kp=300, ki=20, kd=20, target=0.5), certify=True)
    assert run.certificate is not None and run.certificate.ok
    assert run.certificate.observed_order == pytest.approx(4, abs=0.5)


def test_wrong_controllers():
    sim = pendulum("rk4", 0.01)
    with pytest.raises(OptionError, match="kp"):
        saltus.PID(kp=np.nan)
    with pytest.raises(OptionError, match="limit"):
        saltus.PID(kp=1, limit=-1)
    with pytest.raises(OptionError, match="ki"):
        sim.run(0.1, control=saltus.PID(kp=1, ki=[1, 2, 3]))
    with pytest.raises(OptionError, match="elbow"):
        sim.run(0.1, control=saltus.PID(kp=1, actuators=["elbow"]))
    with pytest.raises(OptionError, match="no actuators"):
        saltus.Simulation("free_body", control=saltus.PID(kp=1))
    with pytest.raises(OptionError, match="controller"):
        sim.control = 3


POSITIONS = """
<mujoco><worldbody><site name="origin"/>
  <body name="ball"><joint name="ball" type="ball"/><geom size=".1"/><site name="tip" pos="1 0 0"/></body>
  <body name="free"><joint name="free" type="free"/><geom size=".1"/></body>
  <body name="hinge"><joint name="hinge"/><geom size=".1"/></body></worldbody>
<actuator>{}</actuator></mujoco>"""
NO_POSITION = {
    "<motor name='a' site='tip'/>": "site without a reference",
    "<adhesion name='a' body='ball' ctrlrange='0 1'/>": "contacts of a body",
    "<motor name='a' joint='free' gear='1 0 0 0 0 0'/>": "free joint",
    "<motor name='a' joint='hinge' gear='0'/>": "gear 0",
    "<motor name='a' joint='ball' gear='0 0 0 1 0 0'/>": "gear 0",
}


@pytest.mark.parametrize("actuator", NO_POSITION)
def test_actuators_without_a_position(actuator):
    model = saltus.load(POSITIONS.format("<motor name='b' joint='hinge' gear='5'/>" + actuator))
    for chosen in (None, ["a"]):
        with pytest.raises(OptionError, match=f"actuator 'a' has no position .*{NO_POSITION[actuator]}"):
            saltus.PID(kp=1, actuators=chosen).parameters(model)
    parameters = saltus.PID(kp=1, actuators=["b"]).parameters(model).reshape(2, -1)
    assert parameters[0, 6] == 0.2 and parameters[1, 6] == 0.0


def test_positions_along_the_gear():
    """1 / gear takes the length, gear times position, back to the position."""
    text = "<motor joint='ball' gear='0 0 4'/><motor site='tip' refsite='origin' gear='0 0 0 0 -2 0'/>"
    parameters = saltus.PID(kp=1).parameters(saltus.load(POSITIONS.format(text))).reshape(2, -1)
    assert list(parameters[:, 6]) == [0.25, -0.5]


def test_friction_by_bristles_is_not_controlled():
    """It has no control: gains are those of the motors, in their places."""
    plain = "<mujoco><worldbody><body><joint name='a'/><geom size='.1'/></body></worldbody><actuator><motor joint='a'/>"
    model = saltus.drive(f"{plain}</actuator></mujoco>", "a", friction=saltus.Dahl(100.0, 0.1))
    found = saltus.PID(kp=[3.0], kd=[2.0]).parameters(model).reshape(2, -1)
    assert found[:, 0].tolist() == [3.0, 0.0] and found[:, 7].tolist() == [1.0, 0.0]
    with pytest.raises(saltus.OptionError, match=r"expected a number or \(1,\)"):
        saltus.PID(kp=[3.0, 2.0]).parameters(model)
