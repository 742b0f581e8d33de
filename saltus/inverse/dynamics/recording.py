"""Recorded positions as input of inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.record.trajectory import Trajectory

Array = NDArray[np.float64]
#: A recorded motion: of a run, or a mapping with time and qpos.
RecordedPositions: TypeAlias = Trajectory | Mapping[str, ArrayLike]


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples: time [n] (s), qpos [n, nq], mocap_pos [n, nmocap, 3], mocap_quat [n, nmocap, 4]."""

    time: Array
    qpos: Array
    mocap_pos: Array
    mocap_quat: Array


def recording_of(model: Model, given: Any) -> Recording:
    """The samples of a recording, checked.

    Raises:
        OptionError: a part is missing, has another shape or is not finite; times do not rise; velocities jump between
            the samples; the run had equations of motion of its own.
    """
    raw = _part(given, "time")
    if raw is None:
        raise OptionError(f"the trajectory must have time and qpos, got {given!r:.80}")
    time = numbers("time", raw)
    if time.ndim != 1 or len(time) < 2 or not np.isfinite(time).all() or not (np.diff(time) > 0).all():
        raise OptionError("time must hold at least two finite times that rise")
    if _part(given, "qpos") is None:
        raise OptionError("the trajectory has no qpos")
    _refuse_what_is_no_motion(given, time)
    qpos = _samples(given, "qpos", (len(time), model.nq))
    count = model.nmocap
    for name in ("mocap_pos", "mocap_quat") if count else ():
        if _part(given, name) is None:
            raise OptionError(f"the model has mocap bodies, whose {name} the trajectory must have")
    return Recording(
        time,
        qpos,
        _samples(given, "mocap_pos", (len(time), count, 3)) if count else np.zeros((len(time), 0, 3)),
        _samples(given, "mocap_quat", (len(time), count, 4)) if count else np.zeros((len(time), 0, 4)),
    )


def _part(given: Any, name: str) -> Any:
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def _samples(given: Any, name: str, shape: tuple[int, ...]) -> Array:
    """A part of this shape, of finite numbers."""
    found = numbers(name, _part(given, name))
    if found.ndim == 1 and shape[1:] == (1,):
        found = found[:, None]
    if found.shape != shape:
        raise OptionError(f"{name} must have shape {shape}, not {found.shape}")
    if not np.isfinite(found).all():
        raise OptionError(f"{name} must be finite; leave samples without values out")
    return found


def _refuse_what_is_no_motion(given: Any, time: Array) -> None:
    """OptionError for runs whose velocities jump, or whose forces are not those of the bodies."""
    attrs = getattr(given, "attrs", None) or {}
    if attrs.get("dynamics"):
        raise OptionError("the run had equations of motion of its own (dynamics=...), which the model does not hold")
    events = getattr(given, "events", None)
    if events is None or not len(events):
        return
    inside = (events["kind"] == "impact") & (events["time"] > time[0]) & (events["time"] < time[-1])
    if inside.any():
        at = events["time"][inside][0]
        raise OptionError(
            f"velocities jump at the impact at {at:.6g} s; take the samples between two impacts, as "
            '{"time": ..., "qpos": ...}'
        )
