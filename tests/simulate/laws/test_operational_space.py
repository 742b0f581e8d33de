"""Operational-space control in the time loop (`operational_space`).

References: the closed form of e'' + kd e' + kp e = 0, for places and for a turn about one axis; its matrix exponential;
the same task under another posture. Tolerances are the methods' errors at the steps used.
"""

import mujoco
import numpy as np
import pytest
from helpers.seven_joints import SEVEN_JOINTS

import saltus
from saltus.simulate.laws.operational_space import OperationalSpace, task_mobility

MOTORS = "".join(f'<motor joint="joint{k}"/>' for k in range(7))
ARM = SEVEN_JOINTS.replace("</mujoco>", f"<actuator>{MOTORS}</actuator></mujoco>").replace(
    "<joint ", '<joint limited="false" '
)
PLANAR = """
<mujoco><option timestep="0.002"/><worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" damping=".4" armature=".05"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0"/>
    <body pos=".4 0 0"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" contype="0"/><site name="tip" pos=".3 0 0"/></body></body>
  <body pos="0 2 0"><freejoint/><geom size=".1" contype="0"/></body>
  </worldbody><actuator><motor name="a" joint="a" gear="3"/><motor name="b" joint="b"/></actuator></mujoco>"""
START, SPEED = np.array([0.3, 0.6, -0.4, 1.1, 0.2, 0.9, 0.1]), np.array([0.5, -0.3, 0.2, 0.4, -0.6, 0.1, 0.3])
KP, KD = 25.0, 4.0


def closed_form(error, rate, t):
    """Error of e'' + kd e' + kp e = 0, under-damped, at time t."""
    decay, turning = KD / 2, np.sqrt(KP - KD**2 / 4)
    return np.exp(-decay * t) * (error * np.cos(turning * t) + (rate + decay * error) / turning * np.sin(turning * t))


def place(model, qpos, qvel):
    """Position, velocity, rotation matrix and Jacobian [6, nv] of the first site by MuJoCo."""
    m = model.mujoco
    data, J = mujoco.MjData(m), np.zeros((6, m.nv))
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(m, data)
    mujoco.mj_jacSite(m, data, J[:3], J[3:], 0)
    return data.site_xpos[0].copy(), J[:3] @ data.qvel, data.site_xmat[0].reshape(3, 3).copy(), J


def reach(timestep, **posture):
    """Error of the hand after 1 s, and its closed form, and the simulation, with the hand moving at first."""
    model = saltus.load(ARM)
    x, v, _, _ = place(model, START, SPEED)
    target = x + [-0.1, 0.05, -0.08]
    control = saltus.operational_space("hand", KP, KD, target, **posture)
    sim = saltus.Simulation(model, "rk4", timestep=timestep, control=control)
    sim.qpos[:], sim.qvel[:] = START, SPEED
    sim.run(1.0, progress=False)
    return target - place(model, sim.qpos, sim.qvel)[0], closed_form(target - x, -v, 1.0), sim


def test_errors_of_the_site_are_linear_oscillators_to_the_order_of_the_method():
    off = []
    for timestep in (0.02, 0.01):
        error, expected, _ = reach(timestep, posture=START, posture_kp=4.0, posture_kd=2.0)
        off.append(np.abs(error - expected).max())
    assert off[1] < 1e-7 and abs(np.log2(off[0] / off[1]) - 4.0) < 0.6


def test_posture_moves_joints_but_not_the_site():
    error, expected, sim = reach(0.002, posture_kp=30.0, posture_kd=3.0)
    other, _, loose = reach(0.002, posture_kd=0.0)
    assert np.allclose([error, other], expected, rtol=0, atol=1e-9)
    assert np.abs(sim.qpos - loose.qpos).max() > 0.1


def test_a_turn_about_one_axis_is_a_linear_oscillator_while_the_site_stays():
    model = saltus.load(ARM)
    x, _, R, _ = place(model, START, np.zeros(7))
    axis, angle = np.array([0.6, 0.0, 0.8]), 0.5
    quat, now, turn = np.zeros(4), np.zeros(4), np.zeros(4)
    mujoco.mju_mat2Quat(now, R.reshape(-1))
    mujoco.mju_axisAngle2Quat(turn, axis, angle)
    mujoco.mju_mulQuat(quat, turn, now)
    control = saltus.operational_space("hand", KP, KD, x, orientation=quat)
    sim = saltus.Simulation(model, "rk4", timestep=0.002, control=control)
    sim.qpos[:] = START
    sim.run(0.8, progress=False)
    end, _, R_end, _ = place(model, sim.qpos, sim.qvel)
    left, matrix = np.zeros(4), (R_end @ R.T).reshape(-1)
    mujoco.mju_mat2Quat(left, matrix)
    turned = np.zeros(3)
    mujoco.mju_quat2Vel(turned, left, 1.0)
    assert np.allclose(turned, (angle - closed_form(angle, 0.0, 0.8)) * axis, rtol=0, atol=1e-8)
    assert np.allclose(end, x, rtol=0, atol=1e-8)


def test_planar_arms_control_two_axes_in_batches_and_under_adaptive_steps():
    target, start = np.array([0.35, 0.0, 1.25]), np.array([0.3, 1.2])
    control = saltus.operational_space("tip", KP, KD, target, axes="xz")
    x, v, _, _ = place(saltus.load(PLANAR), [*start, 0, 2, 0, 1, 0, 0, 0], np.r_[1.0, -2.0, np.zeros(6)])
    expected = closed_form(target - x, -v, 1.0)[[0, 2]]
    batch = saltus.Batch(PLANAR, 3, threads=1, integrator="rk4", control=control)
    batch.qpos[:, :2], batch.qvel[:, :2] = start, [1.0, -2.0]
    batch.step(500)
    adaptive = saltus.Simulation(PLANAR, "dopri5", control=control)
    adaptive.qpos[:2], adaptive.qvel[:2] = start, [1.0, -2.0]
    adaptive.run(1.0, progress=False)
    for state, tolerance in ((batch.qpos[2], 1e-9), (adaptive.qpos, 1e-5)):
        error = target - place(adaptive.model, state, np.zeros(8))[0]
        assert np.allclose(error[[0, 2]], expected, rtol=0, atol=tolerance)
    assert np.isclose(batch.qpos[0, 4], -9.81 / 2, atol=1e-9)  # a free body among them falls


def test_derivatives_of_a_step_are_those_of_the_oscillators():
    """At the target A is expm of the task's matrix in joints' coordinates, but for (ω h)⁵ / 120 and the posture's."""
    from scipy.linalg import expm

    model = saltus.load(PLANAR.replace("<freejoint/>", ""))
    qpos = np.array([0.4, 0.9])
    x, _, _, J = place(model, qpos, np.zeros(2))
    sim = saltus.Simulation(model, "rk4", control=saltus.operational_space("tip", KP, KD, x, axes="xz"))
    sim.qpos[:] = qpos
    A, _ = sim.linearize()
    T = np.kron(np.eye(2), J[[0, 2]])
    rates = np.block([[np.zeros((2, 2)), np.eye(2)], [-KP * np.eye(2), -KD * np.eye(2)]])
    assert np.allclose(A, np.linalg.solve(T, expm(0.002 * rates) @ T), rtol=0, atol=1e-8)


def test_near_a_singular_configuration_its_axis_is_given_up_and_named_and_others_are_exact():
    """A stretched arm cannot move its tip outwards; upwards it obeys, and comes to rest with no outward force."""
    control = saltus.operational_space("tip", KP, KD, [0.9, 0.0, 1.1], axes="xz")
    sim = saltus.Simulation(PLANAR, "rk4", control=control)
    sim.qpos[1] = 1e-5
    assert control.damped_axes(sim.model, sim.qpos) == ["x"]
    sim.forward()
    x, _, _, J = place(sim.model, sim.qpos, sim.qvel)
    assert isinstance(control, OperationalSpace)
    assert task_mobility(sim.model, sim.qpos, 0)[0, 0] < 1e-9
    assert np.isclose((J[:3] @ sim.data.qacc)[2], KP * (1.1 - x[2]), rtol=1e-3)
    sim.run(3.0, progress=False)
    assert abs(sim.qvel[:2]).max() < 1e-2
    sim.qpos[1] = 0.8
    assert control.damped_axes(sim.model, sim.qpos) == []


ONE = PLANAR.replace('<motor name="b" joint="b"/>', "")
FIXED = PLANAR.replace("<worldbody>", '<worldbody><site name="wall"/>')


@pytest.mark.parametrize(
    ("text", "control", "said"),
    [
        (PLANAR, lambda: saltus.operational_space("x", 1, 1, 0.0), "no site 'x'"),
        (FIXED, lambda: saltus.operational_space("wall", 1, 1, 0.0), "no joint moves site 'wall'"),
        (ONE, lambda: saltus.operational_space("tip", 1, 1, 0.0), "b has no motor"),
        (PLANAR, lambda: saltus.operational_space("tip", 1, 1), "give a target, an orientation, or both"),
        (PLANAR, lambda: saltus.operational_space("tip", 1, 1, 0.0, axes="xw"), "some of x, y, z"),
        (PLANAR, lambda: saltus.operational_space("tip", 1, 1, 0.0, rotation_axes="y"), "without an orientation"),
        (PLANAR, lambda: saltus.operational_space("tip", 1, 1, orientation=[1, 1, 0, 0]), "unit quaternion"),
        (PLANAR, lambda: saltus.operational_space("tip", [1, 2, 3], 1, 0.0), "kp must be a finite number or 6"),
        (PLANAR, lambda: saltus.operational_space("tip", 1, 1, [0, np.inf, 0]), "target must be 3 finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(text, control, said):
    with pytest.raises(saltus.OptionError, match=said):
        saltus.Simulation(text, "rk4", control=control())


def test_prescribed_joints_are_refused_by_name():
    control = saltus.operational_space("tip", 1, 1, 0.0, axes="xz")
    with pytest.raises(saltus.OptionError, match="prescribed motion of 'a' is not in the law"):
        saltus.Simulation(PLANAR, "rk4", control=control, motions={"a": lambda t: 0.1 * t})
