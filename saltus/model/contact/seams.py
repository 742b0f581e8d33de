"""Seams: contacts between geoms that move together, which hide parts of their surfaces.

A neighbour of a geom is a box, convex mesh or plane on the same body, or on one welded to it, that touches or overlaps
it. The neighbour's half-spaces n x ≤ o are listed in the geom's frame, and each pair of geoms that may touch has the
neighbours of both that the other geom may touch too. For their use see `saltus.contact.seams`.

Gaps and steps between neighbours up to `FLUSH` of the smaller one's least half width, and at most `FLUSH` metres, are
ignored.
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import BOX, MESH, PLANE
from saltus.number.structs import Struct

FLUSH = 1e-6  # m, and relative to the least half width (of at most 1 m)
BOX_NORMALS = np.concatenate([np.eye(3), -np.eye(3)])

Reals = NDArray[np.float64]
Matrix = NDArray[np.float64]


class Piece(NamedTuple):
    """A convex geom in the frame of the body that it moves with: half-spaces, corners, bounding box."""

    normals: Reals  # [n, 3]; none for shapes without flat faces
    offsets: Reals  # [n] m
    corners: Reals  # [n, 3] m; a plane has none
    low: Reals  # [3] m
    high: Reals  # [3] m
    width: float  # m: least half width


class Seams(NamedTuple):
    """Fields of the kernels' Model about seams, and their sizes, which are 0 without neighbours."""

    values: dict[str, Any]
    sizes: dict[str, int]


NO_SEAMS: dict[str, int] = dict.fromkeys(("nseampair", "nseamlist", "nseam", "nseamplane", "nseampush"), 0)


def seams(base: Struct) -> Seams:
    """The seams of a kernels' Model with a list of pairs of geoms."""
    v = base.views
    first, second = (np.asarray(v[f"collision_geom{k}"], int) for k in (1, 2))
    partners = _partners(base)
    near = _neighbours(base, sorted(partners))
    # neighbours of each geom, in its frame
    table = _Table()
    numbers: dict[tuple[int, int], int] = {}
    lists: dict[tuple[int, ...], int] = {}
    entries: list[int] = []
    pairs, tolerances = np.zeros((len(first), 8), int), np.zeros((len(first), 2))
    poses = {g: geom_pose(v, g) for g in near}
    for c in np.flatnonzero((first >= 0) & (second >= 0)):
        if PLANE in (v["geom_type"][first[c]], v["geom_type"][second[c]]):
            continue  # any point belongs to the union, and the normal is the plane's
        for side, (own, other) in enumerate(((int(first[c]), int(second[c])), (int(second[c]), int(first[c])))):
            others = [b for b in near.get(own, ()) if b in partners[other]]
            if not others:
                continue
            for b in (own, *others):
                if (own, b) not in numbers:
                    numbers[own, b] = table.add(piece_of(base, b), poses[own])
            found = tuple(numbers[own, b] for b in others)
            if found not in lists:
                lists[found] = len(entries)
                entries += found
            mine = numbers[own, own]
            pairs[c, 4 * side : 4 * side + 4] = lists[found], len(found), table.first[mine], table.count[mine]
            tolerances[c, side] = min(flush(piece_of(base, b)) for b in (own, *others))
    values = {
        "seam_pair": pairs,
        "seam_tolerance": tolerances,
        "seam_list": np.array(entries, int),
        "seam_planeadr": np.array(table.first, int),
        "seam_planenum": np.array(table.count, int),
        "seam_plane": np.concatenate([np.zeros((0, 4)), *table.planes]),
    }
    sizes = {
        **{"nseampair": len(pairs), "nseamlist": len(entries), "nseam": len(table.first)},
        **{"nseamplane": len(values["seam_plane"]), "nseampush": max(table.count, default=0)},
    }
    return Seams(values, sizes) if entries else Seams({}, NO_SEAMS)


def flush_pairs(base: Struct) -> list[tuple[int, int]]:
    """Pairs of touching geoms welded to each other that have a coplanar face and may touch a common third geom."""
    partners = _partners(base)
    found = []
    for a, others in _neighbours(base, sorted(partners)).items():
        for b in others:
            if a < b and partners[a] & partners[b] and in_one_plane(piece_of(base, a), piece_of(base, b)):
                found.append((a, b))
    return sorted(found)


def in_one_plane(a: Piece, b: Piece) -> bool:
    """Whether two pieces have coplanar faces with the same normal."""
    same = a.normals @ b.normals.T > 1.0 - FLUSH
    steps = np.abs(a.offsets[:, None] - b.offsets[None, :])
    return bool((same & (steps <= min(flush(a), flush(b)))).any())


def _partners(base: Struct) -> dict[int, set[int]]:
    """The geoms that each geom may touch."""
    first, second = (np.asarray(base.views[f"collision_geom{k}"], int) for k in (1, 2))
    rigid = (first >= 0) & (second >= 0)
    partners: dict[int, set[int]] = {}
    for a, b in zip(first[rigid].tolist(), second[rigid].tolist(), strict=True):
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    return partners


class _Table:
    """Half-spaces of pieces, one after the other."""

    def __init__(self) -> None:
        self.first: list[int] = []
        self.count: list[int] = []
        self.planes: list[np.ndarray] = []

    def add(self, piece: Piece, pose: tuple[Reals, Matrix]) -> int:
        """Add a piece's half-spaces in the axes of a pose; returns the piece's number."""
        pos, mat = pose
        self.first.append(sum(self.count))
        self.count.append(len(piece.offsets))
        offsets = piece.offsets - piece.normals @ pos
        self.planes.append(np.concatenate([piece.normals @ mat, offsets[:, None]], axis=1))
        return len(self.first) - 1


def flush(piece: Piece) -> float:
    """The width (m) of gaps and steps at a piece that are ignored."""
    return FLUSH * min(piece.width, 1.0)


def _neighbours(base: Struct, geoms: list[int]) -> dict[int, list[int]]:
    """For each geom, the boxes, meshes and planes that move with it and touch or overlap it."""
    v = base.views
    groups: dict[int, list[int]] = {}
    for g in geoms:
        groups.setdefault(int(v["body_weldid"][v["geom_bodyid"][g]]), []).append(g)
    near: dict[int, list[int]] = {}
    for members in groups.values():
        if len(members) < 2:
            continue
        pieces = [piece_of(base, g) for g in members]
        low, high = np.array([p.low for p in pieces]), np.array([p.high for p in pieces])
        for k, (g, piece) in enumerate(zip(members, pieces, strict=True)):
            if int(v["geom_type"][g]) == PLANE:
                continue  # planes have no edges, and geoms that cover them stand on them
            others = np.flatnonzero((low <= piece.high + FLUSH).all(axis=1) & (high >= piece.low - FLUSH).all(axis=1))
            found = [members[i] for i in others if i != k and len(pieces[i].offsets) and touch(pieces[i], piece)]
            if found:
                near[g] = found
    return near


def touch(flat: Piece, other: Piece) -> bool:
    """Whether no face of one piece separates it from another by more than the ignored gap."""
    if not len(other.corners):
        return True
    least = (flat.normals @ other.corners.T).min(axis=1)
    return bool((least <= flat.offsets + min(flush(flat), flush(other))).all())


def piece_of(base: Struct, g: int) -> Piece:
    """A geom as a piece in the frame of the body that it moves with."""
    v = base.views
    pos, mat = geom_pose(v, g)
    kind, size = int(v["geom_type"][g]), np.asarray(v["geom_size"][g], float)
    if kind == PLANE:
        normal = mat[:, 2]
        far = np.full(3, np.inf)
        return Piece(normal[None], np.array([normal @ pos]), np.zeros((0, 3)), -far, far, 1.0)
    if kind == BOX:
        normals, offsets = BOX_NORMALS, np.tile(size, 2)
        corners = size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        width = float(size.min())
    elif kind == MESH and len(v["geom_hull"]):
        normals, offsets, corners = _hull(v, int(v["geom_hull"][g]))
        width = 0.5 * float(np.ptp(corners, axis=0).min())
    else:
        normals, offsets, width = np.zeros((0, 3)), np.zeros(0), float(v["geom_rbound"][g])
        corners = width * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        width = float(size[size > 0.0].min(initial=width))
    normals, corners = normals @ mat.T, corners @ mat.T + pos
    return Piece(normals, offsets + normals @ pos, corners, corners.min(axis=0), corners.max(axis=0), width)


def _hull(v: Any, hull: int) -> tuple[Reals, Reals, Reals]:
    """Normals and offsets of the faces of a mesh's hull, and its corners."""
    first, last = int(v["hull_vertadr"][hull]), int(v["hull_vertadr"][hull + 1])
    faces = np.unique(v["hull_face"][int(v["hull_faceadr"][first]) : int(v["hull_faceadr"][last])])
    normals = np.asarray(v["hull_normal"], float)[faces]
    corner = np.asarray(v["hull_corner"])[np.asarray(v["hull_corneradr"])[faces]]
    vert = np.asarray(v["hull_vert"], float)
    return normals, (normals * vert[corner]).sum(axis=1), vert[first:last]


def geom_pose(v: Any, g: int) -> tuple[Reals, Matrix]:
    """Position (m) and rotation of a geom in the frame of the first of the bodies welded together."""
    pos, mat = np.array(v["geom_pos"][g], float), np.array(v["geom_mat"][g], float).reshape(3, 3)
    b = int(v["geom_bodyid"][g])
    while b != int(v["body_weldid"][b]):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, np.asarray(v["body_quat"][b], float))
        turn = turn.reshape(3, 3)
        pos, mat = np.asarray(v["body_pos"][b]) + turn @ pos, turn @ mat
        b = int(v["body_parentid"][b])
    return pos, mat
