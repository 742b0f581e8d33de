"""The right side of a derivation: forces of motors, springs, dampers and from outside, and constraint forces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import symengine
import sympy

from saltus.symbolic.expressions import to_sympy
from saltus.symbolic.show.names import joint_angle

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations
    from saltus.symbolic.show.notation import Notation


def forces(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Yield the step of generalised forces Q: of motors, springs and dampers, and J^T F of applied forces."""
    e, d = equations, equations.derivation
    parts = {key: [x for x in force if x != 0] for key, force in d.forces.items()}
    text, results = POWER, {}
    if parts["actuation"]:
        text += MOTORS.get(e.orientation if len(e.mechanism.joints) > 1 else "relative", "")
        results |= _joint_rates(e, n)
        results |= _named("Q", "actuation", e, n, "\\text{motors}")
    if parts["passive"]:
        text += PASSIVE
        results |= _named("Q", "passive", e, n, "\\text{passive}")
    if parts["applied"]:
        text += APPLIED
        results |= _named("Q", "applied", e, n, "\\text{outside}")
    if not any(parts.values()):
        text = NONE
    yield {"name": "forces", "title": "Generalised forces", "text": text, "results": results}


POWER = (
    "A generalised force is the power of a force for each unit of velocity: if a force $F$ acts at a point with "
    "$\\dot{r} = J \\dot{q}$, then $P = F \\cdot \\dot{r} = (J^{\\mathsf{T}} F) \\cdot \\dot{q}$ and so $Q = "
    "J^{\\mathsf{T}} F$. For the torque of a motor, $P$ is torque times rate of its joint."
)
MOTORS = {
    "relative": " A joint's rate is a coordinate's, so that each motor appears in its own equation alone.",
    "absolute": (
        " A motor between two bodies turns one forwards and the other backwards. Its power is $\\tau_k$ times the rate "
        "of its joint, which is a difference here, so that it appears in two equations, with opposite signs: $Q = "
        "S^{-\\mathsf{T}} \\tau$ if the angles against the world are $\\alpha = S\\, \\theta$. To write $\\tau_k$ in "
        "equation $k$ alone is a common error."
    ),
    "maximal": " A motor between two bodies acts on both of them, with opposite signs.",
}
PASSIVE = " Springs pull with $-\\partial V_s/\\partial q_i$; dampers with $-b$ times the rate of their joint."
APPLIED = " Forces from outside act by $J^{\\mathsf{T}} F$ of their points."
NONE = "No motors, springs, dampers or other forces act: all $Q_i$ are zero."


def _joint_rates(e: DerivedEquations, n: Notation) -> dict[str, Any]:
    """Rates of driven joints where they are not velocities themselves, and the power of all motors."""
    c, out = e.choice.own, {}
    for motor in e.mechanism.motors:
        (joint,) = (j for j in e.mechanism.joints if j.dofadr <= motor.dofadr < j.dofadr + j.nv)
        rate = c.joint_rate[motor.dofadr]
        if joint.kind in ("hinge", "slide") and rate not in c.v:
            out[joint_angle(joint.name, joint.kind, 1)] = n.arranged(rate)
    power = symengine.Add(*(q * v for q, v in zip(e.derivation.forces["actuation"], c.v, strict=True)))
    if out:
        inputs = [to_sympy(motor.input) for motor in e.mechanism.motors]
        out["P"] = sympy.collect(sympy.expand(to_sympy(power)), inputs)
    return out


def _named(letter: str, key: str, e: DerivedEquations, n: Notation, label: str) -> dict[str, Any]:
    column = [n.arranged(x) for x in e.derivation.forces[key]]
    return {f"{letter}_{{{label}}}": sympy.Matrix(column)}


# ---------------------------------------------------------------- constraints


def constraints(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Φ = 0, J and γ of maximal coordinates."""
    e, d = equations, equations.derivation
    if not e.choice.own.constraints:
        return
    results: dict[str, Any] = {}
    rows = []
    for k, (name, phi) in enumerate(e.choice.own.constraints.items()):
        results[rf"\Phi_{{{k + 1}}}"] = n.arranged(phi)
        rows.append((f"$\\Phi_{{{k + 1}}}$", name))
    table = (("constraint", "what it holds"), tuple(rows))
    yield {"name": "constraints", "title": "Constraints", "text": CONSTRAINTS, "results": results, "table": table}
    jacobian = sympy.Matrix([[n.arranged(x) for x in row] for row in d.jacobian])
    gamma = sympy.Matrix([n.arranged(x) for x in d.gamma])
    results = {"J": jacobian, r"\gamma": gamma}
    yield {"name": "multipliers", "title": "Multipliers", "text": LAMBDA, "results": results}


CONSTRAINTS = (
    "What the joints take away from the bodies' freedom: each of these functions of the coordinates must be zero."
)
LAMBDA = (
    "Differentiated once, a constraint says $J v = 0$; twice, $J a = \\gamma$ with $\\gamma = -\\dot{J} v$. A joint's "
    "forces do no work, so that they are $J^{\\mathsf{T}} \\lambda$ with unknown multipliers $\\lambda$. Both together "
    "are one linear system for accelerations and multipliers:\n\n"
    "$$\\begin{pmatrix} M & -J^{\\mathsf{T}} \\\\ J & 0 \\end{pmatrix} \\begin{pmatrix} a \\\\ \\lambda \\end{pmatrix} "
    "= \\begin{pmatrix} Q - h \\\\ \\gamma \\end{pmatrix}$$\n\n"
    "Only the second derivatives of the constraints are in it, so that errors of integration grow until the joints "
    "come apart; a simulation adds terms that pull $\\Phi$ and $J v$ back to zero."
)
