"""Convex hulls of meshes in the kernels' form: vertices, edges, polygons, and starting points of hill climbing.

MuJoCo's compiler computes the hulls, and merges triangles in one plane to polygons.
"""

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

from saltus.model.enums import HFIELD, MESH
from saltus.number.intrinsics.blocks import AT_ONCE

FACES = ("hull_faceadr", "hull_face", "hull_normal", "hull_corneradr", "hull_corner", "hull_polyadr")
# most pairs with remembered separating axes, and most lanes (see `saltus.contact.convex.last_axis`)
LAST_PAIRS, LAST_LANES = 256, 16
MOST_CORNERS = 128  # most corners of a face
CELLS = 16  # cells along each edge of the cube whose surface holds the starting points of climbs


NO_HULLS: dict[str, Any] = dict.fromkeys(
    ("geom_hull", "hull_vertadr", "hull_vert", "hull_edgeadr", "hull_edge", "hull_star", "hull_seed", *FACES), ()
)


def hulls(m: mujoco.MjModel, geoms: Iterable[int]) -> dict[str, Any]:
    """Fields of the hulls of the meshes among `geoms`, each of which has a hull."""
    meshes = sorted({int(m.geom_dataid[g]) for g in geoms if m.geom_type[g] == MESH})
    number = {mesh: k for k, mesh in enumerate(meshes)}
    parts = [_hull(m, mesh) for mesh in meshes]
    first = np.cumsum([0, *[len(vert) for vert, _ in parts]])
    vertices = np.concatenate([vert for vert, _ in parts]) if parts else np.zeros((0, 3))
    blocks = [
        _blocks(others + first[k], first[k] + i) for k, (_, lists) in enumerate(parts) for i, others in enumerate(lists)
    ]
    edges = np.concatenate(blocks) if blocks else np.zeros((0, AT_ONCE), int)
    seeds = [_seeds(vert) + first[k] for k, (vert, _) in enumerate(parts)]
    own = [m.geom_type[g] == MESH and int(m.geom_dataid[g]) in number for g in range(m.ngeom)]
    return {
        "geom_hull": [number[int(m.geom_dataid[g])] if own[g] else -1 for g in range(m.ngeom)],
        "hull_vertadr": first,
        "hull_vert": vertices,
        "hull_edgeadr": np.cumsum([0, *map(len, blocks)]),
        "hull_edge": edges,
        "hull_star": vertices[edges].transpose(0, 2, 1).reshape(-1, 3 * AT_ONCE),
        "hull_seed": np.concatenate(seeds) if seeds else [],
        **_faces(m, meshes, first),
    }


def boxes_and_hulls(m: mujoco.MjModel, features: set[str], geoms: Iterable[int]) -> dict[str, Any]:
    """Fields of boxes and of hulls, as far as the features of pairs of geoms need them."""
    geoms = list(geoms)
    fields = any(m.geom_type[g] == HFIELD for g in geoms)
    searched = fields or features & {"field", "convex"}
    found = hulls(m, geoms if are_known(m) else ()) if searched else NO_HULLS
    if fields:
        field = m.geom_type == HFIELD
        names = ("hfield_size", "hfield_nrow", "hfield_ncol", "hfield_adr", "hfield_data")
        found |= {"geom_hull": np.where(field, m.geom_dataid, found["geom_hull"])}
        found |= {name: getattr(m, name) for name in names}
    return {"geom_aabb": boxes(m) if searched or "foreign" in features else np.zeros((0, 6)), **found}


def boxes(m: mujoco.MjModel) -> np.ndarray:
    """The boxes about geoms [ngeom, 6] (m): centres and half sizes in the geoms' frames.

    Boxes of height fields are as high as their data; MuJoCo's have the largest height that the file allows.
    """
    boxes = m.geom_aabb.copy()
    for g in np.flatnonzero(m.geom_type == HFIELD):
        field = int(m.geom_dataid[g])
        first, size = int(m.hfield_adr[field]), m.hfield_size[field]
        heights = m.hfield_data[first : first + int(m.hfield_nrow[field] * m.hfield_ncol[field])]
        top, base = size[2] * float(heights.max()), size[3]
        boxes[g, 2], boxes[g, 5] = 0.5 * (top - base), 0.5 * (top + base)
    return boxes


def are_known(m: mujoco.MjModel) -> bool:
    """Whether MuJoCo's compiler has made the hulls of all meshes that may touch, and no face has too many corners."""
    touching = (m.geom_type == MESH) & ((m.geom_contype != 0) | (m.geom_conaffinity != 0))
    touching[m.pair_geom1] |= m.geom_type[m.pair_geom1] == MESH
    touching[m.pair_geom2] |= m.geom_type[m.pair_geom2] == MESH
    meshes = np.unique(m.geom_dataid[touching])
    if not len(meshes):
        return True
    faces = np.concatenate([np.arange(m.mesh_polyadr[k], m.mesh_polyadr[k] + m.mesh_polynum[k]) for k in meshes])
    known = (m.mesh_graphadr[meshes] >= 0).all() and (m.mesh_polynum[meshes] > 0).all()
    return bool(known and m.mesh_polyvertnum[faces].max() <= MOST_CORNERS)


def _hull(m, mesh: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vertices of a mesh's hull [n, 3] (m) and the neighbours of each."""
    adr = int(m.mesh_graphadr[mesh])
    n = int(m.mesh_graph[adr])
    edgeadr, verts, edges = np.split(m.mesh_graph[adr + 2 :], [n, 2 * n])
    vert = m.mesh_vert[int(m.mesh_vertadr[mesh]) + verts].astype(float)
    lists = []
    for at in edgeadr:
        end = int(at)
        while edges[end] >= 0:
            end += 1
        lists.append(edges[at:end].astype(int))
    return vert, lists


def _blocks(others: np.ndarray, own: int) -> np.ndarray:
    """The neighbours of a vertex in blocks [n, AT_ONCE], the last one padded with the vertex's own number."""
    filled = np.full((-(-len(others) // AT_ONCE), AT_ONCE), own)
    filled.flat[: len(others)] = others
    return filled


def _faces(m, meshes: list[int], first: np.ndarray) -> dict[str, Any]:
    """Polygons of all hulls; `first`: number of the first vertex of each."""
    about, normals, corners, firsts = [], [], [], [0]
    for k, mesh in enumerate(meshes):
        adr, start, base = int(m.mesh_graphadr[mesh]), int(m.mesh_vertadr[mesh]), len(normals)
        n = int(m.mesh_graph[adr])
        verts = m.mesh_graph[adr + 2 + n : adr + 2 + 2 * n]
        number = dict(zip(map(int, verts), range(int(first[k]), int(first[k + 1])), strict=True))
        for v in verts:
            at = int(m.mesh_polymapadr[start + v])
            about.append(m.mesh_polymap[at : at + int(m.mesh_polymapnum[start + v])] + base)
        polygons = slice(int(m.mesh_polyadr[mesh]), int(m.mesh_polyadr[mesh]) + int(m.mesh_polynum[mesh]))
        normals += list(m.mesh_polynormal[polygons])
        firsts.append(len(normals))
        for at, size in zip(m.mesh_polyvertadr[polygons], m.mesh_polyvertnum[polygons], strict=True):
            corners.append([number[int(v)] for v in m.mesh_polyvert[at : at + size]])
    return {
        "hull_faceadr": np.cumsum([0, *map(len, about)]),
        "hull_face": np.concatenate([*about, []]),
        "hull_normal": np.reshape(normals, (-1, 3)),
        "hull_corneradr": np.cumsum([0, *map(len, corners)]),
        "hull_corner": np.concatenate([*corners, []]),
        "hull_polyadr": firsts,
    }


def _seeds(vert: np.ndarray) -> np.ndarray:
    """The vertex farthest in the middle direction of each cell of the cube's surface [6 * CELLS * CELLS].

    Sides are +x, -x, +y, ...; cells go along the next axis and then the one after it, in cyclic order.
    """
    middle = (2 * np.arange(CELLS) + 1) / CELLS - 1
    a, b = (x.ravel() for x in np.meshgrid(middle, middle, indexing="ij"))
    found = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            u = np.empty((CELLS * CELLS, 3))
            u[:, axis], u[:, (axis + 1) % 3], u[:, (axis + 2) % 3] = sign, a, b
            found.append(np.argmax(u @ vert.T, axis=1))
    return np.concatenate(found)
