"""The display of `saltus sweep --watch`: progress of a sweep until it is complete."""

from __future__ import annotations

import contextlib
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.study.watching import Standing

BAR = 60  # columns


def watch_option(context: typer.Context, path: Path | None) -> None:
    """Watch a sweep's store instead of running the command, whose other options are not needed."""
    if path is None or context.resilient_parsing:
        return
    from saltus.study.watching import standing, watch

    if not sys.stdout.isatty():
        _print(standing(path))
        raise typer.Exit
    from rich.live import Live

    with contextlib.suppress(KeyboardInterrupt), Live(console=screen.console(), auto_refresh=False) as live:
        for found in watch(path):
            live.update(_drawn(found), refresh=True)
    raise typer.Exit


def _print(found: Standing) -> None:
    print(found.title)
    print(found)
    screen.console().print(_table(found))


def _drawn(found: Standing) -> Any:
    """The display of a sweep's progress, with a bar."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    bar = Table.grid()  # a bar by itself does not end its line
    bar.add_row(ProgressBar(total=max(found.total, 1), completed=found.finished, width=BAR))
    return Group(Text(found.title), Text(str(found)), bar, _table(found))


def _table(found: Standing) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("measure", overflow="fold")
    for name in ("min", "median", "max"):
        table.add_column(name, justify="right")
    for name, numbers in found.measures.items():
        unit = found.units[name]
        table.add_row(f"{name} ({unit})" if unit else name, *("-" if math.isnan(x) else f"{x:.5g}" for x in numbers))
    return table
