"""Error estimates of runs, from repeating them with finer steps."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.dynamics.tree.manifold import difference
from saltus.errors import DivergenceError
from saltus.integrate.registry import find_integrator
from saltus.number.kernels import entry
from saltus.record.table.certificate import Certificate, certify_from_runs, energy_drift
from saltus.record.table.energy_figure import exchanges
from saltus.simulate.engine.engine import Engine

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable
    from saltus.record.trajectory import Trajectory

#: Makes a simulation like the one whose run it is, but for the options that it is given.
Again = Callable[..., Any]
FINER = 4  # times shorter is the longest step of a repetition
PARTED = 0.1  # rad, or of a length's range: runs with this difference no longer show the same motion


@entry(name="difference")
def _difference(m, d, origins, targets, out):
    """Tangent differences [T, nv] of positions."""
    for t in range(len(out)):
        difference(m, origins[t], targets[t], out[t])


def state_difference(model, a: "TrajectoryTable", b: "TrajectoryTable", *, end: bool = False) -> np.ndarray:
    """Tangent differences [T, 2 nv] of two trajectories at the same times: positions, then velocities.

    `end`: with a row more for the states at the end, where both have one beside their samples.
    """
    end = end and a.end is not None and b.end is not None
    qpos, qvel = ([_column(x, name, end) for x in (a, b)] for name in ("qpos", "qvel"))
    out = np.zeros((len(qpos[0]), model.nv))
    struct = model.struct()
    _difference(struct, struct, *map(np.ascontiguousarray, qpos), out)
    return np.hstack([out, qvel[1] - qvel[0]])


def _column(table: "TrajectoryTable", name: str, end: bool) -> np.ndarray:
    """A column of a recording, with its end."""
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
    """Repeat a run of an engine from the snapshot `start` with half and a quarter of the step and compare.

    Adaptive integrators repeat with a hundredth of the tolerance, and a quarter of the longest step where there is one;
    the difference is the error bar. A control function
    is called in each run; one that remembers must begin anew when `sim.time` does. Returns None if interrupted.
    """
    certify = _certify_adaptive if engine.integrator.adaptive else _certify_fixed
    try:
        certificate = certify(engine, again, start, first, duration, sample, control, progress)
    except DivergenceError as error:
        certificate = _without_error_bar(engine, first, f"a repetition {error}: no error bar")
    if certificate is None:
        return None
    return _with_laws_of_time(replace(certificate, exchanges=exchanges(first)), engine, control)


def _with_laws_of_time(certificate: Certificate, engine: Engine, control: Any) -> Certificate:
    """The certificate with what it can say of a user's laws that read the time, between the points that steps look at.

    What is shorter than these are apart, the run and its repetitions may have missed alike.
    """
    laws = engine.laws_of_time(control)
    if not laws:
        return certificate
    named = f"{', '.join(laws)} depend{'s' if len(laws) == 1 else ''} on time"
    longest = engine.longest_step(control)
    breaks = engine.step_bounds.breaks
    if not engine.integrator.adaptive:
        text = f"{named}, read at the stages of steps of {engine.timestep:.4g} s; what is shorter may be missed"
    elif np.isfinite(longest):
        text = (
            f"{named}; steps were at most max_step = {longest:.4g} s, those of the repetition {longest / FINER:.4g} s; "
        )
        text += "what is shorter may be missed" + ("" if breaks else "; declare jumps as breaks")
    elif breaks:
        text = f"{named}; steps end at the breaks that were declared, and may pass over what happens between these"
    else:
        text = f"{named} and max_step is infinite: steps may pass over what happens between them, in every repetition"
        return replace(certificate, ok=False, warnings=[*certificate.warnings, text])
    return replace(certificate, warnings=[*certificate.warnings, text])


def _certify_fixed(engine, again, start, first, duration, sample, control, progress) -> Certificate | None:
    halves = [first]
    for factor in (2, 4):
        steps = _refined(control, factor)
        halves.append(_repeat(again, start, duration, sample, steps, progress, timestep=engine.timestep / factor))
        if _interrupted(halves[-1]):
            return None
    differences = [state_difference(engine.model, a, b, end=True) for a, b in pairwise(halves)]
    certificate = certify_from_runs(
        engine.integrator.order,
        _column(first, "time", len(differences[0]) > len(first)),
        *differences,
        timestep=engine.timestep,
        run=0,
        nv=engine.model.nv,
        energy=first.energy,
    )
    certificate = replace(certificate, error=certificate.error[: len(first)])
    if certificate.ok and _parted(engine, first, differences[1]):
        notes = ["runs with half and a quarter of the step separate: the stated error is a lower bound"]
        return replace(certificate, ok=False, warnings=notes)
    return certificate


def _parted(engine, trajectory, differences) -> bool:
    """Whether tangent differences [T, 2 nv] mean another motion than the trajectory's."""
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
        final_error=float("nan"),
        energy_drift=energy_drift(first.energy),
        timesteps=(engine.timestep, engine.timestep / 2, engine.timestep / 4),
        timestep=engine.timestep,
        warnings=[reason],
        ok=False,
    )


def _repeat(again, start, duration, sample, control, progress, **changes) -> "Trajectory":
    other = again(**changes)
    other.restore(start)
    return other.run(duration, sample, control, progress)


def _refined(control, factor):
    """An array of one row a step, for steps `factor` times as fine."""
    if control is None or callable(control) or np.ndim(control) < 2:
        return control
    return np.repeat(np.asarray(control, float), factor, axis=0)


def _certify_adaptive(engine, again, start, first, duration, sample, control, progress) -> Certificate | None:
    relative, absolute = engine.integrator.parameters[1]
    finer = find_integrator(engine.integrator, "", (max(relative / 100, 1e-14), max(absolute / 100, 1e-16)))
    longest = engine.longest_step(control)
    bound = {"max_step": longest / FINER} if np.isfinite(longest) else {}
    second = _repeat(again, start, duration, sample, control, progress, integrator=finer, **bound)
    if _interrupted(second):
        return None
    differences = state_difference(engine.model, first, second, end=True)
    error = abs(differences[:, : engine.model.nv]).max(axis=1, initial=0.0)
    notes = ["adaptive steps: the error is the difference to a run with a hundredth of the tolerance"]
    same = not _parted(engine, first, differences)
    if not same:
        notes = ["the run and one with a hundredth of the tolerance separate: the stated error is a lower bound"]
    return Certificate(
        order=engine.integrator.order,
        observed_order=float("nan"),
        error=error[: len(first)],
        final_error=float(error[-1]),
        energy_drift=energy_drift(first.energy),
        timesteps=(float("nan"), float("nan"), float("nan")),
        timestep=float("nan"),
        warnings=notes,
        ok=same,
    )
