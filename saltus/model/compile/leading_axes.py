"""Arrays of which some have a leading axis of simulations."""

import numpy as np


def widened(x: np.ndarray, axes: int, other: np.ndarray, other_axes: int) -> np.ndarray:
    """A copy of x with the leading axes of another array; `axes`, `other_axes`: number of axes without these.

    It can hold sums of both: it is complex if the other is.
    """
    before = other.shape[: other.ndim - other_axes] if other.ndim - other_axes > x.ndim - axes else ()
    return np.zeros((*before, *x.shape), np.result_type(x, other)) + x if before else x.copy()


def joined(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    """Concatenation of two arrays along an axis, counted from the last."""
    before = max((x.shape[:axis] for x in (first, second)), key=len)
    return np.concatenate([np.broadcast_to(x, (*before, *x.shape[axis:])) for x in (first, second)], axis)
