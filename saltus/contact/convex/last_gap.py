"""How far apart two shapes were when they were last looked at, and where they were then.

They are still that far apart less what they have moved since, relative to each other: a support point of the second
shape moves by |ΔR| r + |Δt| at most, R its axes and t its origin in the frame of the first, r the radius about that
origin, and one of a shape whose sizes change by no more than their changes. Where that is farther than anybody asks
for, nothing else needs to be done. It is told for all lanes together, with room for rounding: contacts are the same
whatever is remembered.
"""

from saltus.contact.rigid.ellipsoid import values3, values9
from saltus.number.components import epsilon_of, value_of
from saltus.number.functions import absolute, any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import dot3, sub3

SIZES = 12  # place of both geoms' sizes in `last_pose`, after axes and origin of the second in the frame of the first


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
    """Three of the numbers that are kept, from number j on."""
    return value_of(d.last_pose[slot, j]), value_of(d.last_pose[slot, j + 1]), value_of(d.last_pose[slot, j + 2])


@kernel(inline=True)
def changed(size, last):
    """How far (m) a point of a shape may have moved as its sizes have changed."""
    return absolute(size[0] - last[0]) + absolute(size[1] - last[1]) + absolute(size[2] - last[2])


@kernel
def keep_gap(m, d, slot, g1, g2, rot, shift, gap, reach):
    """Keep that the geoms are at least `gap` (m) apart in lanes where that is more than `reach` (m)."""
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
