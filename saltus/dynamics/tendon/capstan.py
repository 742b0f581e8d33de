"""Friction of tendons on the geoms that they wrap: Euler's and Eytelwein's capstan.

With T₁ and T₂ the tensions before and after the arc, friction holds while T₁/T₂ is between e^(-μφ) and e^(μφ). With
T = (T₁ + T₂)/2 that of the tendon's spring and actuators, |T₁ - T₂| <= 2 T tanh(μφ/2). The tension difference acts with
the slip of the tendon over the geom, half the rate of the length before the arc less that of the length after it, each
to a point fixed to the geom; so a geom that turns with the tendon has no slip and gets the torque of the difference.

φ is the integral of the path's curvature: on a helix of angle α, cos² α times its length over the radius; where the
path goes through a geom, the angle between its directions. Source: Johnson, Contact Mechanics (1985), section 8.3, and
for helices Maddocks & Keller, Ropes in equilibrium, SIAM J. Appl. Math. 47 (1987) 1185.
"""

from saltus.dynamics.applied import add_power
from saltus.dynamics.awake.walks import awake_tendons
from saltus.dynamics.tendon.force import spring_and_damper
from saltus.dynamics.tendon.path import wrapped_path
from saltus.dynamics.tree.kinematics import site_position
from saltus.model.actuator_enums import TENDON
from saltus.model.enums import WRAP_SITE, WRAP_SPHERE
from saltus.number.conditions import has
from saltus.number.functions import atan2, exp, maximum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import cross, distance_direction, dot3, length3, matrix_times_vector, scale3, sub3, where3

TOUCH = 1e-9  # of the path's length: a shorter arc is a point


@only_with("capstan")
@kernel
def capstan_slips(m, d):
    """slip_J [ntenJ] ← gradients of slips along tendon_dof, slip_angle [ntendon] ← μ φ; after `com_dof`."""
    for t in awake_tendons(m, d):
        if m.capstan_first[t] >= 0:
            slip_of_tendon(m, d, t)


@kernel
def slip_of_tendon(m, d, t):
    """Gradient of the slip of tendon t, and its angle times the coefficient of friction."""
    angle = 0.0 * d.time
    for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
        d.slip_J[k] = 0.0 * d.time
    for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        # halves before and after the arc; in between the tendon lies on one body
        before = 0.5 if e <= m.capstan_first[t] else 0.0
        after = -0.5 if e >= m.capstan_last[t] else 0.0
        body1, body2 = m.site_bodyid[m.path_obj1[e]], m.site_bodyid[m.path_obj2[e]]
        if m.path_type[e] == WRAP_SITE:
            p, q = site_position(m, d, m.path_obj1[e]), site_position(m, d, m.path_obj2[e])
            _, ahead = distance_direction(p, q)
            add_span(m, d, t, body1, p, body2, q, scale3(before + after, ahead))
        else:
            body = m.geom_bodyid[m.path_geom[e]]
            p, q, arrival, departure, ahead, away, turn = around(m, d, e)
            add_span(m, d, t, body1, p, body, arrival, scale3(before, ahead))
            add_span(m, d, t, body, departure, body2, q, scale3(after, away))
            angle = angle + turn
    d.slip_angle[t] = m.capstan_friction[t] * angle


@kernel
def around(m, d, e):
    """Path of element e: its sites, its points of arrival and departure (m), directions there, and angle φ (rad).

    Where it does not touch its geom, both points are its first site, and φ is 0.
    """
    p, q, centre, touches, length, ahead, away, arrival, departure = wrapped_path(m, d, e)
    zero = 0.0 * length
    _, straight = distance_direction(p, q)
    to_arrival, to_departure = sub3(p, centre), sub3(p, centre)
    arrival, departure = where3(touches, arrival, to_arrival), where3(touches, departure, to_departure)
    ahead, away = where3(touches, ahead, straight), where3(touches, away, straight)
    # the curve's length on the geom, and its curvature
    arc = length - length3(sub3(arrival, to_arrival)) - length3(sub3(sub3(q, centre), departure))
    curvature = (zero + 1.0) / m.geom_size[m.path_geom[e], 0]
    if m.path_type[e] != WRAP_SPHERE:
        b = m.geom_bodyid[m.path_geom[e]]
        r = matrix_times_vector(d.xmat[b], axis_of(m, m.path_geom[e]))
        climb = dot3(r, ahead)
        curvature = curvature * (1.0 - climb * climb)
    turn = cross(ahead, away)
    bend = atan2(sqrt(dot3(turn, turn)), dot3(ahead, away))
    angle = where(arc > TOUCH * length, arc * curvature, bend)
    return (
        p,
        q,
        (centre[0] + arrival[0], centre[1] + arrival[1], centre[2] + arrival[2]),
        (centre[0] + departure[0], centre[1] + departure[1], centre[2] + departure[2]),
        ahead,
        away,
        where(touches, angle, zero),
    )


@kernel(inline=True)
def axis_of(m, g):
    """Axis of cylinder g in its body's frame."""
    r = m.geom_mat[g]
    return r[2], r[5], r[8]


@kernel
def add_span(m, d, t, body1, p, body2, q, direction):
    """Add direction · (v₂ - v₁) to slip_J of tendon t, for a straight part from p on one body to q on another."""
    if body1 != body2:
        add_point(m, d, t, body1, p, scale3(-1.0, direction))
        add_point(m, d, t, body2, q, direction)


@kernel(inline=True)
def add_point(m, d, t, b, point, direction):
    """Add to slip_J of tendon t direction · velocity of a point (m) of body b."""
    moment = cross(sub3(point, d.subtree_com[m.body_rootid[b]]), direction)
    span = (m.tendon_Jadr[t], m.tendon_Jnum[t])
    add_power(m, d, d.slip_J, m.tendon_dof, span, b, direction, moment, m.tendon_common[t])


@kernel
def tension(m, d, t):
    """Tension (N) of the spring, damper and actuators of tendon t; negative if they push."""
    pull = 0.0 * d.time
    if has(m, "tendon_force"):
        spring, drag = spring_and_damper(m, d, t)
        pull = pull - spring - drag
    for o in range(m.nout):
        if m.out_kind[o] == TENDON and m.out_obj1[o] == t:
            pull = pull - m.actuator_gear[o, 0] * d.actuator_force[o]
    return pull


@kernel
def capstan_bound(m, d, k):
    """The greatest difference of the tensions (N) of the tendon of dry friction k: frictionloss + 2 T tanh(μφ/2)."""
    t = m.friction_obj[k]
    pull, decay = tension(m, d, t), exp(-d.slip_angle[t])
    bound = m.friction_loss[k] + 2.0 * maximum(pull, 0.0 * pull) * (1.0 - decay) / (1.0 + decay)
    return where(d.slip_angle[t] > 0.0, bound, 0.0 * bound)
