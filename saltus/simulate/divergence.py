"""When a run leaves the numbers: what diverged first, which force did it, and what step would have been stable."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from saltus.contact.counts import NUNSOLVED
from saltus.errors import DivergenceError, ModelError, SaltusWarning
from saltus.integrate.dopri5 import ATTEMPTS
from saltus.simulate.hybrid import EVENT_STATUSES, event_error
from saltus.simulate.stability import modes, stable_timestep
from saltus.solve.status import CONTACTS_FULL, DIVERGED, NOT_CONVERGED, STEP_TOO_SMALL

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

TERMS = (
    *("qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_fluid", "qfrc_actuator", "qfrc_applied", "qfrc_bias"),
    "qfrc_constraint",
)


def handle(sim: "Simulation", before: np.ndarray, taken: int, status: int) -> None:
    """Turn a kernel's status into an error or warning; `before` is the state that the steps began from."""
    failed = int(sim._struct.views["count"][NUNSOLVED])
    if failed:
        sim._struct.views["count"][NUNSOLVED] = 0
        # the hard law's iterations depend on the number of contacts
        most = "" if sim.contact == "hard" else f" in {sim.model.opt.iterations} iterations"
        _warn_once(sim, f"the constraint solver did not reach its tolerance{most}")
        sim.unconverged += failed
    if status == NOT_CONVERGED:
        _warn_once(sim, "Newton's method did not converge")
        sim.unconverged += 1
    elif status == CONTACTS_FULL:
        sim._state[:] = before
        raise ModelError(
            f"more than {sim._model.nconmax} contacts at once at t = {sim.time:.6g} s; there is no room for them"
        )
    elif status in EVENT_STATUSES:
        raise event_error(sim, status)
    elif status in (DIVERGED, STEP_TOO_SMALL):
        bad = sim._struct.views["qvel"].copy()
        steps = taken - 1 if status == DIVERGED else 0
        sim._state[:] = before
        if steps > 0:
            sim._advance(steps, sim.timestep)
        raise _error(sim, bad, status)


def _warn_once(sim, what: str) -> None:
    """Say once that steps were not what they should be; `sim.unconverged` counts them."""
    if sim.unconverged == 0:
        text = f"{sim.integrator.name}: {what} in some steps (timestep {sim.timestep:g} s)"
        warnings.warn(text, SaltusWarning, stacklevel=5)


def _error(sim, bad: np.ndarray, status: int) -> DivergenceError:
    """The error for velocities `bad` that followed the present, last good, state."""
    wrong = np.flatnonzero(~(np.abs(bad) < 1e10))
    i = int(wrong[0]) if wrong.size else 0
    what = "velocity is not finite" if wrong.size and not np.isfinite(bad[i]) else "velocity grew beyond 1e10"
    if status == STEP_TOO_SMALL:
        what = f"step control asked for steps too small for the clock, or more than {ATTEMPTS:,} within a timestep"
    if not np.isfinite(sim._state).all():
        what = "the state or an input held a number that is not finite"
    term, value = largest_term(sim, i)
    limit, _ = stability_limit(sim)
    unit = "N" if sim.model.nv and sim.model.coordinate_units()[1][i] == "m/s" else "N·m"
    return DivergenceError(
        sim.time,
        dof=sim.model.dof_names()[i] if sim.model.nv else None,
        dof_index=i,
        what=what,
        term=term,
        term_value=value,
        term_unit=unit,
        timestep=sim.timestep,
        stable_timestep=limit if np.isfinite(limit) else None,
    )


def largest_term(sim: "Simulation", i: int) -> tuple[str | None, float | None]:
    """Name and value of the largest force on degree of freedom i at the present state."""
    if not sim.model.nv or not np.isfinite(sim._state).all():
        return None, None
    values = {t: float(getattr(sim.data, t)[i]) for t in TERMS if getattr(sim.data, t).size}
    term = max(values, key=lambda t: abs(values[t]))
    return term, values[term]


def linear_modes(sim: "Simulation") -> np.ndarray:
    """Eigenvalues [nv, 2] (1/s) of springs and dampers at the present state, without weight and motors."""
    m = sim.model
    kernel_model = m.struct()
    M, B = sim.full_M(), np.diag(kernel_model.dof_damping)
    stiffness = np.zeros(m.nv)
    for j in range(m.njnt):
        count = (6, 3, 1, 1)[m.jnt_type[j]]
        stiffness[m.jnt_dofadr[j] : m.jnt_dofadr[j] + count] = kernel_model.jnt_stiffness[j]
    return modes(M, np.diag(stiffness), B)


def stability_limit(sim: "Simulation") -> tuple[float, complex]:
    """Largest stable step (s) of the integrator on the springs and dampers at the present state, and its mode."""
    if not sim.model.nv or not np.isfinite(sim._state).all():
        return float("inf"), 0j
    return stable_timestep(sim.integrator, linear_modes(sim))
