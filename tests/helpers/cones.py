"""Dense contact problems for tests: their memory, Coulomb's law written independently in NumPy, random mechanisms."""

import numpy as np

from saltus.model.fields.constraint.cone import COULOMB, PROBLEM, cone_sizes
from saltus.number.structs import Struct


def cone_problem(W, q, mu, kinds=None, dims=None, r=None, parents=0):
    """A problem's struct; the kinds are COULOMB if not given, `r` is the warm start, `parents` of PRESSED blocks."""
    kinds = [COULOMB] * len(mu) if kinds is None else kinds
    dims = [3 if kind == COULOMB else 1 for kind in kinds] if dims is None else dims
    p = Struct(PROBLEM, cone_sizes(max(len(kinds), 1), len(q)))
    p.hard_count[:] = len(kinds), len(q)
    n = len(kinds)
    p.hard_kind[:n], p.hard_dim[:n], p.hard_mu[:n] = kinds, dims, mu
    p.hard_parent[:n] = parents
    p.hard_row[:n] = np.cumsum([0, *dims])[:-1]
    p.hard_W[:], p.hard_q[:] = np.ravel(W), q
    if r is not None:
        p.hard_r[:] = r
    return p


def violation(W, q, mu, r):
    """Largest violation of the Signorini-Coulomb law by r, forces in units of the largest, velocities of q's largest:
    signs, complementarity, cone, and |u_T| r_T against -μ r_N u_T."""
    u = (W @ r + q).reshape(-1, 3) / abs(q).max()
    r = r.reshape(-1, 3) / max(abs(r).max(), 1e-300)
    slip, push = np.linalg.norm(u[:, 1:], axis=1), np.asarray(mu) * r[:, 0]
    opposed = slip[:, None] * r[:, 1:] + push[:, None] * u[:, 1:]
    return max(
        -r[:, 0].min(),
        -u[:, 0].min(),
        abs(r[:, 0] * u[:, 0]).max(),
        (np.linalg.norm(r[:, 1:], axis=1) - push).max(),
        abs(opposed).max(),
        0.0,
    )


def stacked_boxes(rng, count):
    """W, q, μ of equal boxes on each other on a floor, four contacts each: rank at most 6 of 12 rows a box."""
    sides, masses = rng.uniform(0.2, 2.0, 3), 10.0 ** rng.uniform(-1, 1, count)
    squares = sides**2
    inverse = np.concatenate([[1 / m] * 3 + list(12 / (m * (squares.sum() - squares))) for m in masses])
    corners = [np.array([x, y, z]) * sides / 2 for z in (-1, 1) for x in (-1, 1) for y in (-1, 1)]
    J = np.zeros((12 * count, 6 * count))
    for k in range(count):
        for c in range(4):
            rows = slice(12 * k + 3 * c, 12 * k + 3 * c + 3)
            J[rows, 6 * k : 6 * k + 6] = point_velocity(corners[c])
            if k > 0:
                J[rows, 6 * k - 6 : 6 * k] = -point_velocity(corners[4 + c])
    v = rng.normal(size=6 * count) * 10.0 ** rng.uniform(-2, 1)
    v[2::6] -= 10.0 ** rng.uniform(-1, 1, count)
    return J * inverse @ J.T, J @ v, np.full(4 * count, rng.choice([0.0, 0.1, 0.3, 0.7, 1.2]))


def point_velocity(p):
    """Velocities along z, x, y of a point p of a body whose velocity and angular velocity are given."""
    x, y, z = p
    turn = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])  # ω × p
    return np.hstack([np.eye(3), turn])[[2, 0, 1]]


def random_mechanism(rng, contacts):
    """W, q, μ of random Jacobians with a motion that opens all contacts, so that there is a solution (Klarbring & Pang,
    SIAM J. Optim. 8 (1998))."""
    dofs = rng.integers(3, 3 * contacts + 4)
    J, v = rng.normal(size=(3 * contacts, dofs)), rng.normal(size=dofs)
    J[::3, 0] = abs(J[::3, 0]) + 0.5
    J[1::3, 0] = J[2::3, 0] = 0.0
    v[0] -= 2.0
    return J @ J.T, J @ v, rng.choice([0.1, 0.5, 0.9], contacts)
