"""Measures: one number of a recording, by a name such as `height[ball].apex`.

A measure is a quantity over time and its reduction, `QUANTITIES` and `REDUCTIONS`, or one of `NUMBERS`. A quantity that
is not recorded is computed from the recorded state at every sample.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.record.table.certificate import energy_drift

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation

NAME = re.compile(r"(?P<what>\w+)(?P<places>(\[[^\[\]]*\])*)(\.(?P<how>\w+))?$")
NEAR = 0.01  # of a quantity's range, beside what it moves from sample to sample: so near to its least value it is low
BOUNCE = 0.02  # of a quantity's range: what rises by less after a low point has not bounced


@dataclass(frozen=True)
class Measure:
    """A named measure: `what` with `places` in brackets, reduced by `how` ("" for a number of the whole run)."""

    name: str
    what: str
    places: tuple[str, ...]
    how: str


@dataclass(frozen=True)
class Quantity:
    """Something that a run has at every sample.

    `prepare(model, places)` returns how to read it, or raises OptionError; with `recorded` it gives the values [..., T]
    of a recording's columns [..., T, n], else the value at a state. `unit` may depend on the element.

    `fields`: the columns, or the fields of `Simulation.data` and `sensordata`, that are read. Those of a state may be
    of many simulations, [n, ...], and the model's too; the value is then [n]. Without `fields` what is read is a
    Simulation.
    """

    about: str
    prepare: Callable[[Model, tuple[str, ...], str], tuple[Callable[[Any], Any], str]]
    recorded: bool = False
    fields: tuple[str, ...] = ()


def parse(name: Any) -> Measure:
    """A measure from its name. OptionError: there is no such quantity, reduction or number."""
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
    """The measure's SI unit. OptionError: the model has not got what it names."""
    if measure.what in NUMBERS:
        return NUMBERS[measure.what].unit
    unit = QUANTITIES[measure.what].prepare(model, measure.places, measure.name)[1]
    return REDUCTIONS[measure.how].unit or unit


def measured(measures: Iterable[Measure], sim: Simulation, trajectory: Trajectory, seconds: float) -> dict[str, float]:
    """The measures of a run, by name; `seconds`: what it took. The simulation is used to look at recorded states."""
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
    """What measures need of every sample; None where one of them needs a Simulation."""
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
    """The measures of many runs, by name; none of those that are not good [n].

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
    """What numbers of a whole run are made from, of one of many runs."""

    def __init__(self, samples: Any, i: int, fields: Iterable[str]):
        self.events = ()
        self.energy = np.empty(0)
        for name in fields:
            setattr(self, name, getattr(samples, name)[i])

    @property
    def energy_drift(self) -> float:
        return energy_drift(self.energy)


class _Present:
    """The present state of a simulation: fields of its data, and `sensordata`."""

    def __init__(self, sim: Simulation):
        self._sim = sim

    def __getattr__(self, name: str) -> Any:
        return self._sim.sensordata if name == "sensordata" else getattr(self._sim.data, name)


def _curves(measures: list[Measure], sim: Simulation, trajectory: Trajectory) -> dict[Any, NDArray[np.float64]]:
    """Quantities over time, by what and places."""
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
    """Put the simulation into each recorded state in turn."""
    for k in range(len(trajectory)):
        sim.time = float(trajectory.time[k])
        for name in ("qpos", "qvel", "act", "ctrl"):
            getattr(sim, name)[:] = getattr(trajectory, name)[k]
        if sim.model.nmocap:
            sim.mocap_pos[:], sim.mocap_quat[:] = trajectory.mocap_pos[k], trajectory.mocap_quat[k]
        yield k


# ------------------------------------------------------------ quantities


def _places(places: tuple[str, ...], least: int, most: int, name: str, what: str) -> None:
    if not least <= len(places) <= most:
        raise OptionError(f"measure {name}: expected {what}")


def _index(names: list[str], kind: str, wanted: str, name: str) -> int:
    if wanted in names:
        return names.index(wanted)
    if wanted.startswith("#") and wanted[1:].isdigit() and int(wanted[1:]) < len(names):
        return int(wanted[1:])
    raise OptionError.unknown(f"{kind} in measure {name}:", wanted, names)


def _number(text: str, count: int, name: str) -> int:
    if not (text.isdigit() and int(text) < count):
        raise OptionError(f"measure {name}: index [{text}] is out of range; there are {count} numbers")
    return int(text)


def _column(field: str) -> Quantity:
    """A column of the recording, by its label."""
    about = {"qpos": "a joint's position", "qvel": "a joint's velocity", "ctrl": "an actuator's control"}[field]

    def prepare(model: Model, places: tuple[str, ...], name: str):
        _places(places, 1, 1, name, f"{field}[name]")
        labels = {"qpos": model.qpos_names, "qvel": model.dof_names, "ctrl": lambda: model.names("actuator")}[field]()
        place = _index(labels, "actuator" if field == "ctrl" else "joint", places[0], name)
        units = {"qpos": 0, "qvel": 1}
        unit = model.coordinate_units()[units[field]][place] if field in units else ""
        return (lambda trajectory: getattr(trajectory, field)[..., place]), unit

    return Quantity(about, prepare, recorded=True, fields=(field,))


def _height(model: Model, places: tuple[str, ...], name: str):
    _places(places, 1, 1, name, "height[body]")
    b = _index(model.names("body"), "body", places[0], name)
    return (lambda state: state.xpos[..., b, 2]), "m"


def _xpos(model: Model, places: tuple[str, ...], name: str):
    _places(places, 2, 2, name, "xpos[body][0], [1] or [2]")
    b, axis = _index(model.names("body"), "body", places[0], name), _number(places[1], 3, name)
    return (lambda state: state.xpos[..., b, axis]), "m"


def _sensor(model: Model, places: tuple[str, ...], name: str):
    _places(places, 1, 2, name, "sensor[name] or sensor[name][0]")
    s = _index(model.names("sensor"), "sensor", places[0], name)
    count = int(model.sensor_dim[s])
    if len(places) == 1 and count > 1:
        raise OptionError(f"measure {name}: it has {count} readings; choose one, as sensor[{places[0]}][0]")
    place = int(model.sensor_adr[s]) + (_number(places[1], count, name) if len(places) == 2 else 0)
    return (lambda state: state.sensordata[..., place]), ""


def _energy(model: Model, places: tuple[str, ...], name: str):
    """Of a body, its own: ½ m v² + ½ ωᵀ I ω - m g·x; of the whole mechanism, what the recording holds."""
    _places(places, 1, 1, name, "body_energy[body]")
    b = _index(model.names("body"), "body", places[0], name)
    mass, inertia = np.asarray(model.body_mass)[..., b], np.asarray(model.body_inertia)[..., b, :]
    root, gravity = int(model.body_rootid[b]), np.asarray(model.opt.gravity)

    def read(state: Any) -> NDArray[np.float64]:
        centre, velocity = state.xipos[..., b, :], state.cvel[..., b, :]
        spin = velocity[..., :3]
        v = velocity[..., 3:] + np.cross(spin, centre - state.subtree_com[..., root, :])
        turn = state.ximat[..., b, :].reshape(*spin.shape, 3)
        local = (turn * spin[..., :, None]).sum(axis=-2)
        kinetic = 0.5 * mass * (v * v).sum(axis=-1) + 0.5 * (inertia * local * local).sum(axis=-1)
        return kinetic - mass * (gravity * centre).sum(axis=-1)

    return read, "J"


def _penetration(model: Model, places: tuple[str, ...], name: str):
    _places(places, 0, 1, name, "penetration or penetration[geom]")
    g = _index(model.names("geom"), "geom", places[0], name) if places else None

    def read(sim: Simulation) -> float:
        contact = sim.data.contact
        if g is not None:
            contact = contact[(contact["geom1"] == g) | (contact["geom2"] == g)]
        return float(max(0.0, -contact["dist"].min())) if len(contact) else 0.0

    return read, "m"


def _sag(model: Model, places: tuple[str, ...], name: str):
    """How far the lowest vertex, in the direction of gravity, is below its place in the file."""
    _places(places, 1, 1, name, "sag[flex]")
    f = _index(model.names("flex"), "flex", places[0], name)
    vertices = slice(int(model.flex_vertadr[f]), int(model.flex_vertadr[f] + model.flex_vertnum[f]))
    gravity = np.asarray(model.opt.gravity)
    down = gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, -1.0])
    depth0: list[NDArray[np.float64]] = []  # of the vertices at the reference positions, found when first needed

    def depth(sim: Simulation) -> NDArray[np.float64]:
        return sim.data.flexvert_xpos[vertices] @ down

    def read(sim: Simulation) -> float:
        if not depth0:
            here = sim.qpos.copy()
            sim.qpos = sim.model.qpos0
            depth0.append(depth(sim))
            sim.qpos = here
        return float((depth(sim) - depth0[0]).max())

    return read, "m"


def _total(which: str) -> Quantity:
    """The mechanism's energy, of a kind or in all."""

    def prepare(model: Model, places: tuple[str, ...], name: str):
        _places(places, 0, 0, name, f"{which} alone")
        columns = {"potential": [0], "kinetic": [1], "energy": [0, 1]}[which]
        return (lambda trajectory: trajectory.energy[..., columns].sum(axis=-1)), "J"

    about = {"energy": "potential and kinetic energy"}.get(which, f"{which} energy")
    return Quantity(f"{about} of the whole mechanism", prepare, recorded=True, fields=("energy",))


QUANTITIES: dict[str, Quantity] = {
    **{field: _column(field) for field in ("qpos", "qvel", "ctrl")},
    "height": Quantity("z of a body's frame", _height, fields=("xpos",)),
    "xpos": Quantity("x, y or z of a body's frame: xpos[body][0]", _xpos, fields=("xpos",)),
    "sensor": Quantity("a sensor's reading, or one of several: sensor[name][0]", _sensor, fields=("sensordata",)),
    **{which: _total(which) for which in ("energy", "potential", "kinetic")},
    "body_energy": Quantity(
        "one rigid body's own kinetic energy and its energy in gravity",
        _energy,
        fields=("xipos", "cvel", "subtree_com", "ximat"),
    ),
    "penetration": Quantity("the deepest overlap of all contacts, or of one geom's", _penetration),
    "sag": Quantity("how far a flex's lowest vertex is below its reference position", _sag),
}


# ------------------------------------------------------------ reductions


@dataclass(frozen=True)
class Reduction:
    """One number of a quantity over time [T]; `unit` where it is not the quantity's own."""

    about: str
    of: Callable[[NDArray[Any]], float]
    unit: str = ""


def apex(values: NDArray[Any]) -> float:
    """The largest value from the first low point on; where there is no rise after one, the least value itself.

    A low point is where the values turn upwards, or the first of them, near the least of all: between samples it may
    have been as much lower as the values change there from one to the next.
    """
    low = values.min()
    near = low + NEAR * (values.max() - low)
    before, here, after = values[:-2], values[1:-1], values[2:]
    reach = np.maximum(before - here, after - here)
    turns = (here <= before) & (here < after) & (here - reach <= near)
    first = 0 if values[0] <= near else 1 + int(np.argmax(turns)) if turns.any() else int(np.argmin(values))
    return float(values[first:].max())


def bounces(values: NDArray[Any]) -> int:
    """How many low points are followed by a rise worth the name."""
    worth = BOUNCE * np.ptp(values)
    count, extreme, falling = 0, values[0], True
    for value in values if worth > 0 else ():
        if falling:
            extreme = min(extreme, value)
            if value > extreme + worth:
                count, extreme, falling = count + (extreme < values[0]), value, False
        else:
            extreme = max(extreme, value)
            if value < extreme - worth:
                extreme, falling = value, True
    return count


REDUCTIONS: dict[str, Reduction] = {
    "initial": Reduction("the initial value", lambda x: x[0]),
    "final": Reduction("the final value", lambda x: x[-1]),
    "min": Reduction("the least", np.min),
    "max": Reduction("the largest", np.max),
    "mean": Reduction("the mean over the samples", np.mean),
    "rms": Reduction("the root mean square", lambda x: np.sqrt(np.mean(x * x))),
    "range": Reduction("the largest minus the smallest value", np.ptp),
    "apex": Reduction("the largest value after the first minimum: the rebound height, or the minimum itself", apex),
    "loss": Reduction("the initial value minus the apex: the loss in a bounce", lambda x: x[0] - apex(x)),
    "bounces": Reduction("the number of rises", bounces, unit=" "),
}


# ------------------------------------------------------------ numbers of a run


@dataclass(frozen=True)
class Number:
    """One number of a whole run: a function of the recording and of the seconds that it took.

    `fields`: columns of the recording that it needs; events there are none where many runs go side by side.
    """

    about: str
    of: Callable[[Any, float], float]
    unit: str = ""
    fields: tuple[str, ...] = ()


NUMBERS: dict[str, Number] = {
    "energy_drift": Number(
        "the largest change of the energy, relative to the energy exchanged",
        lambda t, _: t.energy_drift,
        fields=("energy",),
    ),
    "events": Number("the number of located events", lambda t, _: len(t.events)),
    "wall_time": Number("computing time of the run, without compiling", lambda _, seconds: seconds, "s"),
}
