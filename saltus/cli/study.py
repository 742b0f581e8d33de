"""`saltus study`: what each change of a model does, alone and all together."""

from __future__ import annotations

from typing import Annotated

import typer

from saltus.cli.options import Csv, IntegratorName, Plot, Results, Timestep, Workers
from saltus.cli.sweep import Files, show
from saltus.terminal import screen


def study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study: trampoline (what makes it bounce).")],
    integrator: IntegratorName = None,
    timestep: Timestep = None,
    workers: Workers = None,
    save: Results = None,
    csv: Csv = None,
    plot: Plot = None,
) -> None:
    """Measure what each change to a model does, alone and in combination."""
    files = Files(save, csv, plot)
    files.check()
    from saltus.study.studies import study

    with screen.Activity() as activity, screen.collected_warnings() as warned:
        update = activity.progress(f"studying {name}")
        options = {"integrator": integrator, "timestep": timestep, "workers": workers}
        table = study(name, save=files.save, progress=update, **options)
    show(table, files, warned)
