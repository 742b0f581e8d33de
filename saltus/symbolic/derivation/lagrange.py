"""Lagrange's method, step by step.

    d/dt ∂T/∂q̇_i - d/dt ∂V/∂q̇_i - ∂T/∂q_i + ∂V/∂q_i = Q_i,        Q = Σ Jᵀ F

(Goldstein, Poole & Safko, Classical Mechanics, 3rd ed., section 1.4). The second term is zero, as energies of place
do not depend on velocities. Where orientations are unit quaternions, velocities v are components of the angular
velocity and not derivatives of coordinates, dq/dt = N(q) v; derivatives by q_i become those along the motion that v_i
stands for, ∂/∂π_i = Σ_k N_ki ∂/∂q_k, and a fifth term ω × ∂T/∂ω appears (Hamel 1904; Greenwood, Advanced Dynamics,
2003, section 4.3).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import symengine

from saltus.symbolic.derivation.coordinates import Choice, Coordinates
from saltus.symbolic.derivation.mechanism import Joint, Mechanism, Motor
from saltus.symbolic.derivation.rotation import apply_transposed
from saltus.symbolic.export.program import Program
from saltus.symbolic.expressions import (
    HALF,
    ZERO,
    Expression,
    Vector,
    cross,
    dot,
    on_unit_sphere,
    sum_of_products,
    sum_over_angles,
    written_out,
)

LARGEST = 20_000  # terms of an energy that are still written out to make it shorter
FEW = 1_000  # terms, likewise, for products of sines and cosines, each of which becomes several terms


@dataclass(frozen=True)
class Applied:
    """A force or torque from outside: `force` (N) at `point` of a body and `torque` (N m), both in world axes.

    The reaction acts on the body `against`, the world if None: at the same place in space.
    """

    body: str
    force: Vector
    point: Vector
    torque: Vector
    against: str | None


@dataclass
class Derivation:
    """Results of the method as SymEngine expressions; each is made from those before it.

    positions: of the centres of mass [nbody] (m); velocities, spins: of them, and of the bodies in their principal axes
    [nbody] (m/s, rad/s); kinetic, potential, spring: energies (J); momenta: ∂T/∂v [n]; terms: by name [n];
    forces: by name [n] (N, N m); M [n][n], bias [n]: M a + bias = forces, bias of motion and weight;
    jacobian [nc][n], gamma [nc]: J a = γ for the constraints.
    """

    positions: list[Vector] = field(default_factory=list)
    velocities: list[Vector] = field(default_factory=list)
    spins: list[Vector] = field(default_factory=list)
    kinetic: Expression = ZERO
    potential: Expression = ZERO
    spring: Expression = ZERO
    momenta: list[Expression] = field(default_factory=list)
    terms: dict[str, list[Expression]] = field(default_factory=dict)
    forces: dict[str, list[Expression]] = field(default_factory=dict)
    M: list[list[Expression]] = field(default_factory=list)
    bias: list[Expression] = field(default_factory=list)
    constraint_rates: list[Expression] = field(default_factory=list)
    jacobian: list[list[Expression]] = field(default_factory=list)
    gamma: list[Expression] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)


def lagrange(mechanism: Mechanism, choice: Choice, applied: Sequence[Applied] = ()) -> Derivation:
    """Run all steps of the method, in order."""
    out = Derivation()
    steps: list[tuple[str, Callable[[], None]]] = [
        ("positions", lambda: _positions(out, mechanism, choice.working)),
        ("velocities", lambda: _velocities(out, mechanism, choice.working)),
        ("energies", lambda: _energies(out, mechanism, choice)),
        ("terms", lambda: _terms(out, choice.own)),
        ("forces", lambda: _forces(out, mechanism, choice.own, applied)),
        ("equations", lambda: _equations(out, choice.own)),
        ("constraints", lambda: _constraints(out, choice.own)),
    ]
    for name, step in steps:
        began = time.perf_counter()
        step()
        out.timings[name] = time.perf_counter() - began
    return out


# ---------------------------------------------------------------- from positions to energies


def _positions(out: Derivation, mechanism: Mechanism, c: Coordinates) -> None:
    """Positions r_b of the centres of mass (m)."""
    out.positions = [pose.point(body.ipos) for pose, body in zip(c.poses, mechanism.bodies, strict=True)]


def _velocities(out: Derivation, mechanism: Mechanism, c: Coordinates) -> None:
    """Velocities dr_b/dt = ∂r_b/∂q dq/dt (m/s), and angular velocities in principal axes (rad/s)."""
    out.velocities = [(c.rate(x), c.rate(y), c.rate(z)) for x, y, z in out.positions]
    out.spins = [
        apply_transposed(body.irotation, c.spin(b)) if any(i != 0 for i in body.inertia) else (ZERO, ZERO, ZERO)
        for b, body in enumerate(mechanism.bodies)
    ]


def _energies(out: Derivation, mechanism: Mechanism, choice: Choice) -> None:
    """Energies (J): T = Σ ½ m ṙ² + ½ ω·I ω + ½ J θ̇²,  V = -Σ m g·r,  and the springs'."""
    c = choice.working
    kinetic, potential, spring = [], [], []
    for body, r, v, w in zip(mechanism.bodies, out.positions, out.velocities, out.spins, strict=True):
        kinetic.append(HALF * body.mass * dot(v, v))
        kinetic.append(HALF * dot(body.inertia, tuple(x * x for x in w)))
        potential.append(-body.mass * dot(mechanism.gravity, r))
    for joint in mechanism.joints:
        for k, armature in enumerate(joint.armature):
            kinetic.append(HALF * armature * c.joint_rate[joint.dofadr + k] ** 2)
        x = _stretch(c, joint)
        spring += [stiffness * x ** (n + 2) / (n + 2) for n, stiffness in enumerate(joint.stiffness) if stiffness != 0]
    out.kinetic = choice.put(_shortest(kinetic, c))
    out.potential = choice.put(_shortest(potential, c))
    out.spring = choice.put(symengine.Add(*spring))
    out.positions = [_put(choice, r) for r in out.positions]
    out.velocities = [_put(choice, v) for v in out.velocities]
    out.spins = [_put(choice, w) for w in out.spins]


def _stretch(c: Coordinates, joint: Joint) -> Expression:
    """A spring's displacement from its rest position (rad, m)."""
    position = c.joint_position[joint.qposadr]
    return ZERO if position is None or joint.kind in ("free", "ball") else position - joint.springref


def _put(choice: Choice, v: Vector) -> Vector:
    x, y, z = map(choice.put, v)
    return x, y, z


def _shortest(energies: list[Expression], c: Coordinates) -> Expression:
    """The sum of energies, in a normal form where that makes it shorter."""
    total = symengine.Add(*energies)
    if c.planar:
        return sum_over_angles(total)
    if not c.balls:
        return total if written_out(total) > FEW else _fewest([total], [sum_over_angles(total)])[0]
    quaternions = [[c.q[k] for k in quaternion] for quaternion in c.quaternions]
    short = [x for x in energies if written_out(x) <= LARGEST]
    rest = [x for x in energies if written_out(x) > LARGEST]
    return symengine.Add(*rest, *(x for one in short for x in _fewest([one], [on_unit_sphere(one, quaternions)])))


def _fewest(*choices: list[Expression]) -> list[Expression]:
    """The list of expressions that takes the fewest operations."""
    return min(choices, key=lambda chosen: Program(range(len(chosen)), chosen, {}).counts().total)


# ---------------------------------------------------------------- the terms of Lagrange's equation


def _terms(out: Derivation, c: Coordinates) -> None:
    """The terms on the left side: a list for each, with one entry per velocity."""
    out.momenta = [out.kinetic.diff(v) for v in c.v]
    out.terms = {
        "d/dt ∂T/∂q̇": [_total_derivative(p, c) for p in out.momenta],
        "d/dt ∂V/∂q̇": [_total_derivative(out.potential.diff(v), c) for v in c.v],
        "∂T/∂q": [c.along(out.kinetic, i) for i in range(len(c.v))],
        "∂V/∂q": [c.along(out.potential, i) for i in range(len(c.v))],
    }
    if c.balls:
        turning = [ZERO] * len(c.v)
        for triple in c.balls:
            torque = cross([c.v[i] for i in triple], [out.momenta[i] for i in triple])
            for i, component in zip(triple, torque, strict=True):
                turning[i] = component
        out.terms["ω × ∂T/∂ω"] = turning


def _total_derivative(p: Expression, c: Coordinates) -> Expression:
    """d/dt p(q, v) = ∂p/∂q dq/dt + ∂p/∂v a."""
    return c.rate(p) + sum_of_products((p.diff(v), a) for v, a in zip(c.v, c.a, strict=True))


def _equations(out: Derivation, c: Coordinates) -> None:
    """M a + bias = Q, read off the terms."""
    n = range(len(c.v))
    out.M = [[out.momenta[i].diff(c.v[j]) for j in n] for i in n]
    turning = out.terms.get("ω × ∂T/∂ω", [ZERO] * len(c.v))
    out.bias = _shorter(
        [c.rate(out.momenta[i]) - out.terms["∂T/∂q"][i] + out.terms["∂V/∂q"][i] + turning[i] for i in n]
    )


def _shorter(forces: list[Expression]) -> list[Expression]:
    """The forces, expanded so that terms cancel where that takes fewer operations."""
    if any(written_out(x) > LARGEST for x in forces):
        return forces
    written = [symengine.expand(x) for x in forces]
    return _fewest(written, forces)


# ---------------------------------------------------------------- generalised forces


def generalised_force(c: Coordinates, point: Vector, force: Vector) -> list[Expression]:
    """Q = Jᵀ F of a force (N) at a point (m), both in world axes: the power of the force for each velocity."""
    return [sum_of_products((c.along(x, i), f) for x, f in zip(point, force, strict=True)) for i in range(len(c.v))]


def generalised_torque(c: Coordinates, body: int, torque: Vector) -> list[Expression]:
    """Q of a torque (N m, world axes) on a body: its power for each velocity."""
    inside = apply_transposed(c.poses[body].rotation.matrix(), torque)
    return _powers(c, c.spin(body), inside)


def joint_force(c: Coordinates, forces: dict[int, Expression]) -> list[Expression]:
    """Q of forces on joints (N, N m) by degree of freedom: their power for each velocity."""
    return _powers(c, [c.joint_rate[i] for i in forces], [*forces.values()])


def _powers(c: Coordinates, rates: Sequence[Expression], forces: Sequence[Expression]) -> list[Expression]:
    """Σ ∂rate/∂v force."""
    pairs = [(symengine.sympify(rate), force) for rate, force in zip(rates, forces, strict=True) if force != 0]
    return [sum_of_products((rate.diff(v), force) for rate, force in pairs) for v in c.v]


def _forces(out: Derivation, mechanism: Mechanism, c: Coordinates, applied: Sequence[Applied]) -> None:
    """Springs and dampers, motors, and forces from outside."""
    n = range(len(c.v))
    damping: dict[int, Expression] = {}
    for joint in mechanism.joints:
        for k, (b, b1, b2) in enumerate(joint.damping):
            if b != 0 or b1 != 0 or b2 != 0:
                rate = c.joint_rate[joint.dofadr + k]
                damping[joint.dofadr + k] = -rate * (b + b1 * symengine.Abs(rate) + b2 * rate * rate)
    springs = [-c.along(out.spring, i) for i in n]
    out.forces["passive"] = [s + d for s, d in zip(springs, joint_force(c, damping), strict=True)]
    driven: dict[int, Expression] = {}
    for motor in mechanism.motors:
        for k, gear in enumerate(motor.gear):
            driven[motor.dofadr + k] = driven.get(motor.dofadr + k, ZERO) + gear * _motor_force(c, mechanism, motor)
    out.forces["actuation"] = joint_force(c, driven)
    total = [ZERO for _ in n]
    for one in applied:
        total = [a + b for a, b in zip(total, _applied_force(c, mechanism, one), strict=True)]
    out.forces["applied"] = total


def _motor_force(c: Coordinates, mechanism: Mechanism, motor: Motor) -> Expression:
    """gain u + bias, both linear in (1, length, velocity)."""
    if motor.gain is None:
        return motor.input
    (joint,) = (j for j in mechanism.joints if j.dofadr <= motor.dofadr < j.dofadr + j.nv)
    velocity = sum_of_products((g, c.joint_rate[motor.dofadr + k]) for k, g in enumerate(motor.gear))
    length = ZERO
    if len(motor.gear) == 1 and joint.kind in ("slide", "hinge"):
        length = motor.gear[0] * c.joint_position[joint.qposadr]
    state = (symengine.Integer(1), length, velocity)
    return dot(motor.gain, state) * motor.input + dot(motor.bias, state)


def _applied_force(c: Coordinates, mechanism: Mechanism, one: Applied) -> list[Expression]:
    body = mechanism.body(one.body)
    place = c.poses[body].point(one.point)
    total = [
        a + b
        for a, b in zip(generalised_force(c, place, one.force), generalised_torque(c, body, one.torque), strict=True)
    ]
    if one.against is not None:
        other = mechanism.body(one.against)
        back = _at_same_place(c, other, place, one.force)
        turned = generalised_torque(c, other, one.torque)
        total = [a - b - t for a, b, t in zip(total, back, turned, strict=True)]
    return total


def _at_same_place(c: Coordinates, body: int, place: Vector, force: Vector) -> list[Expression]:
    """Q of a force on a body at a point in space not fixed to it: the force at the body's origin, and its moment."""
    if all(f == 0 for f in force):
        return [ZERO] * len(c.v)
    origin = c.poses[body].pos
    moment = cross(tuple(p - o for p, o in zip(place, origin, strict=True)), force)
    return [
        a + b for a, b in zip(generalised_force(c, origin, force), generalised_torque(c, body, moment), strict=True)
    ]


# ---------------------------------------------------------------- constraints of maximal coordinates


def _constraints(out: Derivation, c: Coordinates) -> None:
    """Φ(q) = 0 differentiated twice: J v = 0, J a = γ = -dJ/dt v."""
    out.constraint_rates = [c.rate(phi) for phi in c.constraints.values()]
    out.jacobian = [[rate.diff(v) for v in c.v] for rate in out.constraint_rates]
    out.gamma = [-c.rate(rate) for rate in out.constraint_rates]
