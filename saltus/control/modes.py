"""Modes of small motion about a state: frequencies, damping and the joints that take part.

The eigenvalues s of the continuous-time system follow from those of a short step, λ = exp(s h); a joint takes part in a
mode by the products of its components in the left and the right eigenvector (participation factors: Perez-Arriaga,
Verghese & Schweppe, Selective modal analysis (1982)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.control.tangent_states import check_simulation
from saltus.errors import OptionError, warn
from saltus.simulate.derivatives.linearize import check_chain
from saltus.simulate.transfer_state import carry

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

NEAR, SHORTER = 1.5, 20  # of FINE; shorter steps that are tried
STIFF, DIGITS = 100.0, 1e4  # |s| h of steps by far too long; roundings in a mode of four digits
LEAST = 1e-300  # eigenvalue of a step, for one that rounding has made zero
FINE = 0.01  # |s| h at most: the error of the step, of order (s h)⁴, is below 1e-9 relative


@dataclass(frozen=True, eq=False)
class Mode:
    """A mode exp(s t): eigenvalue s (1/s), frequency |s|/2π (Hz) if it oscillates, else 0, damping ratio -Re s/|s|.

    participation: share of each degree of freedom or activation, by name, largest first; they add up to 1. shape
    [2 nv + na]: components (dq, dv, dw), the largest of which is 1.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    participation: dict[str, float]
    shape: NDArray[np.complex128]

    def __repr__(self) -> str:
        first, share = next(iter(self.participation.items()))
        what = (
            f"{self.frequency:.6g} Hz, damping {self.damping:.3g}"
            if self.frequency
            else f"{self.eigenvalue.real:.6g} 1/s"
        )
        return f"Mode({what}, {first} {share:.0%})"


def modes(sim: Simulation) -> list[Mode]:
    """Modes of small motion about the present state of a simulation, with its controls held, slowest first.

    Of a pair of conjugate eigenvalues there is one mode. Contacts count as staying as they are, by the soft law. The
    simulation is not changed.

    Raises:
        OptionError: hard contact, or a simulation without derivatives.
    """
    from saltus.simulate.simulation import Simulation

    check_simulation(sim)
    if sim.engine.hard is not None:
        raise OptionError("modes: hard contact has no small motion of closed contacts; choose contact='soft'")
    engine = sim.engine
    if engine.motions:
        raise OptionError(
            "modes: prescribed motions have no small deviations; make the joints free, with servos on them"
        )
    check_chain(engine, "modes")
    own = {"control": engine.control, "dynamics": engine.dynamics}
    fine = Simulation(sim.model, "rk4", engine.law, sim.timestep, **own)
    if lost := carry(engine, fine.engine):
        raise OptionError(f"modes: {', '.join(lost)} cannot be taken over")
    s, right = _of_fine_step(fine)
    left = np.linalg.pinv(right)
    found = [mode_of(sim, s[k], right[:, k], abs(left[k] * right[:, k])) for k in range(len(s)) if s[k].imag >= 0]
    return sorted(found, key=lambda mode: abs(mode.eigenvalue))


def _of_fine_step(sim: Simulation) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Eigenvalues and eigenvectors by a step so short that the method is exact for the fastest mode, h |s| <= FINE.

    A long step has eigenvalues too small for modes beyond the range in which the method is stable, so that the step
    that follows from them is tried again.
    """
    longest, fastest = sim.timestep, 0.0
    for _ in range(SHORTER):
        s, right = _eigenvalues(sim)
        fastest = max(float(abs(s).max(initial=0.0)), 1e-9)
        if fastest * sim.timestep <= NEAR * FINE:
            _tell_lost(s, sim.timestep, fastest * longest)
            return s, right
        sim.timestep = min(longest, FINE / fastest)
    raise OptionError(
        f"modes: the fastest mode, of {fastest:.3g} 1/s, needs steps below {sim.timestep:.3g} s; give the degrees of "
        "freedom more inertia, or less stiffness and damping"
    )


def _tell_lost(s: NDArray[np.complex128], timestep: float, stiffness: float) -> None:
    """Warn of modes s (1/s) that rounding blurs, where others are far too fast for the model's steps."""
    least = DIGITS * np.finfo(float).eps / timestep
    if stiffness > STIFF and (abs(s) < least).any():
        warn(
            f"modes: those slower than {least:.2g} 1/s are known to fewer than four digits, since the fastest has "
            f"{abs(s).max():.2g} 1/s"
        )


def _eigenvalues(sim: Simulation) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Eigenvalues of continuous time and eigenvectors, of a step's derivatives."""
    A, _ = sim.linearize()
    values, vectors = np.linalg.eig(A)
    safe = np.where(values == 0.0, LEAST, values).astype(complex)  # of steps by far too long
    return np.log(safe) / sim.timestep, vectors.astype(complex)


def mode_of(sim: Simulation, s: complex, vector: NDArray[np.complex128], weights: NDArray[np.float64]) -> Mode:
    """A mode by its eigenvalue s (1/s), its components (dq, dv, dw) and their shares in it, of any sum."""
    nv = sim.model.nv
    names = [*sim.model.dof_names(), *(f"activation {k}" for k in range(len(weights) - 2 * nv))]
    shares = np.concatenate([weights[:nv] + weights[nv : 2 * nv], weights[2 * nv :]])
    shares = shares / shares.sum()
    order = np.argsort(-shares, kind="stable")
    swings = abs(s.imag) > 1e-9 * max(abs(s), 1e-300) and abs(s) > 0
    frequency = abs(s) / (2 * np.pi) if swings else 0.0
    damping = float(-s.real / abs(s)) if abs(s) > 0 else 0.0
    shape = vector / vector[np.argmax(abs(vector))]
    return Mode(complex(s), float(frequency), damping, {names[k]: float(shares[k]) for k in order}, shape)
