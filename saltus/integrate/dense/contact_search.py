"""Search of a step for contacts: each pair of geoms is proved apart, or shown to overlap somewhere.

Conservative advancement (Mirtich, Impulse-based dynamic simulation of rigid body systems (1996), chapter 2): from a
time at which a pair has the gap g along the normal n, and its bodies close it at the speed -σ, it stays apart while

    g + σ τ - ½ K τ² > 0,

where K bounds the acceleration of all points of both bodies over the step (see `saltus.integrate.dense.motion_bounds`).
The distance of two convex shapes is at least that of their projections onto a fixed n, so that σ is the least closing
velocity of any of their points along n. Where shapes are not convex, g - V τ > 0 with a bound V of speeds serves. The
pairs are advanced in the order of the times up to which they are known to be apart, until the step's end or the first
overlap. Nothing deeper than twice the gap tolerance is missed.

A pair that hovers over contact, such as a ball rolling along a wall without a force, would need very many short
advances. After `PATIENCE` of them both bounds are replaced by smaller ones, each checked by the gap and its slope at
the next place: if they fall below the prediction, the advance is repeated with the full bounds.
"""

from saltus.contact.collide import collider_frame
from saltus.contact.event.gap_functions import ABSENT, bounding_distance, touches
from saltus.dynamics.tree.kinematics import kinematics
from saltus.integrate.dense.gap_motion import closing_bound, gap_motion, points, slack, stays_positive
from saltus.integrate.dense.motion_bounds import body_velocities, bound_carriers, bound_motion
from saltus.integrate.dense.substep import state_at
from saltus.model.event_enums import OPEN
from saltus.number.conditions import has
from saltus.number.functions import maximum, minimum
from saltus.number.kernels import kernel

MOST = 1000  # most evaluations of pairs in a step
PATIENCE = 8.0  # advances of a pair with the bound of accelerations, before smaller ones are tried
EASED, LEAST_SHARE = 0.25, 1e-9  # factor of the bound between such advances; its least share
BISECTIONS = 50
SHORTEST = 1e-12  # shortest advance, as a fraction of the step
# m, rad: if contacts have no modes, a gap below which a pair counts as in contact at the start of a step; half of it
# remains when a step ends before a contact
TOUCHING = 1e-7
OVERSHOOT = 1.5  # fraction of the way to the zero extrapolated from two gaps at which a pair is probed
FALLING = 0.5  # ratio of successive gaps below which a pair is probed

# clear_seen: for the last evaluation of an item, the fraction of the step, the gap, the slope and the bound of
# accelerations of the advance, the share of the bounds in them, and the number of advances
AT, GAP, SLOPE, BEND, SHARE, ADVANCES = range(6)


@kernel
def first_overlap(m, d, h, start, method, upper):
    """The fraction of a step, up to `upper`, at which an open contact or joint limit is violated; `upper` if none is.

    Needs the stages of dopri5 or the bounds of joint rates, and, if events are located, event_before; under other
    contact laws the search covers pairs and limits that are open at the start. Changes the state if it has to evaluate
    places inside the step; clear_looks counts these, and clear_item is the violated item.
    """
    bound_carriers(m, d, h, start)
    bound_motion(m, d, h)
    d.clear_looks[0] = 0
    # items that distance and speeds alone keep apart
    item = start_search(m, d, h, upper) if has(m, "event") else start_without_modes(m, d, h, start, method)
    while item >= 0 and d.clear_looks[0] < MOST:
        upper = look(m, d, h, start, d.clear_until[item], method, upper)
        item = least_advanced(m, d, upper)
    if item >= 0:
        d.unproved[0] = d.unproved[0] + 1
    return upper


@kernel
def last_open(m, d, h, start, method, place):
    """The fraction of the step just before contact of the item that `first_overlap` found violated at `place`."""
    item = d.clear_item[0]
    low, high = maximum(d.clear_seen[item][AT], 0.0 * place), place
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        motion_at(m, d, h, start, middle, method)
        if gap_motion(m, d, item)[0] > 0.5 * TOUCHING:
            low = middle
        else:
            high = middle
    return low


@kernel(inline=True)
def items(m):
    """Number of items: contact points, or pairs of geoms if points have no modes, and ends of joint limits."""
    return points(m) + 2 * m.njntlimit


@kernel
def start_without_modes(m, d, h, start, method):
    """clear_until ← 0, or 1 if bounding spheres are apart for the whole step; returns the first item with 0."""
    motion_at(m, d, h, start, 0.0 * h, method)
    first, zero = -1, 0.0 * h
    for item in range(items(m)):
        far = item < points(m) and m.collision_flex2[item] >= 0
        if not far and item < points(m):
            far = spheres_far(m, d, item, h)
        d.clear_until[item] = 1.0 + zero if far else zero
        d.clear_seen[item] = (-1.0 + zero, zero, zero, zero, 1.0 + zero, zero)
        if not far and first < 0:
            first = item
    return first


@kernel
def spheres_far(m, d, c, h):
    """Whether the bounding spheres of pair c are farther apart than all speeds can close in a step of h seconds."""
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    collider_frame(m, d, g1)
    collider_frame(m, d, g2)
    return bounding_distance(m, d, g1, g2) - m.law_margin[m.collision_law[c]] > h * closing_bound(m, d, c)


@kernel
def start_search(m, d, h, upper):
    """clear_until ← 0, or 1 if the gap at the start suffices for the step; returns the first item with 0."""
    first, zero = -1, 0.0 * h
    for item in range(items(m)):
        far = not is_searched(m, d, item)
        if not far:
            far = gap_before(m, d, item) + slack(m) > upper * h * closing_bound(m, d, item)
        d.clear_until[item] = 1.0 + zero if far else zero
        d.clear_seen[item] = (-1.0 + zero, zero, zero, zero, 1.0 + zero, zero)
        if not far and first < 0:
            first = item
    return first


@kernel
def is_searched(m, d, item):
    """Whether an item is searched: an open limit, an open point with an identity, or a pair without active points.

    A pair whose points have no identity is represented by its first point.
    """
    if d.mode[item] != OPEN or item >= m.nslot:
        return d.mode[item] == OPEN
    c = m.slot_pair[item]
    return not m.slot_varies[c] or (item == m.slot_adr[c] and not touches(m, d, c))


@kernel
def gap_before(m, d, item):
    """Gap of an item at the step's start (m, rad); the least of all for a pair whose points have no identity."""
    least = d.event_before[item]
    if item < m.nslot and m.slot_varies[m.slot_pair[item]]:
        for s in range(item, item + m.slot_num[m.slot_pair[item]]):
            least = minimum(least, d.event_before[s])
    # a pair whose contacts were all removed at a seam may get some at once
    if has(m, "seams") and least >= ABSENT:
        return 0.0 * least
    return least


@kernel
def least_advanced(m, d, upper):
    """The item known to be open for the shortest time, less than `upper`; -1 if there is none."""
    first, least = -1, upper
    for item in range(items(m)):
        if d.clear_until[item] < least:
            first, least = item, d.clear_until[item]
    return first


@kernel
def look(m, d, h, start, theta, method, upper):
    """Advance all items known to be open up to the fraction theta of the step, and no farther.

    Returns a fraction at which one of them is violated, or `upper`.
    """
    motion_at(m, d, h, start, theta, method)
    for item in range(items(m)):
        if d.clear_until[item] == theta:
            d.clear_looks[0] = d.clear_looks[0] + 1
            motion = gap_motion(m, d, item)
            if motion[0] < -slack(m) and theta > 0.0:
                d.clear_item[0] = item
                return theta
            if not has(m, "event") and theta == 0.0 and motion[0] <= TOUCHING:
                d.clear_until[item] = 1.0 + 0.0 * h  # in contact, which the step itself resolves
                continue
            probe = advance(m, d, item, h, theta, motion)
            if theta < probe < upper:
                # place of a contact extrapolated from two gaps
                motion_at(m, d, h, start, probe, method)
                if gap_motion(m, d, item)[0] < -slack(m):
                    upper = probe
                    d.clear_item[0] = item
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
    """Advance or reset clear_until of an item by its motion at theta; returns a place to probe, or -1."""
    gap, slope, least_slope, bend, time = motion
    seen = d.clear_seen[item]
    share, advances = seen[SHARE], seen[ADVANCES] + 1.0
    zero = 0.0 * h
    # smaller bounds, checked at the next place
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
    # a rapidly falling gap
    if seen[AT] >= 0.0 and gap < FALLING * seen[GAP]:
        return theta + OVERSHOOT * maximum(gap, zero) * (theta - seen[AT]) / (seen[GAP] - gap)
    return -1.0 + zero


@kernel
def foretold(m, seen, time, gap, slope):
    """Whether a gap and its slope are at least those predicted by the last evaluation for `time` seconds later."""
    least = seen[GAP] + (seen[SLOPE] - 0.5 * seen[BEND] * time) * time
    least_slope = seen[SLOPE] - seen[BEND] * time
    return gap >= least - slack(m) and slope >= least_slope - m.opt_speed_tolerance
