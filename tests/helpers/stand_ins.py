"""Arguments of kernels that tests call by themselves in plain Python: numbers, and layouts that have features."""

from types import SimpleNamespace

import numpy as np


def floats(x):
    """A vector as the tuple of numbers that kernels take."""
    return tuple(np.float64(one) for one in np.ravel(x))


def layout(*features):
    """A layout of a Model that has features, and nothing else."""
    return SimpleNamespace(features=frozenset(features))


def rotation(rng):
    """A random rotation matrix."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)
