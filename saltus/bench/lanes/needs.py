"""Operations and bytes that a step needs at least, and how fast this processor could be with them (its roofline).

Operations of the motion without constraints are counted by running the kernels on numbers that count; those of
Newton's method follow from the rows of each simulation (see `saltus.bench.harness.solver_work`). Contacts, the making
of rows, line searches and the integrator are left out, so that a step needs more. Of memory a step needs the state at
least, read and written once; all else may stay in caches. The bound is that of Williams, Waterman & Patterson,
Roofline: an insightful visual performance model for multicore architectures (2009).
"""

from __future__ import annotations

import functools
import math
import operator
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from saltus.bench.harness.solver_work import peak
from saltus.dynamics.equations import bias_force, joint_inertia
from saltus.dynamics.smooth import free_acceleration
from saltus.integrate.fixed.euler_tangents import SUPPORTED
from saltus.model.layout import DATA
from saltus.model.model import Model
from saltus.number.kernels import interpret
from saltus.number.symbols import Kind, SymbolicStruct, symbolic_model
from saltus.simulate.simulation import Simulation

BYTES = 1 << 26  # of an array that no cache holds
SOLVERS = frozenset(["cg", "pgs", "noslip", "many_trees"])  # features without a part in motion without constraints


class Counted:
    """A number that counts the operations on it; products and sums with the plain number 0 count none."""

    operations = 0

    def __init__(self, value: float):
        self.value = value

    @property
    def library(self) -> type[Functions]:
        """Functions of these numbers by SymPy's names."""
        return Functions

    def free_symbols(self) -> list[str]:
        """None; kernels' functions know numbers by this attribute."""
        return []

    def _made(self, operation: Callable[[float, float], float], a: Any, b: Any) -> Counted:
        Counted.operations += all(isinstance(x, Counted) or x != 0.0 for x in (a, b))
        x, y = plain(a), plain(b)
        return Counted(operation(x, y) if operation is not operator.truediv or y else math.nan)

    def __add__(self, other: Any) -> Counted:
        return self._made(operator.add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Counted:
        return self._made(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Counted:
        return self._made(operator.sub, other, self)

    def __mul__(self, other: Any) -> Counted:
        return self._made(operator.mul, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Counted:
        return self._made(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Counted:
        return self._made(operator.truediv, other, self)

    def __pow__(self, exponent: Any) -> Counted:
        return self._made(operator.pow, self, exponent)

    def __neg__(self) -> Counted:
        return Counted(-self.value)

    def __abs__(self) -> Counted:
        return Counted(abs(self.value))

    def __lt__(self, other: Any) -> bool:
        return self.value < plain(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= plain(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > plain(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= plain(other)

    def __eq__(self, other: object) -> bool:
        return self.value == plain(other)

    __hash__ = None  # type: ignore[assignment]


def plain(x: Any) -> float:
    """The value of a number."""
    return x.value if isinstance(x, Counted) else float(x)


def _one(function: Callable[..., float]) -> Callable[..., Counted]:
    """A function that counts as one operation."""

    def counted(*numbers: Any) -> Counted:
        Counted.operations += 1
        return Counted(function(*map(plain, numbers)))

    return staticmethod(counted)  # pyright: ignore[reportReturnType]


class Functions:
    """Functions of counted numbers by the names that SymPy's have."""

    sqrt, exp, floor, sin, cos, atan2 = map(_one, (math.sqrt, math.exp, math.floor, math.sin, math.cos, math.atan2))


def smooth_flops(model: Model) -> float:
    """Operations of an evaluation without constraints, at the model's start; nan where kernels only run compiled.

    With constraints the inertia matrix and the bias forces are among them, which the solver needs.
    """
    engine = Simulation(model, integrator="euler").engine
    features = engine.m.layout.features
    if not features <= SUPPORTED | SOLVERS:
        return math.nan
    number: Any = Kind(float, None)
    m, d = symbolic_model(engine.m, number), SymbolicStruct(DATA, engine.d.sizes, number)
    for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "mocap_pos", "mocap_quat"):
        view = d.views[name]
        values = np.broadcast_to(engine.d.views[name], view.shape)
        for index in np.ndindex(view.shape):
            view[index] = Counted(float(values[index]))
    before = Counted.operations
    interpret(free_acceleration)(m, d)
    if "constraint" in features:
        interpret(joint_inertia)(m, d)
        interpret(bias_force)(m, d, d)
    return float(Counted.operations - before)


@functools.cache
def bandwidth() -> float:
    """Bytes per second that one core reads and writes in memory, by copies of a large array."""
    source, target = np.ones(BYTES // 8), np.zeros(BYTES // 8)
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        np.copyto(target, source)
        seconds.append(time.perf_counter() - begin)
    return 2.0 * BYTES / min(seconds)


@dataclass(frozen=True)
class Roofline:
    """Least work of a step of one simulation and the least time for it on one core.

    flops, bytes: operations and bytes of memory; peak, bandwidth: of the processor, per second.
    """

    flops: float
    bytes: float
    peak: float
    bandwidth: float

    @property
    def seconds(self) -> float:
        """Least time of a step (s), by the slower of arithmetic and memory."""
        return max(self.flops / self.peak, self.bytes / self.bandwidth)


def roofline(model: Model, evaluations: int, solver: float, state: int, precision: str) -> Roofline:
    """The roofline of a step that evaluates accelerations so many times.

    solver: operations of the constraint solver in an evaluation; state: bytes of a state.
    """
    flops = evaluations * (smooth_flops(model) + (0.0 if math.isnan(solver) else solver))
    return Roofline(flops, 2.0 * state, peak(precision), bandwidth())
