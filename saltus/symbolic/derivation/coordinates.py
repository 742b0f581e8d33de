"""Coordinates of a mechanism: joint angles, each against the body before, or angles against the world.

Both come from one pass along the tree. Turns about axes that stay parallel add up, so that a body of a planar chain
has one angle against the world, α; the joint's own angle θ is the difference of two. All positions are first written
in these absolute angles, where they are shortest, and α = θ1 + θ2 + ... is put in where relative angles are wanted. An
angle that no other adds to (the first of a chain, or one whose axis other joints turn) is both at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import symengine
from numpy.typing import NDArray

from saltus.symbolic.derivation.mechanism import Body, Joint, Mechanism
from saltus.symbolic.derivation.rotation import Rotation, Turn, apply, quaternion_rate
from saltus.symbolic.expressions import ZERO, Expression, Vector, add, scale, sub, sum_of_products
from saltus.symbolic.parameters import Names, symbol_name


@dataclass(frozen=True)
class Pose:
    """A body's place: its frame's origin (m, world axes) and orientation."""

    pos: Vector
    rotation: Rotation

    def point(self, p: Sequence[Expression]) -> Vector:
        """A point of the body, given in its frame, in world axes."""
        if all(x == 0 for x in p):
            return self.pos
        return add(self.pos, apply(self.rotation.matrix(), p))


@dataclass(frozen=True)
class Coordinates:
    """Positions and velocities of all bodies as functions of coordinates q, velocities v, and accelerations a = dv/dt.

    `q`, `v` and `a` are symbols, `qdot` is dq/dt, linear in v. `balls` lists the triples of places in v that are an
    angular velocity in turned axes, `quaternions` their places in q. `poses` are the bodies', in q; `joint_position`
    and `joint_rate` the engine's qpos and qvel, in q and v. `sums` S is that of v = S qvel where it is a constant.
    `constraints`, by name, must be zero; there are none where the coordinates are independent. `plane`: the two axes
    (0, 1, 2) that each body has a place along and an angle across, where the coordinates are these.
    """

    orientation: str
    q: list[Expression]
    v: list[Expression]
    a: list[Expression]
    qdot: list[Expression]
    poses: list[Pose]
    joint_position: list[Expression]
    joint_rate: list[Expression]
    balls: list[tuple[int, int, int]] = field(default_factory=list)
    quaternions: list[tuple[int, int, int, int]] = field(default_factory=list)
    constraints: dict[str, Expression] = field(default_factory=dict)
    sums: NDArray[np.float64] | None = None
    meanings: dict[Expression, str] = field(default_factory=dict)
    plane: tuple[int, int] | None = None

    @property
    def planar(self) -> bool:
        """Whether each body is turned by one angle."""
        turns = [sum(isinstance(factor, Turn) for factor in pose.rotation.factors) for pose in self.poses]
        return not self.balls and max(turns) <= 1

    def rate(self, expression: Expression) -> Expression:
        """d/dt of an expression in q."""
        return sum_of_products((expression.diff(x), dx) for x, dx in zip(self.q, self.qdot, strict=True))

    def along(self, expression: Expression, i: int) -> Expression:
        """∂/∂π_i of an expression in q: how fast it changes with v[i], per unit of it."""
        v = self.v[i]
        return sum_of_products((expression.diff(x), dx.diff(v)) for x, dx in zip(self.q, self.qdot, strict=True))

    def spin(self, body: int) -> Vector:
        """A body's angular velocity in its own axes (rad/s)."""
        return self.poses[body].rotation.spin(self.rate)


@dataclass(frozen=True)
class Choice:
    """Coordinates, the `working` ones in which expressions are shortest, and the mapping from these to the former."""

    own: Coordinates
    working: Coordinates
    values: dict[Expression, Expression]

    def put(self, expression: Expression) -> Expression:
        """An expression of the working coordinates in the chosen ones, sums of angles written out."""
        if not self.values:
            return expression
        expression = symengine.sympify(expression)
        waves = expression.atoms(symengine.sin, symengine.cos)
        written = {wave: wave.func(symengine.expand(wave.args[0].subs(self.values))) for wave in waves}
        return expression.subs(written | self.values)


def absolute(mechanism: Mechanism) -> Choice:
    """Angles against the world, wherever a body has one."""
    working = _tree(mechanism).coordinates()
    return Choice(working, working, {})


def relative(mechanism: Mechanism) -> Choice:
    """Coordinates of the joints, each relative to the body before."""
    tree = _tree(mechanism)
    working = tree.coordinates()
    symbols = {
        i: _three(mechanism.names, symbol_name(joint.name)) for i, joint in tree.joint_of.items() if i in tree.summed
    }
    q, v, a = (list(column) for column in (working.q, working.v, working.a))
    values: dict[Expression, Expression] = {}
    for i in symbols:
        joint = tree.joint_of[i]
        for own, theirs, at, k in ((q, working.q, joint.qposadr, 0), (v, working.v, i, 1), (a, working.a, i, 2)):
            own[at] = symbols[i][k]
            values[theirs[at]] = sum_of_products((sign, symbols[j][k]) for j, sign in tree.sums[i])
    choice = Choice(working, working, values)
    own = replace(
        working,
        orientation="relative",
        q=q,
        v=v,
        a=a,
        qdot=[v[tree.dof_of_q[k]] if k in tree.dof_of_q else x for k, x in enumerate(working.qdot)],
        poses=[Pose(_each(choice.put, p.pos), p.rotation.mapped(choice.put)) for p in working.poses],
        joint_position=[*map(choice.put, working.joint_position)],
        joint_rate=[*map(choice.put, working.joint_rate)],
        sums=np.eye(mechanism.nv),
        meanings=tree.meanings(q, relative=True),
    )
    return Choice(own, working, values)


def _each(put: Callable[[Expression], Expression], v: Vector) -> Vector:
    x, y, z = map(put, v)
    return x, y, z


def _three(names: Names, name: str) -> tuple[Expression, Expression, Expression]:
    """Symbols of a coordinate, its velocity and its acceleration."""
    q = names.new(name)
    return q, names.new(f"d{q.name}"), names.new(f"dd{q.name}")


def _tree(mechanism: Mechanism) -> _Tree:
    """The pass along the tree, once the joints whose angles add up are known."""
    scout = _Tree(mechanism, Names(), set())
    return _Tree(mechanism, mechanism.names, set(scout.before) | {j for j, _ in scout.before.values()})


class _Tree:
    """One pass from the world outwards."""

    def __init__(self, mechanism: Mechanism, names: Names, summed: set[int]):
        self.mechanism, self.names = mechanism, names
        self.summed = summed  # the degrees of freedom whose angle adds to others, or others to it
        self.q: dict[int, Expression] = {}
        self.v: dict[int, Expression] = {}
        self.a: dict[int, Expression] = {}
        self.qdot: dict[int, Expression] = {}
        self.joint_of: dict[int, Joint] = {}  # by scalar degree of freedom
        self.dof_of_q: dict[int, int] = {}
        self.sums: dict[int, list[tuple[int, int]]] = {}  # α_i = Σ sign θ_j as [(j, sign)]
        self.before: dict[int, tuple[int, int]] = {}  # the degree of freedom whose angle i adds to, and its sign
        self.balls: list[tuple[int, int, int]] = []
        self.quaternions: list[tuple[int, int, int, int]] = []
        self.dof_of_angle: dict[Expression, int] = {}
        self.poses = [Pose((ZERO, ZERO, ZERO), Rotation())]
        for body in mechanism.bodies[1:]:
            self.poses.append(self._pose(body))

    def coordinates(self) -> Coordinates:
        """Coordinates with angles against the world."""
        nv = self.mechanism.nv
        sums = np.eye(nv)
        rates, positions = dict(self.v), dict(self.q)
        for i, terms in self.sums.items():
            for j, sign in terms:
                sums[i, j] = sign
            if i in self.before:
                j, sign = self.before[i]
                rates[i] = sign * (self.v[i] - self.v[j])
                a, b = self.joint_of[i].qposadr, self.joint_of[j].qposadr
                positions[a] = sign * (self.q[a] - self.q[b])
        q = _in_order(self.q)
        return Coordinates(
            orientation="absolute",
            q=q,
            v=_in_order(self.v),
            a=_in_order(self.a),
            qdot=_in_order(self.qdot),
            poses=self.poses,
            joint_position=_in_order(positions),
            joint_rate=_in_order(rates),
            balls=self.balls,
            quaternions=self.quaternions,
            sums=sums,
            meanings=self.meanings(q),
        )

    def meanings(self, q: list[Expression], relative: bool = False) -> dict[Expression, str]:
        """Meaning of each coordinate, with its unit."""
        out = {}
        for joint in self.mechanism.joints:
            symbols = q[joint.qposadr : joint.qposadr + joint.nq]
            if joint.kind in ("free", "ball"):
                parts = ["x", "y", "z", "qw", "qx", "qy", "qz"][-joint.nq :]
                for symbol, part in zip(symbols, parts, strict=True):
                    out[symbol] = f"{part} of joint {joint.name}" + (" (m)" if part in "xyz" else "")
            elif joint.kind == "slide":
                out[symbols[0]] = f"displacement of joint {joint.name} (m)"
            elif joint.dofadr in self.summed and not relative:
                out[symbols[0]] = f"angle against the world of the body behind joint {joint.name} (rad)"
            else:
                out[symbols[0]] = f"angle of joint {joint.name} (rad)"
        return out

    def _pose(self, body: Body) -> Pose:
        parent = self.poses[body.parent]
        pose = Pose(parent.point(body.pos), parent.rotation.fixed(body.rotation))
        for joint in body.joints:
            pose = getattr(self, f"_{joint.kind}")(pose, joint)
        return pose

    def _scalar(self, joint: Joint) -> Expression:
        name = _absolute_name(joint.name) if joint.dofadr in self.summed else symbol_name(joint.name)
        i, k = joint.dofadr, joint.qposadr
        self.q[k], self.v[i], self.a[i] = _three(self.names, name)
        self.qdot[k], self.joint_of[i], self.dof_of_q[k] = self.v[i], joint, i
        return self.q[k]

    def _slide(self, pose: Pose, joint: Joint) -> Pose:
        way = self._scalar(joint) - joint.ref
        return Pose(add(pose.pos, scale(way, apply(pose.rotation.matrix(), joint.axis))), pose.rotation)

    def _hinge(self, pose: Pose, joint: Joint) -> Pose:
        i = joint.dofadr

        def angle(before: Expression | None, sign: int) -> Expression:
            if before is None:
                self.sums[i] = [(i, 1)]
                angle = self._scalar(joint)
                self.dof_of_angle[angle] = i
                return angle - joint.ref
            (last,) = (symbol for symbol in before.free_symbols if symbol in self.dof_of_angle)
            j = self.dof_of_angle[last]
            self.sums[i], self.before[i] = [*self.sums[j], (i, sign)], (j, sign)
            angle = self._scalar(joint)
            self.dof_of_angle[angle] = i
            return before - last + angle - sign * joint.ref

        return _about(pose, joint, pose.rotation.turned(joint.axis, angle))

    def _ball(self, pose: Pose, joint: Joint) -> Pose:
        return _about(pose, joint, pose.rotation.by_quaternion(*self._quaternion(joint, joint.qposadr, joint.dofadr)))

    def _free(self, pose: Pose, joint: Joint) -> Pose:
        place = []
        for k, axis in enumerate("xyz"):
            name = f"{symbol_name(joint.name)}_{axis}"
            i, a = joint.dofadr + k, joint.qposadr + k
            self.q[a], self.v[i], self.a[i] = _three(self.names, name)
            self.qdot[a] = self.v[i]
            place.append(self.q[a])
        turn = self._quaternion(joint, joint.qposadr + 3, joint.dofadr + 3)
        return Pose((place[0], place[1], place[2]), Rotation().by_quaternion(*turn))

    def _quaternion(self, joint: Joint, k: int, i: int) -> tuple[list[Expression], list[Expression]]:
        """A unit quaternion from q[k] on and its angular velocity from v[i] on."""
        quaternion, spin, names = [], [], self.names
        for n, part in enumerate("wxyz"):
            self.q[k + n] = names.new(f"{symbol_name(joint.name)}_q{part}")
            quaternion.append(self.q[k + n])
        for n, axis in enumerate("xyz"):
            self.v[i + n] = names.new(f"{symbol_name(joint.name)}_w{axis}")
            self.a[i + n] = names.new(f"d{self.v[i + n].name}")
            spin.append(self.v[i + n])
        for n, rate in enumerate(quaternion_rate(quaternion, spin)):
            self.qdot[k + n] = rate
        self.balls.append((i, i + 1, i + 2))
        self.quaternions.append((k, k + 1, k + 2, k + 3))
        return quaternion, spin


def _about(pose: Pose, joint: Joint, rotation: Rotation) -> Pose:
    """A pose turned about a joint's anchor, which stays in place."""
    if all(x == 0 for x in joint.pos):
        return Pose(pose.pos, rotation)
    return Pose(sub(pose.point(joint.pos), apply(rotation.matrix(), joint.pos)), rotation)


def _absolute_name(name: str) -> str:
    """Name of an angle against the world: theta2 becomes alpha2, elbow becomes alpha_elbow."""
    clean = symbol_name(name)
    return f"alpha{clean.removeprefix('theta')}" if clean.startswith("theta") else f"alpha_{clean}"


def _in_order(by_place: dict[int, Expression]) -> list[Expression]:
    return [by_place[k] for k in range(len(by_place))]
