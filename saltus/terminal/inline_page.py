"""A standalone page inside a notebook's cell."""

from __future__ import annotations

import html
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Page:
    """An HTML file that simulates a model, made by `Model.page` and `Simulation.page`; notebooks show it in place.

    Attributes:
        title: title of the page.
        html: text of the file, which needs no server and no network.
        height: height of the frame in a notebook, pixels.
    """

    title: str
    html: str = field(repr=False)
    height: int = 520

    def _repr_html_(self) -> str:
        title, text = html.escape(self.title), html.escape(self.html)
        style = f"width:100%;height:{self.height}px;border:1px solid rgba(128,128,128,.35);border-radius:6px"
        return f'<iframe srcdoc="{text}" title="{title}" style="{style}" allow="clipboard-write; fullscreen"></iframe>'
