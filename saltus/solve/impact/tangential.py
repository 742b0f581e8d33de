"""Tangential restitution: contacts whose tangential velocity turns round in an impact, as that of a superball.

Where friction holds, u_T⁺ = -e_T u_T⁻ at a contact that approaches; the law of friction of the whole impact acts on
u_T⁺ + e_T u_T⁻ in the place of u_T⁺, with |r_T| ≤ μ r_N (Garwin 1969, Kinematics of an ultraelastic rough ball,
American Journal of Physics 37; Acary & Brogliato, Numerical Methods for Nonsmooth Dynamical Systems (2008), chapter 4).
A ball loses no energy by it with e_N = e_T = 1, and never gains any. Where bodies couple normal and tangential motion
so that the impact would gain energy, e_T counts for the largest share of itself, one for all contacts, that does not.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.impact import NEWTON
from saltus.number.kernels import kernel
from saltus.solve.impact.problem import SLACK, gains_energy, is_contact, least_approach
from saltus.solve.impact.restitution import impact_by

HALVINGS = 40  # of the interval that holds the largest share of e_T without a gain of energy


@kernel
def turning_impact(p, law, tolerance):
    """`impact_by` with tangential restitution by Newton's law; writes what it writes, and impact_turn, back to zero."""
    turning = law == NEWTON and aim_turns(p, 1.0, tolerance) > 0
    residual = impact_by(p, law, tolerance)
    if not turning:
        return residual
    if not is_sound(p, residual, tolerance):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            aim_turns(p, middle, tolerance)
            if is_sound(p, impact_by(p, law, tolerance), tolerance):
                low = middle
            else:
                high = middle
        aim_turns(p, low, tolerance)
        residual = impact_by(p, law, tolerance)
    for i in range(p.impact_count[ROWS]):
        p.impact_turn[i] = 0.0
    return residual


@kernel
def is_sound(p, residual, tolerance):
    """Whether the impact in impact_r is solved, and gains no energy."""
    return residual <= SLACK * tolerance and not gains_energy(p, tolerance)


@kernel
def aim_turns(p, share, tolerance):
    """impact_turn ← -share e_T u_T⁻ of members that approach; returns how many have e_T > 0 and friction."""
    approach, count = least_approach(p, tolerance), 0
    for b in range(p.impact_count[BLOCKS]):
        row, e = p.impact_row[b], p.hard_tangential[b]
        turns = is_contact(p, b) and p.impact_member[b] == 1 and e > 0.0 and p.impact_base[row] < -approach
        for i in range(row + 1, row + p.impact_dim[b]):
            p.impact_turn[i] = -share * e * p.impact_base[i] if turns else 0.0
        if turns and p.impact_dim[b] > 1:
            count += 1
    return count
