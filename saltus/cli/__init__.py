"""The command line: `saltus run | replay | compare | sweep | study | check | derive | lab | page | env | identify |
models | bench | verify | warm | cache`.

Errors are one line on stderr, "error: ...", warnings are "warning: ...", whoever issues them.

Each command has its own file, with options and help in the function of the command's name. Heavy modules are imported
only by commands that need them, so that `saltus --help` answers at once.
"""

import re
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.main import get_command

from saltus.cli import (
    cache,
    check,
    contact_law,
    derive,
    env,
    identify,
    lab,
    models,
    page,
    replay,
    run,
    verify,
    warm,
)
from saltus.cli.bench import bench_app
from saltus.cli.shared.brackets import keep_brackets
from saltus.cli.studies import compare, study, sweep
from saltus.errors import SaltusError
from saltus.terminal.screen import INTERRUPTED, say_error, say_warning
from saltus.version import __version__

app = typer.Typer(
    name="saltus",
    help="Multibody dynamics with any integrator, batches of thousands of simulations, and error estimates.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(bench_app, name="bench")
for command in (
    *(run.run, replay.replay, compare.compare, sweep.sweep, contact_law.contact_law, study.study, lab.lab),
    *(
        check.check,
        derive.derive,
        page.page,
        env.env,
        identify.identify,
        verify.verify,
        warm.warm,
        cache.cache,
        models.models,
    ),
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _saltus(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"saltus {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exit with 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        _tolerate(stream)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            code = keep_brackets(get_command(app))(arguments, prog_name="saltus", standalone_mode=False)
        except SaltusError as error:
            say_error(_in_options(str(error)))
            sys.exit(1)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            sys.exit(INTERRUPTED)
        except typer.Abort:
            say_error("aborted")
            sys.exit(1)
        except Exception as error:
            if not hasattr(error, "format_message"):  # not wrong usage
                raise
            sys.exit(_wrong_usage(error))
    sys.exit(code if isinstance(code, int) else 0)


def _wrong_usage(error: Any) -> int:
    """Say how a command line was not understood, and where its help is; returns the exit code."""
    context = getattr(error, "ctx", None)
    if "NoArgsIsHelp" in type(error).__name__:
        error.show()
    else:
        command = context.command_path if context is not None else "saltus"
        say_error(f"{error.format_message()}\ntry: {command} --help")
    return error.exit_code


def _show_warning(message: Warning | str, *place: Any, **others: Any) -> None:
    """Print a warning in the style of errors: the file and line are those of a program that the user did not write."""
    say_warning(" ".join(str(message).split()))


def _in_options(text: str) -> str:
    """Rewrite Python's `ignore=[...]` in a message as command-line options."""
    option = lambda found: " ".join(f"--ignore {word}" for word in re.findall(r"\w+", found[1]))  # noqa: E731
    return re.sub(r"ignore=\[([^]]+)\]", option, text)


def _tolerate(stream: Any) -> None:
    """Make a stream replace characters that the terminal cannot show by question marks instead of raising errors."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
