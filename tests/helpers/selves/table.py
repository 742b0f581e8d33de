"""The table of kernels that are compared with themselves: what each takes, see `helpers.selves.inputs`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """Inputs of a kernel, in words, and the comparison of its results.

    `factor`: by how much more roundings may count than those of its inputs; `tangents`: whether it has those of its
    values; `lanes`: whether lanes decide for themselves; `together`: whether inputs are added to each other, so that
    roundings of the largest count for all, also of results; `shape`: a function that makes real inputs [n] fit each
    other; `flag`: the number among results that tells whether the others mean anything; `fixed`:
    real inputs that have no tangents; `why`: the reason for what is not usual.
    """

    words: str
    factor: float = 1.0
    tangents: bool = True
    lanes: bool = True
    together: bool = False
    shape: Callable | None = None
    flag: int | None = None
    fixed: tuple[int, ...] = ()
    why: str = ""


SPATIAL = {
    "spatial.articulated": {
        "symmetric_zero": Row("x"),
        "symmetric_add_rigid": Row("v21 v10"),
        "symmetric_times": Row("v21 v6"),
        "symmetric_minus_outer": Row("v21 v6 x"),
        "symmetric_add": Row("v21 v21"),
    },
    "spatial.motions": {
        "add6": Row("v6 v6"),
        "sub6": Row("v6 v6"),
        "scale6": Row("x v6"),
        "add_scaled6": Row("v6 x v6"),
        "dot6": Row("v6 v6"),
        "velocity_at": Row("v6 v3"),
        "acceleration_at": Row("v6 v6 v3"),
        "add10": Row("v10 v10"),
        "cross_motion": Row("v6 v6"),
        "cross_force": Row("v6 v6"),
        "inertia_times_motion": Row("v10 v6"),
        "unit_wrench": Row("v3 v3"),
    },
    "spatial.quaternions": {
        "quat_multiply": Row("q q"),
        "quat_conjugate": Row("q"),
        "quat_normalize": Row("v4"),
        "quat_or_one": Row("v4"),
        "quat_rotate": Row("q v3"),
        "quat_to_matrix": Row("q"),
        "axis_angle_to_quat": Row("u3 a"),
        "quat_exp": Row("v3"),
        "quat_log": Row("q"),
        "dexp_inverse": Row("c3 v3"),
        "dexp": Row("c3 v3"),
    },
    "spatial.vectors": {
        "add3": Row("v3 v3"),
        "sub3": Row("v3 v3"),
        "scale3": Row("x v3"),
        "add_scaled3": Row("v3 x v3"),
        "multiply3": Row("v3 v3"),
        "dot3": Row("v3 v3"),
        "length3": Row("v3"),
        "cross": Row("v3 v3"),
        "where3": Row("? v3 v3"),
        "distance_direction": Row("v3 v3"),
        "z_axis": Row("R"),
        "matrix_times_vector": Row("R v3"),
        "transpose_times_vector": Row("R v3"),
        "matrix_times_matrix": Row("R R"),
        "rotate_diagonal": Row("R v3"),
        "rotate_symmetric": Row("R v6"),
    },
}


def _curve(x):
    """Impedances in (0, 1), width, midpoint in (0, 1), power of at least 1; then the violation, at its edges."""
    first, full, width, midpoint, power, r = np.abs(x)
    bounded = [min(max(v / (1 + v), 1e-4), 0.9999) for v in (first, full, midpoint)]
    power = [1.0, 2.0, 3.0, 1.5][int(power * 64) % 4]
    place = [0.0, width, bounded[2] * width, r, 2 * width, 1e-3 * width][int(r * 64) % 6]
    return [bounded[0], bounded[1], width, bounded[2], power, np.sign(x[5]) * place]


def _muscle(x):
    """A length, at the ends of the pieces, the least below 1, and the greatest above it."""
    low, high = 1 / (1.1 + abs(x[1])), 1.1 + min(abs(x[2]), 10.0)
    ends = [low, 0.5 * (low + 1), 1.0, 0.5 * (1 + high), high, 0.0, abs(x[0]), 0.7 * low + 0.3 * high]
    return [ends[int(abs(x[0]) * 64) % 8], low, high]


def _apart(x):
    """A point that is none of the corners, which do not lie in one line or plane."""
    corners = np.eye(4, 3)[: len(x) // 3 - 1] + 0.2 * np.tanh(x[3:]).reshape(-1, 3)
    return [*(x[:3] + [0.013, 0.017, 0.029]), *corners.ravel()]


def _signs(x):
    return np.where(x < 0, -1.0, 1.0)


def _ordered(first, second):
    """The number at one place is not above that at another."""

    def shape(x):
        x = np.array(x)
        x[[first, second]] = np.sort(x[[first, second]])
        return x

    return shape


def _increasing(x):
    """Coefficients of a polynomial that increases on [0, 1], then a target at, between or beyond its ends."""
    p = np.abs(x[:6]) / (1.0 + np.abs(x[:6])) + [0, 0.1, 0, 0, 0, 0]
    target = [p[0], p.sum(), p[0] - 1, p.sum() + 1, p[0] + 0.3 * p[1], p[0] + 0.9 * p[1:].sum()]
    return [*p, target[int(abs(x[6]) * 64) % 6]]


def _segments(x):
    """Products a·a, b·b, a·b of two segments that do not fold back."""
    a, b, share = abs(x[0]) + 0.1, abs(x[1]) + 0.1, x[2] / (1 + abs(x[2]))
    return [a, b, 0.95 * share * np.sqrt(a * b)]


def _around(p, q, radius):
    """Two points [2] outside a circle, of which the straight line meets it for most p and q, and grazes it for some."""
    turn = 1.2 + 1.9 / (1.0 + np.exp(-q[0]))
    first, second = 1.2 + 0.5 * np.tanh(np.abs(p[0])), 1.2 + 0.5 * np.tanh(np.abs(q[1]))
    angle = p[1] if abs(p[1]) < 10 else 0.0
    return (
        radius * first * np.array([np.cos(angle), np.sin(angle)]),
        radius * second * np.array([np.cos(angle + turn), np.sin(angle + turn)]),
    )


def _taut(x):
    """Both ends outside of the circle, and an angle between them at which the path touches it, more often than not."""
    p, q = _around(x[0:2], x[2:4], x[6])
    reach = sum(np.arccos(x[6] / np.linalg.norm(end)) for end in (p, q))
    share = np.tanh(abs(x[4])) + (0.0 if x[5] > 0.0 else 1.0)
    return [*p, *q, np.copysign(reach * share, x[4]), *x[5:]]


def _wrapped(x):
    """In place of the axes those of a rotation, and both ends outside of the circle."""
    axes, _ = np.linalg.qr(x[9:18].reshape(3, 3) + 1e-3 * np.arange(9.0).reshape(3, 3))
    ends = [a[0] * axes[:, 0] + a[1] * axes[:, 1] for a in _around(x[0:2], x[3:5], x[18])]
    heights = [np.tanh(x[k]) * axes[:, 2] for k in (2, 5)]
    return [*(ends[0] + heights[0]), *(ends[1] + heights[1]), *x[6:9], *axes.T.ravel(), x[18]]


MEANINGLESS = "where the path does not touch, its numbers mean nothing"
NUMBER = {
    "number.functions": {
        "minimum": Row("x x"),
        "maximum": Row("x x"),
        "clip": Row("x x x", shape=_ordered(1, 2)),
    },
    "number.trigonometry": {"atan2_real": Row("x x", tangents=False, why="its tangents are those of `atan2_dual`")},
}
DYNAMICS = {
    "dynamics.actuator.hill_curves": {
        "quintic": Row("v6 w"),
        "quintic_slope": Row("v6 w"),
        "choose6": Row("? v6 v6"),
        "mix6": Row("x v6 x v6"),
        "parameter": Row("v6 x", tangents=False, factor=1e8, shape=_increasing, why="accurate to 1e-9, as documented"),
    },
    "dynamics.actuator.hill_muscle": {"bounded_activation": Row("x")},
    "dynamics.actuator.muscle": {"smooth_step": Row("x"), "length_gain": Row("x x x", shape=_muscle)},
    "dynamics.actuator.servo": {"nearest": Row("a a +"), "limited_integrand": Row("x x f0,1,2")},
    "dynamics.energy": {"_spring_energy": Row("+ v2 x")},
    "dynamics.flex.cells": {"rotation": Row("R", factor=1e8, why="ends at angles below 1e-9")},
    "dynamics.flex.rods": {
        "damped": Row("(v3) v3"),
        "square_of": Row("v3", shape=_segments),
        "square_slope": Row("v3", shape=_segments),
        "row": Row("v3 v3 + v3 v3 n2,-2"),
    },
    "dynamics.fluid.force": {"_resistance": Row("0+ 0+3 v3"), "stream": Row("0+3 v3")},
    "dynamics.fluid.force_derivative": {"_resistance": Row("0+ 0+3 v3 v3")},
    "dynamics.tendon.wrap": {
        "wrap": Row("v3 v3 v3 i0,1 (v3 v3 v3) p", shape=_wrapped, flag=0, why=MEANINGLESS),
        "sphere_frame": Row("v3 v3"),
        "_in_plane": Row("(v3 v3 v3) v3"),
        "_in_space": Row("(v3 v3 v3) x x x"),
        "_dot": Row("v2 v2"),
        "_cross": Row("v2 v2"),
        "winding": Row("u2 u2 v2"),
        # slopes of directions are sums whose terms cancel
        "taut": Row("v2 v2 x ? p", shape=_taut, flag=0, factor=16.0, why=MEANINGLESS),
    },
    "dynamics.tree.bias_derivative": {"velocity_force": Row("v10 v6 v6"), "unit": Row("i0,1,2,3,4,5 x")},
    "dynamics.tree.com_frame": {"_rotation": Row("v3 v3")},
    "dynamics.tree.tendon_inertia": {"_inverse": Row("0+")},
}
CONTACT = {
    "contact.barycentric": {
        "segment_weights": Row("v3 v3 v3"),
        "triangle_weights": Row(
            "v3 v3 v3 v3", together=True, shape=_apart, why="weights of coinciding corners are arbitrary"
        ),
        "edge_weights": Row("v3 v3 v3 v3", together=True, shape=_apart),
        "weighted3": Row("w3 v3 v3 v3"),
        "tetrahedron_weights": Row(
            "v3 v3 v3 v3 v3", together=True, shape=_apart, why="weights of coinciding corners are arbitrary"
        ),
        "_square": Row("v3 v3"),
        "_nearer": Row("w4 0+ w4 0+"),
        "_where4": Row("? v4 v4"),
    },
    "contact.broad.bounds": {"half_extent": Row("v6 x x x +")},
    "contact.contact_list": {
        "first_tangent": Row("u3 v3"),
        "across": Row("v3 u3"),
        "unit_or_x": Row("v3"),
    },
    "contact.convex.bounding_boxes": {
        "widest_product": Row("R v3 p3 p3", tangents=False, why="read in conditions only")
    },
    "contact.convex.last_gap": {"changed": Row("v3 v3")},
    "contact.flex.broad_phase": {
        "around": Row("v3 v3 v3"),
        "box_near": Row("v3 v3 v3 +", lanes=False, why="asks whether any lane is near"),
    },
    "contact.flex.narrow_phase": {
        "sign": Row("x"),
        "step": Row("v3 v3 p w", together=True),
        "boxes_near": Row("v3 v3 v3 v3 p", lanes=False, why="asks whether any lane is near"),
    },
    "contact.flex.self_collision": {"boxes_meet": Row("v6 v6")},
    "contact.flex.tetrahedron": {
        "inside": Row("v3 (v3 v3 v3 v3)", shape=_apart, why="flat ones have no inside but for rounding"),
        "nearer": Row("(0+ v3 v3) v3 v3"),
        "nearest_pair": Row("v3 v3 (v3 v3 v3 v3)", together=True),
        "nearer_edge": Row("(p v3 v3) v3 v3 v3 v3"),
        "face_of": Row("v3 v3 v3 v3 v3 v3"),
        "passes": Row("((v3 x x) (v3 x x) (v3 x x) (v3 x x))"),
        "over_edge": Row("(p v3 v3) v3 v3 v3 v3 v3 v3"),
    },
    "contact.flex.triangle": {"nearest_on_triangle": Row("v3 (v3 v3 v3)")},
    "contact.rows.equality": {"turned": Row("q v3 q")},
    "contact.rows.flex_contacts": {
        "shape_function": Row("x i0,1,2 i1,2 i3"),
        "chosen": Row("w4 i0,1,2,3"),
    },
    "contact.rows.soft_law": {
        "impedance": Row("(x x x x x) x", together=True, fixed=(4,), shape=_curve, why="y is 1 less a power"),
        "other_power": Row("n1,2,3"),
        "reference": Row("+ + w x x"),
    },
}
RIGID = {
    "contact.rigid.box": {
        "nearest_face": Row("c3 p3", shape=lambda x: [*(x[:3] * x[3:]), *x[3:]]),
        "beside": Row("v3 v3 p3"),
        "nearest_end": Row("v3 v3 p3"),
        "edge_to_axis": Row("v3 v3 p3 p i0,1,2 (n-1,1 n-1,1 n-1,1)"),
        "from_face": Row("v3 v3 p3 n-1,1 n0,1,2,-1"),
        "inward_signs": Row("v3 (n-1,1 n-1,1 n-1,1)"),
        "widths": Row("v3 p3"),
    },
    "contact.rigid.box_axes": {
        "widest_face_axis": Row("R v3 p3 p3"),
        "widest_edge_axis": Row("R v3 p3 p3 x"),
        "face_stands_for": Row("R n0,1,2,3,4,5 n0,1,2 n0,1,2 x x p"),
    },
    "contact.rigid.box_box": {
        "edge_contact": Row("R v3 p3 p3 n0,1,2 n0,1,2"),
        "support": Row("c c p3 n-1,1"),
        "nearest_points": Row("v3 p v3 p u3"),
    },
    "contact.rigid.box_faces": {"span": Row("x x p")},
    "contact.rigid.ellipsoid": {
        "rolling_radius": Row("+3"),
        "relative_axes": Row("R R"),
        "start": Row("(v3 s6 0+3 0+3) R i0,1,2,3,4,5,6,7,8"),
    },
    "contact.rigid.lane_choice": {
        "pick3": Row("i0,1,2 v3"),
        "largest3": Row("v3"),
        "component": Row("n0,1,2 v3"),
        "row": Row("i0,1,2 v9"),
        "column": Row("n0,1,2 v9"),
        "transposed": Row("v9"),
        "where9": Row("? v9 v9"),
        "cycled": Row("n0,1,2 v3"),
        "uncycled": Row("n0,1,2 v3"),
        "cycled_columns": Row("n0,1,2 v9"),
        "cycled_rows": Row("n0,1,2 v9"),
    },
    "contact.rigid.plane": {"no_vector": Row("x")},
    "contact.rigid.sphere_capsule": {"side_by_side": Row("n-1,1 x x x p p")},
    "contact.rigid.support_ascent": {
        "symmetric_times_vector": Row("s6 v3"),
        "times3": Row("v3 v3"),
        "unit": Row("u3"),
        "separation": Row("(v3 s6 0+3 0+3) u3"),
        "ridge_sign": Row("0+ x", tangents=False, why="signs"),
        "newton_step": Row("(v3 s6 p3 p3) u3 (n-1,1 n-1,1 n-1,1)", factor=4.0),
        "leave": Row("0+ x n-1,0,1"),
        "second_tangent": Row("u3 (n-1,0,1 n-1,1 n-1,1)"),
        "on_ridge": Row("(n-1,0,1 n-1,0,1 n-1,0,1) v3"),
        "moved": Row("(n-1,0,1 n-1,0,1 n-1,0,1) (n-1,0,1 n-1,0,1 n-1,0,1) v3"),
        "solve_positive": Row("x x x x x p", together=True, factor=4.0),
        "stop_at_ridges": Row("p3 u3 v3 v3", shape=lambda x: [*x[:6], *_signs(x[3:6]), *x[9:]]),
        "way_to_ridge": Row("0+ x n-1,1 x", shape=lambda x: [*x[:2], *_signs(x[1:2]), x[3]]),
        "stop_at_pole": Row("p3 u3 u3 (n-1,1 n-1,1 n-1,1) w"),
    },
}


def _quadratic(x):
    """a = v·v, b = v·p, c = p·p - 1 of a ray and the unit ball: b² is at most a (c + 1)."""
    square = min(abs(x[2]), 1e4)
    return [x[0], np.tanh(x[1]) * np.sqrt(x[0] * square), square - 1.0]


OF_DIFFERENCES = "a root near zero is as accurate as c, which is a difference of numbers like b"
OTHERS = {
    "solve.implicit.bicgstab": {"ratio": Row("x x")},
    "solve.soft.discrete_rows": {"room": Row("p", shape=lambda x: x / (1.0 + x))},
    "solve.soft.line_search": {"next_length": Row("p x + 0+ p", shape=_ordered(3, 4))},
    "integrate.adaptive.step_size": {"large_enough": Row("+ x"), "trial_step_size": Row("+ +")},
    "integrate.implicit.newton_convergence": {"far": Row("0+ + 0+ + +", tangents=False, why="a condition")},
    "integrate.passing": {"turn": Row("R R")},
    "sense.geometry": {"inside": Row("i0,2,3,4,5,6 p3 v3")},
    "sense.ray": {
        "nearer": Row("x v3 (x v3)"),
        "ray_shape": Row("i0,2,3,4,5,6 p3 v3 R v3 u3"),
        "roots": Row("p x x", together=True, shape=_quadratic, why=OF_DIFFERENCES),
        "first_root": Row("p x x", together=True, shape=_quadratic, why=OF_DIFFERENCES),
        "unit": Row("v3"),
        "ray_plane": Row("0+3 v3 u3"),
        "ray_ellipsoid": Row("p3 v3 u3", together=True),
        "ray_side": Row("p3 v3 u3"),
        "ray_capsule": Row("p3 v3 u3"),
        "ray_cylinder": Row("p3 v3 u3"),
        "ray_box": Row("p3 v3 u3"),
        "ray_face": Row("p3 v3 u3 i-1,1"),
    },
    "sense.subtree": {"about": Row("v3 v3 v3 v3")},
    "sense.tactile": {
        "signed_distance": Row("i0,2,3,4,5,6 p3 v3"),
        "length": Row("v3"),
        "ellipsoid_distance": Row("p3 v3"),
        "box_distance": Row("p3 v3"),
    },
}


ROOMS = (SPATIAL, NUMBER, DYNAMICS, CONTACT, RIGID, OTHERS)
#: Rows by file and kernel.
FILES = {file: rows for room in ROOMS for file, rows in room.items()}
