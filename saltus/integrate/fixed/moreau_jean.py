"""Moreau-Jean time stepping: hard contact with impacts and friction, in steps of fixed size.

    q_m = q ⊕ (1 - θ) h v
    M(q_m) (v' - v) = h f(q_m, v + θ (v' - v)) + Jᵀ P        with P under Newton's and Coulomb's laws
    q' = q_m ⊕ θ h v'

The unknowns are impulses and velocities, not forces and accelerations: a step may contain any number of impacts, none
of which is located. Contacts are detected at q_m, where forces are evaluated too. Dampers, servos and drag are
implicit, as in `implicitfast`; other forces are evaluated at a predicted intermediate velocity, in two passes (see
`saltus.solve.stepping.time_stepping`). See `saltus.solve.stepping.hard_rows` for the contact law and
`saltus.solve.stepping.position_correction` for the correction of positions.

In smooth motion θ = 1/2 is of order two: the implicit midpoint rule for velocities and the position Verlet method for
positions, symplectic where forces do not depend on velocities. Springs and the stiffness of servos limit the step as
for position Verlet, h ω ≤ 2; dampers do not. Actuator states are integrated by Euler's method. θ = 1 is semi-implicit
Euler at the positions of the step's start. With contacts the method is of order one: impacts are late by up to a step,
and active contacts have the velocity of the step's end but the direction of its middle. Slow impacts, below
`saltus.solve.stepping.hard_rows.RESTING` times |g| h, do not bounce, so that resting contacts rest; a bouncing ball
therefore comes to rest slightly early.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from functools import lru_cache

import numpy as np

from saltus.contact.counts import NBLOCK
from saltus.dynamics.actuator.activation import advance_activations
from saltus.dynamics.motions import prescribe, prescribe_mean
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tree.manifold import displace, displace_some
from saltus.errors import OptionError
from saltus.integrate.integrator import Integrator
from saltus.number.components import zero_like
from saltus.number.conditions import has, has_lanes
from saltus.number.functions import any_lane
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import grip
from saltus.solve.status import OK
from saltus.solve.stepping.modes import note_step
from saltus.solve.stepping.position_correction import position_correction
from saltus.solve.stepping.time_stepping import mean_accelerations


@kernel
def step(m, d, h, parameters):
    """One step of h seconds; parameters: theta, tolerance. Returns a status; in lanes with rows, that of each."""
    status = uncorrected_step(m, d, h, parameters)
    correct_positions(m, d, h)
    return status


@kernel
def uncorrected_step(m, d, h, parameters):
    """`step` before the constraint violations of positions are corrected."""
    # q_m = q ⊕ (1 - θ) h v
    start, theta = d.time, parameters[0]
    displace(m, d.qpos, (1.0 - theta) * h, d.qvel, d.qpos)
    d.time = start + (1.0 - theta) * h
    position_stage(m, d, 0)
    prescribe_mean(m, d, start, h)
    grip(m, d)
    # mean accelerations (v' - v) / h with the impulses P
    status = mean_accelerations(m, d, h, theta, parameters[1])
    d.time = start + h
    note_step(m, d, h)
    # v', and q' = q_m ⊕ θ h v'
    advance_activations(m, d, h)
    for i in range(m.nv):
        d.qvel[i] = d.qvel[i] + h * d.qacc[i]
    displace(m, d.qpos, theta * h, d.qvel, d.qpos)
    prescribe(m, d)
    if has(m, "constraint"):
        if has_lanes(d):
            return status
        return int(status)
    return OK


@only_with("constraint")
@kernel
def correct_positions(m, d, h):
    """Correct positions that violate constraints after `uncorrected_step`."""
    violated = finds_violations(m, d, h)
    if any_lane(violated):
        if has_lanes(d):
            displace_some(m, violated, d.qpos, 1.0, d.qstep, d.qpos)
        else:
            displace(m, d.qpos, 1.0, d.qstep, d.qpos)


@only_with("constraint", otherwise="False")
@kernel
def finds_violations(m, d, h):
    """The lanes in which `uncorrected_step` left positions that violate constraints; qstep [nv] ← their correction."""
    if d.count[NBLOCK] == 0:
        return zero_like(d.time) > 0.0
    return position_correction(m, d, h)


@lru_cache
def moreau_jean(theta: float = 0.5, tolerance: float = 1e-9) -> Integrator:
    """The Moreau-Jean integrator.

    Args:
        theta: fraction, from 1/2 to 1, of a step's displacement that uses the velocity at its end.
        tolerance: of accelerations at contacts, relative to the largest one without contact forces.

    Raises:
        OptionError: theta or tolerance is out of range.
    """
    if not 0.5 <= theta <= 1.0:
        raise OptionError(f"moreau_jean: theta must be from 0.5 to 1, got {theta}")
    if not 0.0 < tolerance < 1.0:
        raise OptionError(f"moreau_jean: tolerance must be between 0 and 1, got {tolerance}")
    return Integrator(
        name="moreau_jean",
        order=2 if theta == 0.5 else 1,
        kind="time-stepping",
        reference="Moreau (1988); Jean (1999); Acary & Brogliato, Numerical Methods for Nonsmooth Dynamical Systems "
        "(2008), chapter 10",
        step=step,
        parameters=(np.array([float(theta), float(tolerance)]),),
        leaves="implicit",
        needs={"implicit": True},
    )
