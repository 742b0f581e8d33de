"""Display of a model: a picture of its initial state, its sizes, and tables of bodies, joints and actuators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltus.draw.scene.snapshot import Still
from saltus.model.actuator_enums import (
    BIAS_AFFINE,
    BIAS_NONE,
    DYN_DCMOTOR,
    DYN_INTEGRATOR,
    DYN_MUSCLE,
    DYN_NONE,
    DYN_PID,
    GAIN_AFFINE,
    GAIN_FIXED,
    TRN_BODY,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_SITE,
    TRN_SLIDERCRANK,
    TRN_TENDON,
)
from saltus.model.compile.drives.bristle_friction import bristle_actuators
from saltus.model.enums import HINGE, JOINT_NAMES, SLIDE
from saltus.model.model import Model
from saltus.notebook.html import Html, display, facts, folded_table, title, with_picture
from saltus.notebook.picture import picture
from saltus.record.table.labels import readable
from saltus.simulate.engine.initial_state import start_state
from saltus.terminal.display import count

ACTS_ON = {
    TRN_JOINT: "joint",
    TRN_JOINTINPARENT: "joint",
    TRN_TENDON: "tendon",
    TRN_SITE: "site",
    TRN_SLIDERCRANK: "site",
    TRN_BODY: "body",
}


def model_html(model: Model) -> Html:
    """Display a model: a picture of its initial state, facts, and tables of bodies, joints and actuators."""
    start = start_state(model, None, float(model.opt.timestep))
    still = Still(start["qpos"], start["mocap_pos"], start["mocap_quat"])
    return display(
        title(f"Model {model.name}", sizes(model)),
        with_picture(picture(model, still), facts(_facts(model))),
        _bodies(model),
        _joints(model),
        _actuators(model),
    )


def sizes(model: Model) -> str:
    """Text of the numbers of bodies, joints, degrees of freedom and controls."""
    parts = [count(model.nbody - 1, "body"), count(model.njnt, "joint"), count(model.nv, "degree of freedom")]
    return ", ".join([*parts, *([count(model.nu, "control")] if model.nu else [])])


def number(value: float, digits: int = 4) -> str:
    """Format a number with few digits, without a minus sign before zero."""
    return f"{value + 0.0:.{digits}g}"


def _facts(model: Model) -> dict[str, str]:
    others = {"geom": model.ngeom, "tendon": model.ntendon, "equality constraint": model.neq, "sensor": model.nsensor}
    others |= {"deformable body": model.nflex, "keyframe": model.nkey}
    known = {
        "sizes": f"nq = {model.nq}, nv = {model.nv}, na = {model.na}, nu = {model.nu}",
        "also": ", ".join(count(n, thing) for thing, n in others.items() if n) or "nothing",
        "mass": f"{number(model.body_mass.sum(), 6)} kg",
        "gravity": f"({', '.join(f'{g:g}' for g in model.opt.gravity)}) m/s²",
        "integrator": f"{model.opt.integrator}, timestep {number(model.opt.timestep)} s",
    }
    if model.initial_key is not None:
        known["starts at"] = f"keyframe {readable(model.names('key')[model.initial_key], 'keyframe')}"
    if model.muscles:
        known["muscles"] = ", ".join(model.muscles)
    if model.ignored:
        known["not simulated"] = "\n".join(model.ignored)
    if model.changes:
        known["changed"] = "\n".join(f"{key} = {value}" for key, value in model.changes.items())
    return known


def _bodies(model: Model) -> Html:
    names = [readable(name, "body") for name in model.names("body")]
    joints = joint_names(model)
    rows = []
    for b in range(1, model.nbody):
        first = model.body_jntadr[b]
        kinds = [
            f"{JOINT_NAMES[model.jnt_type[j]]} {joints[j]}" for j in range(first, first + int(model.body_jntnum[b]))
        ]
        mass, inertia = number(model.body_mass[b]), ", ".join(number(x) for x in model.body_inertia[b])
        rows.append([names[b], names[model.body_parentid[b]], ", ".join(kinds) or "fixed", mass, inertia])
    head = ["body", "parent", "joint", "mass (kg)", "principal inertias (kg m²)"]
    return folded_table(count(len(rows), "body"), head, rows)


def joint_names(model: Model) -> list[str]:
    """Readable names of joints."""
    return [readable(name, "joint") for name in model.names("joint")]


def _joints(model: Model) -> Html:
    bodies = [readable(name, "body") for name in model.names("body")]
    rows = []
    for j, name in enumerate(joint_names(model)):
        kind, dof = int(model.jnt_type[j]), int(model.jnt_dofadr[j])
        turns, moves = kind == HINGE, kind == SLIDE
        axis = ", ".join(number(x, 3) for x in model.jnt_axis[j]) if turns or moves else ""
        span = _range(model.jnt_range[j], "m" if moves else "rad") if model.jnt_limited[j] else ""
        per = "N m" if turns else "N" if moves else ""
        stiffness = _quantity(model.jnt_stiffness[j], {"N m": "N m/rad", "N": "N/m"}.get(per, ""))
        damping = _quantity(model.dof_damping[dof], {"N m": "N m s/rad", "N": "N s/m"}.get(per, ""))
        rows.append([name, JOINT_NAMES[kind], bodies[model.jnt_bodyid[j]], axis, span, stiffness, damping])
    head = ["joint", "type", "of body", "axis", "range", "stiffness", "damping"]
    return folded_table(count(len(rows), "joint"), head, rows)


def _actuators(model: Model) -> Html:
    rows, control, output = [], 0, 0
    for k, name in enumerate(model.names("actuator")):
        target, unit = _acts_on(model, k)
        kind = _kind(model, k)
        of_control = {"position": unit, "integrated velocity": unit, "velocity": f"{unit}/s" if unit else ""}
        limited = bool(model.actuator_ctrlnum[k]) and bool(model.actuator_ctrllimited[control])
        span = _range(model.actuator_ctrlrange[control], of_control.get(kind, "")) if limited else ""
        force = {"rad": "N m", "m": "N"}.get(unit, "")
        most = _range(model.actuator_forcerange[k], force) if model.actuator_forcelimited[k] else ""
        gear = number(model.actuator_gear[output, 0])
        rows.append([readable(name, "actuator"), kind, target, span, most, gear])
        control, output = control + int(model.actuator_ctrlnum[k]), output + int(model.actuator_outnum[k])
    head = ["actuator", "type", "acts on", "control range", "force range", "gear"]
    return folded_table(count(len(rows), "actuator"), head, rows)


def _kind(model: Model, k: int) -> str:
    """Type of an actuator in MJCF's terms, inferred from its dynamics and gains."""
    dynamics, gain, bias = (
        int(f[k]) for f in (model.actuator_dyntype, model.actuator_gaintype, model.actuator_biastype)
    )
    if model.names("actuator")[k] in model.muscles:
        return "Hill-type muscle"
    if model.actuator_trntype[k] == TRN_BODY:
        return "adhesion"
    if k in bristle_actuators(model.mj_model):
        return "friction by bristles"
    if dynamics in (DYN_MUSCLE, DYN_DCMOTOR, DYN_PID):
        return {DYN_MUSCLE: "muscle", DYN_DCMOTOR: "DC motor", DYN_PID: "PID"}[dynamics]
    slope, rate = model.actuator_biasprm[k, 1:3]
    if gain == GAIN_FIXED and bias == BIAS_AFFINE and slope == -model.actuator_gainprm[k, 0]:
        return "integrated velocity" if dynamics == DYN_INTEGRATOR else "position"
    if gain == GAIN_FIXED and bias == BIAS_AFFINE and slope == 0.0 and rate == -model.actuator_gainprm[k, 0]:
        return "velocity"
    if gain == GAIN_FIXED and bias == BIAS_NONE and dynamics == DYN_NONE:
        return "motor"
    return "damper" if gain == GAIN_AFFINE and bias == BIAS_NONE and dynamics == DYN_NONE else "general"


def _acts_on(model: Model, k: int) -> tuple[str, str]:
    """Kind and name of an actuator's target, and the unit of its length."""
    kind, thing = int(model.actuator_trntype[k]), int(model.actuator_trnid[k, 0])
    if kind not in ACTS_ON or thing < 0:
        return "", ""
    name = readable(model.names(ACTS_ON[kind])[thing], ACTS_ON[kind])
    unit = "m" if kind in (TRN_TENDON, TRN_SLIDERCRANK) else ""
    if ACTS_ON[kind] == "joint":
        unit = {HINGE: "rad", SLIDE: "m"}.get(int(model.jnt_type[thing]), "")
    return f"{ACTS_ON[kind]} {name}" if not name.startswith(ACTS_ON[kind]) else name, unit


def _range(span: Sequence[float] | np.ndarray, unit: str) -> str:
    low, high = span
    return f"{number(low)} to {number(high)} {unit}".rstrip()


def _quantity(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".rstrip() if value else "0"
