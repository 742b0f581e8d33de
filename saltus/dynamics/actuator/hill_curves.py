"""Muscle and tendon curves: quintic Bézier pieces (x(u), y(u)), u from 0 to 1, extended by straight lines.

Curves are those of Millard, Uchida, Seth & Delp (2013), appendix: twice differentiable, with x increasing along the
curve. Points are found from an equation α x + γ y = t whose left side increases along the curve. With γ = 0 this
evaluates y(x); with both it solves a force balance for the velocity, with a damper α beside γ times a force-velocity
curve, as one polynomial equation and without inverting the curve.
"""

from saltus.number.components import epsilon_of, value_of
from saltus.number.functions import absolute, any_lane, clip, where
from saltus.number.kernels import kernel

MOST = 40  # most iterations: bisection alone would find the parameter to 1e-12


@kernel(inline=True)
def quintic(p, u):
    """Polynomial of degree 5 with coefficients p[0] ... p[5]."""
    return ((((p[5] * u + p[4]) * u + p[3]) * u + p[2]) * u + p[1]) * u + p[0]


@kernel(inline=True)
def quintic_slope(p, u):
    """Derivative of `quintic`."""
    return (((5.0 * p[5] * u + 4.0 * p[4]) * u + 3.0 * p[3]) * u + 2.0 * p[2]) * u + p[1]


@kernel(inline=True)
def choose6(on, a, b):
    """Six numbers a where `on`, else b."""
    return (
        where(on, a[0], b[0]),
        where(on, a[1], b[1]),
        where(on, a[2], b[2]),
        where(on, a[3], b[3]),
        where(on, a[4], b[4]),
        where(on, a[5], b[5]),
    )


@kernel(inline=True)
def mix6(alpha, a, gamma, b):
    """α a + γ b for six numbers each."""
    return (
        alpha * a[0] + gamma * b[0],
        alpha * a[1] + gamma * b[1],
        alpha * a[2] + gamma * b[2],
        alpha * a[3] + gamma * b[3],
        alpha * a[4] + gamma * b[4],
        alpha * a[5] + gamma * b[5],
    )


@kernel(inline=True)
def piece(m, s, like):
    """Coefficients of x and of y of piece s, row s of hill_segment."""
    p = m.hill_segment[s]
    z = 0.0 * like
    return (
        (z + p[0], z + p[1], z + p[2], z + p[3], z + p[4], z + p[5]),
        (z + p[6], z + p[7], z + p[8], z + p[9], z + p[10], z + p[11]),
    )


@kernel
def parameter(p, target):
    """u in [0, 1] where the increasing polynomial p is nearest to the target; Newton's method within a bracket.

    Accurate to about 1e-9: a final Newton step by the caller brings it to rounding.
    """
    zero = 0.0 * target
    low, high = zero, zero + 1.0
    top = quintic(p, high)
    u = clip((target - p[0]) / (top - p[0]), low, high)
    # targets beyond the piece keep its end
    active = (target > p[0]) & (target < top)
    enough = 1e-6 + 64.0 * epsilon_of(target)
    count = 0
    while any_lane(active) and count < MOST:
        error = quintic(p, u) - target
        low = where(active & (error < 0.0), u, low)
        high = where(active & (error > 0.0), u, high)
        # newton step, or bisection where it leaves the bracket
        new = u - error / quintic_slope(p, u)
        inside = (new > low) & (new < high)
        new = where(inside, new, 0.5 * (low + high))
        new = where(error == 0.0, u, new)
        moving = absolute(new - u) > enough
        u = where(active, new, u)
        active = active & moving
        count += 1
    return u


@kernel
def along_curve(m, first, count, alpha, gamma, target):
    """(x, y, dy/dx) where α x + γ y = target on the curve of `count` pieces from row `first` of hill_segment.

    Straight lines extend the curve beyond its ends. α and γ are not negative and not both zero. Derivatives follow the
    equation, not the iteration: a Newton step from the solution carries them.
    """
    t, by_x, by_y = value_of(target), value_of(alpha), value_of(gamma)
    # piece that contains the target
    x, y = piece(m, first, t)
    for s in range(first + 1, first + count):
        p = m.hill_segment[s]
        beyond = t >= by_x * p[0] + by_y * p[6]
        next_x, next_y = piece(m, s, t)
        x, y = choose6(beyond, next_x, x), choose6(beyond, next_y, y)
    # point on it
    u = parameter(mix6(by_x, x, by_y, y), t)
    here_x, here_y = quintic(x, u), quintic(y, u)
    along_x, along_y = quintic_slope(x, u), quintic_slope(y, u)
    # newton step: carries derivatives within the piece, and extends the curve beyond its ends
    step = (target - (alpha * here_x + gamma * here_y)) / (alpha * along_x + gamma * along_y)
    turned = u + where((u > 0.0) & (u < 1.0), step, 0.0 * step)
    return here_x + along_x * step, here_y + along_y * step, quintic_slope(y, turned) / quintic_slope(x, turned)


@kernel(inline=True)
def curve_value(m, first, count, x):
    """(y, dy/dx) of a curve at x."""
    zero = 0.0 * x
    _, y, slope = along_curve(m, first, count, zero + 1.0, zero, x)
    return y, slope
