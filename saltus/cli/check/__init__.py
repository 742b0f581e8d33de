"""`saltus check`: report the contents and supported features of a model, or compare engine and equations."""

from __future__ import annotations

from typing import Annotated

import typer

from saltus.cli.shared.options import Ignore, ModelArgument


def check(
    context: typer.Context,
    model: ModelArgument,
    ignore: Ignore = None,
    twin: Annotated[
        bool, typer.Option("--twin", help="Derive the equations of motion and compare them with the engine.")
    ] = False,
    orientation: Annotated[
        str, typer.Option(metavar="NAME", help="For --twin: relative, absolute or maximal coordinates.")
    ] = "relative",
    states: Annotated[int, typer.Option(metavar="N", min=1, help="For --twin: number of random states.")] = 20,
) -> None:
    """Report what a model contains, what is simulated, stable timesteps, and settings that are reinterpreted.

    Exits with 1 if `saltus run` would refuse the model or, with --twin, if the equations and the engine disagree.
    """
    if twin:
        from saltus.cli.check.twin import check_twin

        check_twin(model, orientation, states, ignore or [])
        return
    for option in ("orientation", "states"):
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter("requires --twin", context, param_hint=f"--{option}")
    from saltus.cli.check.model import check_model

    check_model(model, ignore or [])
