"""Mappings between the joints' coordinates (the engine's qpos and qvel) and those of derived equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import symengine
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation as Numbers

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.symbolic.derivation.coordinates import Coordinates, absolute
from saltus.symbolic.derivation.mechanism import Mechanism
from saltus.symbolic.expressions import Expression, dot
from saltus.symbolic.parameters import Names


class Mapping:
    """States of a mechanism in two sets of coordinates: the joints' (qpos [nq], qvel [nv]) and others (q, v)."""

    def __init__(self, mechanism: Mechanism, coordinates: Coordinates):
        self._mechanism, self._c = mechanism, coordinates
        self._scalar = [joint for joint in mechanism.joints if joint.kind in ("slide", "hinge")]
        self._nq = sum(joint.nq for joint in mechanism.joints)

    def from_joint(self, qpos: ArrayLike, qvel: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (q, v) of a state of the joints."""
        state = _checked("qpos", qpos, self._nq), _checked("qvel", qvel, self._mechanism.nv)
        if self._c.sums is None:
            return self._bodies(*self._absolute_state(*state))
        return self._summed(self._c.sums, *state)

    def to_joint(self, q: ArrayLike, v: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (qpos, qvel) of a state in these coordinates."""
        state = _checked("q", q, len(self._c.q)), _checked("v", v, len(self._c.v))
        if self._c.sums is not None:
            return self._summed(np.linalg.inv(self._c.sums), *state)
        values = self._of_joints(*state)
        qpos, qvel = values[: self._nq], values[self._nq : self._nq + self._mechanism.nv]
        matrices = values[self._nq + self._mechanism.nv :].reshape(-1, 3, 3)
        turned = [joint for joint in self._mechanism.joints if joint.kind in ("free", "ball")]
        for joint, matrix in zip(turned, matrices, strict=True):
            qpos[joint.qposadr + joint.nq - 4 : joint.qposadr + joint.nq] = _quaternion(matrix)
        return qpos, qvel

    def _summed(self, sums: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scalar coordinates summed to angles against the world; others unchanged."""
        out = q.copy()
        for joint in self._scalar:
            out[joint.qposadr] = sum(sums[joint.dofadr, other.dofadr] * q[other.qposadr] for other in self._scalar)
        return out, sums @ v

    # ------------------------------------------------------------ maximal coordinates

    @cached_property
    def _tree(self) -> Coordinates:
        return absolute(replace(self._mechanism, names=Names())).own

    def _absolute_state(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self._tree.sums is not None
        return self._summed(self._tree.sums, qpos, qvel)

    @cached_property
    def _of_bodies(self) -> Callable[..., np.ndarray]:
        """Centre of mass, its velocity, angular velocity, angle and orientation of each moving body."""
        tree, out = self._tree, []
        for b, body in enumerate(self._mechanism.bodies):
            if body.joints:
                place = tree.poses[b].point(body.ipos)
                angle = self._angle(b)
                out += [*place, *map(tree.rate, place), *tree.spin(b), angle, tree.rate(angle)]
                out += [x for row in tree.poses[b].rotation.matrix() for x in row]
        return compiled(self._mechanism, [*tree.q, *tree.v], out)

    def _angle(self, b: int) -> Expression:
        """Angle of a body in a plane (rad), about the plane's normal."""
        turn, own = self._tree.poses[b].rotation.turn, self._c.poses[b].rotation.turn
        if turn is None or own is None:
            return symengine.Integer(0)
        return turn.angle if symengine.expand(dot(turn.axis, own.axis)) == 1 else -turn.angle

    def _bodies(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = self._of_bodies(q, v).reshape(-1, 20)
        places: list[float] = []
        rates: list[float] = []
        for row in rows:
            if self._c.plane is not None:
                axes = np.array(self._c.plane)
                places += [*row[axes], row[9]]
                rates += [*row[3 + axes], row[10]]
            else:
                places += [*row[:3], *_quaternion(row[11:].reshape(3, 3))]
                rates += [*row[3:6], *row[6:9]]
        return np.array(places), np.array(rates)

    @cached_property
    def _of_joints(self) -> Callable[..., np.ndarray]:
        """Positions and rates of the joints, then the rotations of free and ball joints."""
        c, zero = self._c, symengine.Integer(0)
        out = [zero if x is None else x for x in c.joint_position] + list(c.joint_rate)
        for b, body in enumerate(self._mechanism.bodies):
            for joint in body.joints:
                if joint.kind in ("free", "ball"):
                    inner = symengine.DenseMatrix([list(row) for row in c.poses[b].rotation.matrix()])
                    if joint.kind == "ball":
                        home = c.poses[body.parent].rotation.fixed(body.rotation)
                        inner = symengine.DenseMatrix([list(row) for row in home.matrix()]).transpose() * inner
                    out += list(inner)
        return compiled(self._mechanism, [*c.q, *c.v], out)


def compiled(
    mechanism: Mechanism, symbols: Sequence[Expression], expressions: Sequence[Expression]
) -> Callable[..., np.ndarray]:
    """The expressions as a function of arrays of the symbols' values; parameters have the model's values."""
    values = {symbol: symengine.RealDouble(value) for symbol, value in mechanism.parameters.items()}
    function = symengine.Lambdify(list(symbols), [symengine.sympify(x).subs(values) for x in expressions], cse=True)
    return lambda *values: np.array(function(np.concatenate(values)), float).reshape(-1)


def _quaternion(matrix: np.ndarray) -> np.ndarray:
    return Numbers.from_matrix(matrix).as_quat(scalar_first=True)


def _checked(name: str, values: ArrayLike, size: int) -> np.ndarray:
    array = numbers(name, values).reshape(-1)
    if array.shape != (size,):
        raise OptionError(f"{name} has {array.size} numbers; expected {size}")
    return array
