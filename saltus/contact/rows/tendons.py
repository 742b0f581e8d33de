"""Constraint rows of tendons: length limits, dry friction and equalities."""

from saltus.contact.rows.blocks import FRICTION, add_block, times_block
from saltus.contact.rows.coupling import coupling
from saltus.contact.rows.equality import equality_acts, equality_block, equality_law
from saltus.contact.rows.joints import unilateral
from saltus.contact.rows.soft_law import impedance, regularisation
from saltus.dynamics.awake.walks import awake_equalities, awake_tendon_frictions, awake_tendon_limits
from saltus.dynamics.tendon.capstan import capstan_bound
from saltus.model.enums import TENDON
from saltus.number.conditions import has
from saltus.number.functions import any_lane
from saltus.number.kernels import kernel, only_with


@only_with("tendon")
@kernel
def tendon_limit_rows(m, d):
    """Rows of tendon limits: one for each end of a range that a tendon comes close to."""
    for k in awake_tendon_limits(m, d):
        t = m.limit_obj[k]
        low = d.ten_length[t] - m.limit_range[k, 0]
        high = m.limit_range[k, 1] - d.ten_length[t]
        v = tendon_speed(m, d, t)
        if any_lane(low < m.limit_margin[k]):
            tendon_jacobian(m, d, unilateral(m, d, k, low, v), t, 1.0)
        if any_lane(high < m.limit_margin[k]):
            tendon_jacobian(m, d, unilateral(m, d, k, high, -v), t, -1.0)


@only_with("tendon")
@kernel
def tendon_friction_rows(m, d):
    """Rows of dry friction in tendons."""
    for k in awake_tendon_frictions(m, d):
        law = m.friction_law[k]
        zero = 0.0 * d.time
        b = add_block(m, d, FRICTION, 1, m.friction_chain[k], law, k, zero == zero)
        row = d.block_row[b]
        imp = impedance(m.law_impedance[law], zero)
        d.row_pos[row] = zero
        d.row_D[row] = 1.0 / regularisation(imp, m.friction_invweight[k])
        friction_jacobian(m, d, b, k)
        times_block(m, d, b, d.qvel, d.row_velocity)
        d.row_aref[row] = -m.law_damping[law] * d.row_velocity[row]


@kernel
def friction_jacobian(m, d, b, k):
    """Jacobian and bound of block b, dry friction k of a tendon: along its length, or over a geom that it wraps."""
    t = m.friction_obj[k]
    d.row_loss[d.block_row[b]] = 0.0 * d.time + m.friction_loss[k]
    tendon_jacobian(m, d, b, t, 1.0)
    if has(m, "capstan"):
        slip_friction(m, d, b, k)


@kernel
def slip_friction(m, d, b, k):
    """Jacobian and bound of block b where its tendon slips over a geom: the gradient of the slip."""
    t = m.friction_obj[k]
    if m.capstan_first[t] >= 0:
        d.row_loss[d.block_row[b]] = capstan_bound(m, d, k)
        for e in range(m.tendon_Jnum[t]):
            d.row_J[d.block_J[b] + e] = d.slip_J[m.tendon_Jadr[t] + e]


@kernel
def tendon_speed(m, d, t):
    """Rate of change of tendon t's length: ten_J q̇."""
    v = 0.0 * d.time
    for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
        v = v + d.ten_J[k] * d.qvel[m.tendon_dof[k]]
    return v


@kernel
def tendon_jacobian(m, d, b, t, factor):
    """The Jacobian of block b ← factor ten_J; both have the same degrees of freedom."""
    place = d.block_J[b]
    for k in range(m.tendon_Jnum[t]):
        d.row_J[place + k] = factor * d.ten_J[m.tendon_Jadr[t] + k]


@only_with("tendon")
@kernel
def tendon_equality_rows(m, d):
    """Rows of equality constraints of tendons."""
    for k in awake_equalities(m, d):
        if m.eq_type[k] == TENDON and any_lane(equality_acts(m, d, k)):
            tendon_equality(m, d, k)


@kernel
def tendon_equality(m, d, k):
    """L₁ - L₁⁰ = c₀ + `coupling` of L₂ - L₂⁰, or c₀ for a single tendon."""
    b = equality_block(m, d, k, 1)
    row = d.block_row[b]
    t1, t2 = m.eq_obj1[k], m.eq_obj2[k]
    place = d.block_J[b]
    for e in range(d.block_num[b]):
        d.row_J[place + e] = 0.0 * d.time
    d.row_pos[row] = d.ten_length[t1] - m.tendon_length0[t1] - m.eq_data[k, 0]
    add_tendon_jacobian(m, d, b, t1, 1.0 + 0.0 * d.time)
    if t2 >= 0:
        rise, slope = coupling(m, k, d.ten_length[t2] - m.tendon_length0[t2])
        d.row_pos[row] = d.row_pos[row] - rise
        add_tendon_jacobian(m, d, b, t2, -slope)
    equality_law(m, d, k, b)


@kernel
def add_tendon_jacobian(m, d, b, t, factor):
    """Add factor ten_J to the Jacobian of block b; both lists of degrees of freedom ascend."""
    place = d.block_J[b]
    e = m.chain_adr[d.block_chain[b]]
    first = e
    for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
        while m.chain_dof[e] < m.tendon_dof[k]:
            e += 1
        d.row_J[place + e - first] = d.row_J[place + e - first] + factor * d.ten_J[k]
