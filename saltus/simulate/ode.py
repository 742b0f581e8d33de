"""`saltus.integrate_ode`: first-order systems y' = f(t, y), with the tableaus of the integrators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numba.extending import is_jitted
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import function, numbers, positive, several
from saltus.errors import DivergenceError, OptionError
from saltus.integrate.adaptive.step_bounds import breaks_of, longest_of
from saltus.integrate.fixed import runge_kutta
from saltus.integrate.implicit import implicit_runge_kutta
from saltus.integrate.registry import integrators
from saltus.integrate.tableau import ButcherTableau
from saltus.simulate.ode_steps import (
    ADAPTIVE,
    MOST,
    OdeSolution,
    Slope,
    StepControl,
    adaptive_steps,
    check_finite,
    compiled_steps,
    explicit_steps,
    implicit_steps,
    sides_of,
    wanted,
)

HEUN = ButcherTableau(
    [[0, 0], [1, 0]], ["1/2", "1/2"], name="heun", reference="Heun (1900); Hairer, Nørsett & Wanner (1993), II.1"
)
IMPLICIT_EULER = ButcherTableau(
    [[1]], [1], name="implicit_euler", reference="Hairer & Wanner, Solving ODEs II (1996), IV.3"
)


def integrate_ode(
    f: Callable[..., ArrayLike],
    y0: ArrayLike,
    t: float | Sequence[float] | NDArray[np.float64],
    method: str | ButcherTableau = "rk4",
    *,
    step: float | None = None,
    params: Iterable[object] = (),
    tolerance: tuple[float, float] = (1e-8, 1e-10),
    max_step: float | None = None,
    breaks: Sequence[float] | NDArray[np.float64] = (),
) -> OdeSolution:
    """Integrate y' = f(t, y, *params) from y0 [n].

    Args:
        f: returns the slope [n] at a time and a state [n]; a number if n is 1. A function compiled by Numba
            (`numba.njit`) runs, under explicit methods with fixed steps, in a compiled loop.
        y0: [n], or a number.
        t: the end, from 0; or (start, end); or ascending times [T > 2] of the output, beginning with the start. With
            one or two numbers there is a row after every step.
        method: "explicit_euler", "midpoint", "heun", "rk4", "dopri5" (adaptive, with dense output), "implicit_euler",
            "implicit_midpoint" or a `saltus.ButcherTableau`. Methods that move positions and velocities apart, as
            Verlet's, are refused. Coefficients are those of `saltus.integrators()`.
        step: of methods with fixed steps; None for a hundredth of the time between start and end. The last step before
            an output time is shortened to end there.
        params: further arguments of f after t and y.
        tolerance: (relative, absolute) error of a step of "dopri5".
        max_step: the longest step of "dopri5"; None for any length. Steps are chosen from f at a few points of each:
            where f hardly changes they grow, and may pass over a short pulse. Give less than its duration.
        breaks: times at which f may jump. Steps end just before and restart just behind them, so that f is smooth
            within each step and the order of the method is kept.

    Raises:
        OptionError: invalid argument; or f does not return n numbers, with the time.
        DivergenceError: f or y is not finite, with the time; or an adaptive method finds no small enough step.

    References: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), II.1, II.4 to II.6; Hairer &
    Wanner, II (1996), IV.8, for the implicit ones.
    """
    longest, jumps = longest_of(max_step), np.array(breaks_of(breaks))
    start = _finite("y0", y0).reshape(-1)
    if start.size == 0 or np.ndim(y0) > 1:
        raise OptionError(f"y0 must have shape [n], got {list(np.shape(y0))}")
    times, each = _times(t)
    found = _method(method)
    given = tuple(several("params", params))
    slope = _checked(function("f", f), len(start))
    slope(times[0], start, *given)
    if found is None:
        relative, absolute = _tolerance(tolerance)
        control = StepControl(relative, absolute, np.inf if longest is None else longest, jumps)
        return adaptive_steps(slope, given, start, times, each, control)
    if longest is not None:
        raise OptionError(f"max_step: {found.name} has steps of fixed length; give step, or choose dopri5")
    h = (times[-1] - times[0]) / 100 if step is None else positive("step", step)
    inside = jumps[(times[0] < jumps) & (jumps < times[-1])]
    ends = _step_ends(np.unique(np.concatenate([times, inside])), h)
    sides = sides_of(ends, jumps)
    if not found.explicit:
        return implicit_steps(slope, given, found, start, times, ends, each, sides)
    run = compiled_steps if is_jitted(f) else explicit_steps
    y = run(f if run is compiled_steps else slope, given, found.table, start, ends, sides)
    check_finite(ends, y)
    t_out, y_out = wanted(ends, y, times, each)
    return OdeSolution(t_out, y_out, found.name, found.order, len(ends) - 1)


# ------------------------------------------------------------ arguments


def methods() -> dict[str, ButcherTableau | None]:
    """The methods of `integrate_ode` by name, with their tableaus; None for the adaptive one."""
    found: dict[str, ButcherTableau | None] = {ADAPTIVE: None, HEUN.name: HEUN, IMPLICIT_EULER.name: IMPLICIT_EULER}
    for name, integrator in integrators().items():
        if integrator.step in (runge_kutta.step, implicit_runge_kutta.step):
            table = integrator.parameters[0]
            a, b, c = table[:-1, 1:], table[-1, 1:], table[:-1, 0]
            found[name] = ButcherTableau(a.tolist(), b.tolist(), c.tolist(), name=name)
    return found


def _method(method: Any) -> ButcherTableau | None:
    known = methods()
    if isinstance(method, ButcherTableau):
        return method
    name = method.casefold() if isinstance(method, str) else None
    if name in integrators() and name not in known:
        kind = "treats positions and velocities of a mechanism separately"
        raise OptionError(f"{name} {kind}; for y' = f(t, y) there are: {', '.join(sorted(known))}")
    if name not in known:
        raise OptionError.unknown("method", method, known)
    return known[name]


def _finite(name: str, value: Any) -> NDArray[np.float64]:
    found = numbers(name, value)
    if not np.isfinite(found).all():
        raise OptionError(f"{name} must be finite, got {value!r}")
    return found


def _times(t: Any) -> tuple[NDArray[np.float64], bool]:
    """Times from the start to the end, and whether every step has a row of output."""
    found = _finite("t", t)
    if found.ndim > 1 or found.size == 0:
        raise OptionError(f"t must be the end, (start, end) or times [T], got shape {list(found.shape)}")
    times = np.array([0.0, float(found.reshape(-1)[0])]) if found.size == 1 else found.astype(float)
    if (np.diff(times) <= 0).any():
        raise OptionError(f"t must ascend, got {t!r}" if found.size > 1 else f"t must be after 0, got {t!r}")
    return times, len(times) == 2


def _tolerance(tolerance: Any) -> tuple[float, float]:
    found = numbers("tolerance", tolerance)
    if found.shape != (2,) or not ((0 < found) & (found < 1)).all():
        raise OptionError(f"tolerance must be two numbers between 0 and 1, got {tolerance!r}")
    return float(found[0]), float(found[1])


def _step_ends(times: NDArray[np.float64], h: float) -> NDArray[np.float64]:
    """Times of the start and of the ends of all steps: full steps from each output time, then a shorter one."""
    counts = np.ceil(np.diff(times) / h * (1 - 1e-12))
    if counts.sum() > MOST:
        raise OptionError(f"step: {h:g} makes {counts.sum():.3g} steps, more than {MOST:g}")
    parts = [start + h * np.arange(max(1, int(n))) for start, n in zip(times[:-1], counts, strict=True)]
    return np.concatenate([*parts, times[-1:]])


def _checked(f: Callable[..., Any], n: int) -> Slope:
    """f as a function that returns an array [n] or raises an error with an explanation."""

    def slope(t: float, y: NDArray[np.float64], *params: Any) -> NDArray[np.float64]:
        value = f(t, y, *params)
        try:
            found = np.asarray(value if value is not None else "None", float)
        except (TypeError, ValueError):
            raise OptionError(f"f must give {n} numbers, gave {value!r} at t = {t:g}") from None
        if found.shape != (n,) and not (n == 1 and found.shape == ()):
            raise OptionError(f"f must give {n} numbers, gave shape {list(found.shape)} at t = {t:g}")
        if not np.isfinite(found).all():
            raise DivergenceError(float(t), what="f is not finite")
        return found.reshape(n)

    return slope
