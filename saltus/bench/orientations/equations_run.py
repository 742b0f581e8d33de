"""Time of the n-link pendulum with the equations that Saltus derives, as code in Python and in Numba.

Maximal coordinates are stabilised, which moves the trajectory within the method's own error. The motion compared with
others is that without stabilisation, whose angles are those of independent coordinates to rounding.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import symengine

from saltus.bench.harness.timing import Contender, in_turn
from saltus.bench.orientations.case import TIMESTEP, Answer, Case, Way, inputs
from saltus.bench.orientations.equations_loop import CONSTRAINTS, Advance, numba_loop, python_loop
from saltus.model.load import load
from saltus.model.source.n_link import n_link
from saltus.symbolic.derivation.forces import Force, Torque
from saltus.symbolic.equations import Equations, derive
from saltus.symbolic.export.python_code import function
from saltus.symbolic.export.routine import Routine, counts

STABILISATION = 10.0  # 1/s
REPEATS, LEAST = 7, 0.02  # repeats of the timed steps, and the least seconds of each
INPUT = symengine.Symbol("u")


def measure(case: Case, tell: Callable[..., None]) -> Answer:
    """Measure the case in this process."""
    clock = Clock()
    model = load(n_link(case.links, timestep=TIMESTEP))
    clock.lap("model")
    equations = derive(model, case.orientation, applied=[pushed(case)])
    clock.lap("derivation")
    routine = as_routine(equations)
    routine.program()
    clock.lap("program")
    modelling, clock.laps = clock.laps, {}
    rest = equations.from_joint(np.zeros(case.links), np.zeros(case.links))
    with tempfile.TemporaryDirectory() as folder:
        clock.start()
        loops = {"Python": python_loop(routine)}
        clock.lap("Python")
        loops["Numba"] = numba_loop(routine, Path(folder))
        clock.lap("Numba")
    tell(modelling=sum(modelling.values()) + clock.laps["Python"])
    strengths = np.array(inputs(case.steps))
    timed = in_turn([_contender(*item, rest, strengths) for item in loops.items()], repeats=REPEATS, least=LEAST)
    ways = []
    for name, advance in loops.items():
        q, v = moved(advance, rest, strengths, 0.0)
        angles, rates = (in_world(case, x).tolist() for x in (q, v))
        held = _held(case, routine, advance, rest, strengths) if case.orientation == "maximal" else None
        ways.append(Way(name, {"code": clock.laps[name]}, timed[name].median, REPEATS, angles, rates, held))
    return Answer(modelling, ways, operations(equations, routine))


class Clock:
    """Seconds between laps, by name."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self.start()

    def start(self) -> None:
        """Begin the next lap now."""
        self._began = time.perf_counter()

    def lap(self, name: str) -> None:
        """End a lap and begin the next."""
        self.laps[name] = time.perf_counter() - self._began
        self.start()


# ------------------------------------------------------------ the equations


def pushed(case: Case) -> Force | Torque:
    """The option's force or torque."""
    last, before = f"link{case.links}", f"link{case.links - 1}"
    if case.option == "A":
        return Force(last, (INPUT.name, 0, 0), point=(0, 0, -1))
    # angles are positive about -y
    return Torque(last, (0, f"-{INPUT.name}", 0), against=before if case.links > 1 else None)


def as_routine(equations: Equations) -> Routine:
    """Routine that the loops evaluate: M and force of M a = force and, in maximal coordinates, the constraints."""
    d, c = equations.derivation, equations.choice.own
    force = [applied - bias for applied, bias in zip(d.forces["applied"], d.bias, strict=True)]
    results: dict[str, Any] = {"M": d.M, "force": force}
    if equations.orientation == "maximal":
        results |= dict(zip(CONSTRAINTS, (d.jacobian, d.gamma, [*c.constraints.values()]), strict=True))
    return Routine("equations", {"q": c.q, "v": c.v, "u": [INPUT]}, results, symmetric=("M",))


def operations(equations: Equations, routine: Routine) -> dict[str, int]:
    """Operations of the code, after common subexpressions: of M, of bias, and of all that a step evaluates."""
    d, c = equations.derivation, equations.choice.own
    parts = {"M": Routine("equations", {"q": c.q, "v": c.v}, {"M": d.M}, symmetric=("M",))}
    parts["bias"] = Routine("equations", {"q": c.q, "v": c.v}, {"bias": d.bias})
    return {name: counts(part).total for name, part in (parts | {"all": routine}).items()}


# ------------------------------------------------------------ the motion


def moved(advance: Advance, rest: Any, strengths: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) after the steps, from rest."""
    q, v = (x.copy() for x in rest)
    advance(q, v, strengths, s)
    return q, v


def in_world(case: Case, x: np.ndarray) -> np.ndarray:
    """Angles of the links in the world from coordinates, or their rates from velocities."""
    return {"relative": np.cumsum(x), "absolute": x, "maximal": x[2::3]}[case.orientation]


def _contender(name: str, advance: Advance, rest: Any, strengths: np.ndarray) -> Contender:
    return Contender(name, lambda: None, lambda: moved(advance, rest, strengths, STABILISATION), 1.0)


def _held(case: Case, routine: Routine, advance: Advance, rest: Any, strengths: np.ndarray) -> dict[str, Any]:
    """Effect of stabilisation: angles with it, and the largest violation of a constraint (m) with it and without."""
    evaluate = function(routine)
    states = {s: moved(advance, rest, strengths, s) for s in (0.0, STABILISATION)}
    apart = {s: float(abs(evaluate(q, v, (0.0,))[-1]).max()) for s, (q, v) in states.items()}
    angles = in_world(case, states[STABILISATION][0]).tolist()
    return {"angles": angles, "violation": apart[STABILISATION], "violation_without": apart[0.0]}
