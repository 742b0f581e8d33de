"""Equations as routines: named arrays of arguments and of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine

from saltus.errors import OptionError
from saltus.symbolic.export.routine import Routine
from saltus.symbolic.expressions import sum_of_products, to_symengine
from saltus.symbolic.parameters import symbol_name

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations

TARGETS = ("numpy", "numba", "kernel")
CONSTRAINED = ("jacobian", "gamma", "constraints", "constraint_rates")


def routine(equations: DerivedEquations, results: Sequence[str] = ()) -> Routine:
    """The equations' results as a function of their coordinates.

    `results`: of M [n, n], bias [n], forces [n], and in maximal coordinates jacobian [nc, n], gamma, constraints and
    constraint_rates [nc]; all by default. Arguments are qpos and qvel where these are the coordinates, else q and v,
    then inputs and parameters where there are any.
    """
    known = _results(equations)
    for name in results:
        if name not in known:
            raise OptionError.unknown("result", name, known)
    chosen = {name: known[name] for name in results or known}
    c = equations.choice.own
    places = ("qpos", "qvel") if c.orientation == "relative" else ("q", "v")
    arguments: dict[str, Sequence[Any]] = {places[0]: c.q, places[1]: c.v}
    inputs = [to_symengine(symbol) for symbol in equations.inputs]
    if inputs and "forces" in chosen:
        arguments["inputs"] = inputs
    if equations.mechanism.parameters:
        arguments["parameters"] = [*equations.mechanism.parameters]
    return Routine(
        symbol_name(equations.model.name),
        arguments,
        chosen,
        about=_about(equations, [*chosen]),
        meanings=_meanings(equations),
        symmetric=[name for name in chosen if name == "M"],
    )


def _results(equations: DerivedEquations) -> dict[str, Any]:
    d = equations.derivation
    forces = [
        sum_of_products((symengine.Integer(1), part[i]) for part in d.forces.values()) for i in range(len(d.bias))
    ]
    out: dict[str, Any] = {"M": d.M, "bias": d.bias, "forces": forces}
    if d.jacobian:
        phi = [*equations.choice.own.constraints.values()]
        out |= dict(zip(CONSTRAINED, (d.jacobian, d.gamma, phi, d.constraint_rates), strict=True))
    return out


def _about(equations: DerivedEquations, results: Sequence[str]) -> str:
    """Text for the head of generated code."""
    kinds = {"relative": "joint coordinates", "absolute": "absolute angles", "maximal": "maximal coordinates"}
    law = "M dv/dt + bias = forces" if "forces" in results else "M dv/dt + bias = forces on the coordinates"
    if "jacobian" in results:
        law = "M dv/dt + bias - jacobian^T lambda = forces, jacobian dv/dt = gamma"
    return f"Equations of motion of {equations.model.name} in {kinds[equations.orientation]}: {law}."


def _meanings(equations: DerivedEquations) -> dict[Any, str]:
    c = equations.choice.own
    out: dict[Any, str] = dict(c.meanings)
    names = {x: v for x, v in zip(c.q, c.v, strict=False)} if len(c.q) == len(c.v) else {}
    for q, v in names.items():
        out[v] = f"rate of {q}"
    for triple in c.balls:
        for axis, i in zip("xyz", triple, strict=True):
            out[c.v[i]] = f"angular velocity about the turned {axis} axis (rad/s)"
    out |= {symbol: f"{value!r} in the model" for symbol, value in equations.mechanism.parameters.items()}
    return out | {to_symengine(symbol): text for symbol, text in equations.inputs.items()}


def engine_routine(equations: DerivedEquations) -> Routine:
    """M and bias as functions of the engine's qpos and qvel.

    Absolute angles α = S θ are evaluated as such, then M and bias are brought to the joints: Sᵀ M S and Sᵀ bias.
    """
    d, joints = equations.derivation, _Joints(equations)
    return Routine(
        symbol_name(equations.model.name),
        {**joints.arguments, "parameters": [*equations.mechanism.parameters]},
        {"M": joints.matrix(d.M), "bias": joints.vector(d.bias)},
        about=f"Equations of motion of {equations.model.name}, derived in {equations.orientation} coordinates.",
        symmetric=["M"],
    )


def applied_routine(equations: DerivedEquations) -> Routine:
    """Generalised forces from outside, on the joints, as functions of the engine's qpos, qvel and of the inputs."""
    joints = _Joints(equations)
    return Routine(
        symbol_name(equations.model.name),
        {
            **joints.arguments,
            "inputs": [to_symengine(symbol) for symbol in equations.applied_meanings],
            "parameters": [*equations.mechanism.parameters],
        },
        {"applied": joints.vector(equations.derivation.forces["applied"])},
        about=f"Forces from outside on {equations.model.name}.",
    )


class _Joints:
    """From the coordinates of equations to the engine's qpos and qvel."""

    def __init__(self, equations: DerivedEquations):
        c = equations.choice.own
        if c.sums is None:
            text = "maximal coordinates have constraints, which no integrator here keeps; derive relative or absolute"
            raise OptionError(f"simulation of {equations.model.name}: {text} angles")
        n, nq = len(c.v), len(c.q)
        qpos = [symengine.Symbol(f"qpos_{k}") for k in range(nq)]
        qvel = [symengine.Symbol(f"qvel_{i}") for i in range(n)]
        self.arguments: dict[str, Sequence[Any]] = {"qpos": qpos, "qvel": qvel}
        self._sums = [[int(x) for x in row] for row in c.sums]
        self._same = np.array_equal(c.sums, np.eye(n))
        self._put = dict(zip(c.q, qpos, strict=True))
        self._put |= {v: sum_of_products(zip(row, qvel, strict=True)) for v, row in zip(c.v, self._sums, strict=True)}
        scalar = [joint for joint in equations.mechanism.joints if joint.kind in ("slide", "hinge")]
        for joint in scalar:
            row = self._sums[joint.dofadr]
            self._put[c.q[joint.qposadr]] = sum_of_products((row[o.dofadr], qpos[o.qposadr]) for o in scalar)

    def _columns(self) -> list[list[int]]:
        n = range(len(self._sums))
        return [[k for k in n if self._sums[k][i]] for i in n]

    def vector(self, forces: Sequence[Any]) -> list[Any]:
        """Forces [n] on the joints: Sᵀ Q."""
        own = [symengine.sympify(x).subs(self._put) for x in forces]
        if self._same:
            return own
        return [sum_of_products((self._sums[k][i], own[k]) for k in ks) for i, ks in enumerate(self._columns())]

    def matrix(self, M: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The inertia matrix [n][n] of the joints: Sᵀ M S."""
        own = [[symengine.sympify(x).subs(self._put) for x in row] for row in M]
        if self._same:
            return own
        s, columns = self._sums, self._columns()
        return [
            [
                sum_of_products((s[k][i] * s[j][p], own[k][j]) for k in left for j in right)
                for p, right in enumerate(columns)
            ]
            for i, left in enumerate(columns)
        ]


def kernel_text(equations: DerivedEquations) -> str:
    """Text of the module of kernels that replace the engine's inertia and bias."""
    from saltus.symbolic.export.kernel_code import kernel_source

    views = equations.model.struct().views
    rows = [
        (i, int(j))
        for i, (start, count) in enumerate(zip(views["M_rowadr"], views["M_rownnz"], strict=True))
        for j in views["M_colind"][start : start + count]
    ]
    return kernel_source(engine_routine(equations), rows, values=equations.mechanism.parameters)
