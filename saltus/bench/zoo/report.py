"""The tables of a zoo: in the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from saltus.bench.harness.report import print_table
from saltus.bench.zoo.rows import COLUMNS, MEASURED, OUTCOMES, TITLES, ZooRow, slowest, totals

HEADERS = ("model", "dof", "contacts", "rows", "solver", "MuJoCo", "Saltus", *TITLES.values(), "difference")
LEFT = ("model", "solver", "")
LEGEND = (
    "dof, contacts, rows: means over the states that the simulations begin from; MuJoCo, Saltus: a step of one",
    "  simulation; single, batch: how many times faster Saltus is per step of a simulation on one thread;",
    "times are of the processor; difference: the largest between accelerations in the first step, relative to",
    "  MuJoCo's largest",
)


def print_report(rows: Sequence[ZooRow], about: Mapping[str, Any], effort: Mapping[str, Any]) -> None:
    """Print tables on stdout."""
    measured, others = _parted(rows)
    if measured:
        print_table(HEADERS, [_cells(row) for row in measured], left=LEFT)
        for line in LEGEND:
            print(line)
    for title, group in _groups(others):
        print(f"\n{title}:")
        for row in group:
            print(f"  {row.name}{f': {row.reason}' if row.reason else ''}")
    print(f"\n{len(rows)} files: {_counted(rows)}")
    if measured:
        print_table(("", "models", "median", "least", "below 1"), _total_cells(rows), left=LEFT)
        print(f"slowest: {', '.join(f'{row.name} {row.least():.2f} x' for row in slowest(rows))}")
    print(machine_line(about, effort))


def markdown(rows: Sequence[ZooRow], about: Mapping[str, Any], effort: Mapping[str, Any]) -> str:
    """The tables as a section of a Markdown page."""
    measured, others = _parted(rows)
    lines = [f"{len(rows)} files: {_counted(rows)}.", ""]
    if measured:
        lines += _table(("", "models", "median", "least", "below 1"), _total_cells(rows))
        lines += ["", f"Slowest: {', '.join(f'{row.name} ({row.least():.2f})' for row in slowest(rows))}.", ""]
        lines += [*_table(HEADERS, [_cells(row) for row in measured]), ""]
    for title, group in _groups(others):
        lines += [f"{title[0].upper()}{title[1:]}:", ""]
        lines += [f"- `{row.name}`{f': {row.reason}' if row.reason else ''}" for row in group] + [""]
    return "\n".join([*lines, f"{machine_line(about, effort)}.", ""])


def machine_line(about: Mapping[str, Any], effort: Mapping[str, Any]) -> str:
    """Machine and settings of the measurement, in a line."""
    return (
        f"{about['cpu']}, {about['simd_bits']}-bit SIMD, one thread; batches of {effort['n']}; medians of "
        f"{effort['repeats']} repeats; MuJoCo {about['mujoco']}, Saltus {about['saltus']}, Numba {about['numba']}"
    )


def _parted(rows: Sequence[ZooRow]) -> tuple[list[ZooRow], list[ZooRow]]:
    """Rows with a comparison, and rows that have to be explained; some are both."""
    return [r for r in rows if r.least() is not None], [r for r in rows if r.outcome != MEASURED]


def _groups(rows: Sequence[ZooRow]) -> Iterator[tuple[str, list[ZooRow]]]:
    """Rows by outcome, parts of other files at the end."""
    for outcome, words in OUTCOMES.items():
        group = [row for row in rows if row.outcome == outcome]
        if group:
            yield words, group


def _counted(rows: Sequence[ZooRow]) -> str:
    counts = [(sum(row.outcome == outcome for row in rows), words) for outcome, words in OUTCOMES.items()]
    return ", ".join(f"{number} {words}" for number, words in counts if number)


def _cells(row: ZooRow) -> tuple[str, ...]:
    facts, about = row.facts, row.facts["about"]
    solver = f"{about['solver']}, {about['cone']}, {about['integrator']}"
    single = facts.get("single")
    times = [f"{single[side] * 1e6:.3g} µs" for side in ("peer", "saltus")] if single else ["", ""]
    ratios = ["" if (r := row.ratio(column)) is None else f"{r:.2f} x" for column in COLUMNS]
    counts = [f"{facts[name]:.1f}" for name in ("contacts", "rows")]
    apart = f"{facts['difference']:.0e}" if "difference" in facts else ""
    return row.name, str(about["nv"]), *counts, solver, *times, *ratios, apart


def _total_cells(rows: Sequence[ZooRow]) -> list[tuple[str, ...]]:
    return [
        (TITLES[column], str(t.models), f"{t.median:.2f} x", f"{t.least:.2f} x", str(t.below_one))
        for column, t in totals(rows).items()
    ]


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---" if header in LEFT else "--:" for header in headers]
    return [f"| {' | '.join(cells)} |" for cells in (headers, rule, *rows)]
