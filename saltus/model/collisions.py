"""Which geoms may touch, and under which law: MuJoCo's filters and mixing rules.

See its documentation, Computation: Collision. All of it is worked out once, when a model is loaded.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from saltus.model.laws import Law, soft_law
from saltus.number.functions import MINVAL

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)  # MuJoCo's geom types
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
    """How many contacts two geoms have at most; kind: ten times the type of the first and the type of the second."""
    kinds = divmod(kind, 10)
    if HFIELD in kinds or SDF in kinds:
        return 50  # MuJoCo's limit for a pair
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
    """The law of contact of a pair."""
    values = parameters(m, pair)
    margin, gap = float(values.pop("margin")), float(values.pop("gap"))
    friction = np.maximum(values.pop("friction"), LEAST_FRICTION)
    return soft_law(
        values.pop("solref"),
        values.pop("solimp"),
        safe_timestep,
        solreffriction=values.pop("solreffriction"),
        dim=values["dim"],
        margin=margin,
        reach=margin + gap,
        friction=tuple(float(f) for f in friction),
        mu=float(friction[0] * np.sqrt(1.0 / max(MINVAL, m.opt.impratio))),
    )


def parameters(m: mujoco.MjModel, pair: Pair) -> dict:
    """dim, solref, solimp, friction, solreffriction, margin, gap of a pair as the file says: its own, or mixed."""
    k = pair.explicit
    if k >= 0:
        values = dict(
            dim=int(m.pair_dim[k]),
            solref=m.pair_solref[k],
            solimp=m.pair_solimp[k],
            friction=m.pair_friction[k],
            solreffriction=m.pair_solreffriction[k],
            margin=m.pair_margin[k],
            gap=m.pair_gap[k],
        )
    else:
        values = mixed(m, pair.geom1, pair.geom2)
    if m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE.value:
        values |= dict(solref=m.opt.o_solref, solimp=m.opt.o_solimp, friction=m.opt.o_friction, margin=m.opt.o_margin)
        values["solreffriction"] = m.opt.o_solref
    return values


def mixed(m: mujoco.MjModel, g1: int, g2: int) -> dict:
    """Parameters of two geoms mixed: those of the higher priority, else averages weighted by solmix and maxima."""
    priority = m.geom_priority[g1] - m.geom_priority[g2]
    both = dict(
        margin=m.geom_margin[g1] + m.geom_margin[g2],
        gap=m.geom_gap[g1] + m.geom_gap[g2],
        solreffriction=np.zeros(2),
    )
    if priority:
        g = g1 if priority > 0 else g2
        sliding, torsional, rolling = m.geom_friction[g]
        own = dict(dim=int(m.geom_condim[g]), solref=m.geom_solref[g], solimp=m.geom_solimp[g])
        return both | own | dict(friction=_five(sliding, torsional, rolling))
    share = _share(m.geom_solmix[g1], m.geom_solmix[g2])
    solref1, solref2 = m.geom_solref[g1], m.geom_solref[g2]
    standard = solref1[0] > 0 and solref2[0] > 0
    return both | dict(
        dim=int(max(m.geom_condim[g1], m.geom_condim[g2])),
        solref=share * solref1 + (1 - share) * solref2 if standard else np.minimum(solref1, solref2),
        solimp=share * m.geom_solimp[g1] + (1 - share) * m.geom_solimp[g2],
        friction=_five(*np.maximum(m.geom_friction[g1], m.geom_friction[g2])),
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
