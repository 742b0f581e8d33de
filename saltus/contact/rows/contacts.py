"""Constraint rows of contacts: relative motion of the second geom along and about the axes of the contact frame."""

from saltus.contact.counts import NBLOCK, NCON, NFILL, NFIRST, NFLEXDOF, NJ, NROW
from saltus.contact.pairs import pair_geom1, pair_geom2, pair_law, pair_moves
from saltus.contact.rows.adhesive_contacts import add_adhesion, within_reach
from saltus.contact.rows.blocks import CONE, PYRAMID, UNILATERAL, add_block, chained_dof, chained_sign, times_block
from saltus.contact.rows.flex_contacts import flex_block, flex_inverse, flex_jacobian
from saltus.contact.rows.found_contacts import found_block, found_inverse
from saltus.contact.rows.movers import add_carried_contact, carry_soft_contact
from saltus.contact.rows.soft_law import impedance, reference, regularisation
from saltus.contact.tasks import WRITE_ROWS
from saltus.model.enums import CONE_ELLIPTIC
from saltus.number.conditions import has
from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import begin, fetch_range, finish, meet, report, reported, share
from saltus.spatial.motions import dot6, unit_wrench
from saltus.spatial.vectors import add3, cross, matrix_times_vector, scale3, sub3

AHEAD = 4  # number of contacts whose data are prefetched
BLOCKS, ROWS, FILL, ENTRIES = 0, 1, 2, 3  # counts that threads report


@only_with("contact")
@kernel
def contact_rows(m, d):
    """Write the rows of all contacts within their margin in any lane, and of adhesive ones within their gap.

    Reads contact_collision, contact_dist, contact_pos, contact_frame. Writes contact_block (-1 for none).
    """
    contacts = d.count[NCON]
    # one thread makes the lists of degrees of freedom of deformable bodies
    threads = begin(m, d, WRITE_ROWS, contacts, contacts >= m.nshared and not has(m, "flexcontact"))
    if threads > 1:
        write_part(m, d, contacts)
        finish(m, d)
        count_rows_of_others(m, d, threads)
    else:
        for k in range(contacts):
            open_and_write(m, d, k)
    add_adhesion(m, d)


@kernel
def open_and_write(m, d, k):
    """Open the blocks and write the rows of contact k."""
    law = pair_law(m, d, d.contact_collision[k])
    r = d.contact_dist[k] - m.law_margin[law]
    open_rows(m, d, k, law, r)
    write_rows(m, d, k, r)


@only_with("threads")
@kernel
def write_part(m, d, contacts):
    """Open blocks and write rows of this thread's part of the contacts, after those of the parts before it."""
    first, last = share(m, d, contacts)
    blocks, rows, entries = d.count[NBLOCK], d.count[NROW], d.count[NJ]
    count_part(m, d, first, last)
    meet(m, d)
    if d.part > 0:
        for part in range(d.part):
            blocks += reported(m, d, part, BLOCKS)
            rows += reported(m, d, part, ROWS)
        d.own_count[NFIRST] = d.own_count[NBLOCK] = blocks
        d.own_count[NROW] = rows
        d.own_count[NFILL] = 0
        # upper bounds of their places, if each contact before had the largest number
        d.own_count[NJ] = entries + first * ((m.nJmax - entries) // m.nconmax)
        d.own_count[NFLEXDOF] = first * (m.nfounddof // m.nconmax)
    for k in range(first, last):
        if k + AHEAD < last:
            fetch_bodies(m, d, d.contact_collision[k + AHEAD])
        open_and_write(m, d, k)
    if d.part > 0:
        report(m, d, FILL, d.own_count[NFILL])
        report(m, d, ENTRIES, d.own_count[NJ])


@only_with("threads")
@kernel
def fetch_bodies(m, d, c):
    """Prefetch the motions of the bodies of pair c, which another thread has computed."""
    fetch_body(m, d, m.geom_bodyid[pair_geom1(m, d, c)])
    fetch_body(m, d, m.geom_bodyid[pair_geom2(m, d, c)])


@kernel(inline=True)
def fetch_body(m, d, body):
    """Prefetch the motion of a body's own degrees of freedom, which another thread has computed."""
    first, n = m.body_dofadr[body], m.body_dofnum[body]
    if n > 0:
        fetch_range(m, d, d.cdof, 6 * first, 6 * (first + n))
        fetch_range(m, d, d.subtree_com, 3 * m.body_rootid[body], 3 * m.body_rootid[body] + 1)


@kernel
def count_part(m, d, first, last):
    """Report the numbers of blocks and rows of the contacts from first up to last (exclusive)."""
    blocks = rows = 0
    for k in range(first, last):
        law = pair_law(m, d, d.contact_collision[k])
        r = d.contact_dist[k] - m.law_margin[law]
        if any_lane(r < 0.0):
            blocks += 1
            rows += m.law_dim[law]
        if has(m, "adhesive") and is_tethered(m, d, k, law, r):
            blocks += 1
            rows += 1
    report(m, d, BLOCKS, blocks)
    report(m, d, ROWS, rows)


@only_with("threads")
@kernel
def count_rows_of_others(m, d, threads):
    """Add the counts of helpers."""
    before = d.count[NBLOCK]
    for part in range(1, threads):
        d.count[NBLOCK] = d.count[NBLOCK] + reported(m, d, part, BLOCKS)
        d.count[NROW] = d.count[NROW] + reported(m, d, part, ROWS)
        d.count[NFILL] = d.count[NFILL] + reported(m, d, part, FILL)
        d.count[NJ] = reported(m, d, part, ENTRIES)
    if d.count[NBLOCK] > before:
        d.constrained = 1.0 + 0.0 * d.time


@kernel(inline=True)
def open_rows(m, d, k, law, r):
    """Open the blocks for the rows of contact k: contact_block, contact_tether (-1 for none).

    r (m): distance less the margin.
    """
    active = r < 0.0
    d.contact_block[k] = -1
    if any_lane(active):
        dim = m.law_dim[law]
        kind = UNILATERAL if dim == 1 else CONE if m.opt_cone == CONE_ELLIPTIC else PYRAMID
        d.contact_block[k] = contact_block(m, d, kind, dim, law, k, active)
    if has(m, "adhesive"):
        d.contact_tether[k] = -1
        if is_tethered(m, d, k, law, r):
            apart = (r >= 0.0) & within_reach(m, d, k)
            d.contact_tether[k] = contact_block(m, d, UNILATERAL, 1, law, k, apart)


@kernel(inline=True)
def is_tethered(m, d, k, law, r):
    """Whether contact k is adhesive and within the gap in any lane."""
    return m.law_adhesion[law] != 0.0 and any_lane((r >= 0.0) & within_reach(m, d, k))


@kernel
def write_rows(m, d, k, r):
    """Write the rows of contact k where it is within its margin, and those of its tether within the gap."""
    if d.contact_block[k] >= 0:
        write_block(m, d, k, d.contact_block[k], r, r < 0.0)
    if has(m, "adhesive") and d.contact_tether[k] >= 0:
        write_block(m, d, k, d.contact_tether[k], r, (r >= 0.0) & within_reach(m, d, k))


@kernel
def write_block(m, d, k, b, r, active):
    """Jacobian, velocities, weights and references of block b of contact k."""
    dim = d.block_dim[b]
    contact_jacobian(m, d, k, b, dim)
    contact_velocity(m, d, k, b, dim)
    weights_and_references(m, d, b, d.block_kind[b], r, active, contact_inverse(m, d, k))
    if has(m, "carriers") and pair_moves(m, d, d.contact_collision[k]):
        carry_soft_contact(m, d, k, d.block_row[b], dim)


@kernel
def contact_block(m, d, kind, dim, law, k, active):
    """A block for contact k that acts in the lanes where `active` holds; returns its number."""
    if has(m, "broad"):
        return found_block(m, d, kind, dim, law, k, active)
    chain = m.collision_chain[d.contact_collision[k]]
    if chain < 0:
        return flex_block(m, d, kind, dim, law, k, active)
    return add_block(m, d, kind, dim, chain, law, k, active)


@kernel
def contact_inverse(m, d, k):
    """Approximate inverse inertia (1/kg) at contact k, from which its regularisation is computed."""
    if has(m, "broad"):
        return found_inverse(m, d, k)
    chain = m.collision_chain[d.contact_collision[k]]
    if chain < 0:
        return flex_inverse(m, d, k)
    return m.chain_translation[chain] + 0.0 * d.time


@kernel
def contact_jacobian(m, d, k, b, dim):
    """The Jacobian of block b, the first `dim` motions of contact k: of the second object relative to the first."""
    if not has(m, "broad") and m.collision_chain[d.contact_collision[k]] < 0:
        flex_jacobian(m, d, k, b, dim)
        return
    c = d.contact_collision[k]
    side_rows(m, d, k, b, dim, m.geom_bodyid[pair_geom2(m, d, c)], 1.0)
    first = m.geom_bodyid[pair_geom1(m, d, c)]
    if first > 0:
        side_rows(m, d, k, b, dim, first, -1.0)


@kernel
def contact_velocity(m, d, k, b, dim):
    """row_velocity of block b ← relative velocities of contact k (m/s, rad/s), including those of moving surfaces."""
    times_block(m, d, b, d.qvel, d.row_velocity)
    if pair_moves(m, d, d.contact_collision[k]):
        add_surface_velocity(m, d, k, d.block_row[b], dim)


@kernel
def side_rows(m, d, k, b, dim, body, side):
    """The Jacobian of block b for the degrees of freedom that move a body: the second if `side` is 1, else the first.

    An entry is the power of a unit wrench at the contact point on the motion of the degree of freedom.
    """
    f = d.contact_frame[k]
    normal, tangent1, tangent2 = (f[0], f[1], f[2]), (f[3], f[4], f[5]), (f[6], f[7], f[8])
    arm = sub3(d.contact_pos[k], d.subtree_com[m.body_rootid[body]])
    # unit wrenches at the contact point along normal and tangents
    w0 = unit_wrench(arm, normal)
    w1 = unit_wrench(arm, tangent1)
    w2 = unit_wrench(arm, tangent2)
    place = d.block_J[b]
    first = d.block_dofs[b]
    for c in range(d.block_num[b]):
        if chained_sign(m, d, first + c) == side:
            s = d.cdof[chained_dof(m, d, first + c)]
            d.row_J[place] = side * dot6(s, w0)
            if dim > 1:
                d.row_J[place + 1] = side * dot6(s, w1)
                d.row_J[place + 2] = side * dot6(s, w2)
            # rotation about the normal and the tangents
            for r in range(3, dim):
                q = 3 * (r - 3)
                d.row_J[place + r] = side * (
                    s[0] * d.contact_frame[k, q] + s[1] * d.contact_frame[k, q + 1] + s[2] * d.contact_frame[k, q + 2]
                )
        place += dim


@kernel
def weights_and_references(m, d, b, kind, r, active, inverse):
    """Weights row_D and reference accelerations of a contact's rows, from row_velocity.

    `inverse` (1/kg): see `contact_inverse`. The regularisation of a cone's rows makes friction equally soft in all
    directions; the edges of a pyramid share one that matches the cone's (MuJoCo documentation, Computation: Constraint
    model).
    """
    law = d.block_law[b]
    row = d.block_row[b]
    dim = d.block_dim[b]
    imp = impedance(m.law_impedance[law], r)
    zero = 0.0 * r
    # reference accelerations: the normal row, then rows without a position term
    d.row_pos[row] = r
    d.row_aref[row] = reference(m.law_stiffness[law], m.law_damping[law], imp, r, d.row_velocity[row])
    tangential = m.law_damping_tangent[law] if kind == CONE else m.law_damping[law]
    for k in range(1, dim):
        d.row_pos[row + k] = zero
        d.row_aref[row + k] = -tangential * d.row_velocity[row + k]
    sliding = m.law_friction[law, 0]
    if kind == PYRAMID:
        # pyramid: R_edge = 2 μ² R for all rows
        mu = m.law_mu[law]
        edge = 2.0 * mu * mu * regularisation(imp, inverse * (1.0 + sliding * sliding))
        weight = where(active, 1.0 / edge, zero)
        for k in range(dim):
            d.row_D[row + k] = weight
    else:
        # cone: R for the normal (the only row without friction), R / (impratio (μ_k/μ₁)²) for dimension k
        normal = regularisation(imp, inverse)
        d.row_D[row] = where(active, 1.0 / normal, zero)
        for k in range(1, dim):
            ratio = m.law_friction[law, k - 1] / sliding
            d.row_D[row + k] = where(active, m.opt_impratio * ratio * ratio / normal, zero)


@kernel
def add_surface_velocity(m, d, k, row, dim):
    """Add the sliding and spin of moving surfaces, and the motion of movers, to row_velocity of contact k."""
    c = d.contact_collision[k]
    zero = 0.0 * d.time
    linear = angular = (zero, zero, zero)
    if pair_geom2(m, d, c) >= 0:
        linear, angular = surface_velocity(m, d, pair_geom2(m, d, c), d.contact_pos[k])
    linear1, angular1 = surface_velocity(m, d, pair_geom1(m, d, c), d.contact_pos[k])
    # relative motion of the surfaces in the contact frame
    frame = d.contact_frame[k]
    sliding = matrix_times_vector(frame, sub3(linear, linear1))
    spin = matrix_times_vector(frame, sub3(angular, angular1))
    if dim > 1:
        d.row_velocity[row + 1] = d.row_velocity[row + 1] + sliding[1]
        d.row_velocity[row + 2] = d.row_velocity[row + 2] + sliding[2]
    if dim > 3:
        d.row_velocity[row + 3] = d.row_velocity[row + 3] + spin[0]
    add_carried_contact(m, d, k, row, dim, d.mover_vel, d.row_velocity)


@kernel
def surface_velocity(m, d, g, point):
    """Velocity (m/s) of geom g's moving surface at a point, and its angular velocity (rad/s), in world axes."""
    v = m.geom_surfacevel[g]
    mat = d.geom_xmat[g]
    linear = matrix_times_vector(mat, scale3(1.0 + 0.0 * d.time, (v[0], v[1], v[2])))
    angular = matrix_times_vector(mat, scale3(1.0 + 0.0 * d.time, (v[3], v[4], v[5])))
    return add3(linear, cross(angular, sub3(point, d.geom_xpos[g]))), angular
