"""Equations of motion as an object: derived step by step, shown, evaluated, written as code, and simulated.

eq = saltus.derive("double_pendulum", "absolute")
eq.M, eq.bias, eq.terms["∂V/∂q"]          # SymPy
M, bias = eq.lambdify()(qpos, qvel)       # numbers
eq.python("pendulum.py"); eq.c("pendulum.c"); eq.latex()
eq.simulation(integrator="rk4").run(10)   # the same equations under any integrator
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine
import sympy

from saltus.arguments import path_of, positive, several, text_of
from saltus.errors import OptionError, SaltusWarning
from saltus.model.load import load
from saltus.symbolic.code import TARGETS, kernel_text, routine
from saltus.symbolic.coordinates import Choice, absolute, relative
from saltus.symbolic.evaluate import Evaluator, checked_state, parameter_values, solution
from saltus.symbolic.export.c_code import c_header, c_source
from saltus.symbolic.export.numba_code import numba_source
from saltus.symbolic.export.program import Counts
from saltus.symbolic.export.python_code import function, python_source
from saltus.symbolic.export.routine import counts, write
from saltus.symbolic.expressions import to_sympy
from saltus.symbolic.forces import Force, Torque, applied_forces
from saltus.symbolic.lagrange import Derivation, generalised_force, lagrange
from saltus.symbolic.mapping import Mapping as StateMapping
from saltus.symbolic.maximal import maximal
from saltus.symbolic.mechanism import Mechanism, mechanism
from saltus.symbolic.show.letters import letters
from saltus.symbolic.show.page_html import equations_html, is_short
from saltus.symbolic.show.steps import Step, equations_latex, steps
from saltus.symbolic.simplify import simplified
from saltus.terminal.display import count

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.dynamics import Dynamics
    from saltus.simulate.simulation import Simulation

ORIENTATIONS: dict[str, Callable[[Mechanism], Choice]] = {
    "relative": relative,
    "absolute": absolute,
    "maximal": maximal,
}


def derive(
    model: Any,
    orientation: str = "relative",
    parameters: str | Mapping[str, Any] = "numbers",
    *,
    applied: Sequence[Force | Torque] = (),
) -> Equations:
    """Derive the equations of motion of a mechanism by Lagrange's method.

    `model`: a Model, or what `saltus.load` takes: a tree of hinge, slide, ball and free joints. `orientation`: the
    coordinates. "relative": the joints' own, each against the body before; "absolute": angles against the world where
    axes stay parallel; "maximal": every body's place and orientation, with constraints. `parameters`: "numbers", exact;
    "symbols": letters for masses, inertias, lengths, gravity, stiffness, damping, armature; "textbook": those of the
    books that a bundled mechanism is known from; or a mapping from keys, as of `Model.changed`, to names, expressions
    or numbers. `applied`: forces and torques from outside.

    Contacts, limits and dry friction are not in the equations, which hold as long as they do not act; a SaltusWarning
    names them.

    Raises:
        ModelError: the model holds what the equations cannot (loops, tendons, a medium, ...), by name.
        OptionError: there is no such orientation, parameter or body.
    """
    if text_of("orientation", orientation) not in ORIENTATIONS:
        raise OptionError.unknown("orientation", orientation, [*ORIENTATIONS])
    began = time.perf_counter()
    loaded = load(model)
    tree = mechanism(loaded, letters(loaded.name, parameters))
    forces, meanings = applied_forces(tree, several("applied", applied))
    choice = ORIENTATIONS[orientation](tree)
    ready = time.perf_counter() - began
    derivation = lagrange(tree, choice, forces)
    derivation.timings = {"coordinates": ready, **derivation.timings}
    if tree.left_out:
        text = "; ".join(tree.left_out)
        warnings.warn(f"not in the equations of {loaded.name}: {text}", SaltusWarning, stacklevel=2)
    return Equations(loaded, tree, choice, derivation, meanings)


@dataclass(frozen=True)
class Limit:
    """What the equations hold for: `low` <= `expression` <= `high`."""

    name: str
    expression: sympy.Expr
    low: float
    high: float


class Equations:
    """M(q) a + bias(q, v) = passive + actuation + applied, with dq/dt = `qdot`(q, v) and dv/dt = a.

    `orientation`: the coordinates (see `derive`). `q`, `v`, `a`: their symbols; `meanings` says what they are.
    `parameters`: {symbol: value in the model}; `inputs`: {symbol: what it is}, controls and forces from outside.
    `left_out`: what acts in the model at times and is not here. `timings`: seconds each step took. In maximal
    coordinates the equations are M a + bias - Jᵀ λ = forces with J a = γ, see `constraints`.

    Quaternions are those of unit length, and angular velocities of free and ball joints are in body axes, as in qvel.
    """

    def __init__(
        self,
        model: Model,
        tree: Mechanism,
        choice: Choice,
        derivation: Derivation,
        applied: Mapping[Any, str] | None = None,
    ):
        self.model, self.mechanism, self.choice, self.derivation = model, tree, choice, derivation
        self._applied = dict(applied or {})

    def __repr__(self) -> str:
        size = count(len(self.v), "velocity")
        if self.derivation.jacobian:
            size += f", {count(len(self.derivation.jacobian), 'constraint')}"
        return f"Equations({self.model.name!r}, {self.orientation!r}: {size})"

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
        """What each coordinate is, with its unit."""
        return {to_sympy(symbol): text for symbol, text in self.choice.own.meanings.items()}  # type: ignore[misc]

    @property
    def parameters(self) -> dict[sympy.Symbol, float]:
        """What each letter is worth in the model (SI units)."""
        return {to_sympy(symbol): value for symbol, value in self.mechanism.parameters.items()}  # type: ignore[misc]

    @property
    def inputs(self) -> dict[sympy.Symbol, str]:
        """Controls and forces from outside: what each is."""
        words = {True: "control of actuator", False: "force of actuator"}
        motors = {m.input: f"{words[m.gain is not None]} {m.name}" for m in self.mechanism.motors}
        return {to_sympy(symbol): text for symbol, text in {**motors, **self._applied}.items()}  # type: ignore[misc]

    @property
    def left_out(self) -> tuple[str, ...]:
        """What acts in the model at times and is not in the equations."""
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
        """Their velocities (m/s)."""
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
        """All forces on the right side [n] (N, N m)."""
        return self.passive + self.actuation + self.applied

    @property
    def equations(self) -> list[Any]:
        """The equations of motion, one for each velocity; without multipliers in maximal coordinates."""
        left = self.M * sympy.Matrix(self.a) + self.bias
        return [sympy.Equality(x, y, evaluate=False) for x, y in zip(left.flat(), self.forces.flat(), strict=True)]

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

    def generalised_force(self, body: str, force: Sequence[Any], point: Sequence[Any] = (0, 0, 0)) -> sympy.Matrix:
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

    def from_joint(self, qpos: Any, qvel: Any) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) of a state qpos [nq], qvel [nv] of the model."""
        return self._mapping.from_joint(qpos, qvel)

    def to_joint(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        """(qpos, qvel) of a state of these coordinates."""
        return self._mapping.to_joint(q, v)

    # ------------------------------------------------------------ numbers and motion

    def lambdify(self) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        """f(qpos, qvel, parameters=None) -> (M [n, n], bias [n]); parameters by name where they are letters."""
        compiled = function(routine(self, ("M", "bias")))
        if not self.mechanism.parameters:
            return lambda qpos, qvel: compiled(qpos, qvel)
        return lambda qpos, qvel, parameters=None: compiled(qpos, qvel, parameter_values(self, parameters))

    def acceleration(
        self, q: Any, v: Any, inputs: Mapping[Any, float] | None = None, parameters: Mapping[Any, float] | None = None
    ) -> np.ndarray:
        """a [n] at a state, with values of inputs (0 unless given) and parameters (the model's) by name."""
        return Evaluator(self, inputs, parameters)(*checked_state(self, q, v))[0]

    def multipliers(
        self, q: Any, v: Any, inputs: Mapping[Any, float] | None = None, parameters: Mapping[Any, float] | None = None
    ) -> np.ndarray:
        """λ [nc] of the constraints at a state of maximal coordinates (N, N m); Jᵀ λ are their forces."""
        return Evaluator(self, inputs, parameters)(*checked_state(self, q, v))[1]

    def solve(self, duration: float, q: Any, v: Any, **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(time [T], q [T, nq], v [T, n]) from a state over a duration (s), by SciPy's DOP853.

        `inputs`: {name: number or function of time}; `parameters`: {name: number}; `stabilisation`: (α, β) in 1/s of
        constraints; `sample` (s); `rtol`, `atol`. OptionError for a start off the constraints, unless `stabilisation`
        is to draw it back; `from_joint` gives starts on them.
        """
        return solution(self, duration, q, v, **options)

    @cached_property
    def dynamics(self) -> Dynamics:
        """Kernels of these equations, for `saltus.Simulation(model, dynamics=...)` and `saltus.Batch`."""
        from saltus.simulate.dynamics import Dynamics
        from saltus.symbolic.export.kernel_code import load_kernels

        return Dynamics(**load_kernels(kernel_text(self)))

    def simulation(self, **options: Any) -> Simulation:
        """A Simulation of the model whose inertia and bias are these equations; options as of `saltus.Simulation`.

        Its state is the joints' qpos and qvel whichever coordinates the equations are in: absolute angles are sums of
        the joints', and every integrator commutes with sums. Springs, dampers, actuators and constraints are the
        engine's. Forces from outside (`applied`) are not in it, as a SaltusWarning says; they go into qfrc_applied.
        """
        from saltus.simulate.simulation import Simulation

        if any(force != 0 for force in self.derivation.forces["applied"]):
            text = "a simulation of equations takes forces from outside by qfrc_applied, none from `applied`"
            warnings.warn(text, SaltusWarning, stacklevel=2)
        return Simulation(self.model, dynamics=self.dynamics, **options)

    def simplify(self, limit: float = 60.0) -> Equations:
        """The same equations with M and bias simplified by SymPy's `trigsimp`, as far as that gets in `limit` seconds.

        `timings["simplify"]` says how long it took; a SaltusWarning, how much was not done in time.
        """
        limit = positive("the limit of simplification", limit)
        n = len(self.v)
        lower = [(i, j) for i in range(n) for j in range(i + 1)]
        d = self.derivation
        out, done, seconds = simplified([*(d.M[i][j] for i, j in lower), *d.bias], limit)
        if done < len(out):
            text = f"simplified {done} of {len(out)} expressions of {self.model.name} in {limit:g} s; the rest stays"
            warnings.warn(text, SaltusWarning, stacklevel=2)
        M = [[out[lower.index((max(i, j), min(i, j)))] for j in range(n)] for i in range(n)]
        timings = {**d.timings, "simplify": seconds}
        shorter = replace(d, M=M, bias=out[len(lower) :], timings=timings)
        return Equations(self.model, self.mechanism, self.choice, shorter, self._applied)

    # ------------------------------------------------------------ code

    def count_ops(self) -> Counts:
        """Operations of M and bias, of J and γ too in maximal coordinates, each common subexpression once."""
        constraint = ("jacobian", "gamma") if self.derivation.jacobian else ()
        return counts(routine(self, ("M", "bias", *constraint)))

    def python(self, path: str | os.PathLike[str] | None = None, target: str = "numpy") -> str:
        """Python code of the equations; with a path, written there too.

        `target`: "numpy", a function of arrays; "numba", the same compiled, without allocation; "kernel", kernels that
        take the place of the engine's inertia and bias.
        """
        if text_of("target", target) not in TARGETS:
            raise OptionError.unknown("target", target, TARGETS)
        makers = {"numpy": python_source, "numba": numba_source}
        text = kernel_text(self) if target == "kernel" else makers[target](routine(self))
        return _written(path, text)

    def c(self, path: str | os.PathLike[str] | None = None) -> str:
        """C99 code of the equations; with a path, written there too, with a header file beside it."""
        code = routine(self)
        if path is not None:
            write(Path(path).with_suffix(".h"), c_header(code))
        return _written(path, c_source(code))

    # ------------------------------------------------------------ on paper

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The derivation step by step: each with a name, words, and its results in order."""
        return steps(self)

    def latex(self, path: str | os.PathLike[str] | None = None) -> str:
        r"""The equations of motion as LaTeX, to stand between \[ and \]; with a path, all the steps go there."""
        if path is not None:
            from saltus.symbolic.show.page_latex import write_latex

            write_latex(self, path)
        return equations_latex(self)

    def page(self, path: str | os.PathLike[str], *, duration: float = 10.0, integrator: str | None = None) -> None:
        """Write the derivation as an HTML page, with a motion of so many seconds; see `saltus derive --html`."""
        from saltus.symbolic.show.page import write_page

        write_page(self, path, duration=duration, integrator=integrator)

    def _repr_html_(self) -> str:
        return equations_html(self)

    def _repr_latex_(self) -> str | None:
        return rf"$\displaystyle {self.latex()}$" if is_short(self) else None


def _written(path: str | os.PathLike[str] | None, text: str) -> str:
    if path is not None:
        write(path_of("path", path), text)
    return text


def _symbols(given: Sequence[Any]) -> tuple[sympy.Symbol, ...]:
    return tuple(to_sympy(symbol) for symbol in given)  # type: ignore[misc]


def _column(given: Sequence[Any]) -> sympy.Matrix:
    return sympy.Matrix([to_sympy(symengine.sympify(x)) for x in given]) if len(given) else sympy.zeros(0, 1)
