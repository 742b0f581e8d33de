"""Couplings of two joints or tendons by equalities: a polynomial of degree four, after the curve of a cam.

With x the position of the second one from its reference, the first one's is P(s(x)). Without a curve s(x) = x, as in
MuJoCo (documentation, XML Reference, "equality/joint"). With one, s is a cubic spline, whose segments are those of
`saltus.model.compile.constraints.cams`: value, slope and second derivative are continuous.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.number.components import lane_count, lane_get, lane_set, value_of
from saltus.number.conditions import has
from saltus.number.functions import floor
from saltus.number.kernels import kernel


@kernel(inline=True)
def coupling(m, k, x):
    """P(s(x)) - P(0) of equality k (rad, m), and its slope dP(s(x))/dx."""
    if has(m, "cam"):
        lift, rate = on_cam(m, k, x)
        rise, slope = after_constant(m.eq_data[k], lift)
        return rise, slope * rate
    return after_constant(m.eq_data[k], x)


@kernel(inline=True)
def after_constant(c, x):
    """c₁ x + c₂ x² + c₃ x³ + c₄ x⁴ in Horner's form, and its slope."""
    rise = x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])))
    return rise, c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]))


@kernel
def on_cam(m, k, x):
    """s(x) of equality k (rad, m) and its slope; x and 1 without a curve."""
    zero = 0.0 * x
    if m.cam_num[k] == 0:
        return x, zero + 1.0
    # a periodic curve: whole periods before x
    turns, period = zero, value_of(m.cam_period[k])
    if period > 0.0:
        turns = floor((x - value_of(m.cam_begin[m.cam_adr[k]])) / period)
        x = x - period * turns
    begin, a, b, c, e = segment_at(m, k, value_of(x))
    h = x - begin
    lift = a + h * (b + h * (c + h * e))
    return lift + value_of(m.cam_advance[k]) * turns, b + h * (2.0 * c + h * 3.0 * e)


@kernel
def segment_at(m, k, x):
    """Beginning (rad, m) of the segment of equality k's curve around x, and its four coefficients; lane by lane."""
    begin, a, b, c, e = x, x, x, x, x
    for lane in range(lane_count(x)):
        at = lane_get(x, lane)
        # the last segment that begins before x, or the first one
        low, high = m.cam_adr[k], m.cam_adr[k] + m.cam_num[k] - 1
        while low < high:
            middle = (low + high + 1) // 2
            if at >= value_of(m.cam_begin[middle]):
                low = middle
            else:
                high = middle - 1
        coef = m.cam_coef[low]
        begin = lane_set(begin, lane, value_of(m.cam_begin[low]))
        a, b = lane_set(a, lane, value_of(coef[0])), lane_set(b, lane, value_of(coef[1]))
        c, e = lane_set(c, lane, value_of(coef[2])), lane_set(e, lane, value_of(coef[3]))
    return begin, a, b, c, e
