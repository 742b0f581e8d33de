"""`saltus study`: measure the effects of several changes to a model, separately and combined."""

from __future__ import annotations

from typing import Annotated

import typer

from saltus.cli.shared.options import (
    AnyWorker,
    Cluster,
    Csv,
    IntegratorName,
    Plot,
    Results,
    Timestep,
    Workers,
    workers_of,
)
from saltus.cli.studies.sweep import Files, show
from saltus.terminal import screen


def study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the study: trampoline.")],
    integrator: IntegratorName = None,
    timestep: Timestep = None,
    workers: Workers = None,
    cluster: Cluster = None,
    any_worker: AnyWorker = False,
    save: Results = None,
    csv: Csv = None,
    plot: Plot = None,
) -> None:
    """Measure the effect of each of several changes to a model, separately and combined."""
    files = Files(save, csv, plot)
    files.check()
    from saltus.study.studies import study

    with screen.Activity() as activity, screen.collected_warnings() as warned:
        update = activity.progress(f"studying {name}")
        options = {"integrator": integrator, "timestep": timestep}
        options |= {"workers": workers_of(workers, cluster), "reproducible": not any_worker}
        table = study(name, save=files.save, progress=update, **options)
    show(table, files, warned)
