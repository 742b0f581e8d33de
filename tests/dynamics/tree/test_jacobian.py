"""Jacobians of points. Reference: MuJoCo's; velocities of sites."""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.identities import DIFFERENCED, ROUNDING, Case, assert_close, slope


@pytest.fixture(scope="module", params=range(6))
def case(request):
    return Case(request.param)


def test_jacobians_are_mujocos(case):
    """Of a point off the body, and of the centre of mass by default, as `mj_jac` and `mj_jacBodyCom`."""
    sim = case.at(0.0)
    d = oracle.forward(case.m, case.state)
    moving = np.zeros((3, case.m.nv))
    turning = np.zeros((3, case.m.nv))
    for b in range(case.m.nbody):
        point = d.xpos[b] + [0.3, -0.2, 0.1]
        mujoco.mj_jac(case.m, d, moving, turning, point, b)
        assert_close(np.vstack(sim.jacobian(b, point)), np.vstack([moving, turning]), ROUNDING)
        mujoco.mj_jacBodyCom(case.m, d, moving, turning, b)
        assert_close(np.vstack(sim.jacobian(b)), np.vstack([moving, turning]), ROUNDING)


def test_jacobian_times_v_is_the_velocity_of_a_site(case):
    """J v against differences of a site's position and of its body's axes along the motion."""
    v = case.state["qvel"]
    last = case.m.nsite - 1
    b = case.m.site_bodyid[last]
    sim = case.at(0.0)
    moving, turning = sim.jacobian(int(b), sim.data.site_xpos[last].copy())
    axes = sim.data.xmat[b].reshape(3, 3).copy()
    assert_close(moving @ v, slope(lambda s: case.at(s).data.site_xpos[last].copy()), DIFFERENCED)
    rate = slope(lambda s: case.at(s).data.xmat[b].reshape(3, 3).copy())
    assert_close(np.cross(turning @ v, axes.T).T, rate, DIFFERENCED)
