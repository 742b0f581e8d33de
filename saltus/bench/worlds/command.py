"""`saltus bench worlds`: large worlds beside MuJoCo 4.0, one simulation on one thread, in turn in one process each.

MuJoCo moves a world until much is happening; both sides go on from there with the integrator, solver and cone of the
file, for the same number of steps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saltus.bench.harness import machine
from saltus.bench.harness.fresh import run_fresh
from saltus.bench.harness.report import print_table
from saltus.bench.worlds.growth_plot import plot
from saltus.bench.worlds.rows import HEAP, WorldRow, row_of
from saltus.bench.worlds.scenes import WORLDS
from saltus.errors import OptionError
from saltus.record.files.atomic_write import check_writable, write_whole
from saltus.record.plot.trajectory import check_figure
from saltus.terminal import screen

RUN = "saltus.bench.worlds.world_run"
SIZES = (30, 100, 300, 1000)  # bodies of a heap
QUICK_SIZES = (3, 10)
LIMIT = 600.0  # s
FOOTNOTES = (
    "a step: median, and how many times faster Saltus is; contacts, rows, iterations: MuJoCo's and Saltus's in the",
    "  last step; the four edges of a pyramid are three rows of Saltus;",
    "difference: the largest between velocities after the first step, relative to the largest change of one;",
    "threads: how many times faster so many are than one, by the wall clock, where they have work to share;",
    "times are of the processor, that of compiling by the wall clock, since several processes may compile;",
    "MuJoCo loads: MjModel.from_xml_string; load: saltus.load, MuJoCo's compiler included; make: saltus.Simulation;",
    "  compile: the first step, or reading what was compiled before; memory: growth of the peak, without and with it",
)


@dataclass(frozen=True)
class Task:
    """A world to measure."""

    name: str
    world: str
    arguments: dict[str, Any]


def tasks(worlds: Sequence[str], sizes: Sequence[int]) -> list[Task]:
    """The worlds by name, with a heap of each size."""
    for name in worlds:
        if name not in WORLDS:
            raise OptionError.unknown("world", name, WORLDS)
    found = []
    for name in worlds:
        found += [Task(f"heap {n}", HEAP, {"n": n}) for n in sorted(sizes)] if name == HEAP else [Task(name, name, {})]
    return found


def sizes_of(text: str) -> list[int]:
    """Numbers of bodies, as 30,100,300."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise OptionError(f"sizes must be whole numbers of bodies, as 30,100,300; got {text!r}")
    return sorted({int(part) for part in parts})


def bench_worlds(
    *,
    worlds: Sequence[str] = (),
    sizes: Sequence[int] = (),
    quick: bool = False,
    limit: float = LIMIT,
    threads: int = 1,
    json_path: Path | None = None,
    plot_path: Path | None = None,
) -> None:
    """Run the benchmark: measure, print tables, write JSON and a figure; JSON is written anew after each world."""
    if limit <= 0.0:
        raise OptionError(f"limit must be positive, got {limit:g}")
    if json_path is not None:
        check_writable(json_path, what="benchmark")
    if plot_path is not None:
        check_figure(plot_path)
    chosen = tasks(worlds or ((HEAP,) if quick else tuple(WORLDS)), sizes or (QUICK_SIZES if quick else SIZES))
    effort = {"repeats": 5, "least": 0.01 if quick else 0.1, "threads": threads}
    about = machine.description(1)
    rows: list[WorldRow] = []
    with screen.Activity() as activity:
        for k, task in enumerate(chosen):
            what = f"measuring {task.name}"
            activity.progress(what)(k / len(chosen))
            rows.append(_measured(task, rows, effort, limit))
            activity.end(what)
            if json_path is not None:
                content = {
                    "machine": about,
                    "effort": {**effort, "limit": limit},
                    "rows": [asdict(row) for row in rows],
                }
                write_whole(json_path, (json.dumps(content, indent=1) + "\n").encode(), what="benchmark")
    _print(rows, about, effort)
    if plot_path is not None:
        plot(rows, plot_path)
        print(f"wrote {plot_path}")
    if json_path is not None:
        print(f"wrote {json_path}")


def _measured(task: Task, rows: Sequence[WorldRow], effort: dict[str, Any], limit: float) -> WorldRow:
    """The row of a world; a heap larger than one that took too long is not tried."""
    late = next((row.name for row in rows if row.world == task.world and "took longer" in row.reason), None)
    if late is not None:
        return WorldRow(task.name, task.world, task.arguments, f"skipped, since {late} took longer than {limit:g} s")
    given = {"world": task.world, "arguments": task.arguments, **effort}
    return row_of(task.name, task.world, task.arguments, run_fresh(RUN, given, limit=limit), limit)


def _print(rows: Sequence[WorldRow], about: dict[str, Any], effort: dict[str, Any]) -> None:
    print("large worlds, one simulation, from the same state")
    headers = (
        "world",
        "bodies",
        "dof",
        "contacts",
        "rows",
        "iterations",
        "MuJoCo",
        "Saltus",
        "faster",
        "difference",
        "threads",
    )
    print_table(headers, [_step_cells(row) for row in rows if row.ratio is not None], left=("world",))
    print()
    headers = ("world", "MuJoCo loads", "load", "make", "compile", "memory of MuJoCo", "of Saltus", "compiling")
    print_table(headers, [_loading_cells(row) for row in rows if "loading" in row.facts], left=("world",))
    for line in (*FOOTNOTES, *_failures(rows)):
        print(line)
    print(f"{about['cpu']}, {about['simd_bits']}-bit SIMD, one thread; medians of {effort['repeats']} repeats")


def _failures(rows: Sequence[WorldRow]) -> Iterator[str]:
    for row in rows:
        if row.reason:
            yield f"{row.name}: {row.reason}"
        yield from (f"{row.name}: warning: {text}" for text in row.facts.get("warnings", ()))


def _step_cells(row: WorldRow) -> tuple[str, ...]:
    facts = row.facts
    peers, own = facts.get("mujoco_counts"), facts.get("saltus_counts")
    counts = [f"{a:g}, {b:g}" for a, b in zip(peers, own, strict=True)] if peers and own else ["", "", ""]
    times = (f"{facts['peer'] * 1e3:.3g} ms", f"{facts['saltus'] * 1e3:.3g} ms", f"{facts['ratio']:.2f} x")
    apart = facts.get("difference")
    ends = "" if apart is None else f"{apart:.0e}", _by_threads(facts)
    return row.name, str(row.bodies), str(facts["dof"]), *counts, *times, *ends


def _by_threads(facts: dict[str, Any]) -> str:
    """Speed of several threads relative to one; "" where one was asked for, or there is no work for more."""
    if "together" not in facts:
        return ""
    same = "same bits" if facts["same_bits"] else "other bits"
    return f"{facts['threads']}: {facts['alone'] / facts['together']:.2f} x, {same}"


def _loading_cells(row: WorldRow) -> tuple[str, ...]:
    seconds = [
        _with_unit(row.facts.get(name), 1.0, "s") for name in ("mujoco_loading", "loading", "making", "compiling")
    ]
    memory = [_with_unit(row.facts.get(name), 1e6, "MB") for name in ("mujoco_memory", "memory", "memory_compiling")]
    return row.name, *seconds, *memory


def _with_unit(value: float | None, size: float, unit: str) -> str:
    return "" if value is None else f"{value / size:.3g} {unit}"
