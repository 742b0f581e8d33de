"""What terms see as `e`: the episode of a simulation, as a flat struct beside the kernels' Model and Data."""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from saltus.env.random import NRANDOM
from saltus.errors import OptionError
from saltus.number.structs import LAYOUTS, Layout, ints, reals

# kept from step to step, as are what an environment adds; then what one step makes
KEPT = ("steps", "action", "previous_action")
MADE = ("terminated", "dt", "values", "observation")
RESERVED = {*KEPT, *MADE, "random"}


class Added(NamedTuple):
    """The fields that an environment adds: how many numbers each holds, 0 for one that is not indexed."""

    parameters: Mapping[str, int]
    memory: Mapping[str, int]
    ids: tuple[str, ...]
    disturbances: Mapping[str, tuple[int | str, ...]] = MappingProxyType({})  # shapes of what these keep


def episode_layout(added: Added) -> Layout:
    """The layout of `e` with an environment's own fields; equal fields have one layout."""
    own = {**added.parameters, **added.memory}
    for name in (*own, *added.ids):
        if name in RESERVED or name in added.disturbances or not name.isidentifier() or name.startswith("_"):
            raise OptionError(f"an environment cannot have a parameter, memory or id with the name {name!r}")
    names = [*added.parameters, *added.memory, *added.ids]
    if len(set(names)) < len(names):
        raise OptionError("parameters, memory and ids of an environment must have different names")
    fields = reals("steps") | reals("action", "previous_action", shape=("naction",))
    for name, size in own.items():
        fields |= reals(name, shape=(size,) if size else ())
    for name, shape in added.disturbances.items():
        fields |= reals(name, shape=shape)
    fields |= reals("terminated", "dt") | reals("values", shape=("nvalue",))
    fields |= reals("observation", shape=("nobservation",))
    fields |= ints("random", shape=("width", NRANDOM)) | ints(*added.ids)
    name = "Episode_" + hashlib.sha256(repr(fields).encode()).hexdigest()[:12]
    return LAYOUTS.get(name) or Layout(name, fields)
