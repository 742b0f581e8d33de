"""Pairs of geoms that may collide, and their contact parameters: MuJoCo's filters and mixing rules.

See its documentation, Computation: Collision. All of this is computed once, when a model is loaded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.contact.contact_parameters import Law, one_law, soft_laws
from saltus.model.contact.pair_table import PAIRS
from saltus.model.contact.static_friction import static_frictions
from saltus.number.functions import MINVAL

LEAST_FRICTION = 1e-5


@dataclass(frozen=True)
class Pair:
    """Two geoms that may touch, the lower type first; `explicit`: number of the <pair> element, or -1."""

    geom1: int
    geom2: int
    explicit: int


def pairs(m: mujoco.MjModel) -> list[Pair]:
    """All pairs of geoms that may touch, by bodies, then geoms; named pairs as often as the file names them."""
    found = pairs_of_file(m)
    named = {key for key, _ in found}
    for b1, b2 in touching_bodies(m):
        for g1 in _geoms(m, b1):
            for g2 in _geoms(m, b2):
                key = min(g1, g2), max(g1, g2)
                if key not in named and _match(m, g1, g2):
                    found.append((key, -1))
    found.sort(key=lambda one: (*sorted(m.geom_bodyid[list(one[0])]), *one))
    ordered = [by_type(m, *key, explicit) for key, explicit in found]
    return [p for p in ordered if (m.geom_type[p.geom1], m.geom_type[p.geom2]) in PAIRS]


def pairs_of_file(m: Any) -> list[tuple[tuple[int, int], int]]:
    """Geoms of the <pair> elements, the lower number first, and the number of each."""
    geoms = (sorted((int(a), int(b))) for a, b in zip(m.pair_geom1, m.pair_geom2, strict=True))
    return [((a, b), k) for k, (a, b) in enumerate(geoms)]


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


def by_type(m: mujoco.MjModel, g1: int, g2: int, explicit: int) -> Pair:
    """The pair of two geoms, the lower type first."""
    return Pair(g2, g1, explicit) if m.geom_type[g1] > m.geom_type[g2] else Pair(g1, g2, explicit)


# ------------------------------------------------------------ the law of a pair


def law_of(m: mujoco.MjModel, pair: Pair, safe_timestep: float) -> Law:
    """The law of contact of a pair of geoms."""
    return _only(laws_of(m, [pair], safe_timestep))


def laws_of(m: Any, pairs: Sequence[Pair], safe_timestep: float) -> dict[str, np.ndarray]:
    """Parameters of the contact laws of pairs of geoms, by the names of `Law`, with the pairs on the last axis.

    Fields of `m` may have a leading axis of simulations, and so has the result.
    """
    return laws(m, parameters_of(m, pairs), safe_timestep)


def law(m: mujoco.MjModel, values: dict, safe_timestep: float) -> Law:
    """The contact law with given dim, solref, solimp, friction, solreffriction, static, margin, gap, adhesion."""
    return one_law(laws(m, values, safe_timestep))


def laws(m: Any, values: dict, safe_timestep: float) -> dict[str, np.ndarray]:
    """Parameters of contact laws [...] from the parameters [...] that `parameters` gives."""
    friction = np.maximum(values["friction"], LEAST_FRICTION)
    regular = np.sqrt(1.0 / np.maximum(MINVAL, m.opt.impratio))
    regular = regular[..., None] if np.ndim(regular) else regular  # axes of simulations come before that of pairs
    return {
        **soft_laws(values["solref"], values["solimp"], safe_timestep, solreffriction=values["solreffriction"]),
        "dim": np.asarray(values["dim"]),
        "margin": np.asarray(values["margin"]),
        "reach": values["margin"] + values["gap"],
        "friction": friction,
        "mu": friction[..., 0] * regular,
        # at least that of sliding, which may vary
        "static": np.where(values["static"] == 0.0, 0.0, np.maximum(values["static"], friction[..., 0])),
        "adhesion": np.asarray(values["adhesion"]),
    }


def _only(values: dict[str, np.ndarray]) -> Law:
    """The single law of arrays of laws with one entry."""
    return one_law({name: value[0] for name, value in values.items()})


def parameters(m: mujoco.MjModel, pair: Pair) -> dict:
    """Parameters of a pair, its own or mixed: those of `laws`."""
    return {name: value[0] for name, value in parameters_of(m, [pair]).items()}


def parameters_of(m: Any, pairs: Sequence[Pair]) -> dict[str, np.ndarray]:
    """Parameters as `parameters` gives them for pairs [n], on the axis before that of each parameter's numbers."""
    geoms1, geoms2 = ([getattr(pair, name) for pair in pairs] for name in ("geom1", "geom2"))
    values = mixed(surface(m, "geom", geoms1), surface(m, "geom", geoms2))
    explicit = np.array([pair.explicit for pair in pairs], int)
    if (explicit >= 0).any():
        for name, mixture in values.items():
            own = _take(getattr(m, f"pair_{name}"), np.maximum(explicit, 0), name in VECTORS)
            values[name] = np.where(explicit[:, None] >= 0 if name in VECTORS else explicit >= 0, own, mixture)
    return overridden(m, values | {"static": static_frictions(m, geoms1, geoms2, explicit)})


def overridden(m: Any, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Parameters of contacts, replaced by those of the file's options if it overrides them."""
    if m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE.value:
        new = dict(solref=m.opt.o_solref, solimp=m.opt.o_solimp, friction=m.opt.o_friction, margin=m.opt.o_margin)
        new["solreffriction"] = m.opt.o_solref
        # one coefficient replaces both, where the model declares static friction
        new["static"] = np.where(np.asarray(values["static"]) == 0.0, 0.0, m.opt.o_friction[..., 0])
        values |= {name: np.broadcast_to(value, np.shape(values[name])) for name, value in new.items()}
    return values


VECTORS = ("solref", "solimp", "friction", "solreffriction")  # parameters with several numbers


class Surface(NamedTuple):
    """Contact parameters of geoms or deformable bodies: arrays [...] and [..., numbers]."""

    condim: np.ndarray
    priority: np.ndarray
    solmix: np.ndarray
    solref: np.ndarray
    solimp: np.ndarray
    friction: np.ndarray  # sliding, torsional (m), rolling (m)
    margin: np.ndarray  # m
    gap: np.ndarray  # m
    adhesion: np.ndarray  # N; deformable bodies have none


def surface(m: Any, kind: str, k: int | list[int]) -> Surface:
    """The surfaces of geoms or flexes k."""
    own = {name: _take(getattr(m, f"{kind}_{name}"), k, name in VECTORS) for name in Surface._fields[:-1]}
    adhesion = _take(m.geom_adhesion, k, False) if kind == "geom" else np.zeros_like(own["margin"])
    return Surface(**own, adhesion=adhesion)


def _take(values: np.ndarray, k: Any, vector: bool) -> np.ndarray:
    return values[..., k, :] if vector else values[..., k]


def mixed(a: Surface, b: Surface) -> dict[str, np.ndarray]:
    """Parameters of two surfaces mixed: those of the higher priority, else averages weighted by solmix and maxima."""
    share = _share(a.solmix, b.solmix)[..., None]
    standard = (np.real(a.solref[..., :1]) > 0) & (np.real(b.solref[..., :1]) > 0)
    solref = np.where(standard, share * a.solref + (1 - share) * b.solref, np.minimum(a.solref, b.solref))
    solimp = share * a.solimp + (1 - share) * b.solimp
    return {
        "dim": _ruling(a, b, "condim", np.maximum(a.condim, b.condim)),
        "solref": _ruling(a, b, "solref", solref),
        "solimp": _ruling(a, b, "solimp", solimp),
        # sliding twice, torsional, rolling twice
        "friction": _ruling(a, b, "friction", np.maximum(a.friction, b.friction))[..., [0, 0, 1, 2, 2]],
        "solreffriction": np.zeros_like(solref),
        "margin": a.margin + b.margin,
        "gap": a.gap + b.gap,
        "adhesion": _ruling(a, b, "adhesion", a.adhesion + b.adhesion),
    }


def _ruling(a: Surface, b: Surface, name: str, mixture: np.ndarray) -> np.ndarray:
    """Parameter of the surface with the higher priority; the mixture for equal priorities."""
    first, second = a.priority > b.priority, b.priority > a.priority
    if name in VECTORS:
        first, second = first[..., None], second[..., None]
    return np.where(first, getattr(a, name), np.where(second, getattr(b, name), mixture))


def _share(mix1: np.ndarray, mix2: np.ndarray) -> np.ndarray:
    """Weight of the first surface in a mixture."""
    some1, some2 = np.real(mix1) >= MINVAL, np.real(mix2) >= MINVAL
    total = np.where(some1 & some2, mix1 + mix2, 1.0)
    return np.where(some1 & some2, mix1 / total, np.where(some1, 1.0, np.where(some2, 0.0, 0.5)))
