"""Uncertainty of parameters: covariance, and combinations that data do not tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.inverse.identification.identification import Direction

Array = NDArray[np.float64]
UNKNOWN = 1e-12  # of the largest information, relative: less is none


def known(R: Array, spans: Array, share: float, names: Sequence[str]) -> tuple[Array, tuple[Direction, ...]]:
    """Covariance [k, k] of parameters, and directions in units of their bounds whose deviation exceeds the bounds.

    R [rows, k]: slopes of residuals of unit error. spans [k]: from bound to bound. share: of the information that
    counts, below 1 where rows depend on each other or σ was taken from residuals of a fit.
    """
    information = share * (R * spans).T @ (R * spans)
    sizes, directions = np.linalg.eigh(information)
    lost = (sizes <= UNKNOWN * sizes.max(initial=0.0)) | (sizes < 1.0)
    unidentified = []
    for k in np.flatnonzero(lost):
        v = directions[:, k] * spans
        v = v / abs(v).max()
        kept = {n: float(x) for n, x in zip(names, v, strict=True) if abs(x) > 0.01}
        unidentified.append(Direction(kept))
    inverse = np.where(lost, 0.0, 1.0 / np.where(sizes > 0, sizes, 1.0))
    covariance = np.outer(spans, spans) * ((directions * inverse) @ directions.T)
    for k in np.flatnonzero(lost):
        for i in np.flatnonzero(abs(directions[:, k]) > 1e-3):
            covariance[i, i] = np.inf
    return covariance, tuple(unidentified)


def refuse_silent(names: Sequence[str], felt: NDArray[np.bool_]) -> None:
    """OptionError for parameters on which no residual depends."""
    silent = [name for name, x in zip(names, felt, strict=True) if not x]
    if silent:
        raise OptionError(
            f"identify: the recorded motion does not depend on {', '.join(silent)} at all (its gradient is zero); "
            "leave it out, or record a motion that feels it"
        )
