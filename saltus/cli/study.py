"""`saltus study`: the effect of each of several changes to a model, separately and combined."""

from __future__ import annotations

from saltus.cli.sweep import Files, show
from saltus.terminal import screen


def run_study(name: str, integrator: str | None, timestep: float | None, workers: int | None, files: Files) -> None:
    """Run the study, print its table, write the files."""
    files.check()
    from saltus.study.studies import study

    with screen.Activity() as activity, screen.collected_warnings() as warned:
        update = activity.progress(f"studying {name}")
        options = {"integrator": integrator, "timestep": timestep, "workers": workers}
        table = study(name, save=files.save, progress=update, **options)
    show(table, files, warned)
