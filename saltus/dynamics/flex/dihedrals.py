"""Torsion of rods that are curved at rest: the angle between the planes in which two adjacent vertices bend.

Of three segments a, b, c in a row, let κ₁ and κ₂ be the curvatures between a and b and between b and c (see
`saltus.dynamics.flex.rods`), c₁ and c₂ their sizes at rest, and φ the angle from κ₁ to κ₂ about b. With
uᵢ = κᵢ/√(|κᵢ|² + (10⁻⁴ cᵢ)²) and R the rotation by φ₀, φ at rest, about b, the energy is

    k |R u₁ - u₂|²,

2 k (1 - cos(φ - φ₀)) |u₁| |u₂| but for rods that are nearly straight, with k |u₁| |u₂| at rest the rod's torsional
stiffness G J/(2 l) over the middle segment's length l. Damping resists the rate of |u₁| |u₂| φ. Both as in MuJoCo
4.0 (documentation, Modeling, "Rods"); the tangent is 2 k JᵀJ, with J the derivative of R u₁ - u₂ across b.
"""

from saltus.dynamics.flex.elements import add_to_block
from saltus.dynamics.flex.rods import SMOOTH, along_axis, bend_between, bend_pull, bend_rate
from saltus.number.functions import MINVAL, maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, scale3, sub3

ROWS = 4  # of the tangent's root: three of the spring, one of the damper


@only_with("dihedral")
@kernel
def add_dihedrals(m, d):
    """Add the torsion of curved rods to flexvert_spring and flexvert_damper (N)."""
    for k in range(m.ndihedral):
        both = bends(m, d, k)
        # springs: the gradient in u₁ and u₂, taken back to the curvatures
        first, last = opposed(m, k, both, planar(m, k, both, 0), planar(m, k, both, 1))
        spring = -m.flex_spring
        add_pulls(m, d, k, both, scale3(spring, first), scale3(spring, last), d.flexvert_spring)
    add_dihedral_dampers(m, d)


@kernel
def add_dihedral_dampers(m, d):
    """Add the torsional dampers of curved rods to flexvert_damper (N)."""
    for k in range(m.ndihedral):
        if m.dihedral_rayleigh[k] != 0.0:
            both = bends(m, d, k)
            weight = -2.0 * m.dihedral_rayleigh[k] * torsional_stiffness(m, k)
            add_turn_pulls(m, d, k, both, weight * turning(m, d, k, both), d.flexvert_damper)


@only_with("dihedral", otherwise="0.0 * d.time")
@kernel
def dihedrals_energy(m, d):
    """k |R u₁ - u₂|² of all dihedrals (J)."""
    total = 0.0 * d.time
    for k in range(m.ndihedral):
        both = bends(m, d, k)
        u, w = planar(m, k, both, 0), planar(m, k, both, 1)
        first, last = opposed(m, k, both, u, w)
        total = total + m.flex_spring * 0.5 * (dot3(u, first) + dot3(w, last))
    return total


@kernel
def bends(m, d, k):
    """Curvatures of dihedral k with their slopes, as of `bend_between`: of a and b, of b and c."""
    a, b, c = three_segments(m, d.flexvert_xpos, k)
    return bend_between(a, b), bend_between(b, c)


@kernel(inline=True)
def three_segments(m, x, k):
    """The segments of dihedral k, for a field x [nflexvert, 3]."""
    i, j = x[m.dihedral_vert[k, 1]], x[m.dihedral_vert[k, 2]]
    return sub3(i, x[m.dihedral_vert[k, 0]]), sub3(j, i), sub3(x[m.dihedral_vert[k, 3]], j)


@kernel(inline=True)
def size(m, k, both, end):
    """√(|κ|² + (10⁻⁴ c)²) of one curvature of dihedral k."""
    bend, soft = both[end][0], SMOOTH * m.dihedral_curvature[k, end]
    return sqrt(dot3(bend, bend) + soft * soft)


@kernel(inline=True)
def planar(m, k, both, end):
    """u₁ (end 0) or u₂ (end 1) of dihedral k."""
    return scale3(1.0 / size(m, k, both, end), both[end][0])


@kernel(inline=True)
def torsional_stiffness(m, k):
    """k of dihedral k (J)."""
    c, s = m.dihedral_stiffness[k, 0], m.dihedral_stiffness[k, 1]
    return sqrt(c * c + s * s)


@kernel(inline=True)
def axis(both):
    """Direction of the middle segment."""
    b = both[0][5]
    return scale3(1.0 / sqrt(dot3(b, b)), b)


@kernel
def opposed(m, k, both, u, w):
    """2 k Rᵀ(R u - w) and 2 k (w - R u), for u and w across the middle segment."""
    c, s, t = m.dihedral_stiffness[k, 0], m.dihedral_stiffness[k, 1], axis(both)
    stiff = torsional_stiffness(m, k)
    # k R = c + s t ×, across t
    back = sub3(scale3(c, w), scale3(s, cross(t, w)))
    ahead = add3(scale3(c, u), scale3(s, cross(t, u)))
    return scale3(2.0, sub3(scale3(stiff, u), back)), scale3(2.0, sub3(scale3(stiff, w), ahead))


@kernel
def add_pulls(m, d, k, both, first, last, x):
    """x += (du₁/dx)ᵀ first + (du₂/dx)ᵀ last at the vertices of dihedral k, for a field x [nflexvert, 3]."""
    spread4(m, k, both, unscaled(m, k, both, 0, first), unscaled(m, k, both, 1, last), x)


@kernel(inline=True)
def unscaled(m, k, both, end, w):
    """(du/dκ)ᵀ w of one curvature of dihedral k; du/dκ is symmetric."""
    u = planar(m, k, both, end)
    return scale3(1.0 / size(m, k, both, end), add_scaled3(w, -dot3(u, w), u))


@kernel
def spread4(m, k, both, first, last, x):
    """x += (dκ₁/dx)ᵀ first + (dκ₂/dx)ᵀ last at the vertices of dihedral k."""
    one, two = bend_pull(both[0], first), bend_pull(both[1], last)
    spread_segments(m, k, one[0], add3(one[1], two[0]), two[1], x)


@kernel(inline=True)
def spread_segments(m, k, fa, fb, fc, x):
    """x += the vertex forces of dihedral k for forces on its segments, for a field x [nflexvert, 3]."""
    i, j, p, q = m.dihedral_vert[k, 0], m.dihedral_vert[k, 1], m.dihedral_vert[k, 2], m.dihedral_vert[k, 3]
    x[i] = sub3(x[i], fa)
    x[j] = add3(x[j], sub3(fa, fb))
    x[p] = add3(x[p], sub3(fb, fc))
    x[q] = add3(x[q], fc)


@kernel(inline=True)
def turn_slopes(m, k, both):
    """Slopes of |u₁| |u₂| φ in κ₁ and κ₂; zero where one of these is."""
    t = axis(both)
    one, two = both[0][0], both[1][0]
    # |κ| and √(|κ|² + (10⁻⁴ c)²) of both
    l1, l2 = sqrt(maximum(dot3(one, one), MINVAL * MINVAL)), sqrt(maximum(dot3(two, two), MINVAL * MINVAL))
    s1, s2 = size(m, k, both, 0), size(m, k, both, 1)
    across = 1.0 / (s1 * s2)
    return scale3(-across * l2 / l1, cross(t, one)), scale3(across * l1 / l2, cross(t, two))


@kernel
def turning(m, d, k, both):
    """|u₁| |u₂| times the rate of φ of dihedral k, for vertex velocities flexvert_xvel."""
    va, vb, vc = three_segments(m, d.flexvert_xvel, k)
    first, last = turn_slopes(m, k, both)
    return dot3(first, bend_rate(both[0], va, vb)) + dot3(last, bend_rate(both[1], vb, vc))


@kernel
def add_turn_pulls(m, d, k, both, torque, x):
    """x += torque |u₁| |u₂| (dφ/dx)ᵀ at the vertices of dihedral k, for a field x [nflexvert, 3]."""
    first, last = turn_slopes(m, k, both)
    spread4(m, k, both, scale3(torque, first), scale3(torque, last), x)


# ---------------------------------------------------------------- tangent


@only_with("dihedral")
@kernel
def add_dihedrals_tangent(m, d):
    """flexvert_damper += the tangent of dihedrals times flexvert_xvel."""
    for k in range(m.ndihedral):
        both = bends(m, d, k)
        va, vb, vc = three_segments(m, d.flexvert_xvel, k)
        # springs: rates of u₁ and u₂ across the middle segment
        t = axis(both)
        one = unscaled(m, k, both, 0, bend_rate(both[0], va, vb))
        two = unscaled(m, k, both, 1, bend_rate(both[1], vb, vc))
        first, last = opposed(m, k, both, across_axis(t, one), across_axis(t, two))
        spring = d.metric_stiffness * m.flex_spring
        add_pulls(m, d, k, both, scale3(spring, first), scale3(spring, last), d.flexvert_damper)
        # dampers
        damper = 2.0 * d.metric_damping * m.dihedral_rayleigh[k] * torsional_stiffness(m, k)
        add_turn_pulls(m, d, k, both, damper * turning(m, d, k, both), d.flexvert_damper)


@kernel(inline=True)
def across_axis(t, w):
    """The part of w across the unit vector t."""
    return add_scaled3(w, -dot3(t, w), t)


@only_with("dihedral")
@kernel
def dihedral_blocks(m, d):
    """Add the diagonal blocks of dihedrals to flexvert_block [nflexvert, 6]."""
    zero = 0.0 * d.time
    for k in range(m.ndihedral):
        both = bends(m, d, k)
        for r in range(ROWS):
            row, weight = tangent_row(m, d, k, both, r)
            for i in range(4):
                add_to_block(d, m.dihedral_vert[k, i], row[i], row[i], weight, zero)


@kernel
def tangent_row(m, d, k, both, r):
    """Row r of the tangent's root of dihedral k, a vector for each vertex, and the weight of its square."""
    t, stiff = axis(both), torsional_stiffness(m, k)
    # row r of the derivative of R u₁ - u₂ across the middle segment
    w = across_axis(t, along_axis(d, r))
    x, y = m.dihedral_stiffness[k, 0] / stiff, m.dihedral_stiffness[k, 1] / stiff
    back = sub3(scale3(x, w), scale3(y, cross(t, w)))
    first, last = unscaled(m, k, both, 0, back), unscaled(m, k, both, 1, scale3(-1.0, w))
    weight = 2.0 * stiff * d.metric_stiffness * m.flex_spring
    # or that of the damper
    if r == ROWS - 1:
        first, last = turn_slopes(m, k, both)
        weight = 2.0 * stiff * d.metric_damping * m.dihedral_rayleigh[k]
    before, after = bend_pull(both[0], first), bend_pull(both[1], last)
    fa, fb, fc = before[0], add3(before[1], after[0]), after[1]
    return (scale3(-1.0, fa), sub3(fa, fb), sub3(fb, fc), fc), weight
