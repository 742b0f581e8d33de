"""Identification by measured joint forces: data, fit, what is known, as `saltus.identify` gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.errors import warn
from saltus.inverse.identification.force_fit import ForceFit, ForceProblem, refuse_drives, refuse_loops
from saltus.inverse.identification.force_samples import ForceSamples, blocks_of
from saltus.inverse.identification.identification import Identification
from saltus.inverse.identification.uncertainty import known
from saltus.model.model import Model

Array = NDArray[np.float64]


class Sought(NamedTuple):
    """Parameters by name with bounds and values at the start [k], and the degrees of freedom that count."""

    names: tuple[str, ...]
    low: Array
    high: Array
    first: Array
    dofs: NDArray[np.int64]


def identified_by_forces(
    model: Model, recordings: Any, sought: Sought, cutoff: float | None, holdout: float, iterations: int
) -> Identification:
    """Parameters with which the recorded motion needs the measured forces; see `saltus.identify`."""
    refuse_loops(model)
    refuse_drives(model)
    blocks = blocks_of(model, recordings, cutoff)
    every = max(2, round(1 / holdout)) if holdout and len(blocks) >= 4 else len(blocks) + 1
    kept = blocks[every - 1 :: every]
    fitted = [block for k, block in enumerate(blocks) if (k + 1) % every]
    problem = ForceProblem(model, sought.names, sought.dofs, sought.low, sought.high)
    fit = problem.fit(fitted, sought.first, iterations)
    if not fit.converged:
        warn(f"identify: not converged after {fit.iterations} iterations")
    count = fit.residual.size
    share = max(1.0 - len(sought.names) / count, 1.0 / count) * _independent(fitted, cutoff)
    covariance, unidentified = known(fit.slopes, sought.high - sought.low, share, sought.names)
    dofs = model.dof_names()
    labels = [f"force on {dofs[i]}" for i in sought.dofs]
    outside = np.sqrt((problem.residual(kept, fit.values) ** 2).mean(axis=0)).tolist() if kept else []
    ends = zip(sought.names, fit.values, sought.low, sought.high, strict=True)
    return Identification(
        names=sought.names,
        values=dict(zip(sought.names, fit.values.tolist(), strict=True)),
        covariance=covariance,
        unidentified=unidentified,
        noise=dict(zip(labels, fit.sigma.tolist(), strict=True)),
        holdout=dict(zip(labels, outside, strict=True)) if kept else {},
        converged=fit.converged,
        iterations=fit.iterations,
        at_bound=tuple(name for name, value, low, high in ends if value in (low, high)),
        model=problem.model_with(fit.values),
        start=dict(zip(sought.names, sought.first.tolist(), strict=True)),
        fitted=_curves(fitted[0], fit, labels, sought.dofs),
    )


def _independent(blocks: list[ForceSamples], cutoff: float | None) -> float:
    """Share of the samples that a filter leaves independent: two for each period of its cutoff."""
    if cutoff is None:
        return 1.0
    time = blocks[0].motion.time
    return min(1.0, 2.0 * cutoff * (time[-1] - time[0]) / (len(time) - 1))


def _curves(
    block: ForceSamples, fit: ForceFit, labels: Sequence[str], dofs: NDArray[np.int64]
) -> tuple[tuple[str, Array, Array, Array], ...]:
    """Measured forces of the first block and those that the motion needs, for figures."""
    time, found = block.motion.time, []
    for c, (label, i) in enumerate(zip(labels, dofs, strict=True)):
        data = block.exerted[:, i]
        found.append((label, time, data, data + fit.residual[: len(time), c]))
    return tuple(found)
