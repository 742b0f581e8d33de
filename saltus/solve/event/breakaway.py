"""Breakaway of contacts whose static friction is above that of sliding: the law of the accelerations at rest.

    |f_T| ≤ μ_s f_N  with  a_T = 0,    or    f_T = -μ_k f_N a_T / |a_T|

A contact at rest has both solutions where the friction that holds it is between the two bounds; it then stays at rest
(Karnopp, Computer simulation of stick-slip friction in mechanical dynamic systems, J. Dyn. Sys. Meas. Control 107
(1985); Leine & Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems (2004), section 5.4).
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import COULOMB
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.cone.delassus import contact_friction
from saltus.solve.cone.problem import ROUNDING, TOLERANCE, solve_cones

ON_EDGE = 1e-9  # relative distance from the edge of the cone below which friction is at its limit


@kernel
def solve_breakaway(m, d, accepted):
    """hard_r, hard_u ← forces and accelerations of the posed problem; returns its residual.

    It is solved if the residual is at most `accepted`.

    A contact sticks if the friction that holds it is within its static coefficient, and slips with the kinetic one if
    it is not. All contacts without slip begin with the static one; those that slip, or whose friction has just reached
    the cone, get the kinetic one, which may break others loose, until none of them does. hard_mu ends as the
    coefficients that act.
    """
    residual = solve_cones(d, TOLERANCE)
    if has(m, "stiction"):
        for _ in range(d.hard_count[BLOCKS]):
            if not residual <= accepted or not break_away(m, d, maximum(ROUNDING, residual) * largest_drive(d)):
                break
            residual = solve_cones(d, TOLERANCE)
    return residual


@kernel
def break_away(m, d, rounding):
    """hard_mu ← the kinetic coefficient where a contact leaves its rest; returns whether any did."""
    found = False
    for k in range(d.hard_count[BLOCKS]):
        j = d.hard_row[k]
        b = d.hard_block[j]
        if d.hard_kind[k] == COULOMB and d.hard_mu[k] > contact_friction(m, d, b):
            r1, r2, a1, a2 = d.hard_r[j + 1], d.hard_r[j + 2], d.hard_u[j + 1], d.hard_u[j + 2]
            at_edge = sqrt(r1 * r1 + r2 * r2) >= (1.0 - ON_EDGE) * d.hard_mu[k] * d.hard_r[j]
            if at_edge and (sqrt(a1 * a1 + a2 * a2) > rounding or d.event_hit[d.block_item[b]]):
                d.hard_mu[k] = contact_friction(m, d, b)
                found = True
    return found


@kernel
def largest_drive(d):
    """Largest acceleration of a row of the problem without its forces."""
    largest = 0.0 * d.time
    for j in range(d.hard_count[ROWS]):
        largest = maximum(largest, absolute(d.hard_q[j]))
    return largest
