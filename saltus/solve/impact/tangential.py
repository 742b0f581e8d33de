"""Tangential restitution: contacts whose tangential velocity reverses in an impact, as for a superball.

If friction holds, u_T⁺ = -e_T u_T⁻ at a contact that approaches; the law of friction of the whole impact acts on
u_T⁺ + e_T u_T⁻ in place of u_T⁺, with |r_T| ≤ μ r_N (Garwin 1969, Kinematics of an ultraelastic rough ball,
American Journal of Physics 37; Acary & Brogliato, Numerical Methods for Nonsmooth Dynamical Systems (2008), chapter 4).
A ball keeps its energy with e_N = e_T = 1, and never gains any. If bodies couple normal and tangential motion so that
the impact would gain energy, e_T is reduced by the largest common factor for all contacts without a gain.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.impact import NEWTON
from saltus.number.kernels import kernel
from saltus.solve.impact.problem import SLACK, gains_energy, is_contact, least_approach
from saltus.solve.impact.restitution import impact_by

HALVINGS = 40  # halvings of the interval with the largest share of e_T without a gain of energy


@kernel
def turning_impact(p, law, tolerance):
    """Resolve an impact by Newton's law with tangential restitution; results as `impact_by`, impact_turn cleared."""
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
    """impact_turn ← -share e_T u_T⁻ of approaching members; returns the number with e_T > 0 and friction."""
    approach, count = least_approach(p, tolerance), 0
    for b in range(p.impact_count[BLOCKS]):
        row, e = p.impact_row[b], p.hard_tangential[b]
        turns = is_contact(p, b) and p.impact_member[b] == 1 and e > 0.0 and p.impact_base[row] < -approach
        for i in range(row + 1, row + p.impact_dim[b]):
            p.impact_turn[i] = -share * e * p.impact_base[i] if turns else 0.0
        if turns and p.impact_dim[b] > 1:
            count += 1
    return count
