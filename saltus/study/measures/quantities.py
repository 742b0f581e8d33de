"""Quantities that a run has at every sample, such as a body's height, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation


@dataclass(frozen=True)
class Quantity:
    """A quantity that a run has at every sample.

    `prepare(model, places)` returns how to read it, or raises OptionError; with `recorded` it gives the values [..., T]
    of a recording's columns [..., T, n], else the value at a state. `unit` may depend on the element.

    `fields`: the columns, or the fields of `Simulation.data` and `sensordata`, that are read. Fields of a state may be
    of many simulations, [n, ...], and the model's too; the value is then [n]. Without `fields` what is read is a
    Simulation.
    """

    about: str
    prepare: Callable[[Model, tuple[str, ...], str], tuple[Callable[[Any], Any], str]]
    recorded: bool = False
    fields: tuple[str, ...] = ()


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
    """A column of the recording, found by its label."""
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
    """Energy of one body (J): ½ m v² + ½ ωᵀ I ω - m g·x."""
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
    """Largest displacement (m) of a flex's vertices along gravity from their reference positions."""
    _places(places, 1, 1, name, "sag[flex]")
    f = _index(model.names("flex"), "flex", places[0], name)
    vertices = slice(int(model.flex_vertadr[f]), int(model.flex_vertadr[f] + model.flex_vertnum[f]))
    gravity = np.asarray(model.opt.gravity)
    down = gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, -1.0])
    depth0: list[NDArray[np.float64]] = []  # vertices at the reference positions, computed when first needed

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
    """The mechanism's energy (J): potential, kinetic or total."""

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
    "sag": Quantity("largest displacement of a flex's vertices along gravity", _sag),
}
