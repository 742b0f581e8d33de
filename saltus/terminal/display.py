"""What things look like in words and in a notebook: counts with their plurals, small tables in HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

SHOWN = 50  # rows of a table before "and so many more"
LEFT = 'style="text-align:left"'


def count(number: int, thing: str) -> str:
    """ "1 joint", "2 joints", "3 bodies"."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    plural = plural if not thing.endswith("degree of freedom") else thing.replace("degree", "degrees")
    return f"{number} {thing if number == 1 else plural}"


def facts_html(title: str, facts: Mapping[str, str]) -> str:
    """A table of two columns, what and how it is; all text is shown as it stands."""
    rows = "".join(
        f"<tr><th {LEFT}>{html.escape(key)}</th><td {LEFT}>{_lines(value)}</td></tr>" for key, value in facts.items()
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{rows}</tbody></table>"


def table_html(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], foot: Iterable[str] = ()) -> str:
    """A table with a heading a column, and lines below it."""
    top = "".join(f"<th {LEFT}>{html.escape(text)}</th>" for text in head)
    body = "".join("<tr>" + "".join(f"<td {LEFT}>{_lines(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    last = "".join(f'<tr><td {LEFT} colspan="{len(head)}">{_lines(line)}</td></tr>' for line in foot)
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody><tfoot>{last}</tfoot></table>"


def first_rows_html(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same of the first rows, which says how many more there are."""
    hidden = len(rows) - SHOWN
    return table_html(title, head, rows[:SHOWN], [f"and {hidden} more"] if hidden > 0 else [])


def _lines(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")
