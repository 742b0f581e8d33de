"""`saltus compare`: rank integrators on a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.cli.shared.completion import complete_integrators
from saltus.cli.shared.options import AnyWorker, Cluster, Duration, Ignore, ModelArgument, Plot, Timestep, workers_of
from saltus.cli.shared.units import seconds
from saltus.errors import OptionError
from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.record.comparison import Comparison


def compare(
    model: ModelArgument,
    integrators: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Comma-separated names (default: all).", autocompletion=complete_integrators
        ),
    ] = None,
    contact: Annotated[
        str,
        typer.Option(
            metavar="A,B,...", help="Contact laws: soft, hard or soft,hard.", autocompletion=complete_integrators
        ),
    ] = "soft",
    duration: Duration = 10.0,
    timestep: Timestep = None,
    sample: Annotated[float | None, typer.Option(parser=seconds, metavar="S", help="Sampling period in s.")] = None,
    ignore: Ignore = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of worker processes (default: 1; more disturb each other's timing)."),
    ] = None,
    cluster: Cluster = None,
    any_worker: AnyWorker = False,
    plot: Plot = None,
) -> None:
    """Run a model with several integrators and rank them by error, energy drift and cost."""
    if plot is not None:
        from saltus.record.plot.trajectory import check_figure

        check_figure(plot)
    names = None if integrators is None else names_in(integrators, "--integrators")
    laws = names_in(contact, "--contact")
    from saltus.model.load import load
    from saltus.study.compare import compare as compare_integrators

    loaded = load(model, ignore=ignore or [])
    with screen.Activity() as activity:
        update = activity.progress("comparing")

        def report(what: str, fraction: float) -> None:
            update(fraction)

        options: dict[str, Any] = {"timestep": timestep, "sample": sample, "progress": report}
        options |= {"workers": workers_of(workers, cluster) or 1, "reproducible": not any_worker}
        comparison = compare_integrators(loaded, names, laws, duration, **options)
    _print(comparison)
    if loaded.ignored:
        screen.print_facts(screen.ignored_facts(loaded.ignored))
    if plot is not None:
        comparison.plot(plot)
        print(f"wrote {plot} (figure)")


def names_in(text: str, option: str) -> list[str]:
    """Split a comma-separated list of names; OptionError if it is empty."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise OptionError(f"{option}: no names in {text!r}")
    return names


def _print(comparison: Comparison) -> None:
    from rich.table import Table

    from saltus.record.table.comparison_table import HEADERS

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in HEADERS:
        table.add_column(header, justify="left" if header in ("integrator", "kind") else "right", no_wrap=True)
    for cells in comparison.cells():
        table.add_row(*cells)
    print(comparison.title)
    screen.console().print(table)
    for line in comparison.footer():
        print(line)
