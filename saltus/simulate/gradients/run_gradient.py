"""The gradient of a loss of a run by its start, controls and parameters, exact to rounding, in forward mode.

The sensitivities S of the state follow the run from step to step, S' = A S + P, with the derivatives of each step (see
`saltus.simulate.analysis.linearize`); through located events and adaptive steps dual numbers run along (see
`saltus.simulate.analysis.run_tangents`). The loss is evaluated once, on dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import positive, words
from saltus.errors import DivergenceError, OptionError
from saltus.model.event_enums import GAP, IMPACT, ITEM, KIND, KINDS, NORMAL, SPEED, TANGENT2, TIME
from saltus.number.kinds import NTANGENT
from saltus.simulate.analysis.linearize import Linearization, linearize
from saltus.simulate.analysis.run_tangents import RunTangents, check_tangents
from saltus.simulate.engine.events.located import mode_names
from saltus.simulate.engine.snapshot import peeking
from saltus.simulate.gradients.dual_number import DualNumber, dual_array
from saltus.solve.status import UNSOLVED

if TYPE_CHECKING:
    from saltus.simulate.engine.engine import Engine
    from saltus.simulate.simulation import Simulation

Loss = Callable[["DifferentiatedRun"], "DualNumber | np.object_ | float"]
STATE: tuple[str, ...] = ("qpos", "qvel", "act", "ctrl")  # in the order of directions
WHOLE = 1e-9  # of a step: a duration this close to a whole number of steps has it


@dataclass(frozen=True, eq=False)
class DifferentiatedEvent:
    """An event of a run with derivatives. NumPy's functions take its numbers.

    time: s. kind, name, other: as in `Trajectory.events`. gap (m), velocity (m/s): along the normal, before.
    impulse [3]: along the normal and two tangents, N s; of impacts.
    """

    time: DualNumber
    kind: str
    name: str
    other: str
    gap: DualNumber
    velocity: DualNumber
    impulse: NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class DifferentiatedRun:
    """The samples of a run, one a step, as arrays of numbers with derivatives, for a loss; NumPy's functions take them.

    time [T]: s, plain numbers. qpos [T, nq], qvel [T, nv], act [T, na], ctrl [nu]: as of `Simulation`.
    events: those located, in order of time.
    """

    time: NDArray[np.float64]
    qpos: NDArray[np.object_]
    qvel: NDArray[np.object_]
    act: NDArray[np.object_]
    ctrl: NDArray[np.object_]
    events: tuple[DifferentiatedEvent, ...]


class Gradient(Mapping[str, "float | NDArray[np.float64]"]):
    """A gradient by name: gradient["qpos"] [nv] (along the axes of qvel), gradient["body_mass[link]"] a number.

    zero: names by which it is exactly zero, since the loss does not feel them here. condition: the largest factor by
    which the run grows a change of what it is differentiated by, over all samples; times the rounding of a step (about
    1e-16) it bounds the relative accuracy, and in chaotic motion it grows exponentially.
    """

    def __init__(self, parts: dict[str, float | NDArray[np.float64]], condition: float):
        self._parts = parts
        self.condition = condition
        self.zero = tuple(name for name, value in parts.items() if np.size(value) and not np.any(value))

    def __getitem__(self, name: str) -> float | NDArray[np.float64]:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self.items()]
        lines += [f"zero here: {', '.join(self.zero)}"] if self.zero else []
        return "\n".join([*lines, f"condition: {self.condition:.3g}"])


@dataclass(eq=False)
class _Samples:
    """Values and tangents [..., K] of a run's samples, and rows of its events with tangents [K, fields]."""

    time: list[float]
    values: dict[str, list[NDArray[np.float64]]]
    tangents: dict[str, list[NDArray[np.float64]]]
    rows: list[NDArray[np.float64]]
    row_tangents: list[NDArray[np.float64]]


def run_gradient(
    sim: Simulation, duration: float, loss: Loss, wrt: Sequence[str] | str = STATE[:2]
) -> tuple[float, Gradient]:
    """Value and gradient of a loss of the run of `duration` s (whole steps) from the present state, which stays.

    `loss`: f(run) -> number, of the samples and events of a `DifferentiatedRun`, by arithmetic and NumPy's functions.
    `wrt`: "qpos" (along the axes of qvel), "qvel", "act" at the start; "ctrl", held; under soft contact with fixed
    steps also parameters as of `Simulation.linearize`, "body_mass[link]", "PID.kp[motor]".

    Time grows with the number of directions. Through located events the times of these count (saltation), also where a
    sample coincides with one.

    Raises:
        OptionError: a name or duration is wrong; a parameter, or the motion, has no derivatives.
        EventError: the motion has no derivatives at an event (grazing), or events are too dense to be located.
        DivergenceError: the motion diverges.
    """
    engine = getattr(sim, "engine", None)
    if engine is None:
        raise OptionError(f"sim must be a saltus.Simulation, got a {type(sim).__name__}")
    names = words("wrt", wrt)
    steps = positive("duration", duration) / engine.timestep
    if abs(steps - round(steps)) > WHOLE * steps or round(steps) < 1:
        raise OptionError(f"duration must be a whole number of timesteps ({engine.timestep:g} s), got {duration:g} s")
    nv, na = engine.model.nv, engine.m.nact
    sizes: dict[str, int] = dict(zip(STATE, (nv, nv, na, engine.model.nu), strict=True))
    parameters = [name for name in names if name not in STATE]
    located = engine.hard is not None or engine.integrator.adaptive
    if located and parameters:
        raise OptionError(
            f"run_gradient: derivatives by {parameters[0]} are those of fixed steps under soft contact; here wrt may "
            f"be {', '.join(STATE)}"
        )
    if located:
        samples, groups = _by_duals(engine, round(steps), sizes, names)
    else:
        samples, groups = _by_steps(engine, round(steps), sizes, names, parameters)
    count = sum(len(group) for group in groups.values())
    found = _evaluated(loss, _run(engine, samples, count))
    value, tangent = (found.value, found.tangent) if isinstance(found, DualNumber) else (float(found), np.zeros(count))
    check_tangents(tangent)
    parts: dict[str, float | NDArray[np.float64]] = {}
    for name in names:
        part = tangent[groups[name]]
        parts[name] = float(part[0]) if name.endswith("]") and len(part) == 1 else part
    stacked = [np.concatenate(x) for x in zip(samples.tangents["qpos"], samples.tangents["qvel"], strict=True)]
    condition = max(float(np.linalg.norm(s, 2)) for s in stacked) if count else 0.0
    return value, Gradient(parts, condition)


def _evaluated(loss: Loss, run: DifferentiatedRun) -> Any:
    """The loss of a run; OptionError for what is no number, or goes through functions without derivatives."""
    try:
        found = loss(run)
    except (TypeError, AttributeError) as error:
        raise OptionError(f"loss: {error}; it must consist of arithmetic and NumPy's functions of numbers") from error
    if isinstance(found, np.ndarray) and found.size == 1:
        found = found.item()
    if not isinstance(found, DualNumber) and not np.isscalar(found):
        raise OptionError(f"loss must return one number, not {type(found).__name__}")
    return found


def _run(engine: Engine, samples: _Samples, count: int) -> DifferentiatedRun:
    """The samples as arrays of dual numbers."""
    arrays = {
        name: dual_array(np.array(values), np.array(samples.tangents[name]).reshape(*np.shape(values), count))
        for name, values in samples.values.items()
    }
    ctrl = arrays.pop("ctrl")[0]
    pairs = [*mode_names(engine.model, engine.m), *((name, "") for name in engine.user_events.names), ("", "")]
    events = []
    for row, tangents in zip(samples.rows, samples.row_tangents, strict=True):
        numbers = dual_array(row, tangents.T)
        name, other = pairs[int(row[ITEM])]
        impulse = numbers[NORMAL : TANGENT2 + 1] if row[KIND] == IMPACT else np.full(3, np.nan)
        kind = KINDS[int(row[KIND])]
        events.append(DifferentiatedEvent(numbers[TIME], kind, name, other, numbers[GAP], numbers[SPEED], impulse))
    return DifferentiatedRun(np.array(samples.time), **arrays, ctrl=ctrl, events=tuple(events))


# ---------------------------------------------------------------- through located events and adaptive steps


def _by_duals(
    engine: Engine, steps: int, sizes: Mapping[str, int], names: Sequence[str]
) -> tuple[_Samples, dict[str, NDArray[np.int64]]]:
    """Samples by dual numbers that run along, and the places of the directions of each name."""
    if "run_tangents" not in engine.memo:
        engine.memo["run_tangents"] = RunTangents(engine)
    running: RunTangents = engine.memo["run_tangents"]
    starts = dict(zip(STATE, np.cumsum([0, *sizes.values()]), strict=False))
    wanted = np.concatenate([np.arange(starts[n], starts[n] + sizes[n]) for n in names] or [np.zeros(0)]).astype(int)
    whole: list[_Samples] = []
    for _ in running.columns({int(k) // NTANGENT for k in wanted} or {0}):
        samples = _Samples([], {name: [] for name in STATE}, {name: [] for name in STATE}, [], [])
        for step in range(steps + 1):
            if step:
                for row in running.advance(1):
                    samples.rows.append(row[0])
                    samples.row_tangents.append(row[1:])
            samples.time.append(float(running.values("time")))
            for name in STATE:
                samples.values[name].append(running.values(name)[: _size(engine, name)])
                samples.tangents[name].append(running.tangents(name)[: _size(engine, name)])
        whole.append(samples)
    groups = sorted({int(k) // NTANGENT for k in wanted} or {0})
    order = np.concatenate([NTANGENT * g + np.arange(NTANGENT) for g in groups])
    chosen = np.searchsorted(order, wanted)
    first = whole[0]
    for name in STATE:
        parts = [np.array(s.tangents[name]) for s in whole]
        first.tangents[name] = list(np.concatenate(parts, axis=-1)[..., chosen])
    rows = [np.concatenate(r, axis=0)[chosen] for r in zip(*(s.row_tangents for s in whole), strict=True)]
    first.row_tangents = rows
    places = np.cumsum([0, *(sizes[n] for n in names)])
    return first, {n: np.arange(a, b) for n, a, b in zip(names, places[:-1], places[1:], strict=True)}


def _size(engine: Engine, name: str) -> int:
    return {"qpos": engine.model.nq, "qvel": engine.model.nv, "act": engine.m.nact, "ctrl": engine.model.nu}[name]


# ---------------------------------------------------------------- by the derivatives of each fixed step


def _by_steps(
    engine: Engine, steps: int, sizes: Mapping[str, int], names: Sequence[str], parameters: Sequence[str]
) -> tuple[_Samples, dict[str, NDArray[np.int64]]]:
    """Samples by S' = A S + B U + P, and the places of the directions of each name."""
    states, nv = 2 * engine.model.nv + engine.m.nact, engine.model.nv
    starts = dict(zip(STATE, np.cumsum([0, *sizes.values()]), strict=False))
    samples = _Samples([], {name: [] for name in STATE}, {name: [] for name in STATE}, [], [])
    with peeking(engine):
        counts, S, U, P = _seeds(engine, names, parameters, sizes, starts, states)
        for step in range(steps + 1):
            _keep(samples, engine, S, U, nv)
            if step == steps:
                break
            A, B, by_parameters = _step(engine, parameters, states)
            S = A @ S + B @ U
            S[:, P] += by_parameters
            engine.prepare()
            _, status = engine.advance(1, engine.timestep)
            if status > UNSOLVED:
                raise DivergenceError(engine.time)
    places = np.cumsum([0, *counts])
    return samples, {n: np.arange(a, b) for n, a, b in zip(names, places[:-1], places[1:], strict=True)}


def _step(
    engine: Engine, parameters: Sequence[str], states: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """A, B and P of the next step; P [states, 0] without parameters."""
    found = linearize(engine, parameters or None)
    if isinstance(found, Linearization):
        return found.A, found.B, found.P
    return *found, np.zeros((states, 0))


def _seeds(
    engine: Engine, names: Sequence[str], parameters: Sequence[str], sizes: Mapping[str, int], starts: Any, states: int
) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Numbers of directions by name; S [states, K] and U [nu, K] at the start; columns of the parameters."""
    found = {name: _step(engine, [name], states)[2].shape[1] for name in parameters}
    counts = [found[name] if name in found else sizes[name] for name in names]
    S, U, of_parameters, place = np.zeros((states, sum(counts))), np.zeros((engine.model.nu, sum(counts))), [], 0
    for name, count in zip(names, counts, strict=True):
        here = np.arange(place, place + count)
        if name in found:
            of_parameters += list(here)
        elif name == "ctrl":
            U[np.arange(count), here] = 1.0
        else:
            S[starts[name] + np.arange(count), here] = 1.0
        place += count
    return counts, S, U, np.array(of_parameters, int)


def _keep(samples: _Samples, engine: Engine, S: NDArray[Any], U: NDArray[Any], nv: int) -> None:
    """Append the present state with its sensitivities."""
    samples.time.append(engine.time)
    qpos = engine.qpos.copy()
    tangents = along_manifold(engine.model.mujoco, qpos, S[:nv]), S[nv : 2 * nv], S[2 * nv :], U
    values = qpos, engine.qvel.copy(), engine.act.copy(), engine.ctrl.copy()
    for name, value, tangent in zip(STATE, values, tangents, strict=True):
        samples.values[name].append(value)
        samples.tangents[name].append(np.array(tangent))


def along_manifold(m: Any, qpos: NDArray[np.float64], S: NDArray[np.float64]) -> NDArray[np.float64]:
    """Changes of qpos [nq, K] from those along the axes of qvel [nv, K]: quaternions change by ½ q ∘ (0, ω)."""
    out = np.zeros((m.nq, S.shape[1]))
    for j in range(m.njnt):
        a, i, kind = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), int(m.jnt_type[j])
        if kind == 0:
            out[a : a + 3] = S[i : i + 3]
        if kind <= 1:
            a, i = (a + 3, i + 3) if kind == 0 else (a, i)
            w, x, y, z = qpos[a : a + 4]
            rate = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
            out[a : a + 4] = 0.5 * rate @ S[i : i + 3]
        else:
            out[a] = S[i]
    return out
