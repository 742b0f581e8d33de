"""The kernels' Model for hard contact: parameters for each pair of geoms and each limit.

If events are located in time, contact points have an identity: each pair of geoms has numbered points (`slots`), each
of which is open or closed independently of the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from saltus.model.contact.collisions import LEAST_FRICTION
from saltus.model.contact.pair_table import most_contacts
from saltus.model.contact.seams import seams
from saltus.model.enums import BOX, CAPSULE, CONNECT, HFIELD, JOINT, PLANE, WELD, pair_kind, pair_types
from saltus.model.event_enums import DENSE_NUMBERS, EVENT_COUNTS
from saltus.model.fields.constraint.cone import cone_sizes
from saltus.model.layout import DENSE, model_layout
from saltus.number.structs import Struct

LOG_ROWS = 512  # events that compiled code can log before it returns
# capacity for closed contact points with located events; beyond, time is stepped, unless all events are to be located
MOST_CLOSED, MOST_LOCATED = 32, 256
CORNERS = 8  # points of a box on a plane
LOOKAHEAD = 0.02  # relative to the smaller geom's bounding radius: distance at which time steps consider contact
# kinds of pairs that always have all their points, in a fixed order
FIXED_ORDER = (pair_kind.py_func(PLANE, CAPSULE), pair_kind.py_func(PLANE, BOX))
LOOKS = 5  # evaluations of event functions in a step (see `saltus.integrate.event.event_location`)
# numbers of `HardLaw` that are options of the model, by their names without opt_
OPTIONS = (
    *("gap_tolerance", "speed_tolerance", "bounce_height", "overlap_depth"),
    *("dense_events", "dense_time", "dense_step"),
)


class HardLaw(NamedTuple):
    """Numbers of the hard law for one model.

    restitution, tangential_restitution, friction: for each pair of geoms that may touch; nan means the model's
    friction. limit_restitution: for each limit. gap_tolerance (m), speed_tolerance (m/s), bounce_height (m),
    overlap_depth (m, rad), impact_law, impact_treatment: see `saltus.Hard`. event: events are located in time; dense
    and dense_*: treatment of too dense events, see `saltus.Hard` and `saltus.integrate.event.dense_events`;
    actuation_states: number of discrete states; user_events: for each user-defined event the watched direction, whether
    the run ends there, and the kind in the log. loops: the integrator closes loops exactly at the ends of its steps.
    """

    restitution: tuple[float, ...]
    friction: tuple[float, ...]
    limit_restitution: tuple[float, ...]
    gap_tolerance: float
    speed_tolerance: float
    bounce_height: float
    impact_law: int
    impact_treatment: int
    event: bool
    dense: int = 0
    dense_events: float = 32.0
    dense_time: float = 0.01
    dense_step: float = 0.001
    overlap_depth: float = 0.0
    tangential_restitution: tuple[float, ...] = ()
    actuation_states: int = 0
    user_events: tuple[tuple[int, int, int], ...] = ()
    loops: bool = False


def slot_counts(base: Struct) -> np.ndarray:
    """Largest number of contact points of each pair of geoms [ncollision]."""
    kinds = [int(k) for k in base.views["collision_kind"]]
    return np.array([CORNERS if pair_types(k) == (PLANE, BOX) else most_contacts(k) for k in kinds], int)


def of_fields(base: Struct) -> np.ndarray:
    """Mask of the pairs of geoms with a height field and a convex shape [ncollision]."""
    return np.array([pair_types(int(k))[0] == HFIELD for k in base.views["collision_kind"]], bool)


def with_hard(base: Struct, law: HardLaw) -> Struct:
    """A copy of the kernels' Model under the hard law."""
    values = dict(base.views) | _laws(base, law)
    sizes = base.sizes | {"nlaw": len(values["law_dim"])}
    sizes |= {"opt_impact_law": law.impact_law, "opt_impact_treatment": law.impact_treatment, "opt_dense": law.dense}
    word = "event" if law.event else "stepping"
    supports, room = _stepping(base)
    values |= supports
    sizes |= room
    loops = {}
    if law.event:
        sizes |= _event_sizes(base, law)
        loops = _loop_sizes(base, sizes) if law.loops else {}
        slots = slot_counts(base)
        values |= {"slot_num": slots, "slot_adr": np.cumsum(slots) - slots}
        values["slot_pair"] = np.repeat(np.arange(len(slots)), slots)
        ordered = np.isin(base.views["collision_kind"], FIXED_ORDER) & ~base.views["collision_foreign"].astype(bool)
        values["slot_varies"] = (slots > 1) & ~ordered
        about = np.array(law.user_events, int).reshape(-1, 3)
        values |= {f"event_{name}": about[:, k] for k, name in enumerate(("direction", "terminal", "kind"))}
    touching = seams(base)
    values |= touching.values
    sizes |= touching.sizes
    words = {word} | ({"fieldgaps"} if law.event and of_fields(base).any() else set())
    if loops:
        words, sizes = words | {"loops"}, sizes | loops
    if "mocap" in base.layout.features:
        words, sizes = words | {"movers"}, sizes | {"nmover": base.nmocap}
        values["collision_moves"] = base.views["collision_moves"] | carried(base)
    if touching.values:
        words = words | {"seams"}
    if declares_static_friction(base):
        words = words | {"stiction"}
    struct = Struct(model_layout(base.layout.features | words), sizes, base.kind)
    for name, view in struct.views.items():
        if view.size:
            view[...] = values[name]
    for name in OPTIONS:
        struct.fill(f"opt_{name}", getattr(law, name))
    return struct


def carried(base: Struct) -> np.ndarray:
    """Mask of the pairs with a geom that a mocap body carries [ncollision]."""
    body = base.views["geom_bodyid"]
    carried = base.views["body_mocapid"][base.views["body_rootid"][body]] >= 0
    return carried[base.views["collision_geom1"]] | carried[base.views["collision_geom2"]]


def _laws(base: Struct, law: HardLaw) -> dict[str, np.ndarray]:
    """Laws of the model, then one for each pair of geoms, then one for each limit."""
    order, first, last = law_order(base)
    values = {name: base.views[name][order] for name in base.views if name.startswith("law_")}
    turning = law.tangential_restitution or 0.0
    values |= law_numbers(base, law.restitution, law.friction, law.limit_restitution, law.event, turning)
    values["law_reach"][first:last] += LOOKAHEAD * _smaller(base)
    values["collision_law"] = np.arange(first, last)
    values["limit_law"] = np.arange(last, last + len(base.views["limit_law"]))
    return values


def law_order(base: Struct) -> tuple[np.ndarray, int, int]:
    """The model's law from which each law here is made; first law of pairs of geoms, first law of limits."""
    pair, limit = base.views["collision_law"], base.views["limit_law"]
    return np.concatenate([np.arange(base.nlaw), pair, limit]).astype(int), base.nlaw, base.nlaw + len(pair)


def law_numbers(
    base: Struct,
    restitution: ArrayLike,
    friction: ArrayLike,
    limit_restitution: ArrayLike,
    event: bool,
    tangential_restitution: ArrayLike = 0.0,
) -> dict[str, np.ndarray]:
    """Fields of laws that depend on restitution and friction, which `HardLaw` describes.

    Values of many simulations have a leading axis of simulations, and so have the fields.
    """
    given = np.asarray(friction, float)
    order, first, last = law_order(base)
    names = ("law_restitution", "law_tangential", "law_friction", "law_static", "law_dim")
    many = given.shape[:-1]
    values = {name: np.broadcast_to(base.views[name][order], many + base.views[name][order].shape) for name in names}
    values = {name: array.copy() for name, array in values.items()}
    values["law_restitution"][..., first:last] = restitution
    values["law_restitution"][..., last:] = limit_restitution
    values["law_tangential"][..., first:last] = tangential_restitution
    sliding = values["law_friction"][..., first:last, :2]
    sliding[...] = np.where(np.isnan(given)[..., None], sliding, given[..., None])
    # MuJoCo's mixing keeps a least friction if a file gives none
    values["law_friction"][values["law_friction"] <= LEAST_FRICTION] = 0.0
    values["law_dim"][values["law_friction"][..., 0] == 0.0] = 1
    values["law_static"] = np.maximum(values["law_static"], values["law_friction"][..., 0])
    if event:  # friction equal in all directions; rows for rotations only where these have friction
        friction, dim = values["law_friction"], values["law_dim"]
        friction[..., 1], friction[..., 4] = friction[..., 0], friction[..., 3]
        dim[(dim == 6) & (friction[..., 3] == 0.0)] = 4
        dim[(dim == 4) & (friction[..., 2] == 0.0)] = 3
    return values


def declares_static_friction(base: Struct) -> bool:
    """Whether some pairs of geoms that may touch have static friction."""
    return bool((base.views["law_static"][base.views["collision_law"]] > 0.0).any())


def may_turn(base: Struct) -> bool:
    """Whether some contacts have dimensions of torsional or rolling friction, whatever their coefficients."""
    return bool((base.views["law_dim"][base.views["collision_law"]] > 3).any())


def _event_sizes(base: Struct, law: HardLaw) -> dict[str, int]:
    """Sizes for the distances of all points, for rows of `MOST_CLOSED` of them, and for time steps."""
    s = base.sizes
    # beside contacts there are at most as many blocks as rows
    slots, others = int(slot_counts(base).sum()), s["nblockmax"] - s["nconmax"]
    closed = min(slots, MOST_LOCATED if law.dense else MOST_CLOSED)
    blocks, rows, modes = others + closed, others + 3 * closed, slots + 2 * s["nlimit"] + s["nfriction"]
    problem_blocks = blocks
    if may_turn(base):  # whose two modes each point has, three rows and two parts of a problem
        rows, modes, problem_blocks = rows + 3 * closed, modes + 2 * slots, blocks + 2 * closed
    longest = int(base.views["chain_num"].max(initial=0))
    trees = len(np.unique(base.views["body_rootid"][1:]))
    users = len(law.user_events)
    events = 2 * modes + users
    # points of a pair exist twice while a step is searched
    contacts = max(slots + int(slot_counts(base).max(initial=0)), s["nconmax"])
    return {
        **({"nslot_field": slots, "ncon_field": contacts} if of_fields(base).any() else {}),
        **{"nconmax": contacts, "nslot": slots, "nslotpair": s["ncollision"], "nmode": modes},
        **{"nblockmax": max(blocks, s["nblockmax"]), "nrowmax": max(rows, s["nrowmax"])},
        **{
            "nblock_event": max(blocks, s["nblockmax"]),
            "nrow_event": rows,
            "ndense": DENSE_NUMBERS,
            "nclosedmax": closed,
            "ntree_event": trees,
        },
        **{"nJmax": max(rows * longest, s["nJmax"]), "nrow_half": (rows + 1) * s["nv"]},
        **{"nv_event": s["nv"], "nq_event": s["nq"], "keep_bodies": 1},
        **{"nevent": events, "nevent_state": 1, "nevent_count": EVENT_COUNTS, "nevent_log": LOG_ROWS},
        **{"nevent_look": LOOKS * events, "nuserevent": users, "nactuation_state": law.actuation_states},
        **cone_sizes(problem_blocks, rows),
    }


ROWS_OF_LOOP = {CONNECT: 3, WELD: 6, JOINT: 1}


def _loop_sizes(base: Struct, sizes: dict[str, int]) -> dict[str, int]:
    """Sizes for the loops of a mechanism that `energy_momentum` closes exactly; empty where it does not.

    It does for connect, weld and joint equalities without cams, between bodies that no mocap body carries.
    """
    kinds = [int(k) for k in base.views["eq_type"]]
    exact = kinds and all(k in ROWS_OF_LOOP for k in kinds) and not base.layout.features & {"mocap", "cam", "flex"}
    if not exact or base.nv > DENSE:
        return {}
    rows = sum(ROWS_OF_LOOP[k] for k in kinds)
    unknowns = max(rows + base.nv, sizes["nhardrow"])
    loops = {"nlooprow": rows, "nloopentry": rows * base.nv, "nloopcolumn": 3 * base.nv}
    return loops | cone_sizes(max(sizes["nhardblock"], 1), unknowns)


def _smaller(base: Struct) -> np.ndarray:
    """Bounding radius (m) of the smaller geom of each pair [ncollision]; planes do not count."""
    radii = np.array([base.views["geom_rbound"][base.views[f"collision_geom{k}"]] for k in (1, 2)])
    return np.where(radii > 0.0, radii, np.inf).min(axis=0, initial=np.inf)


def _stepping(base: Struct) -> tuple[dict[str, Any], dict[str, int]]:
    """Sizes of a time step's iteration: degrees of freedom and ancestors of each chain, and capacities."""
    adr, num, dofs = (base.views[f"chain_{name}"] for name in ("adr", "num", "dof"))
    row, entries, ancestors = (base.views[f"M_{name}"] for name in ("rowadr", "rownnz", "colind"))
    supports = []
    for first, count in zip(adr, num, strict=True):
        ways = [ancestors[row[i] : row[i] + entries[i]] for i in dofs[first : first + count]]
        supports.append(np.unique(np.concatenate(ways)) if ways else np.zeros(0, int))
    length = np.array([len(s) for s in supports], int)
    s = base.sizes
    values = {
        "support_adr": np.cumsum(length) - length,
        "support_num": length,
        "support_dof": np.concatenate([np.zeros(0, int), *supports]),
    }
    sizes = {
        **{"nsupport": len(supports), "nsupportdof": int(length.sum()), "npast": s["nblockmax"]},
        **{"nv_dual": s["nv"], "nblock_dual": s["nblockmax"], "nrow_dual": s["nrowmax"]},
        "nG": s["nrowmax"] * int(length.max(initial=0)),
        # each block has at most two events in a step, and one when it disappears; the log is read when it is half full
        **{"nevent_count": EVENT_COUNTS, "nevent_log": max(LOG_ROWS, 6 * s["nblockmax"])},
    }
    return values, sizes
