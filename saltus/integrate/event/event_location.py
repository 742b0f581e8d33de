"""Where something happens within a step: event functions, and the first place where one of them goes below zero.

Event functions are above zero as long as modes stay as they are: the distance of what is open, the normal force of what
is closed, for what sticks the room that is left in the cone of friction, for what slips the speed in the direction of
its slip. They are looked at on the dense output of a step, in a few places and wherever one of them dips; a change of
sign is located by bisection and inverse quadratic interpolation (Chandrupatla, A new hybrid quadratic/bisection
algorithm for finding the zero of a nonlinear function without using derivatives (1997)).
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.gap_functions import closed_gaps, gaps, open_gaps
from saltus.contact.event.modes import CLOSED, OPEN, SHARED, SLIP
from saltus.contact.rows.blocks import CONE, FRICTION, UNILATERAL
from saltus.dynamics.tendon.length import tendons
from saltus.dynamics.tree.com_frame import com_dof, com_inertia, tree_centre_of_mass
from saltus.dynamics.tree.kinematics import kinematics
from saltus.integrate.adaptive.dopri5 import interpolate
from saltus.integrate.event.substep import FIXED, PARTS, state_at
from saltus.integrate.event.user_events import EVENTS, above, find_sides, level, observe, pass_sides, user_values
from saltus.number.functions import absolute, maximum, minimum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import acceleration
from saltus.solve.cone.delassus import BLOCKS, ROWS, contact_friction

NEARER, SHORTER = 20, 0.125  # looks towards the beginning, for a function that is zero there; each in how much less
ITERATIONS = 100
NONE = 2.0  # a place beyond the step: no event
EPSILON = 2.2e-16
STEEPER = 1.2  # than between looks a function may be
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
SECTIONS = 30  # of a part of a step
DEEPER = 2.0  # than its values differ a function is not below them
ROOM = 1e-9  # in parts of the cone's radius and of the largest force: nearer to zero is rounding


@kernel
def event_values(m, d):
    """event_value [nevent] at the present state: of distances and forces [nmode], of slip [nmode], the user's."""
    if observe(m, d):
        open_gaps(m, d)
    elif d.event_count[CLOSED]:
        acceleration(m, d)
        open_gaps(m, d)
    else:
        positions(m, d)
    read_values(m, d)


@kernel
def positions(m, d):
    """Distances of all that can close, at the present positions."""
    kinematics(m, d, m.keep_bodies)
    tendon_lengths(m, d)
    closed_gaps(m, d)
    open_gaps(m, d)


@kernel
def points(m, d):
    """The same with contacts of all points within reach."""
    kinematics(m, d, m.keep_bodies)
    tendon_lengths(m, d)
    gaps(m, d)


@only_with("tendon")
@kernel
def tendon_lengths(m, d):
    """Lengths of tendons at the present positions."""
    tree_centre_of_mass(m, d)
    com_inertia(m, d)
    com_dof(m, d)
    tendons(m, d)


@kernel
def read_values(m, d):
    """event_value from distances, and from the forces of what is closed."""
    one = 1.0 + 0.0 * d.time
    for i in range(m.nmode):
        d.event_value[i] = d.gap[i] if d.mode[i] == OPEN and i < m.nslot + 2 * m.nlimit else one
        if i < m.nslot and d.mode[i] != OPEN and d.slot_contact[i] < 0:
            d.event_value[i] = -one  # its point is gone
        d.event_value[m.nmode + i] = one
    if d.event_count[CLOSED]:
        largest = 0.0 * d.time
        for b in range(d.count[NBLOCK]):
            largest = maximum(largest, absolute(d.row_force[d.block_row[b]]))
        for b in range(d.count[NBLOCK]):
            if d.block_item[b] >= 0:
                read_block(m, d, b, ROOM * largest)
        if d.event_count[SHARED]:
            read_shared(m, d)
    user_values(m, d)


@kernel
def read_shared(m, d):
    """Where loads are shared forces say nothing: instead, whether what is held begins to move."""
    largest = 0.0 * d.time
    for j in range(d.hard_count[ROWS]):
        largest = maximum(largest, absolute(d.hard_q[j]))
    for k in range(d.hard_count[BLOCKS]):
        j = d.hard_row[k]
        item = d.block_item[d.hard_block[j]]
        motion = 0.0 * largest
        for r in range(j, j + d.hard_dim[k]):
            motion = maximum(motion, absolute(d.hard_u[r]))
        if item >= 0:
            d.event_value[item] = ROOM * largest - motion


@kernel
def read_block(m, d, b, rounding):
    """Event functions of one block; a force (N) counts as zero where it is nothing but rounding."""
    item, row, kind = d.block_item[b], d.block_row[b], d.block_kind[b]
    force = d.row_force[row]
    if kind == UNILATERAL:
        d.event_value[item] = force + rounding
    elif kind == CONE and d.mode[item] == SLIP:
        d.event_value[item] = force + rounding
        frame, kept = d.contact_frame[d.slot_contact[item]], d.slip[item]
        c1 = frame[3] * kept[0] + frame[4] * kept[1] + frame[5] * kept[2]
        c2 = frame[6] * kept[0] + frame[7] * kept[1] + frame[8] * kept[2]
        d.event_value[m.nmode + item] = c1 * d.row_velocity[row + 1] + c2 * d.row_velocity[row + 2]
    elif kind == CONE:
        across = sqrt(d.row_force[row + 1] ** 2 + d.row_force[row + 2] ** 2)
        d.event_value[item] = contact_friction(m, d, b) * force * (1.0 + ROOM) + rounding - across
    elif kind == FRICTION and d.mode[item] == SLIP:
        d.event_value[m.nmode + item] = d.slip[item, 0] * d.row_velocity[row]
    elif kind == FRICTION:
        d.event_value[item] = d.row_loss[row] * (1.0 + ROOM) - absolute(force)


@kernel
def values_at(m, d, h, start, theta, method):
    """Event functions at the fraction theta of the step of h seconds from `start` (s)."""
    state_at(m, d, h, start, theta, method)
    event_values(m, d)


@kernel
def value_at(m, d, h, start, theta, method, e):
    """Event function e alone at the fraction theta of the step: a distance takes no forces."""
    state_at(m, d, h, start, theta, method)
    if e < m.nslot + 2 * m.nlimit and d.mode[e] == OPEN:
        positions(m, d)
        return d.gap[e]
    event_values(m, d)
    return d.event_value[e]


@kernel
def watch(m, d, first):
    """event_after ← the least of each event function of forces at the stages of a step; at the `first` they begin."""
    if d.event_count[CLOSED]:
        read_values(m, d)
        for e in range(m.nevent):
            d.event_after[e] = d.event_value[e] if first else minimum(d.event_after[e], d.event_value[e])


@kernel
def may_cross(m, d, h, start):
    """`looks_crossed` after a step of dopri5.

    A force is negative at the end, or falls at a stage to less than half of what it is at both ends; a distance is
    negative at the end or in the middle, or falls so fast that it may be in between. Reads what `watch` has seen, and
    is called with the state and the accelerations of the step's end, whose event functions it leaves in event_value.
    """
    open_gaps(m, d)
    read_values(m, d)
    for e in range(m.nevent):
        ends = minimum(d.event_before[e], d.event_value[e])
        if d.event_value[e] < 0.0 or (d.event_count[CLOSED] and d.event_after[e] < 0.5 * ends):
            return True
    if nothing_open(m, d):
        return False
    interpolate(m, d, h, start, 0.5)
    positions(m, d)
    for i in range(m.nslot + 2 * m.nlimit):
        if d.mode[i] == OPEN:
            low, middle, high = d.event_before[i], d.gap[i], d.event_value[i]
            slope = STEEPER * maximum(absolute(middle - low), absolute(high - middle))
            begun = low <= m.opt_gap_tolerance
            if middle < 0.0 or middle + high < slope or (not begun and low + middle < slope):
                return True
    return False


@only_with(FIXED, EVENTS, otherwise=may_cross)
@kernel
def looks_crossed(m, d, h, start):
    """Whether an event function may go below zero within a step."""
    return True


@kernel
def nothing_open(m, d):
    """Whether no distance may come to zero."""
    count = 0
    for i in range(m.nslot + 2 * m.nlimit):
        if d.mode[i] == OPEN:
            count += 1
    return count == 0


@kernel
def first_event(m, d, h, start, method):
    """The fraction of the step where the first event function goes below zero, NONE if none does.

    event_before [nevent] holds the functions at the step's start. Leaves the functions that have done so marked in
    event_hit, and the state of the step's end where none has.
    """
    if at_once(m, d):
        return 0.0
    if not looks_crossed(m, d, h, start):
        return NONE
    find_sides(m, d, h, start, method)
    for e in range(m.nevent):
        d.event_look[e] = d.event_before[e]
    looks, ahead = 0, PARTS if m.nuserevent else 2  # one farther than the part's end
    for part in range(PARTS):
        while looks < min(part + ahead, PARTS):
            looks += 1
            values_at(m, d, h, start, looks / PARTS, method)
            for e in range(m.nevent):
                d.event_look[looks * m.nevent + e] = d.event_value[e]
        place = event_in_part(m, d, h, start, method, part)
        if place < NONE:
            return place
        for e in range(m.nevent):
            d.event_value[e] = d.event_look[(part + 1) * m.nevent + e]
        pass_sides(m, d, True)
    values_at(m, d, h, start, 1.0, method)
    return NONE


@kernel
def at_once(m, d):
    """Whether functions of the user's are beyond their events already, after a jump of others; marks them."""
    found = False
    for e in range(m.nevent):
        beyond = e >= 2 * m.nmode and level(m, d, e, d.event_before[e]) < 0.0
        d.event_hit[e] = 1 if beyond else 0
        found = found or beyond
    return found


@kernel
def event_in_part(m, d, h, start, method, part):
    """The first event in a part of a step whose looks are in event_look; NONE without one."""
    for e in range(m.nevent):
        d.event_before[e] = d.event_look[part * m.nevent + e]
    lower = part / PARTS
    inside = dip(m, d, h, start, method, part)
    if inside < NONE:
        values_at(m, d, h, start, inside, method)
        for e in range(m.nevent):
            d.event_after[e] = d.event_value[e]
        place = earliest(m, d, h, start, method, lower, inside)
        if place < NONE:
            return place
        # one that is not watched has passed
        values_at(m, d, h, start, inside, method)
        pass_sides(m, d, True)
        for e in range(m.nevent):
            d.event_before[e] = d.event_value[e]
        lower = inside
    for e in range(m.nevent):
        d.event_after[e] = d.event_look[(part + 1) * m.nevent + e]
    return earliest(m, d, h, start, method, lower, (part + 1.0) / PARTS)


@kernel
def dip(m, d, h, start, method, part):
    """A place within a part of a step where a function is below zero that is above it at both ends; NONE without one.

    Looked for where the function may have its least value in between, as far as the looks around tell, and where its
    slope there would take it to zero.
    """
    found = NONE
    for e in range(m.nevent):
        low, high = seen(m, d, part, e), seen(m, d, part + 1, e)
        before = seen(m, d, part - 1, e) if part > 0 else low
        after = seen(m, d, part + 2, e) if part + 2 <= PARTS else high
        if low > resolution(m, e) and high > 0.0 and before >= low and after >= high:
            slope = STEEPER * maximum(absolute(high - low), maximum(before - low, after - high))
            if low + high < slope:
                place = deepest(m, d, h, start, method, e, part / PARTS, low, (part + 1.0) / PARTS, high)
                found = min(found, place)
    return found


@kernel
def deepest(m, d, h, start, method, e, a, fa, b, fb):
    """A place between a and b where event function e is below zero, by the golden section; NONE if it stays above."""
    x, y = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    fx, fy = level_at(m, d, h, start, method, e, x), level_at(m, d, h, start, method, e, y)
    for _ in range(SECTIONS):
        if fx < 0.0:
            return x
        if fy < 0.0:
            return y
        if min(fx, fy) > DEEPER * (max(fa, fb, fx, fy) - min(fx, fy)):
            return NONE  # what is left of the way down is less than what is left below
        if fx < fy:
            b, fb, y, fy = y, fy, x, fx
            x = b - GOLDEN * (b - a)
            fx = level_at(m, d, h, start, method, e, x)
        else:
            a, fa, x, fx = x, fx, y, fy
            y = a + GOLDEN * (b - a)
            fy = level_at(m, d, h, start, method, e, y)
    return NONE


@kernel
def level_at(m, d, h, start, method, e, theta):
    """How far event function e is from zero at the fraction theta of the step."""
    return above(m, d, e, value_at(m, d, h, start, theta, method, e))


@kernel(inline=True)
def seen(m, d, place, e):
    """How far event function e is from zero at the end of so many parts of the step."""
    return above(m, d, e, d.event_look[place * m.nevent + e])


@kernel
def earliest(m, d, h, start, method, lower, upper):
    """The first event between two places in a step, NONE without one; marks what is zero there.

    event_before and event_after hold the functions at both.
    """
    best = NONE
    for e in range(m.nevent):
        high = level(m, d, e, d.event_after[e])
        if high < 0.0:
            end = upper
            if best < upper:
                end, high = best, level(m, d, e, value_at(m, d, h, start, best, method, e))
            place = zero_of(m, d, h, start, method, e, lower, end, high)
            if place < best:
                best = place
                for other in range(e):
                    d.event_hit[other] = 0
                d.event_hit[e] = 1
            elif place == best < NONE:
                d.event_hit[e] = 1
    return best


@kernel
def resolution(m, e):
    """What counts as zero of an event function: at the start of its mode it begins there."""
    if e < m.nmode:
        return m.opt_gap_tolerance if e < m.nslot + 2 * m.nlimit else 0.0
    return m.opt_speed_tolerance if e < 2 * m.nmode else 0.0


@kernel
def zero_of(m, d, h, start, method, e, lower, upper, high):
    """The place between two in a step where event function e goes below zero; NONE if it does not go down.

    `high` is the function at the upper one. A function that is zero at the lower one, for what has just begun, is
    first followed to where it is positive.
    """
    if high >= 0.0:
        return NONE
    low = level(m, d, e, d.event_before[e])
    least = resolution(m, e)
    if low > least:
        return bracket(m, d, h, start, method, e, 0.0, lower, low, upper, high)
    place = full = upper
    for _ in range(NEARER):
        place = lower + SHORTER * (place - lower)
        value = level(m, d, e, value_at(m, d, h, start, place, method, e))
        if value > least:
            return bracket(m, d, h, start, method, e, 0.0, place, value, upper, high)
        upper, high = place, value
    # it has not left zero: it counts from a little below
    high = level(m, d, e, value_at(m, d, h, start, full, method, e))
    if high + 2.0 * least >= 0.0:
        return NONE
    if low + 2.0 * least <= 0.0:
        return lower
    return bracket(m, d, h, start, method, e, 2.0 * least, lower, low + 2.0 * least, full, high + 2.0 * least)


@kernel
def bracket(m, d, h, start, method, e, shift, a, fa, b, fb):
    """The zero between a, where event function e plus `shift` is fa > 0, and b, where it is fb < 0, to rounding.

    Returns the end of the last bracket where the function is not positive.
    """
    share = 0.5
    c, fc = a, fa
    for _ in range(ITERATIONS):
        x = a + share * (b - a)
        f = level(m, d, e, value_at(m, d, h, start, x, method, e)) + shift
        if (f > 0.0) == (fa > 0.0):
            c, fc = a, fa
        else:
            c, fc = b, fb
            b, fb = a, fa
        a, fa = x, f
        if fa == 0.0:
            return a
        width = 2.0 * EPSILON * absolute(b) / absolute(b - c) if b != c else 1.0
        if width >= 0.5 or absolute(b - a) <= EPSILON:
            break
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
        share = 0.5
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            # inverse quadratic interpolation
            share = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        share = min(max(share, width), 1.0 - width)
    return a if fa < 0.0 else b
