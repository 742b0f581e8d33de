"""Help texts with brackets, which Rich would take for its markup: `qvel[hinge]=2` would lose the joint."""

import re
from typing import Any


def keep_brackets(command: Any) -> Any:
    """Escape the brackets in all help texts of a Click command, its options and subcommands; return the command."""
    command.help = command.help and _escaped(command.help)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = _escaped(parameter.help)
    for subcommand in getattr(command, "commands", {}).values():
        keep_brackets(subcommand)
    return command


def _escaped(text: str) -> str:
    """Escape as `rich.markup.escape` does, without importing Rich, which few commands need."""
    return re.sub(r"\[(?=[a-z#/@])", r"\\[", text)
