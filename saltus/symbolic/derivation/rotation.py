"""Rotations as products of turns, so that turns about one axis add their angles instead of multiplying matrices.

So the n-th link of a planar chain points along one angle, the sum of its joints' angles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import symengine

from saltus.symbolic.expressions import ONE, ZERO, Expression, Vector, add, cross, dot, scale

Quaternion: TypeAlias = tuple[Expression, Expression, Expression, Expression]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]
IDENTITY: Matrix = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


@dataclass(frozen=True)
class Turn:
    """A turn about an axis, a unit vector, by an angle (rad)."""

    axis: Vector
    angle: Expression

    def mapped(self, put: Callable[[Expression], Expression]) -> Turn:
        """The turn with `put` applied to its angle."""
        return Turn(self.axis, put(self.angle))

    def matrix(self) -> Matrix:
        """R = cos α 1 + sin α [u]× + (1 - cos α) u uᵀ (Rodrigues)."""
        c, s, u = symengine.cos(self.angle), symengine.sin(self.angle), self.axis
        columns = [add(add(scale(c, e), scale(s, cross(u, e))), scale((1 - c) * dot(u, e), u)) for e in IDENTITY]
        return transpose(tuple(columns))


@dataclass(frozen=True)
class Unit:
    """The rotation of a unit quaternion (w, x, y, z) with its angular velocity in the turned axes (rad/s)."""

    quaternion: Quaternion
    spin: Vector

    def mapped(self, put: Callable[[Expression], Expression]) -> Unit:
        """The rotation with `put` applied to its quaternion and angular velocity."""
        return Unit(tuple(map(put, self.quaternion)), tuple(map(put, self.spin)))  # type: ignore[arg-type]

    def matrix(self) -> Matrix:
        """R of a unit quaternion."""
        return quaternion_matrix(self.quaternion)


@dataclass(frozen=True)
class Fixed:
    """A rotation that does not change."""

    value: Matrix

    def mapped(self, put: Callable[[Expression], Expression]) -> Fixed:
        """The rotation itself: nothing in it changes."""
        return self

    def matrix(self) -> Matrix:
        """The rotation's matrix."""
        return self.value


@dataclass(frozen=True)
class Rotation:
    """A product of rotations, from the world's axes outwards."""

    factors: tuple[Turn | Unit | Fixed, ...] = ()

    def fixed(self, matrix: Matrix) -> Rotation:
        """Return this rotation followed by a fixed one."""
        if matrix == IDENTITY:
            return self
        last = self.factors[-1] if self.factors else None
        if isinstance(last, Fixed):
            return Rotation(self.factors[:-1]).fixed(product(last.value, matrix))
        return Rotation((*self.factors, Fixed(matrix)))

    def turned(self, axis: Vector, angle: Callable[[Expression | None, int], Expression]) -> Rotation:
        """Return this rotation followed by a turn, which replaces a last turn about the same axis.

        `angle(before, sign)` gives the angle of the turn: `before` is the angle of the last turn about the same axis in
        space, None if there is none, and `sign` the side that the new axis is on, 1 or -1.
        """
        rest, after = self.factors, IDENTITY
        if rest and isinstance(rest[-1], Fixed):
            rest, after = rest[:-1], rest[-1].value
        last = rest[-1] if rest else None
        if isinstance(last, Turn):
            outer = apply(after, axis)  # turn(u) F turn(v) = turn(u) turn(F v) F
            for sign in (1, -1):
                if all(symengine.expand(a - sign * b) == 0 for a, b in zip(outer, last.axis, strict=True)):
                    turn = Turn(last.axis, angle(last.angle, sign))
                    return Rotation((*rest[:-1], turn)).fixed(after)
        return Rotation((*self.factors, Turn(axis, angle(None, 1))))

    def by_quaternion(self, quaternion: Sequence[Expression], spin: Sequence[Expression]) -> Rotation:
        """Return this rotation followed by that of a unit quaternion, with its angular velocity in the turned axes."""
        return Rotation((*self.factors, Unit(tuple(quaternion), tuple(spin))))  # type: ignore[arg-type]

    @property
    def turn(self) -> Turn | None:
        """The last turn; None if the last factor that changes is not a turn."""
        rest = self.factors[:-1] if self.factors and isinstance(self.factors[-1], Fixed) else self.factors
        return rest[-1] if rest and isinstance(rest[-1], Turn) else None

    @cached_property
    def _matrix(self) -> Matrix:
        out = IDENTITY
        for factor in self.factors:
            out = product(out, factor.matrix())
        return out

    def matrix(self) -> Matrix:
        """Rotation matrix R, whose columns are the turned axes."""
        return self._matrix

    def mapped(self, put: Callable[[Expression], Expression]) -> Rotation:
        """The rotation with `put` applied to everything that changes."""
        return Rotation(tuple(factor.mapped(put) for factor in self.factors))

    def spin(self, rate: Callable[[Expression], Expression]) -> Vector:
        """The angular velocity in the turned axes (rad/s); `rate` gives the rate of change of an angle."""
        out: Vector = (ZERO, ZERO, ZERO)
        for factor in self.factors:
            if isinstance(factor, Fixed):
                out = apply_transposed(factor.value, out)
            elif isinstance(factor, Unit):
                out = add(apply_transposed(factor.matrix(), out), factor.spin)
            else:  # a turn does not move its own axis
                along = all(symengine.expand(c) == 0 for c in cross(factor.axis, out))
                before = out if along else apply_transposed(factor.matrix(), out)
                out = add(before, scale(rate(factor.angle), factor.axis))
        return out


def apply(matrix: Matrix, v: Sequence[Expression]) -> Vector:
    """R v."""
    return tuple(dot(row, v) for row in matrix)  # type: ignore[return-value]


def apply_transposed(matrix: Matrix, v: Sequence[Expression]) -> Vector:
    """Rᵀ v."""
    return apply(transpose(matrix), v)


def transpose(matrix: Sequence[Sequence[Expression]]) -> Matrix:
    """Rᵀ."""
    return tuple(zip(*matrix, strict=True))  # type: ignore[return-value]


def product(a: Matrix, b: Matrix) -> Matrix:
    """A B."""
    if a == IDENTITY:
        return b
    return transpose([apply(a, column) for column in transpose(b)])


def quaternion_matrix(quaternion: Sequence[Expression]) -> Matrix:
    """R of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def quaternion_rate(quaternion: Sequence[Expression], spin: Sequence[Expression]) -> Quaternion:
    """dq/dt = ½ q ⊗ (0, ω) with ω in the turned axes."""
    w, u = quaternion[0], tuple(quaternion[1:])
    along = add(scale(w, spin), cross(u, spin))
    return tuple(x / 2 for x in (-dot(u, spin), *along))  # type: ignore[return-value]
