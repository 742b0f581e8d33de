"""Forces for tasks of a site (`operational_space`). Reference: Khatib's formula with MuJoCo's J, M, bias at a state.

Tolerance: rounding of some hundred products, times the condition of J M⁻¹ Jᵀ, which is below 1e3 there.
"""

import mujoco
import numpy as np
from helpers.seven_joints import SEVEN_JOINTS

import saltus
from saltus.dynamics.controllers.operational_space import operate

MOTORS = "".join(f'<motor joint="joint{k}" gear="{k + 1}"/>' for k in range(7))
ARM = SEVEN_JOINTS.replace("</mujoco>", f"<actuator>{MOTORS}</actuator></mujoco>").replace(
    "<joint ", '<joint limited="false" armature=".02" damping=".3" '
)
KP, KD = np.array([20.0, 30, 40, 50, 60, 70]), np.array([2.0, 3, 4, 5, 6, 7])
RATE, ACCELERATION = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6]), np.array([1.0, -2, 3, 0.4, 0.5, -0.6])
TARGET, QUATERNION = np.array([0.2, -0.3, 0.7]), np.array([0.8, 0.0, 0.48, -0.36])
POSTURE, POSTURE_KP, POSTURE_KD = np.linspace(-0.5, 0.7, 7), np.linspace(1, 3, 7), np.linspace(0.5, 0.2, 7)


def forces(m, qpos, qvel):
    """Khatib's forces [7] (N m) for the task and posture above, by MuJoCo's Jacobians and inertia."""
    data, J, rate, M = mujoco.MjData(m), np.zeros((6, 7)), np.zeros((6, 7)), np.zeros((7, 7))
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(m, data)
    mujoco.mj_jacSite(m, data, J[:3], J[3:], 0)
    mujoco.mj_jacDot(m, data, rate[:3], rate[3:], data.site_xpos[0], m.site_bodyid[0])
    mujoco.mj_fullM(m, data, M)
    quat, turn = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quat, data.site_xmat[0])
    mujoco.mju_subQuat(turn, QUATERNION, quat)  # in the site's axes
    error = np.concatenate([TARGET - data.site_xpos[0], data.site_xmat[0].reshape(3, 3) @ turn])
    asked = ACCELERATION + KD * (RATE - J @ qvel) + KP * error
    posture = POSTURE_KP * (POSTURE - qpos) - POSTURE_KD * qvel
    task = np.linalg.solve(J @ np.linalg.solve(M, J.T), asked - rate @ qvel - J @ posture)
    return J.T @ task + M @ posture + data.qfrc_bias - data.qfrc_passive


def test_controls_are_those_of_mujocos_terms():
    control = saltus.operational_space(
        *("hand", KP, KD, TARGET),
        orientation=QUATERNION,
        target_rate=RATE,
        target_acceleration=ACCELERATION,
        posture=POSTURE,
        posture_kp=POSTURE_KP,
        posture_kd=POSTURE_KD,
    )
    sim = saltus.Simulation(ARM, "rk4", control=control)
    assert operate.py_func.__name__ in control.law.py_func.__code__.co_names
    rng = np.random.default_rng(0)
    for _ in range(4):
        sim.qpos[:], sim.qvel[:] = rng.normal(size=(2, 7))
        sim.forward()
        assert not control.damped_axes(sim.model, sim.qpos)
        expected = forces(sim.model.mujoco, sim.qpos, sim.qvel)
        assert np.allclose(sim.ctrl * np.arange(1, 8), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
