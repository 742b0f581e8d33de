"""Layout of `e`, the episode of a simulation: a flat struct that terms read beside the kernels' Model and Data."""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from saltus.env.random import NRANDOM
from saltus.errors import OptionError
from saltus.number.structs import LAYOUTS, Layout, ints, reals

# fields kept from step to step, as are those added by environments; then fields made by each step
KEPT = ("steps", "action", "previous_action")
MADE = ("terminated", "dt", "values", "observation")
RESERVED = {*KEPT, *MADE, "random"}


class Added(NamedTuple):
    """The fields that an environment adds to an episode, with their sizes; 0 for single numbers."""

    parameters: Mapping[str, int]
    memory: Mapping[str, int]
    ids: tuple[str, ...]
    disturbances: Mapping[str, tuple[int | str, ...]] = MappingProxyType({})  # shapes of their fields


def episode_layout(added: Added) -> Layout:
    """The layout of `e` with an environment's own fields; equal fields share one layout. OptionError: bad names."""
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
