"""MuJoCo's muscle: activation dynamics, force-length-velocity gain, passive force.

Lengths are in units of the optimal length, velocities in units of the maximum shortening velocity (MuJoCo
documentation, Modeling, "Muscle actuators"; activation after Millard, Uchida, Seth & Delp, Flexing computational muscle
(2013)). Parameters of gain and bias: range of operating lengths (2), peak force (N; negative: scale divided by
actuator_acc0, the joint-space acceleration of a unit force), scale, lmin, lmax, vmax, fpmax, fvmax.
"""

from saltus.number.functions import MINVAL, any_lane, clip, maximum, where
from saltus.number.kernels import kernel, only_with


@only_with("muscle", otherwise="0.0 * act")
@kernel
def activation_rate(m, k, u, act):
    """d(act)/dt of MuJoCo's muscle."""
    return first_order_activation(m, k, u, act)


@kernel
def first_order_activation(m, k, u, act):
    """d(act)/dt (1/s) = (u - act) / τ, with τ of activation or deactivation, or a smooth transition between them."""
    prm = m.actuator_dynprm[k]
    zero = 0.0 * act
    one = zero + 1.0
    u = clip(u, zero, one)
    share = 0.5 + 1.5 * clip(act, zero, one)
    excess = u - act
    # time constants, scaled by the activation
    rising, falling = prm[0] * share, prm[1] / share
    tau = where(excess > 0.0, rising, falling)
    if any_lane(prm[2] >= MINVAL):
        smooth = falling + (rising - falling) * smooth_step(excess / maximum(prm[2], MINVAL) + 0.5)
        tau = where(prm[2] >= MINVAL, smooth, tau)
    return excess / where(tau > MINVAL, tau, zero + MINVAL)


@kernel(inline=True)
def smooth_step(x):
    """0 below 0, 1 above 1, in between 6x⁵ - 15x⁴ + 10x³, twice differentiable."""
    zero = 0.0 * x
    x = clip(x, zero, zero + 1.0)
    return x * x * x * (x * (6.0 * x - 15.0) + 10.0)


@kernel(inline=True)
def scaled(m, o, prm, length):
    """Peak force (N), optimal length, and the length in units of the optimal length."""
    bounds = m.actuator_lengthrange[o]
    force = where(prm[2] >= 0.0, prm[2], prm[3] / maximum(m.actuator_acc0[o], MINVAL))
    optimal = maximum((bounds[1] - bounds[0]) / maximum(prm[1] - prm[0], MINVAL), MINVAL)
    return force, optimal, prm[0] + (length - bounds[0]) / optimal


@kernel
def length_gain(x, low, high):
    """Active force-length curve: quadratic pieces, 1 at 1, 0 at `low` and `high`."""
    zero = 0.0 * x
    a, b = 0.5 * (low + 1.0), 0.5 * (1.0 + high)
    rising = (x - low) / maximum(a - low, MINVAL)
    under = (1.0 - x) / maximum(1.0 - a, MINVAL)
    over = (x - 1.0) / maximum(b - 1.0, MINVAL)
    falling = (high - x) / maximum(high - b, MINVAL)
    gain = where(x <= b, 1.0 - 0.5 * over * over, 0.5 * falling * falling)
    gain = where(x <= 1.0, 1.0 - 0.5 * under * under, gain)
    gain = where(x <= a, 0.5 * rising * rising, gain)
    return where((x >= low) & (x <= high), gain, zero)


@only_with("muscle", otherwise="0.0 * length")
@kernel
def muscle_gain(m, k, o, length, velocity):
    """Force (N) at full activation: -F₀ FL(length) FV(velocity); muscles pull."""
    prm = m.actuator_gainprm[k]
    force, optimal, x = scaled(m, o, prm, length)
    # force-velocity curve, in quadratic pieces
    v = velocity / maximum(optimal * prm[6], MINVAL)
    y = prm[8] - 1.0
    zero = 0.0 * v
    speed_gain = where(v <= y, prm[8] - (y - v) * (y - v) / maximum(y, MINVAL), zero + prm[8])
    speed_gain = where(v <= 0.0, (v + 1.0) * (v + 1.0), speed_gain)
    speed_gain = where(v <= -1.0, zero, speed_gain)
    return -force * length_gain(x, prm[4], prm[5]) * speed_gain


@only_with("muscle", otherwise="0.0 * length")
@kernel
def muscle_gain_slope(m, k, o, length, velocity):
    """Derivative of `muscle_gain` in the velocity (N s/m)."""
    prm = m.actuator_gainprm[k]
    force, optimal, x = scaled(m, o, prm, length)
    fastest = maximum(optimal * prm[6], MINVAL)
    v = velocity / fastest
    y = prm[8] - 1.0
    zero = 0.0 * v
    slope = where(v <= y, 2.0 * (y - v) / maximum(y, MINVAL), zero)
    slope = where(v <= 0.0, 2.0 * v + 2.0, slope)
    slope = where(v <= -1.0, zero, slope)
    return -force * length_gain(x, prm[4], prm[5]) * slope / fastest


@only_with("muscle", otherwise="0.0 * length")
@kernel
def muscle_bias(m, k, o, length):
    """Passive force (N): quadratic beyond the optimal length, linear beyond (1 + lmax)/2."""
    prm = m.actuator_biasprm[k]
    force, _, x = scaled(m, o, prm, length)
    b = 0.5 * (1.0 + prm[5])
    over = (x - 1.0) / maximum(b - 1.0, MINVAL)
    beyond = (x - b) / maximum(b - 1.0, MINVAL)
    zero = 0.0 * x
    share = where(x <= b, 0.5 * over * over, 0.5 + beyond)
    return -force * prm[7] * where(x <= 1.0, zero, share)
