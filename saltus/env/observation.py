"""Observations of an agent: fields of Data by MuJoCo's names, and terms, concatenated."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import number, several, whole_number
from saltus.env.terms import Term
from saltus.errors import OptionError
from saltus.model.layout import DATA
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.simulate.engine.data_fields import DataFields

FIELDS = (
    *(f for f in DataFields.__annotations__ if f in DATA.fields and DATA.fields[f].kind == "real"),
    "sensordata",
)
#: Kinds of objects counted by the first axis of a field.
OBJECTS = {"nbody": "body", "nbody_sense": "body", "njnt": "joint", "ngeom": "geom", "nsite": "site"}
OBJECTS |= {"nu": "actuator", "nout": "actuator", "ntendon": "tendon"}
#: Steps of the environment: a whole number, or the range (least, largest) from which one is drawn for each episode.
Delay: TypeAlias = int | tuple[int, int]


@dataclass(frozen=True)
class Observed:
    """A part of an observation with its processing; made by `observed`."""

    source: str | Term
    clip: tuple[float, float] | None = None
    scale: float = 1.0
    noise: float = 0.0
    delay: tuple[int, int] = (0, 0)


def observed(
    source: str | Term,
    *,
    clip: tuple[float, float] | None = None,
    scale: float = 1.0,
    noise: float = 0.0,
    delay: Delay = 0,
) -> Observed:
    """Make a part of an observation that is clipped, scaled, noisy or delayed.

    `source`: a field ("qvel[3:]") or a term. `clip`: (least, largest) value in the field's unit. `scale`: factor
    applied after clipping. `noise`: standard deviation of noise added after scaling. `delay`: delay in steps of the
    environment, or the range (least, largest) from which it is drawn for each episode, once for all parts with the same
    range; until the first delayed value arrives, the initial one is seen. OptionError: an argument is not valid.
    """
    if clip is not None and (len(clip) != 2 or not clip[0] <= clip[1]):
        raise OptionError(f"observed: clip must be (least, largest), got {clip!r}")
    if not number("observed: noise", noise) >= 0.0:
        raise OptionError(f"observed: noise must not be negative, got {noise!r}")
    return Observed(source, clip, number("observed: scale", scale), noise, delay_range("observed: delay", delay))


def delay_range(name: str, given: Any) -> tuple[int, int]:
    """The least and the largest delay in steps; OptionError if `given` is not a delay."""
    if not isinstance(given, Sequence | np.ndarray):
        steps = whole_number(name, given)
        return steps, steps
    if isinstance(given, str) or len(given) != 2:
        raise OptionError(f"{name} must be a whole number of steps or (least, largest), got {given!r}")
    low, high = whole_number(f"{name}[0]", given[0]), whole_number(f"{name}[1]", given[1])
    if low > high:
        raise OptionError(f"{name} must be (least, largest), got {given!r}")
    return low, high


def parts(observation: Any) -> list[Observed]:
    """The parts of an observation as a list; a single part counts as one."""
    alone = isinstance(observation, str | Observed) or callable(observation)
    given = [observation] if alone else several("observation", observation)
    for part in given:
        if not isinstance(part, str | Observed) and not callable(part):
            raise OptionError(f"an observation consists of fields, such as 'qpos[2:]', and terms, not of {part!r}")
    return [part if isinstance(part, Observed) else Observed(part) for part in given]


def field_name(source: str) -> str:
    """Name of the field that a source refers to."""
    return _split(source)[0]


def field_rows(source: str, model: Model, workspace: Struct) -> NDArray[np.int64]:
    """Indices among Data's numbers of a source such as "qpos[2:]", "xpos[torso, 2]" or "sensordata[gyro]".

    Indices in a source are whole numbers, slices or names: of joints in qpos and qvel, of sensors in sensordata, else
    of the objects that the field counts.
    """
    name, index = _split(source)
    shape = DATA.shape(name, workspace.sizes)
    first = workspace.span(name, name).start
    places = first + np.arange(int(np.prod(shape))).reshape(shape)
    if name == "act":
        places = places[: model.na]
    try:
        found = places[
            tuple(_place(part, name, model) if k == 0 else place_number(part) for k, part in enumerate(index))
        ]
    except OptionError:  # of an unknown name
        raise
    except (IndexError, ValueError):
        raise OptionError(f"observation {source!r}: {name} has shape {places.shape}") from None
    return np.atleast_1d(found).reshape(-1)


def _split(source: str) -> tuple[str, list[str]]:
    match = re.fullmatch(r"\s*(\w+)\s*(?:\[(.+)\])?\s*", source)
    if match is None:
        raise OptionError(f"observation {source!r}: expected a field, or one with indices, such as 'qpos[2:]'")
    name, index = match[1], match[2]
    if name not in FIELDS:
        raise OptionError.unknown("field of an observation", name, FIELDS)
    return name, [] if index is None else [part.strip() for part in index.split(",")]


def place_number(text: str) -> int | slice:
    """Parse a whole number or a slice; ValueError for anything else."""
    if ":" in text:
        return slice(*(int(x) if x.strip() else None for x in text.split(":")))
    return int(text)


def _place(text: str, name: str, model: Model) -> int | slice:
    """Resolve a first index, a number, a slice or a name, of a field."""
    try:
        return place_number(text)
    except ValueError:
        pass
    if name == "sensordata":
        return sensor_span(model, text)
    if name == "qpos":
        return joint_span(model, text, model.jnt_qposadr, model.nq)
    kind = DATA.fields[name].shape[0] if DATA.fields[name].shape else ""
    if kind in ("nv", "nv_constraint"):
        return joint_span(model, text, model.jnt_dofadr, model.nv)
    if kind not in OBJECTS:
        raise OptionError(f"indices of {name} have no names; got {text!r}")
    return model.id(OBJECTS[kind], text)


def joint_span(model: Model, name: str, addresses: Sequence[int] | np.ndarray, size: int) -> slice:
    """Slice of a joint's numbers among the coordinates."""
    j = model.id("joint", name)
    return slice(int(addresses[j]), int(addresses[j + 1]) if j + 1 < model.njnt else size)


def sensor_span(model: Model, name: str) -> slice:
    """Slice of a sensor's readings in sensordata."""
    s = model.id("sensor", name)
    return slice(int(model.sensor_adr[s]), int(model.sensor_adr[s] + model.sensor_dim[s]))
