"""Controllability and observability of the linear system about a state, and the modes that are left out.

The states that controls reach are the span of B, A B, A² B, ...; it grows by orthonormal bases, A by A, until it is
invariant (the staircase: Van Dooren, The generalized eigenstructure problem in linear system theory (1981)). Modes of
what is left have left eigenvectors w with wᵀ B = 0 (Hautus). Observability is the same of Aᵀ and Cᵀ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.control.modes import Mode, mode_of
from saltus.control.outputs import output_matrices
from saltus.control.tangent_states import check_simulation
from saltus.errors import OptionError
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
DEPENDENT = 1e-9  # share of a direction, among balanced states, below which it adds nothing to a basis


@dataclass(frozen=True, eq=False)
class Reachability:
    """Number of states that controls or measurements reach, and the modes that they do not reach.

    Attributes:
        rank: dimension of what is reached.
        size: number of states, 2 nv + na.
        left_out: modes that are not reached, slowest first; of a conjugate pair one. Their participation names the
            degrees of freedom.
    """

    rank: int
    size: int
    left_out: tuple[Mode, ...]

    @property
    def complete(self) -> bool:
        """Whether all states are reached."""
        return self.rank == self.size

    @property
    def stable(self) -> bool:
        """Whether the modes that are not reached die away: stabilisable by feedback, or detectable."""
        return all(mode.eigenvalue.real < 0 for mode in self.left_out)

    def __repr__(self) -> str:
        left = "; ".join(map(repr, self.left_out))
        return f"Reachability({self.rank} of {self.size} states{f'; not reached: {left}' if left else ''})"


def controllability(sim: Simulation) -> Reachability:
    """Rank of the states that controls reach, about the present state of a simulation, and the modes left out.

    By the exact derivatives of its steps, with contacts as they are. A mode that is not reached keeps its eigenvalue
    under any feedback; `left_out` says its frequency, damping and the degrees of freedom that take part. If these
    die away, `stable` is True and a regulator exists all the same.

    Raises:
        OptionError: no controls; a simulation without derivatives.
    """
    A, B = _linear("controllability", sim)
    if not B.shape[1]:
        raise OptionError("controllability: the model has no controls")
    return _reached(sim, A, B, transposed=False)


def observability(sim: Simulation, outputs: Sequence[str] | str | None = None) -> Reachability:
    """Rank of the states that outputs tell of, about the present state of a simulation, and the modes left out.

    `outputs`: degrees of freedom (their positions), components of the state such as "velocity of knee", or sensors;
    None: all sensors. A filter's error in a mode that is not seen only dies away if the mode does.

    Raises:
        OptionError: no such output, no sensors; a simulation or sensor without derivatives.
    """
    A, _ = _linear("observability", sim)
    named = [name for name in sim.model.names("sensor") if name]
    if outputs is None and not named:
        raise OptionError("observability: the model has no sensors; name outputs, such as a degree of freedom")
    C, _, _ = output_matrices("observability", sim, named if outputs is None else outputs, len(A))
    return _reached(sim, A, C.T, transposed=True)


def _linear(who: str, sim: Simulation) -> tuple[Array, Array]:
    """Derivatives of a step."""
    check_simulation(sim)
    check_chain(sim.engine, who)
    return sim.linearize()


def _reached(sim: Simulation, A: Array, given: Array, *, transposed: bool) -> Reachability:
    """Rank and modes left out of the columns of `given` through A, or through its transpose."""
    from scipy.linalg import matrix_balance

    # rates of change, in units of the states in which rows and columns are of one size
    rate = (A - np.eye(len(A))) / sim.timestep
    _, (scale, _) = matrix_balance(rate, permute=False, separate=True)
    balanced = rate * scale / scale[:, None]
    F, G = (balanced.T, given * scale[:, None]) if transposed else (balanced, given / scale[:, None])
    basis = _invariant(F, G)
    rest = np.linalg.svd(basis.T)[2][basis.shape[1] :].T if basis.shape[1] else np.eye(len(A))
    modes = []
    values, vectors = np.linalg.eig(rest.T @ F.T @ rest)
    for value, vector in zip(values, vectors.T, strict=True):
        s = np.log(1.0 + value * sim.timestep + 0j) / sim.timestep
        if s.imag >= 0:
            own = rest @ vector
            modes.append(mode_of(sim, s, own * scale if transposed else own / scale, abs(own) ** 2))
    modes.sort(key=lambda mode: abs(mode.eigenvalue))
    return Reachability(basis.shape[1], len(A), tuple(modes))


def _invariant(F: Array, G: Array) -> Array:
    """Orthonormal basis of the least subspace that holds the columns of G and is invariant under F."""
    size = max(float(np.linalg.norm(F, 2)), 1e-300)
    lengths = np.linalg.norm(G, axis=0)
    fresh = G[:, lengths > 0] / lengths[lengths > 0]
    basis = np.zeros((len(F), 0))
    while fresh.shape[1] and basis.shape[1] < len(F):
        for _ in range(2):  # twice is enough for orthogonality to rounding
            fresh = fresh - basis @ (basis.T @ fresh)
        left, weights, _ = np.linalg.svd(fresh, full_matrices=False)
        added = left[:, weights > DEPENDENT]
        basis, fresh = np.hstack([basis, added]), F @ added / size
    return basis
