"""Tangent of rods whose segments twist: products with vertices' displacements and with turns of segments.

Of the energy in `saltus.dynamics.flex.twist`, first derivatives squared in the positions of vertices, and second
derivatives in the turns of segments, where positive. Torsion couples both, and clamped segments turn, times
metric_coupling: 0 in the integrator discrete, whose tangent is MuJoCo's, and 1 in others, where the derivative of
dampers is exact. It is positive semidefinite.
"""

from saltus.dynamics.flex.elements import add_to_block
from saltus.dynamics.flex.rods import along_axis, bend_pull, bend_rate, damped
from saltus.dynamics.flex.twist import (
    add_torque,
    bend_of,
    components,
    material_axes,
    reference_slopes,
    spread_pair,
    two_segments,
)
from saltus.number.functions import maximum
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add_scaled3, dot3, scale3, sub3


@only_with("rodtwist")
@kernel
def begin_twist_tangent(m, d, p):
    """rodedge_spin ← the turn of segments for a displacement p [nv], of clamped ones times metric_coupling."""
    for e in range(m.nrodedge):
        d.rodedge_drag[e] = 0.0 * d.time
        b = m.rodedge_bodyid[e]
        if b >= 0:
            turn = 0.0 * d.time
            i = m.body_lastdof[b]
            while i >= 0:
                axis = d.cdof[i]
                turn = turn + p[i] * dot3((axis[0], axis[1], axis[2]), d.rodedge_tangent[e])
                i = m.dof_parentid[i]
            d.rodedge_spin[e] = d.metric_coupling * turn
        else:
            d.rodedge_spin[e] = p[m.rodedge_dofadr[e]] + 0.0 * d.time


@only_with("rodtwist")
@kernel
def add_twist_tangent(m, d):
    """flexvert_damper, rodedge_drag += the tangent times flexvert_xvel, rodedge_spin."""
    spring, damper = d.metric_stiffness * m.flex_spring, d.metric_damping
    for k in range(m.nrodtwist):
        rod, e = bend_of(m, d, k), m.rodtwist_edge[k]
        drag = 2.0 * damper * m.rodtwist_damping[k, 2]
        kt = 2.0 * spring * m.rodtwist_stiffness[k, 2] + drag
        held = 2.0 * d.metric_reference * m.flex_spring * m.rodtwist_stiffness[k, 2] + drag
        # changes of the twist: of the reference twist, by turns of segments
        va, vb = two_segments(m, d.flexvert_xvel, k)
        slope_a, slope_b = reference_slopes(rod)
        reference = dot3(slope_a, va) + dot3(slope_b, vb)
        turns = d.rodedge_spin[e] - d.rodedge_spin[e - 1]
        # vertices: bending and torsion
        fa, fb = bend_pull(rod, resisted(m, d, k, rod, bend_rate(rod, va, vb)))
        moment = held * reference + d.metric_coupling * kt * turns
        spread_pair(m, k, add_scaled3(fa, moment, slope_a), add_scaled3(fb, moment, slope_b), d.flexvert_damper)
        # segments: torsion, and bending of turned material axes
        twist = kt * (turns + d.metric_coupling * reference)
        for end in range(2):
            turned = spring * turn_stiffness(m, d, k, rod, end) * d.rodedge_spin[e - 1 + end]
            sign = 1.0 if end == 1 else -1.0
            d.rodedge_drag[e - 1 + end] = d.rodedge_drag[e - 1 + end] + (turned + sign * twist)


@kernel
def resisted(m, d, k, rod, rate):
    """The response of springs and dampers at vertex k to a change of κ: a vector that acts on κ."""
    e, zero = m.rodtwist_edge[k], scale3(0.0, rate)
    held = damped(rod, rate)
    spring, drag = zero, zero
    for end in range(2):
        one, two = material_axes(m, d, e - 1 + end)
        spring = add_scaled3(spring, m.rodtwist_stiffness[k, 0] * dot3(rate, one), one)
        spring = add_scaled3(spring, m.rodtwist_stiffness[k, 1] * dot3(rate, two), two)
        drag = add_scaled3(drag, m.rodtwist_damping[k, 0] * dot3(held, one), one)
        drag = add_scaled3(drag, m.rodtwist_damping[k, 1] * dot3(held, two), two)
    whole = scale3(d.metric_stiffness * m.flex_spring, spring)
    return add_scaled3(whole, d.metric_damping, damped(rod, drag))


@kernel
def turn_stiffness(m, d, k, rod, end):
    """Second derivative of the bending energy in θ of a segment at vertex k, where positive (J)."""
    x, y = components(m, d, k, rod, end)
    kx, ky = m.rodtwist_stiffness[k, 0], m.rodtwist_stiffness[k, 1]
    x0, y0 = m.rodtwist_rest[k, 2 * end], m.rodtwist_rest[k, 2 * end + 1]
    slope = kx * (y * y - x * (x - x0)) + ky * (x * x - y * (y - y0))
    return maximum(slope, 0.0 * slope)


@only_with("rodtwist")
@kernel
def end_twist_tangent(m, d, q):
    """q += the generalised forces of the torques rodedge_drag, for a field q [nv]; of clamped ones as above."""
    for e in range(m.nrodedge):
        share = d.metric_coupling if m.rodedge_bodyid[e] >= 0 else 1.0 + 0.0 * d.time
        add_torque(m, d, e, share * d.rodedge_drag[e], q)


@only_with("rodtwist")
@kernel
def twist_diagonal(m, d, stiffness, damping):
    """rodedge_drag ← the diagonal of s K + r D, for `stiffness` s and `damping` r, in the turns of segments."""
    spring, damper = stiffness * m.flex_spring, damping
    for e in range(m.nrodedge):
        d.rodedge_drag[e] = 0.0 * d.time
    for k in range(m.nrodtwist):
        rod, e = bend_of(m, d, k), m.rodtwist_edge[k]
        kt = 2.0 * (spring * m.rodtwist_stiffness[k, 2] + damper * m.rodtwist_damping[k, 2])
        for end in range(2):
            own = kt + spring * turn_stiffness(m, d, k, rod, end)
            d.rodedge_drag[e - 1 + end] = d.rodedge_drag[e - 1 + end] + own


@only_with("rodtwist")
@kernel
def twist_blocks(m, d):
    """Add the diagonal blocks of vertices of rods whose segments twist to flexvert_block [nflexvert, 6]."""
    zero = 0.0 * d.time
    one = zero + 1.0
    for k in range(m.nrodtwist):
        rod, e = bend_of(m, d, k), m.rodtwist_edge[k]
        for c in range(3):
            # row c of dκ/dx, and the same weighted by stiffness and damping
            w = along_axis(d, c)
            add_pair_blocks(m, d, e, bend_pull(rod, w), bend_pull(rod, resisted(m, d, k, rod, w)), one)
        drag = 2.0 * d.metric_damping * m.rodtwist_damping[k, 2]
        slopes = reference_slopes(rod)
        held = 2.0 * d.metric_reference * m.flex_spring * m.rodtwist_stiffness[k, 2] + drag
        add_pair_blocks(m, d, e, slopes, slopes, held)


@kernel
def add_pair_blocks(m, d, e, light, heavy, weight):
    """Add weight g wᵀ at the vertices of segments e - 1 and e, with g, w of each from those of both segments."""
    zero = 0.0 * d.time
    add_to_block(d, m.rodedge_vert[e - 1, 0], light[0], heavy[0], weight, zero)
    add_to_block(d, m.rodedge_vert[e, 0], sub3(light[0], light[1]), sub3(heavy[0], heavy[1]), weight, zero)
    add_to_block(d, m.rodedge_vert[e, 1], light[1], heavy[1], weight, zero)
