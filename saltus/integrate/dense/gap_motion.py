"""Motion of gaps: actual and largest closing speeds of pairs of geoms and joint limits within a step.

Items are contact points, or pairs of geoms if points have no identity, and after them both ends of all joint limits.
A pair's slope is that of the distance of its nearest points. A bound of it is the least velocity of any two points
along their normal, onto which the distance of convex shapes projects; accelerations are bounded over the whole step
(see `saltus.integrate.dense.motion_bounds`).
"""

from saltus.contact.bounding_spheres import smaller_radius
from saltus.contact.collide import collider_frame
from saltus.contact.counts import NCON, NLOST
from saltus.contact.event.gap_functions import (
    EVERYWHERE,
    NEAR,
    bounding_distance,
    joint_gaps,
    pair_points,
)
from saltus.integrate.dense.motion_bounds import norm3, velocity_of
from saltus.model.enums import BALL, HFIELD, PLANE, SDF, SPHERE
from saltus.model.event_enums import LINEAR_ACCELERATION, LINEAR_SPEED, TURNING_ACCELERATION, TURNING_SPEED
from saltus.number.conditions import has
from saltus.number.functions import maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import cross, dot3, scale3, sub3

MISSED = 1e-9  # m, rad: depth that may be missed if contacts have no modes
LONG = 1e300  # s: for a pair that never touches


@kernel(inline=True)
def points(m):
    """Number of items that are contact points or pairs of geoms."""
    return m.nslot if has(m, "event") else m.ncollision


@kernel(inline=True)
def pair_of(m, item):
    """The pair of geoms of an item."""
    return m.slot_pair[item] if has(m, "event") else item


@kernel(inline=True)
def slack(m):
    """Depth (m, rad) below which a violation may be missed."""
    return 2.0 * m.opt_gap_tolerance if has(m, "event") else MISSED


@kernel
def stays_positive(m, gap, slope, bend):
    """Time (s) for which gap + slope t - ½ bend t² stays above minus the depth that may be missed."""
    gap = maximum(gap, 0.0 * gap) + slack(m)
    root = sqrt(slope * slope + 2.0 * bend * gap)
    # the form without cancellation
    if slope < 0.0:
        return 2.0 * gap / (root - slope)
    return (slope + root) / bend if bend > 0.0 else LONG + 0.0 * gap


@kernel
def gap_motion(m, d, item):
    """Motion of an item's gap: the gap (m, rad), its slope, and bounds of its further motion.

    Bounds are the least slope of any of its points along the normal, the bound of accelerations, and the least time (s)
    for which it stays open. Needs the poses and velocities of all bodies.
    """
    if item >= points(m):
        return limit_motion(m, d, item)
    return geoms_motion(m, d, item)


@kernel
def limit_motion(m, d, item):
    """Gap of an end of a joint limit and bounds of its motion; see `gap_motion`."""
    k, end = (item - points(m)) // 2, (item - points(m)) % 2
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
    """Gap of a contact point with an identity, or of a pair of geoms (by its first point), and bounds of its motion."""
    c = pair_of(m, item)
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
    # the pair's points, behind those of the active set
    n, lost = d.count[NCON] if has(m, "event") else 0, d.count[NLOST]
    end = pair_points(m, d, n, c, EVERYWHERE)
    d.count[NLOST] = lost
    bend = relative_acceleration(m, d, g1, g2)
    if has(m, "event") and not m.slot_varies[c]:
        k = n + item - m.slot_adr[c]
        slope = point_slope(m, d, c, k)
        return d.contact_dist[k] - margin, slope, slope, bend, time
    if end == n:
        return LONG + 0.0 * time, 0.0 * time, 0.0 * time, bend, time
    # nearest points move over the shapes: the normal at the nearest of all separates them
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
    """Least slope (m/s) along the normal of contact k over all points of the geoms of pair c.

    It is the slope of the centres, less the largest contribution of rotation. If a shape is not convex, other parts of
    it may soon be nearer than along the normal, so that the bound of all speeds is used.
    """
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    if is_hollow(m, g1) or is_hollow(m, g2):
        return -closing_bound(m, d, item)
    b1, b2 = m.geom_bodyid[g1], m.geom_bodyid[g2]
    f = d.contact_frame[k]
    normal = (f[0], f[1], f[2])
    apart = sub3(velocity_of(d, b2, d.geom_xpos[g2]), velocity_of(d, b1, d.geom_xpos[g1]))
    turning = turning_across(d, b1, normal) * turning_radius(m, d, g1, g2)
    turning = turning + turning_across(d, b2, normal) * turning_radius(m, d, g2, g1)
    return dot3(normal, apart) - turning


@kernel
def closing_bound(m, d, item):
    """Bound of the speed (m/s, rad/s) at which the gap of an item closes in the step."""
    if item >= points(m):
        j = m.limit_obj[(item - points(m)) // 2]
        i = m.jnt_dofadr[j]
        return norm3(d, d.rate_bound, i) if m.jnt_type[j] == BALL else d.rate_bound[i]
    c = pair_of(m, item)
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    return speed_bound(m, d, g1, g2) + speed_bound(m, d, g2, g1)


@kernel
def speed_bound(m, d, g, other):
    """Bound of the speed (m/s) along a normal of any point of geom g that may meet the other geom."""
    known = d.body_bound[m.geom_bodyid[g]]
    return known[LINEAR_SPEED] + known[TURNING_SPEED] * (offset_of(m, g) + turning_radius(m, d, g, other))


@kernel
def relative_acceleration(m, d, g1, g2):
    """Bound of the acceleration (m/s²) of any point of a geom relative to any point of another."""
    first = acceleration_bound(m, d, g1, turning_radius(m, d, g1, g2))
    return first + acceleration_bound(m, d, g2, turning_radius(m, d, g2, g1))


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


@kernel
def turning_radius(m, d, g, other):
    """Greatest distance (m) from geom g's centre at which rotation moves points that may meet the other geom.

    It is zero for a sphere, and for a plane that does not rotate.
    """
    kind = m.geom_type[g]
    if kind == SPHERE or (kind == PLANE and d.body_bound[m.geom_bodyid[g]][TURNING_SPEED] == 0.0):
        return 0.0 * d.time
    if kind == PLANE:
        offset = sub3(d.geom_xpos[other], d.geom_xpos[g])
        return sqrt(dot3(offset, offset)) + m.geom_rbound[other]
    return m.geom_rbound[g] + 0.0 * d.time


@kernel(inline=True)
def is_hollow(m, g):
    """Whether a geom is not convex."""
    return m.geom_type[g] == HFIELD or m.geom_type[g] == SDF


@kernel(inline=True)
def turning_across(d, b, normal):
    """Magnitude (rad/s) of body b's angular velocity perpendicular to a normal, which moves its points along it."""
    known = d.body_motion[b]
    across = cross((known[0], known[1], known[2]), normal)
    return sqrt(dot3(across, across))
