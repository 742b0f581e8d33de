"""`saltus verify`: run benchmarks with external references on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.shared.options import Json
from saltus.errors import OptionError
from saltus.terminal import screen


def complete_benchmarks(incomplete: str) -> list[str]:
    """Names of benchmarks that begin with a text."""
    from saltus.verify.registry import benchmarks

    return [name for name in benchmarks() if name.startswith(incomplete)]


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Benchmarks (default: all).", autocompletion=complete_benchmarks),
    ] = None,
    family: Annotated[
        str | None, typer.Option(metavar="F", help="Only this family: smooth, contact_hard, ...; see --list.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the benchmarks with their sources and exit.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every quantity of all benchmarks.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with optional tables of other projects, adams/ and friction/."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a figure of each benchmark to this folder.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="F", help="Write a page with all results (.html).")
    ] = None,
    json: Json = None,
) -> None:
    """Compare Saltus with closed forms, published tables and orders, on this machine; exits with 1 if any fails."""
    from saltus.verify.registry import chosen

    found = chosen(names or [], family)
    if list_:
        _list(found)
        return
    _check_outputs(data, plot, html, json)
    from saltus.verify import report
    from saltus.verify.case import Benchmark, Data
    from saltus.verify.running import FAILED, run_benchmarks

    with screen.Activity() as activity:
        shown: list[str] = []

        def progress(benchmark: Benchmark, done: int) -> None:
            if shown:
                activity.end(shown.pop())
            shown.append(f"{done + 1}/{len(found)} {benchmark.name}")
            activity.show(shown[-1])

        outcomes = run_benchmarks(found, Data(data), progress)
    report.print_outcomes(outcomes, every or bool(names))
    if json is not None:
        report.write_json(outcomes, json)
        print(f"wrote {json} (results)")
    if html is not None:
        from saltus.record.files.atomic_write import write_whole
        from saltus.verify.page import whole_page

        write_whole(html, whole_page(outcomes).encode(), what="page")
        print(f"wrote {html} (page)")
    if plot is not None:
        written = report.write_figures(outcomes, plot)
        print(f"wrote {len(written)} figures to {plot}")
    if any(outcome.verdict == FAILED for outcome in outcomes):
        raise typer.Exit(1)


def _list(found: list) -> None:
    """Print name, title and source of each benchmark, family by family."""
    last = ""
    for benchmark in found:
        if benchmark.family != last:
            last = benchmark.family
            print(last)
        print(f"  {benchmark.name:28} {benchmark.title}")
        print(f"  {'':28} {benchmark.source}")


def _check_outputs(data: Path | None, plot: Path | None, html: Path | None, json: Path | None) -> None:
    """Raise the errors that writing would raise, before anything is run."""
    from saltus.record.files.atomic_write import check_writable
    from saltus.verify.report import prepare_folder

    if data is not None and not data.is_dir():
        raise OptionError(f"--data: no such folder: {data}")
    if html is not None:
        if html.suffix != ".html":
            raise OptionError(f"--html: the suffix of a page must be .html, got '{html}'")
        check_writable(html, what="page")
    if json is not None:
        check_writable(json, what="results")
    if plot is not None:
        prepare_folder(plot)
