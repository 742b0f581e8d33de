"""Parameters: values of a model with sliders, chosen in its file or when the lab is opened.

`--parameter "body_mass[bob]=0.1:10"` on the command line, or in the model's file

    <custom>
      <text name="parameters" data="body_mass[bob] 0.1 10; dof_damping[hinge] 0 5; opt.gravity[2] -20 0"/>
    </custom>
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.model.model import Model

NAME = "parameters"  # of the text in the model's file
UNITS = {
    "body_mass": "kg",
    "body_scale_mass": "kg",
    "body_inertia": "kg m²",
    "body_pos": "m",
    "opt.gravity": "m/s²",
    "opt.density": "kg/m³",
    "opt.viscosity": "Pa s",
    "opt.wind": "m/s",
}


@dataclass(frozen=True)
class Parameter:
    """One number of the model (a key of `Model.changed`) and the bounds of its slider."""

    key: str
    low: float
    high: float

    @property
    def unit(self) -> str:
        """SI unit if the name of the field determines it, else ""."""
        return UNITS.get(self.key.partition("[")[0], "")


def marked(model: Model, more: Iterable[str] = ()) -> tuple[Parameter, ...]:
    """The parameters marked in the model's file, then others, "KEY=LOW:HIGH"; the last entry of a key counts.

    OptionError: an entry cannot be read, or is not a single number of this model.
    """
    found = {p.key: _checked(model, p) for p in [*_in_file(model), *map(parse, more)]}
    return tuple(found.values())


def parse(text: str) -> Parameter:
    """Read a parameter from "KEY=LOW:HIGH"; OptionError if that is not its form."""
    key, equals, bounds = text.rpartition("=")
    low, colon, high = bounds.partition(":")
    if not (equals and colon):
        raise OptionError(f"parameter {text!r}: expected KEY=LOW:HIGH, as body_mass[bob]=0.1:10")
    return _parameter(key.strip(), low, high, text)


def _in_file(model: Model) -> list[Parameter]:
    found = []
    for k, name in enumerate(model.names("text")):
        if name == NAME:
            start = int(model.text_adr[k])
            data = bytes(model.text_data)[start : start + int(model.text_size[k])].rstrip(b"\0").decode()
            for entry in filter(None, map(str.strip, data.split(";"))):
                words = entry.rsplit(maxsplit=2)
                if len(words) != 3:
                    raise OptionError(f"parameter {entry!r} in the model's file: expected KEY LOW HIGH")
                found.append(_parameter(words[0], words[1], words[2], entry))
    return found


def _parameter(key: str, low: str, high: str, text: str) -> Parameter:
    try:
        bounds = float(low), float(high)
    except ValueError:
        raise OptionError(f"parameter {text!r}: {low!r} and {high!r} are not two numbers") from None
    if not (all(map(math.isfinite, bounds)) and bounds[0] < bounds[1]):
        raise OptionError(f"parameter {text!r}: the first bound is not below the second")
    return Parameter(key, *bounds)


def _checked(model: Model, parameter: Parameter) -> Parameter:
    """Return the parameter; OptionError if it is not a single number of the model or a bound is not valid."""
    shape = np.shape(model.value(parameter.key))
    if shape:
        raise OptionError(f"parameter {parameter.key}: it has shape {shape}; {parameter.key}[0] is a single number")
    for bound in (parameter.low, parameter.high):
        model.changed({parameter.key: bound})
    return parameter
