"""Arguments of users' functions against those that they are called with."""

import inspect
from typing import Any

from saltus.dynamics.users.source import place
from saltus.errors import OptionError


def check_signature(what: str, form: str, function: Any) -> None:
    """Raise OptionError unless a function can be called with the arguments of `form`, such as "law(m, d, z)"."""
    given = arguments_of(form)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*given)
    except TypeError:
        own = getattr(function, "__func__", function)
        raise OptionError(
            f"{what} must be {form}: it is called with {len(given)} argument{'s' * (len(given) != 1)}, but is "
            f"{own.__name__}{signature} ({place(own)}); write def {_name(own)}({', '.join(given)})"
        ) from None


def arguments_of(form: str) -> list[str]:
    """The arguments' names in a form such as "law(m, d, z)"."""
    return [x.strip() for x in form.partition("(")[2].partition(")")[0].split(",") if x.strip()]


def _name(function: Any) -> str:
    return function.__name__ if function.__name__.isidentifier() else "law"
