"""Search of a step for contacts: each pair of geoms is proved apart, or shown to overlap somewhere.

Conservative advancement (Mirtich, Impulse-based dynamic simulation of rigid body systems (1996), chapter 2): from a
time at which a pair has the gap g along the normal n, and its bodies close it at the speed -σ, it stays apart while

    g + σ τ - ½ K τ² > 0,

where K bounds the acceleration of all points of both bodies over the step (see `saltus.integrate.event.motion_bounds`).
The distance of two convex shapes is at least that of their projections onto a fixed n, so that σ is the least closing
velocity of any of their points along n. Where shapes are not convex, g - V τ > 0 with a bound V of speeds serves. The
pairs are advanced in the order of the times up to which they are known to be apart, until the step's end or the first
overlap. Nothing deeper than twice the gap tolerance is missed.

A pair that hovers over contact, as a ball that rolls along a wall without a force, would take very many short advances.
After `PATIENCE` of them both bounds give way to smaller ones, each checked by the gap and its slope where it leads to:
if they fall below those that it foretold, the advance is made again with the full bounds.
"""

from saltus.contact.collide import collider_frame
from saltus.contact.counts import NCON
from saltus.contact.event.gap_functions import (
    ABSENT,
    EVERYWHERE,
    NEAR,
    bounding_distance,
    joint_gaps,
    pair_points,
    smaller_radius,
    touches,
)
from saltus.dynamics.tree.kinematics import kinematics
from saltus.integrate.event.motion_bounds import body_velocities, bound_motion, norm3, velocity_of
from saltus.integrate.event.substep import state_at
from saltus.model.enums import BALL, HFIELD, PLANE, SDF, SPHERE
from saltus.model.event_enums import (
    LINEAR_ACCELERATION,
    LINEAR_SPEED,
    OPEN,
    TURNING_ACCELERATION,
    TURNING_SPEED,
    UNPROVED,
)
from saltus.number.conditions import has
from saltus.number.functions import maximum, minimum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import cross, dot3, scale3, sub3

MOST = 1000  # looks at pairs in a step
PATIENCE = 8.0  # advances of a pair by the bound of accelerations, before it is tried with less
EASED, LEAST_SHARE = 0.25, 1e-9  # factor of the bound from advance to advance then; least share of it
SHORTEST = 1e-12  # advance, as a fraction of the step
LONG = 1e300  # s: a pair that never touches
OVERSHOOT = 1.5  # of the way to the zero that two gaps in a row foretell, where a pair is probed
FALLING = 0.5  # ratio of successive gaps below which a pair is probed

# clear_seen: at the last look at an item the fraction of the step, its gap, the slope and the bound of accelerations by
# which it was advanced, the share of the bounds in them, and the number of advances
AT, GAP, SLOPE, BEND, SHARE, ADVANCES = range(6)


@kernel
def first_overlap(m, d, h, start, method, upper):
    """The fraction of a step, up to `upper`, at which an open contact or joint limit is violated; `upper` if none is.

    Needs event_before, and the stages of dopri5 or the bounds of joint rates. Changes the state if it has to look
    inside the step; clear_looks counts these looks.
    """
    bound_motion(m, d, h)
    d.clear_looks[0] = 0
    # what distance and speeds alone keep apart
    item = start_search(m, d, h, upper)
    while item >= 0 and d.clear_looks[0] < MOST:
        upper = look(m, d, h, start, d.clear_until[item], method, upper)
        item = least_advanced(m, d, upper)
    if item >= 0:
        d.event_count[UNPROVED] = d.event_count[UNPROVED] + 1
    return upper


@kernel
def start_search(m, d, h, upper):
    """clear_until ← 0, or 1 where the gap at the start suffices for the step; returns the first item that is 0."""
    slack = 2.0 * m.opt_gap_tolerance
    first, zero = -1, 0.0 * h
    for item in range(m.nclear):
        far = not is_searched(m, d, item)
        if not far:
            far = gap_before(m, d, item) + slack > upper * h * closing_bound(m, d, item)
        d.clear_until[item] = 1.0 + zero if far else zero
        d.clear_seen[item] = (-1.0 + zero, zero, zero, zero, 1.0 + zero, zero)
        if not far and first < 0:
            first = item
    return first


@kernel
def is_searched(m, d, item):
    """Whether an item is searched for: an open limit, an open point with an identity, or a pair without active points.

    A pair whose points have no identity is searched for by its first one.
    """
    if d.mode[item] != OPEN or item >= m.nslot:
        return d.mode[item] == OPEN
    c = m.slot_pair[item]
    return not m.slot_varies[c] or (item == m.slot_adr[c] and not touches(m, d, c))


@kernel
def gap_before(m, d, item):
    """Gap of an item at the step's start (m, rad); of a pair whose points have no identity, the least of all."""
    least = d.event_before[item]
    if item < m.nslot and m.slot_varies[m.slot_pair[item]]:
        for s in range(item, item + m.slot_num[m.slot_pair[item]]):
            least = minimum(least, d.event_before[s])
    # a pair whose contacts have all been dropped at a seam may have some at once
    if has(m, "seams") and least >= ABSENT:
        return 0.0 * least
    return least


@kernel
def least_advanced(m, d, upper):
    """The item known to be open for the shortest time, less than `upper`; -1 without one."""
    first, least = -1, upper
    for item in range(m.nclear):
        if d.clear_until[item] < least:
            first, least = item, d.clear_until[item]
    return first


@kernel
def look(m, d, h, start, theta, method, upper):
    """Advance all items that are known to be open up to the fraction theta of the step, and no farther.

    Returns a fraction at which one of them is violated, or `upper`.
    """
    motion_at(m, d, h, start, theta, method)
    for item in range(m.nclear):
        if d.clear_until[item] == theta:
            d.clear_looks[0] = d.clear_looks[0] + 1
            motion = gap_motion(m, d, item)
            if motion[0] < -2.0 * m.opt_gap_tolerance and theta > 0.0:
                return theta
            probe = advance(m, d, item, h, theta, motion)
            if theta < probe < upper:
                # where two gaps in a row foretell a contact
                motion_at(m, d, h, start, probe, method)
                if gap_motion(m, d, item)[0] < -2.0 * m.opt_gap_tolerance:
                    upper = probe
                motion_at(m, d, h, start, theta, method)
    return upper


@kernel
def motion_at(m, d, h, start, theta, method):
    """Poses and velocities of all bodies at the fraction theta of the step."""
    state_at(m, d, h, start, theta, method)
    kinematics(m, d, m.keep_bodies)
    body_velocities(m, d)


@kernel
def advance(m, d, item, h, theta, motion):
    """clear_until of an item from its motion at theta (see `gap_motion`), or back; returns where to probe it, or -1."""
    gap, slope, least_slope, bend, time = motion
    seen = d.clear_seen[item]
    share, advances = seen[SHARE], seen[ADVANCES] + 1.0
    zero = 0.0 * h
    # smaller bounds, checked where they lead to
    if share < 1.0 and not foretold(m, seen, h * (theta - seen[AT]), gap, slope):
        d.clear_until[item] = seen[AT]
        d.clear_seen[item] = (-1.0 + zero, gap, slope, zero, 1.0 + zero, zero)
        return -1.0 + zero
    if advances > PATIENCE:
        share = maximum(EASED * share, LEAST_SHARE + zero)
    slope, bend = slope + share * (least_slope - slope), share * bend
    d.clear_seen[item] = (theta, gap, slope, bend, share, advances)
    time = maximum(time, stays_positive(m, gap, slope, bend))
    d.clear_until[item] = theta + maximum(time / h, SHORTEST + zero)
    # a gap that falls fast
    if seen[AT] >= 0.0 and gap < FALLING * seen[GAP]:
        return theta + OVERSHOOT * maximum(gap, zero) * (theta - seen[AT]) / (seen[GAP] - gap)
    return -1.0 + zero


@kernel
def foretold(m, seen, time, gap, slope):
    """Whether a gap and its slope are at least those that the last look foretold for `time` seconds later."""
    least = seen[GAP] + (seen[SLOPE] - 0.5 * seen[BEND] * time) * time
    least_slope = seen[SLOPE] - seen[BEND] * time
    return gap >= least - 2.0 * m.opt_gap_tolerance and slope >= least_slope - m.opt_speed_tolerance


@kernel
def stays_positive(m, gap, slope, bend):
    """How long (s) gap + slope t - ½ bend t² stays above minus twice the gap tolerance."""
    gap = maximum(gap, 0.0 * gap) + 2.0 * m.opt_gap_tolerance
    root = sqrt(slope * slope + 2.0 * bend * gap)
    # the form without cancellation
    if slope < 0.0:
        return 2.0 * gap / (root - slope)
    return (slope + root) / bend if bend > 0.0 else LONG + 0.0 * gap


@kernel
def gap_motion(m, d, item):
    """Motion of an item's gap: the gap (m, rad), its slope, and bounds of what follows.

    The least slope that any of its points has along the normal, the bound of accelerations, and how long (s) it is open
    in any case. Needs the poses and velocities of all bodies.
    """
    if item >= m.nslot:
        return limit_motion(m, d, item)
    return geoms_motion(m, d, item)


@kernel
def limit_motion(m, d, item):
    """`gap_motion` of an end of a joint limit."""
    k, end = (item - m.nslot) // 2, (item - m.nslot) % 2
    j = m.limit_obj[k]
    low, high = joint_gaps(m, d, k)
    i, zero = m.jnt_dofadr[j], 0.0 * d.time
    if m.jnt_type[j] == BALL:
        fastest = -closing_bound(m, d, item)
        return (low if end == 0 else high), fastest, fastest, zero, zero
    gap, slope = (low, d.qvel[i]) if end == 0 else (high, -d.qvel[i])
    return gap, slope, slope, d.rate_change[i], zero


@only_with("contact", otherwise="(d.time, d.time, d.time, d.time, d.time)")
@kernel
def geoms_motion(m, d, item):
    """`gap_motion` of a contact point with an identity, or of the pair of geoms whose first point the item is."""
    c = m.slot_pair[item]
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    margin = m.law_margin[m.collision_law[c]]
    collider_frame(m, d, g1)
    collider_frame(m, d, g2)
    # bounding spheres
    time, apart = 0.0 * d.time, bounding_distance(m, d, g1, g2) - margin
    if apart > 0.0:
        slope, bend = spheres_motion(m, d, g1, g2)
        time = stays_positive(m, apart, slope, bend)
        if apart + margin > NEAR * smaller_radius(m, g1, g2):
            return apart, slope, slope, bend, time
    # the pair's points
    n = d.count[NCON]
    end = pair_points(m, d, n, c, EVERYWHERE)
    bend = relative_acceleration(m, d, g1, g2)
    if not m.slot_varies[c]:
        k = n + item - m.slot_adr[c]
        slope = point_slope(m, d, c, k)
        return d.contact_dist[k] - margin, slope, slope, bend, time
    if end == n:
        return LONG + 0.0 * time, 0.0 * time, 0.0 * time, bend, time
    # nearest points wander over the shapes: the normal at the nearest of all separates them
    k = n
    for other in range(n + 1, end):
        if d.contact_dist[other] < d.contact_dist[k]:
            k = other
    return d.contact_dist[k] - margin, point_slope(m, d, c, k), least_slope(m, d, item, c, k), bend, time


@kernel
def spheres_motion(m, d, g1, g2):
    """Slope of the gap between the bounding spheres of two geoms, or one and a plane, and bound of its acceleration."""
    offset = sub3(d.geom_xpos[g2], d.geom_xpos[g1])
    if m.geom_type[g1] == PLANE:
        mat = d.geom_xmat[g1]
        normal = (mat[2], mat[5], mat[8])
    else:
        normal = scale3(1.0 / sqrt(dot3(offset, offset)), offset)
    v1, v2 = velocity_of(d, m.geom_bodyid[g1], d.geom_xpos[g1]), velocity_of(d, m.geom_bodyid[g2], d.geom_xpos[g2])
    bend = acceleration_bound(m, d, g1, 0.0) + acceleration_bound(m, d, g2, 0.0)
    return dot3(normal, sub3(v2, v1)), bend


@kernel
def point_slope(m, d, c, k):
    """Slope (m/s) of the gap of contact k of pair c, a point that keeps its identity on its geom."""
    f, place = d.contact_frame[k], d.contact_pos[k]
    v1 = velocity_of(d, m.geom_bodyid[m.collision_geom1[c]], place)
    v2 = velocity_of(d, m.geom_bodyid[m.collision_geom2[c]], place)
    return dot3((f[0], f[1], f[2]), sub3(v2, v1))


@kernel
def least_slope(m, d, item, c, k):
    """Least slope (m/s) along the normal of contact k of any two points of the geoms of pair c.

    That of the centres, less the most that turning adds. Where a shape is not convex, other parts of it may soon be
    nearer than along the normal, and the bound of all speeds counts.
    """
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    if is_hollow(m, g1) or is_hollow(m, g2):
        return -closing_bound(m, d, item)
    b1, b2 = m.geom_bodyid[g1], m.geom_bodyid[g2]
    f = d.contact_frame[k]
    normal = (f[0], f[1], f[2])
    apart = sub3(velocity_of(d, b2, d.geom_xpos[g2]), velocity_of(d, b1, d.geom_xpos[g1]))
    turning = turning_across(d, b1, normal) * turning_radius(m, g1)
    turning = turning + turning_across(d, b2, normal) * turning_radius(m, g2)
    return dot3(normal, apart) - turning


@kernel
def closing_bound(m, d, item):
    """Bound of the speed (m/s, rad/s) at which the gap of an item closes in the step."""
    if item >= m.nslot:
        j = m.limit_obj[(item - m.nslot) // 2]
        i = m.jnt_dofadr[j]
        return norm3(d, d.rate_bound, i) if m.jnt_type[j] == BALL else d.rate_bound[i]
    c = m.slot_pair[item]
    return speed_bound(m, d, m.collision_geom1[c]) + speed_bound(m, d, m.collision_geom2[c])


@kernel
def speed_bound(m, d, g):
    """Bound of the speed (m/s) at which any point of geom g's surface moves along a normal of it."""
    known = d.body_bound[m.geom_bodyid[g]]
    return known[LINEAR_SPEED] + known[TURNING_SPEED] * (offset_of(m, g) + turning_radius(m, g))


@kernel
def relative_acceleration(m, d, g1, g2):
    """Bound of the acceleration (m/s²) of any point of a geom relative to any point of another."""
    first = acceleration_bound(m, d, g1, turning_radius(m, g1))
    return first + acceleration_bound(m, d, g2, turning_radius(m, g2))


@kernel
def acceleration_bound(m, d, g, radius):
    """Bound of the acceleration (m/s²) of points of geom g no farther than `radius` (m) from its centre."""
    known = d.body_bound[m.geom_bodyid[g]]
    turning = known[TURNING_ACCELERATION] + known[TURNING_SPEED] * known[TURNING_SPEED]
    return known[LINEAR_ACCELERATION] + turning * (offset_of(m, g) + radius)


@kernel(inline=True)
def offset_of(m, g):
    """Distance (m) of a geom's centre from its body's origin."""
    pos = m.geom_pos[g]
    return sqrt(dot3(pos, pos))


@kernel(inline=True)
def turning_radius(m, g):
    """Greatest distance (m) from a geom's centre that turning moves; none of a sphere, nor of a plane, which stands."""
    kind = m.geom_type[g]
    return 0.0 if kind == SPHERE or kind == PLANE else m.geom_rbound[g]


@kernel(inline=True)
def is_hollow(m, g):
    """Whether a geom is not convex."""
    return m.geom_type[g] == HFIELD or m.geom_type[g] == SDF


@kernel(inline=True)
def turning_across(d, b, normal):
    """Magnitude (rad/s) of body b's turning across a normal, which moves its points along it."""
    known = d.body_motion[b]
    across = cross((known[0], known[1], known[2]), normal)
    return sqrt(dot3(across, across))
