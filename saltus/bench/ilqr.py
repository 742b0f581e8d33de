"""`saltus bench ilqr`: trajectories that cost least beside Crocoddyl's, in this process, in turn.

An arm of seven joints reaches for a place, from the same URDF, with the same cost and steps of semi-implicit Euler,
first without torques. Saltus stops at a relative decrease of the cost, Crocoddyl at as much of an expected decrease of
a cost near 1. Crocoddyl has analytical derivatives, costs in C++ and its solver SolverFDDP, as in its examples.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
VERSIONS = {"crocoddyl": "3.1", "pin": "3.8"}  # whose binary interfaces belong together
INSTALL = "pip install crocoddyl==3.1.0 pin==3.8.0 libpinocchio==3.8.0"
DURATION, ITERATIONS, TOLERANCE = 1.0, 200, 1e-7  # s
START, GOAL = np.array([0.0, 0.4, 0.0, 0.8, 0.0, 0.4, 0.0]), np.array([0.4, 0.2, 0.5])  # rad, m
PLACE, SPEED, TORQUE = 1.0, 1e-2, 1e-3  # weights of a second: 1/m², s²/rad², 1/(N m)²
LINKS = (  # place on the one before (m), axis, mass (kg)
    ("0 0 .34", "0 0 1", 4.0),
    ("0 0 0", "0 1 0", 4.0),
    ("0 0 .2", "0 0 1", 3.0),
    ("0 0 .2", "0 -1 0", 2.7),
    ("0 0 .2", "0 0 1", 1.7),
    ("0 0 .2", "0 1 0", 1.8),
    ("0 0 0", "0 0 1", 0.3),
)
FLANGE = "0 0 .126"  # m


@dataclass(frozen=True)
class Reach:
    """A problem: number of steps, and weight of the place at the end (1/m²)."""

    name: str
    steps: int
    end: float

    @property
    def timestep(self) -> float:
        """Length of a step (s)."""
        return DURATION / self.steps


@dataclass(frozen=True)
class Figure:
    """One side on one problem. `seconds`: of CPU time. `ratio`: how many times Crocoddyl's that is."""

    problem: str
    steps: int
    name: str
    seconds: float
    iterations: int
    cost: float
    ratio: float | None


def bench_ilqr(*, quick: bool, json_path: Path | None) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.record.files.atomic_write import check_writable, write_whole

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    if missing := why_not():
        print(missing)
    reaches = [Reach("a rough reach", 100, 10.0)]
    if not quick:
        reaches += [Reach("an exact reach", 100, 1e3), Reach("in short steps", 400, 10.0)]
    figures = [figure for reach in reaches for figure in measured(reach, not missing, 3 if quick else 7)]
    about = machine.description(1)
    print(f"an arm of seven joints reaches for a place within {DURATION:g} s")
    rows = [
        (
            f"{f.problem}, {f.steps} steps",
            f.name,
            f"{f.seconds * 1e3:.3g} ms",
            str(f.iterations),
            f"{f.cost:.9g}",
            _times(f.ratio),
        )
        for f in figures
    ]
    print_table(("problem", "", "CPU time", "iterations", "cost", "of Crocoddyl's"), rows, left=("problem", ""))
    print(f"{about['cpu']}; medians of repeats in turn, on one core")
    if json_path is not None:
        content = {"machine": about, "figures": [asdict(f) for f in figures]}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def why_not() -> str:
    """Why Crocoddyl is not measured: it is not there, or not of the versions that belong together; "" if it is."""
    for package, wanted in VERSIONS.items():
        try:
            found = version(package)
        except PackageNotFoundError:
            return f"Crocoddyl: not measured, {package} is not installed; {INSTALL}"
        if found.split(".")[:2] != wanted.split("."):
            return f"Crocoddyl: not measured, {package} {found} is installed, and {wanted} is needed; {INSTALL}"
    return ""


def measured(reach: Reach, beside: bool, repeats: int) -> list[Figure]:
    """Figures of both sides, timed in turn."""
    from saltus.bench.harness.timing import Contender, in_turn

    sides: dict[str, Callable[[], tuple[int, float]]] = {"saltus": by_saltus(reach)}
    if beside:
        sides["crocoddyl"] = by_crocoddyl(reach)
    found: dict[str, tuple[int, float]] = {}

    def contender(name: str) -> Contender:
        return Contender(name, lambda: None, lambda: found.__setitem__(name, sides[name]()), 1)

    timings = in_turn([contender(name) for name in sides], repeats=repeats, least=0.0, clock=time.process_time)
    peer = timings.get("crocoddyl")
    return [
        Figure(reach.name, reach.steps, name, t.median, *found[name], 1 / t.ratio_to(peer) if peer else None)
        for name, t in timings.items()
    ]


def urdf() -> str:
    """The arm, from its base to its flange."""
    limit = '<limit lower="-100" upper="100" effort="1000" velocity="100"/>'
    out, parent = "", "base"
    for k, (place, axis, mass) in enumerate(LINKS, 1):
        x, y, z = (f"{part * mass:.4g}" for part in (0.01, 0.009, 0.004))  # kg m²
        inertia = f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/>'
        out += (
            f'<link name="link{k}"><inertial><origin xyz="0 .01 .08"/><mass value="{mass}"/>{inertia}</inertial></link>'
            f'<joint name="joint{k}" type="revolute"><parent link="{parent}"/><child link="link{k}"/>'
            f'<origin xyz="{place}"/><axis xyz="{axis}"/>{limit}</joint>'
        )
        parent = f"link{k}"
    flange = f'<joint name="mount" type="fixed"><parent link="{parent}"/><child link="flange"/><origin xyz="{FLANGE}"/>'
    head = '<robot name="arm"><mujoco><compiler fusestatic="false"/></mujoco><link name="base"/>'
    return f'{head}{out}<link name="flange"/>{flange}</joint></robot>'


def problem(reach: Reach) -> tuple[Simulation, Callable[[Any], Any]]:
    """The arm at its start, and its cost."""
    from saltus.model.load import load
    from saltus.simulate.simulation import Simulation

    spec = mujoco.MjSpec.from_string(urdf())
    spec.option.timestep = reach.timestep
    for k in range(1, len(LINKS) + 1):
        motor = spec.add_actuator(name=f"motor{k}", target=f"joint{k}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gainprm[0] = 1.0
    sim = Simulation(load(spec), "euler")
    sim.qpos[:] = START

    def cost(stage: Any) -> Any:
        away, v, u = stage.body("flange") - GOAL, stage.qvel, stage.ctrl
        if stage.final:
            return 0.5 * reach.end * (away @ away) + 0.5 * (v @ v)
        return 0.5 * reach.timestep * (PLACE * (away @ away) + SPEED * (v @ v) + TORQUE * (u @ u))

    return sim, cost


def by_saltus(reach: Reach) -> Callable[[], tuple[int, float]]:
    """A function that solves the problem with `saltus.ilqr` and returns iterations and cost."""
    from saltus.control.ilqr import ilqr

    sim, cost = problem(reach)

    def solve() -> tuple[int, float]:
        first = np.zeros((reach.steps, sim.model.nu))
        plan = ilqr(sim, cost, reach.steps, controls=first, iterations=ITERATIONS, tolerance=TOLERANCE)
        return len(plan.costs) - 1, plan.cost

    return solve


def by_crocoddyl(reach: Reach) -> Callable[[], tuple[int, float]]:
    """A function that solves the problem with Crocoddyl and returns iterations and cost."""
    import crocoddyl  # pyright: ignore[reportMissingImports]
    import pinocchio  # pyright: ignore[reportMissingImports]

    model = pinocchio.buildModelFromXML(urdf())
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    n, flange = model.nv, model.getFrameId("flange")
    place = crocoddyl.ResidualModelFrameTranslation(state, flange, GOAL, n)
    speed = crocoddyl.ActivationModelWeightedQuad(np.repeat([0.0, 1.0], n))
    velocity = crocoddyl.ResidualModelState(state, np.zeros(2 * n), n)

    def action(weights: dict[str, float], h: float) -> Any:
        terms = crocoddyl.CostModelSum(state, n)
        residuals = {
            "place": (place,),
            "speed": (speed, velocity),
            "torque": (crocoddyl.ResidualModelControl(state, n),),
        }
        for name, weight in weights.items():
            terms.addCost(name, crocoddyl.CostModelResidual(state, *residuals[name]), weight)
        return crocoddyl.IntegratedActionModelEuler(
            crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, terms), h
        )

    running = action({"place": PLACE, "speed": SPEED, "torque": TORQUE}, reach.timestep)
    end = action({"place": reach.end, "speed": 1.0}, 0.0)
    start = np.concatenate([START, np.zeros(n)])
    shooting = crocoddyl.ShootingProblem(start, [running] * reach.steps, end)

    def solve() -> tuple[int, float]:
        solver = crocoddyl.SolverFDDP(shooting)
        solver.th_stop = TOLERANCE
        controls = [np.zeros(n)] * reach.steps
        solver.solve(shooting.rollout(controls), controls, ITERATIONS, True)
        return solver.iter, solver.cost

    return solve


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g} x"
