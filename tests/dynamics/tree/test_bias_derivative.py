"""The derivative of the bias forces in the velocities. Reference: differences; MuJoCo's."""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.identities import ROUNDING, Case, assert_close, bias_matrix


@pytest.fixture(scope="module", params=range(6))
def case(request):
    return Case(request.param)


def test_bias_derivative_by_differences(case):
    """c(v) is a quadratic: (c(v + e) - c(v - e)) / 2 is its derivative."""
    columns = []
    for e in np.eye(case.m.nv):
        ends = []
        for sign in (1, -1):
            sim = case.at(0.0)
            sim.qvel += sign * e
            ends.append(sim.data.qfrc_bias.copy())
        columns.append((ends[0] - ends[1]) / 2)
    assert_close(bias_matrix(case), np.transpose(columns), ROUNDING * 10)


def test_velocity_derivative_is_mujocos(case):
    """-∂c/∂v - damping is MuJoCo's qDeriv, which its `implicit` integrator uses."""
    case.m.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICIT
    d = oracle.forward(case.m, case.state)
    mujoco.mj_step(case.m, d)
    m, nv = case.m, case.m.nv
    reference = np.zeros((nv, nv))
    reference[np.repeat(np.arange(nv), m.D_rownnz), m.D_colind] = d.qDeriv
    sim = case.at(0.0)
    sim.forward()
    damping = np.diag(sim.engine.d.views["qfrc_damper_slope"])
    assert_close(-bias_matrix(case) - damping, reference, ROUNDING * 10)
