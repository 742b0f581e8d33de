"""The results of benchmarks in the terminal, as JSON, and as figures in a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saltus.errors import RecordError
from saltus.record.files.atomic_write import reason_of, write_whole
from saltus.terminal import screen
from saltus.terminal.display import count
from saltus.verify.case import Check
from saltus.verify.registry import FAMILIES
from saltus.verify.running import FAILED, NEEDS_DATA, PASSED, BenchmarkOutcome

HEADERS = ("benchmark", "quantity", "reached", "reference", "error", "tolerance", "verdict", "s")
SHORT = tuple(header for header in HEADERS if header not in ("reached", "reference"))
WIDE, NARROW = 144, 118  # columns of the table in the terminal
LEFT = ("benchmark", "quantity", "verdict")
STYLES = {PASSED: "green", FAILED: "bold red", NEEDS_DATA: "yellow"}


def print_outcomes(outcomes: Sequence[BenchmarkOutcome], every: bool) -> None:
    """Print a table: of each benchmark the check nearest to its tolerance, or failed ones; with `every`, all."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    headers = HEADERS if every else SHORT
    for header in headers:
        table.add_column(header, justify="left" if header in LEFT else "right", no_wrap=True)
    last = ""
    for outcome in outcomes:
        if outcome.benchmark.family != last:
            last = outcome.benchmark.family
            table.add_row(Text(FAMILIES[last][0], style="bold"))
        for cells in _rows(outcome, every):
            table.add_row(
                *(Text(cells.get(header, ""), style=STYLES.get(cells.get(header, ""), "")) for header in headers)
            )
    screen.console(at_least=WIDE if every else NARROW).print(table)
    for outcome in outcomes:
        if outcome.message:
            print(f"{outcome.benchmark.name} {_why(outcome)}: {outcome.message}")
    print(summary(outcomes))


def summary(outcomes: Sequence[BenchmarkOutcome]) -> str:
    """Numbers of benchmarks that passed, failed and need data, and the seconds they took."""
    found = [o.verdict for o in outcomes]
    parts = [count(len(found), "benchmark"), f"{found.count(PASSED)} passed", f"{found.count(FAILED)} failed"]
    if NEEDS_DATA in found:
        parts.append(
            f"{found.count(NEEDS_DATA)} not run, as {'it needs' if found.count(NEEDS_DATA) == 1 else 'they need'} data"
        )
    return f"{', '.join(parts)}; {sum(o.seconds for o in outcomes):.1f} s"


def _why(outcome: BenchmarkOutcome) -> str:
    return "needs" if outcome.verdict == NEEDS_DATA else "failed"


def _rows(outcome: BenchmarkOutcome, every: bool) -> list[dict[str, str]]:
    """Table rows of one benchmark: its worst check, or all, or those that failed."""
    first = {"benchmark": outcome.benchmark.name, "s": f"{outcome.seconds:.1f}"}
    if not outcome.checks:
        return [{"verdict": outcome.verdict, **first}]
    red = [check for check in outcome.checks if not check.passed]
    shown = outcome.checks if every else red or [outcome.worst]
    rows = []
    for k, check in enumerate(c for c in shown if c is not None):
        found = dict(zip(HEADERS[2:6], numbers(check), strict=True))
        verdict = PASSED if check.passed else FAILED
        rows.append({"quantity": check.quantity, **found, "verdict": verdict, **(first if k == 0 else {})})
    return rows


def numbers(check: Check) -> tuple[str, str, str, str]:
    """Reached, reference, error and tolerance as readable numbers."""
    return f"{check.reached:.10g}", f"{check.reference:.10g}", f"{check.error:.1e}", f"{check.tolerance:.1e}"


def write_json(outcomes: Sequence[BenchmarkOutcome], path: Path) -> None:
    """Write the results as a JSON list."""
    content: list[dict[str, Any]] = [outcome.facts() for outcome in outcomes]
    write_whole(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode(), what="results")


def write_figures(outcomes: Sequence[BenchmarkOutcome], folder: Path) -> list[Path]:
    """Write a figure per benchmark into a folder, which is made if it does not exist."""
    from saltus.verify.drawing import image

    prepare_folder(folder)
    written = []
    for outcome in outcomes:
        if outcome.figure is not None:
            path = folder / f"{outcome.benchmark.name}.png"
            write_whole(path, image(outcome.figure), what="figure")
            written.append(path)
    return written


def prepare_folder(folder: Path) -> None:
    """Make the folder for figures; RecordError if that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(folder, reason_of(error), what="figures") from error
