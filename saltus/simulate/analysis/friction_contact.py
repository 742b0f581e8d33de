"""`saltus.friction_contact`: a dense friction-contact problem with given W and q, without a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import number
from saltus.errors import EventError, OptionError
from saltus.model.fields.constraint.cone import COULOMB, PROBLEM, cone_sizes
from saltus.number.kernels import entry
from saltus.number.structs import Struct
from saltus.solve.cone.problem import solve_cones
from saltus.terminal.display import notebook_html

_solve = entry(solve_cones, structs=("p",))


@dataclass(frozen=True)
class FrictionContact:
    """A solution of a friction-contact problem.

    Attributes:
        r: [3 n] forces (N) or impulses (N s): normal and two tangents of each contact.
        u: [3 n] W r + q, accelerations (m/s²) or velocities (m/s).
        residual: largest |z - P_K(z - û)| of all contacts, û = u + μ |u_T| n, in units in which each contact's own part
            of W has a mean diagonal of 1 and the largest of q is 1; z is r there.
    """

    r: NDArray[np.float64]
    u: NDArray[np.float64]
    residual: float

    _repr_html_ = notebook_html


def friction_contact(W: ArrayLike, q: ArrayLike, mu: ArrayLike, tolerance: float = 1e-10) -> FrictionContact:
    """Forces or impulses r of n contacts with unilateral contact and Coulomb friction.

        u = W r + q,   0 ≤ u_N ⟂ r_N ≥ 0,   |r_T| ≤ μ r_N,   r_T = -μ r_N u_T / |u_T| where u_T ≠ 0

    Args:
        W: [3 n, 3 n] velocities or accelerations per force (1/kg), normal first in each triple; J M⁻¹ Jᵀ in most
            uses. It may be singular: then r is the shortest that gives these u.
        q: [3 n] velocities or accelerations without forces.
        mu: [n] friction coefficients, not negative.
        tolerance: of the residual (see `FrictionContact`).

    Raises:
        OptionError: shapes that do not fit, values that are not finite, negative friction.
        EventError: no solution within the tolerance was found; perhaps there is none (Painlevé's paradox).

    Reference: Acary, Brémond & Huber, On solving contact problems with Coulomb friction: formulations and numerical
    comparisons (2018), problem FC; `saltus.solve.cone.problem` describes the method.
    """
    W, q, mu = _array("W", W, 2), _array("q", q, 1), _array("mu", mu, 1)
    n = len(mu)
    if q.shape != (3 * n,):
        raise OptionError(f"q: has {len(q)} entries; {n} friction coefficients need {3 * n}")
    if W.shape != (3 * n, 3 * n):
        raise OptionError(f"W: has shape {W.shape}; {n} friction coefficients need {(3 * n, 3 * n)}")
    if np.any(mu < 0):
        raise OptionError(f"mu: {mu.min():g} is negative")
    if not 0 < number("tolerance", tolerance) < math.inf:
        raise OptionError(f"tolerance: must be a positive number, not {tolerance!r}")
    problem = _problem(W, q, mu)
    residual = float(_solve(problem, float(tolerance)))
    if not residual <= tolerance:
        raise EventError(
            f"no forces found for this friction-contact problem: residual {residual:.2g}, tolerance {tolerance:g}; "
            "it may have no solution"
        )
    return FrictionContact(problem.hard_r.copy(), problem.hard_u.copy(), residual)


def _array(name: str, value: ArrayLike, axes: int) -> NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{name}: is not an array of numbers") from None
    if array.ndim != axes:
        raise OptionError(f"{name}: has {array.ndim} axes, not {axes}")
    if not np.all(np.isfinite(array)):
        raise OptionError(f"{name}: has entries that are not finite")
    return array


def _problem(W: NDArray[Any], q: NDArray[Any], mu: NDArray[Any]) -> Struct:
    """The problem in the kernels' form, without a warm start."""
    n = len(mu)
    problem = Struct(PROBLEM, cone_sizes(max(n, 1), 3 * n))
    problem.hard_count[:] = n, 3 * n
    problem.hard_kind[:] = COULOMB
    problem.hard_dim[:] = 3
    problem.hard_row[:n] = 3 * np.arange(n)
    problem.hard_mu[:n], problem.hard_W[:], problem.hard_q[:] = mu, W.ravel(), q
    return problem
