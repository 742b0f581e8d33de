"""Zeros and minima of event functions between two places in a step.

A sign change is located by bisection and inverse quadratic interpolation (Chandrupatla, A new hybrid
quadratic/bisection algorithm for finding the zero of a nonlinear function without using derivatives (1997)), a minimum
by golden-section search.
"""

from saltus.contact.event.gap_functions import open_gap
from saltus.integrate.dense.substep import state_at
from saltus.integrate.event.event_functions import event_values, positions
from saltus.integrate.event.user_events import above, level
from saltus.model.event_enums import OPEN
from saltus.number.components import chain, frozen, seed, tangent_of, value_of
from saltus.number.conditions import has_tangents
from saltus.number.functions import absolute, maximum, minimum
from saltus.number.kernels import kernel

NEARER, SHORTER = 20, 0.125  # samples towards the start, for a function that is zero there; ratio of successive ones
ITERATIONS = 100
NONE = 2.0  # a fraction beyond the step: no event
EPSILON = 2.2e-16
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
SECTIONS = 30  # golden-section steps in a part of a step
DEEPER = 2.0  # bound on a function's depth below its samples, relative to their differences


@kernel
def values_at(m, d, h, start, theta, method):
    """Event functions at the fraction theta of the step of h seconds from `start` (s)."""
    state_at(m, d, h, start, theta, method)
    event_values(m, d)


@kernel
def value_at(m, d, h, start, theta, method, e):
    """Event function e alone at the fraction theta of the step; for a gap no forces are computed."""
    state_at(m, d, h, start, theta, method)
    if e < m.nslot + 2 * m.nlimit and d.mode[e] == OPEN:
        positions(m, d)
        return open_gap(m, d, e)
    event_values(m, d)
    return d.event_value[e]


@kernel
def level_at(m, d, h, start, method, e, theta):
    """Distance of event function e from zero, on its side, at the fraction theta of the step."""
    return above(m, d, e, value_at(m, d, h, start, theta, method, e))


@kernel
def resolution(m, e):
    """Value below which event function e counts as zero; at the start of a mode the function begins there."""
    if e < m.nmode:
        return m.opt_gap_tolerance if e < m.nslot + 2 * m.nlimit else 0.0
    return m.opt_speed_tolerance if e < 2 * m.nmode else 0.0


@kernel
def earliest(m, d, h, start, method, lower, upper):
    """The first event between two places in a step, NONE without one; marks the functions that are zero there.

    event_before and event_after hold the functions at the two places.
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
def zero_of(m, d, h, start, method, e, lower, upper, high):
    """The place between two in a step where event function e becomes negative; NONE if it does not decrease to it.

    `high` is the function at the upper place. A function that is zero at the lower one, at the start of its mode, is
    first followed to where it is positive.
    """
    if high >= 0.0:
        return NONE
    low = level(m, d, e, d.event_before[e])
    least = resolution(m, e)
    if low > least:
        return located(m, d, h, start, method, e, bracket(m, d, h, start, method, e, 0.0, (lower, low), (upper, high)))
    # zero at the start: bisect towards it until the function is positive
    place = full = upper
    for _ in range(NEARER):
        place = lower + SHORTER * (place - lower)
        value = level(m, d, e, value_at(m, d, h, start, place, method, e))
        if value > least:
            place = bracket(m, d, h, start, method, e, 0.0, (place, value), (upper, high))
            return located(m, d, h, start, method, e, place)
        upper, high = place, value
    # it never became positive: its zero is shifted down by twice the resolution
    high = level(m, d, e, value_at(m, d, h, start, full, method, e))
    if high + 2.0 * least >= 0.0:
        return NONE
    if low + 2.0 * least <= 0.0:
        return lower
    first, last = (lower, low + 2.0 * least), (full, high + 2.0 * least)
    place = bracket(m, d, h, start, method, e, 2.0 * least, first, last)
    return located(m, d, h, start, method, e, place)


@kernel
def located(m, d, h, start, method, e, place):
    """The place of a zero of event function e in a step; of a dual, with the tangents of the place itself.

    By the implicit function theorem for g(θ, p) = 0: dθ = -(∂g/∂p) dp / (∂g/∂θ).
    """
    if has_tangents(d):
        at = frozen(place)
        here = value_at(m, d, h, start, at, method, e)
        # tangent 0 counts the place too, whose share is the slope
        ahead = value_at(m, d, h, start, at + seed(0.0, 0), method, e)
        slope = tangent_of(ahead, 0) - tangent_of(here, 0)
        place = chain(value_of(at), -1.0 / slope, here)
    return place


@kernel
def bracket(m, d, h, start, method, e, shift, first, last):
    """The zero of event function e plus `shift` between two (place, value), values > 0 and < 0, to rounding.

    Chandrupatla's method. Returns the end of the last bracket at which the function is not positive.
    """
    a, fa = first
    b, fb = last
    share = 0.5
    c, fc = a, fa
    for _ in range(ITERATIONS):
        # next point, and the bracket [a, b] with the previous point c
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
        # stop at rounding
        width = 2.0 * EPSILON * absolute(b) / absolute(b - c) if b != c else 1.0
        if width >= 0.5 or absolute(b - a) <= EPSILON:
            break
        # bisection, or
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
        share = 0.5
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            # inverse quadratic interpolation where it is safe
            share = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        share = minimum(maximum(share, width), 1.0 - width)
    return a if fa < 0.0 else b


@kernel
def deepest(m, d, h, start, method, e, first, last):
    """A place between two (place, value) where event function e is negative, by golden-section search; NONE without."""
    a, fa = first
    b, fb = last
    x, y = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    fx, fy = level_at(m, d, h, start, method, e, x), level_at(m, d, h, start, method, e, y)
    for _ in range(SECTIONS):
        if fx < 0.0:
            return x
        if fy < 0.0:
            return y
        least = minimum(fx, fy)
        if least > DEEPER * (maximum(maximum(fa, fb), maximum(fx, fy)) - least):
            return NONE  # the minimum cannot reach zero
        # keep the section with the minimum
        if fx < fy:
            b, fb, y, fy = y, fy, x, fx
            x = b - GOLDEN * (b - a)
            fx = level_at(m, d, h, start, method, e, x)
        else:
            a, fa, x, fx = x, fx, y, fy
            y = a + GOLDEN * (b - a)
            fy = level_at(m, d, h, start, method, e, y)
    return NONE
