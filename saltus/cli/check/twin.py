"""`saltus check --twin`: compare the engine with equations derived by Lagrange's method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.symbolic.equations import Equations
    from saltus.symbolic.twin import Twin


def check_twin(source: str, orientation: str, states: int, ignore: list[str]) -> None:
    """Derive the equations, compare them with the engine and print the result; exit with 1 if they disagree."""
    from saltus.model.load import load
    from saltus.symbolic.equations import derive
    from saltus.symbolic.twin import compare_with_engine

    model = load(source, ignore=ignore)
    with screen.Activity(), screen.collected_warnings():
        equations = derive(model, orientation)
        twin = compare_with_engine(equations, states)
    screen.print_facts(_facts(equations, states))
    _print_differences(twin)
    if not twin.agrees():
        print("\nequations and engine disagree")
        raise typer.Exit(1)
    print("\nequations and engine agree")


def _facts(equations: Equations, states: int) -> list[tuple[str, str]]:
    constraints = len(equations.derivation.jacobian)
    size = screen.count(len(equations.derivation.bias), "equation")
    size += f" and {screen.count(constraints, 'constraint')}" if constraints else ""
    operations = equations.count_ops()
    kinds = {
        "additions": operations.additions,
        "multiplications": operations.multiplications,
        "divisions": operations.divisions,
        "functions": operations.functions,
    }
    parts = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    facts = [
        ("model", equations.model.name),
        ("equations", f"{size} in {equations.orientation} coordinates"),
        ("derived in", f"{sum(equations.timings.values()):.2g} s"),
        ("operations", f"{operations.total:,}{f' ({parts})' if parts else ''}"),
        ("states", f"{states}, random"),
    ]
    return facts + [("left out", text) for text in equations.left_out] + screen.ignored_facts(equations.model.ignored)


def _print_differences(twin: Twin) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in ("quantity", "largest relative difference", "where", "verdict"):
        table.add_column(header, overflow="fold")
    for row in twin.rows():
        table.add_row(*row)
    print()
    screen.console().print(table)
