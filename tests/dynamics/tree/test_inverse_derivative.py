"""Derivatives of inverse dynamics by positions and velocities.

Reference: central differences of sixth order of MuJoCo's recursive Newton-Euler algorithm, `mj_rne`, along
displacements on the manifold of positions. With steps of 2e-3 truncation is below 1e-13 and rounding 1e-13 of the
largest entry, which amounts to 1e-10 with margin; a term that is left out shows at 1e-2 and more.
"""

import mujoco
import numpy as np
import pytest
from helpers.identities import Case, assert_close

from saltus.dynamics.tree import inverse_derivative as kernels
from saltus.number.kernels import Entry, kernel
from saltus.simulate.derivatives.closed_form import work_arrays

STEP, CLOSE = 2e-3, 1e-10


@kernel
def derivatives(m, d, qacc, change, motions, axes, wrenches, matrices, columns):
    """Columns of both kinds: minus those of inverse dynamics, and those of M times `change`."""
    kernels.differentiate_motions(m, d, d.qvel, qacc, change, motions, axes)
    kernels.sum_over_subtrees(m, d, motions, wrenches, matrices)
    kernels.subtract_inverse(m, d, axes, wrenches, matrices, columns[0])
    kernels.add_inertia(m, d, axes, wrenches, columns[1])


found = Entry(
    "test_inverse_derivative",
    "qacc, change, motions, axes, wrenches, matrices, columns",
    "derivatives(m, d, qacc, change, motions, axes, wrenches, matrices, columns)",
    derivatives=derivatives,
)


def generalised_forces(m, state, qacc, direction, gravity=True):
    """M qacc + bias by MuJoCo at a state moved along a direction of positions and velocities; or M qacc alone."""
    d, nv = mujoco.MjData(m), m.nv
    d.qpos[:], d.qvel[:], d.qacc[:] = state["qpos"], state["qvel"] * gravity + direction[nv:], qacc
    mujoco.mj_integratePos(m, d.qpos, np.ascontiguousarray(direction[:nv]), 1.0)
    for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
        stage(m, d)
    total, rest = np.zeros(nv), np.zeros(nv)
    mujoco.mj_rne(m, d, 1, total)
    if not gravity:
        mujoco.mj_rne(m, d, 0, rest)
    return total - rest


def differences(function, size):
    """Columns of derivatives of a function of a vector at zero."""
    columns = []
    for e in np.eye(size):
        parts = [w * (function(k * STEP * e) - function(-k * STEP * e)) for k, w in ((1, 45), (2, -9), (3, 1))]
        columns.append(sum(parts) / (60 * STEP))
    return np.transpose(columns)


@pytest.mark.parametrize("seed", range(5))
def test_against_differences_of_newton_euler(seed):
    case = Case(seed)
    sim, m, nv = case.at(0.0), case.m, case.m.nv
    rng = np.random.default_rng(seed)
    qacc, change = rng.normal(0.0, 3.0, (2, nv))
    sim.forward()
    motions, axes, wrenches, matrices, *_, columns = work_arrays(sim.engine.m)
    found(sim.engine.m, sim.engine.d, qacc, change, motions, axes, wrenches, matrices, columns)
    wanted = differences(lambda x: generalised_forces(m, case.state, qacc, x), 2 * nv)
    assert_close(-columns[0, :, : 2 * nv], wanted, CLOSE)

    def momentum(x):
        return generalised_forces(m, case.state, change, np.concatenate([x, np.zeros(nv)]), gravity=False)

    assert_close(columns[1, :, :nv], differences(momentum, nv), CLOSE)
