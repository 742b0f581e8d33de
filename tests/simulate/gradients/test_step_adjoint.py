"""Gradients by parameters from those by the accelerations of steps, without directions.

References: closed forms of a pendulum, and of a block that slides on a floor under a pyramid of friction, to rounding.
"""

import numpy as np
import pytest
from helpers.pendulum_slopes import PENDULUM, H, Q, pendulum, slopes

import saltus
from saltus.simulate.gradients.step_adjoint import StepAdjoint


def add(sim, adjoint, by_acceleration):
    """Go back over a step from its end, where the gradient by the velocity is this over the time step."""
    state, turns = np.array([0.0, by_acceleration / H]), np.zeros((1, 0, 3, 3))
    states = sim.engine.state.copy()[None]
    adjoint.back(states, (0, 1), state, np.zeros(1), np.zeros((1, 2)), (turns, turns, np.zeros((0, 3), int)))
    return state


def test_a_pendulums_closed_forms():
    """(M + h B) a = f for a hinge: the slopes of a by all of its parameters, from one product."""
    sim = pendulum()
    _, wanted = slopes()
    adjoint = StepAdjoint(sim.engine, list(wanted))
    assert adjoint.quick.all()
    add(sim, adjoint, 1.0)
    np.testing.assert_allclose(adjoint.gradient(), list(wanted.values()), rtol=1e-12)


def test_sums_begin_anew_and_add_up():
    sim = saltus.Simulation(PENDULUM, "euler")
    adjoint = StepAdjoint(sim.engine, ["opt.gravity"])
    sim.qpos[:] = Q
    start = sim.engine.state.copy()
    adjoint.begin()
    add(sim, adjoint, 1.0)
    once = adjoint.gradient()
    sim.engine.state[:] = start
    add(sim, adjoint, 2.0)
    np.testing.assert_allclose(adjoint.gradient(), 3 * once, rtol=1e-15)
    adjoint.begin()
    np.testing.assert_array_equal(adjoint.gradient(), 0.0)


@pytest.mark.parametrize(
    ("changes", "slow"),
    [
        ({}, set()),
        ({"integrator": "rk4"}, {"body_mass[bob]", "body_pos[bob][0]", "jnt_axis[q][0]", "dof_damping[q]"}),
        (
            {"control": saltus.PID(kp=1.0, target=0.2)},
            {"body_mass[bob]", "body_pos[bob][0]", "jnt_axis[q][0]", "dof_damping[q]"},
        ),
    ],
)
def test_which_parameters_need_directions(changes, slow):
    sim = saltus.Simulation(PENDULUM, **{"integrator": "euler", **changes})
    adjoint = StepAdjoint(sim.engine, ["body_mass[bob]", "body_pos[bob][0]", "jnt_axis[q][0]", "dof_damping[q]"])
    assert {c.name for c, quick in zip(adjoint.columns, adjoint.quick, strict=True) if not quick} == slow
