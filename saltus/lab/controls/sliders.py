"""Sliders: controls, joints, parameters of the model, and parameters of a controller.

A control slider holds its control at a value. A joint slider sets the joint's position and its velocity to zero; all
others stay. A parameter slider changes the model (see `Model.changed`); the motion continues.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.lab.controls.parameters import Parameter
from saltus.model.actuator_enums import BIAS_NONE, DYN_NONE, GAIN_FIXED, GAIN_MUSCLE, TRN_JOINT
from saltus.model.enums import HINGE, SLIDE
from saltus.simulate.running.run_metadata import names_and_units

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

MOST = 200  # sliders of a group; a status message contains them all
GRAVITY = 9.81  # m/s², used in a model without gravity to estimate a motor's strength
STEPS = 1000  # steps along a slider


@dataclass(frozen=True)
class Slider:
    """A slider of the page; group is "control", "input", "joint", "parameter" or "servo"."""

    id: str
    label: str
    group: str
    min: float
    max: float
    unit: str
    step: float

    def clipped(self, value: float) -> float:
        """The value clipped to the slider's bounds."""
        return min(max(value, self.min), self.max)


@dataclass(frozen=True)
class Handle:
    """A slider and the number that it sets: element `index` of a field of a simulation.

    turns: whether it is an unlimited angle. rest: index of the velocity that each move sets to zero, or None.
    """

    slider: Slider
    field: str
    index: int
    turns: bool = False
    rest: int | None = None

    def read(self, sim: Simulation) -> float:
        """The present value in a simulation."""
        value = float(getattr(sim, self.field)[self.index])
        return wrapped(value) if self.turns else value

    def write(self, sim: Simulation, value: float) -> None:
        """Set the value in a simulation; the velocity `rest` becomes zero."""
        getattr(sim, self.field)[self.index] = value
        if self.rest is not None:
            sim.qvel[self.rest] = 0.0


def slider(id: str, label: str, group: str, low: float, high: float, unit: str = "") -> Slider:
    """Make a slider of 1000 steps."""
    return Slider(id, label, group, low, high, unit, (high - low) / STEPS)


def control_sliders(sim: Simulation, taken: Iterable[int] = ()) -> list[Handle]:
    """Sliders of all controls but those that a controller sets, within their ranges; see `control_range`."""
    taken, handles = set(taken), []
    names = names_and_units(sim.engine)[0]["ctrl"]
    for k in range(sim.model.nactuator):
        first = int(sim.model.actuator_ctrladr[k])
        for u in range(first, first + int(sim.model.actuator_ctrlnum[k])):
            if u not in taken and len(handles) < MOST:
                low, high = control_range(sim.model, k, u)
                handles.append(Handle(slider(f"ctrl[{names[u]}]", names[u], "control", low, high), "ctrl", u))
    return handles


def control_range(model: Model, k: int, u: int) -> tuple[float, float]:
    """Range of control u of actuator k: its own, a muscle's [0, 1], the one a motor needs to hold its joint, or ±1."""
    if model.actuator_ctrllimited[u]:
        low, high = (float(x) for x in model.actuator_ctrlrange[u])
        return low, high
    if model.actuator_gaintype[k] == GAIN_MUSCLE:
        return 0.0, 1.0
    if is_plain(model, k):
        most = _nice(1.5 * _holding(model, int(model.actuator_trnid[k, 0]), gear(model, k)))
        return -most, most
    return -1.0, 1.0


def is_plain(model: Model, k: int) -> bool:
    """Whether an actuator is a motor on a joint, with a force proportional to its control."""
    fixed = model.actuator_gaintype[k] == GAIN_FIXED and model.actuator_biastype[k] == BIAS_NONE
    return bool(fixed and model.actuator_dyntype[k] == DYN_NONE and model.actuator_trntype[k] == TRN_JOINT)


def gear(model: Model, k: int) -> float:
    """Ratio of a joint's force to its motor's; 1 in place of 0."""
    return abs(float(model.actuator_gear[model.actuator_outadr[k], 0])) or 1.0


def _holding(model: Model, joint: int, gear: float) -> float:
    """Largest control that holds a motor's load against gravity: m g, at a hinge times the reach of its subtree."""
    body = int(model.jnt_bodyid[joint])
    weight = float(model.body_subtreemass[body]) * (float(np.linalg.norm(model.opt.gravity)) or GRAVITY)
    reach = min(_reach(model, body), float(model.stat.extent)) if model.jnt_type[joint] == HINGE else 1.0
    return weight * (reach or 1.0) / gear


def _reach(model: Model, body: int) -> float:
    """Largest distance from a body to a centre of mass in its fully stretched subtree (m)."""
    lengths = {body: 0.0}
    farthest = float(np.linalg.norm(model.body_ipos[body]))
    for b in range(body + 1, model.nbody):
        parent = int(model.body_parentid[b])
        if parent in lengths:
            lengths[b] = lengths[parent] + float(np.linalg.norm(model.body_pos[b]))
            farthest = max(farthest, lengths[b] + float(np.linalg.norm(model.body_ipos[b])))
    return farthest


def _nice(x: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below x; 1 where x is not a positive number."""
    if not 0 < x < math.inf:
        return 1.0
    power = 10.0 ** math.floor(math.log10(x))
    return next((step * power for step in (1.0, 2.0, 5.0) if step * power >= x * (1 - 1e-9)), 10.0 * power)


def joint_sliders(model: Model) -> list[Handle]:
    """Sliders of all hinges and slides, within their limits; without limits, ±π or the model's extent."""
    handles = []
    for j, name in enumerate(model.names("joint")):
        kind = model.jnt_type[j]
        if kind in (SLIDE, HINGE) and len(handles) < MOST:
            limited = bool(model.jnt_limited[j])
            most = math.pi if kind == HINGE else float(model.stat.extent)
            low, high = (float(x) for x in model.jnt_range[j]) if limited else (-most, most)
            unit = "rad" if kind == HINGE else "m"
            what = slider(f"qpos[{name}]", name, "joint", low, high, unit)
            turns = bool(kind == HINGE and not limited)
            handles.append(Handle(what, "qpos", int(model.jnt_qposadr[j]), turns, int(model.jnt_dofadr[j])))
    return handles


def parameter_slider(parameter: Parameter) -> Slider:
    """The slider of a parameter of the model."""
    return slider(parameter.key, parameter.key, "parameter", parameter.low, parameter.high, parameter.unit)


def message(sliders: Iterable[Slider], values: dict[str, float]) -> list[dict[str, Any]]:
    """The sliders as the `scene` message has them."""
    return [{**asdict(s), "value": values[s.id]} for s in sliders]


def wrapped(angle: float) -> float:
    """An angle in (-π, π]."""
    turned = math.remainder(angle, 2 * math.pi) if math.isfinite(angle) else angle
    return math.pi if turned == -math.pi else turned
