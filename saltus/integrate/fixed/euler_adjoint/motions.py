"""Motions of bodies along multipliers, velocities and accelerations, and forces of contacts from them.

A row of a contact moves with the power of its unit wrench u on the motion of the second body relative to the first, so
J z, J a and J v need no Jacobian: u · z, u · a, u · v.

Arrays: motions [6, nbody, 6] and before [7, nv, 6], as in `saltus.integrate.fixed.euler_adjoint.state`.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NCON
from saltus.contact.pairs import pair_law, pair_moves
from saltus.contact.rows.contacts import (
    add_surface_velocity,
    contact_inverse,
    open_rows,
    weights_and_references,
)
from saltus.contact.rows.cost import block_force
from saltus.dynamics.tree.inverse_derivative import end_of_turn, put_six, six
from saltus.number.components import value_of
from saltus.number.kernels import kernel, only_with
from saltus.solve.soft.force_derivative import about, bodies, centre, unit_of_row
from saltus.spatial.motions import add_scaled6, cross_motion, dot6, scale6, sub6

Y, Z, A, STEP = 0, 1, 2, 3  # rows of `solved`
OF_Z, OF_V, OF_A, OF_Y, OF_CHANGE, TRUE = 0, 1, 2, 3, 4, 5  # motions: the last the true accelerations of bodies
BEHIND = 6  # place in `before`
MOTIONS = 6
POWER, POSE = 6, 7  # further wrenches: v ×* G of true accelerations, P + x ×* G


@kernel(inline=True)
def add_six(array, x, b, value):
    """Add a tuple to six numbers of an array [..., 6]."""
    for k in range(6):
        array[x, b, k] += value[k]


@kernel
def tree_motions(m, p, qvel, solved, motions, before):
    """Motions of all bodies, those before each joint, and the velocity behind it."""
    g = m.opt_gravity[0]
    for x in range(MOTIONS):
        put_six(motions, x, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    put_six(motions, TRUE, 0, (0.0, 0.0, 0.0, -g[0], -g[1], -g[2]))
    for b in range(1, m.nbody):
        parent = m.body_parentid[b]
        for x in range(MOTIONS):
            put_six(motions, x, b, six(motions, x, parent))
        i = m.body_dofadr[b]
        last = i + m.body_dofnum[b]
        while i < last:
            end = end_of_turn(m, i, last)
            for j in range(i, end):
                for x in range(MOTIONS):
                    put_six(before, x, j, six(motions, x, b))
            for j in range(i, end):
                s = p.cdof[j]
                add_six(motions, OF_Z, b, scale6(solved[Z, j], s))
                add_six(motions, OF_V, b, scale6(qvel[j], s))
                add_six(motions, OF_A, b, scale6(solved[A, j], s))
                add_six(motions, OF_Y, b, scale6(solved[Y, j], s))
                add_six(motions, OF_CHANGE, b, scale6(solved[A, j] - solved[STEP, j], s))
                rate = scale6(qvel[j], cross_motion(six(before, OF_V, j), s))
                add_six(motions, TRUE, b, add_scaled6(rate, solved[A, j], s))
            for j in range(i, end):
                put_six(before, BEHIND, j, six(motions, OF_V, b))
            i = end


# ---------------------------------------------------------------- contacts


@only_with("contact")
@kernel
def contact_forces(g, d, motions):
    """Blocks of all contacts in a dual Data d with their residuals and forces, and J z in row_velocity.

    Reads contact_collision, contact_dist, contact_pos, contact_frame, after the rows of other constraints.
    """
    for k in range(d.count[NCON]):
        law = pair_law(g, d, d.contact_collision[k])
        r = d.contact_dist[k] - g.law_margin[law]
        open_rows(g, d, k, law, r)
        if d.contact_block[k] >= 0:
            write_forces(g, d, k, r, motions)


@kernel
def write_forces(g, d, k, r, motions):
    """Residuals and forces of contact k, and J z in row_velocity. r (m): distance less the margin."""
    b = d.contact_block[k]
    row, dim = d.block_row[b], d.block_dim[b]
    com = centre(g, d, k)
    point = value_of(com[0]), value_of(com[1]), value_of(com[2])
    v, a = motion_between(g, d, motions, OF_V, k, point), motion_between(g, d, motions, OF_A, k, point)
    for e in range(dim):
        unit = unit_of_row(d, k, e, point)
        d.row_velocity[row + e] = dot6(unit, v)
        d.row_residual[row + e] = dot6(unit, a)
    if pair_moves(g, d, d.contact_collision[k]):
        add_surface_velocity(g, d, k, row, dim)
    weights_and_references(g, d, b, d.block_kind[b], r, r < 0.0, contact_inverse(g, d, k) + 0.0 * r)
    for e in range(dim):
        d.row_residual[row + e] = d.row_residual[row + e] - d.row_aref[row + e]
    block_force(g, d, b)
    z = motion_between(g, d, motions, OF_Z, k, point)
    for e in range(dim):
        d.row_velocity[row + e] = dot6(unit_of_row(d, k, e, point), z)


@kernel
def motion_between(g, d, motions, x, k, point):
    """Motion x of the second body of contact k relative to the first, about a point."""
    first, second = bodies(g, d, k)
    return sub6(motion_about(g, d, motions, x, second, point), motion_about(g, d, motions, x, first, point))


@kernel
def motion_about(g, d, motions, x, body, point):
    """Motion x of a body about a point; zero for one that does not move."""
    if g.body_lastdof[body] < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    com = d.subtree_com[g.body_rootid[body]]
    arm = point[0] - value_of(com[0]), point[1] - value_of(com[1]), point[2] - value_of(com[2])
    return about(six(motions, x, body), arm)
