"""Derived equations of motion: coordinates, energies, and the terms that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import symengine
import sympy
from numpy.typing import ArrayLike, NDArray

from saltus.model.model import Model
from saltus.symbolic.derivation.coordinates import Choice
from saltus.symbolic.derivation.forces import Component, Force, applied_forces
from saltus.symbolic.derivation.lagrange import Derivation, generalised_force
from saltus.symbolic.derivation.mapping import Mapping as StateMapping
from saltus.symbolic.derivation.mechanism import Mechanism
from saltus.symbolic.expressions import Expression, to_sympy


@dataclass(frozen=True)
class Limit:
    """Range in which the equations hold: `low` <= `expression` <= `high`."""

    name: str
    expression: sympy.Expr
    low: float
    high: float


class DerivedEquations:
    """M(q) a + bias(q, v) = passive + actuation + applied: results of the derivation; `Equations` adds methods."""

    def __init__(
        self,
        model: Model,
        tree: Mechanism,
        choice: Choice,
        derivation: Derivation,
        applied: Mapping[Expression, str] | None = None,
    ):
        self.model, self.mechanism, self.choice, self.derivation = model, tree, choice, derivation
        self.applied_meanings = dict(applied or {})

    # ------------------------------------------------------------ coordinates, parameters, inputs

    @property
    def orientation(self) -> str:
        """ "relative", "absolute" or "maximal"."""
        return self.choice.own.orientation

    @cached_property
    def q(self) -> tuple[sympy.Symbol, ...]:
        """Coordinates."""
        return _symbols(self.choice.own.q)

    @cached_property
    def v(self) -> tuple[sympy.Symbol, ...]:
        """Velocities: rates of the coordinates, or components of angular velocities."""
        return _symbols(self.choice.own.v)

    @cached_property
    def a(self) -> tuple[sympy.Symbol, ...]:
        """Accelerations dv/dt."""
        return _symbols(self.choice.own.a)

    @cached_property
    def qdot(self) -> sympy.Matrix:
        """dq/dt in q and v."""
        return _column(self.choice.own.qdot)

    @property
    def meanings(self) -> dict[sympy.Symbol, str]:
        """Meaning of each coordinate, with its unit."""
        return {to_sympy(symbol): text for symbol, text in self.choice.own.meanings.items()}  # type: ignore[misc]

    @property
    def parameters(self) -> dict[sympy.Symbol, float]:
        """Value of each parameter's symbol in the model (SI units)."""
        return {to_sympy(symbol): value for symbol, value in self.mechanism.parameters.items()}  # type: ignore[misc]

    @property
    def inputs(self) -> dict[sympy.Symbol, str]:
        """Controls and forces from outside: the meaning of each symbol."""
        words = {True: "control of actuator", False: "force of actuator"}
        motors = {m.input: f"{words[m.gain is not None]} {m.name}" for m in self.mechanism.motors}
        return {to_sympy(symbol): text for symbol, text in {**motors, **self.applied_meanings}.items()}  # type: ignore[misc]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Features of the model that act at times and are not in the equations."""
        return self.mechanism.left_out

    @property
    def timings(self) -> dict[str, float]:
        """Seconds that each step of the derivation took."""
        return dict(self.derivation.timings)

    # ------------------------------------------------------------ results of the steps

    @cached_property
    def positions(self) -> dict[str, sympy.Matrix]:
        """Centres of mass of the bodies (m, world axes), by name."""
        return self._by_body(self.derivation.positions)

    @cached_property
    def velocities(self) -> dict[str, sympy.Matrix]:
        """Velocities of the centres of mass (m/s, world axes), by body name."""
        return self._by_body(self.derivation.velocities)

    @cached_property
    def spins(self) -> dict[str, sympy.Matrix]:
        """Angular velocities of bodies that have inertia, in their principal axes (rad/s)."""
        return self._by_body(self.derivation.spins)

    @cached_property
    def kinetic(self) -> sympy.Expr:
        """Kinetic energy T (J)."""
        return to_sympy(self.derivation.kinetic)  # type: ignore[return-value]

    @cached_property
    def potential(self) -> sympy.Expr:
        """Potential energy V (J): of weight, then of springs."""
        return to_sympy(self.derivation.potential + self.derivation.spring)  # type: ignore[return-value]

    @cached_property
    def terms(self) -> dict[str, sympy.Matrix]:
        """The terms of Lagrange's equation by name: d/dt ∂T/∂q̇, d/dt ∂V/∂q̇ (zero), ∂T/∂q, ∂V/∂q of weight.

        With quaternions also ω × ∂T/∂ω, and derivatives by q are those along the motions of v.
        """
        return {name: _column(term) for name, term in self.derivation.terms.items()}

    @cached_property
    def M(self) -> sympy.Matrix:
        """Inertia matrix [n, n] (kg, kg m, kg m²)."""
        return sympy.Matrix([[to_sympy(x) for x in row] for row in self.derivation.M])

    @cached_property
    def bias(self) -> sympy.Matrix:
        """Forces of motion (Coriolis, centrifugal) and weight [n] on the left side (N, N m)."""
        return _column(self.derivation.bias)

    @cached_property
    def passive(self) -> sympy.Matrix:
        """Forces of springs and dampers [n] (N, N m)."""
        return _column(self.derivation.forces["passive"])

    @cached_property
    def actuation(self) -> sympy.Matrix:
        """Forces of actuators [n] (N, N m)."""
        return _column(self.derivation.forces["actuation"])

    @cached_property
    def applied(self) -> sympy.Matrix:
        """Forces from outside [n] (N, N m)."""
        return _column(self.derivation.forces["applied"])

    @property
    def forces(self) -> sympy.Matrix:
        """Sum of the forces on the right side [n] (N, N m): passive, actuation and applied."""
        return self.passive + self.actuation + self.applied

    @property
    def equations(self) -> list[sympy.Equality]:
        """The equations of motion, one for each velocity; without multipliers in maximal coordinates."""
        left = self.M * sympy.Matrix(self.a) + self.bias
        sides = zip(left.flat(), self.forces.flat(), strict=True)
        # SymPy's types allow True or False here, in spite of evaluate=False
        return [sympy.Equality(x, y, evaluate=False) for x, y in sides]  # pyright: ignore[reportReturnType]

    @cached_property
    def constraints(self) -> dict[str, sympy.Expr]:
        """Φ(q) = 0 of maximal coordinates, by name; empty in others."""
        return {name: to_sympy(phi) for name, phi in self.choice.own.constraints.items()}  # type: ignore[misc]

    @cached_property
    def jacobian(self) -> sympy.Matrix:
        """J [nc, n] of J v = dΦ/dt."""
        rows = [[to_sympy(x) for x in row] for row in self.derivation.jacobian]
        return sympy.Matrix(rows) if rows else sympy.zeros(0, len(self.v))

    @cached_property
    def gamma(self) -> sympy.Matrix:
        """γ [nc] of J a = γ, the constraints differentiated twice."""
        return _column(self.derivation.gamma)

    @cached_property
    def limits(self) -> list[Limit]:
        """Limits of joints (rad, m), in these coordinates, and of controls."""
        out = []
        for joint in self.mechanism.joints:
            position = self.choice.own.joint_position[joint.qposadr]
            if joint.name in self.mechanism.joint_ranges and joint.kind in ("slide", "hinge"):
                low, high = self.mechanism.joint_ranges[joint.name]
                out.append(Limit(f"joint {joint.name}", to_sympy(position), low, high))  # type: ignore[arg-type]
        for motor in self.mechanism.motors:
            if motor.limits is not None:
                out.append(Limit(f"actuator {motor.name}", to_sympy(motor.input), *motor.limits))  # type: ignore[arg-type]
        return out

    def generalised_force(
        self, body: str, force: Sequence[Component], point: Sequence[Component] = (0, 0, 0)
    ) -> sympy.Matrix:
        """Q = Jᵀ F [n] of a force (N, world axes) on a body at a point (m, in its frame)."""
        (one,), _ = applied_forces(self.mechanism, [Force(body, force, point)])
        c = self.choice.own
        place = c.poses[self.mechanism.body(body)].point(one.point)
        return _column(generalised_force(c, place, one.force))

    def _by_body(self, vectors: Sequence[Any]) -> dict[str, sympy.Matrix]:
        pairs = zip(self.mechanism.bodies, vectors, strict=True)
        return {body.name: _column(v) for body, v in pairs if body.parent >= 0 and body is not self.mechanism.bodies[0]}

    # ------------------------------------------------------------ states

    @cached_property
    def _mapping(self) -> StateMapping:
        return StateMapping(self.mechanism, self.choice.own)

    def from_joint(self, qpos: ArrayLike, qvel: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(q, v) of a state qpos [nq], qvel [nv] of the model."""
        return self._mapping.from_joint(qpos, qvel)

    def to_joint(self, q: ArrayLike, v: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(qpos, qvel) of a state of these coordinates."""
        return self._mapping.to_joint(q, v)


def _symbols(given: Sequence[Any]) -> tuple[sympy.Symbol, ...]:
    return tuple(to_sympy(symbol) for symbol in given)  # type: ignore[misc]


def _column(given: Sequence[Any]) -> sympy.Matrix:
    return sympy.Matrix([to_sympy(symengine.sympify(x)) for x in given]) if len(given) else sympy.zeros(0, 1)
