"""`saltus sweep`: run a model over a grid of values and measure each run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from saltus.cli.shared.completion import complete_paths
from saltus.cli.shared.options import (
    AnyWorker,
    Cluster,
    Csv,
    Duration,
    Ignore,
    IntegratorName,
    Key,
    Law,
    ModelArgument,
    Plot,
    Results,
    Timestep,
    Workers,
    workers_of,
)
from saltus.cli.shared.units import seconds
from saltus.cli.shared.values import parse_sets
from saltus.cli.shared.watching import watch_option
from saltus.errors import OptionError
from saltus.terminal import screen
from saltus.terminal.screen import INTERRUPTED

if TYPE_CHECKING:
    from saltus.record.sweep import Sweep

LONG = 18  # most characters of a header in one line
USUAL = ("energy_drift", "wall_time")  # default measures


class Files(NamedTuple):
    """Output files; None: not written."""

    save: Path | None = None
    csv: Path | None = None
    plot: Path | None = None

    def check(self) -> None:
        """Raise the errors that writing would raise, before the sweep."""
        from saltus.record.files.atomic_write import check_writable

        given = [path.resolve() for path in self if path is not None]
        if len(set(given)) < len(given):
            raise OptionError("--save, --csv and --plot must be different files")
        if self.plot is not None:
            from saltus.record.plot.trajectory import check_figure

            check_figure(self.plot)
        if self.csv is not None:
            check_writable(self.csv, what="table")


def sweep(
    model: ModelArgument,
    set_: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="PATH=A,B,...",
            help="Values to try, e.g. 'body_mass[bob]=1,2,4'; repeatable.",
            autocompletion=complete_paths,
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Quantity to measure, e.g. 'height[ball].apex'; repeatable. See docs/howto/sweep.md."
        ),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Pair values element by element instead of taking all combinations.")
    ] = False,
    duration: Duration = 10.0,
    integrator: IntegratorName = None,
    contact: Law = "soft",
    timestep: Timestep = None,
    sample: Annotated[float | None, typer.Option(parser=seconds, metavar="S", help="Sampling period in s.")] = None,
    key: Key = None,
    ignore: Ignore = None,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="Number of runs, with values drawn from distributions.")
    ] = None,
    sobol: Annotated[bool, typer.Option("--sobol", help="Draw values from Sobol's sequence.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random values.")] = 0,
    workers: Workers = None,
    cluster: Cluster = None,
    any_worker: AnyWorker = False,
    save: Results = None,
    csv: Csv = None,
    plot: Plot = None,
    watch: Annotated[
        Path | None,
        typer.Option(
            "--watch",
            metavar="F.zarr",
            help="Show the progress of the sweep that writes this store, until it is complete.",
            callback=watch_option,
            is_eager=True,
        ),
    ] = None,
) -> None:
    """Run a model over a grid of values, in parallel, and measure each run.

    PATH is a value of the model (body_mass[bob], opt.timestep), an attribute in its file (geom[ball]/size), part of the
    initial state (qpos[hinge]), integrator or contact. With --samples, values may be uniform(1,2), loguniform(1,100) or
    normal(0,0.1). Ctrl-C ends the sweep early; with --save the same command
    resumes it.
    """
    files = Files(save, csv, plot)
    files.check()
    values = parse_sets(set_)
    from saltus.study.sweep import sweep

    options: dict[str, Any] = {"integrator": integrator, "contact": contact, "timestep": timestep, "sample": sample}
    options["key"] = int(key) if key is not None and key.removeprefix("-").isdigit() else key
    options |= {"together": together, "ignore": ignore or [], "samples": samples, "seed": seed}
    options |= {"sampling": "sobol" if sobol else "random"}
    options |= {"workers": workers_of(workers, cluster), "reproducible": not any_worker}
    with screen.Activity() as activity, screen.collected_warnings() as warned:
        update = activity.progress("sweeping")
        table = sweep(model, values, measure or USUAL, duration, save=files.save, progress=update, **options)
    show(table, files, warned)


def show(table: Sweep, files: Files, warned: list[str]) -> None:
    """Print a table, write its files, and exit with 130 if the sweep was interrupted."""
    print_table(table)
    for warning in warned:
        screen.say_warning(str(warning))
    if files.save is not None and files.save.exists():
        typer.echo(f"wrote {files.save} (results)")
    if files.csv is not None:
        table.to_csv(files.csv)
        typer.echo(f"wrote {files.csv} (table)")
    if files.plot is not None:
        table.plot(files.plot)
        typer.echo(f"wrote {files.plot} (figure)")
    if table.interrupted:
        raise typer.Exit(INTERRUPTED)


def print_table(table: Sweep) -> None:
    from rich.table import Table

    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    rows = [table.headers(), *table.cells()]
    for k, header in enumerate(rows[0]):
        numbers = all(re.fullmatch(r"-|[-+.e\d]+|nan|inf", row[k]) for row in rows[1:])
        shown.add_column(_folded(header), justify="right" if numbers else "left", overflow="fold")
    for cells in rows[1:]:
        shown.add_row(*cells)
    print(table.title)
    screen.console().print(shown)
    for line in table.footer():
        print(line)


def _folded(header: str) -> str:
    """Break a long header between the parts of a path or a measure."""
    return re.sub(r"(?<=[\w\]])(?=/)|(?<=\])(?=[.[])|(?= \()", "\n", header) if len(header) > LONG else header
