"""Numbers from equations: accelerations, multipliers, and motion over time.

In maximal coordinates the linear system of each state is

    M a - Jᵀ λ = forces - bias,    J a = γ - 2 α dΦ/dt - β² Φ,

where α and β correct drift off the constraints (Baumgarte, Computer Methods in Applied Mechanics and
Engineering 1 (1972) 1-16).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict
from weakref import WeakKeyDictionary

import numpy as np
import symengine
import sympy
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.linalg.lapack import dposv  # pyright: ignore[reportAttributeAccessIssue] (made by f2py)

from saltus.arguments import mapping, numbers, positive
from saltus.errors import DivergenceError, OptionError
from saltus.symbolic.code import routine
from saltus.symbolic.export.python_code import function

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations

OFF = 1e-5  # m, rad, and their rates: a start farther off its constraints is refused
RANK = 1e-10  # relative: constraints that are closer than this to depending on each other share their force

#: Numbers by names or symbols.
Values: TypeAlias = Mapping[str, float] | Mapping[sympy.Symbol, float]
#: Numbers, or functions of the time (s), by names or symbols.
Inputs: TypeAlias = (
    Mapping[str, float | Callable[[float], float]] | Mapping[sympy.Symbol, float | Callable[[float], float]]
)


_COMPILED: WeakKeyDictionary[DerivedEquations, Callable[..., list[np.ndarray]]] = WeakKeyDictionary()


class SolveOptions(TypedDict, total=False):
    """Options of `Equations.solve`."""

    inputs: Inputs | None
    parameters: Values | None
    stabilisation: tuple[float, float]
    sample: float
    rtol: float
    atol: float


class Evaluator:
    """Accelerations of the equations with numbers for every symbol. `stabilisation`: (α, β) in 1/s."""

    def __init__(
        self,
        equations: DerivedEquations,
        inputs: Inputs | None = None,
        parameters: Values | None = None,
        stabilisation: tuple[float, float] = (0.0, 0.0),
    ):
        self._equations = equations
        self._terms = compiled_terms(equations)
        self._inputs = by_name("input", equations.inputs, {} if inputs is None else inputs)
        self._parameters = parameter_values(equations, parameters)
        self._stabilisation = stabilisation

    def __call__(self, q: Any, v: Any, time: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """(a [n], λ [nc]) at a state and a time (s)."""
        M, bias, forces, *constraint = self._terms(*self._arguments(q, v, time))
        if not constraint:
            return definite_solve(M, forces - bias), np.zeros(0)
        jacobian, gamma, phi, rate = constraint
        alpha, beta = self._stabilisation
        n, nc = len(bias), len(gamma)
        system = np.block([[M, -jacobian.T], [jacobian, np.zeros((nc, nc))]])
        right = np.concatenate([forces - bias, gamma - 2.0 * alpha * rate - beta**2 * phi])
        found = np.linalg.lstsq(system, right, rcond=RANK)[0]  # constraints of slides and closed chains may repeat
        return found[:n], found[n:]

    def violations(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        """(Φ [nc], dΦ/dt [nc]) at a state; empty without constraints."""
        _, _, _, *constraint = self._terms(*self._arguments(q, v, 0.0))
        return (constraint[2], constraint[3]) if constraint else (np.zeros(0), np.zeros(0))

    def _arguments(self, q: Any, v: Any, time: float) -> list[np.ndarray]:
        """Arguments of the compiled function at a state, with the inputs at a time (s)."""
        arguments = [np.asarray(q, float), np.asarray(v, float)]
        if self._equations.inputs:
            values = [self._inputs.get(str(symbol), 0.0) for symbol in self._equations.inputs]
            arguments.append(np.array([x(time) if callable(x) else x for x in values], float))
        if self._parameters.size:
            arguments.append(self._parameters)
        return arguments


def compiled_terms(equations: DerivedEquations) -> Callable[..., list[np.ndarray]]:
    """Function of a state that gives all terms of the equations as arrays, compiled at its first use."""
    if equations not in _COMPILED:
        _COMPILED[equations] = function(routine(equations))
    return _COMPILED[equations]


def definite_solve(M: np.ndarray, right: np.ndarray) -> np.ndarray:
    """x of M x = right for a symmetric positive definite M [n, n]; LinAlgError for others."""
    _, found, status = dposv(M, right)
    if status:
        raise np.linalg.LinAlgError(f"the inertia matrix is not positive definite: pivot {status}")
    return found


def solution(
    equations: DerivedEquations,
    duration: float,
    q: ArrayLike,
    v: ArrayLike,
    *,
    inputs: Inputs | None = None,
    parameters: Values | None = None,
    stabilisation: tuple[float, float] = (0.0, 0.0),
    sample: float = 1 / 60,
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(time [T], q [T, nq], v [T, n]) from a state over a duration (s), by SciPy's DOP853."""
    duration, sample = positive("duration", duration), positive("sample", sample)
    evaluator = Evaluator(equations, inputs, parameters, stabilisation)
    rates = _rates(equations)
    q, v = checked_state(equations, q, v)
    size, start = len(q), np.concatenate([q, v])
    if not any(stabilisation):
        _check_constraints(equations, q, v, evaluator)

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([rates(x), evaluator(x[:size], x[size:], t)[0]])

    count = int(np.floor(duration / sample * (1 + 1e-12))) + 1
    times = np.minimum(np.arange(count) * sample, duration)
    found = solve_ivp(slope, (0.0, duration), start, "DOP853", t_eval=times, rtol=rtol, atol=atol)
    if not found.success:
        raise DivergenceError(float(found.t[-1]) if len(found.t) else 0.0, what=str(found.message))
    return found.t, found.y[:size].T, found.y[size:].T


def checked_state(equations: DerivedEquations, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check a state and return its arrays; OptionError where their sizes are not those of the equations."""
    q, v = (numbers(name, value).astype(float).reshape(-1) for name, value in (("q", q), ("v", v)))
    n, nv = len(equations.q), len(equations.v)
    if (q.size, v.size) != (n, nv):
        raise OptionError(
            f"a state of these equations has {n} coordinates q and {nv} velocities v, got {q.size} and {v.size} numbers"
        )
    for name, value in (("q", q), ("v", v)):
        if not np.isfinite(value).all():
            raise OptionError(f"{name} must be finite, got {value}")
    return q, v


def _check_constraints(equations: DerivedEquations, q: np.ndarray, v: np.ndarray, evaluator: Evaluator) -> None:
    """Raise OptionError for a state of maximal coordinates that is off the constraints."""
    for what, values in zip(("", "the rate of "), evaluator.violations(q, v), strict=True):
        for name, value in zip(equations.constraints, values, strict=True):
            if abs(value) > OFF:
                raise OptionError(
                    f"the start does not satisfy {what}the constraint {name!r}, it is off by {value:.3g}; from_joint "
                    "gives starts that do, and stabilisation=(α, β) draws others back"
                )


def _rates(equations: DerivedEquations) -> Callable[[np.ndarray], np.ndarray]:
    """dq/dt of a state."""
    c = equations.choice.own
    compiled = symengine.Lambdify([*c.q, *c.v], [symengine.sympify(x) for x in c.qdot], cse=True)
    return lambda x: np.array(compiled(x), float).reshape(-1)


def parameter_values(equations: DerivedEquations, given: Mapping[Any, float] | None) -> np.ndarray:
    """The parameters in order, those of the model unless others are given by name or symbol."""
    named = by_name("parameter", equations.parameters, {} if given is None else given)
    values = [named.get(str(symbol), value) for symbol, value in equations.parameters.items()]
    return numbers("parameters", values)


def by_name(what: str, known: Mapping[Any, Any], given: Mapping[Any, Any]) -> dict[str, Any]:
    """Given values by the names of the known symbols; OptionError for a name that is unknown or given twice.

    The first of several torques has a second name: tau is tau1, and where it is alone, tau1 is tau; F likewise.
    """
    names = [str(symbol) for symbol in known]
    out = {}
    for symbol, value in mapping(f"{what}s", given).items():
        name = _numbered(str(symbol), names)
        if name not in names:
            raise OptionError.unknown(what, str(symbol), names)
        if name in out:
            raise OptionError(f"{what} {name!r} is given twice, once as {str(symbol)!r}")
        out[name] = value
    return out


def _numbered(name: str, names: Sequence[str]) -> str:
    """A torque's or force's name among the known ones: with the number 1, or without, where only that is known."""
    letter = name.removesuffix("1")
    if name not in names and letter in ("tau", "F"):
        return next((other for other in (letter, f"{letter}1") if other in names), name)
    return name
