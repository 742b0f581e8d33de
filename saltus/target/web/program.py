"""A model with some integrators and contact laws as one WebAssembly module, and the layout of its memory.

A *loop* is an integrator under a contact law: it has a Model, which loops of a law share, and Datas of its own size.
The page reads and writes their fields by the kernels' names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from saltus.contact.counts import NUNSOLVED
from saltus.errors import OptionError
from saltus.model.compile.constraints.hard import slot_counts
from saltus.model.event_enums import EVENT_WIDTH, LOGGED, LOST, OPEN, UNDONE
from saltus.model.layout import model_layout
from saltus.number.structs import Struct
from saltus.simulate.engine import loops
from saltus.solve import status
from saltus.target.addresses import Argument, Function, Integers, function_of
from saltus.target.web import looking
from saltus.target.web.looking import CONTACT_WIDTH, PATH_WIDTH
from saltus.target.web.module import module_of

if TYPE_CHECKING:
    from saltus.number.kernels import Entry
    from saltus.simulate.engine.engine import Engine
    from saltus.simulate.simulation import Simulation

MOST_CONTACTS = 1000  # most contacts shown at once
MOST_POINTS = 1000  # most contact points with forces
NOT_OURS = {
    "foreign": "collisions of signed distance fields, of height fields with boxes or meshes, of large faces",
    "flexforeign": "collisions of deformable bodies with these",
    "foreign_ray": "rays on meshes, and distances between geoms",
}
ENUMS = {"LOGGED": LOGGED, "LOST": LOST, "UNDONE": UNDONE, "NUNSOLVED": NUNSOLVED, "OPEN": OPEN}
STATUSES = {value: name for name, value in vars(status).items() if name.isupper()}


@dataclass(frozen=True, eq=False)
class Program:
    """A module and its memory. `wasm`: the module; `image`: initial contents of memory; `about`: memory layout.

    about: {"laws": [...], "loops": [...], ...}, see `_law` and `_loop`; arrays in the image are {"at": offset in bytes,
    "count": count of numbers}.
    """

    wasm: bytes
    image: bytes
    about: dict[str, Any]


@dataclass
class _Image:
    """Memory image of concatenated arrays, aligned to 8 bytes, without duplicates."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    known: dict[bytes, int] = field(default_factory=dict)

    def put(self, array: NDArray[Any]) -> dict[str, int]:
        content = np.ascontiguousarray(array).tobytes()
        if content not in self.known:
            self.known[content] = self.size
            self.parts.append(content)
            self.size += len(content)
        return {"at": self.known[content], "count": int(array.size)}


def program(simulations: Sequence[Simulation], progress: Callable[[float], object] | None = None) -> Program:
    """Compile simulations of one model and controller, under different integrators and contact laws, to a program.

    The page starts from the state of the first simulation. progress: called with the completed fraction.

    Raises OptionError if the model's kernels call functions of MuJoCo, which a browser does not have.
    """
    engines = [sim.engine for sim in simulations]
    check_ours(engines[0])
    image, functions = _Image(), {}
    laws: dict[str, dict[str, Any]] = {}
    found = []
    for engine in engines:
        known = engine.law.name, engine.integrator.adaptive
        key = f"{known[0]}{' adaptive' if known[1] else ''}"
        m = _authored(engine)
        if key not in laws:
            laws[key] = _law(engine, m, len(laws), image, functions)
        found.append(_loop(engine, list(laws).index(key), len(found), image, functions))
        if progress is not None:
            progress(len(found) / (len(engines) + 1))
    widths = {"contactWidth": CONTACT_WIDTH, "pathWidth": PATH_WIDTH, "eventWidth": EVENT_WIDTH}
    about = {"laws": list(laws.values()), "loops": found, "statuses": STATUSES, "enums": ENUMS, **widths}
    return Program(module_of(functions), b"".join(image.parts), about)


def check_ours(engine: Engine) -> None:
    """Raise OptionError if trees may sleep, motions are prescribed, or kernels call functions of MuJoCo."""
    if engine.sleeps:
        raise OptionError(
            f"{engine.model.name or 'the model'} cannot run in a browser: trees do not sleep there; load it with "
            "ignore=['sleep']"
        )
    if engine.motions:
        raise OptionError("pages do not support prescribed motions (motions=...); leave them out, or record a run")
    for feature, what in NOT_OURS.items():
        if feature in engine.m.layout.features | engine.model.sensing_struct().layout.features:
            name = engine.model.name or "the model"
            raise OptionError(f"{name} cannot run in a browser: it needs MuJoCo's functions for {what}")


def _authored(engine: Engine) -> Struct:
    """The Model of steps with the soft law's time constants from the file, not bounded by the timestep."""
    timestep = engine.law_timestep if engine.integrator.adaptive else 0.0
    return engine.model.struct(timestep=timestep, laws=engine.laws)


def _alone(m: Struct) -> str:
    """Name of a Model's layout without threads and without motions of mocap bodies, which jump in a page."""
    return model_layout(m.layout.features - {"threads", "movers"}).name


def _law(engine: Engine, m: Struct, number: int, image: _Image, functions: dict[str, Function]) -> dict[str, Any]:
    """Describe a contact law: buffers and fields of its Model, values bounded by the timestep, and functions."""
    sensing = _alone(engine.model.sensing_struct(timestep=0.0, laws=engine.laws))
    layouts = _alone(engine.m), engine.d.layout.name
    nq, nv = (m.sizes["nq"],), (3, m.sizes["nv"])
    contacts = (min(m.sizes["nconmax"], MOST_CONTACTS), CONTACT_WIDTH)
    asked: dict[str, tuple[Entry, tuple[str, ...], tuple[Argument, ...]]] = {
        "pose": (looking.pose, layouts, (nq, nq, types.float64)),
        "look": (looking.look, (layouts[0], sensing, layouts[1]), (contacts,)),
        "energy": (looking.energy, layouts, ()),
        "mobility": (looking.mobility, layouts, (*(types.float64,) * 3, types.int64, nv, nv)),
    }
    counts = slot_counts(m) if m.nconmax and "flexcontact" not in m.layout.features else np.zeros(0, np.int64)
    points = (int(counts.sum()), 3)
    first = (np.cumsum(counts) - counts).astype(np.int64)
    if 0 < points[0] <= MOST_POINTS:
        asked["point_forces"] = looking.point_forces, layouts, (Integers(first.shape), points)
    if m.sizes["ntendon"]:
        asked["paths"] = looking.paths, layouts, ((len(m.views["path_type"]), PATH_WIDTH),)
    if engine.locates_events:
        asked["gaps"] = looking.gaps, layouts, (contacts,)
        asked["settle"] = loops.settle, (_alone(engine.step_m), layouts[1]), ()
    functions.update({f"{name}{number}": function_of(*how) for name, how in asked.items()})
    return {
        "contact": engine.law.name,
        "reals": image.put(m.real),
        "ints": image.put(m.ints),
        "fields": _fields(m),
        "bounded": _bounded(engine, m),
        "functions": {name: f"{name}{number}" for name in asked},
        "contacts": contacts[0],
        "points": points[0] if "point_forces" in asked else 0,
        "first": image.put(first),
    }


def _bounded(engine: Engine, m: Struct) -> list[list[float]]:
    """Values of the soft law that the timestep bounds: [index, time constant T (s), power p].

    With a step h, they are the file's values times (T / max(T, 2 h))ᵖ: see `saltus.model.contact.contact_parameters`.
    """
    if engine.integrator.adaptive or engine.integrator.authored_laws or not m.opt_refsafe or not m.nlaw:
        return []
    found = []
    damped = 2.0 / m.views["law_impedance"][:, 1]
    for k in np.flatnonzero(m.views["law_direct"] == 0):
        constant = damped[k] / m.views["law_damping"][k]
        found.append([m.span("law_stiffness", "law_stiffness").start + int(k), constant, 2])
        found.append([m.span("law_damping", "law_damping").start + int(k), constant, 1])
        tangent = damped[k] / m.views["law_damping_tangent"][k]
        found.append([m.span("law_damping_tangent", "law_damping_tangent").start + int(k), tangent, 1])
    return found


def _loop(engine: Engine, law: int, number: int, image: _Image, functions: dict[str, Function]) -> dict[str, Any]:
    """Describe a loop, an integrator under a law: its function, its Data, and properties of the integrator."""
    parameters = engine.integrator.parameters
    layouts = _alone(engine.step_m), engine.d.layout.name
    arguments = (types.int64, types.float64, *(p.shape for p in parameters))
    functions[f"advance{number}"] = function_of(engine.loop, layouts, arguments)
    d = engine.d
    return {
        "integrator": engine.integrator.name,
        "adaptive": engine.integrator.adaptive,
        "law": law,
        "function": f"advance{number}",
        "parameters": [image.put(p) for p in parameters],
        "reals": image.put(d.real),
        "ints": image.put(d.ints),
        "fields": _fields(d),
        "state": [d.span("time", "time").start, d.span("xfrc_applied", "xfrc_applied").stop],
        "timestep": engine.timestep,
        "remembers": engine.remembers,
        "locates": engine.locates_events,
        "stepsOver": engine.steps_over_events,
    }


def _fields(struct: Struct) -> dict[str, list[int]]:
    """Positions of fields by name: [0 real or 1 integer, index, count]; sizes and flags are single integers."""
    found = {}
    for name, what in struct.layout.fields.items():
        integer = int(what.kind == "int")
        if integer and not what.shape:
            found[name] = [1, struct.layout.slot[name], 1]
        elif struct.views[name].size:
            found[name] = [integer, int(struct.ints[struct.layout.slot[name]]), int(struct.views[name].size)]
    return found


def to_json(about: dict[str, Any]) -> str:
    """Encode `Program.about` as JSON; numbers keep all digits."""
    return json.dumps(about, separators=(",", ":"), allow_nan=False)
