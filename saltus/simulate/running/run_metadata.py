"""Metadata of a recording: names, units, model, options, method and versions."""

import dataclasses
import functools
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import mujoco
import numba
import numpy as np

from saltus.compat.humans import BODIES, NO_POINTS
from saltus.integrate.event.event_roots import EPSILON
from saltus.model.actuator_enums import FIBRE
from saltus.simulate.engine.constraint_rows import pair_names
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.contact import find_contact_law
from saltus.simulate.running.contact_columns import point_bodies, point_count, point_names, why_no_points
from saltus.simulate.running.labels import sensor_labels
from saltus.solve.cone.problem import TOLERANCE
from saltus.version import __version__


def names_and_units(engine: Engine) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Labels and SI units of qpos, qvel, act, ctrl and sensors; labels of mocap bodies, of trees that may sleep."""
    model = engine.model
    qpos, qvel = model.coordinate_units()
    actuators = model.names("actuator")
    ctrl = [label for k, name in enumerate(actuators) for label in _several(name, int(model.actuator_ctrlnum[k]))]
    names = {"qpos": model.qpos_names(), "qvel": model.dof_names(), "act": _act_names(engine, actuators), "ctrl": ctrl}
    bodies, mocap = model.names("body"), model.body_mocapid
    names["actuation"] = [f"state {i}" for i in range(len(engine.actuation_state))]
    names["tree"] = [bodies[b] for b in model.tree_bodyadr] if engine.sleeps else []
    names["motion"] = list(engine.motions.joints)
    names["mocap"] = [bodies[b] for b in sorted(np.flatnonzero(mocap >= 0), key=lambda b: mocap[b])]
    names["sensor"], sensor = sensor_labels(model)
    units = {"qpos": qpos, "qvel": qvel, "act": [""] * len(names["act"]), "ctrl": [""] * model.nu, "sensor": sensor}
    return names, units


def _several(name: str, count: int) -> list[str]:
    """The name of one number, or names for each of several."""
    return [name] if count == 1 else [f"{name}.{i}" for i in range(count)]


def _act_names(engine: Engine, actuators: list[str]) -> list[str]:
    """Labels of the states of actuators: MuJoCo's activations, states of muscles, states of a controller."""
    struct, names = engine.m, [f"state {k}" for k in range(len(engine.act))]
    for k, actuator in enumerate(actuators):
        first = struct.actuator_actadr[k]
        if first >= 0:
            count = struct.actuator_actnum[k]
            names[first : first + count] = _several(actuator, count)
        if actuator in engine.model.muscles and not engine.model.muscles[actuator].rigid_tendon:
            names[struct.actuator_slot[k, FIBRE]] = f"{actuator}.fibre"
    count = struct.ncontrol_state
    names[len(names) - count :] = [f"control.{i}" for i in range(count)]
    return names


def description(engine: Engine) -> dict[str, Any]:
    """Metadata that all recordings of a simulation with its controller share: `names`, `units` and `attrs`."""
    names, units = names_and_units(engine)
    attrs = model_attributes(engine)
    if point_count(engine):
        names["contact"] = point_names(engine.model, engine.m)
        attrs[BODIES] = point_bodies(engine.model, engine.m)
    else:
        names["contact"] = pair_names(engine.model, engine.m)
        if why := why_no_points(engine):
            attrs[NO_POINTS] = why
    return {"names": names, "units": units, "attrs": attrs}


def attributes(engine: Engine, duration: float, sample: float) -> dict[str, Any]:
    """Attributes of one run."""
    return {
        "control": "" if engine.control is None else repr(engine.control),
        "timestep": engine.timestep,
        "duration": duration,
        "sample": sample,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **({"max_step": longest} if np.isfinite(longest := engine.longest_step()) else {}),
        **({"breaks": list(engine.step_bounds.breaks)} if engine.step_bounds.breaks else {}),
        **({"motions": list(engine.motions.given)} if engine.motions else {}),
        **({"applied": forces} if (forces := applied(engine)) else {}),
    }


def applied(engine: Engine) -> dict[str, list[float]]:
    """External forces at the run's start: (N m, N) by joint or coordinate, and (N, N m) by body."""
    bodies = zip(engine.model.names("body"), engine.xfrc_applied, strict=True)
    along = zip(engine.model.dof_names(), engine.qfrc_applied, strict=True)
    found = {f"qfrc_applied[{name}]": [float(value)] for name, value in along if value}
    return found | {f"xfrc_applied[{name}]": value.tolist() for name, value in bodies if value.any()}


def model_attributes(engine: Engine) -> dict[str, Any]:
    """Model text, options, method and versions."""
    model = engine.model
    return {
        "model_name": model.name,
        "model_xml": model.xml or "",
        "options": json.dumps({k: _plain(v) for k, v in vars(model.opt).items()}),
        "semantics": model.semantics,
        "ignored": list(model.ignored),
        "integrator": engine.integrator.name,
        "integrator_reference": engine.integrator.reference,
        "contact": engine.law.name,
        "contact_law": law_numbers(engine.law),
        "tolerances": tolerances(engine),
        "muscles": {name: dataclasses.asdict(law) for name, law in model.muscles.items()},
        "dynamics": "" if engine.dynamics is None else repr(engine.dynamics),
        "saltus_version": __version__,
        **versions(),
        "python_version": platform.python_version(),
    }


def law_numbers(law: Any) -> dict[str, Any]:
    """Numbers of a contact law as plain values, from which `law_of` makes it again; {} if it has none."""
    if not dataclasses.is_dataclass(law):
        return {}
    numbers = {f.name: getattr(law, f.name) for f in dataclasses.fields(law)}
    if "pairs" in numbers:
        pairs = numbers["pairs"].items()
        numbers["pairs"] = [[*pair, dict(value) if isinstance(value, Mapping) else value] for pair, value in pairs]
    return numbers


def law_of(name: str, numbers: Mapping[str, Any]) -> Any:
    """The contact law with a name and numbers."""
    if not numbers:
        return name
    pairs = {(first, second): value for first, second, value in numbers.get("pairs", [])}
    law: Any = find_contact_law(name)
    return dataclasses.replace(law, **{**numbers, "pairs": pairs})


def tolerances(engine: Engine) -> dict[str, float]:
    """Tolerances of a run, by name.

    Relative and absolute error of a step, and tolerance of the constraint solver; if events are located in time, also
    of their place in a step, of the residual of complementarity problems, and the gap (m) that counts as closed.
    """
    found = {"constraint_solver": float(engine.model.opt.tolerance)}
    if engine.integrator.adaptive:
        relative, absolute = engine.integrator.parameters[1]
        found |= {"step_relative": float(relative), "step_absolute": float(absolute)}
    if engine.locates_events:
        found |= {"event_place": EPSILON, "cone_problem": TOLERANCE, "gap": float(engine.m.opt_gap_tolerance)}
    return found


@functools.cache
def versions() -> dict[str, str]:
    return {f"{module.__name__}_version": module.__version__ for module in (numba, np, mujoco)}


def _plain(value):
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
