"""Pairs of deformable bodies with geoms, each other and themselves that may collide, and their contact parameters.

MuJoCo's masks and mixing rules, with a flex in place of a geom (its documentation, Computation: Collision; XML
Reference, flex/contact).
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.contact import collisions
from saltus.model.contact.contact_parameters import Law
from saltus.model.enums import PLANE, ROPE, SHEET, SOLID
from saltus.model.flex.cells import most_nodes
from saltus.model.flex.twist import twists
from saltus.model.tree.chains import ChainTable

DISABLE = mujoco.mjtDisableBit
WORDS = {ROPE: "flexrope", SHEET: "flexsheet", SOLID: "flexsolid"}  # features
RUN = 32  # consecutive elements with a common bounding box; in most sheets these are neighbours
PER_OBJECT = 100  # capacity for contacts beyond one for each vertex


class FlexPair(NamedTuple):
    """Pair that may touch: a geom and a flex, two flexes (geom -1), or a flex and itself."""

    geom: int
    flex1: int  # -1 for a pair with a geom
    flex2: int


def flex_pairs(m: mujoco.MjModel) -> list[FlexPair]:
    """All pairs with flexes: with geoms, by body, flex, geom; then between flexes; then with themselves."""
    flexes = range(m.nflex)
    geoms = [(int(m.geom_bodyid[g]), f, g) for f in flexes for g in range(m.ngeom) if _with_geom(m, g, f)]
    pairs = [FlexPair(g, -1, f) for _, f, g in sorted(geoms)]
    pairs += [FlexPair(-1, f, k) for f in flexes for k in range(f + 1, m.nflex) if _match(m, f, k) and _moves(m, f, k)]
    return pairs + [FlexPair(-1, f, f) for f in flexes if _with_itself(m, f)]


def touches(m: mujoco.MjModel) -> bool:
    """Whether any flex may touch an object."""
    return bool(m.nflex) and not m.opt.disableflags & DISABLE.mjDSBL_CONTACT.value and bool(flex_pairs(m))


def order_of(m: mujoco.MjModel, pair: FlexPair) -> tuple[int, int]:
    """Sort key of a pair among those of bodies: flexes follow all bodies, self-contacts come last."""
    if pair.flex1 == pair.flex2:
        return m.nbody + m.nflex, pair.flex2
    first = m.nbody + pair.flex1 if pair.geom < 0 else int(m.geom_bodyid[pair.geom])
    return first, m.nbody + pair.flex2


def flex_law(m: mujoco.MjModel, pair: FlexPair, safe_timestep: float) -> Law:
    """The contact law of a pair with a flex."""
    first = collisions.surface(m, "flex", pair.flex1) if pair.geom < 0 else collisions.surface(m, "geom", pair.geom)
    mixed = collisions.mixed(first, collisions.surface(m, "flex", pair.flex2))
    values = collisions.overridden(m, mixed | {"static": np.zeros(())})
    if pair.flex1 == pair.flex2:
        values |= {"margin": 0.0, "gap": 0.0}
    return collisions.law(m, values, safe_timestep)


def room(m: mujoco.MjModel, pairs: list[FlexPair]) -> int:
    """Capacity for contacts: every vertex on planes, on other objects, and in folds."""
    kinds = {(pair.flex2, _kind(m, pair)) for pair in pairs}
    return sum(int(m.flex_vertnum[f]) + PER_OBJECT for f, _ in kinds)


def feature_keys(m: mujoco.MjModel, pairs: list[FlexPair]) -> set[str]:
    """Features of the kernels that pairs need."""
    few = {"flexfew"} if any(pair.geom >= 0 and m.flex_interp[pair.flex2] for pair in pairs) else set()
    return {"flexcontact"} | few | {WORDS[int(m.flex_dim[pair.flex2])] for pair in pairs}


def runs(m: mujoco.MjModel, nflex: int) -> int:
    """Number of bounding boxes of runs of elements, at most (see `saltus.contact.flex.broad_phase`)."""
    return m.nflexelem // RUN + nflex if nflex else 0


def longest(m: mujoco.MjModel, chains: ChainTable, pairs: list[FlexPair]) -> int:
    """Largest number of degrees of freedom that move a contact."""
    geoms = {int(m.geom_bodyid[p.geom]) for p in pairs if p.geom >= 0}
    rigid = max((len(chains.ancestors(b)) for b in geoms), default=0)
    flexes = {f for p in pairs for f in (p.flex1, p.flex2) if f >= 0}
    of = {f: corners(m, f) * _of_vertex(m, chains, f) + twists(m, f) for f in flexes}
    return max((of[p.flex2] + (rigid if p.geom >= 0 else of[p.flex1]) for p in pairs), default=0)


def sides(m: mujoco.MjModel, pairs: list[FlexPair]) -> int:
    """Largest number of bodies that move with a contact."""
    return max((corners(m, p.flex2) + (1 if p.geom >= 0 else corners(m, p.flex1)) for p in pairs), default=0)


def sides_of_rods(m: mujoco.MjModel, pairs: list[FlexPair]) -> int:
    """Largest number of bodies that move with a contact in models with rods whose segments twist; 0 in others."""
    return sides(m, pairs) if any(twists(m, f) for f in range(m.nflex)) else 0


def corners(m: mujoco.MjModel, f: int) -> int:
    """Largest number of vertices or nodes that move an element."""
    return most_nodes(m, f) if m.flex_interp[f] else int(m.flex_dim[f]) + 1


def elements(m: mujoco.MjModel, chosen) -> dict[str, Any]:
    """Ranges of the flexes' vertices and elements, and corners [nflexelem, 4] of the elements, -1 for none."""
    vertices, active = [], []
    for f in chosen:
        dim, count, adr = int(m.flex_dim[f]), int(m.flex_elemnum[f]), int(m.flex_elemdataadr[f])
        own = np.full((count, 4), -1)
        own[:, : dim + 1] = m.flex_elem[adr : adr + count * (dim + 1)].reshape(count, dim + 1) + m.flex_vertadr[f]
        first = int(m.flex_elemadr[f])
        layer = m.flex_elemlayer[first : first + count]
        vertices.append(own)
        active.append(layer < m.flex_activelayers[f] if dim == SOLID else np.ones(count, bool))
    names = ("flex_dim", "flex_vertadr", "flex_vertnum", "flex_elemadr", "flex_elemnum", "flex_radius")
    values: dict[str, Any] = {name: getattr(m, name)[list(chosen)] for name in names}
    values["flexelem_vert"] = np.concatenate(vertices) if vertices else np.zeros((0, 4), int)
    bodies = np.append(m.flex_vertbodyid, -1)  # no body, as for interpolated vertices
    values["flexelem_body"] = bodies[values["flexelem_vert"]]
    values["flexelem_active"] = np.concatenate(active) if active else np.zeros(0, int)
    return values


def _kind(m, pair) -> str:
    if pair.geom < 0:
        return "flex"
    return "plane" if m.geom_type[pair.geom] == PLANE else "geom"


def _with_geom(m, g, f) -> bool:
    bits = m.geom_contype[g] & m.flex_conaffinity[f] | m.flex_contype[f] & m.geom_conaffinity[g]
    return bool(bits) and (bool(_free(m, m.geom_bodyid[g])) or _moves(m, f))


def _match(m, a, b) -> bool:
    return bool(m.flex_contype[a] & m.flex_conaffinity[b] | m.flex_contype[b] & m.flex_conaffinity[a])


def _with_itself(m, f) -> bool:
    return bool(_match(m, f, f) and m.flex_selfcollide[f] and not m.flex_rigid[f] and _moves(m, f))


def _moves(m, *flexes) -> bool:
    """Whether any of these bodies can move."""
    return any(_free(m, _bodies(m, f)).any() for f in flexes)


def _free(m, bodies) -> np.ndarray:
    """Whether bodies have degrees of freedom, their own or those of the body that they are welded to."""
    return m.body_dofnum[m.body_weldid[bodies]] > 0


def _bodies(m, f) -> np.ndarray:
    """Bodies that carry a flex: those of its vertices, or of its nodes."""
    kind = "node" if m.flex_interp[f] else "vert"
    first, count = int(getattr(m, f"flex_{kind}adr")[f]), int(getattr(m, f"flex_{kind}num")[f])
    return getattr(m, f"flex_{kind}bodyid")[first : first + count]


def _of_vertex(m, chains, f) -> int:
    """Largest number of degrees of freedom that move a vertex or node."""
    return max((len(chains.ancestors(int(b))) for b in np.unique(_bodies(m, f))), default=0)
