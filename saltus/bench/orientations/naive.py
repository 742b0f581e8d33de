"""Time of the n-link pendulum in the naive way: SymPy, and the equations solved symbolically at every step.

The method is that of a lecture, done right: positions by rotations, velocities by Jacobians, energies, Lagrange's
equations term by term with every parameter a symbol; then, at each step, numbers for all symbols and a symbolic
solution for the accelerations. Forces and torques go through Jacobians, so that they are right in either kind of angle.

Source: "Relative vs Absolute Orientations", the n-link pendulum; Knemeyer, Shield and Patel, RA-L 5 (2020).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from saltus.bench.orientations.case import TIMESTEP, Answer, Case, Way, inputs

GRAVITY = sympy.Symbol("g")
FORCE, TORQUE = sympy.symbols("F_x tau")  # force on the end of the last link; torque between the last two links
PARAMETERS = {"m": 1, "l": 1, "d": 0.5, "In": 0.08}  # parameters of each link: kg, m, fraction of the length, kg m²
POINT = sympy.diag(1, 1, 0)  # position part of a placement (x, y, angle)


def measure(case: Case, tell: Callable[..., None]) -> Answer:
    """Measure the case in this process."""
    began = time.perf_counter()
    chain = symbols(case.links)
    equations = lagrange(chain, case.orientation).subs(values(chain))
    modelled = time.perf_counter()
    tell(modelling=modelled - began)
    angles, rates = simulate(equations, chain, case, tell)
    simulated = time.perf_counter()
    if case.orientation == "relative":
        angles, rates = np.cumsum(angles), np.cumsum(rates)
    way = Way("SymPy", {}, simulated - modelled, 1, angles.tolist(), rates.tolist())
    return Answer({"equations": modelled - began}, [way])


Symbols = dict[str, list[sympy.Symbol]]


def symbols(links: int) -> Symbols:
    """Symbols of the links: parameters, angle, and the angle's rate and acceleration."""
    names = (*PARAMETERS, "theta", "rate", "acceleration")
    return {name: [sympy.Symbol(f"{name}_{i}") for i in range(links)] for name in names}


def values(chain: Symbols) -> dict[sympy.Symbol, float]:
    """Values of the parameters."""
    return {GRAVITY: 9.81} | {symbol: number for name, number in PARAMETERS.items() for symbol in chain[name]}


def lagrange(chain: Symbols, orientation: str) -> sympy.Matrix:
    """Left sides of the equations of motion, [n, 1]; each is zero."""
    q, v, a = (sympy.Matrix(chain[name]) for name in ("theta", "rate", "acceleration"))
    centres, end = placements(chain, orientation)
    kinetic, potential = sympy.S.Zero, sympy.S.Zero
    for i, centre in enumerate(centres):
        velocity = centre.jacobian(q) * v
        mass, inertia = chain["m"][i], chain["In"][i]
        kinetic += sympy.Rational(1, 2) * (velocity.T * sympy.diag(mass, mass, inertia) * velocity)[0]
        potential += mass * GRAVITY * centre[1]
    T, V = sympy.Matrix([kinetic]), sympy.Matrix([potential])
    momentum = T.jacobian(v).T
    # d/dt ∂T/∂q̇ - d/dt ∂V/∂q̇ - ∂T/∂q + ∂V/∂q = Q, where the second term is zero
    change = momentum.jacobian(q) * v + momentum.jacobian(v) * a
    return change - T.jacobian(q).T + V.jacobian(q).T - generalised_forces(q, centres, end)


def placements(chain: Symbols, orientation: str) -> tuple[list[sympy.Matrix], sympy.Matrix]:
    """(x, y, angle) of the links' centres of mass, and of the end of the last one, in the world."""
    joint, around = (
        sympy.Matrix([0, len(chain["theta"]), 0]),
        sympy.S.Zero,
    )  # end of the last link so far, and its angle
    centres = []
    for i, theta in enumerate(chain["theta"]):
        turn = theta if orientation == "relative" else theta - around
        reach = chain["d"][i] * chain["l"][i]
        # turned within the link before it, and with that link in the world
        centre = rotated(rotated(sympy.Matrix([0, -reach, 0]), turn), around) + POINT * joint
        rest = sympy.Matrix([0, reach - chain["l"][i], 0])
        around = around + theta if orientation == "relative" else theta
        joint = rotated(rest, around) + POINT * centre
        centres.append(centre)
    return centres, joint


def rotated(placement: sympy.Matrix, angle: Any) -> sympy.Matrix:
    """A placement (x, y, angle) turned about the origin."""
    c, s = sympy.cos(angle), sympy.sin(angle)
    x, y, own = placement
    return sympy.Matrix([c * x - s * y, s * x + c * y, own + angle])


def generalised_forces(q: sympy.Matrix, centres: list[sympy.Matrix], end: sympy.Matrix) -> sympy.Matrix:
    """Generalised forces J^T F of the force on the end and of the torque between the last two links."""
    forces = end.jacobian(q).T * sympy.Matrix([FORCE, 0, 0]) + centres[-1].jacobian(q).T * sympy.Matrix([0, 0, TORQUE])
    if len(centres) > 1:  # the torque's other end; of a single link it is the world
        forces += centres[-2].jacobian(q).T * sympy.Matrix([0, 0, -TORQUE])
    return forces


def simulate(
    equations: sympy.Matrix, chain: Symbols, case: Case, tell: Callable[..., None]
) -> tuple[np.ndarray, np.ndarray]:
    """Angles and rates after the steps of semi-implicit Euler, from rest."""
    angles, rates = np.zeros(case.links), np.zeros(case.links)
    unknown = chain["acceleration"]
    for k, strength in enumerate(inputs(case.steps)):
        force, torque = (strength, 0.0) if case.option == "A" else (0.0, strength)
        state = [*zip(chain["theta"], angles, strict=True), *zip(chain["rate"], rates, strict=True)]
        solution = sympy.solve(equations.subs([*state, (FORCE, force), (TORQUE, torque)]), unknown)
        rates = rates + TIMESTEP * np.array([solution[x] for x in unknown], float)
        angles = angles + TIMESTEP * rates
        tell(steps=k + 1)
    return angles, rates
