"""Divergence: which coordinate diverged first, the largest force on it, and which timestep would be stable."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from saltus.contact.counts import NUNSOLVED
from saltus.errors import DivergenceError, ModelError, SaltusError, warn
from saltus.integrate.adaptive.dopri5 import ATTEMPTS
from saltus.integrate.integrator import Integrator
from saltus.model.enums import JOINT_DOFS
from saltus.simulate.diagnosis.bad_numbers import GIVEN, first_bad
from saltus.simulate.diagnosis.closed_loop_stability import stable_step_at_start
from saltus.simulate.diagnosis.event_failure import EVENT_STATUSES, event_error
from saltus.simulate.diagnosis.first_fault import dof_of, first_to_go, infinite_control, label, singular_inertia
from saltus.simulate.diagnosis.linear_stability import modes, stable_timestep
from saltus.simulate.engine.constraint_rows import most_at_once
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking
from saltus.simulate.laws.dynamics import full_inertia, inertia_fault
from saltus.solve.status import CONTACTS_FULL, DIVERGED, NOT_CONVERGED, STEP_TOO_SMALL

TERMS = (
    *("qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_fluid", "qfrc_actuator", "qfrc_applied", "qfrc_bias"),
    *("qfrc_adhesion", "qfrc_constraint"),
)


RELAXED = (
    "the tolerance was relaxed where a force jumps back and forth and steps would have shrunk without end, until "
    "they were about a twentieth of the timestep or of 2 ms (choose a smaller timestep, or an integrator with fixed "
    "steps, where that is too rough),"
)
CROSSED = (
    "the tolerance was relaxed where a force jumps, as where a contact begins: no step across it is short enough "
    "(choose a larger tolerance)"
)


def relaxed(integrator: Integrator) -> str:
    """Why the tolerance of an adaptive integrator was relaxed."""
    return CROSSED if integrator.name == "radau" else RELAXED


def handle(engine: Engine, before: np.ndarray, taken: int, status: int, logged: int | None = None) -> None:
    """Turn a kernel's status into an error or warning; `before` is the state before the steps, `taken` of them.

    `logged`: number of events that were logged before the steps; those of repeated steps are logged again.
    """
    failed = int(engine.d.views["count"][NUNSOLVED])
    engine.d.views["count"][NUNSOLVED] = 0
    if status in (DIVERGED, STEP_TOO_SMALL):
        engine.unconverged += failed
        bad = {name: engine.d.views[name].copy() for name in ("qvel", "qpos", "act", "time")}
        steps = taken - 1 if status == DIVERGED else 0
        engine.state[:] = before
        engine.events = engine.events[:logged]
        if steps > 0:
            engine.advance(steps, engine.timestep)
        raise _error(engine, bad, status)
    if failed:
        # iterations of the hard law depend on the number of contacts
        most = "" if engine.law.name == "hard" else f" in {engine.model.opt.iterations} iterations"
        _warn_once(engine, f"the constraint solver did not reach its tolerance{most}")
        engine.unconverged += failed
    if status == NOT_CONVERGED:
        _warn_once(
            engine, relaxed(engine.integrator) if engine.integrator.adaptive else "Newton's method did not converge"
        )
        engine.unconverged += 1
    elif status == CONTACTS_FULL:
        raise _overflow(engine, before, taken)
    elif status in EVENT_STATUSES:
        raise event_error(engine, status)


def _overflow(engine: Engine, before: np.ndarray, taken: int) -> SaltusError:
    """The error for more contacts than there is memory for: a divergence if the step is too long for the motion."""
    what = f"{most_at_once(engine.m)} at once"
    crossing = _crosses(engine)
    engine.state[:] = before
    for _ in range(taken if engine.event_reader is None else 0):  # steps continue past a full list of contacts
        here = engine.state.copy()
        if engine.advance(1, engine.timestep)[1] == CONTACTS_FULL:
            engine.state[:] = here
            break
    limit = _tried(lambda: stable_step_at_start(engine), math.inf)
    if not crossing and limit >= engine.timestep:
        return ModelError(f"{what} at t = {engine.time:.6g} s, which is the limit")
    stable = limit if limit < engine.timestep else None
    return DivergenceError(engine.time, what=what, timestep=engine.timestep, stable_timestep=stable)


def _crosses(engine: Engine) -> bool:
    """Whether anything moves by more than the model's extent within a step, at the state after the last step."""
    speeds = engine.d.views["qvel"][[unit == "m/s" for unit in engine.model.coordinate_units()[1]]]
    return not (np.abs(speeds) * engine.timestep < engine.model.stat.extent).all()


def check_given(engine: Engine) -> None:
    """Raise DivergenceError if the state or an input is not finite, for functions that do not step."""
    if not np.isfinite(engine.state).all() and first_bad(_given(engine)) is not None:
        raise _error(engine, {}, DIVERGED)


def check_inertia(engine: Engine, before: np.ndarray) -> None:
    """Raise DivergenceError if the user's equations gave the last step an inertia matrix not positive definite.

    The state is then set to `before`, the one before the steps.
    """
    M = engine.d.views["M"]
    if M.any() and (fault := inertia_fault(full_inertia(engine.m, M))):
        engine.state[:] = before
        raise DivergenceError(engine.time, what=f"the inertia matrix of the user-defined equations {fault}")


def _given(engine: Engine) -> dict[str, np.ndarray]:
    return {name: engine.d.views[name] for name in GIVEN}


def _warn_once(engine, what: str) -> None:
    """Warn once that steps were inaccurate; `engine.unconverged` counts them."""
    if engine.unconverged == 0:
        text = f"{engine.integrator.name}: {what} in some steps (timestep {engine.timestep:g} s)"
        warn(text)


def _error(engine: Engine, bad: dict[str, np.ndarray], status: int) -> DivergenceError:
    """The error for a state `bad` that followed the present, last good one, with the likely causes."""
    fault = given_fault(engine)
    given = fault is not None
    if fault is not None:
        i, what = fault
    else:
        i, what = first_to_go(engine.model, bad)
        if motion := _tried(lambda: lost_motion(engine, float(bad.get("time", engine.time))), ""):
            what = motion
        elif status == STEP_TOO_SMALL:
            what = (
                f"step-size control required too small steps, or more than {ATTEMPTS:,} within a timestep: a force is "
                "singular there, or jumps"
            )
    term, value = (None, None) if i is None else _tried(lambda: largest_term(engine, i), (None, None))
    limit, _ = _tried(lambda: stability_limit(engine), (math.inf, 0j))
    if engine.model.nflex and not given:
        limit = min(limit, _tried(lambda: stable_step_at_start(engine), math.inf))
    return DivergenceError(
        engine.time,
        dof=None if i is None else engine.model.dof_names()[i],
        dof_index=i,
        what=what,
        term=term,
        term_value=value,
        term_unit=_unit(engine, i),
        timestep=None if given else engine.timestep,  # a smaller step is no remedy for given numbers
        stable_timestep=limit if np.isfinite(limit) else None,
    )


def given_fault(engine: Engine) -> tuple[int | None, str] | None:
    """Degree of freedom and description of what keeps the present state from having finite accelerations at all.

    A number of the state or an input, an infinite control, or a position where the inertia matrix is singular; None if
    it is none of these, so that a smaller step may help.
    """
    # solvers start from the accelerations, which users may set, too
    given = first_bad(_given(engine) | {"qacc_warmstart": engine.d.views["qacc_warmstart"]})
    if given is not None:
        name, k = given
        what = f"the state or an input was not finite: {label(engine.model, name, k)}"
        return dof_of(engine.model, name, k, engine.d.views[name]), what
    return infinite_control(engine.m, engine.model, engine.ctrl) or singular_fault(engine)


def singular_fault(engine: Engine) -> tuple[int, str] | None:
    """Degree of freedom and description of a motion that moves no mass in the present state; None if M is regular."""
    if engine.dynamics is not None or not engine.model.inertia_may_be_singular:
        return None
    prescribed = engine.m.views["dof_prescribed"]
    return singular_inertia(engine.model, engine.qpos, prescribed == 0 if prescribed.size else None)


def check_regular(engine: Engine) -> None:
    """Raise DivergenceError if the inertia matrix is singular in the present state."""
    if (fault := singular_fault(engine)) is not None:
        i, what = fault
        raise DivergenceError(engine.time, dof=engine.model.dof_names()[i], dof_index=i, what=what)


def check_accelerations(engine: Engine) -> None:
    """Raise DivergenceError, with its cause, if the accelerations of the present state are no finite numbers."""
    check_regular(engine)
    qacc = engine.d.views["qacc"]
    if np.isfinite(qacc).all():
        return
    i, what = given_fault(engine) or (int(np.flatnonzero(~np.isfinite(qacc))[0]), "acceleration is not finite")
    term, value = (None, None) if i is None else _tried(lambda: largest_term(engine, i), (None, None))
    dof = None if i is None else engine.model.dof_names()[i]
    raise DivergenceError(
        engine.time, dof=dof, dof_index=i, what=what, term=term, term_value=value, term_unit=_unit(engine, i)
    )


def _unit(engine: Engine, i: int | None) -> str:
    """Unit of forces on degree of freedom i."""
    return "N" if i is not None and engine.model.coordinate_units()[1][i] == "m/s" else "N·m"


def lost_motion(engine: Engine, time: float) -> str:
    """Description of a prescribed motion that is not finite within a timestep of a time (s); "" if all are finite."""
    if not engine.motions:
        return ""
    with peeking(engine):
        for now in time + engine.timestep * np.linspace(-1.0, 1.0, 65):
            engine.d.views["time"][...] = now
            for name, numbers in zip(engine.motions.names, engine.guidance.motion_values(), strict=True):
                if not np.isfinite(numbers).all():
                    return f"motions[{name!r}] or a derivative of it is not finite near t = {now:.6g} s"
    return ""


def _tried(compute: Callable[[], Any], otherwise: Any) -> Any:
    """A function's value at the last good state, or `otherwise` if numbers overflow there."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compute()
    except (SaltusError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return otherwise


def largest_term(engine: Engine, i: int) -> tuple[str | None, float | None]:
    """Name and value of the largest force on degree of freedom i at the present state."""
    if first_bad(_given(engine)) is not None:
        return None, None
    if engine.forward():
        return None, None
    values = {t: float(engine.d.views[t][i]) for t in TERMS if engine.d.views[t].size}
    known = {t: abs(value) for t, value in values.items() if not np.isnan(value)}
    if not known:
        return None, None
    term = max(known, key=lambda t: known[t])
    return term, values[term]


MOST_MODES = 1000  # degrees of freedom up to which eigenvalues are computed; the time grows with the third power


def linear_modes(engine: Engine) -> np.ndarray:
    """Eigenvalues [nv, 2] (1/s) of springs and dampers at the present state, without gravity and actuators.

    ModelError if the inertia matrix is singular, or there are more than `MOST_MODES` degrees of freedom.
    """
    m = engine.model
    if m.nv > MOST_MODES:
        raise ModelError(f"{m.name!r} has {m.nv} degrees of freedom; modes are found of at most {MOST_MODES}")
    kernel_model = m.struct()
    if engine.forward():
        raise ModelError(f"the accelerations of {m.name!r} cannot be computed at t = {engine.time:g} s")
    M, B = engine.inertia(), np.diag(kernel_model.dof_damping)
    stiffness = np.zeros(m.nv)
    for j in range(m.njnt):
        count = JOINT_DOFS[m.jnt_type[j]]
        stiffness[m.jnt_dofadr[j] : m.jnt_dofadr[j] + count] = kernel_model.jnt_stiffness[j]
    try:
        return modes(M, np.diag(stiffness), B)
    except (ValueError, np.linalg.LinAlgError):
        raise ModelError(f"the inertia matrix of {m.name!r} is singular at t = {engine.time:g} s") from None


def stability_limit(engine: Engine) -> tuple[float, complex]:
    """Largest stable step (s) of the integrator on the springs and dampers at the present state, and its mode.

    (inf, 0) if there is none, or it cannot be computed: at a state that is not finite, or with a singular inertia.
    """
    if not engine.model.nv or first_bad(_given(engine)) is not None:
        return math.inf, 0j
    try:
        return stable_timestep(engine.integrator, linear_modes(engine))
    except (SaltusError, np.linalg.LinAlgError, ValueError):
        return math.inf, 0j
