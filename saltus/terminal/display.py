"""What things look like: counts with their plurals, and the way to their displays in notebooks."""

from __future__ import annotations

from saltus.offered import offered


def count(number: int, thing: str) -> str:
    """ "1 joint", "2 joints", "3 bodies"."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    plural = plural if not thing.endswith("degree of freedom") else thing.replace("degree", "degrees")
    return f"{number} {thing if number == 1 else plural}"


def notebook_html(thing: object) -> str | None:
    """The `_repr_html_` of classes: what a notebook shows of one of their objects.

    Displays draw and measure, so they are in a room above all that is displayed, `saltus.notebook`, which is loaded
    when the first one is asked for.
    """
    return offered("html_of")(thing)
