"""`saltus contact-law`: the physical meaning of soft-contact parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from saltus.errors import OptionError


def show_contact_law(solref: str, solimp: str, plot: Path | None, **options: Any) -> None:
    """Print the table, draw the figure."""
    if plot is not None:
        from saltus.record.plot.trajectory import check_figure

        check_figure(plot)
    from saltus.simulate.soft_contact.analysis import contact_law

    law = contact_law(_numbers("--solref", solref), _numbers("--solimp", solimp), **options)
    typer.echo(str(law))
    if plot is not None:
        law.plot(plot)
        typer.echo(f"wrote {plot} (figure)")


def _numbers(option: str, text: str) -> list[float]:
    """Numbers with commas or blanks between."""
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise OptionError(f"{option}: expected comma-separated numbers, got {text!r}") from None
