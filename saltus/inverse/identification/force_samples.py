"""Samples of recorded motion with measured joint forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError, warn
from saltus.inverse.dynamics.differentiation import Motion, differentiated, filtered
from saltus.inverse.dynamics.recording import Recording, recording_of
from saltus.inverse.dynamics.sample_forces import forces_of, refuse_moving_carriers
from saltus.inverse.dynamics.unconstrained import constraint_kinds, unconstrained, without_dry_friction
from saltus.inverse.dynamics.wrenches import generalised
from saltus.inverse.identification.recorded_motion import each_of
from saltus.model.model import Model

Array = NDArray[np.float64]
ENDS = 5  # samples at both ends, where splines are less accurate
BLOCK = 1.0  # s
ROUNDING = 1e-9  # of forces, relative and in N or N m: less is none


@dataclass(frozen=True, eq=False)
class ForceSamples:
    """Samples of one recording: the motion, its mocap poses, and the generalised forces [n, nv] (N, N m) that acted."""

    recording: Recording
    motion: Motion
    exerted: Array

    def part(self, rows: slice) -> ForceSamples:
        """Some of the samples."""
        recording = Recording(*(getattr(self.recording, f)[rows] for f in ("time", "qpos", "mocap_pos", "mocap_quat")))
        return ForceSamples(recording, Motion(*(x[rows] for x in self.motion)), self.exerted[rows])


def blocks_of(model: Model, recordings: Any, cutoff: float | None) -> list[ForceSamples]:
    """Samples of recordings in blocks of about a second, without their ends.

    Raises:
        OptionError: a recording has no measured forces, or cannot be differentiated.
    """
    found = []
    for k, one in enumerate(each_of(recordings)):
        samples = _samples(model, one, f"recordings[{k}]", cutoff)
        n = len(samples.motion.time)
        interval = (samples.motion.time[-1] - samples.motion.time[0]) / (n - 1)
        ends = ENDS if cutoff is None else max(ENDS, round(0.5 / (cutoff * interval)))
        if n - 2 * ends < 2:
            raise OptionError(f"identify: recordings[{k}] is too short: {ends} samples at each end are left out")
        size = max(2, round(BLOCK / interval))
        firsts = range(ends, n - ends, size)
        found += [samples.part(slice(first, min(first + size, n - ends))) for first in firsts]
    return found


def _samples(model: Model, given: Any, name: str, cutoff: float | None) -> ForceSamples:
    """All samples of a recording, its forces filtered as its positions."""
    recording = recording_of(model, given)
    refuse_moving_carriers(model, recording)
    motion = differentiated(model, recording, cutoff)
    n = len(motion.time)
    exerted = numbers(f"{name}.qfrc", _measured(given, name))
    if exerted.ndim == 1 and model.nv == 1:
        exerted = exerted[:, None]
    if exerted.shape != (n, model.nv) or not np.isfinite(exerted).all():
        raise OptionError(
            f"identify: {name}.qfrc must be finite and have shape {(n, model.nv)}: a force for each degree of freedom, "
            f"0 for those of free joints; not {exerted.shape}"
        )
    wrenches = given.get("wrenches") if isinstance(given, Mapping) else None
    if wrenches is None:
        _tell_constrained(model, motion, recording, name)
    else:
        exerted = exerted + generalised(model, recording.qpos, wrenches)
    return ForceSamples(recording, motion, exerted if cutoff is None else filtered(motion.time, exerted, cutoff))


def _tell_constrained(model: Model, motion: Motion, recording: Recording, name: str) -> None:
    """Warn of samples in which contacts or limits would act, whose forces are left out."""
    if {"contact", "limit"}.isdisjoint(constraint_kinds(model)):
        return
    free, acting = (forces_of(m, motion, recording) for m in (unconstrained(model), without_dry_friction(model)))
    count = int((abs(acting - free) > ROUNDING * (1.0 + abs(free))).any(axis=1).sum())
    if count:
        warn(
            f"identify: contacts or limits act in {count} of the {len(free)} samples of {name}, and data='forces' "
            "leaves their forces out; give those of contacts as wrenches, or leave these samples out"
        )


def _measured(given: Any, name: str) -> Any:
    """Measured forces: qfrc of a mapping, or the signal qfrc_actuator of a run."""
    if isinstance(given, Mapping):
        if given.get("qfrc") is not None:
            return given["qfrc"]
        raise OptionError(
            f"identify: {name} has no qfrc, the measured force of each degree of freedom [T, nv] (N, N m)"
        )
    try:
        return given["qfrc_actuator"]
    except (OptionError, KeyError):
        raise OptionError(
            f"identify: {name} has no joint forces; record them, as sim.run(..., record=('qfrc_actuator',))"
        ) from None
