"""Pushes: changes of velocity, and forces of some duration, at random times."""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import float64
from numpy.typing import NDArray

from saltus.arguments import number, numbers, positive, several, text_of
from saltus.env.distributions import Distribution, LogUniform, Normal, Uniform, uniform_between
from saltus.env.disturb.randomize import split
from saltus.env.observation import joint_span, place_number
from saltus.env.random import next_block, unit
from saltus.errors import OptionError
from saltus.model.enums import FREE
from saltus.model.model import Model
from saltus.number.components import lane_get, lane_set
from saltus.number.functions import where
from saltus.number.kernels import kernel

# kinds of pushes, and columns of the tables
DOFS, BODY, FORCE = range(3)
KIND, TARGET, COUNT, AT, LASTS, ANYWHERE, NPUSH = range(7)
LAW, LOW, LOW_ROW, HIGH, HIGH_ROW, NLAW = range(6)
UNIFORM, LOG_UNIFORM, NORMAL = range(3)
SIZE, EVERY = range(2)


@dataclass(frozen=True, init=False)
class Push:
    """A push at random times: a change of velocity, or a force of some duration.

    Attributes:
        what: a body, or degrees of freedom ("qvel[elbow]", "qvel[:3]"). Changing the velocity of a body requires a
            free joint.
        velocity: the change of velocity (m/s, rad/s): a number, or `uniform(low, high)`, `log_uniform(low, high)` or
            `normal(mean, deviation)`, whose bounds may be names of parameters of the environment. For a body it has a
            horizontal direction drawn for each push; for degrees of freedom, each has its own draw.
        force: a force (N) on a body at its centre of mass, instead of a velocity.
        duration: time for which a force acts (s), rounded to steps of the environment, at least one.
        every: the time from one push to the next, and from the start of an episode to the first (s): a number or a
            distribution, rounded to steps.
        direction: (x, y, z) in the world, instead of a random horizontal direction; normalised.
        info: name under which infos report the push in each step: its change of velocity or its force, [3] for a
            body, else a number for each degree of freedom; zero without a push.
    """

    what: str
    velocity: Distribution | None
    force: Distribution | None
    duration: float
    every: Distribution
    direction: tuple[float, ...] | None
    info: str | None

    def __init__(
        self,
        what: str,
        velocity: Distribution | float | None = None,
        *,
        every: Distribution | float,
        force: Distribution | float | None = None,
        duration: float | None = None,
        direction: Sequence[float] | None = None,
        info: str | None = None,
    ):
        label = f"Push({text_of('Push: what', what)})"
        if (velocity is None) == (force is None):
            raise OptionError(f"{label} needs either velocity or force")
        if (force is None) != (duration is None):
            raise OptionError(f"{label}: force and duration belong together")
        along = None if direction is None else _direction(label, direction)
        given: dict[str, Any] = {"what": what, "direction": along}
        given["velocity"] = None if velocity is None else _law(f"{label}: velocity", velocity)
        given["force"] = None if force is None else _law(f"{label}: force", force)
        given["duration"] = 0.0 if duration is None else positive(f"{label}: duration", duration)
        given["every"] = _law(f"{label}: every", every)
        given["info"] = None if info is None else text_of(f"{label}: info", info)
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def label(self) -> str:
        """Name of the push in error messages."""
        return f"Push({self.what})"


class Pushes(NamedTuple):
    """Tables of an environment's pushes for the kernels.

    `rows` [pushes, NPUSH]; `laws` [pushes, 2, NLAW]: distributions of size and of time between pushes; `directions`
    [pushes, 3]; `nmemory`: count of numbers kept by the integrator that a change of velocity invalidates.
    """

    rows: NDArray[np.int64]
    laws: NDArray[np.float64]
    directions: NDArray[np.float64]
    nmemory: int


def pushes_of(given: Any) -> list[Push]:
    """Return the pushes declared by an environment as a list; a single push counts as a list."""
    found = [given] if isinstance(given, Push) else several("pushes", given)
    for one in found:
        if not isinstance(one, Push):
            raise OptionError(f"pushes consist of saltus.env.Push, not of {one!r}")
    return found


def tables(given: Sequence[Push], model: Model, dt: float, nmemory: int) -> Pushes:
    """Make the tables for kernels, with laws still zero (see `set_laws`); `dt`: step of the environment (s)."""
    rows, at = np.zeros((len(given), NPUSH), np.int64), 0
    for row, one in zip(rows, given, strict=True):
        row[[KIND, TARGET, COUNT]] = _acts_on(one, model)
        row[AT], row[ANYWHERE] = at, one.direction is None
        row[LASTS] = max(1, round(one.duration / dt))
        at += row[COUNT]
    directions = np.array([one.direction or (0.0, 0.0, 0.0) for one in given]).reshape(-1, 3)
    return Pushes(rows, np.zeros((len(given), 2, NLAW)), directions, nmemory)


def set_laws(
    laws: NDArray[np.float64],
    given: Sequence[Push],
    parameters: Mapping[str, NDArray[np.float64]],
    starts: Mapping[str, int],
) -> None:
    """Fill in the distributions of sizes and times; `starts`: first index of each parameter in an episode."""
    for one, two in zip(given, laws, strict=True):
        for row, law in zip(two, (one.velocity or one.force, one.every), strict=True):
            assert law is not None
            for name in law.parameters():
                if name not in parameters:
                    raise OptionError.unknown(f"parameter in {one.label}", name, parameters)
                if parameters[name].ndim:
                    raise OptionError(f"{one.label}: {name} must be one number")
            row[LAW] = {Uniform: UNIFORM, LogUniform: LOG_UNIFORM, Normal: NORMAL}[type(law)]
            for place, bound in zip((LOW, HIGH), law.bounds.values(), strict=False):
                fixed = not isinstance(bound, str)
                row[place], row[place + 1] = (bound, -1) if fixed else (0.0, starts[bound])


def _law(name: str, given: Any) -> Distribution:
    """Return a distribution that kernels can draw from; a number becomes a constant one. OptionError otherwise."""
    if isinstance(given, Uniform | LogUniform) or (isinstance(given, Normal) and not given.limited):
        return given
    if isinstance(given, Distribution):
        raise OptionError(f"{name} may be uniform, log_uniform, or normal without limits, not {given!r}")
    value = number(name, given)
    return uniform_between(value, value)


def _direction(label: str, given: Any) -> tuple[float, ...]:
    found = numbers(f"{label}: direction", given)
    if found.shape != (3,) or not np.isfinite(found).all() or not found.any():
        raise OptionError(f"{label}: direction must be (x, y, z), not all zero, got {given!r}")
    return tuple(map(float, found / np.linalg.norm(found)))


def _acts_on(one: Push, model: Model) -> tuple[int, int, int]:
    """Return the kind of a push, its first degree of freedom or its body, and its count of numbers."""
    if "[" in one.what:
        if one.force is not None or one.direction is not None:
            raise OptionError(f"{one.label}: forces and directions are for bodies; forces on joints: qfrc_applied")
        places = _dofs(one, model)
        return DOFS, int(places[0]), len(places)
    body = model.id("body", one.what)
    if one.force is not None:
        return FORCE, body, 3
    first = int(model.body_jntadr[body])
    if first < 0 or model.jnt_type[first] != FREE:
        raise OptionError(f"{one.label}: the body has no free joint; push 'qvel[JOINT]', or by a force")
    return BODY, int(model.jnt_dofadr[first]), 3


def _dofs(one: Push, model: Model) -> NDArray[np.int64]:
    name, index = split(one.what)
    if name != "qvel" or len(index) != 1:
        raise OptionError(f"{one.label}: expected a body, or degrees of freedom such as 'qvel[elbow]' or 'qvel[:3]'")
    try:
        place = place_number(index[0])
    except ValueError:
        place = joint_span(model, index[0], model.jnt_dofadr, model.nv)
    try:
        found = np.atleast_1d(np.arange(model.nv)[place])
    except IndexError:
        found = np.zeros(0, np.int64)
    if not found.size or (np.diff(found) != 1).any():
        raise OptionError(f"{one.label}: expected consecutive degrees of freedom among {model.nv}")
    return found


# ---------------------------------------------------------------- kernels


@kernel
def draw_number(e, e_real, laws, p, which, lane):
    """Draw the size of a push (`which` is SIZE) or the time to the next one (EVERY, s) for one lane."""
    low, high = laws[p, which, LOW], laws[p, which, HIGH]
    if laws[p, which, LOW_ROW] >= 0.0:
        low = float64(e_real[int(laws[p, which, LOW_ROW]), lane])
    if laws[p, which, HIGH_ROW] >= 0.0:
        high = float64(e_real[int(laws[p, which, HIGH_ROW]), lane])
    a, b, c, d = next_block(e, lane)
    if laws[p, which, LAW] == NORMAL:
        radius = math.sqrt(-2.0 * math.log(1.0 - unit(a, b)))
        return low + high * radius * math.cos(2.0 * math.pi * unit(c, d))
    if laws[p, which, LAW] == LOG_UNIFORM:
        return low * math.exp(math.log(high / low) * unit(a, b))
    return low + (high - low) * unit(a, b)


@kernel
def steps_between(e, e_real, laws, p, lane):
    """Draw the number of steps to the next push for one lane, at least one."""
    return max(1.0, math.floor(draw_number(e, e_real, laws, p, EVERY, lane) / lane_get(e.dt, lane) + 0.5))


@kernel
def start_push(e, e_real, rows, laws, directions, p, lane):
    """Draw a push for one lane and store it in e.pushed."""
    at = rows[p, AT]
    if rows[p, KIND] == DOFS:
        for k in range(at, at + rows[p, COUNT]):
            e.pushed[k] = lane_set(e.pushed[k], lane, draw_number(e, e_real, laws, p, SIZE, lane))
        return
    size = draw_number(e, e_real, laws, p, SIZE, lane)
    x, y, z = directions[p, 0], directions[p, 1], directions[p, 2]
    if rows[p, ANYWHERE]:
        a, b, _, _ = next_block(e, lane)
        angle = 2.0 * math.pi * unit(a, b)
        x, y, z = math.cos(angle), math.sin(angle), 0.0
    e.pushed[at] = lane_set(e.pushed[at], lane, size * x)
    e.pushed[at + 1] = lane_set(e.pushed[at + 1], lane, size * y)
    e.pushed[at + 2] = lane_set(e.pushed[at + 2], lane, size * z)


@kernel
def begin_pushes(e, e_real, rows, laws):
    """Start an episode without pushes and draw the times of the first ones."""
    for p in range(rows.shape[0]):
        for k in range(rows[p, AT], rows[p, AT] + rows[p, COUNT]):
            e.pushed[k] = 0.0 * e.steps
        e.push_left[p] = 0.0 * e.steps
        for lane in range(e_real.shape[1]):
            e.push_wait[p] = lane_set(e.push_wait[p], lane, steps_between(e, e_real, laws, p, lane))


@kernel
def next_pushes(e, e_real, rows, laws, directions):
    """Store the pushes that act in the coming step in e.pushed."""
    for p in range(rows.shape[0]):
        for lane in range(e_real.shape[1]):
            wait, left = lane_get(e.push_wait[p], lane), lane_get(e.push_left[p], lane) - 1.0
            if wait < 0.5:
                start_push(e, e_real, rows, laws, directions, p, lane)
                wait, left = steps_between(e, e_real, laws, p, lane), 1.0 * rows[p, LASTS]
            elif left < 0.5:
                left = 0.0
                for k in range(rows[p, AT], rows[p, AT] + rows[p, COUNT]):
                    e.pushed[k] = lane_set(e.pushed[k], lane, 0.0)
            e.push_wait[p] = lane_set(e.push_wait[p], lane, wait - 1.0)
            e.push_left[p] = lane_set(e.push_left[p], lane, left)


@kernel
def push(d, e, rows, nmemory):
    """Apply the pushes of the coming step."""
    for p in range(rows.shape[0]):
        at, target = rows[p, AT], rows[p, TARGET]
        if rows[p, KIND] == FORCE:
            for k in range(3):
                e.unpushed[at + k] = d.xfrc_applied[target, k]
                d.xfrc_applied[target, k] = d.xfrc_applied[target, k] + e.pushed[at + k]
        else:
            for k in range(rows[p, COUNT]):
                d.qvel[target + k] = d.qvel[target + k] + e.pushed[at + k]
            for k in range(nmemory):
                d.memory[k] = where(e.push_left[p] > 0.5, 0.0 * d.memory[k], d.memory[k])


@kernel
def release(d, e, rows):
    """Restore the applied forces from before the pushes, in reverse order."""
    for p in range(rows.shape[0] - 1, -1, -1):
        if rows[p, KIND] == FORCE:
            for k in range(3):
                d.xfrc_applied[rows[p, TARGET], k] = e.unpushed[rows[p, AT] + k]
