"""The mechanism as its equations need it: bodies, joints and motors with exact numbers or symbols.

What has no place in the equations is refused by name (loops, tendons, a medium), or, where the equations hold as long
as it does not act (contacts, limits, dry friction), listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import ModelError, UnknownName
from saltus.model import features
from saltus.model.actuator_enums import BALL, BIAS_AFFINE, BIAS_NONE, DYN_NONE, GAIN_AFFINE, GAIN_FIXED, SCALAR
from saltus.model.contact.collisions import pairs
from saltus.model.enums import FREE, HINGE, JOINT_NAMES, SLIDE
from saltus.symbolic.derivation.rotation import Matrix, quaternion_matrix
from saltus.symbolic.expressions import ZERO, Expression, Vector, exact, vector
from saltus.symbolic.parameters import LETTERS, Names, Parameters, symbol_name

if TYPE_CHECKING:
    from saltus.model.model import Model

INEQUALITIES = {"contact": "contacts", "limit": "limits of joints", "frictionloss": "dry friction"}
LEFT_OUT = {**INEQUALITIES, "actuatorfrcrange": "limits of what actuators do to joints"}


@dataclass(frozen=True)
class Joint:
    """A joint: `pos` and `axis` in its body's frame, `ref` the qpos (rad, m) at which the body is as in the file."""

    name: str
    kind: str
    pos: Vector
    axis: Vector
    ref: Expression
    qposadr: int
    dofadr: int
    stiffness: Vector  # coefficients of the polynomial spring, by powers 1, 2, 3 of the displacement
    springref: Expression
    damping: tuple[Vector, ...]  # coefficients of each degree of freedom, by powers
    armature: tuple[Expression, ...]

    @property
    def nq(self) -> int:
        """Number of the joint's entries in qpos."""
        return {"free": 7, "ball": 4}.get(self.kind, 1)

    @property
    def nv(self) -> int:
        """Number of the joint's degrees of freedom."""
        return len(self.armature)


@dataclass(frozen=True)
class Body:
    """A body: its frame in its parent's, its centre of mass and principal axes in its own."""

    name: str
    parent: int
    pos: Vector
    rotation: Matrix
    joints: tuple[Joint, ...]
    mass: Expression
    ipos: Vector
    irotation: Matrix
    inertia: Vector


@dataclass(frozen=True)
class Motor:
    """An actuator: force = gain u + bias, with gain and bias linear in (1, length, velocity); or an unknown force.

    It acts on the degrees of freedom from `dofadr` on with the moment arms `gear`.
    """

    name: str
    dofadr: int
    gear: tuple[Expression, ...]
    input: Expression  # symbol: the control, or the force itself if gain is None
    gain: Vector | None
    bias: Vector
    limits: tuple[float, float] | None
    place: int  # index of its control in ctrl, or of its force in actuator_force


@dataclass(frozen=True)
class Mechanism:
    """Contents of the equations. `left_out`: what they leave out, in sentences; `inputs`: meanings of their inputs."""

    name: str
    bodies: tuple[Body, ...]  # the first is the world
    gravity: Vector
    motors: tuple[Motor, ...]
    names: Names
    parameters: dict[Expression, float]
    left_out: tuple[str, ...]
    joint_ranges: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def joints(self) -> list[Joint]:
        """Joints in the order of qpos."""
        return [joint for body in self.bodies for joint in body.joints]

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return sum(joint.nv for joint in self.joints)

    def body(self, name: str) -> int:
        """Index of the body with a name; an OptionError, also a KeyError, names those there are."""
        names = [body.name for body in self.bodies]
        if not isinstance(name, str) or name not in names:
            raise UnknownName(f"no body {name!r}; there are: {', '.join(names)}")
        return names.index(name)


def mechanism(model: Model, parameters: str | Mapping[str, str | float | Expression] = "numbers") -> Mechanism:
    """The mechanism of a model; raises ModelError for what its equations cannot hold."""
    m, views = model.mujoco, model.struct().views
    left_out = _left_out(model, m)
    _refuse(model, m, views)
    names = Names()
    numbers = Parameters(parameters, names)
    joints = _joints(model, m, views, numbers)
    places = _places(model, m, numbers)
    bodies = []
    for b, name in enumerate(model.names("body")):
        own = [joint for joint, at in zip(joints, m.jnt_bodyid, strict=True) if at == b]
        bodies.append(
            Body(
                name=name,
                parent=int(m.body_parentid[b]),
                pos=places[b],
                rotation=_matrix([1, 0, 0, 0] if own and own[0].kind == "free" else m.body_quat[b]),
                joints=tuple(own),
                mass=numbers.number("body_mass", name, m.body_mass[b]) if b else ZERO,
                ipos=numbers.vector("body_ipos", name, m.body_ipos[b]),
                irotation=_matrix(m.body_iquat[b]),
                inertia=numbers.inertia(name, m.body_inertia[b]) if b else (ZERO, ZERO, ZERO),
            )
        )
    gravity = numbers.vector("opt.gravity", "", views["opt_gravity"][0])
    for name, place in zip(model.names("site"), m.site_pos, strict=True):
        numbers.measured("site_pos", name, place)
    numbers.check_used([*LETTERS, "site_pos"])
    ranges = {
        joint.name: (float(low), float(high))
        for joint, (low, high), on in zip(joints, m.jnt_range, m.jnt_limited, strict=True)
        if on
    }
    motors = tuple(_motors(model, m, views, names))
    return Mechanism(model.name, tuple(bodies), gravity, motors, names, numbers.values, left_out, ranges)


def _places(model: Model, m: Any, numbers: Parameters) -> list[Vector]:
    """Places of the bodies' frames in those of their parents (m); zero for free bodies, whose joint has the place.

    A symbol is named after the body whose length it is: that of a link, l_link1, is where the next link begins. Where
    several begin, l_link1_left; X0, Y0, Z0 is where a mechanism hangs from the world.
    """
    names, free = model.names("body"), [False] * m.nbody
    for b, kind in zip(m.jnt_bodyid, m.jnt_type, strict=True):
        free[b] = free[b] or kind == FREE
    placed = [b for b in range(1, m.nbody) if not free[b] and np.any(m.body_pos[b])]
    siblings = [sum(m.body_parentid[other] == m.body_parentid[b] for other in placed) for b in range(m.nbody)]
    out: list[Vector] = []
    for b, name in enumerate(names):
        parent = m.body_parentid[b]
        if b == 0 or free[b]:
            out.append((ZERO, ZERO, ZERO))
        elif parent == 0:
            out.append(numbers.place(name, m.body_pos[b], name if siblings[b] > 1 else ""))
        else:
            symbol = f"l_{symbol_name(names[parent])}" + (f"_{symbol_name(name)}" if siblings[b] > 1 else "")
            out.append(numbers.vector("body_pos", name, m.body_pos[b], symbol))
    return out


def _matrix(quaternion: Any) -> Matrix:
    return quaternion_matrix([exact(x) for x in quaternion])


def _left_out(model: Model, m: Any) -> tuple[str, ...]:
    """Sentences on features that act at times only; ModelError for those that always act and have no equation here."""
    found = [f for f in features.present(m) if f.kind not in model.left_out]
    for f in found:
        if f.kind in ("equality", "tendon", "fluid", "flex", "plugin", "plasticity"):
            raise ModelError(
                f"{f.text} has no place in the equations of a tree of joints; leave it out with ignore=['{f.kind}']",
                element=f.element,
                name=f.name,
            )
    kinds: dict[str, list[str]] = {}
    for f in found:
        if f.kind == "contact":
            geoms, names = sorted({g for pair in pairs(m) for g in (pair.geom1, pair.geom2)}), model.names("geom")
            kinds["contact"] = [f"geom {names[g]}" for g in geoms]
        elif f.kind in INEQUALITIES:
            kinds.setdefault(f.kind, []).append(f"{f.element} {f.name}")
    bounded = [f"joint {name}" for name, on in zip(model.names("joint"), m.jnt_actfrclimited, strict=True) if on]
    if bounded and m.nactuator:
        kinds["actuatorfrcrange"] = bounded
    return tuple(f"{LEFT_OUT[kind]}: {', '.join(things)}" for kind, things in kinds.items())


def _refuse(model: Model, m: Any, views: Any) -> None:
    """Raise ModelError for forces that the equations do not hold."""
    if not m.nv:
        raise ModelError("has no degree of freedom, so that there is nothing to derive", name=model.name)
    for b in np.flatnonzero(m.body_gravcomp):
        raise ModelError("gravity compensation is not in the equations", element="body", name=model.names("body")[b])
    for b in np.flatnonzero(m.body_mocapid >= 0):
        raise ModelError("mocap bodies are not in the equations", element="body", name=model.names("body")[b])
    for j in np.flatnonzero(views["jnt_spring"]):
        if m.jnt_type[j] not in (SLIDE, HINGE):
            text = "springs of free and ball joints are not in the equations"
            raise ModelError(text, element="joint", name=model.names("joint")[j])


def _joints(model: Model, m: Any, views: Any, numbers: Parameters) -> list[Joint]:
    out = []
    labels = model.dof_names()
    for j, name in enumerate(model.names("joint")):
        kind, i, a = JOINT_NAMES[m.jnt_type[j]], int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
        dofs = range(i, i + {"free": 6, "ball": 3}.get(kind, 1))
        scalar = kind in ("slide", "hinge")
        spring = views["jnt_stiffnesspoly"][j] if views["jnt_spring"][j] else (0.0, 0.0)
        stiffness = views["jnt_stiffness"][j] if views["jnt_spring"][j] else 0.0
        out.append(
            Joint(
                name=name,
                kind=kind,
                pos=numbers.vector("jnt_pos", name, m.jnt_pos[j]) if kind != "free" else vector((0, 0, 0)),
                axis=vector(m.jnt_axis[j]),
                ref=exact(m.qpos0[a]) if scalar else ZERO,
                qposadr=a,
                dofadr=i,
                stiffness=(numbers.number("jnt_stiffness", name, stiffness), exact(spring[0]), exact(spring[1])),
                springref=exact(views["qpos_spring"][a]) if scalar else ZERO,
                damping=tuple(
                    (
                        numbers.number("dof_damping", labels[k], views["dof_damping"][k]),
                        *map(exact, views["dof_dampingpoly"][k]),
                    )
                    for k in dofs
                ),
                armature=tuple(numbers.number("dof_armature", labels[k], views["dof_armature"][k]) for k in dofs),
            )
        )
    return out


def _motors(model: Model, m: Any, views: Any, names: Names) -> list[Motor]:
    """The actuators that act on joints; ModelError for the others."""
    out = []
    labels = model.names("actuator")
    acting = [k for k in range(m.nactuator) if views["actuator_enabled"][k]]
    torques = _torque_names(m, views, acting)
    for k in acting:
        o = int(views["actuator_outadr"][k])
        if views["out_kind"][o] not in (SCALAR, BALL) or views["actuator_outnum"][k] != 1:
            text = "only actuators on hinge, slide and ball joints have a place in the equations"
            raise ModelError(text, element="actuator", name=labels[k])
        n, at = int(views["moment_num"][o]), int(views["moment_dof"][views["moment_adr"][o]])
        plain = _is_plain(views, k)
        place = int(views["actuator_ctrladr"][k]) if plain else k
        out.append(
            Motor(
                name=labels[k],
                dofadr=at,
                gear=tuple(exact(g) for g in views["actuator_gear"][o][:n]),
                input=names.new(torques.get(k, ("u_" if plain else "force_") + symbol_name(labels[k]))),
                gain=vector(views["actuator_gainprm"][k][:3]) if plain else None,
                bias=vector(views["actuator_biasprm"][k][:3]) if plain else (ZERO, ZERO, ZERO),
                limits=_range(m, place) if plain else None,
                place=place,
            )
        )
    return out


def _range(m: Any, control: int) -> tuple[float, float] | None:
    """Range that a control is limited to; None if it is not limited."""
    low, high = m.actuator_ctrlrange[control]
    return (float(low), float(high)) if m.actuator_ctrllimited[control] else None


def _is_plain(views: Any, k: int) -> bool:
    """Whether an actuator has no state and its force is linear in control, length and velocity."""
    return bool(
        views["actuator_dyntype"][k] == DYN_NONE
        and views["actuator_gaintype"][k] in (GAIN_FIXED, GAIN_AFFINE)
        and views["actuator_biastype"][k] in (BIAS_NONE, BIAS_AFFINE)
        and views["actuator_ctrlnum"][k] == 1
        and not views["actuator_nsample"][k]
        and not views["actuator_forcelimited"][k]
        and not ("curve_num" in views and views["curve_num"][k])
    )


def _torque_names(m: Any, views: Any, acting: list[int]) -> dict[int, str]:
    """tau1, tau2, ... for motors whose control is the torque of a hinge, F1, ... for forces of slides."""
    found: dict[str, list[int]] = {"tau": [], "F": []}
    for k in acting:
        o = views["actuator_outadr"][k]
        pure = views["actuator_gainprm"][k][0] == 1 and not np.any(views["actuator_gainprm"][k][1:3])
        pure = pure and not np.any(views["actuator_biasprm"][k][:3]) and views["actuator_gear"][o][0] == 1
        if _is_plain(views, k) and pure and views["out_kind"][o] == SCALAR:
            joint = m.dof_jntid[views["moment_dof"][views["moment_adr"][o]]]
            found["tau" if m.jnt_type[joint] == HINGE else "F"].append(k)
    return {k: letter if len(ks) == 1 else f"{letter}{i + 1}" for letter, ks in found.items() for i, k in enumerate(ks)}
