"""Randomization of episodes: fields of the model and parameters with values drawn at random."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import flag, several
from saltus.arguments import words as words_of
from saltus.env.distributions import Distribution, Lookup
from saltus.env.observation import joint_span, place_number
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.model.vary.fields import MAY_VARY, value_of

TIMES = ("reset", "start")
OPERATIONS = ("scale", "add", "set")
#: Kinds of objects by the prefixes of their fields' names.
KINDS = {"body": "body", "jnt": "joint", "geom": "geom", "site": "site", "tendon": "tendon", "actuator": "actuator"}
KINDS |= {"eq": "equality", "pair": "pair"}


@dataclass(frozen=True, init=False)
class Randomize:
    """A random draw of values of the model's fields or of a parameter.

    Attributes:
        what: a field of MuJoCo's model that may vary, with or without indices ("body_mass[torso]", "dof_damping",
            "geom_friction[floor, 0]", "opt.gravity[2]"), or one of the environment's parameters. Indices are names,
            numbers or slices; names in dof_... and qpos_... are names of joints. In a list of fields, each draw acts on
            the corresponding part of all fields, as on a body's mass and its three moments of inertia.
        distribution: `uniform(low, high)`, `log_uniform(low, high)`, `normal(mean, deviation)` or `choice(values)`,
            whose bounds may be names of parameters of the environment.
        on: "reset": draw for each episode; "start": draw once when the environment is made, and when it is seeded.
        operation: the drawn number scales the nominal value ("scale"), is added to it ("add") or replaces it ("set").
        together: one draw for all numbers instead of one for each.

    Nominal values are those of the model and the environment's parameters until others are assigned to
    `envs.model.FIELD` or `envs.parameters[NAME]`; assigned values apply at once and are randomized from the next
    episode on. Several randomizations of one number are applied in their order.
    """

    what: tuple[str, ...]
    distribution: Distribution
    on: str
    operation: str
    together: bool

    def __init__(
        self,
        what: str | Sequence[str],
        distribution: Distribution,
        on: str = "reset",
        operation: str = "scale",
        together: bool = False,
    ):
        names = tuple(words_of("Randomize: what", what))
        if not names:
            raise OptionError("Randomize: what must name a field or a parameter")
        label = f"Randomize({', '.join(names)})"
        if not isinstance(distribution, Distribution):
            raise OptionError(f"{label}: expected a distribution, such as uniform(0.8, 1.2), got {distribution!r}")
        if on not in TIMES:
            raise OptionError.unknown(f"time of {label}", on, TIMES)
        if operation not in OPERATIONS:
            raise OptionError.unknown(f"operation of {label}", operation, OPERATIONS)
        given = {"what": names, "distribution": distribution, "on": on, "operation": operation}
        for name, value in {**given, "together": flag("together", together)}.items():
            object.__setattr__(self, name, value)

    @property
    def label(self) -> str:
        """Name of the randomization in error messages."""
        return f"Randomize({', '.join(self.what)})"

    def apply(self, value: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply drawn numbers to values [n, ...]."""
        if self.operation == "scale":
            return value * drawn
        return value + drawn if self.operation == "add" else np.broadcast_to(drawn, value.shape)


class Target(NamedTuple):
    """Target of a `Randomize`: a field or parameter, and flat indices of its numbers."""

    name: str
    places: NDArray[np.int64]


def randomizations(given: Any) -> list[Randomize]:
    """Return the randomizations declared by an environment as a list; a single one counts as a list."""
    found = [given] if isinstance(given, Randomize) else several("randomize", given)
    for one in found:
        if not isinstance(one, Randomize):
            raise OptionError(f"randomize consists of saltus.env.Randomize, not of {one!r}")
    return found


def split(what: str) -> tuple[str, list[str]]:
    """Split the target of a `Randomize` into its name and its indices."""
    match = re.fullmatch(r"\s*((?:opt\.)?\w+)\s*((?:\[[^\[\]]+\]\s*)*)", what)
    if match is None:
        raise OptionError(f"Randomize({what}): expected a field, or one with indices, such as 'body_mass[torso]'")
    return match[1], [part.strip() for inside in re.findall(r"\[([^\[\]]*)\]", match[2]) for part in inside.split(",")]


def fields_of(given: Collection[Randomize], parameters: Collection[str]) -> list[str]:
    """Names of the model's fields that are randomized; OptionError if a name is neither a field nor a parameter."""
    names = dict.fromkeys(split(what)[0] for one in given for what in one.what)
    for name in names:
        if name not in MAY_VARY and name not in parameters:
            raise OptionError.unknown("field or parameter of a Randomize", name, [*parameters, *MAY_VARY])
    return [name for name in names if name not in parameters]


def targets(one: Randomize, model: Model, parameters: Mapping[str, NDArray[np.float64]]) -> list[Target]:
    """Targets of a `Randomize`; OptionError unless their counts of numbers are multiples of the smallest."""
    found = [_target(what, model, parameters) for what in one.what]
    count = min(len(target.places) for target in found)
    for target in found:
        if not one.together and len(target.places) % count:
            raise OptionError(
                f"{one.label}: {target.name} has {len(target.places)} numbers there, not a multiple of {count}"
            )
    return found


def count_of(one: Randomize, where: Sequence[Target]) -> int:
    """Count of numbers that a `Randomize` draws."""
    return 1 if one.together else min(len(target.places) for target in where)


def check_bounds(one: Randomize, given: Collection[Randomize], parameters: Mapping[str, NDArray[np.float64]]) -> None:
    """Raise OptionError if a bound is not a parameter, not a single number, or itself drawn at random."""
    drawn = {split(what)[0] for other in given for what in other.what}
    for name in one.distribution.parameters():
        if name not in parameters:
            raise OptionError.unknown(f"parameter in {one.label}", name, parameters)
        if parameters[name].ndim:
            raise OptionError(f"{one.label}: {name} must be one number")
        if name in drawn:
            raise OptionError(f"{one.label}: its bound {name} is itself drawn at random")


def lookup_of(index: NDArray[np.int64], nominal: Mapping[str, NDArray[np.float64]]) -> Lookup:
    """A function that returns a parameter of the simulations `index` by its name."""
    return lambda name: nominal[name][index, 0]


def _target(what: str, model: Model, parameters: Mapping[str, NDArray[np.float64]]) -> Target:
    name, index = split(what)
    shape = np.shape(parameters[name]) if name in parameters else np.shape(value_of(model.mj_model, name))
    places = np.arange(max(1, int(np.prod(shape)))).reshape(shape)
    named = name not in parameters and not name.startswith("opt.")
    try:
        parts = [_place(part, name, model) if k == 0 and named else place_number(part) for k, part in enumerate(index)]
        found = np.atleast_1d(places[tuple(parts)]).reshape(-1)
    except OptionError:  # of an unknown name
        raise
    except (IndexError, ValueError):
        raise OptionError(f"Randomize({what}): {name} has shape {places.shape}") from None
    if not found.size:
        raise OptionError(f"Randomize({what}): there is no such index in {name}")
    return Target(name, found)


def _place(text: str, field: str, model: Model) -> int | slice:
    """Resolve a first index, a number, a slice or a name, of a field."""
    try:
        return place_number(text)
    except ValueError:
        prefix = field.partition("_")[0]
    if prefix == "dof":
        return joint_span(model, text, model.jnt_dofadr, model.nv)
    if prefix == "qpos":
        return joint_span(model, text, model.jnt_qposadr, model.nq)
    return model.id(KINDS[prefix], text)
