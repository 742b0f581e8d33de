"""Error estimates of runs by repeating them with half and a quarter of the step (Richardson 1911).

With a method of order p the error at a fixed time is e(h) = C h^p + O(h^(p+1)). Three runs give two differences,
    d1 = x_h - x_{h/2} = C h^p (1 - 2^-p),    d2 = x_{h/2} - x_{h/4} = 2^-p d1,
hence the observed order log2(|d1|/|d2|) and the error of the finest run, |d2|/(2^p - 1); one halving back, the error
is 2^p times as large (Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, section II.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.record.table.error_bound import (
    SAFETY,
    bound_from_difference,
    bound_from_extrapolation,
    largest_entry,
    reach,
    rounding_level,
)
from saltus.terminal.display import notebook_html

#: Difference between observed and declared order beyond which the error bar is called into question.
ORDER_TOLERANCE = 0.5

#: Below this exponent the differences shrink too slowly for an extrapolation to mean anything.
_LEAST_ORDER = 0.5


@dataclass(frozen=True, eq=False)
class Certificate:
    """The accuracy of one run, certified by its repetitions with smaller steps.

    Attributes:
        order: declared order of the integrator.
        observed_order: the order that the runs show; nan where it is not measurable.
        error [T]: estimated error of the positions at each sample, largest over the generalized coordinates (rad, m).
        final_error: the estimated error of the positions at the end of the run, where no sample need lie.
        energy_drift: largest change of the energy relative to the energy in play (see `energy_drift`); nan if unknown.
        timesteps: the steps of the three runs, s: h, h/2, h/4.
        timestep: which of them `error` is about, s; nan where steps are controlled.
        warnings: why the figures may not hold, or how they are to be read; empty for a clean run.
        ok: whether estimate and bound can be trusted.
        exchanges: causes that changed the energy on purpose, so that its drift is no error; empty without any.
        bound [T]: upper bound of the error of the positions at each sample, see `saltus.record.table.error_bound`;
            inf where none can be given, nan where it is not known.
        end_bound: upper bound at the end of the run, where no sample need lie; nan where that is the last sample's.
        rounding: the level of rounding in the positions (rad, m), below which no error is measured.
    """

    order: float
    observed_order: float
    error: NDArray[np.float64]
    final_error: float
    energy_drift: float
    timesteps: tuple[float, float, float]
    timestep: float
    warnings: list[str] = field(default_factory=list)
    ok: bool = True
    exchanges: list[str] = field(default_factory=list)
    bound: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    rounding: float = 0.0
    end_bound: float = math.nan

    _repr_html_ = notebook_html

    def __post_init__(self) -> None:
        if len(self.bound) != len(self.error):
            object.__setattr__(self, "bound", np.full(len(self.error), math.nan))

    @property
    def largest_error(self) -> float:
        """Largest entry of `error`, or `final_error` where that is larger; nan without samples."""
        return float(np.max([*self.error, self.final_error])) if len(self.error) else math.nan

    @property
    def final_bound(self) -> float:
        """Bound at the end of the run: `end_bound` or the last entry of `bound`; nan without samples."""
        if not math.isnan(self.end_bound):
            return self.end_bound
        return float(self.bound[-1]) if len(self.bound) else math.nan

    @property
    def largest_bound(self) -> float:
        """Largest entry of `bound`; nan without samples."""
        return float(np.max(self.bound)) if len(self.bound) else math.nan

    def refuted(self, *reasons: str) -> Certificate:
        """Return the certificate without a bound, with the reason why the runs may have missed something."""
        bound = np.full(len(self.error), math.inf)
        return replace(self, ok=False, bound=bound, end_bound=math.inf, warnings=[*self.warnings, *reasons])

    def noted(self, *notes: str) -> Certificate:
        """Return the certificate with further warnings."""
        return replace(self, warnings=[*self.warnings, *notes])

    def _size_text(self) -> str:
        """Estimate and bound in one sentence."""
        if math.isnan(self.largest_error):
            return "unknown"
        where = "in generalized coordinates (rad, m),"
        if math.isinf(self.largest_bound):
            differ = f"{self.final_error:.1g} at the end, {self.largest_error:.1g} at most"
            return f"position error not bounded, the runs differ by {differ}, {where}"
        final, largest = (error_text(self, error) for error in (self.final_error, self.largest_error))
        bound = bound_text(self.final_bound)
        return f"position error {final} at the end, {largest} at its largest, bound {bound}, {where}"

    def __str__(self) -> str:
        observed = "not measurable" if math.isnan(self.observed_order) else f"{self.observed_order:.2f}"
        step = "controlled steps" if math.isnan(self.timestep) else f"timestep {self.timestep:.4g} s"
        text = f"accuracy: {self._size_text()} with {step} (observed order {observed}, declared {self.order:g})"
        if not math.isnan(self.energy_drift) and not self.exchanges:
            text += f"; energy drift {self.energy_drift:.2g}"
        return "\n".join([text, *(f"  note: {w}" if self.ok else f"  warning: {w}" for w in self.warnings)])


def error_text(certificate: Certificate, error: float, digits: int = 1) -> str:
    """An error (rad, m) in words, "below ..." where it is within rounding, unknown where it has no bound."""
    if math.isinf(certificate.largest_bound):
        return f"unknown (runs differ by {error:.{digits}g})"
    if error <= certificate.rounding:
        return f"below {certificate.rounding:.{digits}g} (rounding)"
    return f"about {error:.{digits}g}"


def bound_text(bound: float, digits: int = 2) -> str:
    """A bound (rad, m) in words, with its last digit rounded up."""
    if math.isnan(bound):
        return "not known"
    return _rounded_up(bound, digits) if math.isfinite(bound) else "none"


def _rounded_up(value: float, digits: int) -> str:
    """A positive number in so many digits, not below its value."""
    if value <= 0.0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{math.ceil(value / unit * (1.0 - 1e-12)) * unit:.{digits}g}"


def energy_drift(energy: ArrayLike) -> float:
    """Largest |E - E0| over the samples, relative to the energy in play.

    What motors and dampers do counts as drift, and so does damping in given equations of motion; a ledger
    (`saltus.record.table.ledger`) tells the error of the integrator from it.

    The potential's zero is arbitrary, so the energy in play is E0 above the lowest potential that was visited: for a
    pendulum swinging through its lowest point, E0 measured from there. Where the motion starts at that lowest point at
    rest, it is the largest kinetic energy or range of the potential.

    Args:
        energy [T, 2]: potential and kinetic energy, J.

    Returns:
        The drift, 0 for a system at rest; nan without samples or where an energy is not finite.
    """
    table = np.asarray(energy, dtype=np.float64)
    if table.size == 0 or not np.isfinite(table).all():
        return math.nan
    total = table.sum(axis=1)
    change = float(np.max(np.abs(total - total[0])))
    scale = energy_in_play(table)
    return change / scale if scale > 0.0 else 0.0


def energy_in_play(energy: ArrayLike) -> float:
    """Energy that the motion exchanges (J), the reference of `energy_drift`; for finite energies [T, 2]."""
    table = np.asarray(energy, dtype=np.float64)
    potential, kinetic = table[:, 0], table[:, 1]
    span = max(float(np.max(kinetic)), float(np.ptp(potential)))
    in_play = float(potential[0] + kinetic[0] - np.min(potential))
    return in_play if in_play > 1e-6 * span else span


def certify_from_runs(
    order: float,
    times: ArrayLike,
    differences_h_h2: ArrayLike,
    differences_h2_h4: ArrayLike,
    *,
    timestep: float,
    run: int = 2,
    nv: int | None = None,
    energy: ArrayLike | None = None,
    scale: float = 1.0,
    floor: float = 0.0,
    others: Sequence[ArrayLike] = (),
) -> Certificate:
    """Judge three runs of the same motion with steps h, h/2 and h/4, sampled at the same times.

    Args:
        order: declared order p of the integrator.
        times [T]: sample times, s.
        differences_h_h2 [T, n]: state with h minus state with h/2, in the tangent space.
        differences_h2_h4 [T, n]: state with h/2 minus state with h/4, in the tangent space.
        timestep: h, s.
        run: which run the certificate is about: 0 (step h), 1 (h/2) or 2 (h/4, the finest).
        nv: number of leading columns that are positions and make the error; the order is taken from all columns.
            None: all columns are positions.
        energy [T, 2]: potential and kinetic energy of that run, J.
        scale: size of the coordinates (rad, m), against which round-off is judged.
        floor: error that all runs share (rad, m), such as gaps that count as closed; part of the bound.
        others: differences [T, n] of the first run to more runs, with steps that are no halves of h: where forces or
            velocities jump within steps, runs whose steps end at common times may err alike. For run 0.

    Raises:
        OptionError: shapes do not fit, or order, timestep, run or scale is out of range.
    """
    time, first, second = _checked(order, times, differences_h_h2, differences_h2_h4, timestep, run, scale)
    positions = first.shape[1] if nv is None else nv
    rounding = rounding_level(scale, float(np.ptp(time)) / (timestep / 4) if len(time) else 0.0)
    observed, warnings, ok = _observed_order(order, first, second, rounding, floor)
    first, second = first[:, :positions], second[:, :positions]
    error = _error(order, observed, ok, first, second, run)
    last = reach(time, timestep)
    bound = _bound(error, order, observed, ok, first, second, rounding + floor, last)
    if len(others):
        apart = np.max([largest_entry(np.asarray(d, float)[:, :positions]) for d in others], axis=0)
        error, both = np.maximum(error, apart), largest_entry(first) + largest_entry(second)
        bound = np.maximum(bound, bound_from_difference(np.maximum(both, apart), rounding + floor, last))
        if ok and np.max(apart, initial=0.0) > SAFETY * np.max(both, initial=0.0) + rounding + floor:
            ok = False
            text = "the run and its halves err alike: one whose steps are no parts of its own differs by more"
            warnings = [f"{text}; the bound is three times that; try a smaller timestep"]
    steps = (timestep, timestep / 2, timestep / 4)
    return Certificate(
        order=order,
        observed_order=observed,
        error=error,
        final_error=float(error[-1]) if len(error) else math.nan,
        energy_drift=math.nan if energy is None else energy_drift(energy),
        timesteps=steps,
        timestep=steps[run],
        warnings=warnings,
        ok=ok,
        bound=bound,
        rounding=rounding,
    )


def _checked(
    order: float,
    times: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    timestep: float,
    run: int,
    scale: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    if run not in (0, 1, 2):
        raise OptionError(f"run must be 0, 1 or 2, got {run!r}")
    for name, value in (("order", order), ("timestep", timestep), ("scale", scale)):
        if not (math.isfinite(value) and value > 0):
            raise OptionError(f"{name} must be positive, got {value!r}")
    time, d1, d2 = (np.asarray(a, dtype=np.float64) for a in (times, first, second))
    if time.ndim != 1 or d1.ndim != 2 or d1.shape != d2.shape or len(d1) != len(time):
        raise OptionError(
            "times [T] and both differences [T, n] must agree in shape, "
            f"got {list(time.shape)}, {list(d1.shape)} and {list(d2.shape)}"
        )
    return time, d1, d2


def _observed_order(
    order: float, first: NDArray[np.float64], second: NDArray[np.float64], rounding: float, floor: float
) -> tuple[float, list[str], bool]:
    """Observed order, from the norms over all samples; a remark on it; and whether an error bar is possible."""
    if first.size == 0:
        return math.nan, ["nothing to compare: the order cannot be measured"], True
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return math.nan, ["a run is not finite: no error bar"], False
    lowest = rounding + floor
    # one difference within rounding beside a large one is chance
    if np.max(np.abs(second)) <= lowest and np.max(np.abs(first)) <= 2.0 ** (order + 1.0) * lowest:
        level = f"below {floor:.2g}, within gaps that count as closed" if floor > rounding else "at round-off"
        return math.nan, [f"differences {level}; the order cannot be measured"], True
    d1, d2 = _norm(first), max(_norm(second), np.finfo(np.float64).tiny)
    if d1 <= d2:
        shown = math.log2(d1 / d2) if d1 > 0.0 else math.nan
        return shown, ["the differences do not shrink with the step: the stated error is a lower bound"], False
    observed = math.log2(d1 / d2)
    if abs(observed - order) > ORDER_TOLERANCE:
        text = f"the step is outside the asymptotic range: observed order {observed:.2f}, declared {order:g}"
        if observed < order:
            text += ", as where forces jump within steps, in contact or by dry friction"
        return observed, [text + "; the bound is three times both differences; try a smaller timestep"], False
    return observed, [], True


def _norm(difference: NDArray[np.float64]) -> float:
    """Root of the mean square over the samples of the largest entry of each; scaled against over- and underflow."""
    largest = np.max(np.abs(difference), axis=1)
    top = float(np.max(largest))
    return top * math.sqrt(float(np.mean((largest / top) ** 2))) if top > 0.0 else 0.0


def _error(
    order: float, observed: float, ok: bool, first: NDArray[np.float64], second: NDArray[np.float64], run: int
) -> NDArray[np.float64]:
    """Error of the chosen run at each sample [T]; the larger difference itself where no order is known."""
    d1, d2 = largest_entry(first), largest_entry(second)
    if math.isnan(observed) or observed <= 0.0:
        return np.maximum(d1, d2)
    q = _order_used(order, observed, ok)
    finer = (d2 if run == 2 else d1) / (2.0**q - 1.0)
    return finer * 2.0**q if run == 0 else finer


def _order_used(order: float, observed: float, ok: bool) -> float:
    """The declared order, or the observed one where the runs do not reach the declared one."""
    return order if ok else max(min(order, observed), _LEAST_ORDER)


def _bound(
    error: NDArray[np.float64],
    order: float,
    observed: float,
    ok: bool,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    floor: float,
    last: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Bound of the error at each sample [T]; inf where the differences do not shrink with the step."""
    if math.isnan(observed) and ok:
        return bound_from_difference(error, floor, last)
    if math.isnan(observed) or observed <= 0.0:
        return np.full(len(error), math.inf)
    if ok:
        return bound_from_extrapolation(error, first, second, order, floor, last)
    both = largest_entry(first) + largest_entry(second)
    return bound_from_difference(np.maximum(error, both), floor, last)
