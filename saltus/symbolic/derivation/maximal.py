"""Maximal coordinates: every body placed in the world by itself, and held to its neighbours by constraints.

Where all axes of turning are parallel and nothing leaves its plane, a body has three coordinates, those of its centre
of mass and its angle; else the centre of mass and a unit quaternion. The joint between two bodies becomes the
equations Φ(q) = 0 that it takes away (Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989,
chapters 3 and 9). The mass matrix is as simple as can be; in exchange there are forces λ to be solved for, and the
constraints drift and must be stabilised.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import symengine

from saltus.errors import ModelError
from saltus.symbolic.derivation.coordinates import Choice, Coordinates, Pose, absolute
from saltus.symbolic.derivation.mechanism import Body, Joint, Mechanism
from saltus.symbolic.derivation.rotation import Rotation, Turn, apply, apply_transposed, quaternion_rate
from saltus.symbolic.expressions import ONE, ZERO, Expression, Vector, cross, dot, scale, sub
from saltus.symbolic.parameters import Names, symbol_name

AXES: dict[int, tuple[int, int]] = {0: (1, 2), 1: (0, 2), 2: (0, 1)}  # normal of a plane -> the axes in it
UNIT: tuple[Vector, Vector, Vector] = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


def maximal(mechanism: Mechanism) -> Choice:
    """Coordinates of all bodies that can move, with the constraints of their joints.

    Raises ModelError for bodies with several joints, but for two slides and a hinge that leave a plane free.
    """
    tree = absolute(replace(mechanism, names=Names())).own
    normal = _plane(mechanism, tree)
    bodies = _Planar(mechanism, tree, normal) if normal is not None else _Spatial(mechanism)
    c = bodies.coordinates()
    return Choice(c, c, {})


def _plane(mechanism: Mechanism, tree: Coordinates) -> int | None:
    """The axis (0, 1, 2) that all rotations are about and along which nothing moves; None if there is none."""
    turns = [f.axis for pose in tree.poses for f in pose.rotation.factors if isinstance(f, Turn)]
    if any(joint.kind in ("free", "ball") for joint in mechanism.joints):
        return None
    if any(sum(isinstance(f, Turn) for f in pose.rotation.factors) > 1 for pose in tree.poses):
        return None
    for k in range(3):
        along = all(u[i] == 0 for u in turns for i in range(3) if i != k)
        flat = all(not (set(symengine.expand(pose.pos[k]).free_symbols) & set(tree.q)) for pose in tree.poses)
        first = all(
            isinstance(pose.rotation.factors[0], Turn) for pose in tree.poses if pose.rotation.factors and turns
        )
        if along and flat and (first or not turns):
            return k
    return None


class _Bodies:
    """Base of planar and spatial coordinates: riders, and the bookkeeping of symbols and constraints."""

    plane: tuple[int, int] | None = None

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.q: list[Expression] = []
        self.v: list[Expression] = []
        self.a: list[Expression] = []
        self.qdot: list[Expression] = []
        self.balls: list[tuple[int, int, int]] = []
        self.quaternions: list[tuple[int, int, int, int]] = []
        self.meanings: dict[Expression, str] = {}
        self.constraints: dict[str, Expression] = {}
        nq = sum(joint.nq for joint in mechanism.joints)
        self.joint_position: list[Any] = [None] * nq
        self.joint_rate: list[Any] = [None] * mechanism.nv
        self.poses: list[Pose] = [Pose((ZERO, ZERO, ZERO), Rotation())]
        for body in mechanism.bodies[1:]:
            self.poses.append(self.placed(body) if body.joints else self._rider(body))

    def coordinates(self) -> Coordinates:
        """The coordinates of all bodies, with the joints' own."""
        c = Coordinates(
            orientation="maximal",
            q=self.q,
            v=self.v,
            a=self.a,
            qdot=self.qdot,
            poses=self.poses,
            joint_position=self.joint_position,
            joint_rate=self.joint_rate,
            balls=self.balls,
            quaternions=self.quaternions,
            constraints=self.constraints,
            meanings=self.meanings,
            plane=self.plane,
        )
        for b, body in enumerate(self.mechanism.bodies):
            if body.joints:
                self.join(c, b, body)
        return c

    def placed(self, body: Body) -> Pose:
        """A body that moves, by coordinates of its own."""
        raise NotImplementedError

    def join(self, c: Coordinates, b: int, body: Body) -> None:
        """The constraints of a body's joints, and the joints' coordinates and rates."""
        raise NotImplementedError

    def _rider(self, body: Body) -> Pose:
        parent = self.poses[body.parent]
        return Pose(parent.point(body.pos), parent.rotation.fixed(body.rotation))

    def new(self, name: str, meaning: str) -> int:
        """A coordinate with its velocity and acceleration; returns its place."""
        names = self.mechanism.names
        q = names.new(name)
        self.q.append(q)
        self.v.append(names.new(f"d{q.name}"))
        self.a.append(names.new(f"dd{q.name}"))
        self.qdot.append(self.v[-1])
        self.meanings[q] = meaning
        return len(self.v) - 1

    def home(self, body: Body) -> Pose:
        """Pose of a body's frame with its joints at zero."""
        return self._rider(body)

    def hold(self, joint: Joint, what: str, phi: Expression) -> None:
        """Add a constraint Φ = 0."""
        self.constraints[f"{joint.name}: {what}"] = phi


class _Planar(_Bodies):
    """Bodies in a plane: (x, y, θ) of each, θ about the plane's normal."""

    def __init__(self, mechanism: Mechanism, tree: Coordinates, normal: int):
        self.tree, self.k, self.axes = tree, normal, AXES[normal]
        self.plane = self.axes
        turns = [f.axis for pose in tree.poses for f in pose.rotation.factors if isinstance(f, Turn)]
        self.normal: Vector = turns[0] if turns else UNIT[normal]
        self.angles: list[Expression] = [ZERO]
        super().__init__(mechanism)

    def _rider(self, body: Body) -> Pose:
        if len(self.angles) == len(self.poses):
            self.angles.append(self.angles[body.parent])
        return super()._rider(body)

    def placed(self, body: Body) -> Pose:
        b, name = len(self.poses), symbol_name(body.name)
        before = self.tree.poses[b]
        place = [ZERO, ZERO, ZERO]
        for axis in self.axes:
            letter = "xyz"[axis]
            i = self.new(f"{letter}_{name}", f"{letter} of the centre of mass of body {body.name} (m)")
            place[axis] = self.q[i]
        place[self.k] = symengine.expand(before.point(body.ipos)[self.k])
        angle = self.q[self.new(f"theta_{name}", f"angle of body {body.name} (rad)")]
        self.angles.append(angle)
        last = before.rotation.factors
        after = last[-1] if last and not isinstance(last[-1], Turn) else None
        rotation = Rotation((Turn(self.normal, angle),) if after is None else (Turn(self.normal, angle), after))
        x, y, z = place
        return Pose(sub((x, y, z), apply(rotation.matrix(), body.ipos)), rotation)

    def join(self, c: Coordinates, b: int, body: Body) -> None:
        kinds = sorted(joint.kind for joint in body.joints)
        home, turned = self.home(body), self.angles[b] - self.angles[body.parent]
        rate = c.rate(turned)
        if len(body.joints) > 1 and not _whole_plane(kinds, body):
            raise _several(body)
        if len(body.joints) > 1:
            self._free_in_plane(c, b, body, home)
            return
        joint = next(iter(body.joints))
        anchor, there = self.poses[b].point(joint.pos), home.point(joint.pos)
        gap = sub(anchor, there)
        if joint.kind == "hinge":
            side = self._side(home, joint)
            self._record(joint, side * turned + joint.ref, side * rate)
            for axis in self.axes:
                self.hold(joint, f"{'xyz'[axis]} of the anchor", gap[axis])
        else:
            along = apply(home.rotation.matrix(), joint.axis)
            across = cross(self.normal, along)
            way = dot(gap, along)
            self._record(joint, way + joint.ref, c.rate(way))
            self.hold(joint, "angle", turned)
            self.hold(joint, "across the slide", dot(gap, across))

    def _free_in_plane(self, c: Coordinates, b: int, body: Body, home: Pose) -> None:
        """Place a body that two slides from the world and a hinge move: nothing is constrained."""
        hinge = next(joint for joint in body.joints if joint.kind == "hinge")
        anchor = self.poses[b].point(hinge.pos)
        gap = sub(anchor, home.point(hinge.pos))
        for joint in body.joints:
            if joint.kind == "hinge":
                side = self._side(home, joint)
                turned = self.angles[b] - self.angles[body.parent]
                self._record(joint, side * turned + joint.ref, side * c.rate(turned))
            else:
                way = dot(gap, apply(home.rotation.matrix(), joint.axis))
                self._record(joint, way + joint.ref, c.rate(way))

    def _side(self, home: Pose, joint: Joint) -> int:
        """Sign of a joint's axis along the plane's normal: 1 or -1."""
        fixed = [factor for factor in home.rotation.factors if not isinstance(factor, Turn)]
        axis = apply(Rotation(tuple(fixed)).matrix(), joint.axis)
        return 1 if symengine.expand(dot(axis, self.normal)) == 1 else -1

    def _record(self, joint: Joint, position: Expression, rate: Expression) -> None:
        self.joint_position[joint.qposadr], self.joint_rate[joint.dofadr] = position, rate


def _whole_plane(kinds: list[str], body: Body) -> bool:
    """Whether joints are two perpendicular slides from the world, then a hinge."""
    if kinds != ["hinge", "slide", "slide"] or body.parent != 0 or body.joints[-1].kind != "hinge":
        return False
    return symengine.expand(dot(body.joints[0].axis, body.joints[1].axis)) == 0


def _several(body: Body) -> ModelError:
    text = f"maximal coordinates take one joint for each body, and it has {len(body.joints)}"
    return ModelError(text, element="body", name=body.name)


class _Spatial(_Bodies):
    """Bodies in space: the centre of mass and a unit quaternion of each, with the angular velocity in body axes."""

    def placed(self, body: Body) -> Pose:
        name = symbol_name(body.name)
        place = []
        for letter in "xyz":
            i = self.new(f"{letter}_{name}", f"{letter} of the centre of mass of body {body.name} (m)")
            place.append(self.q[-1])
        names, k, i = self.mechanism.names, len(self.q), len(self.v)
        quaternion = [names.new(f"q{part}_{name}") for part in "wxyz"]
        spin = [names.new(f"w{axis}_{name}") for axis in "xyz"]
        self.meanings |= {q: f"quaternion of body {body.name}" for q in quaternion}
        self.q += quaternion
        self.v += spin
        self.a += [names.new(f"d{w.name}") for w in spin]
        self.qdot += quaternion_rate(quaternion, spin)
        self.balls.append((i, i + 1, i + 2))
        self.quaternions.append((k, k + 1, k + 2, k + 3))
        rotation = Rotation().by_quaternion(quaternion, spin)
        x, y, z = place
        return Pose(sub((x, y, z), apply(rotation.matrix(), body.ipos)), rotation)

    def join(self, c: Coordinates, b: int, body: Body) -> None:
        if len(body.joints) > 1:
            raise _several(body)
        joint = next(iter(body.joints))
        home, pose = self.home(body), self.poses[b]
        gap = sub(pose.point(joint.pos), home.point(joint.pos))
        getattr(self, f"_{joint.kind}")(c, joint, home, pose, gap, self._turning(c, b, body))

    def _turning(self, c: Coordinates, b: int, body: Body) -> Vector:
        """The angular velocity against the parent, in the body's axes."""
        if not body.parent:
            return c.spin(b)
        outer = apply(self.poses[body.parent].rotation.matrix(), c.spin(body.parent))
        return sub(c.spin(b), apply_transposed(self.poses[b].rotation.matrix(), outer))

    def _anchored(self, joint: Joint, gap: Vector) -> None:
        for letter, x in zip("xyz", gap, strict=True):
            self.hold(joint, f"{letter} of the anchor", x)

    def _free(self, c: Coordinates, joint: Joint, home: Pose, pose: Pose, gap: Vector, turning: Vector) -> None:
        for n, x in enumerate(pose.pos):
            self.joint_rate[joint.dofadr + n] = c.rate(x)
            self.joint_position[joint.qposadr + n] = x
        self.joint_rate[joint.dofadr + 3 : joint.dofadr + 6] = turning

    def _ball(self, c: Coordinates, joint: Joint, home: Pose, pose: Pose, gap: Vector, turning: Vector) -> None:
        self._anchored(joint, gap)
        self.joint_rate[joint.dofadr : joint.dofadr + 3] = turning

    def _hinge(self, c: Coordinates, joint: Joint, home: Pose, pose: Pose, gap: Vector, turning: Vector) -> None:
        self._anchored(joint, gap)
        e1, e2 = _across(joint.axis)
        inner, outer = pose.rotation.matrix(), home.rotation.matrix()
        axis = apply(inner, joint.axis)
        self.hold(joint, "axis, first component", dot(axis, apply(outer, e1)))
        self.hold(joint, "axis, second component", dot(axis, apply(outer, e2)))
        turned = apply(inner, e1)
        angle = symengine.atan2(dot(turned, apply(outer, e2)), dot(turned, apply(outer, e1)))
        self.joint_position[joint.qposadr] = angle + joint.ref
        self.joint_rate[joint.dofadr] = dot(joint.axis, turning)

    def _slide(self, c: Coordinates, joint: Joint, home: Pose, pose: Pose, gap: Vector, turning: Vector) -> None:
        inner, outer = pose.rotation.matrix(), home.rotation.matrix()
        for name, i, j in (("x", 1, 2), ("y", 2, 0), ("z", 0, 1)):
            self.hold(joint, f"turn about {name}", dot(apply(inner, UNIT[i]), apply(outer, UNIT[j])))
        for name, e in zip(("first", "second"), _across(joint.axis), strict=True):
            self.hold(joint, f"across the slide, {name} direction", dot(gap, apply(outer, e)))
        way = dot(gap, apply(outer, joint.axis))
        self.joint_position[joint.qposadr] = way + joint.ref
        self.joint_rate[joint.dofadr] = c.rate(way)


def _across(axis: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors e1, e2 with e1 × e2 = axis."""
    least = min(range(3), key=lambda k: abs(float(axis[k])))
    e1 = cross(axis, UNIT[least])
    length = symengine.sqrt(dot(e1, e1))
    e1 = scale(1 / length, e1)
    return e1, cross(axis, e1)
