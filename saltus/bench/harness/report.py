"""Parts that all benchmarks share: amount of measurement, the table of comparisons, the figures as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saltus.arguments import usable_cores
from saltus.errors import OptionError


@dataclass(frozen=True)
class Effort:
    """Amount of measurement."""

    repeats: int = 7
    seconds: float = 0.1  # s of each timing, at least
    simulations: int = 128  # simulations of a batch, per thread
    batch_steps: int = 100


QUICK = Effort(repeats=5, seconds=0.01, simulations=32, batch_steps=20)


@dataclass(frozen=True)
class Case:
    """A model to measure, and the number of steps from its start for which its motion stays sensible.

    `spread`: standard deviation between starts (rad, m; rad/s, m/s). `linearize`: measure the derivatives too.
    `settle`: seconds that a start under constraints falls first; `push`: standard deviation of joint forces (N m, N).
    """

    name: str
    model: Any
    steps: int
    spread: float = 0.3
    linearize: bool = False
    settle: float = 3.0
    push: float = 0.0


@dataclass(frozen=True)
class Row:
    """One comparison.

    `what`: "step", "batch float64", "batch float32" or "linearize". `peer` and `saltus`: seconds per unit, a step of
    one simulation (on one core), or a pair of matrices. `ratio`: speed of Saltus relative to the peer, median over the
    repeats. `difference`: of the results, as each benchmark says.
    """

    model: str
    nv: int
    what: str
    peer: float
    saltus: float
    ratio: float
    difference: float = math.nan


def compared(case: Case, nv: int, what: str, found: dict[str, Any], own: str, difference: float = math.nan) -> Row:
    """The row of the timing `own` against MuJoCo's."""
    mine, peer = found[own], found["mujoco"]
    return Row(case.name, nv, what, peer.median, mine.median, mine.ratio_to(peer), difference)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: the cases that it measures, and the form in which they are shown.

    `cases(quick)`: cases to measure, and notes on them. `measure(case, effort, threads, show)`: rows and,
    if there is more to tell, an object for it; `show` takes the fraction done. `tell`: prints those objects.
    """

    title: str
    cases: Callable[[bool], tuple[list[Case], list[str]]]
    measure: Callable[[Case, Effort, int, Callable[[float], None]], tuple[list[Row], Any]]
    footnotes: Sequence[str]
    tell: Callable[[list[Any]], None] | None = None

    def run(self, *, quick: bool, threads: int | None, json_path: Path | None) -> None:
        """Run the benchmark: measure, print a table, write it as JSON."""
        from saltus.bench.harness import machine
        from saltus.record.files.atomic_write import check_writable, write_whole
        from saltus.terminal import screen

        if json_path is not None:
            check_writable(json_path, what="benchmark")
        if threads is not None and threads < 1:
            raise OptionError(f"threads must be at least 1, got {threads}")
        threads = threads or usable_cores()
        effort = QUICK if quick else Effort()
        cases, notes = self.cases(quick)
        rows: list[Row] = []
        details: list[Any] = []
        with screen.Activity() as activity, screen.collected_warnings() as warnings:
            for case in cases:
                what = f"measuring {case.name}"
                found, detail = self.measure(case, effort, threads, activity.progress(what))
                rows += found
                details += [] if detail is None else [detail]
                activity.end(what)
        about = machine.description(threads)
        for warning in warnings:
            screen.say(f"warning: {warning}")
        for note in notes:
            print(note)
        self._print(rows, details, about, effort)
        if json_path is not None:
            content = {"machine": about, "effort": asdict(effort), "notes": notes, "rows": [asdict(r) for r in rows]}
            content |= {"details": [asdict(d) for d in details]} if details else {}
            write_whole(json_path, (json.dumps(_plain(content), indent=2) + "\n").encode(), what="benchmark")
            print(f"wrote {json_path}")

    def _print(self, rows: list[Row], details: list[Any], about: dict[str, Any], effort: Effort) -> None:
        from saltus.terminal import screen

        print(self.title)
        headers = ("model", "dof", "what", f"MuJoCo {about['mujoco']}", "Saltus", "faster", "difference")
        print_table(headers, [_cells(r) for r in rows], left=("model", "what"))
        for line in ("times of one step of one simulation, in batches on one core", *self.footnotes):
            print(line)
        if self.tell and details:
            self.tell(details)
        print(
            f"{about['cpu']}, {screen.count(about['cores'], 'core')}, {about['simd_bits']}-bit SIMD; "
            f"batches on {screen.count(about['threads'], 'thread')}; medians of {effort.repeats} repeats; "
            f"Python {about['python']}, Numba {about['numba']}, NumPy {about['numpy']}"
        )


def _cells(row: Row) -> tuple[str, ...]:
    apart = "" if math.isnan(row.difference) else f"{row.difference:.0e}"
    times = (f"{row.peer * 1e6:.3g} µs", f"{row.saltus * 1e6:.3g} µs")
    return row.model, str(row.nv), row.what, *times, f"{row.ratio:.2f} x", apart


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> None:
    """Print a table on stdout; columns with headers in `left` are flush left. Figures are never cut off."""
    from rich.table import Table

    from saltus.terminal import screen

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(header, justify="left" if header in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    screen.console(sum(max(len(cell) for cell in column) + 2 for column in zip(headers, *rows, strict=True))).print(
        table
    )


def _plain(value: Any) -> Any:
    """Replace nan by None, as JSON has no nan."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
