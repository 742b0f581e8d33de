"""Text in figures and tables."""

import re


def with_unit(label: str, unit: str) -> str:
    return f"{label} ({unit})" if unit else label


def in_brackets(prefix: str, label: str) -> str:
    """A label's full name: "sensor[gyro][0]" for "gyro[0]"."""
    name, bracket, place = label.rpartition("[")
    if bracket and name and place[:-1].isdigit() and place.endswith("]"):
        return f"{prefix}[{name}][{place}"
    return f"{prefix}[{label}]"


def readable(name: str, kind: str) -> str:
    """A name for readers: "joint 3" for the third of its kind, which has no name of its own and is called "#3"."""
    return re.sub(r"#(?=\d+\b)", f"{kind} ", name)


def literal(label: str) -> str:
    """The label as plain text: no mathematics between dollars, and not hidden for its underscore."""
    text = label.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
