"""A hybrid simulation of planar rigid bodies as a good user would write it with NumPy and SciPy.

Between events `scipy.integrate.solve_ivp` (RK45, which is Dormand and Prince's method) integrates M v̇ = f + Jᵀ λ with
the contacts that are closed; terminal events end a piece: the gap of an open contact, the normal force of a closed one,
the friction cone of a sticking one, the tangential velocity of a slipping one. Impacts follow Newton's law with
Coulomb's cone for the impulses (Moreau 1988), and both the impact and the modes after an event come from trying which
of open, sticking and slipping is consistent in every contact (the planar complementarity problem of Pfeiffer &
Glocker, Multibody Dynamics with Unilateral Contacts (1996), chapter 6, solved by enumeration).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[Any]

RTOL, ATOL = 1e-8, 1e-10
CLOSED = 1e-10  # m: a gap below it closes when another contact does
TINY = 1e-15
STILL = 1e-7  # m/s: a slower contact stays closed after an impact, else impacts that end in rest would go on for ever
SAME = 1e-9  # share of the largest number in the problem: tolerance of a consistent mode
OPEN, STICK, FORWARD, BACKWARD = "open", "stick", "forward", "backward"  # modes; the last two are of slipping
DIRECTION = {STICK: 0.0, FORWARD: 1.0, BACKWARD: -1.0}
EVENTS_AT_MOST = 20_000


class Parts(NamedTuple):
    """Terms of the equations of motion at a state: M [nv, nv], f [nv]; of n contacts `gap` [n] and their velocities.

    The velocities are `normal` v and `tangent` v, [n, nv]; `normal_bias` and `tangent_bias` [n] are J̇ v.
    """

    M: Array
    force: Array
    gap: Array
    normal: Array
    tangent: Array
    normal_bias: Array
    tangent_bias: Array


class System(Protocol):
    """A planar mechanism with contacts; `friction` and `restitution` [n] are of each contact."""

    friction: Array
    restitution: Array

    def parts(self, q: Array, v: Array) -> Parts:
        """Terms of the equations of motion."""
        ...


@dataclass
class History:
    """The last state, and the events: time (s), kind, contact."""

    time: float
    q: Array
    v: Array
    events: list[tuple[float, str, int]] = field(default_factory=list)

    def times(self, kind: str) -> Array:
        """Times of the events of a kind (s)."""
        return np.array([t for t, k, _ in self.events if k == kind])


class Dynamics:
    """Accelerations in one set of modes; the last evaluation is kept, since all events need it."""

    def __init__(self, system: System, modes: Sequence[str]) -> None:
        self.system = system
        self.closed = [i for i, mode in enumerate(modes) if mode != OPEN]
        self.stick = [i for i in self.closed if modes[i] == STICK]
        self.sliding = np.array([DIRECTION[modes[i]] for i in self.closed]) * system.friction[self.closed]
        self.state: Array | None = None
        self.found: tuple[Parts, Array, Array, Array]

    def __call__(self, time: float, y: Array) -> Array:
        return np.concatenate((y[len(y) // 2 :], self.at(y)[1]))

    def at(self, y: Array) -> tuple[Parts, Array, Array, Array]:
        """Parts, v̇ [nv], normal forces of the closed contacts, tangential forces of the sticking ones."""
        if self.state is None or not np.array_equal(self.state, y):
            self.state, self.found = y.copy(), self._solve(y)
        return self.found

    def _solve(self, y: Array) -> tuple[Parts, Array, Array, Array]:
        nv = len(y) // 2
        p = self.system.parts(y[:nv], y[nv:])
        if not self.closed:
            return p, np.linalg.solve(p.M, p.force), np.zeros(0), np.zeros(0)
        n = len(self.closed)
        rows = np.concatenate((p.normal[self.closed], p.tangent[self.stick]))
        bias = np.concatenate((p.normal_bias[self.closed], p.tangent_bias[self.stick]))
        columns = rows.T.copy()
        columns[:, :n] -= self.sliding * p.tangent[self.closed].T  # friction of a slipping contact follows its normal
        x = np.linalg.solve(p.M, np.column_stack((p.force, columns)))
        forces = minimum_norm(rows @ x[:, 1:], -bias - rows @ x[:, 0])
        return p, x[:, 0] + x[:, 1:] @ forces, forces[:n], forces[n:]


def minimum_norm(matrix: Array, right: Array) -> Array:
    """The solution, or the shortest where there are many (two points of one foot that stick)."""
    return np.linalg.lstsq(matrix, right, rcond=1e-12)[0]


def consistent(
    W: Array, q: Array, friction: Array, options: Sequence[Sequence[str]], moving: Sequence[bool] | None = None
) -> tuple[list[str], Array, Array] | None:
    """Modes of n contacts that satisfy u = W r + q with 0 ≤ u_N ⟂ r_N ≥ 0 and Coulomb's law for (u_T, r_T).

    W [2n, 2n] and q [2n] have the normals first. `options`: the modes that each contact may have; `moving`: which of
    them slip already, and go on doing so whatever their acceleration is. Returns modes, u, r of the first that fits, or
    None.
    """
    n = len(friction)
    moving = [False] * n if moving is None else moving
    small = SAME * max(1.0, float(np.max(np.abs(q), initial=0.0)))
    for modes in itertools.product(*options):
        closed = [i for i in range(n) if modes[i] != OPEN]
        rows = closed + [n + i for i in closed if modes[i] == STICK]
        spread = np.zeros((2 * n, len(rows)))  # r = spread times the unknown forces
        spread[rows, range(len(rows))] = 1.0
        for k, i in enumerate(closed):
            spread[n + i, k] = -DIRECTION[modes[i]] * friction[i]
        r = spread @ minimum_norm(W[rows] @ spread, -q[rows]) if rows else np.zeros(2 * n)
        u = W @ r + q
        across = [0.0 if moving[i] and modes[i] != OPEN else u[n + i] for i in range(n)]
        if all(_fits(modes[i], u[i], r[i], across[i], r[n + i], friction[i], small) for i in range(n)):
            return list(modes), u, r
    return None


def _fits(mode: str, u_n: float, r_n: float, u_t: float, r_t: float, friction: float, small: float) -> bool:
    if mode == OPEN:
        return u_n >= -small
    if abs(u_n) > small or r_n < -small * max(1.0, abs(r_n)):
        return False
    if mode == STICK:
        return abs(u_t) <= small and abs(r_t) <= friction * r_n + small * max(1.0, abs(r_n))
    return DIRECTION[mode] * u_t >= -small


class Hybrid:
    """A hybrid simulation of `system` from (q, v), whose contacts are all open, at time 0."""

    def __init__(self, system: System, q: Array, v: Array, *, rtol: float = RTOL, atol: float = ATOL) -> None:
        self.system, self.rtol, self.atol = system, rtol, atol
        self.history = History(0.0, np.array(q, float), np.array(v, float))
        self.modes = [OPEN] * len(system.friction)

    def run(self, duration: float) -> History:
        """Integrate from event to event."""
        now = self.history
        for _ in range(EVENTS_AT_MOST):
            dynamics = Dynamics(self.system, self.modes)
            start = np.concatenate((now.q, now.v))
            names, functions = self._events(dynamics, start)
            span = (now.time, duration)
            piece = solve_ivp(dynamics, span, start, "RK45", events=functions, rtol=self.rtol, atol=self.atol)
            if piece.status < 0:
                raise ArithmeticError(piece.message)
            now.time, nv = float(piece.t[-1]), len(now.q)
            now.q, now.v = piece.y[:nv, -1].copy(), piece.y[nv:, -1].copy()
            if piece.status == 0:
                return now
            fired = [name for name, times in zip(names, piece.t_events or (), strict=True) if len(times)]
            self._handle(fired)
        raise ArithmeticError(f"more than {EVENTS_AT_MOST} events until {now.time} s")

    def _events(self, dynamics: Dynamics, start: Array) -> tuple[list[tuple[str, int]], list[Callable[..., float]]]:
        """Events that may end the next piece: functions that fall through zero, and their names (kind, contact)."""
        nv = len(start) // 2
        p, *_ = dynamics.at(start)
        held = np.concatenate((p.normal[dynamics.closed], p.tangent[dynamics.stick]))
        names: list[tuple[str, int]] = []
        functions: list[Callable[..., float]] = []

        def add(kind: str, i: int, function: Callable[[Array], float]) -> None:
            # functions that are zero but for rounding, as a gap that just opened, must not begin below zero
            shift = TINY + max(0.0, -function(start))

            def event(_: float, y: Array) -> float:
                return float(function(y)) + shift

            event.terminal, event.direction = True, -1.0  # pyright: ignore[reportFunctionMemberAccess]
            names.append((kind, i))
            functions.append(event)

        def cone(y: Array, i: int, sign: float) -> float:
            _, _, normal, tangent = dynamics.at(y)
            k = dynamics.closed.index(i)
            return self.system.friction[i] * normal[k] + sign * tangent[dynamics.stick.index(i)]

        for i, mode in enumerate(self.modes):
            if mode == OPEN:
                add("impact", i, lambda y, i=i: dynamics.at(y)[0].gap[i])
                continue
            k = dynamics.closed.index(i)
            add("liftoff", i, lambda y, k=k: dynamics.at(y)[2][k])
            if mode == STICK:
                add("slip", i, lambda y, i=i: cone(y, i, 1.0))
                add("slip", i, lambda y, i=i: cone(y, i, -1.0))
            else:
                sign = DIRECTION[mode]
                if not _depends(p.tangent[i], held):  # otherwise other contacts keep it from slipping
                    add("stick", i, lambda y, i=i, s=sign: s * (dynamics.at(y)[0].tangent[i] @ y[nv:]))
        return names, functions

    def _handle(self, fired: list[tuple[str, int]]) -> None:
        """Go through the events of one instant: impact if a contact closes, then the modes that follow."""
        now = self.history
        now.events += [(now.time, kind, i) for kind, i in fired]
        before = list(self.modes)
        closing = [i for kind, i in fired if kind == "impact"]
        if closing:
            self._impact(closing)
            self._choose_modes({})
        else:
            self._project()
            self._choose_modes({i: kind for kind, i in fired})
        for i, (old, new) in enumerate(zip(before, self.modes, strict=True)):
            if old != new and i not in [j for _, j in fired]:  # changed by events at other contacts
                kind = {OPEN: "liftoff", STICK: "stick"}.get(new, "slip")
                now.events.append((now.time, "impact" if old == OPEN else kind, i))

    def _impact(self, closing: Sequence[int]) -> None:
        """Newton's law with friction: v⁺ = v⁻ + M⁻¹ Jᵀ r, u = J v⁺ + e (J_N v⁻), no tangential restitution."""
        now = self.history
        p = self.system.parts(now.q, now.v)
        # contacts that close within the tolerance of the integration close with it
        contacts = [i for i, mode in enumerate(self.modes) if mode != OPEN or i in closing or p.gap[i] < CLOSED]
        J = np.concatenate((p.normal[contacts], p.tangent[contacts]))
        u = J @ now.v
        n = len(contacts)
        u[:n] += self.system.restitution[contacts] * np.minimum(u[:n], 0.0)
        step = np.linalg.solve(p.M, J.T)
        found = consistent(J @ step, u, self.system.friction[contacts], [(STICK, FORWARD, BACKWARD, OPEN)] * n)
        if found is None:
            raise ArithmeticError(f"no consistent impact at {now.time} s")
        now.v = now.v + step @ found[2]
        after = J @ now.v
        for k, i in enumerate(contacts):
            sliding = FORWARD if after[n + k] > 0.0 else BACKWARD
            self.modes[i] = OPEN if after[k] > STILL else STICK if abs(after[n + k]) <= STILL else sliding
        self._project(positions=True)

    def _choose_modes(self, leaves: dict[int, str]) -> None:
        """The modes after an event, from the accelerations. `leaves`: contacts whose mode ends, and by which event."""
        now = self.history
        closed = [i for i, mode in enumerate(self.modes) if mode != OPEN]
        if not closed:
            return
        p = self.system.parts(now.q, now.v)
        J = np.concatenate((p.normal[closed], p.tangent[closed]))
        bias = np.concatenate((p.normal_bias[closed], p.tangent_bias[closed]))
        x = np.linalg.solve(p.M, np.column_stack((p.force, J.T)))
        problem = (J @ x[:, 1:], bias + J @ x[:, 0], self.system.friction[closed])
        speeds = p.tangent[closed] @ now.v
        # a slipping contact goes on slipping in its direction, unless it is just coming to rest
        moving = [DIRECTION[self.modes[i]] * u > STILL for i, u in zip(closed, speeds, strict=True)]
        stays = [self._may_become(i, leaves.get(i)) for i in closed]
        free = [
            (self.modes[i], OPEN) if m else (STICK, FORWARD, BACKWARD, OPEN)
            for i, m in zip(closed, moving, strict=True)
        ]
        found = consistent(*problem, stays, moving) or consistent(*problem, free, moving)
        if found is None:
            raise ArithmeticError(f"no consistent modes at {now.time} s")
        for i, mode in zip(closed, found[0], strict=True):
            self.modes[i] = mode

    def _may_become(self, i: int, ends: str | None) -> Sequence[str]:
        """Modes that a closed contact may go into, when an event, or none, `ends` its present one."""
        mode = self.modes[i]
        if ends == "liftoff":
            return (OPEN,)
        if ends == "slip":
            return (FORWARD, BACKWARD, OPEN)
        if ends == "stick":
            return (STICK, BACKWARD if mode == FORWARD else FORWARD, OPEN)
        return (STICK, FORWARD, BACKWARD, OPEN) if mode == STICK else (mode, OPEN)

    def _project(self, *, positions: bool = False) -> None:
        """Remove drift with the least motion: of gaps, and of velocities of closed and sticking contacts."""
        now = self.history
        closed = [i for i, mode in enumerate(self.modes) if mode != OPEN]
        stick = [i for i in closed if self.modes[i] == STICK]
        if not closed:
            return
        for _ in range(2 * positions):
            p = self.system.parts(now.q, now.v)
            now.q = now.q - _least(p.M, p.normal[closed], p.gap[closed])
        p = self.system.parts(now.q, now.v)
        rows = np.concatenate((p.normal[closed], p.tangent[stick]))
        now.v = now.v - _least(p.M, rows, rows @ now.v)


def _least(M: Array, J: Array, error: Array) -> Array:
    """The change x with J x = error that is least in the metric M."""
    step = np.linalg.solve(M, J.T)
    return step @ minimum_norm(J @ step, error)


def _depends(row: Array, rows: Array) -> bool:
    """Whether a row is a combination of others."""
    rest = row - np.linalg.lstsq(rows.T, row, rcond=1e-12)[0] @ rows
    return bool(np.linalg.norm(rest) < SAME * np.linalg.norm(row))


def bounce(height: float, restitution: float, gravity: float, duration: float, still: float = 1e-9) -> History:
    """A ball dropped from `height` above the floor: flights with one event each, until it bounces slower than `still`.

    Then it stays on the floor.
    """

    def fall(_: float, y: Array) -> list[Any]:
        return [y[1], -gravity]

    def floor(_: float, y: Array) -> float:
        return y[0]

    floor.terminal, floor.direction = True, -1.0  # pyright: ignore[reportFunctionMemberAccess]
    now = History(0.0, np.array([height]), np.zeros(1))
    while True:
        start = (now.q[0], now.v[0])
        piece = solve_ivp(fall, (now.time, duration), start, method="RK45", events=floor, rtol=RTOL, atol=ATOL)
        now.time, now.q, now.v = float(piece.t[-1]), piece.y[:1, -1], piece.y[1:, -1]
        if piece.status == 0:
            return now
        now.events.append((now.time, "impact", 0))
        now.q, now.v = np.zeros(1), -restitution * now.v
        if now.v[0] < still:
            now.time, now.v = duration, np.zeros(1)
            return now
