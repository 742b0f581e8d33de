"""Which contacts of deformable bodies are found by MuJoCo's functions, and the cached lists that avoid most calls."""

import mujoco
import numpy as np

from saltus.model.enums import BOX, CAPSULE, PLANE, SOLID, SPHERE
from saltus.model.flex.contacts import FlexPair

# of the shortest edge: in regular sheets and solids elements that are not joined are some 0.7 of it apart, so that with
# this reach none are listed at rest; and the least and the largest skin (see `saltus.contact.flex.self_collision`)
REACH, LEAST_SKIN, LARGEST_SKIN = 0.6, 0.15, 0.5
NEIGHBOURS, NEIGHBOURS_AT_LEAST = 4, 64  # pairs of elements that there is room for, by element and body


def is_foreign(m: mujoco.MjModel, pair: FlexPair) -> bool:
    """Whether contacts of a pair are found by MuJoCo: of what there is no kernel for.

    Of rigid bodies MuJoCo keeps fifty contacts at most, well spread; many are equally far from each other in regular
    grids, so that it is left to choose them. (Of bodies between nodes see `saltus.contact.flex.contact_reduction`.)
    """
    if pair.geom < 0 or m.flex_rigid[pair.flex2]:
        return True
    kind = m.geom_type[pair.geom]
    return kind not in (PLANE, SPHERE, CAPSULE) and not (kind == BOX and m.flex_dim[pair.flex2] != SOLID)


def foreign_words(m: mujoco.MjModel, pairs: list[FlexPair]) -> set[str]:
    """Features of the kernels that call MuJoCo: for any pair, for two deformable bodies, for one and itself."""
    words = {"flexforeign"} if any(is_foreign(m, pair) for pair in pairs) else set()
    words |= {"flexflex"} if any(pair.geom < 0 and pair.flex1 != pair.flex2 for pair in pairs) else set()
    return words | ({"flexself"} if any(pair.flex1 == pair.flex2 for pair in pairs) else set())


def foreign_sizes(m: mujoco.MjModel, pairs: list[FlexPair], room: int) -> dict[str, int]:
    """Sizes of what is remembered; `room`: contacts of deformable bodies that there is room for."""
    itself = any(pair.flex1 == pair.flex2 for pair in pairs)
    buckets = (1 << int(m.nflexelem).bit_length()) * itself
    return {
        "nflexforeign": room if any(is_foreign(m, pair) for pair in pairs) else 0,
        "nselfflex": m.nflex * itself,
        "nselfvert": m.nflexvert * itself,
        "nselfelem": m.nflexelem * itself,
        "nselfbucket": buckets,
        "nselfstart": buckets + itself,
        "nselfnear": (NEIGHBOURS * m.nflexelem + NEIGHBOURS_AT_LEAST * m.nflex) * itself,
    }


SIZES = "nflexforeign nselfflex nselfvert nselfelem nselfbucket nselfstart nselfnear"
NO_FOREIGN = dict.fromkeys(SIZES.split(), 0)


def skins(m: mujoco.MjModel) -> np.ndarray:
    """The skin (m) of each deformable body: how much farther apart than in touch its elements are listed."""
    edges = [m.flexedge_length0[a : a + n] for a, n in zip(m.flex_edgeadr, m.flex_edgenum, strict=True)]
    shortest = np.array([lengths.min() if len(lengths) else 0.0 for lengths in edges])
    return np.clip(REACH * shortest - 2 * m.flex_radius, LEAST_SKIN * shortest, LARGEST_SKIN * shortest)
