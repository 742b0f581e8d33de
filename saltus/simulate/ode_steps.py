"""Steps of the methods of `saltus.integrate_ode`, explicit, implicit and adaptive, and their solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, warn
from saltus.integrate.adaptive import step_size
from saltus.integrate.adaptive.step_bounds import SIDE
from saltus.integrate.dense import dormand_prince
from saltus.integrate.tableau import ButcherTableau
from saltus.terminal.display import notebook_html

ADAPTIVE = "dopri5"
MOST = 10_000_000  # steps
NEWTON_STEPS, NEWTON_TOLERANCE, DIFFERENCE = 50, 1e-13, 1.5e-8
SMALLEST = 1e-13  # smallest step, relative to the time
Slope = Callable[..., NDArray[np.float64]]


@dataclass(frozen=True)
class OdeSolution:
    """Solution of an ordinary differential equation by `integrate_ode`.

    Attributes:
        t: [T] times, beginning with the start.
        y: [T, n] values at these times.
        method: name of the method.
        order: the error at a fixed time shrinks like step**order.
        steps: number of steps taken; `rejected`: number of rejected steps of an adaptive method.
        unconverged: of an implicit method, steps whose equations Newton's method did not solve to rounding.
        error: [T, n] of an adaptive method, the cumulative estimate of the steps' errors, else None. It is no bound of
            the global error, since the system amplifies or damps errors.
        status: "done", or "unconverged" if there were such steps.
    """

    t: NDArray[np.float64]
    y: NDArray[np.float64]
    method: str
    order: int
    steps: int
    rejected: int = 0
    unconverged: int = 0
    error: NDArray[np.float64] | None = None

    _repr_html_ = notebook_html

    @property
    def status(self) -> str:
        return "unconverged" if self.unconverged else "done"


class StepControl(NamedTuple):
    """Relative and absolute error of a step, the longest step (inf: any), and the times [k] at which steps end."""

    relative: float
    absolute: float
    longest: float
    breaks: NDArray[np.float64]


# ------------------------------------------------------------ breaks and output


def _before(time: float) -> float:
    """Last time (s) before a break, a few roundings away."""
    return time - SIDE * (1.0 + abs(time))


def _behind(time: float) -> float:
    """First time (s) after a break, a few roundings away."""
    return time + SIDE * (1.0 + abs(time))


def sides_of(ends: NDArray[np.float64], breaks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounds [T, 2], inside breaks, of the times at which a step from each of the times `ends` [T] uses slopes."""
    sides = np.tile([-np.inf, np.inf], (len(ends), 1))
    for row in np.flatnonzero(np.isin(ends, breaks)):
        sides[row, 0] = _behind(ends[row])
        sides[row - 1, 1] = _before(ends[row])
    return sides


def check_finite(ends: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    bad = ~np.isfinite(y).all(axis=1)
    if bad.any():
        raise DivergenceError(float(ends[bad.argmax()]), what="y is not finite")


def wanted(
    ends: NDArray[np.float64], y: NDArray[np.float64], times: NDArray[np.float64], each: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Output times and rows, selected from those of all steps' ends."""
    rows = slice(None) if each else np.searchsorted(ends, times)
    return ends[rows], y[rows]


# ------------------------------------------------------------ fixed steps


def explicit_steps(f: Any, params: Any, table: Any, start: Any, ends: Any, sides: Any) -> Any:
    """y [T, n] at the ends of explicit steps: k_i = f(t + c_i h, y + h Σ a_ij k_j), y' = y + h Σ b_i k_i.

    `sides` [T, 2]: bounds of the times at which the step from each row evaluates f.
    """
    stages = table.shape[0] - 1
    y = np.empty((len(ends), len(start)))
    y[0] = start
    k = np.zeros((stages, len(start)))
    for row in range(len(ends) - 1):
        h = ends[row + 1] - ends[row]
        for i in range(stages):
            place = y[row].copy()
            for j in range(i):
                place += h * table[i, 1 + j] * k[j]
            time = min(max(ends[row] + h * table[i, 0], sides[row, 0]), sides[row, 1])
            k[i] = f(time, place, *params)
        y[row + 1] = y[row]
        for i in range(stages):
            y[row + 1] += h * table[stages, 1 + i] * k[i]
    return y


compiled_steps: Any = numba.njit(explicit_steps)


def implicit_steps(
    f: Slope, params: Any, tableau: ButcherTableau, start: Any, times: Any, ends: Any, each: bool, sides: Any
) -> OdeSolution:
    """Steps with implicit stages k_i = f(t + c_i h, y + h Σ a_ij k_j), solved together by Newton's method.

    `sides`: as in `explicit_steps`.
    """
    y, unconverged = np.empty((len(ends), len(start))), 0
    y[0] = start
    for row in range(len(ends) - 1):
        t, h = ends[row], ends[row + 1] - ends[row]
        k, converged = _stages(f, params, tableau, np.clip(t + h * tableau.c, *sides[row]), y[row], h)
        unconverged += not converged
        y[row + 1] = y[row] + h * tableau.b @ k
    check_finite(ends, y)
    if unconverged:
        count = f"{unconverged} of {len(ends) - 1} steps"
        text = f"{tableau.name}: Newton's method did not solve the equations of {count} to rounding; try a smaller step"
        warn(text)
    t_out, y_out = wanted(ends, y, times, each)
    return OdeSolution(t_out, y_out, tableau.name, tableau.order, len(ends) - 1, unconverged=unconverged)


def _stages(f: Slope, params: Any, tableau: ButcherTableau, t: Any, y: Any, h: float) -> tuple[Any, bool]:
    """The slopes k [s, n] at the times t [s], and whether Newton's method converged to rounding."""
    s, n = tableau.stages, len(y)

    def residual(k: Any) -> Any:
        places = y + h * tableau.a @ k
        return k - np.array([f(time, place, *params) for time, place in zip(t, places, strict=True)])

    k = np.tile(f(t[0], y, *params), (s, 1))
    last = np.inf
    for _ in range(NEWTON_STEPS):
        value = residual(k)
        change = np.linalg.lstsq(_jacobian(residual, k, value), value.reshape(-1), rcond=None)[0].reshape(s, n)
        k = k - change
        size, scale = abs(change).max(), 1e-300 + abs(k).max()
        if size <= NEWTON_TOLERANCE * scale or (size >= 0.5 * last and size <= 1e-9 * scale):
            return k, True
        last = size
    return k, False


def _jacobian(residual: Callable[[Any], Any], k: Any, value: Any) -> Any:
    """Derivatives of the residual [s n, s n] by forward differences."""
    columns = []
    for place in np.ndindex(k.shape):
        moved = k.copy()
        moved[place] += DIFFERENCE * (1 + abs(k[place]))
        columns.append((residual(moved) - value).reshape(-1) / (moved[place] - k[place]))
    return np.stack(columns, axis=1)


# ------------------------------------------------------------ step control


def adaptive_steps(f: Slope, params: Any, start: Any, times: Any, each: bool, control: StepControl) -> OdeSolution:
    """Steps of Dormand and Prince's method with the numbers of `saltus.integrate.adaptive.dopri5`.

    With `each`, every step has a row of output, otherwise each of the times.
    """
    relative, absolute, longest, breaks = control
    tableau, error_weights = dormand_prince.TABLEAU, np.array(dormand_prince.ERROR)
    t, y, end = float(times[0]), start, float(times[-1])
    k = np.zeros((tableau.stages, len(y)))
    stops = np.append(breaks[(breaks > t) & (breaks < end)], end)
    jumps = set(breaks.tolist())
    k[0] = f(_behind(t) if t in jumps else t, y, *params)
    h, before, rejected, steps = _first_step(f, params, t, y, k[0], stops[0], relative, absolute), 1e-4, 0, 0
    rows, total = [(t, y, np.zeros_like(y))], np.zeros_like(y)
    following = 1
    while t < end:
        stop = float(stops[0])
        h = min(h, longest)
        h = stop - t if h > 0.999999 * (stop - t) else h
        if h < SMALLEST * (1 + abs(end)):
            raise DivergenceError(t, what=f"no step is small enough for a tolerance of {relative:g}, {absolute:g}")
        for i in range(1, tableau.stages):
            time = t + h * tableau.c[i]
            if stop in jumps and time >= _before(stop):
                time = _before(stop)
            k[i] = f(time, y + h * tableau.a[i, :i] @ k[:i], *params)
        new = y + h * tableau.b @ k
        estimate = h * error_weights @ k
        norm = _norm(estimate, y, new, relative, absolute)
        if norm <= 1.0:
            steps, total = steps + 1, total + abs(estimate)
            last = stop if h == stop - t else t + h
            if each:
                rows.append((last, new, total))
            while not each and following < len(times) and times[following] <= last:
                rows.append((times[following], _dense(k, y, h, (times[following] - t) / h), total))
                following += 1
            t, y = last, new
            k[0] = k[-1]
            if t == stop and t < end:  # restart after a break
                stops = stops[1:]
                k[0] = f(_behind(t), y, *params)
                h, before = _first_step(f, params, t, y, k[0], stops[0], relative, absolute), 1e-4
                continue
        else:
            rejected += 1
        if steps + rejected > MOST:
            raise DivergenceError(t, what=f"{MOST:g} steps are not enough")
        h, before = _next_step(h, norm, before)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return OdeSolution(columns[0], columns[1], ADAPTIVE, tableau.order, steps, rejected, error=columns[2])


def _norm(value: Any, y: Any, new: Any, relative: float, absolute: float) -> float:
    """Root mean square of `value` over absolute + relative * magnitude; infinite if it is not finite."""
    scale = absolute + relative * np.maximum(abs(y), abs(new))
    norm = float(np.sqrt(np.mean((value / scale) ** 2)))
    return norm if np.isfinite(norm) else np.inf


def _first_step(
    f: Slope, params: Any, t: float, y: Any, slope: Any, end: float, relative: float, absolute: float
) -> float:
    """First step (Hairer, Nørsett & Wanner, II.4): a small part of the time in which y and its slope change."""
    size, speed = _norm(y, y, y, relative, absolute), _norm(slope, y, y, relative, absolute)
    h = 1e-6 if min(size, speed) < 1e-5 else 0.01 * size / speed
    h = min(h, end - t)
    bend = _norm(f(t + h, y + h * slope, *params) - slope, y, y, relative, absolute) / h
    most = max(speed, bend)
    return min(100 * h, max(1e-6, 1e-3 * h) if most <= 1e-15 else (0.01 / most) ** 0.2, end - t)


def _next_step(h: float, norm: float, before: float) -> tuple[float, float]:
    """PI controller of `step_size.control_step_size`: the next step to try, and the error to remember."""
    good, norm = norm <= 1.0, max(norm, 1e-10)
    factor = step_size.SAFETY * norm ** -(0.2 - 0.75 * step_size.BETA) * before**step_size.BETA
    return h * min(max(factor, step_size.SHRINK), step_size.GROW if good else 1.0), max(norm, 1e-4) if good else before


def _dense(k: Any, y: Any, h: float, theta: float) -> Any:
    """Value at the fraction theta of a step, to fourth order, as in `saltus.integrate.dense.dense_output.dense`."""
    rest = 1.0 - theta
    whole, bend = dormand_prince.TABLEAU.b @ k, np.array(dormand_prince.DENSE) @ k
    first = k[0] - whole
    last = whole - k[-1] - first
    return y + h * theta * (whole + rest * (first + theta * (last + rest * bend)))
