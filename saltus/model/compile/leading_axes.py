"""Arrays of which some have an axis of simulations before their own axes."""

import numpy as np


def widened(x: np.ndarray, axes: int, other: np.ndarray, other_axes: int) -> np.ndarray:
    """A copy of x, with the leading axes of another array too; `axes`, `other_axes`: how many are their own."""
    before = other.shape[: other.ndim - other_axes] if other.ndim - other_axes > x.ndim - axes else ()
    return np.zeros((*before, *x.shape)) + x if before else x.copy()


def joined(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    """Two arrays one after the other along an axis, counted from the last."""
    before = max((x.shape[:axis] for x in (first, second)), key=len)
    return np.concatenate([np.broadcast_to(x, (*before, *x.shape[axis:])) for x in (first, second)], axis)
