"""Inputs: parameters and memory of an environment that a person sets while it is played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from saltus.arguments import mapping, number, several, text_of
from saltus.errors import OptionError

#: Name of an input, its least and largest value, and optionally its unit.
InputRange: TypeAlias = tuple[str, float, float] | tuple[str, float, float, str]


@dataclass(frozen=True)
class Input:
    """Number `index` of the parameter or memory `field`, with a label and a range for people."""

    field: str
    index: int
    label: str
    low: float
    high: float
    unit: str = ""

    @property
    def id(self) -> str:
        """Id of the input's slider."""
        return f"{self.field}[{self.index}]"


def inputs(name: str, given: object, sizes: Mapping[str, int]) -> tuple[Input, ...]:
    """Check and list the declared inputs of the environment `name`; `sizes` of its fields are 0 for single numbers."""
    found: list[Input] = []
    for field, declared in mapping(f"{name}: inputs", given).items():
        if field not in sizes:
            raise OptionError.unknown(f"parameter or memory for an input of {name}", field, sizes)
        rows = [declared] if sizes[field] == 0 else several(f"{name}: inputs[{field!r}]", declared)
        if len(rows) != max(sizes[field], 1):
            raise OptionError(f"{name}: inputs[{field!r}] must have {sizes[field]} ranges, one for each number")
        found += [_input(f"{name}: inputs[{field!r}]", field, k, row) for k, row in enumerate(rows)]
    labels = [one.label for one in found]
    if len(set(labels)) < len(labels):
        raise OptionError(f"{name}: inputs must have different names")
    return tuple(found)


def _input(name: str, field: str, index: int, row: Sequence[object]) -> Input:
    if isinstance(row, str) or not isinstance(row, Sequence) or not 3 <= len(row) <= 4:
        raise OptionError(f"{name} must be (name, least, largest) or (name, least, largest, unit), got {row!r}")
    label, low, high, *unit = row
    made = Input(field, index, text_of(name, label), number(name, low), number(name, high), *map(str, unit))
    if not made.low < made.high:
        raise OptionError(f"{name}: {made.low:g} to {made.high:g} is not a range")
    return made
