"""Discrete elastic rods of round cross-section: bending between adjacent segments.

With a and b the segments, the curvature is κ = 2 a × b/(|a| |b| + a·b) (Bergou et al., Discrete elastic rods (2008)).
With c its size at rest and ε = 10⁻⁴ c, which makes it smooth where the rod is straight, the energy is

    k (√(|κ|² + ε²) - √(c² + ε²))²,

k |κ|² for rods that are straight at rest. The plane of bending is free. Damping resists the rate of |κ| alone, and of κ
where that is 0. All as in MuJoCo 4.0 (documentation, Modeling, "Rods").

With A, B, C the products a·a, b·b, a·b, |κ|² is 4 (q - C)/(q + C), q = √(A B). For the mean force over a step (see
`saltus.dynamics.flex.mean_forces`), the energy's gradient in A, B, C is corrected along their change to give the exact
change of energy (discrete gradient; Gonzalez, Time integration and discrete Hamiltonian systems, J. Nonlinear Sci. 6
(1996)), and A, B, C are quadratic in the positions.
"""

import math

from saltus.dynamics.flex.elements import add_to_block
from saltus.number.functions import MINVAL, maximum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, scale3, sub3, where3

SMOOTH = 1e-4  # curvature that smooths a bend at rest, as a fraction of it
REST = math.sqrt(1.0 + SMOOTH * SMOOTH)  # √(c² + ε²)/c
RESOLVED = 1e-5  # relative change of a rod's products over a step, below which that of the energy is rounding error


@only_with("flexrod")
@kernel
def add_rods(m, d):
    """Add the bending forces of rods to flexvert_spring and flexvert_damper (N)."""
    for k in range(m.nrod):
        rod = curvature(m, d, k)
        weight = -2.0 * m.flex_spring * m.rod_stiffness[k] * unbent(m, k, dot3(rod[0], rod[0]))
        pull(m, d, k, rod, scale3(weight, rod[0]), d.flexvert_spring)
    add_rod_dampers(m, d)


@only_with("flexrod")
@kernel
def add_mean_rods(m, d, h):
    """Add the mean bending forces of rods over h seconds, at the midpoint: the springs' work is the loss of energy."""
    for k in range(m.nrod):
        add_mean_rod(m, d, k, h)
    add_rod_dampers(m, d)


@kernel
def add_rod_dampers(m, d):
    """Add the bending dampers of rods to flexvert_damper (N)."""
    for k in range(m.nrod):
        if m.rod_rayleigh[k] != 0.0:
            rod = curvature(m, d, k)
            rate = damped(rod, curvature_rate(m, d, k, rod))
            pull(m, d, k, rod, scale3(-2.0 * m.rod_rayleigh[k] * m.rod_stiffness[k], rate), d.flexvert_damper)


@only_with("flexrod", otherwise="0.0 * d.time")
@kernel
def rods_energy(m, d):
    """Energy of bending of all pairs of segments (J)."""
    total = 0.0 * d.time
    for k in range(m.nrod):
        bend = curvature(m, d, k)[0]
        total = total + m.flex_spring * m.rod_stiffness[k] * squared_change(m, k, dot3(bend, bend))
    return total


@kernel(inline=True)
def smooth_size(c, square):
    """√(|κ|² + (10⁻⁴ c)²) for |κ|² and the curvature c at rest; 1 where both are 0."""
    total = square + (SMOOTH * c) * (SMOOTH * c)
    return sqrt(where(total > 0.0, total, 1.0 + 0.0 * total))


@kernel(inline=True)
def unbent(m, k, square):
    """1 - √(c² + ε²)/√(|κ|² + ε²) for pair k, from |κ|²: the slope of the energy in |κ|², over the stiffness."""
    c = m.rod_curvature[k]
    return 1.0 - REST * c / smooth_size(c, square)


@kernel(inline=True)
def squared_change(m, k, square):
    """The energy of pair k over its stiffness, from |κ|²."""
    c = m.rod_curvature[k]
    change = smooth_size(c, square) - REST * c
    return where(c > 0.0, change * change, square)


@kernel(inline=True)
def segments(m, x, k):
    """Both segments of pair k, for a field x [nflexvert, 3]."""
    middle = x[m.rod_vert[k, 1]]
    return sub3(middle, x[m.rod_vert[k, 0]]), sub3(x[m.rod_vert[k, 2]], middle)


@kernel
def curvature(m, d, k):
    """Curvature of pair k: κ, its denominator χ (m²), dχ/da, dχ/db (m), and the segments a, b (m)."""
    a, b = segments(m, d.flexvert_xpos, k)
    return bend_between(a, b)


@kernel
def bend_between(a, b):
    """κ, χ (m²), dχ/da, dχ/db (m), a, b of the segments a and b."""
    la, lb = sqrt(dot3(a, a)), sqrt(dot3(b, b))
    chi = la * lb + dot3(a, b)
    bend = scale3(2.0 / chi, cross(a, b))
    return bend, chi, add_scaled3(b, lb / la, a), add_scaled3(a, la / lb, b), a, b


@kernel
def curvature_rate(m, d, k, rod):
    """Rate of κ of pair k for vertex velocities flexvert_xvel."""
    va, vb = segments(m, d.flexvert_xvel, k)
    return bend_rate(rod, va, vb)


@kernel
def bend_rate(rod, va, vb):
    """Rate of κ for the rates va and vb of both segments."""
    bend, chi, slope_a, slope_b, a, b = rod
    turn = add3(cross(va, b), cross(a, vb))
    stretch = dot3(slope_a, va) + dot3(slope_b, vb)
    return scale3(1.0 / chi, add_scaled3(scale3(2.0, turn), -stretch, bend))


@kernel
def damped(rod, rate):
    """The part of a rate of κ that dampers resist: that along κ, or all of it where κ is 0."""
    bend = rod[0]
    square = dot3(bend, bend)
    straight = square < MINVAL * MINVAL
    along = dot3(bend, rate) / where(straight, 1.0 + 0.0 * square, square)
    return where3(straight, rate, scale3(along, bend))


@kernel
def pull(m, d, k, rod, w, x):
    """x += (dκ/dx)ᵀ w at the vertices of pair k, for a field x [nflexvert, 3]."""
    fa, fb = bend_pull(rod, w)
    spread(m, k, fa, fb, x)


@kernel
def bend_pull(rod, w):
    """(dκ/da)ᵀ w and (dκ/db)ᵀ w for both segments."""
    bend, chi, slope_a, slope_b, a, b = rod
    share = dot3(bend, w)
    fa = scale3(1.0 / chi, add_scaled3(scale3(2.0, cross(b, w)), -share, slope_a))
    fb = scale3(1.0 / chi, add_scaled3(scale3(2.0, cross(w, a)), -share, slope_b))
    return fa, fb


@kernel(inline=True)
def spread(m, k, fa, fb, x):
    """x += the vertex forces of pair k for forces on the differences a and b, for a field x [nflexvert, 3]."""
    i, j, q = m.rod_vert[k, 0], m.rod_vert[k, 1], m.rod_vert[k, 2]
    x[i] = sub3(x[i], fa)
    x[j] = add3(x[j], sub3(fa, fb))
    x[q] = add3(x[q], fb)


@kernel
def add_mean_rod(m, d, k, h):
    """Add the mean spring force of pair k over h seconds to flexvert_spring (N)."""
    a, b = segments(m, d.flexvert_xpos, k)
    va, vb = segments(m, d.flexvert_xvel, k)
    # half of the change of the products, and their means over both ends
    half = 0.25 * h * h
    change = (h * dot3(a, va), h * dot3(b, vb), 0.5 * h * (dot3(a, vb) + dot3(b, va)))
    mean = (dot3(a, a) + half * dot3(va, va), dot3(b, b) + half * dot3(vb, vb), dot3(a, b) + half * dot3(va, vb))
    # discrete gradient: the gradient, corrected along the change to give the exact gain of energy
    slope = scale3(unbent(m, k, square_of(mean)), square_slope(mean))
    gain = squared_change(m, k, square_of(add3(mean, change))) - squared_change(m, k, square_of(sub3(mean, change)))
    square, size = dot3(change, change), mean[0] + mean[1]
    known = square > (RESOLVED * size) * (RESOLVED * size)
    missing = (0.5 * gain - dot3(slope, change)) / where(known, square, 1.0 + 0.0 * square)
    slope = where3(known, add_scaled3(slope, missing, change), slope)
    # forces on the segments: dA = 2 a · da, dB = 2 b · db, dC = a · db + b · da
    weight = -m.flex_spring * m.rod_stiffness[k]
    fa = add_scaled3(scale3(2.0 * weight * slope[0], a), weight * slope[2], b)
    fb = add_scaled3(scale3(2.0 * weight * slope[1], b), weight * slope[2], a)
    spread(m, k, fa, fb, d.flexvert_spring)


@kernel(inline=True)
def square_of(p):
    """|κ|² from the products a·a, b·b, a·b."""
    q = sqrt(p[0] * p[1])
    return 4.0 * (q - p[2]) / (q + p[2])


@kernel(inline=True)
def square_slope(p):
    """Gradient of |κ|² in the products a·a, b·b, a·b."""
    q = sqrt(p[0] * p[1])
    both = (q + p[2]) * (q + p[2])
    return 4.0 * p[2] * p[1] / (q * both), 4.0 * p[2] * p[0] / (q * both), -8.0 * q / both


# ---------------------------------------------------------------- tangent


@kernel(inline=True)
def resisted(m, d, k, rod, rate):
    """The tangent's response to a change of κ of pair k, positive semidefinite.

    Springs resist the part along κ, and the rest where |κ| exceeds c; dampers resist the part of `damped`.
    """
    spring = 2.0 * m.rod_stiffness[k] * d.metric_stiffness * m.flex_spring
    damper = 2.0 * m.rod_stiffness[k] * d.metric_damping * m.rod_rayleigh[k]
    along = damped(rod, rate)
    square = dot3(rod[0], rod[0])
    across = maximum(unbent(m, k, square), 0.0 * square)
    rest = scale3(across, sub3(across_edge(m, k, rod, rate), along))
    return add_scaled3(scale3(spring, add3(along, rest)), damper, along)


@kernel(inline=True)
def across_edge(m, k, rod, rate):
    """A rate of κ of pair k, without the part along the segment that it shares with another pair."""
    shared = rod[4] if m.rod_shared[k] == 1 else rod[5]
    along = dot3(shared, rate) / dot3(shared, shared) * (1.0 if m.rod_shared[k] > 0 else 0.0)
    return add_scaled3(rate, -along, shared)


@only_with("flexrod")
@kernel
def add_rods_tangent(m, d):
    """flexvert_damper += the tangent of rods times flexvert_xvel, without the second derivatives of κ."""
    for k in range(m.nrod):
        rod = curvature(m, d, k)
        pull(m, d, k, rod, resisted(m, d, k, rod, curvature_rate(m, d, k, rod)), d.flexvert_damper)


@kernel(inline=True)
def along_axis(d, c):
    """The unit vector along axis c."""
    zero = 0.0 * d.time
    one = zero + 1.0
    return one if c == 0 else zero, one if c == 1 else zero, one if c == 2 else zero


@only_with("flexrod")
@kernel
def rod_blocks(m, d):
    """Add the diagonal blocks of rods to flexvert_block [nflexvert, 6]."""
    zero = 0.0 * d.time
    one = zero + 1.0
    for k in range(m.nrod):
        rod = curvature(m, d, k)
        bend, chi, slope_a, slope_b, a, b = rod
        for c in range(3):
            # row c of dκ/dx of each vertex, and the same weighted by the stiffness and damping
            w = along_axis(d, c)
            heavy = resisted(m, d, k, rod, w)
            first = row(w, bend, chi, slope_a, b, 2.0), row(heavy, bend, chi, slope_a, b, 2.0)
            last = row(w, bend, chi, slope_b, a, -2.0), row(heavy, bend, chi, slope_b, a, -2.0)
            add_to_block(d, m.rod_vert[k, 0], first[0], first[1], one, zero)
            add_to_block(d, m.rod_vert[k, 1], sub3(first[0], last[0]), sub3(first[1], last[1]), one, zero)
            add_to_block(d, m.rod_vert[k, 2], last[0], last[1], one, zero)


@kernel(inline=True)
def row(w, bend, chi, slope, other, sign):
    """(dκ/da)ᵀ w for the segment with this slope of χ; `other`: the other segment, `sign`: 2 for a, -2 for b."""
    return scale3(1.0 / chi, add_scaled3(scale3(sign, cross(other, w)), -dot3(bend, w), slope))
