"""Numbers with units on the command line, in SI units: "90deg" is 1.5708, "10ms" is 0.01."""

import math
import re
from typing import Any

#: SI units in one of each unit; masses in g are left out, which people write for accelerations of gravity.
UNITS = {
    **{"rad": 1.0, "deg": math.pi / 180.0, "°": math.pi / 180.0, "rpm": math.pi / 30.0},
    **{"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0},
    **{"m": 1.0, "cm": 1e-2, "mm": 1e-3, "kg": 1.0, "N": 1.0, "kN": 1e3, "Nm": 1.0, "%": 1e-2},
}
TIMES = ("s", "ms", "us", "µs", "min")
NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.]+)\s*")


def number_of(text: str, units: Any = UNITS) -> float:
    """A number, with a unit or without. ValueError for other text."""
    found = NUMBER.fullmatch(text)
    if found is None or found[2] not in units:
        return float(text)
    return float(found[1]) * UNITS[found[2]]


def seconds(text: Any) -> float:
    """A time (s) as an option of a command takes it: "0.01", "10ms"."""
    import typer

    try:
        return number_of(str(text), TIMES)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a time; write seconds, as 0.01, or 10ms") from None
