"""Help texts with brackets, which Rich would take for its markup: `qvel[hinge]=2` would lose the joint."""

from typing import Any


def keep_brackets(command: Any) -> Any:
    """Escape the brackets in all help texts of a Click command, its options and subcommands; return the command."""
    from rich.markup import escape

    command.help = command.help and escape(command.help)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = escape(parameter.help)
    for subcommand in getattr(command, "commands", {}).values():
        keep_brackets(subcommand)
    return command
