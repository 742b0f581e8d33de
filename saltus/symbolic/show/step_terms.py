r"""The middle of a derivation: energies, the terms of Lagrange's equation, the equations of motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import symengine
import sympy

from saltus.symbolic.expressions import HALF, dot
from saltus.symbolic.show.step_frames import moving

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations
    from saltus.symbolic.show.notation import Notation

SEPARATE = 6  # bodies up to which each has its own line of energy

LAGRANGE = (
    r"\frac{d}{dt}\frac{\partial T}{\partial \dot{q}_i} - \frac{d}{dt}\frac{\partial V}{\partial \dot{q}_i} - "
    r"\frac{\partial T}{\partial q_i} + \frac{\partial V}{\partial q_i} = Q_i"
)
KINETIC = (
    r"Each body has $T = \tfrac{1}{2}\, m\, \dot{r} \cdot \dot{r} + \tfrac{1}{2}\, \omega \cdot I\, \omega$: the "
    r"energy of its mass moving with its centre, and of its turning about it."
)
POINTS = " The bodies here are points: they have no inertia of their own, and the second part is zero."
DRIVES = " The inertia of a drive adds $\\tfrac{1}{2}\\, J\\, \\dot{\\theta}^2$ of its joint."
TOTAL = " Added up, with sines and cosines brought together:"
POTENTIAL = (
    r"Weight is the force $m\, g$ on each centre of mass, and its potential energy, $V = -m\, g \cdot r$, grows with "
    r"height. Where it is zero does not matter: only differences do."
)


def energies(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Yield the steps of T and V: of each body, and in total."""
    e, d, tree = equations, equations.derivation, equations.mechanism
    bodies = moving(e)
    inert = [b for b, _ in bodies if any(w != 0 for w in d.spins[b])]
    drives = any(x != 0 for joint in tree.joints for x in joint.armature)
    several = 1 < len(bodies) <= SEPARATE
    kinetic, potential = {}, {}
    if several:
        for b, body in bodies:
            v, w = d.velocities[b], d.spins[b]
            own = HALF * body.mass * dot(v, v) + HALF * dot(body.inertia, tuple(x * x for x in w))
            kinetic[f"T_{{{n.element(body.name)}}}"] = n.arranged(own, sums=True)
            weight = -body.mass * dot(tree.gravity, d.positions[b])
            potential[f"V_{{{n.element(body.name)}}}"] = n.arranged(weight, sums=True)
    kinetic["T"] = n.arranged(d.kinetic, sums=True)
    text = KINETIC + ("" if inert else POINTS) + (DRIVES if drives else "") + (TOTAL if several else "")
    yield {"name": "kinetic energy", "title": "Kinetic energy", "text": text, "results": kinetic}
    potential["V"] = n.arranged(d.potential, sums=True)
    text = POTENTIAL
    if d.spring != 0:
        text += (
            " Springs store $V_s = \\tfrac{1}{2}\\, k\\, (\\theta - \\theta_0)^2$; their forces are on the right side."
        )
        potential["V_s"] = n.arranged(d.spring)
    if all(g == 0 for g in tree.gravity):
        text = "There is no gravity, and so no potential energy of weight." + text.removeprefix(POTENTIAL)
    yield {"name": "potential energy", "title": "Potential energy", "text": text, "results": potential}


# ---------------------------------------------------------------- Lagrange's equation


def terms(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Yield the steps of Lagrange's equation and its terms, one by one."""
    e, d, c = equations, equations.derivation, equations.choice.own
    text = LAGRANGE_TEXT + (QUASI_TEXT if c.balls else "")
    yield {"name": "lagrange", "title": "Lagrange's equation", "text": text, "results": {}}
    written = {name: [n.arranged(x) for x in term] for name, term in d.terms.items()}
    momenta = {
        f"\\frac{{\\partial T}}{{\\partial {n.names[v]}}}": n.arranged(p, sums=True)
        for v, p in zip(e.v, d.momenta, strict=True)
    }
    rates = {rf"\frac{{d}}{{dt}}{left}": x for left, x in zip(momenta, written["d/dt ∂T/∂q̇"], strict=True)}
    yield {
        "name": "term 1",
        "title": _title(1, r"\frac{d}{dt}\frac{\partial T}{\partial \dot{q}_i}"),
        "text": TERM_1,
        "results": {**momenta, **rates},
    }
    assert all(x == 0 for x in written["d/dt ∂V/∂q̇"])
    zero = {r"\frac{d}{dt}\frac{\partial V}{\partial \dot{q}_i}": sympy.Integer(0)}
    yield {
        "name": "term 2",
        "title": _title(2, r"\frac{d}{dt}\frac{\partial V}{\partial \dot{q}_i}"),
        "text": TERM_2,
        "results": zero,
    }
    for number, energy, key, text in ((3, "T", "∂T/∂q", TERM_3), (4, "V", "∂V/∂q", TERM_4)):
        results = {_by_coordinate(e, n, energy, i): x for i, x in enumerate(written[key])}
        title = _title(number, rf"\frac{{\partial {energy}}}{{\partial q_i}}")
        yield {"name": f"term {number}", "title": title, "text": text, "results": results}
    if c.balls:
        results = {}
        for triple in c.balls:
            for i in triple:
                of = n.names[e.v[i]].removeprefix(r"\omega_")
                results[rf"\left(\omega \times \frac{{\partial T}}{{\partial \omega}}\right)_{of}"] = written[
                    "ω × ∂T/∂ω"
                ][i]
        title = _title(5, r"\omega \times \frac{\partial T}{\partial \omega}")
        yield {"name": "term 5", "title": title, "text": TERM_5, "results": results}


def _title(number: int, formula: str) -> str:
    return f"Term {number}: ${formula}$"


def _by_coordinate(e: DerivedEquations, n: Notation, energy: str, i: int) -> str:
    """∂T/∂q_i, or the derivative along a turn where v_i is part of an angular velocity."""
    v = e.v[i]
    rates = n.rates
    if v in rates:
        return rf"\frac{{\partial {energy}}}{{\partial {n.names[e.q[rates.index(v)]]}}}"
    return rf"\frac{{\partial {energy}}}{{\partial \pi_{n.names[v].removeprefix(chr(92) + 'omega_')}}}"


LAGRANGE_TEXT = (
    f"With the two energies, the equations of motion follow by differentiation alone, one for each coordinate "
    f"$q_i$:\n\n$${LAGRANGE}$$\n\n"
    "Forces that joints and rods exert to hold the mechanism together do no work and never appear. $Q_i$ is what all "
    "other forces (motors, springs, dampers, forces from outside) contribute. The four terms on the left, one by one:"
)
QUASI_TEXT = (
    "\n\n"
    "Angular velocities are no rates of coordinates. For them, $\\partial/\\partial q_i$ becomes the derivative along "
    "the turn that $\\omega_i$ stands for, written $\\partial/\\partial \\pi_i$, and a fifth term $\\omega \\times "
    "\\partial T/\\partial \\omega$ appears (Hamel; for one body they are Euler's equations)."
)
TERM_1 = (
    "First the generalised momentum $\\partial T/\\partial \\dot{q}_i$, then its total derivative by time: coordinates "
    "and velocities both change, so that the chain rule brings accelerations and products of velocities."
)
TERM_2 = (
    "The potential energy depends on where the bodies are and not on how fast they move: $\\partial V/\\partial "
    "\\dot{q}_i = 0$, and so is its rate."
)
TERM_3 = "How the kinetic energy changes with the coordinates at fixed velocities: centrifugal forces."
TERM_4 = "How the potential energy changes with the coordinates: the weight's moment on each of them."
TERM_5 = "In axes that turn with the body, the angular momentum changes by turning alone: the gyroscopic torque."


# ---------------------------------------------------------------- equations of motion


def equations(equations: DerivedEquations, n: Notation) -> dict[str, sympy.Eq]:
    """The equations of motion put in order, by the coordinates' LaTeX."""
    e, d, c = equations, equations.derivation, equations.choice.own
    out = {}
    for i, v in enumerate(e.v):
        left = symengine.Add(*(m * a for m, a in zip(d.M[i], c.a, strict=True)), d.bias[i])
        right = symengine.Add(*(force[i] for force in d.forces.values()))
        if d.jacobian:
            multipliers = [symengine.Symbol(f"lambda{k + 1}") for k in range(len(d.jacobian))]
            right += symengine.Add(*(row[i] * m for row, m in zip(d.jacobian, multipliers, strict=True)))
        out[n.names[v]] = sympy.Eq(n.arranged(left), n.arranged(right), evaluate=False)
    return out


def equations_of_motion(equations_: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Yield the steps of the equations of motion: one by one, and as matrices."""
    e, d = equations_, equations_.derivation
    text = MOTION.format(five=" + term 5" if "ω × ∂T/∂ω" in d.terms else "") + (MULTIPLIERS if d.jacobian else "")
    yield {
        "name": "equations of motion",
        "title": "Equations of motion",
        "text": text,
        "results": equations(e, n),
    }
    if len(e.v) == 1:
        return
    matrix = sympy.Matrix([[n.arranged(x) for x in row] for row in d.M])
    results = {
        "M": matrix,
        "h": _column(n, d.bias),
        "Q": _column(n, [symengine.Add(*x) for x in zip(*d.forces.values(), strict=True)]),
    }
    text = MATRICES_OF_BODIES if d.jacobian else MATRICES
    yield {"name": "matrices", "title": "Matrix form", "text": text, "results": results}


def _column(n: Notation, entries: Any) -> sympy.Matrix:
    return sympy.Matrix([n.arranged(x) for x in entries]) if entries else sympy.zeros(0, 1)


MOTION = "Term 1 − term 2 − term 3 + term 4{five} on the left, forces on the right, collected by accelerations:"
MULTIPLIERS = (
    " The joints hold with forces $J^{\\mathsf{T}} \\lambda$, one multiplier $\\lambda_k$ for each constraint; see "
    "below."
)
MATRICES_OF_BODIES = (
    "All equations are linear in the accelerations: $M a + h = Q + J^{\\mathsf{T}} \\lambda$. The inertia matrix $M$ "
    "has one block for each body and no more. Rows of a body that is a point may be zero: its turning is held by the "
    "constraints."
)
MATRICES = (
    "All equations are linear in the accelerations: $M(q)\\, \\ddot{q} + h(q, \\dot{q}) = Q$. The inertia matrix $M$ "
    "is symmetric and, as kinetic energy is positive, positive definite, so that accelerations are found by one linear "
    "solution with numbers at each moment. No formula for $M^{-1}$ is needed."
)
