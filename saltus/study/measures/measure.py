"""Measures by name: unit and value, of one run or of many side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.record.table.certificate import energy_drift
from saltus.study.measures.numbers import NUMBERS
from saltus.study.measures.quantities import QUANTITIES
from saltus.study.measures.reductions import REDUCTIONS

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation

NAME = re.compile(r"(?P<what>\w+)(?P<places>(\[[^\[\]]*\])*)(\.(?P<how>\w+))?$")


@dataclass(frozen=True)
class Measure:
    """A named measure: `what` with `places` in brackets, reduced by `how` ("" for a number of the whole run)."""

    name: str
    what: str
    places: tuple[str, ...]
    how: str


def parse(name: Any) -> Measure:
    """Parse a measure's name. OptionError: there is no such quantity, reduction or number."""
    found = NAME.match(name.strip()) if isinstance(name, str) else None
    if found is None:
        raise OptionError(f"{name!r} is not a measure; expected quantity[element].reduction, as height[ball].apex")
    what, how = found["what"], found["how"] or ""
    places = tuple(re.findall(r"\[([^\[\]]*)\]", found["places"]))
    if what in NUMBERS:
        if how or places:
            raise OptionError(f"measure {name}: {what} is a number of the whole run, without element or reduction")
    elif what not in QUANTITIES:
        raise OptionError.unknown("measure", what, [*QUANTITIES, *NUMBERS])
    elif how not in REDUCTIONS:
        if how:
            raise OptionError.unknown(f"reduction in measure {name}:", how, REDUCTIONS)
        raise OptionError(f"measure {name}: the reduction is missing; expected {name}.{'|'.join(REDUCTIONS)}")
    return Measure(name.strip(), what, places, how)


def unit_of(measure: Measure, model: Model) -> str:
    """The measure's SI unit. OptionError: the model has no element of that name."""
    if measure.what in NUMBERS:
        return NUMBERS[measure.what].unit
    unit = QUANTITIES[measure.what].prepare(model, measure.places, measure.name)[1]
    return REDUCTIONS[measure.how].unit or unit


def measured(measures: Iterable[Measure], sim: Simulation, trajectory: Trajectory, seconds: float) -> dict[str, float]:
    """Values of a run's measures, by name. `seconds`: time of the run. `sim` is set to recorded states as needed."""
    measures = list(measures)
    curves = _curves([m for m in measures if m.what not in NUMBERS], sim, trajectory)
    found = {}
    for m in measures:
        if m.what in NUMBERS:
            found[m.name] = float(NUMBERS[m.what].of(trajectory, seconds))
        else:
            found[m.name] = float(REDUCTIONS[m.how].of(curves[m.what, m.places]))
    return found


def fields_read(measures: Iterable[Measure]) -> tuple[str, ...] | None:
    """Fields that the measures read from every sample; None where one of them needs a Simulation."""
    found: list[str] = []
    for m in measures:
        if m.what in NUMBERS:
            found += NUMBERS[m.what].fields
        elif not QUANTITIES[m.what].fields:
            return None
        else:
            found += QUANTITIES[m.what].fields
    return tuple(dict.fromkeys(found))


def measured_together(
    measures: Iterable[Measure], model: Any, samples: Any, seconds: float, good: NDArray[np.bool_]
) -> list[dict[str, float]]:
    """Values of the measures of each of many runs, by name; runs that are not `good` [n] have none.

    `model`: its fields may be [n, ...], as a batch has them. `samples`: fields as attributes, [n, T, ...]. `seconds`:
    what one run took.
    """
    found: list[dict[str, float]] = [{} for _ in good]
    chosen = np.flatnonzero(good)
    for m in measures:
        if m.what in NUMBERS:
            number = NUMBERS[m.what]
            for i in chosen:
                own = _Columns(samples, int(i), number.fields)
                found[i][m.name] = float(number.of(own, seconds))
            continue
        quantity = QUANTITIES[m.what]
        function, _ = quantity.prepare(model, m.places, m.name)
        if quantity.recorded:
            curves = np.asarray(function(samples), float)
        else:
            count = getattr(samples, quantity.fields[0]).shape[1]
            states = ({f: getattr(samples, f)[:, k] for f in quantity.fields} for k in range(count))
            curves = np.stack([function(SimpleNamespace(**state)) for state in states], axis=1)
        reduce = REDUCTIONS[m.how].of
        for i in chosen:
            found[i][m.name] = float(reduce(np.ascontiguousarray(curves[i])))
    return found


class _Columns:
    """Columns of one of many runs, from which numbers of a whole run are computed."""

    def __init__(self, samples: Any, i: int, fields: Iterable[str]):
        self.events = ()
        self.energy = np.empty(0)
        for name in fields:
            setattr(self, name, getattr(samples, name)[i])

    @property
    def energy_drift(self) -> float:
        return energy_drift(self.energy)


class _Present:
    """Present state of a simulation: fields of its data, and `sensordata`."""

    def __init__(self, sim: Simulation):
        self._sim = sim

    def __getattr__(self, name: str) -> Any:
        return self._sim.sensordata if name == "sensordata" else getattr(self._sim.data, name)


def _curves(measures: list[Measure], sim: Simulation, trajectory: Trajectory) -> dict[Any, NDArray[np.float64]]:
    """Quantities over time, by quantity and places."""
    recorded, read = {}, {}
    present = _Present(sim)
    for m in measures:
        quantity = QUANTITIES[m.what]
        function, _ = quantity.prepare(sim.model, m.places, m.name)
        if quantity.recorded:
            recorded[m.what, m.places] = function
        else:
            read[m.what, m.places] = function, present if quantity.fields else sim
    curves = {key: np.asarray(function(trajectory), float) for key, function in recorded.items()}
    if read:
        of = list(read.values())
        rows = np.array([[float(function(state)) for function, state in of] for _ in _states(sim, trajectory)])
        curves |= dict(zip(read, rows.T, strict=True))
    return curves


def _states(sim: Simulation, trajectory: Trajectory) -> Iterable[int]:
    """Set the simulation to each recorded state in turn and yield the sample's index."""
    for k in range(len(trajectory)):
        sim.time = float(trajectory.time[k])
        for name in ("qpos", "qvel", "act", "ctrl"):
            getattr(sim, name)[:] = getattr(trajectory, name)[k]
        if sim.model.nmocap:
            sim.mocap_pos[:], sim.mocap_quat[:] = trajectory.mocap_pos[k], trajectory.mocap_quat[k]
        yield k
