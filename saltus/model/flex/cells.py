"""Deformable bodies whose vertices are interpolated between nodes: weights of the nodes, and cells of nodes.

Nodes stand on a regular grid, the last axis runs fastest; a cell has two of them along each axis (trilinear) or three
(quadratic). A vertex has constant weights, products of Lagrange's polynomials along the axes (MuJoCo 4.0
documentation, XML Reference, flexcomp/dof).
"""

from typing import Any

import mujoco
import numpy as np

NAMES = ("flexvert_nodeadr", "flexvert_nodenum", "flexvert_grid", "node_vert", "node_weight", "flexelem_nodes")
NAMES += ("cell_vertadr", "cell_vertnum", "cell_blockadr", "cell_rayleigh", "cell_vert", "cell_rest", "cell_gradient")
NAMES += ("cell_stiffness",)
SIZES = {"nflexvert_cell": "flexvert_grid", "nnodeweight": "node_vert", "nflexelem_cell": "flexelem_nodes"}
SIZES |= {"ncell": "cell_vertadr", "ncellvert": "cell_vert", "ncellblock": "cell_stiffness"}


def cells(m: mujoco.MjModel, chosen: range) -> tuple[dict[str, Any], dict[str, int]]:
    """Fields and sizes of interpolated flexes in the kernels' Model; empty if there are none.

    The nodes of all flexes count as vertices after all others.
    """
    values: dict[str, list] = {name: [] for name in NAMES}
    grids = [node_counts(m, f) for f in chosen]
    fixed: dict[str, Any] = {"flex_order": m.flex_interp[list(chosen)], "flex_nodes": np.reshape(grids, (-1, 3))}
    fixed["flex_nodeadr"] = m.flex_nodeadr[list(chosen)] + m.nflexvert
    if any(m.flex_interp[f] for f in chosen):
        for f in chosen:
            _weights(m, f, values)
            _cells(m, f, values)
        for name, rest in (("nodeadr", 0), ("nodenum", 0), ("grid", np.zeros(3))):
            values[f"flexvert_{name}"] += [rest] * m.nflexnode
    sizes = {size: len(values[name]) for size, name in SIZES.items()}
    return values | fixed, sizes | {"ncellwork": max(values["cell_vertnum"], default=0)}


def node_counts(m: mujoco.MjModel, f: int) -> np.ndarray:
    """Nodes along each axis [3]; (1, 1, 1) without interpolation."""
    return m.flex_cellnum[f] * m.flex_interp[f] + 1 if m.flex_interp[f] else np.ones(3, int)


def most_nodes(m: mujoco.MjModel, f: int) -> int:
    """Largest number of nodes that move an element of an interpolated flex."""
    span = _element_nodes(m, f)
    return int((span[:, 3:] - span[:, :3] + 1).prod(axis=1).max(initial=0))


def shape_functions(place: float, order: int, count: int) -> np.ndarray:
    """Lagrange's polynomials [order count + 1] of the nodes on an axis at a place, with cells of length 1."""
    cell = min(max(int(np.floor(place)), 0), count - 1)
    s = min(max(place - cell, 0.0), 1.0)
    out = np.zeros(order * count + 1)
    own = [1 - s, s] if order == 1 else [2 * s * s - 3 * s + 1, 4 * (s - s * s), 2 * s * s - s]
    out[order * cell : order * cell + order + 1] = own
    return out


def _grid(m, f) -> np.ndarray:
    """Places of the vertices [n, 3] with cells of length 1."""
    own = slice(int(m.flex_vertadr[f]), int(m.flex_vertadr[f] + m.flex_vertnum[f]))
    return m.flex_vert0[own] * m.flex_cellnum[f]


def _weights(m, f, values) -> None:
    """Append the nodes and weights of a flex's vertices, and the nodes of its elements."""
    number, order = int(m.flex_vertnum[f]), int(m.flex_interp[f])
    if not order:
        values["flexvert_nodeadr"] += [0] * number
        values["flexvert_nodenum"] += [0] * number
        values["flexvert_grid"] += [np.zeros(3)] * number
        values["flexelem_nodes"] += [np.zeros(6, int)] * int(m.flex_elemnum[f])
        return
    first = int(m.nflexvert + m.flex_nodeadr[f])
    for place in _grid(m, f):
        along = [shape_functions(s, order, int(n)) for s, n in zip(place, m.flex_cellnum[f], strict=True)]
        weights = np.einsum("i,j,k->ijk", *along).ravel()
        used = np.flatnonzero(weights)
        values["flexvert_nodeadr"].append(len(values["node_vert"]))
        values["flexvert_nodenum"].append(len(used))
        values["flexvert_grid"].append(place)
        values["node_vert"] += list(first + used)
        values["node_weight"] += list(weights[used])
    values["flexelem_nodes"] += list(_element_nodes(m, f))


def _element_nodes(m, f) -> np.ndarray:
    """First and last nodes along the axes [n, 6] of the cells that elements lie in."""
    dim, count, adr = int(m.flex_dim[f]), int(m.flex_elemnum[f]), int(m.flex_elemdataadr[f])
    corners = _grid(m, f)[m.flex_elem[adr : adr + count * (dim + 1)].reshape(count, dim + 1)]
    order, last = int(m.flex_interp[f]), m.flex_cellnum[f] - 1
    lower = np.clip(np.floor(corners.min(axis=1)), 0, last)
    upper = np.maximum(np.clip(np.ceil(corners.max(axis=1)) - 1, 0, last), lower)
    return np.hstack([order * lower, order * (upper + 1)]).astype(int)


def _cells(m, f, values) -> None:
    """Append the cells of a flex that resist deformation: their nodes, and the stiffness between these."""
    order, adr = int(m.flex_interp[f]), int(m.flex_stiffnessadr[f])
    if not order or adr < 0 or m.flex_rigid[f]:
        return
    size = (order + 1) ** 3
    numbers = np.arange(m.flex_nodenum[f]).reshape(node_counts(m, f))
    rest = m.flex_node0[m.flex_nodeadr[f] :]
    middle, slope = shape_functions(0.5, order, 1), np.array([-1.0, 1.0] if order == 1 else [-1.0, 0.0, 1.0])
    axes = [[slope if a == b else middle for b in range(3)] for a in range(3)]
    parametric = np.stack([np.einsum("i,j,k->ijk", *along).ravel() for along in axes], axis=1)
    blocks = np.triu_indices(size)
    damper = not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_DAMPER.value
    for e, cell in enumerate(np.ndindex(*m.flex_cellnum[f])):
        square = m.flex_stiffness[adr + 9 * size * size * e :][: 9 * size * size].reshape(size, 3, size, 3)
        if square[0, 0, 0, 0] == 0:  # the cell is outside the body
            continue
        own = numbers[tuple(slice(order * c, order * c + order + 1) for c in cell)].ravel()
        values["cell_vertadr"].append(len(values["cell_vert"]))
        values["cell_vertnum"].append(size)
        values["cell_blockadr"].append(len(values["cell_stiffness"]))
        values["cell_rayleigh"].append(float(m.flex_damping[f]) * damper)
        values["cell_vert"] += list(m.nflexvert + m.flex_nodeadr[f] + own)
        values["cell_rest"] += list(rest[own])
        values["cell_gradient"] += list(parametric @ np.linalg.inv(rest[own].T @ parametric))
        # negative in MuJoCo
        values["cell_stiffness"] += list(-square.transpose(0, 2, 1, 3)[blocks].reshape(-1, 9))
