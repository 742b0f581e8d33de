"""Filters that decide which geoms may touch, in place of a list of pairs: for worlds of many bodies.

A filter has a few numbers for each geom and body, so that its size and the time to make it are proportional to their
number. Filters accept the pairs of `saltus.model.contact.collisions.pairs`.
"""

import itertools
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.contact.collisions import Pair, by_type, pairs_of_file
from saltus.model.contact.pair_table import PAIRS
from saltus.model.enums import HFIELD

Ints = NDArray[np.int64]


class Filters(NamedTuple):
    """Masks of geoms, and pairs of bodies that may not touch."""

    contype: Ints  # [ngeom]
    conaffinity: Ints  # [ngeom]
    weld: Ints  # [nbody] the first body of those welded together
    parent: Ints  # [nbody] for such a first body, the body that it moves relative to; -1 if the two may touch
    excluded: Ints  # [n, 2] pairs of bodies, the lower number first, ascending


def filters(m: mujoco.MjModel) -> Filters:
    """The filters of a model."""
    weld = m.body_weldid.astype(int)
    parent = weld[m.body_parentid]
    off = bool(m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT.value)
    parent = np.where((parent == 0) | off, -1, parent)
    signatures = np.asarray(m.exclude_signature, int)
    bodies = np.sort(np.stack([signatures >> 16, signatures & 0xFFFF], axis=1), axis=1)
    contype, conaffinity = (np.asarray(x).astype(np.uint32).astype(int) for x in (m.geom_contype, m.geom_conaffinity))
    return Filters(contype, conaffinity, weld, parent, np.unique(bodies, axis=0))


def named_pairs(m: mujoco.MjModel) -> list[Pair]:
    """Pairs that the file names and that can touch and move, by their lower, then their higher number."""
    weld = lambda g: int(m.body_weldid[m.geom_bodyid[g]])  # noqa: E731
    return [p for p in _colliding(m) if weld(p.geom1) != weld(p.geom2)]


def _colliding(m) -> list[Pair]:
    """Pairs that the file names and that can touch."""
    named = (by_type(m, *geoms, explicit) for geoms, explicit in sorted(pairs_of_file(m)))
    return [p for p in named if (m.geom_type[p.geom1], m.geom_type[p.geom2]) in PAIRS]


class Kinds:
    """Kinds of geoms: sets that the filters do not distinguish by the geoms' own numbers."""

    def __init__(self, m: mujoco.MjModel, f: Filters, *others: Ints):
        unbounded = (m.geom_type <= HFIELD).astype(int)  # planes and height fields do not touch each other
        table = np.stack([unbounded, f.contype, f.conaffinity, *others], axis=1)
        self.rows, kinds = np.unique(table, axis=0, return_inverse=True)
        self.of_geom = kinds.reshape(-1)
        self.counts = np.bincount(self.of_geom, minlength=len(self.rows))

    def match(self, kind: int, kinds: Ints) -> NDArray[np.bool_]:
        """Whether geoms of a kind may touch those of others, by their own numbers."""
        unbounded, contype, conaffinity = self.rows[:, :3].T
        masks = (contype[kind] & conaffinity[kinds]) | (contype[kinds] & conaffinity[kind])
        return (masks != 0) & ~((unbounded[kind] != 0) & (unbounded[kinds] != 0))


def count_pairs(m: mujoco.MjModel, enough: int = 0) -> int:
    """Number of pairs of geoms that may touch; a result up to `enough` is only an upper bound."""
    f = filters(m)
    kinds = Kinds(m, f)
    every = np.arange(len(kinds.rows))
    total = 0
    for k in range(len(kinds.rows)):
        total += int(kinds.counts[k]) * int(kinds.counts[kinds.match(k, every)].sum())
        total -= int(kinds.counts[k]) * int(kinds.match(k, every[[k]])[0])  # remove pairs of a geom with itself
    total = total // 2 + m.npair
    if total <= enough:
        return total
    total -= _of_the_same_body(m, f, kinds) + _of_parents(m, f, kinds) + _of_excluded(m, f, kinds)
    named = _colliding(m)
    touching = {(p.geom1, p.geom2) for p in named if passes(m, f, kinds, p.geom1, p.geom2)}
    return total - m.npair + len(named) - len(touching)


def passes(m: mujoco.MjModel, f: Filters, kinds: Kinds, g1: int, g2: int) -> bool:
    """Whether the filters accept a pair of geoms."""
    b1, b2 = sorted(int(m.geom_bodyid[g]) for g in (g1, g2))
    if not _bodies_pass(f, b1, b2) or not kinds.match(int(kinds.of_geom[g1]), kinds.of_geom[[g2]])[0]:
        return False
    return not (f.excluded == [b1, b2]).all(axis=1).any()


def first_pair(m: mujoco.MjModel) -> Pair:
    """The first pair in the order of bodies, then geoms; there must be one."""
    f, named = filters(m), _colliding(m)
    kinds = Kinds(m, f)
    order = lambda g: (*sorted(int(b) for b in m.geom_bodyid[list(g)]), *g)  # noqa: E731
    found = [tuple(sorted((p.geom1, p.geom2))) for p in named]
    for b in range(m.nbody):
        later = np.arange(m.body_geomadr[b] + m.body_geomnum[b], m.ngeom) if m.body_geomnum[b] else np.zeros(0, int)
        later = later[f.weld[m.geom_bodyid[later]] != f.weld[b]]
        for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]):
            matching = later[kinds.match(int(kinds.of_geom[g]), kinds.of_geom[later])]
            passing = ((g, int(other)) for other in matching if passes(m, f, kinds, g, int(other)))
            found += itertools.islice(passing, 1)
        if found and min(map(order, found))[0] <= b:
            break
    g1, g2 = min(found, key=order)
    return by_type(m, g1, g2, -1)


def _bodies_pass(f, b1, b2) -> bool:
    w1, w2 = int(f.weld[b1]), int(f.weld[b2])
    return w1 != w2 and f.parent[w1] != w2 and f.parent[w2] != w1


def _between(kinds, one, other) -> int:
    """Number of matching pairs of geoms of two sets."""
    return sum(int(kinds.match(int(k), kinds.of_geom[other]).sum()) for k in kinds.of_geom[one])


def _groups(m, f) -> dict[int, Ints]:
    """The geoms of bodies that are welded together, by the first of these bodies."""
    of_geom = f.weld[m.geom_bodyid]
    order = np.argsort(of_geom, kind="stable")
    first = np.flatnonzero(np.diff(of_geom[order], prepend=-1))
    return {int(of_geom[part[0]]): part for part in np.split(order, first[1:]) if len(part)}


def _of_the_same_body(m, f, kinds) -> int:
    """Number of matching pairs of geoms that do not move relative to each other."""
    total = 0
    for geoms in _groups(m, f).values():
        if len(geoms) > 1:
            own, counts = np.unique(kinds.of_geom[geoms], return_counts=True)
            for k, n in zip(own, counts, strict=True):
                matching = kinds.match(int(k), own)
                total += int(n) * (int(counts[matching].sum()) - int(matching[own == k][0]))
    return total // 2


def _of_parents(m, f, kinds) -> int:
    """Number of matching pairs of geoms of a body and its parent."""
    groups, total = _groups(m, f), 0
    for weld, geoms in groups.items():
        if f.parent[weld] in groups:
            total += _between(kinds, geoms, groups[int(f.parent[weld])])
    return total


def _of_excluded(m, f, kinds) -> int:
    """Number of matching pairs of geoms of excluded pairs of bodies that could touch otherwise."""
    of_body = lambda b: np.arange(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b])  # noqa: E731
    pairs = [(int(a), int(b)) for a, b in f.excluded if _bodies_pass(f, a, b)]
    return sum(_between(kinds, of_body(a), of_body(b)) for a, b in pairs)
