"""Error estimates of runs, from repeating them with finer steps."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.arguments import positive
from saltus.dynamics.tree.manifold import difference
from saltus.errors import DivergenceError, OptionError
from saltus.integrate.adaptive.memory import ERROR_BEFORE, STEP
from saltus.integrate.registry import find_integrator
from saltus.model.contact.thickness import geom_pairs
from saltus.number.kernels import entry
from saltus.record.energy_figure import exchanges
from saltus.record.table.certificate import Certificate, certify_from_runs, energy_drift
from saltus.record.table.error_bound import bound_from_difference, reach, rounding_level
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.contact import Hard
from saltus.simulate.laws.control import Controller
from saltus.simulate.running.blind_spots import (
    dense_phases,
    failed_steps,
    missed_events,
    other_order,
    pairs_that_could_pass,
)
from saltus.simulate.running.open_gaps import left_open

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable
    from saltus.record.trajectory import Trajectory

#: Makes a copy of the run's simulation with other values for the given options.
Again = Callable[..., Any]
FINER = 4  # factor by which repetitions of adaptive runs shorten the timestep, or the longest step
SHORTER = 1e-3  # length of the first step of such a repetition, relative to these
DENSER = 4  # factor by which such a repetition shortens steps over dense events
GOLDEN = 0.5 * (1.0 + 5.0**0.5)
# factors for the steps of two more runs if jumps are stepped over: none of their steps ends with a halved one
UNEVEN = (GOLDEN, 2.0 * GOLDEN)
PARTED = 0.1  # rad, or of a length's range: runs with this difference no longer show the same motion


@entry(name="difference")
def _difference(m, d, origins, targets, out):
    """Tangent differences [T, nv] of positions."""
    for t in range(len(out)):
        difference(m, origins[t], targets[t], out[t])


def state_difference(model, a: "TrajectoryTable", b: "TrajectoryTable", *, end: bool = False) -> np.ndarray:
    """Tangent differences [T, 2 nv] of two trajectories at the same times: positions, then velocities.

    `end`: add a row for the end states, if both have one beside their samples.
    """
    end = end and a.end is not None and b.end is not None
    qpos, qvel = ([_column(x, name, end) for x in (a, b)] for name in ("qpos", "qvel"))
    out = np.zeros((len(qpos[0]), model.nv))
    struct = model.struct()
    _difference(struct, struct, *map(np.ascontiguousarray, qpos), out)
    return np.hstack([out, qvel[1] - qvel[0]])


def _column(table: "TrajectoryTable", name: str, end: bool) -> np.ndarray:
    """A column of a recording; with `end`, followed by the value at the end."""
    column = getattr(table, name)
    return np.concatenate([column, [table.end[name]]]) if end and table.end is not None else column


def certify_run(
    engine: Engine,
    again: Again,
    start: np.ndarray,
    first: "Trajectory",
    duration: float,
    sample: float,
    control: Any,
    progress: Any,
) -> Certificate | None:
    """Repeat a run of an engine from the snapshot `start` with finer steps and compare.

    Fixed steps are halved and quartered, and if jumps may be stepped over, also divided by the golden ratio and twice
    the golden ratio, since halved steps end with whole ones and may err alike. Adaptive integrators repeat once, with a
    hundredth of the tolerance and in steps of at most a quarter of the timestep, or of the longest step if that is
    shorter: these detect, at other times, contacts, events and laws that a long step may have passed over. If events
    are located, phases of dense events are stepped over in shorter steps, too. A control function is called in each
    run; one with memory must restart when `sim.time` does. Returns None if interrupted.

    OptionError: `first` is no recording, or a time is not positive.
    """
    from saltus.record.trajectory import Trajectory

    if not isinstance(first, Trajectory):
        raise OptionError(f"trajectory must be a recording, got {type(first).__name__}")
    duration, sample = positive("duration", duration), positive("sample", sample)
    certify = _certify_adaptive if engine.integrator.adaptive else _certify_fixed
    try:
        certificate = certify(engine, again, start, first, duration, sample, control, progress)
    except DivergenceError as error:
        certificate = _without_error_bar(engine, first, f"a repetition {error}: no error bar")
    if certificate is None:
        return None
    certificate = _with_doubts(replace(certificate, exchanges=exchanges(first)), engine, first)
    return _with_held_controls(_with_laws_of_time(certificate, engine, control), engine, control)


def _with_doubts(certificate: Certificate, engine: Engine, first: "Trajectory") -> Certificate:
    """The certificate with doubts that the run itself raises."""
    unsolved, unproved = failed_steps(first)
    for reason in (*unproved, *pairs_that_could_pass(engine, first)):
        certificate = certificate.refuted(reason)
    if unsolved:
        certificate = replace(certificate.noted(*unsolved), ok=False)
    return certificate.noted(*dense_phases(first))


def _with_events(certificate: Certificate, engine: Engine, first: "Trajectory", last: "Trajectory") -> Certificate:
    """The certificate with doubts from comparing the events of the run and of its finest repetition."""
    for reason in missed_events(first, last, engine.timestep):
        certificate = certificate.refuted(reason)
    return certificate.noted(*other_order(first, last, engine.timestep))


def _levels(engine: Engine, first: "Trajectory") -> tuple[float, float]:
    """Size of the coordinates (rad, m), at least 1, and gaps that all runs leave open alike (rad, m)."""
    return float(np.max(np.abs(first.qpos), initial=1.0)), left_open(engine, first)


def _finer_law(engine: Engine, factor: int) -> dict[str, Any]:
    """Options of a repetition whose steps over dense events are `factor` times shorter."""
    if not (engine.locates_events and isinstance(engine.law, Hard)):
        return {}
    return {"contact": replace(engine.law, dense_step=engine.law.dense_step / factor)}


def _with_laws_of_time(certificate: Certificate, engine: Engine, control: Any) -> Certificate:
    """The certificate with a doubt about user laws that read the time: steps evaluate them only at points.

    The run and its repetitions may both have missed a feature shorter than the distance of these points.
    """
    laws = engine.laws_of_time(control)
    if not laws:
        return certificate
    named = f"{', '.join(laws)} depend{'s' if len(laws) == 1 else ''} on time"
    longest, finer = engine.longest_step(control), _bounded(engine, control)
    breaks = engine.step_bounds.breaks
    if not engine.integrator.adaptive:
        text = f"{named}, read at the stages of steps of {engine.timestep:.4g} s; shorter features may be missed"
    elif np.isfinite(longest):
        text = f"{named}; steps were at most max_step = {longest:.4g} s, those of the repetition {finer:.4g} s; "
        text += "shorter features may be missed" + ("" if breaks else "; declare jumps as breaks")
    elif breaks:
        text = f"{named}; steps end at the breaks that were declared, and may pass over features between these"
    else:
        text = f"{named} and max_step is infinite: steps may pass over features between them, in every repetition"
        return certificate.refuted(text)
    return certificate.noted(text)


def _with_held_controls(certificate: Certificate, engine: Engine, control: Any) -> Certificate:
    """The certificate with a note on controls that are set once a step, if they follow a user law."""
    own = control if isinstance(control, Controller) else engine.control
    if callable(control) and not isinstance(control, Controller):
        name, verb = "the control function", "is called"
    elif own is not None and own.hold:
        name, verb = str(own.law.py_func.__name__), "acts"
    else:
        return certificate
    if not engine.integrator.adaptive:
        return certificate.noted(f"{name} {verb} once a step in each of the runs; shorter features may be missed")
    text = (
        f"{name} {verb} once a timestep of {engine.timestep:.4g} s, in the run and its repetition: the error does not "
    )
    return certificate.noted(text + "include that controls are held in between; shorter features may be missed")


def _bounded(engine: Engine, control: Any) -> float:
    """The longest step (s) of a repetition of adaptive steps."""
    return min(engine.longest_step(control), engine.timestep) / FINER


def _certify_fixed(engine, again, start, first, duration, sample, control, progress) -> Certificate | None:
    halves, longest = [first], min(engine.timestep, duration)  # a run shorter than a timestep is a single shorter step
    for factor in (2, 4):
        steps = _refined(control, factor)
        changes = {"timestep": longest / factor, **_finer_law(engine, factor)}
        halves.append(_repeat(again, start, duration, sample, steps, progress, **changes))
        if _interrupted(halves[-1]):
            return None
    others = []
    for factor in UNEVEN if _steps_over_jumps(engine, control) else ():
        changes = {"timestep": longest / factor, **_finer_law(engine, factor)}
        others.append(_repeat(again, start, duration, sample, control, progress, **changes))
        if _interrupted(others[-1]):
            return None
    if why := _ended_apart([*halves, *others]):
        return _without_error_bar(engine, first, why)
    differences = [state_difference(engine.model, a, b, end=True) for a, b in pairwise(halves)]
    size, floor = _levels(engine, first)
    certificate = certify_from_runs(
        engine.integrator.order,
        _column(first, "time", len(differences[0]) > len(first)),
        *differences,
        timestep=longest,
        run=0,
        nv=engine.model.nv,
        energy=first.energy,
        scale=size,
        floor=floor,
        others=[state_difference(engine.model, first, other, end=True) for other in others],
    )
    certificate = _at_samples(certificate, len(first))
    if certificate.ok and _parted(engine, first, differences[1]):
        notes = ["runs with half and a quarter of the step separate: the stated error is a lower bound"]
        certificate = replace(certificate, warnings=[]).refuted(*notes)
    return _with_events(certificate, engine, first, halves[-1])


def _steps_over_jumps(engine: Engine, control: Any) -> bool:
    """Whether steps pass over jumps without locating them: of velocities in time stepping, or of forces in time laws.

    False if controls are given for each step, because other steps have no controls.
    """
    if not callable(control) and not isinstance(control, Controller) and np.ndim(control) == 2:
        return False
    if callable(control) or engine.laws_of_time(control):
        return True
    m = engine.model.mj_model
    dry = m.dof_frictionloss.any() or m.tendon_frictionloss.any()
    limited = m.jnt_limited.any() or m.tendon_limited.any()
    meets = dry or limited or len(geom_pairs(m, engine.m)) > 0
    return engine.integrator.kind == "time-stepping" and bool(meets)


def _at_samples(certificate: Certificate, samples: int) -> Certificate:
    """The certificate of a run with `samples` samples, whose errors may have one more row for the end."""
    error, bound = certificate.error, certificate.bound
    last = float(bound[-1]) if len(bound) else float("nan")
    return replace(certificate, error=error[:samples], bound=bound[:samples], end_bound=last)


def _ended_apart(runs) -> str:
    """Reason why runs cannot be compared if an event ended some of them at another time; "" if they can."""
    if len({len(run) for run in runs}) == 1 and all(np.allclose(run.time, runs[0].time, 1e-9, 1e-9) for run in runs):
        return ""
    return "an event ended the run and its repetitions at different times: no error bar"


def _parted(engine, trajectory, differences) -> bool:
    """Whether tangent differences [T, 2 nv] are so large that the runs show different motions."""
    scale = np.ones(engine.model.nv)
    for i, unit in enumerate(engine.model.coordinate_units()[1]):
        if unit == "m/s":
            j = engine.model.dof_jntid[i]
            column = trajectory.qpos[:, engine.model.jnt_qposadr[j] + i - engine.model.jnt_dofadr[j]]
            scale[i] = max(1.0, np.ptp(column))
    return bool(np.any(np.abs(differences[:, : engine.model.nv]) > PARTED * scale))


def _interrupted(trajectory) -> bool:
    return "interrupted_at" in trajectory.attrs


def _without_error_bar(engine, first, reason) -> Certificate:
    return Certificate(
        order=engine.integrator.order,
        observed_order=float("nan"),
        error=np.full(len(first), np.nan),
        bound=np.full(len(first), np.inf),
        final_error=float("nan"),
        energy_drift=energy_drift(first.energy),
        timesteps=(engine.timestep, engine.timestep / 2, engine.timestep / 4),
        timestep=engine.timestep,
        warnings=[reason],
        ok=False,
    )


def _repeat(again, start, duration, sample, control, progress, *, first_step=0.0, **changes) -> "Trajectory":
    """Repeat the run with changed options; `first_step`: length of the first adaptive step (s), 0 to leave it free."""
    other = again(**changes)
    other.restore(start)
    if first_step > 0.0:
        memory = other.engine.d.views["memory"]
        memory[STEP] = min(first_step, memory[STEP]) if memory[STEP] > 0.0 else first_step
        memory[ERROR_BEFORE] = max(memory[ERROR_BEFORE], 1e-4)
    return other.run(duration, sample, control, progress)


def _refined(control, factor):
    """Controls with one row per step repeated for steps `factor` times as fine; other controls unchanged."""
    if control is None or callable(control) or np.ndim(control) < 2:
        return control
    return np.repeat(np.asarray(control, float), factor, axis=0)


def _of_tolerance(engine, factor):
    """The integrator with a tolerance `factor` times smaller."""
    relative, absolute = engine.integrator.parameters[1]
    return find_integrator(engine.integrator, "", (max(relative / factor, 1e-14), max(absolute / factor, 1e-16)))


def _certify_adaptive(engine, again, start, first, duration, sample, control, progress) -> Certificate | None:
    longest = _bounded(engine, control)
    # a first step of the same length would again miss a force that sets in at the start of the run
    changes = {"max_step": longest, "first_step": SHORTER * longest, **_finer_law(engine, DENSER)}
    try:
        part, finer = "hundredth", _of_tolerance(engine, 100)
        second = _repeat(again, start, duration, sample, control, progress, integrator=finer, **changes)
    except DivergenceError:  # steps can become too small where forces jump
        part, finer = "tenth", _of_tolerance(engine, 10)
        second = _repeat(again, start, duration, sample, control, progress, integrator=finer, **changes)
    if _interrupted(second):
        return None
    if why := _ended_apart([first, second]):
        return _without_error_bar(engine, first, why)
    differences = state_difference(engine.model, first, second, end=True)
    error = abs(differences[:, : engine.model.nv]).max(axis=1, initial=0.0)
    times = _column(first, "time", len(error) > len(first))
    size, floor = _levels(engine, first)
    rounding = rounding_level(size, duration / longest)
    certificate = Certificate(
        order=engine.integrator.order,
        observed_order=float("nan"),
        error=error,
        final_error=float(error[-1]) if len(error) else float("nan"),
        energy_drift=energy_drift(first.energy),
        timesteps=(float("nan"), float("nan"), float("nan")),
        timestep=float("nan"),
        bound=bound_from_difference(error, rounding + floor, reach(times, engine.timestep)),
        rounding=rounding,
    )
    certificate = _at_samples(certificate, len(first))
    how = f"a {part} of the tolerance and steps of at most {longest:.4g} s"
    if _parted(engine, first, differences):
        certificate = certificate.refuted(f"the run and one with {how} separate: the stated error is a lower bound")
    else:
        certificate = certificate.noted(f"adaptive steps: the error is the difference to a run with {how}")
    return _with_events(certificate, engine, first, second)
