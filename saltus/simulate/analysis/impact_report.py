"""`ImpactReport`: the outcome of one impact under each law and treatment, side by side.

For an impact at several contacts, rigid-body mechanics does not determine the outcome: it depends on the order in which
stress waves travel. The report shows how much the outcome depends on the treatment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.model.fields.constraint.cone import BILATERAL, COULOMB, UNILATERAL, cone_sizes
from saltus.model.fields.constraint.impact import ENERGETIC, IMPACT, IMPACT_LAWS, LEFTOVER, ROUNDS, TREATMENTS
from saltus.number.kernels import entry
from saltus.number.structs import Struct
from saltus.solve.impact.law import resolve_impact
from saltus.terminal.display import notebook_html

DIMENSION = {BILATERAL: 1, UNILATERAL: 1, COULOMB: 3}
TOLERANCE = 1e-12  # tolerance of the cone problems
SAME = 1e-9  # relative to the largest velocity: outcomes that differ by less are equal
UNSOLVED = 1e-10  # residual above which an outcome is reported as unsolved

_resolve = entry(resolve_impact, name="impact", structs=("p",))


@dataclass(frozen=True)
class Outcome:
    """An impact by one law and treatment.

    Attributes:
        impulse: [N] N s (N m s in rotational rows).
        after: [N] m/s, relative velocities after the impact.
        energy_change: J, of kinetic energy.
        energetic: whether the energetic coefficient replaced the law because that would have gained energy or has no
            solution.
        rounds: number of successive impacts; 0 for one problem.
        leftover: whether contacts that still approached were resolved plastically.
        residual: of the complementarity problems, relative.
    """

    impulse: NDArray[np.float64]
    after: NDArray[np.float64]
    energy_change: float
    energetic: bool
    rounds: int
    leftover: bool
    residual: float


@dataclass(frozen=True)
class ImpactReport:
    """Outcomes of an impact under all laws and treatments; `str(report)` tells where they differ.

    Attributes:
        names: of the blocks: contacts and loop closures.
        first: [n] first row of each block, its normal if it is a contact.
        before: [N] m/s, relative velocities before.
        outcomes: by (law, treatment), with law "newton" or "poisson" and treatment "simultaneous", "sequential" or
            "moreau".
    """

    names: tuple[str, ...]
    first: NDArray[np.int64]
    before: NDArray[np.float64]
    outcomes: dict[tuple[str, str], Outcome]

    _repr_html_ = notebook_html

    @property
    def table(self) -> NDArray[np.void]:
        """Structured array, a row for each law, treatment and block, of its first (normal) row: `law`, `treatment`,
        `name`, `impulse` (N s), `before` and `after` (m/s)."""
        kinds = [("law", "U8"), ("treatment", "U12"), ("name", f"U{max(map(len, self.names), default=1)}")]
        rows = [
            (*key, name, outcome.impulse[i], self.before[i], outcome.after[i])
            for key, outcome in self.outcomes.items()
            for name, i in zip(self.names, self.first, strict=True)
        ]
        return np.array(rows, [*kinds, ("impulse", float), ("before", float), ("after", float)])

    def differing(
        self, a: tuple[str, str] = ("newton", "simultaneous"), b: tuple[str, str] = ("newton", "sequential")
    ) -> list[str]:
        """Names of the blocks whose final velocities differ between two outcomes, each given as (law, treatment)."""
        gap = np.abs(self.outcomes[a].after - self.outcomes[b].after)
        gap = np.maximum.reduceat(gap, self.first) if len(self.first) else gap
        speed = np.max(np.abs(self.before), initial=0.0)
        return [name for name, g in zip(self.names, gap, strict=True) if g > SAME * speed]

    def __str__(self) -> str:
        count = len(self.names)
        width = max([len("energy change, J"), *map(len, self.names)])
        lines = [f"impact at {count} contact{'s' if count != 1 else ''}"]
        lines.append("normal velocity (m/s) before, and after with the normal impulse (N s)")
        for law in IMPACT_LAWS:
            lines += ["", f"{law:{width}}  {'':>10}" + "".join(f"{t:>24}" for t in TREATMENTS)]
            for name, i in zip(self.names, self.first, strict=True):
                cells = "".join(self._cell(law, t, int(i)) for t in TREATMENTS)
                lines.append(f"{name:{width}}  {_short(float(self.before[i])):>10}{cells}")
            changes = "".join(f"{_short(self.outcomes[law, t].energy_change):>24}" for t in TREATMENTS)
            lines.append(f"{'energy change, J':{width}}  {'':>10}{changes}")
            lines += [f"  {t}: {'; '.join(self._remarks(law, t))}" for t in TREATMENTS if self._remarks(law, t)]
        return "\n".join(lines)

    def _cell(self, law: str, treatment: str, i: int) -> str:
        outcome = self.outcomes[law, treatment]
        return f"{_short(float(outcome.after[i])):>12}{_short(float(outcome.impulse[i])):>12}"

    def _remarks(self, law: str, treatment: str) -> list[str]:
        """Remarks on an outcome beyond its numbers."""
        outcome, remarks = self.outcomes[law, treatment], []
        other = (law, "simultaneous") if treatment != "simultaneous" else ("newton", treatment)
        if (law, treatment) != other:
            what = other[1] if treatment != other[1] else other[0]
            names = self.differing((law, treatment), other)
            remarks.append(f"differs from {what} at {', '.join(names)}" if names else f"the same as {what}")
        if outcome.rounds > 1:
            remarks.append(f"{outcome.rounds} successive impacts")
        if outcome.energetic:
            remarks.append(f"energetic coefficient, since {law}'s law would gain energy or has no solution")
        if outcome.leftover:
            remarks.append("contacts still approaching then were resolved plastically")
        if outcome.residual > UNSOLVED:
            remarks.append(f"not solved: residual {outcome.residual:.1g}")
        return remarks


def _short(x: float) -> str:
    """A number in few digits, rounding shown as zero."""
    return f"{x + 0.0:.5g}" if abs(x) >= 1e-13 else "0"


def impact_report(
    W: ArrayLike,
    before: ArrayLike,
    restitution: ArrayLike,
    friction: ArrayLike = 0.0,
    names: Sequence[str] | None = None,
    kinds: Sequence[int] | None = None,
    tolerance: float = TOLERANCE,
    tangential_restitution: ArrayLike = 0.0,
) -> ImpactReport:
    """Resolve an impact by all laws and treatments.

    Args:
        W: [N, N] J M⁻¹ Jᵀ of the rows of all blocks (1/kg).
        before: [N] J v, relative velocities before (m/s); normals first, approaching is negative.
        restitution, friction: [n] or one number, coefficients of the blocks.
        names: [n] names of the blocks, by default "contact 0", ...
        kinds: [n] of `saltus.model.fields.constraint.cone`: BILATERAL, UNILATERAL (one row), COULOMB (three rows:
            normal and two tangents). By default all COULOMB if N = 3 n, all UNILATERAL if N = n, where n is the
            number of names, or of restitution's entries.
        tolerance: of the complementarity problems, relative.
        tangential_restitution: [n] or one number, of the blocks with friction; Newton's law alone has it.

    Raises:
        OptionError: shapes that do not fit, numbers that are not finite, restitution outside [0, 1], friction below 0.
    """
    u, w = np.atleast_1d(np.asarray(before, float)), np.atleast_2d(np.asarray(W, float))
    if w.shape != (len(u), len(u)):
        raise OptionError(f"W has shape {w.shape}, but there are {len(u)} velocities before the impact")
    kind = _kinds(kinds, len(u), len(names) if names is not None else np.size(restitution))
    n = len(kind)
    e, mu = _coefficients("restitution", restitution, n, 1.0), _coefficients("friction", friction, n, np.inf)
    turning = _coefficients("tangential_restitution", tangential_restitution, n, 1.0)
    if not (np.isfinite(w).all() and np.isfinite(u).all()):
        raise OptionError("W, before: some numbers are not finite")
    if names is not None and len(names) != n:
        raise OptionError(f"names: {len(names)} names for {n} blocks")
    first = np.cumsum([0, *(DIMENSION[k] for k in kind)])[:-1]
    p = Struct(IMPACT, cone_sizes(n, len(u)))
    p.hard_count[:] = n, len(u)
    p.hard_kind[:], p.hard_row[:], p.hard_dim[:] = kind, first, [DIMENSION[k] for k in kind]
    p.hard_mu[:], p.hard_restitution[:], p.hard_q[:], p.hard_W[:] = mu, e, u, w.ravel()
    p.hard_tangential[:] = turning
    outcomes = {(law, t): _outcome(p, law, t, tolerance) for law in IMPACT_LAWS for t in TREATMENTS}
    return ImpactReport(tuple(names or (f"contact {b}" for b in range(n))), first, u.copy(), outcomes)


def _kinds(kinds: Sequence[int] | None, rows: int, blocks: int) -> list[int]:
    """The kind of each block, checked against the number of rows."""
    if kinds is None:
        if rows not in (blocks, 3 * blocks):
            raise OptionError(f"kinds is required: {rows} rows are not one or three for each of {blocks} contacts")
        return [UNILATERAL if rows == blocks else COULOMB] * blocks
    known = [int(k) for k in kinds]
    if any(k not in DIMENSION for k in known):
        raise OptionError(f"kinds must be BILATERAL, UNILATERAL or COULOMB, got {known}")
    if sum(DIMENSION[k] for k in known) != rows:
        raise OptionError(f"kinds: blocks with {sum(DIMENSION[k] for k in known)} rows, but W has {rows}")
    return known


def _coefficients(name: str, value: ArrayLike, n: int, largest: float) -> NDArray[np.float64]:
    given = np.asarray(value, float)
    if given.ndim > 1 or given.size not in (1, n):
        raise OptionError(f"{name}: {given.size} numbers for {n} blocks")
    if not (np.isfinite(given) & (given >= 0) & (given <= largest)).all():
        raise OptionError(f"{name} must be {'at least 0' if np.isinf(largest) else 'between 0 and 1'}, got {value}")
    return np.broadcast_to(given, n)


def _outcome(p: Struct, law: str, treatment: str, tolerance: float) -> Outcome:
    """Resolve the impact of a problem, whose data are kept."""
    p.hard_r[:] = 0.0
    residual = _resolve(p, IMPACT_LAWS.index(law), TREATMENTS.index(treatment), tolerance)
    impulse, after, report = p.hard_r.copy(), p.hard_u.copy(), p.impact_report
    change = 0.5 * float(impulse @ (after + p.hard_q))
    flags = bool(report[ENERGETIC]), int(report[ROUNDS]), bool(report[LEFTOVER])
    return Outcome(impulse, after, change, *flags, float(residual))
