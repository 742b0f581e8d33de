"""Discrete elastic rods whose segments twist: anisotropic bending and torsion.

At a vertex between two segments, with κ the curvature (see `saltus.dynamics.flex.rods`), m₁ and m₂ the material axes of
a segment, which its joint turns by θ from the reference frame (see `saltus.dynamics.flex.twist_frames`), and x = κ·m₁,
y = κ·m₂, the energy is

    ½ Σ (kx (x - x₀)² + ky (y - y₀)²) + kt (θ' - θ + r)²,

summed over both segments, with 0 at rest, θ' of the later segment and r the reference twist (Bergou et al., Discrete
elastic rods (2008)). Along a motion r grows as κ · (da/(2 |a|) + db/(2 |b|)) for the segments a, b. Dampers resist the
rate of twist and that of |κ|, the latter as if only the part of the material axes along κ bent. All as in MuJoCo 4.0
(documentation, Modeling, "Rods").
"""

from saltus.dynamics.flex.rods import bend_between, bend_pull, bend_rate, damped
from saltus.dynamics.flex.twist_frames import angle_of, spin_slope
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, dot3, scale3, sub3


@only_with("rodtwist")
@kernel
def add_twist(m, d):
    """Add bending and torsion to flexvert_spring, flexvert_damper (N), rodedge_torque and rodedge_drag (N m)."""
    zero = 0.0 * d.time
    for e in range(m.nrodedge):
        d.rodedge_torque[e] = zero
        d.rodedge_drag[e] = zero
    for k in range(m.nrodtwist):
        rod = bend_of(m, d, k)
        # springs: slopes of the energy in the four components of κ, and in the twist
        first, last = components(m, d, k, rod, 0), components(m, d, k, rod, 1)
        kx, ky, kt = m.rodtwist_stiffness[k, 0], m.rodtwist_stiffness[k, 1], m.rodtwist_stiffness[k, 2]
        spring = -m.flex_spring
        one = spring * kx * (first[0] - m.rodtwist_rest[k, 0]), spring * ky * (first[1] - m.rodtwist_rest[k, 1])
        two = spring * kx * (last[0] - m.rodtwist_rest[k, 2]), spring * ky * (last[1] - m.rodtwist_rest[k, 3])
        react(m, d, k, rod, one, two, spring * 2.0 * kt * twist_of(m, d, k), d.flexvert_spring, d.rodedge_torque)
        if m.rodtwist_damping[k, 2] != 0.0:
            add_twist_damper(m, d, k, rod, -1.0, d.flexvert_damper, d.rodedge_drag)
    # torques of springs on the turn of reference frames since the last step
    for e in range(m.nrodedge):
        f = scale3(d.rodedge_torque[e], spin_slope(m, d, e))
        i, j = m.rodedge_vert[e, 0], m.rodedge_vert[e, 1]
        d.flexvert_spring[i] = sub3(d.flexvert_spring[i], f)
        d.flexvert_spring[j] = add3(d.flexvert_spring[j], f)


@only_with("rodtwist", otherwise="0.0 * d.time")
@kernel
def twist_energy(m, d):
    """Energy of bending and torsion of rods whose segments twist (J)."""
    total = 0.0 * d.time
    for k in range(m.nrodtwist):
        rod, twist = bend_of(m, d, k), twist_of(m, d, k)
        for end in range(2):
            both = components(m, d, k, rod, end)
            x, y = both[0] - m.rodtwist_rest[k, 2 * end], both[1] - m.rodtwist_rest[k, 2 * end + 1]
            total = total + 0.5 * (m.rodtwist_stiffness[k, 0] * x * x + m.rodtwist_stiffness[k, 1] * y * y)
        total = total + m.rodtwist_stiffness[k, 2] * twist * twist
    return m.flex_spring * total


@kernel
def bend_of(m, d, k):
    """κ of vertex k with its slopes, as of `bend_between`."""
    a, b = two_segments(m, d.flexvert_xpos, k)
    return bend_between(a, b)


@kernel(inline=True)
def two_segments(m, x, k):
    """Both segments at vertex k, for a field x [nflexvert, 3]."""
    e = m.rodtwist_edge[k]
    middle = x[m.rodedge_vert[e, 0]]
    return sub3(middle, x[m.rodedge_vert[e - 1, 0]]), sub3(x[m.rodedge_vert[e, 1]], middle)


@kernel(inline=True)
def twist_of(m, d, k):
    """Twist at vertex k (rad)."""
    e = m.rodtwist_edge[k]
    return angle_of(m, d, e) - angle_of(m, d, e - 1) + d.rodtwist_angle[k]


@kernel(inline=True)
def material_axes(m, d, e):
    """m₁ and m₂ of segment e."""
    return d.rodedge_axis1[e], d.rodedge_axis2[e]


@kernel
def components(m, d, k, rod, end):
    """x and y of the segment before (end 0) or after (1) vertex k."""
    one, two = material_axes(m, d, m.rodtwist_edge[k] - 1 + end)
    return dot3(rod[0], one), dot3(rod[0], two)


@kernel
def react(m, d, k, rod, first, last, moment, force, torque):
    """Add forces at vertex k: on x and y of both segments, and a moment on the twist, to [nflexvert, 3], [nrodedge]."""
    e = m.rodtwist_edge[k]
    one, two = material_axes(m, d, e - 1)
    three, four = material_axes(m, d, e)
    # on κ, and on θ, with dx/dθ = y, dy/dθ = -x
    w = add3(add_scaled3(scale3(first[0], one), first[1], two), add_scaled3(scale3(last[0], three), last[1], four))
    torque[e - 1] = torque[e - 1] + (first[0] * dot3(rod[0], two) - first[1] * dot3(rod[0], one) - moment)
    torque[e] = torque[e] + (last[0] * dot3(rod[0], four) - last[1] * dot3(rod[0], three) + moment)
    fa, fb = bend_pull(rod, w)
    # the moment on the reference twist
    slope_a, slope_b = reference_slopes(rod)
    spread_pair(m, k, add_scaled3(fa, moment, slope_a), add_scaled3(fb, moment, slope_b), force)


@kernel(inline=True)
def reference_slopes(rod):
    """Slopes of the reference twist in the segments a and b: κ/(2 |a|) and κ/(2 |b|)."""
    a, b = rod[4], rod[5]
    return scale3(0.5 / sqrt(dot3(a, a)), rod[0]), scale3(0.5 / sqrt(dot3(b, b)), rod[0])


@kernel(inline=True)
def spread_pair(m, k, fa, fb, x):
    """x += the vertex forces for forces on both segments at vertex k, for a field x [nflexvert, 3]."""
    e = m.rodtwist_edge[k]
    i, j, q = m.rodedge_vert[e - 1, 0], m.rodedge_vert[e, 0], m.rodedge_vert[e, 1]
    x[i] = sub3(x[i], fa)
    x[j] = add3(x[j], sub3(fa, fb))
    x[q] = add3(x[q], fb)


# ---------------------------------------------------------------- rates and dampers


@kernel
def twist_rate(m, d, k, rod):
    """Rate of the twist at vertex k for the rates flexvert_xvel and rodedge_spin."""
    e = m.rodtwist_edge[k]
    va, vb = two_segments(m, d.flexvert_xvel, k)
    slope_a, slope_b = reference_slopes(rod)
    return d.rodedge_spin[e] - d.rodedge_spin[e - 1] + (dot3(slope_a, va) + dot3(slope_b, vb))


@kernel
def add_twist_damper(m, d, k, rod, factor, force, torque):
    """Add `factor` times the resistance of the damper at vertex k, for the rates flexvert_xvel and rodedge_spin."""
    va, vb = two_segments(m, d.flexvert_xvel, k)
    rate = damped(rod, bend_rate(rod, va, vb))
    # the material axes resist, and the part of their resistance along κ acts
    e, w = m.rodtwist_edge[k], scale3(0.0, rate)
    for end in range(2):
        one, two = material_axes(m, d, e - 1 + end)
        w = add_scaled3(w, factor * m.rodtwist_damping[k, 0] * dot3(rate, one), one)
        w = add_scaled3(w, factor * m.rodtwist_damping[k, 1] * dot3(rate, two), two)
    fa, fb = bend_pull(rod, damped(rod, w))
    # torsion
    moment = factor * 2.0 * m.rodtwist_damping[k, 2] * twist_rate(m, d, k, rod)
    slope_a, slope_b = reference_slopes(rod)
    spread_pair(m, k, add_scaled3(fa, moment, slope_a), add_scaled3(fb, moment, slope_b), force)
    torque[e - 1] = torque[e - 1] - moment
    torque[e] = torque[e] + moment


@only_with("rodtwist")
@kernel
def twist_spins(m, d):
    """rodedge_spin [nrodedge] (rad/s): rates of θ, or of a clamped segment's body about the segment; reads cvel."""
    for e in range(m.nrodedge):
        b = m.rodedge_bodyid[e]
        if b >= 0:
            v = d.cvel[b]
            d.rodedge_spin[e] = dot3((v[0], v[1], v[2]), d.rodedge_tangent[e])
        else:
            d.rodedge_spin[e] = d.qvel[m.rodedge_dofadr[e]]


@only_with("rodtwist")
@kernel
def pull_back_twist(m, d):
    """Add the torques of segments to qfrc_spring and qfrc_damper [nv] (N m)."""
    for e in range(m.nrodedge):
        add_torque(m, d, e, d.rodedge_torque[e], d.qfrc_spring)
        add_torque(m, d, e, d.rodedge_drag[e], d.qfrc_damper)


@kernel
def add_torque(m, d, e, torque, q):
    """q += the generalised forces of a torque about segment e, for a field q [nv]."""
    b = m.rodedge_bodyid[e]
    if b >= 0:
        about = scale3(torque, d.rodedge_tangent[e])
        i = m.body_lastdof[b]
        while i >= 0:
            axis = d.cdof[i]
            q[i] = q[i] + dot3((axis[0], axis[1], axis[2]), about)
            i = m.dof_parentid[i]
    else:
        i = m.rodedge_dofadr[e]
        q[i] = q[i] + torque


@only_with("rodtwist", otherwise="0.0 * d.time")
@kernel
def twist_damper_power(m, d):
    """Power (W) of the torques of dampers on segments; that of forces on vertices comes beside it."""
    total = 0.0 * d.time
    for e in range(m.nrodedge):
        total = total + d.rodedge_drag[e] * d.rodedge_spin[e]
    return total
