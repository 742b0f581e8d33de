"""`saltus models`: the bundled models, a line each, and pictures of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from saltus.errors import RecordError
from saltus.terminal import screen


def models(
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw each model at its start, as FOLDER/NAME.png.")
    ] = None,
) -> None:
    """List the bundled models, each with what it shows. `saltus lab NAME` opens one, `saltus run NAME` simulates it."""
    from saltus.model.source.bundled_names import BUNDLED
    from saltus.model.source.bundled_names import models as names

    texts = {name: _first_sentence((BUNDLED / f"{name}.xml").read_text(encoding="utf-8")) for name in names()}
    texts["n_link:N"] = "A planar pendulum of N links, each with a motor, as n_link:5."
    screen.print_facts(list(texts.items()))
    if pictures is not None:
        _draw(names(), pictures)


def _draw(names: list[str], folder: Path) -> None:
    from saltus.simulate.simulation import Simulation

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(folder, error.strerror or str(error), what="pictures") from None
    with screen.Activity():
        for name in names:
            Simulation(name).picture(folder / f"{name}.png")
    typer.echo(f"{len(names)} pictures in {folder}")


def _first_sentence(text: str) -> str:
    """The first sentence of the comment that a model's file begins with, in one line; "" without a comment."""
    found = re.search(r"\A\s*<!--\s*(.*?)(?:-->|\n\s*\n)", text, re.S)
    line = " ".join(found[1].split()) if found else ""
    return re.split(r"(?<=\.)\s|;\s", line, maxsplit=1)[0].rstrip(".") + "."
