"""Starts of the simulations of a batch: fields of a simulation, given states, or the end of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.record.batch_recording import BatchRecording
from saltus.record.table.trajectory_table import TrajectoryTable
from saltus.simulate.batches.fields import check_state
from saltus.simulate.engine.batch.states import FIELDS, BatchStates
from saltus.simulate.engine.engine import Engine

#: Fields that motion changes; the others are inputs.
MOTION = ("time", "qpos", "qvel", "act", "history", "plastic", "actuation_state")
INPUTS = tuple(name for name in FIELDS if name not in MOTION)

#: Start of a rollout: values of fields by name, or the end of a recording.
Start: TypeAlias = Mapping[str, ArrayLike] | TrajectoryTable | BatchRecording


def fields_of(engine: Engine, lanes: BatchStates, what: str) -> dict[str, NDArray[np.floating]]:
    """State and inputs of a simulation, with the solver's warm start, for a batch of the same mechanism.

    Raises:
        OptionError: a field of the simulation has another size.
    """
    if engine.model.nq != lanes.model.nq or engine.model.nv != lanes.model.nv or engine.model.nu != lanes.model.nu:
        raise OptionError(f"{what}: {engine.model.name!r} is another mechanism than the batch's {lanes.model.name!r}")
    found = {}
    for name in (*FIELDS, "qacc_warmstart"):
        shape = lanes.shape(name)
        own = engine.act if name == "act" else engine.d.views[name]
        if name == "control_prm":
            own = own[: shape[0]]
        if own.shape == shape:
            found[name] = own.copy()
        elif name != "qacc_warmstart":  # not part of the state
            raise OptionError(f"{what}: {name} has shape {own.shape} in the simulation, {shape} in the batch")
    return found


def start_fields(start: Start, lanes: BatchStates) -> dict[str, ArrayLike]:
    """Values of fields at a start, by name; OptionError for anything that is no start."""
    if isinstance(start, Mapping):
        return {check_state(name): values for name, values in start.items()}
    if not isinstance(start, TrajectoryTable | BatchRecording):
        raise OptionError(
            "start must be a saltus.Simulation, a mapping of fields such as {'qpos': ..., 'qvel': ...}, or a "
            f"recording, not {type(start).__name__}"
        )
    if lanes.shape("history")[0]:
        raise OptionError("start: recordings do not hold the histories of delayed controls and sensors")
    if lanes.shape("plastic")[0]:
        raise OptionError("start: recordings do not hold the frames of rods that twist (plastic)")
    if not start.time.shape[-1]:
        raise OptionError("start: the recording is empty")
    names = ("qpos", "qvel", "act", "actuation_state")
    fields: dict[str, ArrayLike] = {"time": start.time[..., -1]}
    return fields | {name: getattr(start, name)[..., -1, :] for name in names if np.prod(lanes.shape(name))}
