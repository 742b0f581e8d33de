"""`saltus derive`: show equations of motion and write them to files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.cli.shared.options import Ignore, ModelArgument
from saltus.cli.shared.units import seconds
from saltus.errors import OptionError, RecordError, SaltusError
from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.symbolic.equations import Equations

SIGNS = 2000  # most characters of a printed equation
OPERATIONS = 20_000  # most operations of printed equations


@dataclass(frozen=True)
class Files:
    """Output files; None: not written."""

    html: Path | None = None
    latex: Path | None = None
    python: Path | None = None
    c: Path | None = None

    def check(self) -> None:
        """Raise the errors that writing would raise, before deriving; OptionError for suffixes and duplicates."""
        from saltus.record.files.atomic_write import check_writable

        taken: dict[Path, str] = {}
        for option, path, suffixes in (
            ("--html", self.html, (".html", ".htm")),
            ("--latex", self.latex, (".tex",)),
            ("--python", self.python, (".py",)),
            ("--c", self.c, (".c",)),
        ):
            if path is None:
                continue
            if path.suffix.lower() not in suffixes:
                raise OptionError(f"the suffix of {option} must be {' or '.join(suffixes)}, got '{path}'")
            if path.resolve() in taken:
                raise OptionError(f"{taken[path.resolve()]} and {option} name the same file, '{path}'")
            taken[path.resolve()] = option
            check_writable(path, what="derivation")


def derive(
    model: ModelArgument,
    orientation: Annotated[
        str, typer.Option(metavar="relative|absolute|maximal", help="Coordinates; see docs/howto/lagrange.md.")
    ] = "relative",
    parameters: Annotated[
        str,
        typer.Option(
            metavar="numbers|symbols|textbook|F.json",
            help='Parameters as numbers, symbols, textbook symbols, or a file like {"body_mass[bob]": "m"}.',
        ),
    ] = "numbers",
    let: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=LETTER", help='Use a symbol for a number, e.g. "body_mass[bob]=m"; repeatable.'),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="F", help="Write the derivation as a web page (.html).")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="F", help="Write the derivation as LaTeX (.tex).")] = None,
    python: Annotated[Path | None, typer.Option(metavar="F", help="Write the equations as Python (.py).")] = None,
    c: Annotated[Path | None, typer.Option("--c", metavar="F", help="Write the equations as C (.c and .h).")] = None,
    simplify: Annotated[
        float | None, typer.Option(metavar="S", help="Simplify the equations, for at most S seconds.")
    ] = None,
    duration: Annotated[float, typer.Option(parser=seconds, metavar="S", help="Time shown on the page.")] = 10.0,
    integrator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Integrator for the page (default: SciPy's DOP853).")
    ] = None,
    ignore: Ignore = None,
) -> None:
    """Derive a mechanism's equations of motion by Lagrange's method, and show every step."""
    files = Files(html, latex, python, c)
    files.check()
    from saltus.model.load import load
    from saltus.symbolic.equations import derive
    from saltus.symbolic.show.page.sheet import Sheet

    chosen = chosen_parameters(model, parameters, let or [])
    with screen.collected_warnings() as warned:
        equations = derive(load(model, ignore=ignore or []), orientation, chosen)
        if simplify is not None:
            equations = equations.simplify(simplify)
    sheet = Sheet(equations, duration, integrator)
    screen.print_facts(facts(equations))
    for warning in warned:
        if not equations.left_out or not warning.startswith("not in the equations"):
            screen.say_warning(str(warning))
    with screen.Activity():
        errors = _write(sheet, files)
    for error in errors:
        screen.say_error(str(error))
    if errors:
        raise typer.Exit(1)


def chosen_parameters(model: str, parameters: str, let: list[str]) -> Any:
    """Return the argument `parameters` of `derive`: "numbers", "symbols", "textbook", or symbols by key."""
    from saltus.model.load import load
    from saltus.symbolic.show.letters import letters

    chosen: Any = letters(load(model), parameters)
    if parameters.endswith(".json"):
        chosen = _read(Path(parameters))
    if not let:
        return chosen
    if isinstance(chosen, str) and chosen == "symbols":
        raise OptionError("--let cannot be combined with --parameters symbols")
    given = {} if isinstance(chosen, str) else dict(chosen)
    for text in let:
        key, equals, letter = text.partition("=")
        if not equals or not key.strip() or not letter.strip():
            raise OptionError(f'--let must be like "body_mass[bob]=m", got {text!r}')
        given[key.strip()] = letter.strip()
    return given


def _read(path: Path) -> dict[str, str]:
    """Read symbols by key from a JSON file; OptionError if it is not valid."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"parameters: '{path}' cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"parameters: '{path}' is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise OptionError(f'parameters: \'{path}\' must contain an object like {{"body_mass[bob]": "m"}}')
    return {str(key): value for key, value in found.items()}


def facts(equations: Equations) -> list[tuple[str, str]]:
    """Facts to print about the equations and their derivation: (name, text)."""
    from saltus.symbolic.show.notation import Notation
    from saltus.symbolic.show.plain import plain
    from saltus.symbolic.show.step_frames import input_meanings
    from saltus.symbolic.show.step_terms import equations as written

    n, e = Notation(equations), equations
    count, seconds = e.count_ops(), e.timings
    out = [
        ("model", f"{e.model.name}: {screen.count(len(e.mechanism.bodies) - 1, 'body')}"),
        ("coordinates", f"{e.orientation}: {', '.join(plain(n.names[q]) for q in e.q)}"),
    ]
    if e.parameters:
        out.append(("parameters", ", ".join(f"{plain(n.names[s])} = {value:.6g}" for s, value in e.parameters.items())))
    if e.inputs:
        out.append(("inputs", ", ".join(f"{plain(n.names[s])}: {text}" for s, text in input_meanings(e).items())))
    if count.total > OPERATIONS:
        out.append(("equations", "too long to print: see --python and --c"))
    for i, equation in enumerate(written(e, n).values() if count.total <= OPERATIONS else []):
        text = plain(" ".join(n.rows("", equation)))
        shown = text if len(text) <= SIGNS else f"{len(text)} characters, see --python, --c or --latex"
        out.append((f"equation {i + 1}", shown))
    for k, phi in enumerate(e.constraints.values() if count.total <= OPERATIONS else []):
        text = plain(n.text(n.arranged(phi)))
        out.append((f"constraint {k + 1}", f"{text if len(text) <= SIGNS else f'{len(text)} characters'} = 0"))
    if n.rounded:
        out.append(("numbers", "long ones are shown with 10 digits; the code has all digits"))
    out.append(("operations", f"{count.total} for M and bias, including {count.functions} function calls"))
    steps = ", ".join(f"{name} {1000 * t:.3g} ms" for name, t in seconds.items() if t > 0)
    out.append(("derived in", f"{sum(seconds.values()):.3g} s: {steps}"))
    out += [("left out", text) for text in e.left_out]
    return out


def _write(sheet: Any, files: Files) -> list[SaltusError]:
    """Write all files that can be written; return the errors of the others."""
    from saltus.symbolic.show.page.latex import write_latex
    from saltus.symbolic.show.page.sheet import write_page

    e, options = sheet.equations, {"duration": sheet.duration, "integrator": sheet.integrator}
    writers: list[tuple[Path | None, Callable[[Path], Any], str]] = [
        (files.html, lambda path: write_page(e, path, **options), "derivation"),
        (files.latex, lambda path: write_latex(e, path, **options), "derivation"),
        (files.python, e.python, "Python code"),
        (files.c, e.c, "C code"),
    ]
    errors: list[SaltusError] = []
    for path, write, what in writers:
        if path is None:
            continue
        try:
            write(path)
            typer.echo(f"wrote {path} ({what})")
        except SaltusError as error:
            errors.append(error)
        except OSError as error:
            errors.append(RecordError(path, str(error), what=what))
    return errors
