"""Deformable bodies (flexes) in the kernels' Model: vertices, edges, and elasticity.

Elements are linear. The energy of an element is a quadratic form of the growth of its edges' squared lengths; bending
is a quadratic form of the positions of two triangles' corners, with a cubic term for sheets that are curved at rest
(MuJoCo 4.0 documentation, Computation, "Deformable objects"; XML Reference, flex).
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.enums import ROPE, SHEET, SOLID
from saltus.model.flex.bands import bands
from saltus.model.flex.cells import cells
from saltus.model.flex.contacts import elements, runs
from saltus.model.flex.mujoco_contacts import skins
from saltus.model.flex.twist import FIELDS as TWIST
from saltus.model.flex.twist import touched_segments, twist_fields, twists, unsupported_twist

DISABLE = mujoco.mjtDisableBit
RECORD = {2: 21, 3: 24}  # numbers of an element in flex_stiffness
EDGES = {SHEET: 3, SOLID: 6}  # edges of an element
HYPERELASTIC = 21  # place in a record of three dimensions; zero for the linear law
BENDING = 17  # numbers of an edge in flex_bending
ROD = 10  # numbers of a record of a rod, after their count
UNIT = 1.0 + 1e-8  # 1/(|u₁| |u₂|) at rest, of `saltus.dynamics.flex.dihedrals`


class Flexes(NamedTuple):
    """Fields and sizes of the kernels' Model, and the features that they need compiled."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def unsupported(m: mujoco.MjModel, f: int) -> str:
    """Description of a feature of flex f that is not simulated; "" if there is none."""
    if m.flex_interp[f] < 0:
        return "shells on interpolated nodes"
    if m.flex_interp[f] and m.flex_edgeequality[f]:
        return "constraints of edges between nodes"
    missing = _unsupported_rod(m, f)
    if missing:
        return missing
    if m.flex_edgeequality[f] > 1:
        return "strain constraints"
    if m.flex_passive[f]:
        return "penalty contact"
    if m.flex_plasticmode[f]:
        return "plasticity"
    first = m.flex_stiffnessadr[f]
    if m.flex_dim[f] == SOLID and first >= 0 and not m.flex_interp[f]:
        records = m.flex_stiffness[first : first + RECORD[3] * m.flex_elemnum[f]].reshape(-1, RECORD[3])
        if records[:, HYPERELASTIC].any():
            return "hyperelasticity"
    return ""


def flexes(m: mujoco.MjModel, left_out: frozenset[str] = frozenset()) -> Flexes:
    """Fields, sizes and features of all flexes; empty if flexes are left out."""
    chosen = range(0) if "flex" in left_out else range(m.nflex)
    parts: list[dict[str, Any]] = []
    for f in chosen:
        parts.append(_flex(m, f, sum(len(part["rodedge_vert"]) for part in parts)))
    names = ("flexvert_bodyid", "flexvert_pos", "flexedge_vert", "flexedge_length0", "flexedge_stiffness")
    names += ("flexedge_damping", "flexedge_rayleigh", "triangle_edge", "triangle_stiffness", "tetrahedron_edge")
    names += ("tetrahedron_stiffness", "bend_vert", "bend_stiffness", "bend_volume", "bend_rayleigh")
    names += ("rod_vert", "rod_stiffness", "rod_curvature", "rod_rayleigh", "rod_shared")
    names += ("dihedral_vert", "dihedral_stiffness", "dihedral_curvature", "dihedral_rayleigh", *TWIST)
    values = {name: [row for part in parts for row in part[name]] for name in names}
    sizes = {"nflexvert": "flexvert_bodyid", "nflexedge": "flexedge_vert", "ntriangle": "triangle_edge"}
    sizes |= {"ntetrahedron": "tetrahedron_edge", "nbend": "bend_vert", "nrod": "rod_vert"}
    sizes |= {"ndihedral": "dihedral_vert", "nrodedge": "rodedge_vert", "nrodtwist": "rodtwist_edge"}
    values |= bands(m, values)
    sizes |= {"nband": "band_dof", "nv_band": "dof_band"}
    values |= elements(m, chosen) | {"flex_skin": skins(m)[list(chosen)]}
    values |= touched_segments(values)
    sizes |= {"nflex": "flex_dim", "nflexelem": "flexelem_vert"}
    sizes |= {"nflexvert_rod": "flexvert_rodedge", "nflexelem_rod": "flexelem_rodedge"}
    counts = {size: len(values[name]) for size, name in sizes.items()}
    counts["nflexrun"] = runs(m, counts["nflex"])
    counts["flex_spring"] = int(_springs(m))
    counts["nplastic"] = int(m.nplastic) if counts["nrodedge"] else 0
    more, numbers = cells(m, chosen)
    if numbers["nflexvert_cell"]:
        values["flexvert_bodyid"] += list(m.flex_nodebodyid)
        values["flexvert_pos"] += list(m.flex_node)
        counts["nflexvert"] += m.nflexnode
    words = {"flex": "nflexvert", "flexcell": "nflexvert_cell", "flexrod": "nrod", "dihedral": "ndihedral"}
    words |= {"rodtwist": "nrodtwist", "rodband": "nband"}
    counts |= numbers
    return Flexes(values | more, counts, {word for word, size in words.items() if counts[size]})


def _flex(m: mujoco.MjModel, f: int, segments: int) -> dict[str, Any]:
    """The fields of one flex; vertices and edges by their numbers among all; `segments`: those of rods before it."""
    first, number = int(m.flex_vertadr[f]), int(m.flex_vertnum[f])
    springs = _springs(m)
    dampers = not m.opt.disableflags & DISABLE.mjDSBL_DAMPER.value
    # edges of interpolated flexes have neither springs nor dampers of their own
    count = 0 if m.flex_interp[f] else int(m.flex_edgenum[f])
    edges = slice(int(m.flex_edgeadr[f]), int(m.flex_edgeadr[f]) + count)
    free = ~m.flexedge_rigid[edges].astype(bool)
    rayleigh = float(m.flex_damping[f]) * dampers
    found = {
        "flexvert_bodyid": m.flex_vertbodyid[first : first + number],
        "flexvert_pos": m.flex_vert[first : first + number],
        "flexedge_vert": m.flex_edge[edges] + first,
        "flexedge_length0": m.flexedge_length0[edges],
        "flexedge_stiffness": m.flex_edgestiffness[f] * free * springs,
        "flexedge_damping": m.flex_edgedamping[f] * free * dampers,
        "flexedge_rayleigh": np.full(len(free), rayleigh),
    }
    return found | _elements(m, f) | _bends(m, f, rayleigh) | _rods(m, f, rayleigh, segments)


def edge_address(m: mujoco.MjModel, f: int) -> int:
    """Number of the first edge of flex f in the kernels' Model, which lacks edges of interpolated flexes."""
    return int(sum(m.flex_edgenum[k] for k in range(f) if not m.flex_interp[k]))


def _unsupported_rod(m, f) -> str:
    """Description of unsupported bending or torsion of a one-dimensional flex."""
    if m.flex_dim[f] != ROPE or m.flex_bendingadr[f] < 0 or not twists(m, f):
        return ""
    return unsupported_twist(m, f, _rod_records(m, f)[0])


def _own(m, f) -> bool:
    """Whether elements of a flex resist deformation: its vertices are neither on one body nor interpolated."""
    return not m.flex_rigid[f] and not m.flex_interp[f]


def _springs(m) -> bool:
    return not m.opt.disableflags & DISABLE.mjDSBL_SPRING.value


def _elements(m, f) -> dict[str, Any]:
    """Edges and stiffness [ne (ne + 1)/2], the upper triangle row by row (J/m⁴), of triangles and tetrahedra."""
    out: dict[str, Any] = {}
    for dim, name in ((SHEET, "triangle"), (SOLID, "tetrahedron")):
        edges, count, adr = EDGES[dim], 0, int(m.flex_stiffnessadr[f])
        if m.flex_dim[f] == dim and adr >= 0 and m.flex_stiffness[adr] != 0 and _own(m, f):
            count = int(m.flex_elemnum[f])
        places = int(m.flex_elemedgeadr[f]) + np.arange(edges * count)
        records = m.flex_stiffness[adr : adr + RECORD[dim] * count].reshape(count, RECORD[dim])
        out[f"{name}_edge"] = m.flex_elemedge[places].reshape(count, edges) + edge_address(m, f)
        out[f"{name}_stiffness"] = records[:, : edges * (edges + 1) // 2]
    return out


def _bends(m, f, rayleigh) -> dict[str, Any]:
    """Pairs of triangles: edge and opposite corners, stiffness [10] (N/m), factor of the volume (N/m²)."""
    adr, count = int(m.flex_bendingadr[f]), 0
    if m.flex_dim[f] == SHEET and adr >= 0 and _own(m, f):
        count = int(m.flex_edgenum[f])
    edges = int(m.flex_edgeadr[f]) + np.arange(count)
    records = m.flex_bending[adr : adr + BENDING * count].reshape(count, BENDING)
    inner = m.flex_edgeflap[edges, 1] >= 0
    corners = np.hstack([m.flex_edge[edges], m.flex_edgeflap[edges]])[inner] + int(m.flex_vertadr[f])
    square = records[inner, :16].reshape(-1, 4, 4)
    return {
        "bend_vert": corners,
        "bend_stiffness": square[:, *np.triu_indices(4)],
        "bend_volume": records[inner, 16],
        "bend_rayleigh": np.full(int(inner.sum()), rayleigh),
    }


def _rod_records(m, f) -> tuple[np.ndarray, np.ndarray]:
    """Records of a rod in flex_bending: of vertices alone, and of pairs of adjacent vertices.

    Alone: vertices [3], -1, stiffness, what a box adds to it (J), curvature at rest, joint, torsional stiffness (J),
    half-size of a box (m). Pairs: vertices [4], stiffness of both (J), curvature of both at rest, torsional stiffness
    times the cosine and sine of the angle between their planes at rest (J).
    """
    adr = int(m.flex_bendingadr[f])
    records = m.flex_bending[adr + 1 : adr + 1 + ROD * int(m.flex_bending[adr])].reshape(-1, ROD)
    alone = records[:, 3] < 0
    return records[alone], records[~alone]


def _rods(m, f, rayleigh, segments) -> dict[str, Any]:
    """Vertices of a rod that bend, and pairs of these whose planes of bending have an angle between them."""
    alone = pairs = np.zeros((0, ROD))
    twist: dict[str, Any] = dict.fromkeys(TWIST, ())
    if m.flex_dim[f] == ROPE and m.flex_bendingadr[f] >= 0 and _own(m, f):
        alone, pairs = _rod_records(m, f)
        if twists(m, f):
            twist = twist_fields(m, f, alone, rayleigh, segments)
            alone = alone[:0]
    first = int(m.flex_vertadr[f])
    count, shared = len(pairs), (0, 2, 1)  # segment that a vertex shares with another of its pair
    return twist | {
        "rod_vert": np.vstack([alone[:, :3], pairs[:, :3], pairs[:, 1:4]]).astype(int) + first,
        "rod_stiffness": np.concatenate([alone[:, 4], pairs[:, 4], pairs[:, 5]]),
        "rod_curvature": np.concatenate([alone[:, 6], pairs[:, 6], pairs[:, 7]]),
        "rod_rayleigh": np.full(len(alone) + 2 * count, rayleigh),
        "rod_shared": np.repeat(shared, (len(alone), count, count)),
        "dihedral_vert": pairs[:, :4].astype(int) + first,
        "dihedral_stiffness": pairs[:, 8:10] * UNIT,
        "dihedral_curvature": pairs[:, 6:8],
        "dihedral_rayleigh": np.full(count, rayleigh),
    }
