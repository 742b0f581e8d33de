"""When a run leaves the numbers: what diverged first, which force did it, and what step would have been stable."""

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.contact.counts import NUNSOLVED
from saltus.errors import DivergenceError, ModelError, SaltusError, SaltusWarning
from saltus.integrate.adaptive.dopri5 import ATTEMPTS
from saltus.integrate.status import LARGEST
from saltus.simulate.control import OF_JOINTS
from saltus.simulate.dynamics import full_inertia, inertia_fault
from saltus.simulate.feedback import stable_step_at_start
from saltus.simulate.hybrid import EVENT_STATUSES, event_error
from saltus.simulate.stability import modes, stable_timestep
from saltus.solve.status import CONTACTS_FULL, DIVERGED, NOT_CONVERGED, STEP_TOO_SMALL

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

TERMS = (
    *("qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_fluid", "qfrc_actuator", "qfrc_applied", "qfrc_bias"),
    "qfrc_constraint",
)


INPUTS = ("mocap_pos", "mocap_quat", "ctrl", "qfrc_applied", "xfrc_applied")
GIVEN = ("time", "qpos", "qvel", "act", *INPUTS)  # what a user sets and steps take as numbers


def handle(sim: "Simulation", before: np.ndarray, taken: int, status: int) -> None:
    """Turn a kernel's status into an error or warning; `before` is the state that the steps began from."""
    failed = int(sim._struct.views["count"][NUNSOLVED])
    sim._struct.views["count"][NUNSOLVED] = 0
    if status in (DIVERGED, STEP_TOO_SMALL):
        sim.unconverged += failed
        bad = {name: sim._struct.views[name].copy() for name in ("qvel", "qpos", "act", "time")}
        steps = taken - 1 if status == DIVERGED else 0
        sim._state[:] = before
        if steps > 0:
            sim._advance(steps, sim.timestep)
        raise _error(sim, bad, status)
    if failed:
        # the hard law's iterations depend on the number of contacts
        most = "" if sim.contact == "hard" else f" in {sim.model.opt.iterations} iterations"
        _warn_once(sim, f"the constraint solver did not reach its tolerance{most}")
        sim.unconverged += failed
    if status == NOT_CONVERGED:
        _warn_once(sim, "Newton's method did not converge")
        sim.unconverged += 1
    elif status == CONTACTS_FULL:
        raise _overflow(sim, before, taken)
    elif status in EVENT_STATUSES:
        raise event_error(sim, status)


def _overflow(sim: "Simulation", before: np.ndarray, taken: int) -> SaltusError:
    """The error for more contacts than there is room for: a divergence where the step is too long for the motion."""
    what = f"more than {sim._model.nconmax} contacts at once"
    crossing = _crosses(sim)
    sim._state[:] = before
    for _ in range(taken if sim._events is None else 0):  # steps do not stop there
        here = sim._state.copy()
        if sim._advance(1, sim.timestep)[1] == CONTACTS_FULL:
            sim._state[:] = here
            break
    limit = _tried(lambda: stable_step_at_start(sim), math.inf)
    if not crossing and limit >= sim.timestep:
        return ModelError(f"{what} at t = {sim.time:.6g} s; there is no room for them")
    stable = limit if limit < sim.timestep else None
    return DivergenceError(sim.time, what=what, timestep=sim.timestep, stable_timestep=stable)


def _crosses(sim: "Simulation") -> bool:
    """Whether anything moves by more than the model's extent within a step, at the state that the steps came to."""
    speeds = sim._struct.views["qvel"][[unit == "m/s" for unit in sim.model.coordinate_units()[1]]]
    return not (np.abs(speeds) * sim.timestep < sim.model.stat.extent).all()


def check_given(sim: "Simulation") -> None:
    """DivergenceError where the state or an input holds a number that is none, for what does not step."""
    if not np.isfinite(sim._state).all() and first_bad(_given(sim)) is not None:
        raise _error(sim, {}, DIVERGED)


def check_inertia(sim: "Simulation", before: np.ndarray) -> None:
    """DivergenceError where the user's equations gave the last step an inertia matrix not positive definite.

    The state is then the one `before` the steps.
    """
    M = sim._struct.views["M"]
    if M.any() and (fault := inertia_fault(full_inertia(sim._model, M))):
        sim._state[:] = before
        raise DivergenceError(sim.time, what=f"the inertia matrix of the given equations {fault}")


def _given(sim: "Simulation") -> dict[str, np.ndarray]:
    return {name: sim._struct.views[name] for name in GIVEN}


def _warn_once(sim, what: str) -> None:
    """Say once that steps were not what they should be; `sim.unconverged` counts them."""
    if sim.unconverged == 0:
        text = f"{sim.integrator.name}: {what} in some steps (timestep {sim.timestep:g} s)"
        warnings.warn(text, SaltusWarning, stacklevel=5)


def _error(sim: "Simulation", bad: dict[str, np.ndarray], status: int) -> DivergenceError:
    """The error for a state `bad` that followed the present, last good, one; with what can be found out of it."""
    given = first_bad(_given(sim))
    if given is not None:
        name, k = given
        label = name if name == "time" else f"{name}[{k}]"
        i, what = _dof_of(sim, name, k), f"the state or an input held a number that is not finite, {label}"
    else:
        i, what = _first_to_go(sim, bad)
    if status == STEP_TOO_SMALL and given is None:
        what = f"step control asked for steps too small for the clock, or more than {ATTEMPTS:,} within a timestep"
    term, value = (None, None) if i is None else _tried(lambda: largest_term(sim, i), (None, None))
    limit, _ = _tried(lambda: stability_limit(sim), (math.inf, 0j))
    if sim.model.nflex and given is None:
        limit = min(limit, _tried(lambda: stable_step_at_start(sim), math.inf))
    unit = "N" if i is not None and sim.model.coordinate_units()[1][i] == "m/s" else "N·m"
    return DivergenceError(
        sim.time,
        dof=None if i is None else sim.model.dof_names()[i],
        dof_index=i,
        what=what,
        term=term,
        term_value=value,
        term_unit=unit,
        timestep=sim.timestep,
        stable_timestep=limit if np.isfinite(limit) else None,
    )


def first_bad(fields: dict[str, np.ndarray]) -> tuple[str, int] | None:
    """Name and place of the first number that steps cannot take; infinite controls they can, within their limits."""
    for name, values in fields.items():
        wrong = np.isnan(values) if name == "ctrl" else ~np.isfinite(values)
        if wrong.any():
            return name, int(np.flatnonzero(wrong)[0])
    return None


def _dof_of(sim: "Simulation", name: str, k: int) -> int | None:
    """The degree of freedom that entry k of a field acts on, if it is one's own."""
    if name in ("qvel", "qfrc_applied"):
        return k
    if name == "qpos":
        j = int(np.searchsorted(sim.model.jnt_qposadr, k, "right")) - 1
        return int(sim.model.jnt_dofadr[j]) + min(k - int(sim.model.jnt_qposadr[j]), 5)
    if name == "xfrc_applied":
        wrong = np.unique(np.flatnonzero(~np.isfinite(sim.xfrc_applied)) // 6)
        moved = wrong[sim.model.body_dofnum[wrong] > 0]
        return int(sim.model.body_dofadr[moved[0]]) if moved.size else None
    if name == "ctrl":
        actuator = int(np.searchsorted(np.cumsum(sim.model.actuator_ctrlnum), k, "right"))
        if sim.model.actuator_trntype[actuator] in OF_JOINTS:
            return int(sim.model.jnt_dofadr[sim.model.actuator_trnid[actuator, 0]])
    return None


def _first_to_go(sim: "Simulation", bad: dict[str, np.ndarray]) -> tuple[int | None, str]:
    """The degree of freedom that has left the numbers, and in which way."""
    wrong = np.flatnonzero(~(np.abs(bad["qvel"]) < LARGEST))
    if wrong.size:
        i = int(wrong[0])
        return i, "velocity grew beyond 1e10" if np.isfinite(bad["qvel"][i]) else "velocity is not finite"
    found = first_bad(bad)
    if found is None:
        return (0 if sim.model.nv else None), "steps cannot go on"
    name, k = found
    what = {"qpos": "position is not finite", "act": f"act[{k}] is not finite"}.get(name, f"{name} is not finite")
    return _dof_of(sim, name, k), what


def _tried(compute: Callable[[], Any], otherwise: Any) -> Any:
    """What can be computed at the last good state, which may be near the end of the numbers, or else another value."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compute()
    except (SaltusError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return otherwise


def largest_term(sim: "Simulation", i: int) -> tuple[str | None, float | None]:
    """Name and value of the largest force on degree of freedom i at the present state."""
    if first_bad(_given(sim)) is not None:
        return None, None
    values = {t: float(getattr(sim.data, t)[i]) for t in TERMS if getattr(sim.data, t).size}
    known = {t: abs(value) for t, value in values.items() if not np.isnan(value)}
    if not known:
        return None, None
    term = max(known, key=lambda t: known[t])
    return term, values[term]


def linear_modes(sim: "Simulation") -> np.ndarray:
    """Eigenvalues [nv, 2] (1/s) of springs and dampers at the present state, without weight and motors.

    ModelError where the inertia matrix there has no inverse.
    """
    m = sim.model
    kernel_model = m.struct()
    M, B = sim.full_M(), np.diag(kernel_model.dof_damping)
    stiffness = np.zeros(m.nv)
    for j in range(m.njnt):
        count = (6, 3, 1, 1)[m.jnt_type[j]]
        stiffness[m.jnt_dofadr[j] : m.jnt_dofadr[j] + count] = kernel_model.jnt_stiffness[j]
    try:
        return modes(M, np.diag(stiffness), B)
    except (ValueError, np.linalg.LinAlgError):
        raise ModelError(f"the inertia matrix of {m.name!r} is singular at t = {sim.time:g} s") from None


def stability_limit(sim: "Simulation") -> tuple[float, complex]:
    """Largest stable step (s) of the integrator on the springs and dampers at the present state, and its mode.

    (inf, 0) where there is none, or none can be found: at a state that is not finite, or with a singular inertia.
    """
    if not sim.model.nv or first_bad(_given(sim)) is not None:
        return math.inf, 0j
    try:
        return stable_timestep(sim.integrator, linear_modes(sim))
    except (SaltusError, np.linalg.LinAlgError, ValueError):
        return math.inf, 0j
