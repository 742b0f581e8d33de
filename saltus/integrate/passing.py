"""Geoms that pass each other within a fixed step, which detects their contact too late or not at all.

Contacts are detected at the ends of steps. Two geoms whose relative motion in a step is a large part of their thickness
may be apart at both ends but pass through each other in between, or be pushed apart on the far side. The step is not
changed, as in MuJoCo; such pairs are found here, so that they can be reported. A cheap bound of the motion from joint
speeds comes first; if it does not suffice, geoms are followed from the start to the end of the step along straight
lines, and pairs that meet are collided at places in between.
"""

from saltus.contact.collide import collide_pair, collider_frames
from saltus.contact.counts import NCON, NLOST
from saltus.dynamics.tree.kinematics import kinematics
from saltus.model.enums import SPHERE
from saltus.model.fields.constraint.passing import BOUND, COUNT, NEXT, REST, SEEN
from saltus.number.functions import absolute, any_lane, maximum, minimum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3

SHARE = 0.25  # relative to the sum of half thicknesses: pairs that move less in a step are not examined
CALM, RESTING, RESTLESS, RISE = 0.5, 48, 16, 1.5  # see `rest_after`
AFTER, SLOWED = 64, 0.01  # steps after a fast one in which pairs are still followed, and the share from which they are
DEPTH = 0.25  # relative to the sum of half thicknesses: shallower overlaps are grazes
FINE, MOST_LOOKS = 4.0, 200.0  # places examined per thickness; most places examined for a pair in a step


@only_with("thin", otherwise="0.0")
@kernel
def motion_bound(m, d, h):
    """Largest relative motion of any pair in h seconds, in units of the sum of half thicknesses."""
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + absolute(d.qvel[i]) * m.passing_reach[i]
    if not any_lane(h * total >= SHARE):
        return h * total
    # at most two trees take part in a relative motion
    first = second = total = 0.0 * d.time
    for i in range(m.nv):
        total = total + absolute(d.qvel[i]) * m.passing_reach[i]
        if m.passing_last[i]:
            second = maximum(second, minimum(first, total))
            first = maximum(first, total)
            total = 0.0 * d.time
    return h * (first + second)


@only_with("thin", otherwise="False")
@kernel
def may_pass(m, d, h):
    """Whether geoms are to be followed in the step of h seconds that begins now; stores their poses."""
    if is_followed(m, d, motion_bound(m, d, h), h):
        keep_poses(m, d)
        return True
    return False


@only_with("thin", otherwise="False")
@kernel
def is_followed(m, d, bound, h):
    """Whether geoms with this `motion_bound` are to be followed in the step of h seconds that begins now."""
    if bound < SHARE and d.passing_count[REST] >= 0:
        return False
    # the count belongs to consecutive steps
    if absolute(d.time - d.passing_level[NEXT]) > 0.5 * h:
        d.passing_count[REST] = 0
    d.passing_level[NEXT] = d.time + h
    rest = d.passing_count[REST]
    if bound < SHARE and rest >= 0:
        return False
    if rest > 0 and bound < RISE * d.passing_level[BOUND]:
        d.passing_count[REST] = rest - 1
        return False
    d.passing_level[BOUND] = bound
    return True


@only_with("thin")
@kernel
def keep_poses(m, d):
    """Store the poses of geoms at the start of a step in which they are followed."""
    place_geoms(m, d)
    for k in range(m.ncollider):
        g = m.collider[k]
        d.passing_pos[g] = d.geom_xpos[g]
        d.passing_mat[g] = d.geom_xmat[g]


@only_with("thin")
@kernel
def place_geoms(m, d):
    """Compute poses of all geoms that can collide, from positions alone."""
    kinematics(m, d, 0)
    collider_frames(m, d)


@only_with("thin")
@kernel
def note_passing(m, d, start):
    """Store the pairs that passed each other in the step that began at `start` (s), after `may_pass`."""
    place_geoms(m, d)
    lost, largest = d.count[NLOST], 0.0 * start
    share = SHARE if d.passing_count[REST] >= 0 else SLOWED
    for c in range(m.npassing):
        least = m.passing_least[c]
        if least < 1e300:
            moved = relative_motion(m, d, c)
            largest = maximum(largest, moved / least)
            if moved > share * least and passes(m, d, c, moved):
                seen = d.passing_count[COUNT]
                if seen < SEEN:
                    d.passed_pair[seen], d.passed_time[seen] = c, start
                d.passing_count[COUNT] = seen + 1
    d.count[NLOST] = lost
    rest_after(d, largest)


@kernel
def rest_after(d, largest):
    """Set the number of next steps without checks (or with, if negative), after a relative motion of `largest`."""
    # fast pairs are followed while contact slows them down; slower ones than the bound are not checked for some steps,
    # unless the bound rises
    if largest >= SHARE:
        d.passing_count[REST] = -AFTER
    elif d.passing_count[REST] < 0:
        d.passing_count[REST] = d.passing_count[REST] + 1
    else:
        d.passing_count[REST] = RESTING if largest < CALM * SHARE else RESTLESS


@only_with("thin", otherwise="0.0")
@kernel
def relative_motion(m, d, c):
    """Upper bound of the relative motion (m) of points of the geoms of pair c in the step."""
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    path = sub3(sub3(d.geom_xpos[g2], d.passing_pos[g2]), sub3(d.geom_xpos[g1], d.passing_pos[g1]))
    moved = sqrt(dot3(path, path))
    # rotation of a sphere has no effect
    if m.geom_type[g1] != SPHERE:
        moved = moved + m.geom_rbound[g1] * turn(d.passing_mat[g1], d.geom_xmat[g1])
    if m.geom_type[g2] != SPHERE:
        moved = moved + m.geom_rbound[g2] * turn(d.passing_mat[g2], d.geom_xmat[g2])
    return moved


@kernel
def turn(one, other):
    """The angle (rad) between two orientations, given as rotation matrices, by the chord: 2 √2 sin(θ/2) = |R - S|."""
    total = 0.0 * one[0]
    for k in range(9):
        total = total + (other[k] - one[k]) * (other[k] - one[k])
    return sqrt(0.5 * total)


@only_with("thin", otherwise="False")
@kernel
def passes(m, d, c, moved):
    """Whether the geoms of pair c, with relative motion `moved` (m), passed through each other in the step.

    This is so if they are apart at both ends and overlap deeply in between, or if the normal of their contact reverses,
    so that they separate on the other side.
    """
    g1, g2, least = m.collision_geom1[c], m.collision_geom2[c], m.passing_least[c]
    begin = sub3(d.passing_pos[g2], d.passing_pos[g1])
    path = sub3(sub3(d.geom_xpos[g2], d.geom_xpos[g1]), begin)
    low, high = meeting(begin, path, m.geom_rbound[g1] + m.geom_rbound[g2])
    if low > high:
        return False
    # examine places in between
    end1, end2 = (d.geom_xpos[g1], d.geom_xmat[g1]), (d.geom_xpos[g2], d.geom_xmat[g2])
    looks = int(minimum(FINE * moved * (high - low) / least, MOST_LOOKS)) + 2
    normal, deepest, before, depth = scale3(0.0, path), 0.0 * least, 0.0 * least, 0.0 * least
    round_ = False
    for k in range(looks + 1):
        s = low + (high - low) * k / looks
        move_geom(d, g1, end1, s)
        move_geom(d, g2, end2, s)
        depth, now = overlap(m, d, c)
        if k == 0:
            before = depth
        if depth > 0.0:
            if deepest <= 0.0:
                normal = now
            round_ = round_ or dot3(normal, now) < 0.0
        deepest = maximum(deepest, depth)
    d.geom_xpos[g1], d.geom_xmat[g1] = end1
    d.geom_xpos[g2], d.geom_xmat[g2] = end2
    # passed through: against the normal, or by rotation
    against = dot3(path, normal) < 0.0 or moved > 2.0 * sqrt(dot3(path, path))
    return (round_ and against) or (before <= 0.0 and depth <= 0.0 and deepest > DEPTH * least)


@kernel
def meeting(begin, path, radii):
    """Fractions of the step between which bounding spheres overlap; the first is larger if they never do."""
    a, b, c = dot3(path, path), dot3(begin, path), dot3(begin, begin) - radii * radii
    if not a > 1e-300:
        return (0.0 * a, 1.0 + 0.0 * a) if c <= 0.0 else (1.0 + 0.0 * a, 0.0 * a)
    root = b * b - a * c
    if not root >= 0.0:
        return 1.0 + 0.0 * a, 0.0 * a
    half = sqrt(root)
    return maximum((-b - half) / a, 0.0 * a), minimum((-b + half) / a, 1.0 + 0.0 * a)


@kernel
def move_geom(d, g, end, s):
    """Pose of geom g at the fraction s from its start to its end: a straight line, and interpolated axes."""
    pos, mat = end
    start, axes = d.passing_pos[g], d.passing_mat[g]
    d.geom_xpos[g] = add_scaled3(start, s, sub3(pos, start))
    x = (axes[0] + s * (mat[0] - axes[0]), axes[3] + s * (mat[3] - axes[3]), axes[6] + s * (mat[6] - axes[6]))
    y = (axes[1] + s * (mat[1] - axes[1]), axes[4] + s * (mat[4] - axes[4]), axes[7] + s * (mat[7] - axes[7]))
    x = scale3(1.0 / sqrt(maximum(dot3(x, x), 1e-300)), x)
    y = add_scaled3(y, -dot3(x, y), x)
    y = scale3(1.0 / sqrt(maximum(dot3(y, y), 1e-300)), y)
    z = cross(x, y)
    d.geom_xmat[g] = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@only_with("thin", otherwise="(0.0, (0.0, 0.0, 0.0))")
@kernel
def overlap(m, d, c):
    """Largest overlap of the geoms of pair c (m), negative if they are apart, and the normal there."""
    first = d.count[NCON]
    last = collide_pair(m, d, first, c, 0.0 * d.time)
    depth, normal = -1.0 + 0.0 * d.time, (0.0 * d.time, 0.0 * d.time, 0.0 * d.time)
    for n in range(first, last):
        if -d.contact_dist[n] > depth:
            depth, frame = -d.contact_dist[n], d.contact_frame[n]
            normal = (frame[0], frame[1], frame[2])
    return depth, normal
