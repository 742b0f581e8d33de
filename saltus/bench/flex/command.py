"""`saltus bench flex`: deformable bodies against MuJoCo 4.0, both in this process, in turn; and the growth of cost.

A step of the trampoline is the mean of one second: half of it the ball falls, half of it the sheet throws it back. The
flag hangs in the wind, its edges held at their lengths; the jelly falls on the floor. Heaps of rods lie and roll, one
second after they were dropped, with each of MuJoCo's solvers at its default tolerance, which ends steps of both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from saltus.bench.harness import found_models
from saltus.bench.harness.report import Benchmark, Case, Effort, Row, compared, print_table

FLAG = """<mujoco model="flag">
<option wind="5 5 0" density="10" solver="CG" tolerance="1e-6"/>
<worldbody>
  <geom type="plane" size="0 0 .1"/>
  <body name="pole" pos="0 0 1.5">
    <flexcomp name="flag" type="grid" dim="2" count="9 19 1" spacing=".05 .05 .05" mass="10" radius="0.001">
      <edge equality="true" damping="0.001"/>
    </flexcomp>
  </body>
</worldbody>
<equality><connect body1="flag_0" anchor="0 0 0"/></equality>
</mujoco>"""
JELLY = """<mujoco model="jelly">
<option timestep="0.001" solver="CG" tolerance="1e-6"/>
<worldbody>
  <geom type="plane" size="0 0 .1"/>
  <flexcomp name="jelly" type="grid" dim="3" count="8 8 8" spacing=".07 .07 .07" pos="0 0 .35" mass="5" radius=".005">
    <contact solref="0.01 1"/>
    <elasticity young="2e4" poisson="0.2" damping="0.0005"/>
  </flexcomp>
</worldbody>
</mujoco>"""
TRAMPOLINES: found_models.Places = (found_models.beside("trampoline.xml"),)
SPREAD = 0.01  # m/s: spread of the velocities with which simulations of a batch begin
SIMULATIONS = 16  # simulations of a batch, per thread
FOOTNOTES = (
    "difference: the largest between accelerations (m/s²) of Saltus and MuJoCo in the first step;",
    "on the flag both stop at its tolerance, 1e-6; on rods at 1e-8",
)
SHEETS = "sheets"
HEAPS = (20, 10, "Newton"), (20, 10, "CG"), (100, 20, "CG")  # rods, segments of each, MuJoCo's solver
SIDES = (32, 64, 128, 316)  # vertices along the side of a sheet


@dataclass(frozen=True)
class Growth:
    """Cost of a sheet with a ball on it. `vertices`; `seconds`: of a step; `contacts`: at the end."""

    vertices: int
    seconds: float
    contacts: int


@dataclass(frozen=True)
class Growths:
    """Growth of cost with the number of vertices."""

    sheets: list[Growth]


def bench_flex(*, quick: bool, threads: int | None, json_path: Path | None, extra: list[str]) -> None:
    """Run the benchmark: measure, print tables, write them as JSON."""
    title = "deformable bodies, semi-implicit Euler; rods, `discrete`"
    benchmark = Benchmark(title, partial(_cases, extra=extra), _measure, FOOTNOTES, _tell)
    benchmark.run(quick=quick, threads=threads, json_path=json_path)


def _cases(quick: bool, extra: list[str]) -> tuple[list[Case], list[str]]:
    """Cases to measure, and notes on them."""
    from saltus.bench.flex import rods

    path, note = found_models.find("trampoline of MuJoCo", TRAMPOLINES)
    cases = [Case("trampoline", "trampoline", 200 if quick else 1000, spread=SPREAD, settle=0.0)]
    notes = []
    if not quick:
        cases += [Case("MuJoCo's trampoline", str(path), 1000, spread=SPREAD, settle=0.0)] if path else []
        cases += [
            Case("flag", FLAG, 200, spread=SPREAD, settle=0.5),
            Case("jelly", JELLY, 400, settle=0.1, spread=SPREAD),
        ]
        notes.append(note)
    cases += [Case(Path(m).stem, m, 200, spread=SPREAD, settle=0.0) for m in extra]
    cases += [
        Case(f"rods, {n}, {solver}", rods.heap_of_rods(n, segments, solver=solver), 40)
        for n, segments, solver in HEAPS[: 1 if quick else None]
    ]
    return [*cases, Case(SHEETS, SIDES[:2] if quick else SIDES, 10)], notes


def _measure(
    case: Case, effort: Effort, threads: int, show: Callable[[float], None]
) -> tuple[list[Row], Growths | None]:
    if case.name == SHEETS:
        return [], Growths(growth(case.model, case.steps, effort.repeats))
    from saltus.bench.flex import rods
    from saltus.bench.harness import peers
    from saltus.bench.harness.timing import in_turn

    if case.name.startswith(rods.PREFIX):
        heap = rods.Heap(case.model, 1, spread=0.0, settle=rods.SETTLE)
        found = in_turn(peers.single(heap, case.steps), repeats=effort.repeats, least=effort.seconds)
        return [compared(case, heap.model.nv, "step", found, "saltus", _difference(heap))], None
    n = SIMULATIONS * threads
    setup = peers.Constrained(case.model, n, spread=case.spread, settle=case.settle)
    nv = setup.model.nv
    timed = {"repeats": effort.repeats, "least": effort.seconds}
    show(0.1)
    single = in_turn(peers.single(setup, case.steps), **timed)
    rows = [compared(case, nv, "step", single, "saltus", _difference(setup))]
    show(0.5)
    if case.name != "flag":
        batch = in_turn(peers.batches(setup, n, min(case.steps, 500), threads), repeats=3, least=0.0)
        rows += [compared(case, nv, f"batch {p}", batch, f"saltus {p}") for p in peers.PRECISIONS]
    return rows, None


def _difference(setup: Any) -> float:
    """Largest difference of accelerations, (v' - v)/h, in the first step."""
    sim, data = setup.simulation(), setup.data()
    setup.advance(sim, 1)
    setup.advance(data, 1)
    return float(abs(sim.qvel - data.qvel).max() / setup.timestep)


def growth(sides: tuple[int, ...], steps: int, repeats: int) -> list[Growth]:
    """Time steps of sheets of these sizes, each with a ball that sinks in."""
    from saltus.bench.flex.sheet import Sheet
    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.contact.counts import NCON

    sheets = [Sheet(side) for side in sides]
    for sheet in sheets:
        sheet.step(20)
    timed = [Contender(str(s.vertices), lambda: None, lambda s=s: s.step(steps), steps) for s in sheets]
    found = in_turn(timed, repeats=repeats, least=0.0)
    contacts = [int(s.data.views["count"][NCON]) for s in sheets]
    return [Growth(s.vertices, found[str(s.vertices)].median, n) for s, n in zip(sheets, contacts, strict=True)]


def _tell(details: list[Growths]) -> None:
    """Print the growth of cost with the number of vertices."""
    print()
    sheets = [g for d in details for g in d.sheets]
    rows = [(str(g.vertices), str(g.contacts), *_times(g)) for g in sheets]
    print_table(("vertices", "contacts", "a step", "for each vertex"), rows, left=())
    print("sheets with a ball that sinks in, one core; MuJoCo's compiler takes half an hour for the largest")


def _times(g: Growth) -> tuple[str, str]:
    return f"{g.seconds * 1e6:.4g} µs", f"{g.seconds / g.vertices * 1e9:.0f} ns"
