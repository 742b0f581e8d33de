"""Tangent spaces of orientations (`tangents`). Reference: MuJoCo's quaternion functions, by central differences.

Steps of 1e-5 leave 1e-10 by truncation and rounding.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.control.tangent_states import difference, displaced
from saltus.inverse.estimation.tangents import right_jacobian, transport


def exponential(turn):
    quat = np.array([1.0, 0, 0, 0])
    mujoco.mju_quatIntegrate(quat, np.array(turn), 1.0)
    return quat


@pytest.mark.parametrize("angle", [0.0, 1e-5, 1e-3, 0.5, 2.5])
def test_right_jacobian(angle):
    turn, h, J = angle * np.array([0.6, -0.64, 0.48]), 1e-5, np.empty((3, 3))
    for k, e in enumerate(np.eye(3)):
        ends = np.zeros((2, 3))
        for end, sign in zip(ends, (1, -1), strict=True):
            mujoco.mju_subQuat(end, exponential(turn + sign * h * e), exponential(turn))
        J[:, k] = (ends[0] - ends[1]) / (2 * h)
    assert np.allclose(right_jacobian(turn), J, rtol=0, atol=1e-9)


def test_errors_move_with_the_estimate():
    """J(δ) (ξ - δ) is x ⊕ ξ seen from x ⊕ δ to first order in ξ - δ: halving it quarters what is left."""
    model = saltus.load(
        '<mujoco><worldbody><body><freejoint/><geom size=".1"/><body><joint type="ball"/><geom size=".1"/>'
        '<body><joint axis="0 1 0"/><geom size=".1"/></body></body></body></worldbody></mujoco>'
    )
    rng = np.random.default_rng(0)
    nv = model.nv
    state = model.qpos0.copy(), np.zeros(nv), np.zeros(0)
    change, way = rng.normal(size=(2, 2 * nv))
    J, left = transport(model, change), []
    for h in (1e-3, 5e-4):
        seen = difference(model, displaced(model, state, change), displaced(model, state, change + h * way))
        left.append(np.abs(seen - h * J @ way).max())
    assert 3.8 < left[0] / left[1] < 4.2
