"""Computed torque and gravity compensation in the time loop (`model_based_control`).

References: the closed form of e'' + kd e' + kp e = 0, and the same motion without gravity. Tolerances are the methods'
errors at the steps used: RK4 leaves (ω h)⁴ of the amplitude over some periods, DOPRI5 its tolerance times the steps.
"""

import numpy as np
import pytest

import saltus

ARM = """
<mujoco><option timestep="0.002"/><worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" damping=".4" stiffness="2" armature=".05"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0"/>
    <body pos=".4 0 0"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".03" contype="0"/></body></body>
  </worldbody><actuator><motor name="a" joint="a" gear="3"/><motor name="b" joint="b"/></actuator></mujoco>"""
KP, KD = np.array([25.0, 9.0]), np.array([4.0, 2.0])


def closed_form(error, rate, t):
    """Errors and rates of e'' + kd e' + kp e = 0, under-damped, at time t."""
    decay, turning = KD / 2, np.sqrt(KP - KD**2 / 4)
    s, c, amplitude = np.sin(turning * t), np.cos(turning * t), np.exp(-decay * t)
    return amplitude * (error * c + (rate + decay * error) / turning * s)


@pytest.mark.parametrize(("how", "tolerance"), [(dict(integrator="rk4"), 1e-9), (dict(integrator="dopri5"), 1e-5)])
def test_errors_of_computed_torque_are_linear_oscillators(how, tolerance):
    target = np.array([0.3, -0.5])
    sim = saltus.Simulation(ARM, control=saltus.computed_torque(KP, KD, target), **how)
    sim.qpos[:], sim.qvel[:] = target - [1.2, -0.7], [2.0, -3.0]
    wanted = target - closed_form(np.array([1.2, -0.7]), -np.array([2.0, -3.0]), 1.0)
    sim.run(1.0, progress=False)
    assert np.allclose(sim.qpos, wanted, rtol=0, atol=tolerance)


def test_computed_torque_makes_a_batch_the_same_oscillators():
    batch = saltus.Batch(ARM, 3, threads=1, integrator="rk4", control=saltus.computed_torque(KP, KD))
    start = np.array([[0.5, 0.1], [-1.0, 0.4], [2.0, -2.0]])
    batch.qpos = start
    batch.step(500)
    wanted = [-closed_form(-row, np.zeros(2), 1.0) for row in start]
    assert np.allclose(batch.qpos, wanted, rtol=0, atol=1e-9)


def test_derivatives_of_a_step_are_those_of_the_oscillators():
    """The step's A is the exponential of the oscillators' matrix but for the method's error, (ω h)⁵ / 120."""
    from scipy.linalg import expm

    sim = saltus.Simulation(ARM, "rk4", control=saltus.computed_torque(KP, KD))
    sim.qpos[:], sim.qvel[:] = [0.4, -0.9], [1.0, 2.0]
    A, _ = sim.linearize()
    rates = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.diag(KP), -np.diag(KD)]])
    assert np.allclose(A, expm(0.002 * rates), rtol=0, atol=1e-8)


def test_without_weight_it_moves_as_without_gravity():
    weightless = ARM.replace('timestep="0.002"', 'timestep="0.002" gravity="0 0 0"')
    ends = []
    for text, control in ((ARM, saltus.gravity_compensation()), (weightless, None)):
        sim = saltus.Simulation(text, "rk4", control=control)
        sim.qpos[:], sim.qvel[:] = [0.4, -0.9], [1.0, 2.0]
        sim.run(0.5, progress=False)
        ends.append(np.concatenate([sim.qpos, sim.qvel]))
    assert np.allclose(*ends, rtol=0, atol=1e-11)


def test_actuators_that_are_not_named_keep_their_controls():
    sim = saltus.Simulation(ARM, "rk4", control=saltus.gravity_compensation(actuators=["b"]))
    sim.ctrl[0] = 0.7
    sim.forward()
    assert sim.ctrl[0] == 0.7 and sim.ctrl[1] != 0.0


SERVO = ARM.replace('<motor name="b" joint="b"/>', '<position name="b" joint="b"/>')
ONE = ARM.replace('<motor name="b" joint="b"/>', "")
TWICE = ARM.replace('<motor name="b" joint="b"/>', '<motor name="b" joint="a"/>')
OFF = ARM.replace('<motor name="b"', '<motor name="b" group="2"').replace(
    "<option ", '<option actuatorgroupdisable="2" '
)
LIFTED = ARM.replace('<body pos=".4 0 0">', '<body pos=".4 0 0" gravcomp="1">').replace(
    'name="b" axis', 'name="b" actuatorgravcomp="true" axis'
)


def test_friction_by_bristles_is_not_controlled():
    """It has no control: gains are those of the motors, in their places."""
    model = saltus.drive(ARM, "a", friction=saltus.Dahl(100.0, 0.1))
    found = saltus.computed_torque(KP, KD).parameters(model).reshape(3, -1)
    without = saltus.computed_torque(KP, KD).parameters(saltus.load(ARM)).reshape(2, -1)
    np.testing.assert_array_equal(found, [*without, np.zeros(len(without[0]))])


LIGHT = ARM.replace('<body pos=".4 0 0">', '<body pos=".4 0 0" gravcomp="1">')


@pytest.mark.parametrize(
    ("text", "control", "said"),
    [
        (ONE, lambda: saltus.computed_torque(1, 1), "b has no motor"),
        (SERVO, lambda: saltus.computed_torque(1, 1), "actuator 'b' is no motor"),
        (TWICE, lambda: saltus.gravity_compensation(), "a has two actuators"),
        (OFF, lambda: saltus.computed_torque(1, 1), "actuator 'b' is disabled"),
        (LIFTED, lambda: saltus.computed_torque(1, 1), "leave actuatorgravcomp out"),
        (LIGHT, lambda: saltus.gravity_compensation(), "gravcomp"),
        (ARM, lambda: saltus.gravity_compensation(actuators=["x"]), "unknown actuator 'x'"),
        (ARM, lambda: saltus.computed_torque([1, 2, 3], 1), "kp has shape"),
        (ARM, lambda: saltus.computed_torque(np.nan, 1), "kp must be a finite number"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(text, control, said):
    with pytest.raises(saltus.OptionError, match=said):
        saltus.Simulation(text, "rk4", control=control())


def test_equations_of_motion_of_a_user_are_refused():
    def inertia(m, d):
        for k in range(3):
            d.M[k] = 2.0 - k * (2 - k) * 2.0  # diagonal

    def bias(m, d):
        for i in range(2):
            d.qfrc_bias[i] = 0.0

    equations = saltus.Dynamics(inertia, bias)
    with pytest.raises(saltus.OptionError, match="computed_torque computes with the model's bodies"):
        saltus.Simulation(ARM, "rk4", control=saltus.computed_torque(1, 1), dynamics=equations)
