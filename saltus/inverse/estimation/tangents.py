"""Covariances of states whose orientations are quaternions: how they move from one tangent space to another.

An error ξ of an estimate x is a vector (dq, dv, dw) with true state x ⊕ ξ. Where the estimate moves to x ⊕ δ, the same
error is about J(δ) (ξ - δ), with J(δ) the right Jacobian of the exponential for each orientation and the identity
elsewhere (Solà, Deray & Atchuthan, A micro Lie theory for state estimation in robotics (2018), eq. 143).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import BALL, FREE

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]
SMALL = 1e-4  # rad: below this the first terms of the series are exact in double precision


def right_jacobian(turn: Array) -> Array:
    """Right Jacobian [3, 3] of the exponential at a rotation vector [3] (rad)."""
    angle = float(np.linalg.norm(turn))
    x, y, z = turn
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < SMALL:
        a, b = 0.5 - angle**2 / 24.0, 1.0 / 6.0 - angle**2 / 120.0
    else:
        a, b = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.eye(3) - a * K + b * K @ K


def transport(model: Model, change: Array) -> Array:
    """Matrix J [n, n] of errors about x ⊕ change by errors about x, for a change [n] of state (dq, dv, dw)."""
    J = np.eye(len(change))
    for kind, i in zip(model.jnt_type, model.jnt_dofadr, strict=True):
        if kind in (BALL, FREE):
            first = int(i) + (3 if kind == FREE else 0)
            J[first : first + 3, first : first + 3] = right_jacobian(change[first : first + 3])
    return J


def symmetric(P: Array) -> Array:
    """The symmetric part of a matrix."""
    return 0.5 * (P + P.T)
