"""Text in figures."""


def with_unit(label: str, unit: str) -> str:
    return f"{label} ({unit})" if unit else label


def literal(label: str) -> str:
    """The label as it is: no mathematics between dollars, and not hidden for its underscore."""
    text = label.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
