"""Reference frames of rods whose segments twist: parallel to themselves in time.

Each segment has a unit tangent t and a reference direction u across it. From step to step u follows t by the smallest
rotation, so that it does not spin about t (Bergou et al., Discrete viscous threads (2010)); the joint that twists the
segment turns its material frame by θ about t from u. The reference twist at a vertex is the angle from u of the segment
before, brought to the segment after by the smallest rotation, to u of the latter; it is counted on beyond π. `plastic`
holds t and u at the start of the last step, then reference twists, as in MuJoCo 4.0; while t is 0, as at the start,
frames begin anew: at the first segment of a rod from its frame at qpos0, at others from the segment before. A clamped
segment, both ends of which are on one body, has the frame of this body.
"""

import math

from saltus.number.functions import atan2, floor, sincos, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, matrix_times_vector, scale3, sub3, where3

TURN = 2.0 * math.pi


@only_with("rodtwist")
@kernel
def twist_frames(m, d):
    """Tangents, reference directions, material axes [nrodedge, 3], reference twists [nrodtwist] (rad) now."""
    zero = (0.0 * d.time, 0.0 * d.time, 0.0 * d.time)
    for e in range(m.nrodedge):
        span = sub3(d.flexvert_xpos[m.rodedge_vert[e, 1]], d.flexvert_xpos[m.rodedge_vert[e, 0]])
        t = scale3(1.0 / sqrt(dot3(span, span)), span)
        d.rodedge_tangent[e] = t
        b = m.rodedge_bodyid[e]
        if b >= 0:
            d.rodedge_normal[e] = matrix_times_vector(d.xmat[b], m.rodedge_normal0[e])
        else:
            # the frame of the last step, or a new one
            start, normal = add3(m.rodedge_tangent0[e], zero), add3(m.rodedge_normal0[e], zero)
            if not m.rodedge_first[e]:
                start, normal = d.rodedge_tangent[e - 1], d.rodedge_normal[e - 1]
            last = kept(m, d, e, 0)
            known = dot3(last, last) > 0.5
            d.rodedge_normal[e] = transported(where3(known, kept(m, d, e, 3), normal), where3(known, last, start), t)
    for e in range(m.nrodedge):
        u = d.rodedge_normal[e]
        v = cross(d.rodedge_tangent[e], u)
        s, c = sincos(angle_of(m, d, e))
        d.rodedge_axis1[e] = add_scaled3(scale3(c, u), s, v)
        d.rodedge_axis2[e] = add_scaled3(scale3(c, v), -s, u)
    for k in range(m.nrodtwist):
        e = m.rodtwist_edge[k]
        t, u = d.rodedge_tangent[e], d.rodedge_normal[e]
        before = transported(d.rodedge_normal[e - 1], d.rodedge_tangent[e - 1], t)
        angle = atan2(dot3(cross(before, u), t), dot3(before, u))
        last = d.plastic[m.rodtwist_plastic[k]]
        d.rodtwist_angle[k] = angle + TURN * floor((last - angle) / TURN + 0.5)


@kernel(inline=True)
def angle_of(m, d, e):
    """θ of segment e (rad); 0 if clamped."""
    return d.qpos[m.rodedge_qposadr[e]] if m.rodedge_qposadr[e] >= 0 else 0.0 * d.time


@kernel(inline=True)
def kept(m, d, e, place):
    """Three numbers of segment e in `plastic`: its tangent at place 0, its reference direction at 3."""
    at = m.rodedge_plastic[e] + place
    return d.plastic[at], d.plastic[at + 1], d.plastic[at + 2]


@kernel
def transported(u, a, b):
    """The vector u turned by the smallest rotation that takes the unit vector a to b."""
    c, axis = dot3(a, b), cross(a, b)
    turned = add3(scale3(c, u), cross(axis, u))
    opposite = 1.0 + c < 1e-12
    share = dot3(axis, u) / where(opposite, 1.0 + 0.0 * c, 1.0 + c)
    return add_scaled3(turned, share, axis)


@kernel
def spin_slope(m, d, e):
    """Slope of the turn of u about t in the segment e (rad/m), beside its motion parallel to itself.

    The smallest rotation from the kept tangent p to t gives u, while t moves, the spin t × p · dt/(1 + p · t).
    """
    known = dot3(kept(m, d, e, 0), kept(m, d, e, 0)) > 0.5
    p, t = kept(m, d, e, 0), d.rodedge_tangent[e]
    span = sub3(d.flexvert_xpos[m.rodedge_vert[e, 1]], d.flexvert_xpos[m.rodedge_vert[e, 0]])
    free = 1.0 if m.rodedge_bodyid[e] < 0 else 0.0
    size = (1.0 + dot3(p, t)) * sqrt(dot3(span, span))
    weight = where(known, free / where(known, size, 1.0 + 0.0 * size), 0.0 * size)
    return scale3(weight, cross(t, p))


@kernel
def note_twist_frames(m, d):
    """plastic_next ← the reference frames and twists at the poses of all bodies."""
    rod_vertices(m, d)
    twist_frames(m, d)
    for e in range(m.nrodedge):
        at = m.rodedge_plastic[e]
        for i in range(3):
            d.plastic_next[at + i] = d.rodedge_tangent[e][i]
            d.plastic_next[at + 3 + i] = d.rodedge_normal[e][i]
    for k in range(m.nrodtwist):
        d.plastic_next[m.rodtwist_plastic[k]] = d.rodtwist_angle[k]


@kernel
def rod_vertices(m, d):
    """Positions flexvert_xpos (m) of the vertices of rods whose segments twist."""
    for e in range(m.nrodedge):
        for i in range(2):
            v = m.rodedge_vert[e, i]
            b = m.flexvert_bodyid[v]
            d.flexvert_xpos[v] = add3(d.xpos[b], matrix_times_vector(d.xmat[b], m.flexvert_pos[v]))
