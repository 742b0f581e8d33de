"""Motions that excite a robot so that its inertial parameters can be identified well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.algorithms import regressor
from saltus.arguments import mapping, numbers, positive, whole_number, words
from saltus.errors import OptionError
from saltus.inverse.dynamics.base_parameters import base_parameters
from saltus.inverse.dynamics.unconstrained import constraint_kinds
from saltus.model.enums import BALL, FREE, HINGE
from saltus.model.load import ModelSource, load
from saltus.model.model import Model

Array = NDArray[np.float64]
EACH, FINE = 8, 32  # samples for each period of the fastest harmonic: of the result, and for its extremes
# of the limits at the fine samples: between M samples of a period, a trigonometric polynomial of degree N is at most
# 1 / cos(π N / M) times the largest of them (Ehlich and Zeller, Schwankung von Polynomen zwischen Gitterpunkten, 1964)
KEPT = float(np.cos(np.pi / FINE))
STATES = 200  # random ones, which tell apart what can be told


@dataclass(frozen=True, eq=False)
class Excitation:
    """A periodic motion, a finite Fourier series of each joint.

    period (s). time [n] (s): samples of one period. qpos [n, nq], qvel [n, nv], qacc [n, nv] (m, rad; m/s, rad/s; m/s²,
    rad/s²). condition: of the regressor of the base parameters over these samples. names: of the combinations of
    inertial parameters that it tells.
    """

    period: float
    time: Array
    qpos: Array
    qvel: Array
    qacc: Array
    condition: float
    names: tuple[str, ...]
    series: Series = field(repr=False)

    def at(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Positions [n, nq], velocities and accelerations [n, nv] at times [n] (s).

        Raises:
            OptionError: times are not one row of finite numbers.
        """
        given = numbers("time", time)
        if given.ndim != 1 or not np.isfinite(given).all():
            raise OptionError(f"time must be a row of finite numbers, got {time!r}")
        return self.series.motion(given)

    def __repr__(self) -> str:
        return f"<Excitation: period {self.period:g} s, condition {self.condition:.4g}, {len(self.names)} parameters>"


class Series(NamedTuple):
    """Fourier series q(t) = middle + Σ (a sin(l w t) - b cos(l w t)) / (l w) of some joints, with all others at rest.

    rest [nq]; places of the joints in qpos and in qvel [k]; middle [k], a and b [k, harmonics]; w (rad/s).
    """

    rest: Array
    q_places: NDArray[np.int64]
    v_places: NDArray[np.int64]
    middle: Array
    a: Array
    b: Array
    w: float
    nv: int

    def motion(self, time: Array) -> tuple[Array, Array, Array]:
        """Positions [n, nq], velocities and accelerations [n, nv]."""
        q = np.tile(self.rest, (len(time), 1))
        v, acc = np.zeros((2, len(time), self.nv))
        places, v[:, self.v_places], acc[:, self.v_places] = waves(time, self.w, self.a, self.b)
        q[:, self.q_places] = self.middle + places
        return q, v, acc


def waves(time: Array, w: float, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Series without their middles [n, k], and their first and second derivatives."""
    rate = w * np.arange(1, a.shape[1] + 1)
    sine, cosine = np.sin(np.outer(time, rate)), np.cos(np.outer(time, rate))
    return (
        (sine / rate) @ a.T - (cosine / rate) @ b.T,
        cosine @ a.T + sine @ b.T,
        -(sine * rate) @ a.T + (cosine * rate) @ b.T,
    )


def excite(
    model: ModelSource,
    *,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    joints: Sequence[str] | str = (),
    ranges: Mapping[str, Sequence[float]] | None = None,
    period: float = 10.0,
    harmonics: int = 5,
    starts: int = 4,
    seed: int = 0,
) -> Excitation:
    """A motion within limits whose joint forces tell the inertial parameters best: of least condition number.

    Finite Fourier series for each joint, whose coefficients are searched for so that the regressor of the base
    parameters has the least condition number (Swevers et al., Optimal robot excitation and identification, IEEE Trans.
    Robotics and Automation 13, 1997), from several random starts. Collisions are not looked at. The motion is
    periodic and does not begin at rest.

    Args:
        model: as `saltus.load` takes it.
        velocity: greatest velocities (m/s, rad/s), a number or one for each joint that moves.
        acceleration: greatest accelerations (m/s², rad/s²), likewise.
        joints: that move, by name; by default all. Others stay at the reference position.
        ranges: of positions (m, rad) by joint, (low, high), in place of the model's. Hinges without limits have a turn.
        period: s.
        harmonics: of each series.
        starts: searches from random coefficients, of which the best counts.
        seed: of these.

    Raises:
        OptionError: a joint is free or a ball, or a slide has no range; the model has equality constraints; a name,
            range or number is wrong; no force depends on any inertial parameter, or forces overflow.
    """
    found = load(model)
    if "equality" in constraint_kinds(found):
        raise OptionError("excite: the model has equality constraints, which series of single joints would violate")
    moving = _moving(found, joints)
    low, high = _ranges(found, moving, {} if ranges is None else mapping("ranges", ranges))
    limits = Limits(
        low, high, *(_greatest(n, x, len(moving)) for n, x in zip(RATES, (velocity, acceleration), strict=True))
    )
    length, count = positive("period", period), whole_number("harmonics", harmonics, least=1)
    tries = whole_number("starts", starts, least=1)
    random = np.random.default_rng(whole_number("seed", seed))
    search = Search(found, moving, limits, length, count)
    best, series = min((search.from_start(random) for _ in range(tries)), key=lambda one: one[0])
    motion = series.motion(search.time)
    return Excitation(length, search.time, *motion, float(np.exp(best)), search.names, series)


RATES = ("velocity", "acceleration")


class Limits(NamedTuple):
    """Ranges of positions low, high [k] (m, rad), greatest velocities and accelerations [k]."""

    low: Array
    high: Array
    velocity: Array
    acceleration: Array


class Search:
    """The condition number as a function of shapes and middles of the series, and its minima."""

    def __init__(self, model: Model, moving: NDArray[np.int64], limits: Limits, period: float, harmonics: int):
        self.model, self.limits, self.harmonics = model, limits, harmonics
        self.time = np.linspace(0.0, period, EACH * harmonics, endpoint=False)
        self._fine = np.linspace(0.0, period, FINE * harmonics, endpoint=False)
        self._w = 2.0 * np.pi / period
        self._places = np.array(model.jnt_qposadr)[moving], np.array(model.jnt_dofadr)[moving]
        self._columns, self.names = self._base()

    def _base(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Columns of the regressor that motions of these joints tell apart, and names of the combinations."""
        random, limits = np.random.default_rng(0), self.limits
        q = np.tile(self.model.qpos0, (STATES, 1))
        v, a = np.zeros((2, STATES, self.model.nv))
        shape = STATES, len(limits.low)
        q[:, self._places[0]] = random.uniform(limits.low, limits.high, shape)
        v[:, self._places[1]] = random.uniform(-1, 1, shape) * limits.velocity
        a[:, self._places[1]] = random.uniform(-1, 1, shape) * limits.acceleration
        base = base_parameters(self.model, q, v, a)
        if not len(base.columns):
            raise OptionError("excite: no force of the joints depends on an inertial parameter")
        return base.columns, base.names

    def series(self, x: Array) -> Series:
        """Series of coefficients x, as large as the limits allow: shapes [k, 2 harmonics], sizes and middles [k]."""
        k, limits = len(self.limits.low), self.limits
        shape = x[: 2 * k * self.harmonics].reshape(k, 2, self.harmonics)
        size, middle = x[-2 * k : -k], x[-k:]
        a, b = shape[:, 0], shape[:, 1]
        found = waves(self._fine, self._w, a, b)
        top, bottom = found[0].max(axis=0), found[0].min(axis=0)
        width = KEPT * (limits.high - limits.low)
        rates = [np.maximum(abs(f).max(axis=0), 1e-12) for f in found[1:]]
        greatest = np.minimum(width / np.maximum(top - bottom, 1e-12), KEPT * limits.velocity / rates[0])
        scale = np.minimum(greatest, KEPT * limits.acceleration / rates[1]) / (1.0 + np.exp(-size))
        # what is left of the range around the series, of which the middle takes a part
        left = limits.high - limits.low - scale * (top - bottom)
        gap = 0.5 * (limits.high - limits.low - width)
        part = gap + (left - 2.0 * gap) / (1.0 + np.exp(-middle))
        start = limits.low + part - scale * bottom
        a, b = scale[:, None] * a, scale[:, None] * b
        return Series(np.array(self.model.qpos0), *self._places, start, a, b, self._w, self.model.nv)

    def logarithm(self, x: Array) -> float:
        """Logarithm of the condition number of the base parameters' regressor."""
        Y = regressor(self.model, *self.series(x).motion(self.time))[..., self._columns]
        if not np.isfinite(Y).all():
            return float(np.log(1e14))
        sizes = np.linalg.svd(Y.reshape(-1, len(self._columns)), compute_uv=False)
        return float(np.log(sizes[0] / max(sizes[-1], 1e-14 * sizes[0])))

    def from_start(self, random: np.random.Generator) -> tuple[float, Series]:
        """The least logarithm from random coefficients, and its series."""
        from scipy.optimize import minimize

        k = len(self.limits.low)
        first = random.normal(size=2 * k * self.harmonics + 2 * k)
        first[-2 * k : -k] += 2.0
        found = minimize(self.logarithm, first, method="L-BFGS-B", options={"maxiter": 100})
        return float(found.fun), self.series(found.x)


def _moving(model: Model, joints: Any) -> NDArray[np.int64]:
    """Numbers of the joints that move."""
    names, asked = model.names("joint"), words("joints", joints)
    for name in asked:
        model.id("joint", name)
    chosen = [j for j, name in enumerate(names) if not asked or name in asked]
    for j in chosen:
        if model.jnt_type[j] in (FREE, BALL):
            kind = "free" if model.jnt_type[j] == FREE else "a ball"
            raise OptionError(f"excite: joint {names[j]} is {kind}; name the hinges and slides that move in joints=")
    if not chosen:
        raise OptionError("excite: the model has no joints")
    return np.array(chosen, np.int64)


def _ranges(model: Model, moving: NDArray[np.int64], given: Mapping[str, Any]) -> tuple[Array, Array]:
    """Ends of the ranges [k] of positions (m, rad)."""
    names, found = model.names("joint"), []
    for name in given:
        if model.id("joint", name) not in moving:
            raise OptionError(f"excite: ranges names joint {name}, which does not move")
    for j in moving:
        if names[j] in given:
            pair = numbers(f"ranges[{names[j]!r}]", given[names[j]])
            if pair.shape != (2,) or not np.isfinite(pair).all() or not pair[0] < pair[1]:
                raise OptionError(f"excite: ranges[{names[j]!r}] must be two finite numbers, the lower first")
        elif model.jnt_limited[j]:
            pair = np.array(model.jnt_range[j])
        elif model.jnt_type[j] == HINGE:
            pair = model.qpos0[model.jnt_qposadr[j]] + np.array([-np.pi, np.pi])
        else:
            raise OptionError(
                f"excite: slide {names[j]} has no limits; give its range: ranges={{{names[j]!r}: (-1, 1)}}"
            )
        found.append(pair)
    return np.array(found)[:, 0], np.array(found)[:, 1]


def _greatest(name: str, value: Any, count: int) -> Array:
    """Limits [k] of rates, from a number or one for each joint."""
    given = numbers(name, value)
    if given.shape not in ((), (count,)) or not (np.isfinite(given) & (given > 0)).all():
        raise OptionError(f"excite: {name} must be positive, one number or {count}, got {value!r}")
    return np.broadcast_to(given, (count,)).copy()
