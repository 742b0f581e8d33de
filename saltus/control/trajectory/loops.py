"""Compiled loops along a trajectory: steps under a policy, and places of points of bodies with their Jacobians.

A state is a row as `Engine.state`: the first numbers of the Data.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import functools
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from saltus.dynamics.tree.com_frame import com_dof, tree_centre_of_mass
from saltus.dynamics.tree.jacobian import point_jacobian
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.manifold import difference
from saltus.number.functions import clip
from saltus.number.intrinsics.calls import caller
from saltus.number.kernels import Entry, entry, kernel
from saltus.solve.sleep.calls import see_everything
from saltus.spatial.fields import load3
from saltus.spatial.vectors import add3, matrix_times_vector

_steps = caller(types.UniTuple(types.int64, 2))  # results of `saltus.simulate.engine.loops.advance`


class Joints(NamedTuple):
    """Joints of a model, as `saltus.dynamics.tree.manifold.difference` takes them."""

    njnt: int
    jnt_qposadr: NDArray[np.int64]
    jnt_dofadr: NDArray[np.int64]
    jnt_type: NDArray[np.int64]


class Policies(NamedTuple):
    """Controls u = clip(controls + size k + K (x ⊖ nominal)) of T steps.

    nominal [T + 1, rows], controls [T, nu], k [T, nu], K [T, nu, n], low and high [nu]; size (a number).
    """

    nominal: NDArray[np.float64]
    controls: NDArray[np.float64]
    k: NDArray[np.float64]
    K: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    size: float


@kernel
def state_difference(joints, spans, nominal, state, nv, dx):
    """dx [2 nv + na] ← state ⊖ nominal, for rows of which `spans` [4, 2] says where qpos, qvel, act, ctrl are."""
    q, v, w = spans[0], spans[1], spans[2]
    difference(joints, nominal[q[0] : q[1]], state[q[0] : q[1]], dx)
    for i in range(nv):
        dx[nv + i] = state[v[0] + i] - nominal[v[0] + i]
    for i in range(len(dx) - 2 * nv):
        dx[2 * nv + i] = state[w[0] + i] - nominal[w[0] + i]


@kernel
def put_controls(policies, spans, dx, step, row):
    """Controls of a step into a row of states."""
    first = spans[3, 0]
    for i in range(policies.controls.shape[1]):
        u = policies.controls[step, i] + policies.size * policies.k[step, i]
        for j in range(len(dx)):
            u += policies.K[step, i, j] * dx[j]
        row[first + i] = clip(u, policies.low[i], policies.high[i])


@functools.cache
def follow(parameters: int) -> Entry:
    """Loop of T steps under a policy, for integrators with `parameters` parameters.

    (m_real, m_ints, d_real, d_ints, address, joints, spans, policies, dx [n], states [T + 1, rows], h, *parameters) ->
    status. From the first of the states, it writes the others, each with the controls of the step from
    there. address: of `saltus.simulate.engine.loops.advance`; the rest is as in `state_difference` and `put_controls`.
    It ends behind the first step with a status.
    """

    def follow(m_real, m_ints, d_real, d_ints, address, joints, spans, policies, dx, states, h, parameters):
        nv, rows, u = spans[1, 1] - spans[1, 0], states.shape[1], spans[3]
        for i in range(rows):
            d_real[i] = states[0, i]
        for k in range(len(states) - 1):
            row = states[k]
            state_difference(joints, spans, policies.nominal[k], row, nv, dx)
            put_controls(policies, spans, dx, k, row)
            for i in range(u[0], u[1]):
                d_real[i] = row[i]
            _, status = _steps(address, (m_real, m_ints, d_real, d_ints, 1, h) + parameters)
            for i in range(rows):
                states[k + 1, i] = d_real[i]
            if status != 0:
                return status
        return 0

    return entry(follow, name="follow_policy", structs=(), parameters=parameters)


@entry
def places(m, d, d_real, states, bodies, offsets, out, jacobians, rotation):
    """Positions [N, P, 3] (m) of points of bodies [P], at offsets [P, 3] (m) in these, in states [N, rows].

    jacobians [N, P, 3, nv]: of their velocities, or [0, ...] for none; rotation [3, nv] is scratch.
    """
    see_everything(m, d)
    for k in range(len(states)):
        for i in range(states.shape[1]):
            d_real[i] = states[k, i]
        kinematics(m, d, 1)
        if len(jacobians):
            tree_centre_of_mass(m, d)
            com_dof(m, d)
        for p in range(len(bodies)):
            b = bodies[p]
            point = add3(d.xpos[b], matrix_times_vector(d.xmat[b], load3(offsets[p], 0)))
            for i in range(3):
                out[k, p, i] = point[i]
            if len(jacobians):
                point_jacobian(m, d, point, b, jacobians[k, p], rotation)


def joints_of(model: Any) -> Joints:
    """The joints of a model."""
    m = model.mj_model
    return Joints(m.njnt, *(np.array(x, np.int64) for x in (m.jnt_qposadr, m.jnt_dofadr, m.jnt_type)))
