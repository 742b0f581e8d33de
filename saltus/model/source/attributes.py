"""The attributes of an element in XML text, found as bytes in time proportional to their length.

A regular expression that searches for an attribute anywhere in an element tries each of its letters as the attribute's
first one: on 200 kB without an end, a minute. Here each attribute is matched where the one before it ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

VALUED = re.compile(rb"""\s*([^\s=<>/"']+)\s*=\s*("[^"]*"|'[^']*')""")
CUT_OFF = re.compile(rb"""\s*([^\s=<>/"']+)\s*=\s*(?:"[^"]*|'[^']*)\Z""")


class Attribute(NamedTuple):
    """An attribute: its name, and where its value, quotes included, begins and ends in the text."""

    name: bytes
    begin: int
    end: int


def attributes(content: bytes, at: int) -> Iterator[Attribute]:
    """The attributes of an element one after another, from the place where its tag ends.

    Scans from several elements, of which some may stand in values or comments, are linear together: two scans outside
    of quotes, or inside of the same kind of quotes, cannot be at one place, since quotes move each between them.
    """
    while found := VALUED.match(content, at):
        yield Attribute(found[1], *found.span(2))
        at = found.end()


def cut_off(content: bytes, at: int) -> bytes | None:
    """Name of the attribute in whose value the text ends; None if it ends elsewhere. `at`: as for `attributes`."""
    for attribute in attributes(content, at):
        at = attribute.end
    found = CUT_OFF.match(content, at)
    return None if found is None else found[1]
