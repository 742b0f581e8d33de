"""Selection of contacts of deformable bodies that MuJoCo's functions find, and sizes of the caches of its calls."""

import mujoco
import numpy as np

from saltus.model.enums import BOX, CAPSULE, PLANE, SOLID, SPHERE
from saltus.model.flex.contacts import FlexPair

# relative to the shortest edge: in regular sheets and solids separate elements are about 0.7 of it apart, so that with
# this reach none are listed at rest; and the least and the largest skin (see `saltus.contact.flex.self_collision`)
REACH, LEAST_SKIN, LARGEST_SKIN = 0.6, 0.15, 0.5
NEIGHBOURS, NEIGHBOURS_AT_LEAST = 4, 64  # capacity for pairs of elements, per element and at least per body


def is_foreign(m: mujoco.MjModel, pair: FlexPair) -> bool:
    """Whether MuJoCo's functions find the contacts of a pair, because there is no kernel for it.

    With rigid bodies MuJoCo keeps at most fifty well-spread contacts; in regular grids many are equally far apart, so
    the choice is left to MuJoCo. (For interpolated bodies see `saltus.contact.flex.contact_reduction`.)
    """
    if pair.geom < 0 or m.flex_rigid[pair.flex2]:
        return True
    kind = m.geom_type[pair.geom]
    return kind not in (PLANE, SPHERE, CAPSULE) and not (kind == BOX and m.flex_dim[pair.flex2] != SOLID)


def mujoco_feature_keys(m: mujoco.MjModel, pairs: list[FlexPair]) -> set[str]:
    """Feature keys of the kernels that call MuJoCo: for any pair, for two deformable bodies, for self-contact."""
    keys = {"flexforeign"} if any(is_foreign(m, pair) for pair in pairs) else set()
    keys |= {"flexflex"} if any(pair.geom < 0 and pair.flex1 != pair.flex2 for pair in pairs) else set()
    return keys | ({"flexself"} if any(pair.flex1 == pair.flex2 for pair in pairs) else set())


def foreign_sizes(m: mujoco.MjModel, pairs: list[FlexPair], room: int) -> dict[str, int]:
    """Sizes of cached data; `room`: capacity for contacts of deformable bodies."""
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
    """The skin (m) of each deformable body: distance beyond contact at which its elements are listed."""
    edges = [m.flexedge_length0[a : a + n] for a, n in zip(m.flex_edgeadr, m.flex_edgenum, strict=True)]
    shortest = np.array([lengths.min() if len(lengths) else 0.0 for lengths in edges])
    return np.clip(REACH * shortest - 2 * m.flex_radius, LEAST_SKIN * shortest, LARGEST_SKIN * shortest)
