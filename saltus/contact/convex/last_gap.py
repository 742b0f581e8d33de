"""Lower bounds of distances between shapes, with the relative poses at which they were found.

A bound remains valid less the relative motion since: a support point of the second shape moves by at most
|ΔR| r + |Δt|, with R its axes and t its origin in the frame of the first, and r the radius about that origin; changes
of sizes add at most their own amounts. If the bound exceeds the requested distance, no search is needed. The test is
made for all lanes together, with a margin for rounding, so that contacts do not depend on remembered bounds.
"""

from saltus.contact.rigid.ellipsoid import values3, values9
from saltus.number.components import epsilon_of, value_of
from saltus.number.functions import absolute, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import dot3, sub3

SIZES = 12  # place of both geoms' sizes in `last_pose`, after axes and origin of the second geom in the first's frame


@kernel
def not_known_apart(m, d, slot, g1, g2, rot, shift, reach):
    """0 in lanes where the pair kept in `slot` is known to be more than `reach` (m) apart, else 1.

    rot [9], shift [3] (m): axes and origin of the second geom in the frame of the first.
    """
    zero = value_of(0.0 * d.time)
    one = zero + 1.0
    gap, least = value_of(d.last_gap[slot]), maximum(zero + value_of(reach), zero)
    if not any_lane(gap > least):
        return one
    last = values9(d.last_pose[slot])
    x = rot[0] - last[0], rot[1] - last[1], rot[2] - last[2]
    y = rot[3] - last[3], rot[4] - last[4], rot[5] - last[5]
    z = rot[6] - last[6], rot[7] - last[7], rot[8] - last[8]
    t = sub3(shift, last_vector(d, slot, 9))
    moved = sqrt(dot3(x, x) + dot3(y, y) + dot3(z, z)) * value_of(m.geom_rbound[g2]) + sqrt(dot3(t, t))
    moved = moved + changed(values3(m.geom_size[g1]), last_vector(d, slot, SIZES))
    moved = moved + changed(values3(m.geom_size[g2]), last_vector(d, slot, SIZES + 3))
    rounding = 64.0 * epsilon_of(d.time) * (gap + moved)
    return where(gap - moved > least + rounding, zero, one)


@kernel(inline=True)
def last_vector(d, slot, j):
    """Three of the remembered numbers, from number j on."""
    return value_of(d.last_pose[slot, j]), value_of(d.last_pose[slot, j + 1]), value_of(d.last_pose[slot, j + 2])


@kernel(inline=True)
def changed(size, last):
    """Largest motion (m) of a point of a shape by a change of its sizes."""
    return absolute(size[0] - last[0]) + absolute(size[1] - last[1]) + absolute(size[2] - last[2])


@kernel
def keep_gap(m, d, slot, g1, g2, rot, shift, gap, reach):
    """Remember that the geoms are at least `gap` (m) apart in lanes where that is more than `reach` (m)."""
    known = gap > maximum(0.0 * gap + value_of(reach), 0.0 * gap)
    if not any_lane(known):
        return
    d.last_gap[slot] = where(known, gap, value_of(d.last_gap[slot]))
    for j in range(9):
        d.last_pose[slot, j] = where(known, rot[j], value_of(d.last_pose[slot, j]))
    for j in range(3):
        at, size1, size2 = 9 + j, SIZES + j, SIZES + 3 + j
        d.last_pose[slot, at] = where(known, shift[j], value_of(d.last_pose[slot, at]))
        d.last_pose[slot, size1] = where(known, value_of(m.geom_size[g1, j]), value_of(d.last_pose[slot, size1]))
        d.last_pose[slot, size2] = where(known, value_of(m.geom_size[g2, j]), value_of(d.last_pose[slot, size2]))
