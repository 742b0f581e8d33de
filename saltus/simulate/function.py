"""`saltus.simulate`: a run with the interface of the HuMAnS toolbox."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from saltus.arguments import positive
from saltus.errors import OptionError
from saltus.integrate.registry import IntegratorChoice, Tolerance
from saltus.model.load import ModelSource
from saltus.simulate.laws.contact import ContactChoice
from saltus.simulate.laws.control import Controller
from saltus.simulate.laws.dynamics import Dynamics
from saltus.simulate.laws.motions import Motions
from saltus.simulate.simulation import RunControl, Simulation
from saltus.terminal.progress import ProgressChoice

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory


def simulate(
    model: ModelSource,
    t0: float,
    tf: float,
    sampling_period: float,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    z0: ArrayLike | None = None,
    actuation0: ArrayLike | None = None,
    contact: ContactChoice = "hard",
    integrator: IntegratorChoice = None,
    timestep: float | None = None,
    tolerance: Tolerance | None = None,
    control: RunControl = None,
    dynamics: Dynamics | None = None,
    motions: Motions | None = None,
    progress: ProgressChoice = None,
    certify: bool = False,
    save: str | os.PathLike[str] | None = None,
    record: str | Iterable[str] = (),
) -> Trajectory:
    """Simulate a model from t0 to tf and record at t0, t0 + sampling_period, ... up to tf.

    The recording has T, Q, QDOT, Z, ACTUATIONSTATE, CONTACTSTATE and LAMBDA like the results of the function
    `Simulation` of the HuMAnS toolbox (see `saltus.Trajectory`), and the event log. If tf is not a whole number of
    periods after t0, the state at tf is `end` of the recording.

    Args:
        model: any source that `saltus.load` takes.
        t0, tf: s, the first and the last time.
        sampling_period: s between samples.
        q0 [nq], v0 [nv]: positions (rad, m, quaternion parts) and velocities (rad/s, m/s) at t0.
        z0 [na]: dynamic states of actuators at t0; None: those of the model's start.
        actuation0 [k]: discrete states of actuation at t0, a column of ACTUATIONSTATE; None: those of the actuation.
        contact: the contact law: "hard", "soft" or a law itself (`saltus.Hard`, `saltus.Soft`).
        integrator, timestep, tolerance, dynamics, motions: as `saltus.Simulation` takes them; None: the defaults.
        control: a function, an array, or a controller in the time loop, as `Simulation.run` takes it.
        progress, certify, save, record: as `Simulation.run` takes them.

    Raises:
        OptionError: invalid times, shapes or options; the message names the argument.
        DivergenceError, EventError: the run stopped; the recording up to there is the error's `trajectory`.
    """
    start, duration = _times(t0, tf)
    in_loop = control if isinstance(control, Controller) else None
    options: dict[str, Any] = dict(tolerance=tolerance, control=in_loop, dynamics=dynamics, motions=motions)
    sim = Simulation(model, integrator, contact, timestep, **options)
    sim.time = start
    sim.qpos[:] = _state("q0", q0, sim.model.nq, "positions")
    sim.qvel[:] = _state("v0", v0, sim.model.nv, "velocities")
    if z0 is not None:
        sim.act = _state("z0", z0, len(sim.act), "states of actuators")
    if actuation0 is not None:
        sim.actuation_state = _state("actuation0", actuation0, len(sim.actuation_state), "discrete states of actuation")
    of_run = None if in_loop is not None else control
    period = positive("sampling_period", sampling_period)
    return sim.run(duration, period, of_run, progress, certify=certify, save=save, record=record)


def _times(t0: float, tf: float) -> tuple[float, float]:
    """The start and the duration, s."""
    try:
        start, end = float(t0), float(tf)
    except (TypeError, ValueError):
        raise OptionError(f"t0 and tf must be numbers of seconds, got {t0!r} and {tf!r}") from None
    if not (math.isfinite(start) and math.isfinite(end) and end > start):
        raise OptionError(f"tf must come after t0, got t0 = {start:g} s and tf = {end:g} s")
    return start, end - start


def _state(name: str, values: ArrayLike, count: int, what: str) -> np.ndarray:
    """Check a vector of `count` finite numbers."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must be numbers [{count}], got {values!r}") from None
    if array.ndim == 0 and count == 1:
        array = array.reshape(1)
    if array.shape != (count,):
        raise OptionError(f"{name} has shape {array.shape}; the model has {count} {what}")
    if not np.isfinite(array).all():
        raise OptionError(f"{name}[{int(np.flatnonzero(~np.isfinite(array))[0])}] is not finite")
    return array
