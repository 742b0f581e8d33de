"""Discrete elastic rods, straight at rest and isotropic in cross-section: bending between adjacent segments.

With a and b the segments, the curvature is κ = 2 a × b/(|a| |b| + a·b), and the energy k |κ|² (Bergou et al., Discrete
elastic rods (2008)). Damping resists the rate of |κ| alone, and of κ where that is 0, as in MuJoCo 4.0.

With A, B, C the products a·a, b·b, a·b, that energy is 4 k (q - C)/(q + C), q = √(A B). For its mean force over a step
(see `saltus.dynamics.flex.mean_forces`), its gradient in A, B, C is corrected along their change to give the exact
change of energy (discrete gradient; Gonzalez, Time integration and discrete Hamiltonian systems, J. Nonlinear Sci. 6
(1996)), and A, B, C are quadratic in the positions.
"""

from saltus.dynamics.flex.elements import add_to_block
from saltus.number.functions import MINVAL, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, scale3, sub3, where3

RESOLVED = 1e-5  # relative change of a rod's products over a step, below which that of the energy is rounding error


@only_with("flexrod")
@kernel
def add_rods(m, d):
    """Add the bending forces of rods to flexvert_spring and flexvert_damper (N)."""
    for k in range(m.nrod):
        rod = curvature(m, d, k)
        pull(m, d, k, rod, scale3(-2.0 * m.flex_spring * m.rod_stiffness[k], rod[0]), d.flexvert_spring)
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
    """k |κ|² of all pairs of segments (J)."""
    total = 0.0 * d.time
    for k in range(m.nrod):
        bend = curvature(m, d, k)[0]
        total = total + m.flex_spring * m.rod_stiffness[k] * dot3(bend, bend)
    return total


@kernel(inline=True)
def segments(m, x, k):
    """Both segments of pair k, for a field x [nflexvert, 3]."""
    middle = x[m.rod_vert[k, 1]]
    return sub3(middle, x[m.rod_vert[k, 0]]), sub3(x[m.rod_vert[k, 2]], middle)


@kernel
def curvature(m, d, k):
    """Curvature of pair k: κ, its denominator χ (m²), dχ/da, dχ/db (m), and the segments a, b (m)."""
    a, b = segments(m, d.flexvert_xpos, k)
    la, lb = sqrt(dot3(a, a)), sqrt(dot3(b, b))
    chi = la * lb + dot3(a, b)
    bend = scale3(2.0 / chi, cross(a, b))
    return bend, chi, add_scaled3(b, lb / la, a), add_scaled3(a, la / lb, b), a, b


@kernel
def curvature_rate(m, d, k, rod):
    """Rate of κ of pair k for vertex velocities flexvert_xvel."""
    bend, chi, slope_a, slope_b, a, b = rod
    va, vb = segments(m, d.flexvert_xvel, k)
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
    bend, chi, slope_a, slope_b, a, b = rod
    share = dot3(bend, w)
    fa = scale3(1.0 / chi, add_scaled3(scale3(2.0, cross(b, w)), -share, slope_a))
    fb = scale3(1.0 / chi, add_scaled3(scale3(2.0, cross(w, a)), -share, slope_b))
    spread(m, k, fa, fb, x)


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
    slope = energy_slope(mean)
    gain = energy_of(add3(mean, change)) - energy_of(sub3(mean, change))
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
def energy_of(p):
    """|κ|² from the products a·a, b·b, a·b."""
    q = sqrt(p[0] * p[1])
    return 4.0 * (q - p[2]) / (q + p[2])


@kernel(inline=True)
def energy_slope(p):
    """Gradient of |κ|² in the products a·a, b·b, a·b."""
    q = sqrt(p[0] * p[1])
    both = (q + p[2]) * (q + p[2])
    return 4.0 * p[2] * p[1] / (q * both), 4.0 * p[2] * p[0] / (q * both), -8.0 * q / both


# ---------------------------------------------------------------- tangent


@kernel(inline=True)
def resisted(m, d, k, rod, rate):
    """The tangent's response to a change of κ of pair k: springs resist all of it, dampers the part of `damped`."""
    spring = 2.0 * m.rod_stiffness[k] * d.metric_stiffness * m.flex_spring
    damper = 2.0 * m.rod_stiffness[k] * d.metric_damping * m.rod_rayleigh[k]
    return add_scaled3(scale3(spring, rate), damper, damped(rod, rate))


@only_with("flexrod")
@kernel
def add_rods_tangent(m, d):
    """flexvert_damper += the tangent of rods times flexvert_xvel, without the second derivatives of κ."""
    for k in range(m.nrod):
        rod = curvature(m, d, k)
        pull(m, d, k, rod, resisted(m, d, k, rod, curvature_rate(m, d, k, rod)), d.flexvert_damper)


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
            w = (one if c == 0 else zero, one if c == 1 else zero, one if c == 2 else zero)
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
