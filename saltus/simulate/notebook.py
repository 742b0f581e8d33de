"""Display of models and simulations in notebooks: a picture, and tables of their contents."""

import base64
import io
import warnings
from collections.abc import Sequence

import numpy as np

from saltus.draw.renderer import make_renderer
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View
from saltus.errors import SaltusError
from saltus.model.enums import JOINT_NAMES
from saltus.model.model import Model
from saltus.record.film.picture import finished
from saltus.record.report.report import contact_text
from saltus.record.table.labels import readable
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.initial_state import start_state
from saltus.simulate.running.run_metadata import law_numbers
from saltus.terminal.display import count, facts_html, first_rows_html

WIDTH, HEIGHT = 400, 300  # of the picture, pixels


def model_html(model: Model) -> str:
    """A picture of the start, what the model is, its bodies and its joints."""
    start = start_state(model, None, float(model.opt.timestep))
    still = Still(start["qpos"], start["mocap_pos"], start["mocap_quat"])
    tables = [facts_html(f"Model {model.name}", _model_facts(model)), _bodies(model), _joints(model)]
    return _beside(_picture(model, still), tables)


def simulation_html(engine: Engine) -> str:
    """A picture of the present state, how it moves on, and the state in numbers."""
    integrator = engine.integrator
    facts = {
        "model": f"{engine.model.name}: {sizes(engine.model)}",
        "time": f"{engine.time:.6g} s",
        "integrator": f"{integrator.name}, order {integrator.order}, timestep {engine.timestep:.4g} s",
        "contact": contact_text(engine.law.name, law_numbers(engine.law)),
    }
    if engine.control is not None:
        facts["control"] = str(engine.control)
    if engine.dynamics is not None:
        facts["equations"] = str(engine.dynamics)
    if len(engine.events):
        facts["events"] = str(len(engine.events))
    units = engine.model.coordinate_units()
    tables = [
        facts_html("Simulation", facts),
        _values("Position", engine.model.qpos_names(), engine.qpos, units[0]),
        _values("Velocity", engine.model.dof_names(), engine.qvel, units[1]),
    ]
    return _beside(_picture(engine.model, Still(engine.qpos, engine.mocap_pos, engine.mocap_quat)), tables)


def sizes(model: Model) -> str:
    """How many bodies, joints, degrees of freedom and controls, in words."""
    parts = [count(model.nbody - 1, "body"), count(model.njnt, "joint"), count(model.nv, "degree of freedom")]
    return ", ".join([*parts, *([count(model.nu, "control")] if model.nu else [])])


def _model_facts(model: Model) -> dict[str, str]:
    facts = {
        "size": sizes(model),
        "mass": f"{model.body_mass.sum():.6g} kg",
        "gravity": " ".join(f"{g:g}" for g in model.opt.gravity) + " m/s²",
        "in its file": f"integrator {model.opt.integrator}, timestep {model.opt.timestep:.4g} s",
    }
    others = {"geom": model.ngeom, "tendon": model.ntendon, "equality constraint": model.neq, "sensor": model.nsensor}
    others |= {"deformable body": model.nflex, "keyframe": model.nkey}
    facts["also"] = ", ".join(count(n, thing) for thing, n in others.items() if n) or "nothing"
    if model.ignored:
        facts["ignored"] = "\n".join(model.ignored)
    if model.changes:
        facts["changed"] = "\n".join(f"{key} = {value}" for key, value in model.changes.items())
    return facts


def _bodies(model: Model) -> str:
    names = [readable(name, "body") for name in model.names("body")]
    rows = [
        [names[b], names[model.body_parentid[b]], f"{model.body_mass[b]:.6g}", _triple(model.body_inertia[b])]
        for b in range(1, model.nbody)
    ]
    head = ["name", "hangs on", "mass (kg)", "principal inertias (kg m²)"]
    return _folded(count(len(rows), "body"), first_rows_html("", head, rows)) if rows else ""


def _joints(model: Model) -> str:
    bodies = [readable(name, "body") for name in model.names("body")]
    rows = []
    for j, name in enumerate(model.names("joint")):
        kind, dof = JOINT_NAMES[model.jnt_type[j]], model.jnt_dofadr[j]
        axis = _triple(model.jnt_axis[j]) if kind in ("slide", "hinge") else ""
        row = [readable(name, "joint"), kind, bodies[model.jnt_bodyid[j]], axis, _range(model, j)]
        rows.append([*row, f"{model.jnt_stiffness[j]:.4g}", f"{model.dof_damping[dof]:.4g}"])
    head = ["name", "kind", "of body", "axis", "range", "stiffness", "damping"]
    return _folded(count(len(rows), "joint"), first_rows_html("", head, rows)) if rows else ""


def _range(model: Model, j: int) -> str:
    if not model.jnt_limited[j]:
        return ""
    low, high = model.jnt_range[j]
    return f"{low:.4g} to {high:.4g} {'m' if JOINT_NAMES[model.jnt_type[j]] == 'slide' else 'rad'}"


def _triple(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(f"{x:.4g}" for x in values)


def _values(title: str, names: list[str], values: np.ndarray, units: list[str]) -> str:
    rows = [[readable(n, "joint"), f"{x:.6g} {u}".rstrip()] for n, x, u in zip(names, values, units, strict=True)]
    return _folded(title.lower(), first_rows_html("", ["of", "value"], rows)) if rows else ""


def _folded(title: str, content: str) -> str:
    return f"<details open><summary>{title}</summary>{content}</details>"


def _beside(picture: str, tables: list[str]) -> str:
    """A picture with tables to its right, below each other."""
    style = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"
    return f'<div style="{style}">{picture}<div>{"".join(tables)}</div></div>'


def _picture(model: Model, still: Still) -> str:
    """An element that holds the picture; "" where there is nothing to draw or it cannot be drawn."""
    if not (model.ngeom or model.nsite or model.nflex or model.ntendon):
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what cannot be drawn
            pixels = make_renderer(model, View(width=WIDTH, height=HEIGHT)).draw(still)
    except (SaltusError, ValueError):  # such as a state that is not finite
        return ""
    buffer = io.BytesIO()
    finished(pixels, None, None).save(buffer, format="PNG")
    source = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img src="data:image/png;base64,{source}" width="{WIDTH}" height="{HEIGHT}" alt="picture of the model">'
