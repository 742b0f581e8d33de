"""Numba's reasons for refusing a user's function, as its author would say them."""

import linecache
import re
from typing import Any

from saltus.dynamics.users.source import place
from saltus.number.python.selection import REFUSED

STRUCTS = {"Model": "m", "Data": "d", "Episode": "e"}


def explained(what: str, function: Any, text: str) -> str:
    """A message of one line: what was to be compiled, file, line, the line's text, and why that cannot be."""
    file = function.__code__.co_filename
    lines = re.findall(rf'File "{re.escape(_shown(file, text))}", line (\d+)', text)
    line = int(lines[0]) if lines else None
    written = linecache.getline(file, line).strip() if line else ""
    where = f"{what}: {place(function, line)}"
    return ": ".join(part for part in (where, written, reason(text)) if part)


def _shown(file: str, text: str) -> str:
    """A file as Numba's message names it: the end of its path."""
    found = re.findall(r'File "([^"]+)", line', text)
    return next((x for x in reversed(found) if file.endswith(x.removeprefix("../").lstrip("./"))), file)


def reason(text: str) -> str:
    """Why Numba refuses a function, in few words."""
    refused = re.search(rf"{REFUSED}([^\n]+)", text)
    if refused:
        return refused[1]
    missing = re.search(r"Unknown attribute '(\w+)' of type (Model|Data|Episode)", text)
    if missing:
        return f"{STRUCTS[missing[2]]} has no field {missing[1]!r}"
    if re.search(r"getitem\(\S*(Field|UniTuple|Tuple)\(.*(lane|dual|float)", text):
        return "an index must be a whole number that is the same in all simulations"
    if (
        re.search(r"range\S*.*(lane|dual|float)", text)
        and "No implementation of function Function(<class 'range'>)" in text
    ):
        return "range needs whole numbers that are the same in all simulations"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    useful = [line for line in lines if not re.match(r"(Failed in|During: |File |- |>>>|\^|<source|\d+\))", line)]
    return useful[0] if useful else text
