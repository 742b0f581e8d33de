"""Models for searches that keep geoms apart, and which of their pairs count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import number, several, words
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.number.structs import Struct

WHY = "keeping geoms apart"
MOST = 48  # contacts that act on a search at a time
WEIGHT = 1e4  # of violated distances, on their squares, where targets have 1


def distance_and_pairs(collision: Any) -> tuple[float, tuple[tuple[str, str], ...] | None]:
    """The wanted distance (m), and the pairs of geoms by name, None for all."""
    pairs = None
    if isinstance(collision, tuple | list):
        if len(collision) != 2:
            raise OptionError(f"collision must be a distance, or (distance, pairs of geoms), got {collision!r}")
        collision, given = collision
        pairs = tuple(_pair(each) for each in several("collision", given))
    distance = number("collision", collision)
    if not 0 <= distance < np.inf:
        raise OptionError(f"collision must be a distance of at least 0 m, got {distance:g}")
    return distance, pairs


def _pair(value: Any) -> tuple[str, str]:
    names = words("collision", value)
    if len(names) != 2:
        raise OptionError(f"collision takes pairs of geoms, got {value!r}")
    return names[0], names[1]


def with_margins(model: Model, distance: float) -> Model:
    """A copy of the model that detects contacts from this distance (m) on."""
    m = model.mujoco
    m.geom_margin[:], m.geom_gap[:] = 0.5 * distance, 0.0
    m.pair_margin[:], m.pair_gap[:] = distance, 0.0
    m.opt.o_margin = distance
    return model.with_values_of(m, {})


def kept_pairs(model: Model, m: Struct, pairs: Sequence[tuple[str, str]] | None) -> NDArray[np.int64]:
    """For each pair that may touch whether it counts.

    OptionError: a listed pair never touches in this model, or none can at all.
    """
    first, second = m.views["collision_geom1"], m.views["collision_geom2"]
    geoms = (first >= 0) & (second >= 0)
    if pairs is None:
        if not geoms.any():
            raise OptionError("collision: no two geoms of this model can touch (contype, conaffinity, <exclude>)")
        return geoms.astype(np.int64)
    kept = np.zeros(len(first), np.int64)
    for one, other in pairs:
        a, b = model.id("geom", one), model.id("geom", other)
        found = geoms & (((first == a) & (second == b)) | ((first == b) & (second == a)))
        if not found.any():
            raise OptionError(
                f"collision: the geoms {one!r} and {other!r} never touch in this model; name them as a <pair> in "
                "<contact>, or change their contype and conaffinity"
            )
        kept[found] = 1
    return kept
