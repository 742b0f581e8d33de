"""Hill-type muscles with an elastic tendon: activation, fibre velocity, force.

With λ and v the fibre's length and lengthening velocity in units of the optimal length l₀ and of the maximum shortening
velocity v₀ l₀, the forces of fibre and tendon balance (Millard, Uchida, Seth & Delp, Flexing computational muscle:
modeling and simulation of musculotendon dynamics (2013), eq. 8):

    (a f_L(λ) f_V(v) + f_P(λ) + β v) cos α = f_T(ε),   dλ/dt = v₀ v,

    s = λ cos α = sqrt(λ² - sin² α₀),   ε = (L - l₀ s) / l_s - 1

with L the musculotendon length, l_s the tendon's slack length, ε its strain; the muscle's width is constant. The damper
β makes the left side increase with v at any activation a, so that v is unique; it is the root of one polynomial
equation (see `saltus.dynamics.actuator.hill_curves`). The tendon's force, F₀ f_T, shortens the actuator.

Fibres neither become shorter than the length at which active force begins nor exceed a pennation angle of arccos 0.1.
"""

from saltus.dynamics.actuator.hill_curves import along_curve, curve_value
from saltus.dynamics.actuator.muscle import first_order_activation
from saltus.model.actuator_enums import ACTIVATION, FIBRE, GAIN_HILL, ROW
from saltus.model.compile.hill import (
    ACTIVE,
    DAMPING,
    FASTEST,
    FORCE,
    NACTIVE,
    NPASSIVE,
    NSEGMENT,
    NTENDON,
    NVELOCITY,
    OFFSET,
    OPTIMAL,
    PASSIVE,
    SHORTEST,
    SINE,
    SLACK,
    TENDON_CURVE,
    VELOCITY,
)
from saltus.number.functions import clip, maximum, sqrt, where
from saltus.number.kernels import kernel, only_with


@kernel(inline=True)
def bounded_activation(act):
    """Activation clipped to [0, 1]."""
    zero = 0.0 * act
    return clip(act, zero, zero + 1.0)


@kernel(inline=True)
def path_length(m, d, k):
    """Musculotendon length (m) of actuator k."""
    return d.actuator_length[m.actuator_outadr[k]] + m.hill_prm[m.actuator_slot[k, ROW], OFFSET]


@kernel
def tendon_pull(m, r, path, length):
    """Tendon force in units of the peak force, its derivative in λ, and s = λ cos α, for a fibre of length λ."""
    prm = m.hill_prm[r]
    along = sqrt(length * length - prm[SINE] * prm[SINE])
    strain = (path - prm[OPTIMAL] * along) / prm[SLACK] - 1.0
    pull, stiffness = curve_value(m, NSEGMENT * r + TENDON_CURVE, NTENDON, strain)
    return pull, -stiffness * (prm[OPTIMAL] / prm[SLACK]) * length / along, along


@kernel
def fibre_velocity(m, r, act, path, length):
    """v and its derivative in λ, from the force balance of fibre and tendon; λ above the shortest."""
    prm = m.hill_prm[r]
    first = NSEGMENT * r
    pull, pull_slope, along = tendon_pull(m, r, path, length)
    active, active_slope = curve_value(m, first + ACTIVE, NACTIVE, length)
    passive, passive_slope = curve_value(m, first + PASSIVE, NPASSIVE, length)
    # load on the active fibre and its damper: tendon force times 1 / cos α = λ / s, less the passive force
    secant = length / along
    load = pull * secant - passive
    secant_slope = -prm[SINE] * prm[SINE] / (along * along * along)
    load_slope = pull_slope * secant + pull * secant_slope - passive_slope
    # a f_L f_V(v) + β v = load, and dv/dλ by the implicit function theorem
    damping = 0.0 * length + prm[DAMPING]
    v, gain, gain_slope = along_curve(m, first + VELOCITY, NVELOCITY, damping, act * active, load)
    return v, (load_slope - act * active_slope * gain) / (damping + act * active * gain_slope)


@kernel
def fibre_rate(m, d, k):
    """dλ/dt (1/s) of muscle k and its derivative in λ (1/s)."""
    r = m.actuator_slot[k, ROW]
    act = bounded_activation(d.act[m.actuator_slot[k, ACTIVATION]])
    state = d.act[m.actuator_slot[k, FIBRE]]
    shortest = 0.0 * state + m.hill_prm[r, SHORTEST]
    v, slope = fibre_velocity(m, r, act, path_length(m, d, k), maximum(state, shortest))
    zero = 0.0 * v
    # the shortest fibre does not shorten
    stops = (state <= shortest) & (v < 0.0)
    fastest = m.hill_prm[r, FASTEST]
    return where(stops, zero, fastest * v), where(stops, zero, fastest * slope)


@only_with("hill")
@kernel
def hill_rates(m, d, k):
    """act_dot of muscle k's activation and fibre length."""
    a = m.actuator_slot[k, ACTIVATION]
    f = m.actuator_slot[k, FIBRE]
    d.act_dot[a] = first_order_activation(m, k, d.input[m.actuator_ctrladr[k]], d.act[a])
    if f >= 0:
        if m.actuator_enabled[k]:
            rate, _ = fibre_rate(m, d, k)
            d.act_dot[f] = rate
        else:
            d.act_dot[f] = 0.0 * d.time


@only_with("hill")
@kernel
def advance_fibre(m, d, k, h):
    """Muscle k's fibre after h seconds, for one-stage methods: λ' = λ + h dλ/dt / (1 - h ∂(dλ/dt)/∂λ).

    This is Euler's method made linearly implicit in the fibre (Rosenbrock; Hairer & Wanner, Solving ordinary
    differential equations II (1996), IV.7): a tendon in series with an inactive fibre is stiff. Needs the rates and
    positions of the step's start.
    """
    f = m.actuator_slot[k, FIBRE]
    if m.actuator_gaintype[k] == GAIN_HILL and f >= 0 and m.actuator_enabled[k]:
        _, slope = fibre_rate(m, d, k)
        stiff = maximum(-slope, 0.0 * slope)
        d.act[f] = d.act[f] + h * d.act_dot[f] / (1.0 + h * stiff)
        limit_fibre(m, d, k)


@only_with("hill")
@kernel
def limit_fibre(m, d, k):
    """Clip muscle k's fibre to its shortest length, at the end of a step."""
    f = m.actuator_slot[k, FIBRE]
    if m.actuator_gaintype[k] == GAIN_HILL and f >= 0:
        d.act[f] = maximum(d.act[f], 0.0 * d.act[f] + m.hill_prm[m.actuator_slot[k, ROW], SHORTEST])


@only_with("hill", otherwise="0.0 * act")
@kernel
def hill_force(m, d, k, act):
    """Force (N) of muscle k, negative: the tendon's or, with a rigid tendon, the fibre's at activation act."""
    r = m.actuator_slot[k, ROW]
    f = m.actuator_slot[k, FIBRE]
    path = path_length(m, d, k)
    if f >= 0:
        shortest = 0.0 * path + m.hill_prm[r, SHORTEST]
        pull, _, _ = tendon_pull(m, r, path, maximum(d.act[f], shortest))
    else:
        pull, _ = rigid_pull(m, r, bounded_activation(act), path, d.actuator_velocity[m.actuator_outadr[k]])
    return -m.hill_prm[r, FORCE] * pull


@kernel
def rigid_pull(m, r, act, path, speed):
    """Force of a muscle with a rigid tendon in units of the peak force, and its slope in the path's velocity (s/m).

    The path's length and velocity (m/s) determine the fibre's: l₀ s = L - l_s, v₀ l₀ v = dL/dt cos α. Muscles never
    push, and do not pull where the path is shorter than the tendon with the shortest fibre.
    """
    prm = m.hill_prm[r]
    first = NSEGMENT * r
    # fibre length and pennation angle from the path, and the fibre velocity
    least = sqrt(prm[SHORTEST] * prm[SHORTEST] - prm[SINE] * prm[SINE])
    along = (path - prm[SLACK]) / prm[OPTIMAL]
    taut = along > least
    along = maximum(along, 0.0 * along + least)
    length = sqrt(along * along + prm[SINE] * prm[SINE])
    cosine = along / length
    by_speed = cosine / (prm[OPTIMAL] * prm[FASTEST])
    v = by_speed * speed
    # fibre force along the tendon, and its slope
    active, _ = curve_value(m, first + ACTIVE, NACTIVE, length)
    passive, _ = curve_value(m, first + PASSIVE, NPASSIVE, length)
    gain, gain_slope = curve_value(m, first + VELOCITY, NVELOCITY, v)
    force = (act * active * gain + passive + prm[DAMPING] * v) * cosine
    slope = (act * active * gain_slope + prm[DAMPING]) * cosine * by_speed
    # no force on a slack path, and no push
    pulls = taut & (force > 0.0)
    zero = 0.0 * force
    return where(pulls, force, zero), where(pulls, slope, zero)


@only_with("hill", otherwise="0.0 * act")
@kernel
def hill_force_slope(m, d, k, act):
    """Derivative of `hill_force` in the velocity of muscle k's path (N s/m): zero with an elastic tendon."""
    slope = 0.0 * act
    if m.actuator_slot[k, FIBRE] < 0:
        r = m.actuator_slot[k, ROW]
        speed = d.actuator_velocity[m.actuator_outadr[k]]
        _, by_speed = rigid_pull(m, r, bounded_activation(act), path_length(m, d, k), speed)
        slope = -m.hill_prm[r, FORCE] * by_speed
    return slope


@only_with("hill")
@kernel
def settle_fibres(m, d):
    """Fibre lengths ← static equilibrium with the tendons, for the present positions and activations.

    Reads actuator_length [nout]. By bisection between the shortest fibre and the one that leaves the tendon slack.
    """
    for k in range(m.nactuator):
        f = m.actuator_slot[k, FIBRE]
        if m.actuator_gaintype[k] == GAIN_HILL and f >= 0:
            r = m.actuator_slot[k, ROW]
            prm = m.hill_prm[r]
            act = bounded_activation(d.act[m.actuator_slot[k, ACTIVATION]])
            path = path_length(m, d, k)
            # bracket
            low = 0.0 * path + prm[SHORTEST]
            slack = (path - prm[SLACK]) / prm[OPTIMAL]
            slack = maximum(slack, 0.0 * slack)
            high = maximum(sqrt(slack * slack + prm[SINE] * prm[SINE]), low)
            for _ in range(60):
                # lengthen the fibre where the tendon pulls harder
                middle = 0.5 * (low + high)
                pull, _, along = tendon_pull(m, r, path, middle)
                active, _ = curve_value(m, NSEGMENT * r + ACTIVE, NACTIVE, middle)
                passive, _ = curve_value(m, NSEGMENT * r + PASSIVE, NPASSIVE, middle)
                longer = (act * active + passive) * along / middle < pull
                low, high = where(longer, middle, low), where(longer, high, middle)
            d.act[f] = high
