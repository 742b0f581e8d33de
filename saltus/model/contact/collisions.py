"""Pairs of geoms that may collide, and their contact parameters: MuJoCo's filters and mixing rules.

See its documentation, Computation: Collision. All of this is computed once, when a model is loaded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from saltus.model.contact.contact_parameters import Law, soft_law
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SDF, SPHERE, pair_types
from saltus.number.functions import MINVAL

MOST_OF_PAIR = 50  # contacts that MuJoCo's functions may return (mjMAXCONPAIR)
LEAST_FRICTION = 1e-5


@dataclass(frozen=True)
class Pair:
    """Two geoms that may touch, the lower type first; `explicit`: number of the <pair> element, or -1."""

    geom1: int
    geom2: int
    explicit: int


def pairs(m: mujoco.MjModel) -> list[Pair]:
    """All pairs of geoms that may touch, by bodies, then geoms."""
    found = {}
    for k in range(m.npair):
        g1, g2 = (int(g) for g in (m.pair_geom1[k], m.pair_geom2[k]))
        found[min(g1, g2), max(g1, g2)] = k
    named = set(found)
    for b1, b2 in touching_bodies(m):
        for g1 in _geoms(m, b1):
            for g2 in _geoms(m, b2):
                key = min(g1, g2), max(g1, g2)
                if key not in named and _match(m, g1, g2):
                    found[key] = -1
    order = sorted(found, key=lambda g: (*sorted((m.geom_bodyid[g[0]], m.geom_bodyid[g[1]])), g))
    ordered = [_by_type(m, key[0], key[1], found[key]) for key in order]
    return [p for p in ordered if collide(m.geom_type[p.geom1], m.geom_type[p.geom2])]


def collide(type1: int, type2: int) -> bool:
    """Whether there is a collision function for two types, the lower first."""
    return type2 > HFIELD


def touching_bodies(m: mujoco.MjModel) -> np.ndarray:
    """Pairs of bodies [n, 2] whose geoms may touch, by MuJoCo's filters."""
    movable = m.body_weldid[:, None] != m.body_weldid[None, :]
    match = (m.body_contype[:, None] & m.body_conaffinity[None, :]) != 0
    pairs = movable & (match | match.T)
    if not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT.value:
        weld = m.body_weldid
        parent = weld[m.body_parentid[weld]]
        child = (parent[:, None] == weld[None, :]) & (parent[:, None] != 0)
        pairs &= ~(child | child.T)
    for signature in m.exclude_signature:
        a, b = int(signature) >> 16, int(signature) & 0xFFFF
        pairs[a, b] = pairs[b, a] = False
    return np.argwhere(np.triu(pairs, 1))


def _geoms(m, body) -> Iterator[int]:
    yield from range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body])


def _match(m, g1, g2) -> bool:
    return bool(m.geom_contype[g1] & m.geom_conaffinity[g2] or m.geom_contype[g2] & m.geom_conaffinity[g1])


def _by_type(m, g1, g2, explicit) -> Pair:
    return Pair(g2, g1, explicit) if m.geom_type[g1] > m.geom_type[g2] else Pair(g1, g2, explicit)


def most_contacts(kind: int) -> int:
    """How many contacts two geoms have at most, whose pair is of a kind (`saltus.model.enums.pair_kind`)."""
    kinds = pair_types(kind)
    if HFIELD in kinds or SDF in kinds:
        return MOST_OF_PAIR
    if SPHERE in kinds or ELLIPSOID in kinds:
        return 1
    known = {
        (PLANE, CAPSULE): 2,
        (PLANE, CYLINDER): 4,
        (PLANE, BOX): 4,
        (PLANE, MESH): 4,
        (CAPSULE, CAPSULE): 2,
        (CAPSULE, BOX): 4,
        (BOX, BOX): 8,
    }
    if kinds in known:
        return known[kinds]
    return 5


# ------------------------------------------------------------ the law of a pair


def law_of(m: mujoco.MjModel, pair: Pair, safe_timestep: float) -> Law:
    """The law of contact of a pair of geoms."""
    return law(m, parameters(m, pair), safe_timestep)


def law(m: mujoco.MjModel, values: dict, safe_timestep: float) -> Law:
    """The law of contact with given dim, solref, solimp, friction, solreffriction, margin, gap."""
    margin, gap = float(values["margin"]), float(values["gap"])
    friction = np.maximum(values["friction"], LEAST_FRICTION)
    return soft_law(
        values["solref"],
        values["solimp"],
        safe_timestep,
        solreffriction=values["solreffriction"],
        dim=values["dim"],
        margin=margin,
        reach=margin + gap,
        friction=tuple(float(f) for f in friction),
        mu=float(friction[0] * np.sqrt(1.0 / max(MINVAL, m.opt.impratio))),
    )


def parameters(m: mujoco.MjModel, pair: Pair) -> dict:
    """dim, solref, solimp, friction, solreffriction, margin, gap of a pair as the file says: its own, or mixed."""
    k = pair.explicit
    if k < 0:
        return overridden(m, mixed(surface(m, "geom", pair.geom1), surface(m, "geom", pair.geom2)))
    values = dict(
        dim=int(m.pair_dim[k]),
        solref=m.pair_solref[k],
        solimp=m.pair_solimp[k],
        friction=m.pair_friction[k],
        solreffriction=m.pair_solreffriction[k],
        margin=m.pair_margin[k],
        gap=m.pair_gap[k],
    )
    return overridden(m, values)


def overridden(m: mujoco.MjModel, values: dict) -> dict:
    """Parameters of contact, with those that the file's options put in the place of all."""
    if m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE.value:
        values |= dict(solref=m.opt.o_solref, solimp=m.opt.o_solimp, friction=m.opt.o_friction, margin=m.opt.o_margin)
        values["solreffriction"] = m.opt.o_solref
    return values


class Surface(NamedTuple):
    """What a geom or a deformable body brings to the law of its contacts."""

    condim: int
    priority: int
    solmix: float
    solref: np.ndarray
    solimp: np.ndarray
    friction: np.ndarray  # sliding, torsional (m), rolling (m)
    margin: float  # m
    gap: float  # m


def surface(m: mujoco.MjModel, kind: str, k: int) -> Surface:
    """The surface of geom or flex k."""
    return Surface(*[getattr(m, f"{kind}_{name}")[k] for name in Surface._fields])


def mixed(a: Surface, b: Surface) -> dict:
    """Parameters of two surfaces mixed: those of the higher priority, else averages weighted by solmix and maxima."""
    both = dict(margin=a.margin + b.margin, gap=a.gap + b.gap, solreffriction=np.zeros(2))
    if a.priority != b.priority:
        own = a if a.priority > b.priority else b
        return both | dict(dim=int(own.condim), solref=own.solref, solimp=own.solimp, friction=_five(*own.friction))
    share = _share(a.solmix, b.solmix)
    standard = a.solref[0] > 0 and b.solref[0] > 0
    return both | dict(
        dim=int(max(a.condim, b.condim)),
        solref=share * a.solref + (1 - share) * b.solref if standard else np.minimum(a.solref, b.solref),
        solimp=share * a.solimp + (1 - share) * b.solimp,
        friction=_five(*np.maximum(a.friction, b.friction)),
    )


def _five(sliding, torsional, rolling) -> np.ndarray:
    return np.array([sliding, sliding, torsional, rolling, rolling])


def _share(mix1: float, mix2: float) -> float:
    """Weight of the first geom."""
    if mix1 >= MINVAL and mix2 >= MINVAL:
        return mix1 / (mix1 + mix2)
    if mix1 < MINVAL and mix2 < MINVAL:
        return 0.5
    return 0.0 if mix1 < MINVAL else 1.0
