"""Mean torsional forces of curved rods over a step: their work is exactly the loss of energy.

The energy of a dihedral (see `saltus.dynamics.flex.dihedrals`) depends on six products of its segments a, b, c and on
their volume a · (b × c). Its gradient in these seven is corrected along their change, so that the forces, which turn
with the body and have no torque, do the work of the exact change of energy (discrete gradient; Gonzalez, Time
integration and discrete Hamiltonian systems, J. Nonlinear Sci. 6 (1996)).
"""

from saltus.dynamics.flex.dihedrals import add_dihedral_dampers, spread_segments, three_segments, torsional_stiffness
from saltus.dynamics.flex.rods import RESOLVED, SMOOTH, square_of, square_slope
from saltus.number.functions import sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, scale3


@only_with("dihedral")
@kernel
def add_mean_dihedrals(m, d, h):
    """Add the mean torsion of curved rods over h seconds, at the midpoint, to flexvert_spring and flexvert_damper."""
    for k in range(m.ndihedral):
        add_mean_dihedral(m, d, k, h)
    add_dihedral_dampers(m, d)


@kernel
def add_mean_dihedral(m, d, k, h):
    """Add the mean spring force of dihedral k over h seconds to flexvert_spring (N)."""
    now, rate = three_segments(m, d.flexvert_xpos, k), three_segments(m, d.flexvert_xvel, k)
    first, last = moved(now, rate, -0.5 * h), moved(now, rate, 0.5 * h)
    before, after = invariants(first), invariants(last)
    a, b, c = now
    areas = cross(b, c), cross(c, a), cross(a, b)  # slopes of the volume
    growth = h * (dot3(areas[0], rate[0]) + dot3(areas[1], rate[1]) + dot3(areas[2], rate[2]))
    change = between(before, after, 1.0, -1.0, growth)
    slope = energy_slope(m, k, between(before, after, 0.5, 0.5, dot3(a, areas[0])))
    # discrete gradient: corrected along the change to give the exact gain of energy
    gain = energy_at(m, k, after) - energy_at(m, k, before)
    length2 = before[0] + before[1] + before[2]
    unit = 1.0 / length2  # of the volume, per product, squared
    square = inner(change, change, unit)
    known = square > (RESOLVED * length2) * (RESOLVED * length2)
    missing = (gain - inner(slope, change, 1.0)) / where(known, square, 1.0 + 0.0 * square)
    missing = where(known, missing, 0.0 * missing)
    slope = corrected(slope, missing, change, unit)
    push(m, d, k, now, areas, slope)


@kernel
def push(m, d, k, now, areas, slope):
    """Add the spring forces of dihedral k for the energy's slopes in its invariants to flexvert_spring (N)."""
    a, b, c = now
    aa, bb, cc, ab, bc, ac, volume = slope
    fa = add3(add_scaled3(scale3(2.0 * aa, a), ab, b), add_scaled3(scale3(ac, c), volume, areas[0]))
    fb = add3(add_scaled3(scale3(2.0 * bb, b), ab, a), add_scaled3(scale3(bc, c), volume, areas[1]))
    fc = add3(add_scaled3(scale3(2.0 * cc, c), bc, b), add_scaled3(scale3(ac, a), volume, areas[2]))
    weight = -m.flex_spring
    spread_segments(m, k, scale3(weight, fa), scale3(weight, fb), scale3(weight, fc), d.flexvert_spring)


@kernel(inline=True)
def moved(now, rate, h):
    """Three segments after h seconds at a constant rate."""
    return add_scaled3(now[0], h, rate[0]), add_scaled3(now[1], h, rate[1]), add_scaled3(now[2], h, rate[2])


@kernel
def invariants(segments):
    """a·a, b·b, c·c, a·b, b·c, a·c and the volume a · (b × c)."""
    a, b, c = segments
    return dot3(a, a), dot3(b, b), dot3(c, c), dot3(a, b), dot3(b, c), dot3(a, c), dot3(a, cross(b, c))


@kernel(inline=True)
def between(p, q, s, r, last):
    """s times the six products of q, plus r times those of p; and a volume."""
    x, y, z = s * q[0] + r * p[0], s * q[1] + r * p[1], s * q[2] + r * p[2]
    return x, y, z, s * q[3] + r * p[3], s * q[4] + r * p[4], s * q[5] + r * p[5], last


@kernel(inline=True)
def inner(p, q, unit):
    """Sum of the products of two sets of seven, the last weighted by `unit`."""
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] + p[4] * q[4] + p[5] * q[5] + unit * p[6] * q[6]


@kernel(inline=True)
def corrected(slope, s, change, unit):
    """slope + s change, the last weighted by `unit`."""
    x, y, z = slope[0] + s * change[0], slope[1] + s * change[1], slope[2] + s * change[2]
    u, v, w = slope[3] + s * change[3], slope[4] + s * change[4], slope[5] + s * change[5]
    return x, y, z, u, v, w, slope[6] + s * unit * change[6]


@kernel
def parts(m, k, p):
    """χ₁, χ₂ (m²), |κ₁|² and |κ₂|² with their smoothing, that of both (10⁻⁴ c)², and 2 κ₁ᵀ (k R)ᵀ κ₂ times χ₁ χ₂."""
    aa, bb, cc, ab, bc, ac, volume = p
    one, two = sqrt(aa * bb) + ab, sqrt(bb * cc) + bc
    soft1, soft2 = SMOOTH * m.dihedral_curvature[k, 0], SMOOTH * m.dihedral_curvature[k, 1]
    s1, s2 = square_of((aa, bb, ab)) + soft1 * soft1, square_of((bb, cc, bc)) + soft2 * soft2
    cosine, sine = m.dihedral_stiffness[k, 0], m.dihedral_stiffness[k, 1]
    aligned = 8.0 * (cosine * (ab * bc - ac * bb) + sine * sqrt(bb) * volume)
    return one, two, s1, s2, soft1 * soft1, soft2 * soft2, aligned


@kernel
def energy_at(m, k, p):
    """Energy of dihedral k (J) from its invariants."""
    one, two, s1, s2, e1, e2, aligned = parts(m, k, p)
    return torsional_stiffness(m, k) * (2.0 - e1 / s1 - e2 / s2) - aligned / (one * two * sqrt(s1 * s2))


@kernel
def energy_slope(m, k, p):
    """Slopes of the energy of dihedral k in its invariants."""
    aa, bb, cc, ab, bc, ac, volume = p
    one, two, s1, s2, e1, e2, aligned = parts(m, k, p)
    factor = 1.0 / (one * two * sqrt(s1 * s2))
    stiff, alike = torsional_stiffness(m, k), aligned * factor
    # through |κ₁|² and |κ₂|², and through χ₁ and χ₂
    x1, x2 = stiff * e1 / (s1 * s1) + 0.5 * alike / s1, stiff * e2 / (s2 * s2) + 0.5 * alike / s2
    k1, k2 = square_slope((aa, bb, ab)), square_slope((bb, cc, bc))
    y1, y2 = alike / one, alike / two
    q1, q2 = sqrt(aa * bb), sqrt(bb * cc)
    # through the scalar product of κ₁ and κ₂, and the volume
    z, v, b = 8.0 * factor * m.dihedral_stiffness[k, 0], 8.0 * factor * m.dihedral_stiffness[k, 1], sqrt(bb)
    by_bb = x1 * k1[1] + x2 * k2[0] + 0.5 * (y1 * aa / q1 + y2 * cc / q2) + z * ac - 0.5 * v * volume / b
    by_aa, by_cc = x1 * k1[0] + 0.5 * y1 * bb / q1, x2 * k2[1] + 0.5 * y2 * bb / q2
    return by_aa, by_bb, by_cc, x1 * k1[2] + y1 - z * bc, x2 * k2[2] + y2 - z * ab, z * bb, -v * b
