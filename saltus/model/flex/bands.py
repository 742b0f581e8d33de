"""Order of the degrees of freedom of rods in which their matrices are bands: breadth first along the rod.

From an end of an open rod this is the order along it; a closed rod is folded, with both of its halves side by side
(Cuthill & McKee, Reducing the bandwidth of sparse symmetric matrices (1969)).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import mujoco
import numpy as np

from saltus.model.enums import BAND


def bands(m: mujoco.MjModel, values: dict[str, Any]) -> dict[str, Any]:
    """Positions of degrees of freedom in bands, -1 for others, and their inverse; first position of each one's rod.

    band_low is the first position that forces along the rod may couple with each one; flex_banded tells whether nothing
    but rods in bands is deformable. `values`: fields of rods. Vertices on bodies that are no points of their own are
    left out, as are rods that branch and rods that share a point with one before.
    """
    segments = values["rodedge_vert"]
    groups = [list(map(int, verts)) for verts in values["rod_vert"]]
    groups += [list(map(int, verts)) for verts in values["dihedral_vert"]]
    groups += [[int(segments[e - 1][0]), *map(int, segments[e])] for e in values["rodtwist_edge"]]
    edges = {tuple(sorted(map(int, edge))) for edge in values["flexedge_vert"]} if groups else set()
    bent = {v for group in groups for v in group}
    groups += [list(edge) for edge in sorted(edges) if bent >= set(edge)]
    turns = {int(v): int(i) for (v, _), i in zip(segments, values["rodedge_dofadr"], strict=True) if i >= 0}
    dofs = {v: _dofs_of(m, int(values["flexvert_bodyid"][v])) for v in sorted(bent)}
    position, order, first, low = np.full(m.nv, -1), [], [], []
    for line in _lines(groups):
        places = [i for v in line for i in (*dofs[v], *([turns[v]] if v in turns else []))]
        where, own = {i: k for k, i in enumerate(places)}, set(line)
        there = [[where[i] for v in group for i in dofs[v]] for group in groups if group[0] in own]
        twists = [where[turns[v]] for v in line if v in turns]
        there += [list(pair) for pair in itertools.pairwise(sorted(twists))]
        shared = len(where) < len(places) or (position[places] >= 0).any()
        width = max((int(np.ptp(group)) for group in there if group), default=0)
        if shared or width > BAND:
            continue
        position[places] = len(order) + np.arange(len(places))
        first += [len(order)] * len(places)
        low += [len(order) + max(k - width, 0) for k in range(len(places))]
        order += places
    moved = {i for b in values["flexvert_bodyid"] if b > 0 for i in _all_dofs_of(m, int(b))} | set(turns.values())
    whole = bool(order) and bool((m.flex_dim == 1).all()) and bool((position[sorted(moved)] >= 0).all())
    found = {"band_dof": order, "band_first": first, "band_low": low, "flex_banded": int(whole)}
    return {"dof_band": position if order else ()} | found


def _all_dofs_of(m: mujoco.MjModel, body: int) -> list[int]:
    """Degrees of freedom that move a body."""
    found = []
    while body > 0:
        found += range(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body])
        body = int(m.body_parentid[body])
    return found


def _dofs_of(m: mujoco.MjModel, body: int) -> range:
    """Degrees of freedom of a vertex's body, if it is one that the preconditioner takes for itself."""
    first, count = int(m.body_dofadr[body]), int(m.body_dofnum[body])
    simple = 0 < count <= 3 and bool(np.all(m.dof_simplenum[first : first + count]))
    return range(first, first + count) if simple else range(0)


def _lines(groups: list[list[int]]) -> list[list[int]]:
    """Vertices of each connected part, breadth first from one with the fewest neighbours."""
    near: dict[int, set[int]] = defaultdict(set)
    for group in groups:
        for one, other in itertools.pairwise(group):
            near[one].add(other)
            near[other].add(one)
    lines, seen = [], set()
    for start in sorted(near, key=lambda v: (len(near[v]), v)):
        if start in seen:
            continue
        line = [start]
        seen.add(start)
        for v in line:
            for other in sorted(near[v] - seen):
                seen.add(other)
                line.append(other)
        lines.append(line)
    return lines
