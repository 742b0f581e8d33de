"""Event location: the first zero of an event function within a step.

Event functions (see `saltus.integrate.event.event_functions`) are sampled on the dense output of the step, at a few
places, wherever one of them dips, and where geoms that were apart overlap (see
`saltus.integrate.dense.contact_search`); a sign change is located by `saltus.integrate.event.event_roots`.
"""

from saltus.contact.collide import collider_frames
from saltus.contact.event.contact_matching import follows_points
from saltus.contact.event.gap_functions import open_gap, open_gaps, touches
from saltus.dynamics.tree.kinematics import kinematics
from saltus.integrate.dense.contact_search import first_overlap
from saltus.integrate.dense.dense_output import interpolate
from saltus.integrate.dense.motion_bounds import first_rates, sample_rates
from saltus.integrate.dense.substep import FIXED, PARTS
from saltus.integrate.event.event_functions import positions, read_values, watches_nothing
from saltus.integrate.event.event_roots import NONE, deepest, earliest, resolution, values_at
from saltus.integrate.event.user_events import EVENTS, above, find_sides, level, pass_sides
from saltus.model.event_enums import CLOSED, OPEN
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum, minimum
from saltus.number.kernels import kernel

STEEPER = 1.2  # bound on a function's slope, relative to that between samples


@kernel
def watch(m, d, first):
    """event_after ← minimum of each event function over the stages of a step, started anew at the `first` one."""
    if d.event_count[CLOSED]:
        read_values(m, d)
        for e in range(m.nevent):
            d.event_after[e] = d.event_value[e] if first else minimum(d.event_after[e], d.event_value[e])


@kernel
def may_cross(m, d, h, start, method):
    """Whether an event function may become negative within a step of dopri5.

    This is so if a force is negative at the end, or falls at a stage to less than half of its values at both ends, or
    if a gap is negative somewhere, by more than the gap tolerance if it is zero at both ends. Reads event_after of
    `watch`. Call it with the state and accelerations of the step's end, whose event functions it leaves in event_value.
    """
    # values at the end and the stages
    open_gaps(m, d)
    read_values(m, d)
    for e in range(m.nevent):
        if rests(m, d, e):
            continue
        ends = minimum(d.event_before[e], d.event_value[e])
        if d.event_value[e] < 0.0 or (d.event_count[CLOSED] and d.event_after[e] < 0.5 * ends):
            return True
    if nothing_open(m, d):
        return False
    # pairs of geoms and joint limits within the step
    if first_overlap(m, d, h, start, method, 1.0 + 0.0 * h) < 1.0:
        return True
    if d.clear_looks[0] and follows_points(m, d):
        place_at_end(m, d, h, start)
    return others_may_cross(m, d, h, start)


@kernel(inline=True)
def rests(m, d, e):
    """Whether function e is an open gap that is zero at both ends of a step, as of a joint at rest on its limit."""
    if e >= m.nslot + 2 * m.nlimit or d.mode[e] != OPEN:
        return False
    return d.event_before[e] <= m.opt_gap_tolerance and absolute(d.event_value[e]) <= m.opt_gap_tolerance


@kernel
def place_at_end(m, d, h, start):
    """Compute poses of bodies and geoms at the end of a step of dopri5, for matching of contacts."""
    interpolate(m, d, h, start, 1.0)
    kinematics(m, d, m.keep_bodies)
    collider_frames(m, d)


@kernel
def others_may_cross(m, d, h, start):
    """Whether an item that `first_overlap` does not search may cross within a step of dopri5.

    Such items are limits of tendons, and open points of pairs that touch at other points. They may cross if the gap is
    negative in the middle, or falls so fast between the samples that it may be negative in between.
    """
    others = False
    for i in range(m.nslot + 2 * m.nlimit):
        others = others or is_other(m, d, i)
    if not others:
        return False
    interpolate(m, d, h, start, 0.5)
    positions(m, d)
    found = False
    for i in range(m.nslot + 2 * m.nlimit):
        if is_other(m, d, i):
            low, middle, high = d.event_before[i], open_gap(m, d, i), d.event_value[i]
            slope = STEEPER * maximum(absolute(middle - low), absolute(high - middle))
            begun = low <= m.opt_gap_tolerance
            if begun:  # the zero is shifted down, see `zero_of`
                middle, high = middle + 2.0 * m.opt_gap_tolerance, high + 2.0 * m.opt_gap_tolerance
            found = found or middle < 0.0 or middle + high < slope or (not begun and low + middle < slope)
    # contacts at the end of the step
    interpolate(m, d, h, start, 1.0)
    positions(m, d)
    return found


@kernel
def is_other(m, d, i):
    """Whether item i is open and not searched by `first_overlap`."""
    if d.mode[i] != OPEN:
        return False
    if i >= m.nslot:
        return i >= m.nslot + 2 * m.njntlimit
    c = m.slot_pair[i]
    return m.slot_varies[c] and touches(m, d, c)


@kernel
def nothing_open(m, d):
    """Whether no contact or limit is open."""
    count = 0
    for i in range(m.nslot + 2 * m.nlimit):
        if d.mode[i] == OPEN:
            count += 1
    return count == 0


@kernel
def first_event(m, d, h, start, method):
    """The fraction of the step at which the first event function becomes negative, NONE if none does.

    event_before [nevent] holds the functions at the step's start. Marks the functions with an event in event_hit;
    without any, leaves the state of the step's end, or of its start where there are no functions at all.
    """
    # cheap exclusions
    if watches_nothing(m):
        return NONE
    if at_once(m, d):
        return 0.0
    if not has(m, FIXED, EVENTS) and not may_cross(m, d, h, start, method):
        return NONE
    find_sides(m, d, h, start, method)
    for e in range(m.nevent):
        d.event_look[e] = d.event_before[e]
    # samples, and where pairs of geoms or joint limits overlap before them
    touch = look_over(m, d, h, start, method)
    for part in range(PARTS):
        # first event of this part
        place = event_in_part(m, d, h, start, method, part, touch)
        if place < NONE:
            return place
        # none: pass sign changes in directions that are not watched
        for e in range(m.nevent):
            d.event_value[e] = d.event_look[(part + 1) * m.nevent + e]
        pass_sides(m, d, True)
    values_at(m, d, h, start, 1.0, method)
    return NONE


@kernel
def look_over(m, d, h, start, method):
    """event_look ← event functions at the ends of all parts of a step; returns the place where geoms first overlap.

    The place is the fraction of the step at which `first_overlap` finds an overlap before the first sample with one;
    NONE if it finds none.
    """
    if has(m, FIXED):
        first_rates(m, d)
    upper = 1.0 + 0.0 * h
    for look in range(1, PARTS + 1):
        values_at(m, d, h, start, look / PARTS, method)
        if has(m, FIXED):
            sample_rates(m, d, h)
        for e in range(m.nevent):
            d.event_look[look * m.nevent + e] = d.event_value[e]
            if e < m.nslot + 2 * m.nlimit and d.mode[e] == OPEN and d.event_value[e] < 0.0:
                upper = minimum(upper, look / PARTS)
    touch = first_overlap(m, d, h, start, method, upper)
    return touch if touch < upper else NONE


@kernel
def at_once(m, d):
    """Mark user functions that are already past their events, after a jump at another event; returns whether any is."""
    found = False
    for e in range(m.nevent):
        beyond = e >= 2 * m.nmode and level(m, d, e, d.event_before[e]) < 0.0
        d.event_hit[e] = 1 if beyond else 0
        found = found or beyond
    return found


@kernel
def event_in_part(m, d, h, start, method, part, touch):
    """The first event in a part of a step whose samples are in event_look; NONE without one.

    `touch`: a place where geoms overlap, see `look_over`.
    """
    # event before a dip below zero inside the part
    for e in range(m.nevent):
        d.event_before[e] = d.event_look[part * m.nevent + e]
    lower = part / PARTS
    inside = dip(m, d, h, start, method, part)
    if lower < touch < (part + 1.0) / PARTS:
        inside = minimum(inside, touch)
    if inside < NONE:
        values_at(m, d, h, start, inside, method)
        for e in range(m.nevent):
            d.event_after[e] = d.event_value[e]
        place = earliest(m, d, h, start, method, lower, inside)
        if place < NONE:
            return place
        # the dip was not an event: continue from there
        values_at(m, d, h, start, inside, method)
        pass_sides(m, d, True)
        for e in range(m.nevent):
            d.event_before[e] = d.event_value[e]
        lower = inside
    # event before the end of the part
    for e in range(m.nevent):
        d.event_after[e] = d.event_look[(part + 1) * m.nevent + e]
    return earliest(m, d, h, start, method, lower, (part + 1.0) / PARTS)


@kernel
def dip(m, d, h, start, method, part):
    """A place within a part of a step where a function positive at both ends is negative; NONE without one.

    Parts are searched if the samples around allow a minimum in between, and the slopes between them reach zero.
    """
    found = NONE
    for e in range(m.nevent):
        low, high = seen(m, d, part, e), seen(m, d, part + 1, e)
        # a minimum may lie in between if the neighbouring samples are not lower
        before = seen(m, d, part - 1, e) if part > 0 else low
        after = seen(m, d, part + 2, e) if part + 2 <= PARTS else high
        if low > resolution(m, e) and high > 0.0 and before >= low and after >= high:
            # slope bound from the neighbouring samples
            slope = STEEPER * maximum(absolute(high - low), maximum(before - low, after - high))
            if low + high < slope:
                place = deepest(m, d, h, start, method, e, (part / PARTS, low), ((part + 1.0) / PARTS, high))
                found = minimum(found, place)
    return found


@kernel(inline=True)
def seen(m, d, place, e):
    """Distance of event function e from zero, on its side, at the sample number `place` of the step."""
    return above(m, d, e, d.event_look[place * m.nevent + e])
