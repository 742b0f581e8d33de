"""Text of counts with plurals, and access to the displays of notebooks."""

from __future__ import annotations

from saltus.offered import offered


def count(number: int, thing: str) -> str:
    """Format a count with its plural: "1 joint", "2 joints", "3 bodies"."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    plural = plural if not thing.endswith("degree of freedom") else thing.replace("degree", "degrees")
    return f"{number} {thing if number == 1 else plural}"


def notebook_html(thing: object) -> str | None:
    """HTML that a notebook shows for an object; the `_repr_html_` of classes.

    Displays depend on drawing and analysis. They are therefore in a package above the displayed classes,
    `saltus.notebook`, which is loaded when the first display is requested.
    """
    return offered("html_of")(thing)
