"""Discrete-time soft constraint rows, with the reference acceleration at the end of the step (MuJoCo 4.0's `discrete`).

The reference acceleration -B v - K I r of a row with violation r and velocity v is evaluated at the end of the step,
with violation r + h v' and velocity v' = v + h J a. The terms linear in J a move into the regularisation of the row:
with β = h B + h² K I

    R' = R / (1 + β),   a_ref' = (-B v - K I (r + h v)) / (1 + β).

A contact or limit whose time constant times damping ratio is below the step gets the stiffest row without rebound,
h² K I = 1 and B = 2 ζ √K, unless the flag refsafe is off; its damping is reduced where the impedance would exceed its
largest value. R is first scaled for the effect of joint springs and dampers on the inertia (MuJoCo documentation,
Computation, "Numerical integration" and "Constraint model"; the bounds are those of the library).
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.adhesive_contacts import add_adhesion
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, PYRAMID, chained_dof, times_block
from saltus.contact.rows.soft_law import impedance
from saltus.dynamics.flex.twist_tangent import twist_diagonal
from saltus.number.functions import any_lane, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel, only_with

LARGEST = 0.9999  # impedance
TINY = 1e-30


@only_with("constraint")
@kernel
def fold_rows(m, d, h):
    """Convert row_D and row_aref of all rows to those of a step of h seconds.

    Reads M without joint springs and dampers, whose diagonal terms are in slope [nv]. Overwrites row_search.
    """
    hold_twists(m, d, h)
    for b in range(d.count[NBLOCK]):
        times_block(m, d, b, d.qvel, d.row_search)
        kind, row = d.block_kind[b], d.block_row[b]
        curve = m.law_impedance[d.block_law[b]]
        if kind == EQUALITY:
            square = 0.0 * d.time + TINY
            for r in range(row, row + d.block_dim[b]):
                square = square + d.row_pos[r] * d.row_pos[r]
            fold_equality(m, d, h, b, impedance(curve, sqrt(square)))
        else:
            fold_others(m, d, h, b, impedance(curve, d.row_pos[row]))
    add_adhesion(m, d)
    release_twists(m, d, h)


@only_with("rodtwist")
@kernel
def hold_twists(m, d, h):
    """Add the torsion and the bending of rods to slope [nv], at the joints that twist them."""
    twist_diagonal(m, d, h * h, h)
    for e in range(m.nrodedge):
        if m.rodedge_bodyid[e] < 0:
            i = m.rodedge_dofadr[e]
            d.slope[i] = d.slope[i] + d.rodedge_drag[e]


@only_with("rodtwist")
@kernel
def release_twists(m, d, h):
    """slope [nv] ← that of springs and dampers in the joints that twist rods."""
    for e in range(m.nrodedge):
        if m.rodedge_bodyid[e] < 0:
            i = m.rodedge_dofadr[e]
            d.slope[i] = h * d.qfrc_damper_slope[i] + h * h * d.qfrc_spring_slope[i]


@kernel
def fold_equality(m, d, h, b, imp):
    """Rows of an equality: as authored, with the velocity terms of the end of the step in row_aref."""
    law = d.block_law[b]
    stiffness, damping = m.law_stiffness[law], m.law_damping[law]
    beta = h * damping + h * h * stiffness * imp
    for r in range(d.block_dim[b]):
        i = d.block_row[b] + r
        v = d.row_search[i]
        d.row_aref[i] = (d.row_aref[i] - h * stiffness * imp * v) / (1.0 + beta)
        d.row_D[i] = d.row_D[i] * minimum(1.0 + beta, 1.0 + room(imp)) / softening(m, d, b, r, 0.0)


@kernel(inline=True)
def room(imp):
    """Largest factor by which R may be divided, less one, at which the impedance reaches its bound."""
    return (1.0 - imp) / imp * (LARGEST / (1.0 - LARGEST)) - 1.0


@kernel
def fold_others(m, d, h, b, imp):
    """Rows of limits, contacts and dry friction; tangential rows of a contact have no stiffness."""
    law, kind, row = d.block_law[b], d.block_kind[b], d.block_row[b]
    zero = 0.0 * d.time
    stiffness, damping = zero + m.law_stiffness[law], zero + m.law_damping[law]
    most = room(imp)
    fast = faster_than_step(m, law, h) > 0.5
    # stiffness K and damping B
    if kind == FRICTION:
        stiffness = zero
    elif any_lane(fast):
        # stiffest row without rebound: h² K I = 1, B = 2 ζ √K
        ratio = 0.5 * m.law_damping[law] / sqrt(m.law_stiffness[law])
        stiffest = 1.0 / (h * h * imp)
        damper = 2.0 * ratio * sqrt(stiffest)
        damper = where(h * damper + 1.0 > most, maximum((most - 1.0) / h, zero), damper)
        stiffness, damping = where(fast, stiffest, stiffness), where(fast, damper, damping)
    # β = h B + h² K I, D ← D (1 + β) within the largest impedance
    spring = stiffness * imp
    beta = h * damping + h * h * spring
    slope = m.law_friction[law, 0] if kind == PYRAMID and d.block_dim[b] > 1 else 0.0 * m.law_friction[law, 0]
    gain = minimum(1.0 + beta, 1.0 + most) / softening(m, d, b, 0, slope)
    # reference acceleration at the end of the step
    for r in range(d.block_dim[b]):
        v = d.row_search[row + r]
        if kind == CONE and r > 0:
            across = m.law_damping_tangent[law]
            d.row_aref[row + r] = -across * v / (1.0 + h * across)
        else:
            d.row_aref[row + r] = (-(damping + h * spring) * v - spring * d.row_pos[row + r]) / (1.0 + beta)
        d.row_D[row + r] = d.row_D[row + r] * gain


@kernel
def faster_than_step(m, law, h):
    """1 where the time constant of a law times its damping ratio is below h seconds, else 0."""
    stiffness = m.law_stiffness[law]
    zero = 0.0 * stiffness
    if not m.opt_refsafe or m.law_direct[law]:
        return zero
    return where(1.0 < h * m.law_impedance[law, 1] * sqrt(stiffness), zero + 1.0, zero)


@kernel
def softening(m, d, b, r, slope):
    """Ratio of J D⁻¹ Jᵀ with and without joint springs and dampers, D the diagonal of the inertia.

    For row r of block b plus `slope` times the next row.
    """
    dim, place, first = d.block_dim[b], d.block_J[b] + r, d.block_dofs[b]
    bare = stiff = 0.0 * d.time
    for c in range(d.block_num[b]):
        i = chained_dof(m, d, first + c)
        J = d.row_J[place + c * dim]
        if slope > 0.0:
            J = J + slope * d.row_J[place + c * dim + 1]
        inertia = d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1]
        bare = bare + J * J / inertia
        stiff = stiff + J * J / (inertia + d.slope[i])
    some = bare > 0.0
    return where(some, stiff / where(some, bare, 1.0 + 0.0 * bare), 1.0 + 0.0 * bare)
