"""Standalone pages inside notebooks; see `saltus.lab.standalone.page`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from saltus.arguments import whole_number
from saltus.lab.standalone.page import page
from saltus.model.model import Model
from saltus.simulate.simulation import Simulation
from saltus.terminal.inline_page import Page
from saltus.terminal.progress import Progress

MAKING = "made {task.completed:.0%} of the page"
SMALLEST = 120  # smallest height of a frame, pixels


def make_page(
    what: Model | Simulation, path: str | os.PathLike[str] | None, height: int, options: Mapping[str, Any]
) -> Page:
    """Make a page of a model or a simulation; see `Model.page`."""
    height = whole_number("page: height", height, SMALLEST)
    name = what.name if isinstance(what, Model) else what.model.name
    with Progress(None, 1.0, MAKING) as progress, TemporaryDirectory() as folder:
        told = {"progress": progress.update, **options}
        written = page(what, Path(folder, "page.html") if path is None else path, **told)
        text = written.read_text(encoding="utf-8")
        progress.update(1.0)
    return Page(f"{name}: a live simulation", text, height)
