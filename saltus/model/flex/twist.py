"""Rods whose segments twist, in the kernels' Model: segments with their joints and frames, and vertices between them.

MuJoCo binds a joint to each segment of an open rod but those that are clamped: both ends on one body (MuJoCo 4.0
documentation, XML Reference, flex/elasticity).
"""

import itertools
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

FRAME = 6  # numbers of a segment in `plastic`: tangent and reference direction
FIELDS = (
    *("rodedge_vert", "rodedge_qposadr", "rodedge_dofadr", "rodedge_bodyid", "rodedge_first", "rodedge_plastic"),
    *("rodedge_tangent0", "rodedge_normal0", "rodtwist_edge", "rodtwist_plastic", "rodtwist_stiffness"),
    *("rodtwist_damping", "rodtwist_rest"),
)


def twists(m: mujoco.MjModel, f: int) -> bool:
    """Whether the segments of flex f twist."""
    return bool(m.flex_plasticadr[f] >= 0 and m.flex_dim[f] == 1)


def unsupported_twist(m: mujoco.MjModel, f: int, records: NDArray[np.float64]) -> str:
    """Description of what is not simulated of a rod whose segments twist; "" if nothing."""
    if (records[1:, :2] != records[:-1, 1:3]).any():
        return "rods that twist and whose elements are not in order"
    if records[0, 9] != 0.0 and (m.flex_contype[f] or m.flex_conaffinity[f] or m.flex_selfcollide[f]):
        return "contacts of rods that twist with the section of a box (contype, conaffinity, selfcollide)"
    if np.any(m.qpos0[[m.jnt_qposadr[int(j)] for j in _joints(m, f, records) if j >= 0]]):
        return "joints that twist rods and have a reference (ref)"
    return ""


def twist_fields(
    m: mujoco.MjModel, f: int, records: NDArray[np.float64], rayleigh: float, first: int
) -> dict[str, Any]:
    """Fields of flex f, whose first segment is number `first` among all; `rayleigh`: time constant of damping (s)."""
    number = len(records) + 1
    joints = _joints(m, f, records)
    vertices = int(m.flex_vertadr[f]) + np.append(records[:, 0], records[-1, 1:3]).astype(int)
    ends = np.stack([vertices[:-1], vertices[1:]], axis=1)
    clamped = joints < 0
    bodies = np.where(clamped, m.flex_vertbodyid[ends[:, 0]], -1)
    places, turns = _at_rest(m, vertices)
    local = [turns[b].reshape(3, 3).T if b >= 0 else np.eye(3) for b in bodies]
    tangents, normals = reference_frames(places, turns[m.flex_vertbodyid[vertices[0]]].reshape(3, 3).T)
    if records[0, 9] < 0:  # the thin side of a box is along the first axis: the frame is turned to have it second
        normals = np.cross(tangents, normals)
    curved = records[:, 6] != 0.0  # those that MuJoCo's compiler takes for straight are at rest straight
    stiff, damped = _stiffness(records)
    at = int(m.flex_plasticadr[f])
    return {
        "rodedge_vert": ends,
        "rodedge_qposadr": np.where(clamped, -1, m.jnt_qposadr[joints]),
        "rodedge_dofadr": np.where(clamped, -1, m.jnt_dofadr[joints]),
        "rodedge_bodyid": bodies,
        "rodedge_first": np.arange(number) == 0,
        "rodedge_plastic": at + FRAME * np.arange(number),
        "rodedge_tangent0": [r @ t for r, t in zip(local, tangents, strict=True)],
        "rodedge_normal0": [r @ u for r, u in zip(local, normals, strict=True)],
        "rodtwist_edge": first + 1 + np.arange(number - 1),
        "rodtwist_plastic": at + FRAME * number + np.arange(number - 1),
        "rodtwist_stiffness": stiff,
        "rodtwist_damping": rayleigh * damped,
        "rodtwist_rest": curved[:, None] * rest_curvature(places, tangents, normals),
    }


def touched_segments(values: dict[str, Any]) -> dict[str, NDArray[np.int64]]:
    """The segments of all rods that contacts of vertices and of elements belong to, -1 for others; none without rods.

    A vertex belongs to the segment after it, the last one of a rod to the segment before.
    """
    ends = [tuple(int(v) for v in pair) for pair in values["rodedge_vert"]]
    vertices, elements = len(values["flexvert_bodyid"]), values["flexelem_vert"]
    of_vertex = np.full(vertices if ends else 0, -1)
    for e, (first, last) in reversed(list(enumerate(ends))):
        of_vertex[first] = e
        of_vertex[last] = e if of_vertex[last] < 0 else of_vertex[last]
    of_pair = {frozenset(pair): e for e, pair in enumerate(ends)}
    rows = elements[:, :2].tolist() if ends else []
    of_element = [of_pair.get(frozenset(row), -1) for row in rows]
    return {"flexvert_rodedge": of_vertex, "flexelem_rodedge": np.array(of_element, int)}


def _joints(m, f, records) -> NDArray[np.int64]:
    """The joint of each segment of flex f; -1 for clamped ones."""
    pair = int(m.flex_vertadr[f]) + records[0, :2].astype(int)
    alone = m.flex_vertbodyid[pair[0]] != m.flex_vertbodyid[pair[1]]
    before = records[0, 7] - 1 if alone else -1
    return np.append(before, records[:, 7]).astype(int)


def _stiffness(records) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Stiffness [3] of each vertex about both material axes and of torsion (J), and the same of its dampers.

    Dampers of the first, weak axis have the geometric mean of both stiffnesses.
    """
    weak, strong, torsion = records[:, 4], records[:, 4] + records[:, 5], records[:, 8]
    return np.stack([weak, strong, torsion], axis=1), np.stack([np.sqrt(weak * strong), strong, torsion], axis=1)


def _at_rest(m, vertices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Positions of vertices (m) and rotations of all bodies at qpos0."""
    d = mujoco.MjData(m)
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_flex(m, d)
    return d.flexvert_xpos[vertices].copy(), d.xmat.copy()


def reference_frames(
    places: NDArray[np.float64], local: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Tangents and reference directions [n - 1, 3] of a rod through places [n, 3] (m), without twist along it.

    The first reference direction is the y-axis across the segment, or the z-axis if the former is nearly along it, of
    the frame of the first place's body; `local` [3, 3]: from world axes to that frame.
    """
    spans = np.diff(places, axis=0)
    tangents = spans / np.linalg.norm(spans, axis=1)[:, None]
    axis = local[1 if abs(local[1] @ tangents[0]) < 0.5 else 2]
    across = axis - tangents[0] * (tangents[0] @ axis)
    normals = [across / np.linalg.norm(across)]
    for a, b in itertools.pairwise(tangents):
        # by the smallest rotation
        turn, u = np.cross(a, b), normals[-1]
        normals.append((a @ b) * u + np.cross(turn, u) + turn * (turn @ u) / (1.0 + a @ b))
    return tangents, np.array(normals)


def rest_curvature(places, tangents, normals) -> NDArray[np.float64]:
    """Components [n - 2, 4] of the curvature at inner places, along both axes of the segment before and after."""
    spans = np.diff(places, axis=0)
    lengths = np.linalg.norm(spans, axis=1)
    a, b = spans[:-1], spans[1:]
    size = lengths[:-1] * lengths[1:] + np.sum(a * b, axis=1)
    bend = 2.0 * np.cross(a, b) / size[:, None]
    binormals = np.cross(tangents, normals)
    axes = (normals[:-1], binormals[:-1], normals[1:], binormals[1:])
    return np.stack([np.sum(bend * axis, axis=1) for axis in axes], axis=1)
