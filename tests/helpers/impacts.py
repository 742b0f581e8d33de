"""Impacts by the kernels: a contact-space problem in, an outcome out, and the mechanisms they come from."""

import numpy as np

from saltus.model.fields.constraint.cone import COULOMB, UNILATERAL, cone_sizes
from saltus.model.fields.constraint.impact import IMPACT, NEWTON, SIMULTANEOUS
from saltus.number.structs import Struct
from saltus.simulate.analysis.impact_report import DIMENSION, TOLERANCE, _resolve


class Impact:
    """The impact of blocks of `kinds` with W, velocities before, e and mu: `r`, `u`, `gain` (J), `report`."""

    def __init__(self, W, before, e, mu=0.0, kinds=None, law=NEWTON, treatment=SIMULTANEOUS):
        W, before = np.atleast_2d(W), np.atleast_1d(np.asarray(before, float))
        kinds = [UNILATERAL] * len(before) if kinds is None else list(kinds)
        self.dims = [DIMENSION[k] for k in kinds]
        self.kinds, self.first = np.array(kinds), np.cumsum([0, *self.dims])[:-1]
        p = Struct(IMPACT, cone_sizes(len(kinds), len(before)))
        p.hard_count[:] = len(kinds), len(before)
        p.hard_kind[:], p.hard_row[:], p.hard_dim[:] = kinds, self.first, self.dims
        p.hard_mu[:], p.hard_restitution[:], p.hard_q[:], p.hard_W[:] = mu, e, before, W.ravel()
        self.residual = _resolve(p, law, treatment, TOLERANCE)
        self.r, self.u, self.report = p.hard_r.copy(), p.hard_u.copy(), p.impact_report.copy()
        self.gain = 0.5 * self.r @ (self.u + before)
        self.mu = np.broadcast_to(mu, len(kinds))
        self.left = bool((p.hard_W == W.ravel()).all() and (p.hard_q == before).all() and (p.hard_kind == kinds).all())

    @property
    def outside(self):
        """By how much impulses leave their cones (N s) and contacts still approach (m/s), at most."""
        normal = self.first[self.kinds != 0]
        far = [0.0, *-self.r[normal], *-self.u[normal]]
        for i, mu in zip(self.first[self.kinds == COULOMB], self.mu[self.kinds == COULOMB], strict=True):
            far.append(np.hypot(*self.r[i + 1 : i + 3]) - mu * self.r[i])
        return max(far)


def delassus(J, M):
    """J M⁻¹ Jᵀ, symmetric to the bit."""
    W = J @ np.linalg.solve(M, J.T)
    return (W + W.T) / 2


def double_pendulum(first=20.0, second=30.0):
    """W and J of the tip of two uniform rods (1 kg, 1 m) against a floor, angles in degrees from the vertical."""
    a, b = np.radians([first, second])
    M = np.array([[4 / 3, np.cos(a - b) / 2], [np.cos(a - b) / 2, 1 / 3]])
    J = np.array([[np.sin(a), np.sin(b)], [np.cos(a), np.cos(b)], [0.0, 0.0]])
    return delassus(J, M), J


def block(alpha, half_diagonal=1.0, mass=1.0):
    """M, and J of two corners (normal, tangent, tangent each) of a rectangle standing on them.

    alpha is the angle of the diagonal with the vertical; velocities x, y, angular counterclockwise; left corner first.
    """
    b, h = half_diagonal * np.sin(alpha), half_diagonal * np.cos(alpha)

    def corner(x):
        return np.array([[0.0, 1.0, x], [1.0, 0.0, h], [0.0, 0.0, 0.0]])

    return np.diag([mass, mass, mass * half_diagonal**2 / 3]), np.vstack([corner(-b), corner(b)])
