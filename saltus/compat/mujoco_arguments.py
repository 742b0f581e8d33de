"""Checks of arguments of the doors to MuJoCo's modules."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError


def chosen_simulations(ids: ArrayLike | None, nsim: int) -> NDArray[np.int64]:
    """Numbers of simulations from ascending numbers or a mask [nsim]; all for None."""
    if ids is None:
        return np.arange(nsim)
    given = np.asarray(ids)
    if given.dtype == bool:
        if given.shape != (nsim,):
            raise OptionError(f"ids: a mask must have shape ({nsim},), not {given.shape}")
        return np.flatnonzero(given)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise OptionError(f"ids must be whole numbers in one dimension, or a mask, got {ids!r}")
    back = np.flatnonzero(given[1:] <= given[:-1])
    if back.size:
        raise OptionError(f"ids must be ascending, got {given[back[0]]} before {given[back[0] + 1]}")
    outside = given[(given < 0) | (given >= nsim)]
    if outside.size:
        raise OptionError(f"ids must be in [0, {nsim}), got {outside[0]}")
    return given.astype(np.int64)


def whole_numbers(name: str, given: ArrayLike, shape: tuple[int, ...], least: int, end: int) -> NDArray[np.int32]:
    """Whole numbers from `least` to below `end`, one for all or of a shape; OptionError for any others."""
    values = np.asarray(given)
    if not np.issubdtype(values.dtype, np.integer):
        raise OptionError(f"{name} must be whole numbers, got {given!r}")
    outside = values[(values < least) | (values >= end)]
    if outside.size:
        raise OptionError(f"{name} must be from {least} to {end - 1}, got {outside.flat[0]}")
    try:
        return np.broadcast_to(values, shape).astype(np.int32)
    except ValueError:
        raise OptionError(f"{name} must be one number or have shape {shape}, not {values.shape}") from None
