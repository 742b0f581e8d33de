"""Identification of a model's parameters from recorded motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import flag, mapping, number, numbers, positive, whole_number, words
from saltus.control.tangent_states import State
from saltus.errors import ModelError, OptionError, warn
from saltus.integrate.registry import IntegratorChoice
from saltus.inverse.identification.force_identification import Sought, identified_by_forces
from saltus.inverse.identification.identification import Identification
from saltus.inverse.identification.least_squares import Fit, Problem, Reduced, WindowSlopes
from saltus.inverse.identification.prediction import Predictor
from saltus.inverse.identification.recorded_motion import (
    RecordedMotion,
    Recordings,
    Window,
    halved,
    motions_of,
    windows_of,
)
from saltus.inverse.identification.sensor_channels import SensorChannels, sensor_channels
from saltus.inverse.identification.uncertainty import known, refuse_silent
from saltus.model.field_overrides import field_of, value_of
from saltus.model.load import ModelSource, load
from saltus.simulate.laws.contact import ContactChoice

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]
SLIGHT = 1e-3  # of the way to a bound: a change that the model must take
HALVINGS, EARLY = 3, 10  # of the windows at first, and iterations over shorter windows
ROUGH = 1e-2  # relative: when residuals shrink by less in an iteration, shorter windows have done their work


def identify(
    model: ModelSource,
    recordings: Recordings,
    parameters: Mapping[str, Sequence[float]],
    *,
    data: Literal["motion", "forces"] = "motion",
    measured: Sequence[str] | str = (),
    window: float | None = None,
    estimate_start: bool = True,
    holdout: float = 0.2,
    integrator: IntegratorChoice = None,
    contact: ContactChoice = "soft",
    timestep: float | None = None,
    cutoff: float | None = None,
    iterations: int = 50,
) -> Identification:
    """Parameters with which a model moves as recorded, by maximum likelihood.

    `data="motion"` predicts the motion in windows, with exact sensitivities and starts of their own: multiple shooting.
    `data="forces"` compares measured joint forces with those of inverse dynamics, in which masses, dampers and springs
    are linear; dry friction opposes the velocity, and contacts and limits do not act, but wrenches do.

    Args:
        model: as `saltus.load` takes it.
        recordings: one or several `saltus.Trajectory`, or mappings with time [T] (s), qpos [T, nq], ctrl [T, nu] (held
            from sample to sample), act [T, na] where actuators have states, qvel [T, nv] if it was measured, and
            sensordata [T, nsensordata] where sensors count. For forces: time, qpos, qfrc [T, nv] (N, N m; 0 on free
            joints) and, if bodies are touched, wrenches as of `saltus.inverse_dynamics`; or a run with the signal
            qfrc_actuator.
        parameters: bounds (low, high) by name, each of one number: "body_mass[hand]", "dof_damping[elbow]",
            "opt.gravity[2]", "actuator_delay[motor]" (s). The search starts from the model's value, brought within the
            bounds.
        data: what is fitted, "motion" or "forces".
        measured: degrees of freedom and sensors that count, by name; by default all degrees of freedom. With sensors
            alone, qpos only says where windows start.
        window: length of the predictions (s), by default 1 s.
        estimate_start: whether the start of each window is estimated along.
        holdout: share of the data that is not fitted, but predicted.
        integrator: of the simulation, of fixed steps.
        contact: of the simulation, soft.
        timestep: of the simulation (s).
        cutoff: Hz, of a filter of positions and forces without delay, as of `saltus.inverse_dynamics`.
        iterations: most of them.

    Raises:
        OptionError: a name, bound or recording is wrong; an option does not belong to the kind of data; nothing depends
            on a parameter at all, or it has no derivative by it.
    """
    from saltus.simulate.simulation import Simulation

    found = load(model)
    if not found.nv:
        raise OptionError("identify: the model has no joints, so that no motion depends on its parameters")
    names, low, high, first = _bounds(found, mapping("parameters", parameters))
    _check_changes(found, names, first, (low, high))
    length = None if window is None else positive("window", window)
    estimated, most = flag("estimate_start", estimate_start), whole_number("iterations", iterations, least=1)
    share = _share(holdout)
    options: dict[str, Any] = {"integrator": integrator, "contact": contact, "timestep": timestep}
    options = {name: value for name, value in options.items() if value is not None}
    limit = _kind(data, cutoff, [*options, *(["window"] if window is not None else ())], estimated, contact)
    if data == "forces":
        sought = Sought(names, low, high, first, _chosen(found, measured))
        return identified_by_forces(found, recordings, sought, limit, share, most)
    dofs, sensors = _split_names(found, measured)
    motions = motions_of(found, recordings, bool(len(sensors.columns)))
    trial = Simulation(found, **options)
    if trial.engine.hard is not None or trial.integrator.adaptive:
        raise OptionError("identify: choose a fixed-step integrator and soft contact, for exact sensitivities")
    if "timestep" not in options:
        options["timestep"] = trial.timestep
    channels = np.zeros(0, np.int64) if len(sensors.columns) and not dofs else _channels(found, motions, dofs)
    predictor = Predictor(found, names, channels, options, sensors)
    for motion in motions:
        predictor.check_delays(motion, low, high)
    windows = windows_of(motions, length, predictor.delays.longest(high))
    fitted, kept = _split(windows, share)
    problem = Problem(predictor, fitted, low, high, estimated)
    fit, linear, converged, done = _search(problem, first, most)
    rollouts = predictor.simulated / sum((w.last - w.first) * w.motion.interval for w in fitted)
    unknowns = len(names) + (len(problem.windows) * 2 * found.nv if estimated else 0)
    rows = problem.samples * len(fit.sigma)
    share_known = max(1.0 - unknowns / rows, 1.0 / rows)  # σ of the residuals is below that of the noise
    covariance, unidentified = known(linear.R, high - low, share_known, names)
    if not converged:
        warn(f"identify: not converged after {done} iterations")
    labels = [*_labels(found, predictor.channels), *sensors.labels]
    outside = Problem(predictor, kept, low, high, estimated).settled(fit.values) if kept else None
    at_bound = tuple(n for n, v, a, b in zip(names, fit.values, low, high, strict=True) if v in (a, b))
    return Identification(
        names=names,
        values=dict(zip(names, fit.values.tolist(), strict=True)),
        covariance=covariance,
        unidentified=unidentified,
        noise=dict(zip(labels, fit.sigma.tolist(), strict=True)),
        holdout={} if outside is None else dict(zip(labels, outside.sigma.tolist(), strict=True)),
        converged=converged,
        iterations=done,
        at_bound=at_bound,
        model=predictor.model_with(fit.values),
        start=dict(zip(names, first.tolist(), strict=True)),
        rollouts=rollouts,
        fitted=_curves(problem, fit, labels),
    )


# ------------------------------------------------------------ what is asked for


def _share(holdout: Any) -> float:
    """The share of the data that is not fitted."""
    share = numbers("holdout", holdout)
    if share.shape or not 0 <= share < 1:
        raise OptionError(f"identify: holdout must be in [0, 1), got {holdout!r}")
    return float(share)


def _kind(data: Any, cutoff: Any, given: list[str], estimated: bool, contact: Any) -> float | None:
    """The cutoff (Hz), of forces alone; OptionError for options that do not belong to the kind of data."""
    if not isinstance(data, str) or data not in ("motion", "forces"):
        raise OptionError.unknown("data", data, ("motion", "forces"))
    if data == "motion":
        if cutoff is not None:
            raise OptionError("identify: cutoff belongs to data='forces'; motion is fitted as it was recorded")
        return None
    wrong = [name for name in given if name != "contact"] + ([] if estimated else ["estimate_start"])
    wrong += [] if isinstance(contact, str) and contact == "soft" else ["contact"]
    if wrong:
        raise OptionError(f"identify: {', '.join(wrong)}: options of data='motion', of which data='forces' needs none")
    if cutoff is None:
        return None
    limit = number("cutoff", cutoff)
    if not (limit > 0 and np.isfinite(limit)):
        raise OptionError(f"identify: cutoff must be a positive number of Hz, got {cutoff!r}")
    return limit


def _bounds(model: Model, given: Mapping[str, Any]) -> tuple[tuple[str, ...], Array, Array, Array]:
    """Names, bounds and values at the start; OptionError for anything that is not one number with two bounds."""
    if not given:
        raise OptionError("identify: parameters must name at least one, as {'body_mass[hand]': (0.1, 2.0)}")
    labels = {"dof": model.dof_names(), "qpos": model.qpos_names()}
    low, high, first = [], [], []
    for name, bounds in given.items():
        if "backlash" in field_of(name):
            raise OptionError(
                f"identify: {name}: no number of a model is a backlash; give the play a joint of its own between motor "
                "and link, whose limits are jnt_range[joint][0] and jnt_range[joint][1]"
            )
        value = value_of(model.mj_model, name, labels)
        if np.size(value) != 1:
            raise OptionError(f"identify: {name} names {np.size(value)} numbers; name one of them, as {name}[0]")
        pair = numbers(f"bounds of {name}", bounds)
        if pair.shape != (2,) or not np.isfinite(pair).all() or not pair[0] < pair[1]:
            raise OptionError(f"identify: bounds of {name} must be two finite numbers, the lower first, got {bounds!r}")
        low.append(pair[0])
        high.append(pair[1])
        first.append(min(max(float(np.ravel(value)[0]), pair[0]), pair[1]))
    return tuple(given), np.array(low), np.array(high), np.array(first)


def _check_changes(model: Model, names: Sequence[str], first: Array, ends: tuple[Array, Array]) -> None:
    """OptionError, the model's own, for a parameter that it cannot change from its first value to either side."""
    for k, name in enumerate(names):
        refused: OptionError | ModelError | None = None
        for end in (e[k] for e in ends if e[k] != first[k]):
            try:
                model.changed({name: first[k] + SLIGHT * (end - first[k])})
            except (OptionError, ModelError) as error:
                refused = error
            else:
                refused = None
                break
        if refused is not None:
            raise refused


def _channels(model: Model, motions: list[RecordedMotion], measured: Any) -> NDArray[np.int64]:
    """Components of (dq, dv) that are compared: positions, and velocities if all recordings have them."""
    chosen = _chosen(model, measured)
    if any(motion.qvel is None for motion in motions):
        return chosen
    return np.concatenate([chosen, model.nv + chosen])


def _split_names(model: Model, measured: Any) -> tuple[list[str], SensorChannels]:
    """Degrees of freedom, and sensors, that count."""
    dofs, asked = model.dof_names(), words("measured", measured)
    known = model.names("sensor")
    return [n for n in asked if n in dofs or n not in known], sensor_channels(
        model, [n for n in asked if n in known and n not in dofs]
    )


def _chosen(model: Model, measured: Any) -> NDArray[np.int64]:
    """Numbers of the degrees of freedom that count."""
    dofs, asked = model.dof_names(), words("measured", measured)
    for name in asked:
        if name not in dofs:
            raise OptionError.unknown("degree of freedom", name, dofs)
    return np.array([k for k, name in enumerate(dofs) if not asked or name in asked], np.int64)


def _labels(model: Model, channels: NDArray[np.int64]) -> list[str]:
    """Names of the channels."""
    dofs = model.dof_names()
    return [f"position of {dofs[k]}" if k < model.nv else f"velocity of {dofs[k - model.nv]}" for k in channels]


def _split(windows: list[Window], share: float) -> tuple[list[Window], list[Window]]:
    """Windows that are fitted, and every so many that are kept out; none if there are too few."""
    if share == 0 or len(windows) < 4:
        return windows, []
    every = max(2, round(1 / share))
    kept = windows[every - 1 :: every]
    return [w for w in windows if not any(w is k for k in kept)], kept


def _search(problem: Problem, values: Array, iterations: int) -> tuple[Fit, Reduced, bool, int]:
    """The fit over windows that grow to their length, each from the values and starts of the one before.

    Over short windows the motion is nearly linear in the parameters, so that far values and chaotic motion do no harm.
    """
    stages = [problem.windows]
    for _ in range(HALVINGS):
        stages.append(halved(stages[-1]))
    known: dict[tuple[int, int], State] = {}

    def starts(windows: list[Window]) -> list[State]:
        return [known.get((w.number, w.first)) or problem.predictor.start_of(w) for w in windows]

    for k, windows in enumerate(reversed(stages[1:])):
        stage = Problem(problem.predictor, windows, problem.low, problem.high, problem.estimate_start)
        begin = stage.begin(values, starts(windows))
        if not k:
            _check_felt(problem, stage.slopes(begin), values)
        fit = stage.search(begin, EARLY, ROUGH * stage.samples)[0]
        values = fit.values
        known = {(w.number, w.first): start for w, start in zip(windows, fit.starts, strict=True)}
    return problem.search(problem.begin(values, starts(problem.windows)), iterations)


# ------------------------------------------------------------ what is known


def _check_felt(problem: Problem, slopes: list[WindowSlopes], values: Array) -> None:
    """OptionError for parameters on which no residual depends at the start.

    `slopes`: of short windows, which mostly show it; where they do not, whole windows are run.
    """
    predictor = problem.predictor
    felt = np.any([(w.by_parameters != 0).any(axis=0) for w in slopes], axis=0)
    for window in problem.windows:
        if felt.all():
            return
        start = predictor.start_of(window)
        felt |= (predictor.predicted(window, start, values, False).by_parameters != 0).any(axis=(0, 1))
    refuse_silent(predictor.names, felt)


def _curves(problem: Problem, fit: Fit, labels: Sequence[str]) -> tuple[tuple[str, Array, Array, Array], ...]:
    """Data and predictions of the first window by channel, for figures: name, time, data, prediction."""
    window, residual = problem.windows[0], fit.residuals[0]
    time = window.motion.time[window.first : window.last + 1]
    nv, found = problem.predictor.model.nv, []
    joints, sensors = problem.predictor.channels.tolist(), problem.predictor.sensors.columns.tolist()
    for c, (name, k) in enumerate(zip(labels, [*joints, *sensors], strict=True)):
        motion = window.motion
        if c >= len(joints):
            assert motion.sensordata is not None
            data = motion.sensordata[window.first : window.last + 1, k]
        elif k >= nv:
            assert motion.qvel is not None
            data = motion.qvel[window.first : window.last + 1, k - nv]
        elif problem.predictor.model.nq == nv:
            data = motion.qpos[window.first : window.last + 1, k]
        else:
            continue
        found.append((name, time, data, data - residual[:, c]))
    return tuple(found)
