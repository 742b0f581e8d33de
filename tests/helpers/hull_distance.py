"""Distances of convex hulls as a least-squares problem."""

import numpy as np
from scipy.optimize import nnls


def hull_distance(a, b):
    """Distance (m) of the convex hulls of two sets of points [n, 3] (m), good to 1e-6 m.

    The weights of the points are not negative and add up to 1, which the problem (SciPy's nnls) has as two more
    equations with 1e4 times the weight.
    """
    weight = 1e4
    sums = [np.r_[np.full(len(a), weight), np.zeros(len(b))], np.r_[np.zeros(len(a)), np.full(len(b), weight)]]
    shares, _ = nnls(np.vstack([np.hstack([a.T, -b.T]), *sums]), np.r_[np.zeros(3), weight, weight])
    return np.linalg.norm(shares[: len(a)] @ a - shares[len(a) :] @ b)
