"""Table of the first and last events of a run in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saltus.terminal import screen

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST, LAST = 5, 3  # rows shown of a long table
DIGITS = 6


def print_events(events: NDArray[Any]) -> None:
    """Print a table of events without empty columns."""
    from rich.table import Table

    from saltus.record.table.events import cells, heading, known_fields

    fields = known_fields(events)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for field in fields:
        text = events.dtype[field].base.kind == "U"
        table.add_column(heading(field), justify="left" if text else "right", overflow="ellipsis")
    shown = events if len(events) <= FIRST + LAST + 1 else events[:FIRST]
    for event in shown:
        table.add_row(*cells(event, fields, DIGITS))
    if len(shown) < len(events):
        hidden = f"{len(events) - FIRST - LAST} more"
        table.add_row(*(hidden if field == "kind" else "..." if field == "time" else "" for field in fields))
        for event in events[-LAST:]:
            table.add_row(*cells(event, fields, DIGITS))
    screen.console().print(table)
