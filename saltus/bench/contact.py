"""`saltus bench contact`: motion under constraints against MuJoCo 4.0, both in this process, in turn.

Simulations begin where MuJoCo's own have settled, each in a state of its own: humanoids that lie on the floor.
Both sides compute the same motion: the rows compare the accelerations of the first step, each side's solver at the
tolerance that the model asks for and starting from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from saltus.bench.harness import found_models
from saltus.bench.harness.report import Benchmark, Case, Effort, Row, compared, print_table

# a pole between stops, on a cart between stops, which it keeps hitting
CART_POLE = """<mujoco model="cart-pole">
<option timestep="0.005"/>
<default><joint limited="true" solreflimit="-2500 -10" damping="0.005"/></default>
<worldbody><body>
  <joint name="slide" type="slide" axis="1 0 0" range="-0.2 0.2"/>
  <geom type="box" size="0.1 0.06 0.05" mass="1" contype="0" conaffinity="0"/>
  <body>
    <joint name="hinge" axis="0 1 0" range="-10 10"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.02" mass="0.2" contype="0" conaffinity="0"/>
  </body>
</body></worldbody>
</mujoco>"""

# free bodies that fall on each other, coupled by contact alone
STICKS = """<mujoco model="sticks">
<default><geom type="capsule" size="0.05 0.2" condim="3"/></default>
<worldbody>
  <geom type="plane" size="2 2 0.1"/>
  <body pos="0 0 0.2" euler="90 0 0"><freejoint/><geom/></body>
  <body pos="0 0 0.4" euler="90 50 0"><freejoint/><geom/></body>
  <body pos="0 0 0.6" euler="90 100 0"><freejoint/><geom/></body>
</worldbody>
</mujoco>"""

LEGEND = (
    "means of a step of one simulation; batches: what any lane of a register needs is done for all; the four edges",
    "  of a pyramid are three rows; flop: of Newton's method, in products, the Hessian, its factor and solutions;",
    "  at least: these over the time of the whole step; peak: of multiply-adds on lanes in registers, on one core",
)
FOOTNOTES = (
    "difference: the largest between accelerations (m/s², rad/s²) of Saltus and MuJoCo in the first step; float32:",
    "  from float64, relative to the largest acceleration that a force but constraints' would give alone, the median",
    "  of the simulations (in a few of them rounding decides whether a limit or contact that just opens acts)",
)


@dataclass(frozen=True)
class Differences:
    """Differences of accelerations in the first step. `single`, `batch`: largest of Saltus from MuJoCo, m/s² or rad/s².

    `float32`: difference of float32 from float64, relative to the largest acceleration that applied, passive,
    actuators' or inertial forces alone would give; largest of each simulation, then the median of these.
    `float32_worst`: the largest of these.
    """

    single: float
    batch: float
    float32: float
    float32_worst: float


@dataclass(frozen=True)
class Detail:
    """Work of the solvers in a case: `work` of each, see `saltus.bench.harness.solver_work.Work`.

    `speed` and `peak`: operations per second of Newton's method, at least, and of multiply-adds, by precision.
    `apart`: see `Differences`. `off`: features switched off for both. `solver`: the one that the file asks for.
    """

    model: str
    solver: str
    off: list[str]
    work: list[Any]
    speed: dict[str, float]
    peak: dict[str, float]
    apart: Differences


def bench_contact(*, quick: bool, threads: int | None, json_path: Path | None, extra: list[str]) -> None:
    """Run the benchmark: measure, print tables, write them as JSON."""
    title = "motion with contacts, limits, dry friction and equalities, semi-implicit Euler"
    benchmark = Benchmark(title, partial(_cases, extra=extra), _measure, FOOTNOTES, _tell)
    benchmark.run(quick=quick, threads=threads, json_path=json_path)


def _cases(quick: bool, extra: list[str]) -> tuple[list[Case], list[str]]:
    """Cases to measure, and notes on them."""
    cases = [Case("cart-pole", CART_POLE, 400, spread=1.0, settle=1.0), Case("sticks", STICKS, 200, settle=0.4)]
    notes = []
    if not quick:
        for name, places, push in (
            ("slider-crank", found_models.SLIDER_CRANKS, 0.05),  # the model's own motors are not simulated
            ("hopper", found_models.HOPPERS, 0.0),
            ("half-cheetah", found_models.CHEETAHS, 0.0),
            ("humanoid", found_models.HUMANOIDS, 0.0),
        ):
            path, note = found_models.find(name, places)
            notes.append(note)
            cases += [Case(name, str(path), 200, push=push)] if path else []
    return cases + [Case(Path(m).stem, m, 200) for m in extra], notes


def _measure(case: Case, effort: Effort, threads: int, show: Callable[[float], None]) -> tuple[list[Row], Detail]:
    from saltus.bench.harness import peers
    from saltus.bench.harness.solver_work import peak, work
    from saltus.bench.harness.timing import in_turn

    n = effort.simulations * threads
    setup = peers.Constrained(case.model, n, spread=case.spread, settle=case.settle, push=case.push)
    nv = setup.model.nv
    apart = differences(setup, n)
    show(0.2)
    timed = {"repeats": effort.repeats, "least": effort.seconds}
    rows = [compared(case, nv, "step", in_turn(peers.single(setup, case.steps), **timed), "saltus", apart.single)]
    show(0.5)
    found = in_turn(peers.batches(setup, n, min(effort.batch_steps, case.steps), threads), **timed)
    for precision, difference in zip(peers.PRECISIONS, (apart.batch, apart.float32), strict=True):
        rows.append(compared(case, nv, f"batch {precision}", found, f"saltus {precision}", difference))
    show(0.9)
    done = work(setup, n, min(effort.batch_steps, case.steps))
    flops = {w.who: w.flops for w in done}
    speed = {p: flops[f"saltus {p}"] / row.saltus for p, row in zip(peers.PRECISIONS, rows[1:], strict=True)}
    return rows, Detail(case.name, setup.solver, setup.off, done, speed, {p: peak(p) for p in peers.PRECISIONS}, apart)


def differences(setup: Any, n: int) -> Differences:
    """Differences of accelerations, (v' - v)/h, in the first step."""
    import mujoco.batch
    import numpy as np

    from saltus.bench.harness.peers import PRECISIONS
    from saltus.simulate.batch import Batch

    starts = setup.starts(n)
    batches = [Batch(setup.model, n, precision=p, integrator="euler") for p in PRECISIONS]
    found = []
    for batch in [mujoco.batch.Batch(setup.mujoco, n), *batches]:
        setup.put(batch, starts)
        before = np.array(batch.qvel, float)
        setup.advance(batch, 1)
        found.append((np.asarray(batch.qvel, float) - before) / setup.timestep)
    of_mujoco, of_float64, of_float32 = found
    sim = setup.simulation()
    setup.advance(sim, 1)
    relative = abs(of_float32 - of_float64).max(axis=1) / _scales(setup, starts)
    return Differences(
        float(abs((sim.qvel - setup.start.qvel) / setup.timestep - of_mujoco[0]).max()),
        float(abs(of_float64 - of_mujoco).max()),
        float(np.median(relative)),
        float(relative.max()),
    )


def _scales(setup: Any, starts: Any) -> Any:
    """Largest acceleration that a kind of force without constraints would give alone, for each start."""
    import mujoco
    import numpy as np

    data = setup.data()
    scales = []
    for start in zip(*starts, strict=True):
        setup.put(data, type(starts)(*start))
        mujoco.mj_forward(setup.mujoco, data)
        forces = np.array([data.qfrc_applied, data.qfrc_passive, data.qfrc_actuator, data.qfrc_bias])
        accelerations = np.zeros_like(forces)
        mujoco.mj_solveM(setup.mujoco, data, accelerations, forces)
        scales.append(abs(accelerations).max())
    return np.array(scales)


def _tell(details: list[Detail]) -> None:
    """Print the work of the solvers."""
    headers = ("model", "solver", "contacts", "rows", "iterations", "flop", "at least", "of the peak")
    print()
    print_table(headers, [_cells(d, w) for d in details for w in d.work], left=("model", "solver"))
    for line in LEGEND:
        print(line)
    for d in details:
        if d.solver != "Newton":
            print(f"{d.model}: the solver that its file asks for, {d.solver}, on both sides")
        if d.off:
            print(f"{d.model}: {', '.join(d.off)} switched off for both, since not simulated")


def _cells(detail: Detail, work: Any) -> tuple[str, ...]:
    """One line of the table of a solver's work."""
    means = [f"{x:.1f}" for x in (work.contacts, work.rows, work.iterations)]
    precision = work.who.removeprefix("saltus ")
    if precision not in detail.speed or math.isnan(work.flops):
        return detail.model, work.who, *means, "", "", ""
    speed, peak = detail.speed[precision], detail.peak[precision]
    limit = f"{100 * speed / peak:.1f} % of {peak / 1e9:.0f} GFLOP/s"
    return detail.model, work.who, *means, f"{work.flops:.0f}", f"{speed / 1e9:.2f} GFLOP/s", limit
