"""`saltus contact-law`: the physical meaning of soft-contact parameters."""

from __future__ import annotations

from typing import Annotated

import typer

from saltus.cli.shared.options import Plot
from saltus.cli.shared.units import seconds
from saltus.errors import OptionError


def contact_law(
    solref: Annotated[str, typer.Option(metavar="A,B", help="solref of the contact.")] = "0.02,1",
    solimp: Annotated[str, typer.Option(metavar="A,B,...", help="solimp, or its first values.")] = "0.9,0.95,0.001",
    mass: Annotated[float, typer.Option(metavar="KG", help="Mass on the contact.")] = 1.0,
    gravity: Annotated[float, typer.Option(metavar="G", help="Gravity in m/s².")] = 9.81,
    timestep: Annotated[float, typer.Option(parser=seconds, metavar="H", help="Timestep in s.")] = 0.002,
    speed: Annotated[float, typer.Option(metavar="V", help="Impact speed in m/s.")] = 1.0,
    refsafe: Annotated[bool, typer.Option(help="Keep time constants at two timesteps or more.")] = True,
    plot: Plot = None,
) -> None:
    """Show how soft-contact parameters act on a mass: stiffness, damping, penetration, impact."""
    if plot is not None:
        from saltus.record.plot.trajectory import check_figure

        check_figure(plot)
    from saltus.simulate.soft_contact.analysis import contact_law

    load = {"mass": mass, "gravity": gravity, "timestep": timestep, "speed": speed}
    law = contact_law(_numbers("--solref", solref), _numbers("--solimp", solimp), **load, refsafe=refsafe)
    typer.echo(str(law))
    if plot is not None:
        law.plot(plot)
        typer.echo(f"wrote {plot} (figure)")


def _numbers(option: str, text: str) -> list[float]:
    """Parse numbers separated by commas or blanks; OptionError if one is not a number."""
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise OptionError(f"{option}: expected comma-separated numbers, got {text!r}") from None
