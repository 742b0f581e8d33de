"""Elements of displays in HTML: facts, tables, pictures, folded parts, histograms.

Displays are self-contained: they send no requests, escape all text, and take the colours of the page around them, so
that they can be read on light and dark backgrounds. Without their style, which some viewers remove, they are plain
tables.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from saltus.errors import SaltusError

ROWS = 50  # rows of a table before "and N more"
FOLDED = 12  # most rows of a table that is initially unfolded
BINS = 24  # bins of a histogram

_SCOPE = "div.saltus-display.saltus-display"
_LINE = "rgba(128,128,128,.28)"
STYLE = "".join(
    f"{', '.join(f'{_SCOPE} {part.strip()}'.strip() for part in selector.split(','))}{{{rules}}}"
    for selector, rules in {
        "": "color:inherit;font-size:13px;line-height:1.45;margin:.3em 0 .6em;max-width:100%;overflow-x:auto",
        "div.title": "font-size:14px;font-weight:600;margin:0 0 .4em",
        "div.title span": "font-weight:400;opacity:.7;margin-left:.6em",
        "div.beside": "display:flex;flex-wrap:wrap;gap:.4em 1.6em;align-items:flex-start",
        "div.beside > div": "min-width:0;max-width:100%;overflow-x:auto",
        "div.picture > div:last-child": "flex:1 1 20em",
        "img, video": "display:block;max-width:100%;height:auto;border-radius:5px;margin:0",
        "table": "border:0;border-collapse:collapse;color:inherit;font-size:13px;margin:.2em 0 .5em;width:auto;"
        "font-variant-numeric:tabular-nums;table-layout:auto;background:none",
        "tr, tr:hover, tbody tr:nth-child(odd), tbody tr:nth-child(even)": "background:none;border:0",
        "th, td": f"border:0;border-bottom:1px solid {_LINE};padding:.15em 1.4em .15em 0;text-align:left;"
        "vertical-align:top;max-width:42em;white-space:normal;background:none;color:inherit",
        "th": "font-weight:400;opacity:.7;white-space:nowrap",
        "thead th": "border-bottom:1px solid rgba(128,128,128,.6);vertical-align:bottom",
        "tr:last-child > td, tbody tr:last-child > th": "border-bottom:0",
        "th.number, td.number": "text-align:right;white-space:nowrap",
        "tfoot td": "opacity:.75;font-size:12px;border:0",
        "details": "margin:.25em 0",
        "summary": "cursor:pointer;font-weight:600;opacity:.85",
        "p": "margin:.2em 0 .5em;max-width:60em",
        "p.note": "opacity:.75;font-size:12px",
        "svg": "display:block;fill:currentColor;opacity:.65",
    }.items()
)

_ONE = r"[-+−]?(\d[\d.]*(e[-+]?\d+)?(/\d+)?|nan|inf)"
_NUMBERS = re.compile(rf"{_ONE}((, | | to ){_ONE})*( [%µa-zA-Z/²³°×][%µa-zA-Z/²³°× ]*)?$")


class Html(str):
    """Text that is HTML; all other text is escaped."""


def escaped(text: str) -> str:
    """Escape a text unless it is `Html`."""
    return text if isinstance(text, Html) else html.escape(text).replace("\n", "<br>")


def display(*parts: str) -> Html:
    """Make a display from its parts, with their style."""
    return Html(f'<div class="saltus-display"><style>{STYLE}</style>{"".join(parts)}</div>')


def title(text: str, more: str = "") -> Html:
    """The title of a display, with additional text beside it."""
    beside = f"<span>{escaped(more)}</span>" if more else ""
    return Html(f'<div class="title">{escaped(text)}{beside}</div>')


def facts(known: Mapping[str, str]) -> Html:
    """A table of names and values in two columns."""
    rows = "".join(
        f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>' for name, value in known.items()
    )
    return Html(f"<table><tbody>{rows}</tbody></table>" if known else "")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], foot: Iterable[str] = (), most: int = ROWS) -> Html:
    """A table with a heading for each column and lines below; of many rows, the first `most`.

    Columns of numbers are right-aligned, and empty columns are left out.
    """
    used = [k for k in range(len(head)) if not rows or any(row[k] for row in rows)]
    head, rows = [head[k] for k in used], [[row[k] for k in used] for row in rows]
    kinds = ['<td class="number">' if _are_numbers([row[k] for row in rows]) else "<td>" for k in range(len(head))]
    shown = rows[:most]
    lines = [*([f"and {len(rows) - most} more"] if len(rows) > most else []), *foot]
    top = "".join(f"<th{kind[3:]}{escaped(text)}</th>" for kind, text in zip(kinds, head, strict=True))
    body = "".join(f"<tr>{_cells(kinds, row)}</tr>" for row in shown)
    last = "".join(f'<tr><td colspan="{len(head)}">{escaped(line)}</td></tr>' for line in lines)
    last = f"<tfoot>{last}</tfoot>" if last else ""
    return Html(f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody>{last}</table>")


def _cells(kinds: Sequence[str], row: Sequence[str]) -> str:
    return "".join(f"{kind}{escaped(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))


def _are_numbers(cells: Sequence[str]) -> bool:
    """Whether a column holds only numbers, with or without units."""
    given = [cell for cell in cells if cell not in ("", "-")]
    return bool(given) and all(not isinstance(cell, Html) and _NUMBERS.match(cell) is not None for cell in given)


def folded(heading: str, content: str, *, unfolded: bool = False) -> Html:
    """A part that unfolds at a click; "" without content."""
    start = "<details open>" if unfolded else "<details>"
    return Html(f"{start}<summary>{escaped(heading)}</summary>{content}</details>" if content else "")


def folded_table(heading: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    """A table that is folded if it is long; "" without rows."""
    return folded(heading, table(head, rows), unfolded=len(rows) <= FOLDED) if rows else Html("")


def beside(*parts: str) -> Html:
    """Parts beside each other, or below each other on narrow pages."""
    return Html(f'<div class="beside">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>')


def with_picture(picture: str, facts: str) -> Html:
    """A picture with facts beside it, or below it on narrow pages; "" as picture: facts only."""
    return Html(f'<div class="beside picture">{f"<div>{picture}</div>" if picture else ""}<div>{facts}</div></div>')


def image(data: bytes, width: int, alt: str) -> Html:
    """An inline PNG, at most as wide as the page."""
    source = base64.b64encode(data).decode("ascii")
    return Html(f'<img src="data:image/png;base64,{source}" width="{width}" alt="{html.escape(alt)}">')


def note(text: str) -> Html:
    """A remark in small letters."""
    return Html(f'<p class="note">{escaped(text)}</p>')


def attempt(what: str, make: Callable[[], str]) -> str:
    """Make a part of a display; if that fails, return a remark with the reason, so that the rest is shown."""
    try:
        return make()
    except Exception as error:
        return note(f"no {what}: {reason(error)}")


def reason(error: Exception) -> str:
    """Describe an error in a line, with its class unless it is a SaltusError."""
    first = (str(error).strip().splitlines() or [""])[0]
    if isinstance(error, SaltusError) and first:
        return first
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def histogram(values: ArrayLike) -> Html:
    """A small histogram of numbers from the least to the largest, as SVG; "" if there is nothing to show."""
    finite = np.asarray(values, float)
    finite = finite[np.isfinite(finite)]
    if len(finite) < 2 or np.ptp(finite) == 0.0:
        return Html("")
    counts, edges = np.histogram(finite, bins=min(BINS, len(finite)))
    height, width = 18.0, 4
    bars = "".join(
        f'<rect x="{k * width}" y="{height - h:.1f}" width="{width - 1}" height="{h:.1f}"></rect>'
        for k, h in enumerate(height * counts / counts.max())
        if h
    )
    words = f"{len(finite)} values from {edges[0]:.4g} to {edges[-1]:.4g}"
    size = f'width="{len(counts) * width}" height="{height:.0f}"'
    return Html(f'<svg {size} role="img"><title>{words}</title>{bars}</svg>')
