"""Derivatives of constraint forces Jᵀ f by positions and velocities, at constant accelerations.

Rows of limits and dry friction have constant Jacobians J: with the residual u, the curvature W of the cost and the
distance r,

    d(Jᵀ f) = Jᵀ (∂f/∂r) J dq - Jᵀ W b J dv,    b: damping of the reference acceleration.

A contact's wrench w on its second body, of which the first has the opposite, is a function of the poses of both and of
their relative motions a and v. Let s be the motion of a degree of freedom j that moves one of them, a_j and v_j the
motions before joint j. Then w changes by

    G s ± [K (s × (a_i - a_j)) + B (s × (v_i - v_j))],   G = ∂w/∂pose, K = ∂w/∂a, B = ∂w/∂v,

with the motions a_i, v_i of the body that moves and the sign of its side. If both move, the change is the sum of both,
which differs from s ×* w only as the tangents of a contact frame do not turn with the bodies. G comes from dual numbers
along six displacements, and all contacts of two bodies share these matrices.

Contacts with bodies at rest are summed over subtrees: see `saltus.solve.soft.ground_derivative`.

Arrays: pair [5, 6, 6], G of both bodies, K, B and, in the first row of the last, w, about the centre of mass of a tree;
grounds: of `saltus.solve.soft.ground_derivative`.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.collide import collide_pair
from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.pairs import pair_geom1, pair_geom2, pair_law
from saltus.contact.rows.blocks import CONE, UNILATERAL, chained_dof, chained_sign
from saltus.contact.rows.contacts import contact_inverse, weights_and_references
from saltus.contact.rows.cost import block_force, block_weight
from saltus.contact.rows.soft_law import impedance, reference, regularisation
from saltus.dynamics.tree.inverse_derivative import (
    CHI_SLIDING,
    MOVED,
    PSI,
    SLIDING,
    VELOCITY,
    first_of_joint,
    put_six,
    six,
    times,
)
from saltus.number.components import seed, tangent_of
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.solve.soft.ground_derivative import (
    BY_FIRST,
    BY_SECOND,
    BY_SLIDING,
    BY_VELOCITY,
    WRENCH,
    add_grounds,
    add_to_ground,
    begin_grounds,
)
from saltus.spatial.motions import add6, add_scaled6, cross_force, cross_motion, dot6, scale6, sub6, unit_wrench
from saltus.spatial.vectors import add3, cross, sub3


@only_with("constraint")
@kernel
def add_constraint_derivatives(m, p, d, arrays, columns):
    """columns [nv, >= 2 nv] += derivatives of Jᵀ f by positions, then by velocities.

    p: plain Data at the solution, with its rows and contacts; d: a dual one, whose contacts and rows are overwritten.
    arrays: motions, axes, pair, grounds.
    """
    contacts = 0
    if has(m, "contact"):
        contacts = p.count[NCON]
    first = p.count[NBLOCK]
    for k in range(contacts):
        if p.contact_block[k] >= 0:
            first = min(first, p.contact_block[k])
    for b in range(first):
        add_row(m, p, b, columns)
    add_contacts(m, p, d, arrays, columns)


# ---------------------------------------------------------------- limits and dry friction


@kernel
def add_row(m, p, b, columns):
    """Derivatives of the force of a limit or of dry friction, a single row with a constant Jacobian."""
    block_weight(m, p, b)
    law, row = p.block_law[b], p.block_row[b]
    by_velocity = -p.block_weight[0] * m.law_damping[law]
    by_distance = 0.0
    if p.block_kind[b] == UNILATERAL and p.row_residual[row] < 0.0:
        # f = -D u at the distance r: D and the reference acceleration depend on it
        r = seed(p.row_pos[row], 0)
        imp = impedance(m.law_impedance[law], r)
        weight = 1.0 / regularisation(imp, m.limit_invweight[p.block_id[b]])
        stiff = reference(m.law_stiffness[law], 0.0, imp, r, 0.0)
        by_distance = p.row_D[row] * tangent_of(stiff, 0) - tangent_of(weight, 0) * p.row_residual[row]
    place, dofs = p.block_J[b], p.block_dofs[b]
    for c in range(p.block_num[b]):
        i = chained_dof(m, p, dofs + c)
        for e in range(p.block_num[b]):
            j = chained_dof(m, p, dofs + e)
            both = p.row_J[place + c] * p.row_J[place + e]
            columns[i, j] += both * by_distance
            columns[i, m.nv + j] += both * by_velocity


# ---------------------------------------------------------------- contacts


@only_with("contact")
@kernel
def add_contacts(m, p, d, arrays, columns):
    """Derivatives of the forces of all contacts, those of two bodies together."""
    motions, axes, pair, grounds = arrays
    if p.count[NCON] == 0:
        return
    begin_grounds(m, grounds)
    n = 0
    while n < p.count[NCON]:
        end = end_of_geoms(p, n)
        k = first_with_rows(p, n, end)
        if k < end and not found_before(m, p, n):
            # all contacts of these two bodies
            clear(pair)
            first = n
            while first < p.count[NCON]:
                last = end_of_geoms(p, first)
                if same_bodies(m, p, n, first) and first_with_rows(p, first, last) < last:
                    add_contacts_of_geoms(m, p, d, first, last, motions, pair)
                first = last
            of = bodies(m, p, k)
            if m.body_lastdof[of[0]] < 0:
                add_to_ground(motions, pair, grounds, of[1], 1)
            elif m.body_lastdof[of[1]] < 0:
                add_to_ground(motions, pair, grounds, of[0], 0)
            else:
                add_pair(m, p, k, motions, axes, pair, columns)
        n = end
    add_grounds(m, p, axes, grounds, columns)


@kernel(inline=True)
def end_of_geoms(p, n):
    """The number after the last of the contacts from n on that are of the same two geoms."""
    end = n + 1
    while end < p.count[NCON] and p.contact_collision[end] == p.contact_collision[n]:
        end += 1
    return end


@kernel(inline=True)
def first_with_rows(p, n, end):
    """The first contact from n on that has rows; `end` if none before it has."""
    while n < end and p.contact_block[n] < 0:
        n += 1
    return n


@kernel
def found_before(m, p, n):
    """Whether a contact before n that has rows is of the same two bodies."""
    k = 0
    while k < n and (p.contact_block[k] < 0 or not same_bodies(m, p, k, n)):
        k += 1
    return k < n


@kernel(inline=True)
def clear(pair):
    """Set the matrices of a pair to zero."""
    for k in range(5):
        for r in range(6):
            put_six(pair, k, r, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@kernel(inline=True)
def bodies(m, p, k):
    """The two bodies of contact k."""
    c = p.contact_collision[k]
    return m.geom_bodyid[pair_geom1(m, p, c)], m.geom_bodyid[pair_geom2(m, p, c)]


@kernel(inline=True)
def same_bodies(m, p, k, n):
    """Whether contacts k and n are of the same two bodies."""
    one, other = bodies(m, p, k), bodies(m, p, n)
    return one[0] == other[0] and one[1] == other[1]


@kernel(inline=True)
def centre(m, p, k):
    """The point about which the motions of a contact's bodies are taken: of the second body's tree if this moves."""
    first, second = bodies(m, p, k)
    return p.subtree_com[m.body_rootid[second if m.body_lastdof[second] >= 0 else first]]


@kernel(inline=True)
def about(x, r):
    """A motion about a point at r from that about which it is given."""
    moved = cross((x[0], x[1], x[2]), r)
    return x[0], x[1], x[2], x[3] + moved[0], x[4] + moved[1], x[5] + moved[2]


@kernel
def motion_of_body(m, p, motions, x, body, point):
    """Motion x of a body about a point; zero for one that does not move."""
    if m.body_lastdof[body] < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return about(six(motions, x, body), sub3(point, p.subtree_com[m.body_rootid[body]]))


@kernel
def add_contacts_of_geoms(m, p, d, n, end, motions, pair):
    """Add the contacts from n up to `end` (exclusive), of two geoms, to the matrices of their bodies."""
    of = bodies(m, p, n)
    for k in range(n, end):
        if p.contact_block[k] >= 0:
            add_curvature(m, p, k, pair)
    for side in range(2):
        if m.body_lastdof[of[side]] >= 0:
            collide_displaced(m, p, d, n, side)
            for k in range(n, end):
                if p.contact_block[k] >= 0:
                    add_by_pose(m, p, d, k, side, motions, pair)


@kernel
def collide_displaced(m, p, d, n, side):
    """Contacts of the geoms of contact n in d, from this number on, with tangents along displacements of one of them.

    Of the second one if `side` is 1: a rotation about `centre`, and a shift.
    """
    c, point = p.contact_collision[n], centre(m, p, n)
    w = seed(0.0, 0), seed(0.0, 1), seed(0.0, 2)
    shift = seed(0.0, 3), seed(0.0, 4), seed(0.0, 5)
    for one in range(2):
        g = pair_geom2(m, p, c) if one == 1 else pair_geom1(m, p, c)
        place, f = p.geom_xpos[g], p.geom_xmat[g]
        for k in range(3):
            d.geom_xpos[g, k] = place[k]
            d.geom_xmat[g, k], d.geom_xmat[g, 3 + k], d.geom_xmat[g, 6 + k] = f[k], f[3 + k], f[6 + k]
        if one == side:
            d.geom_xpos[g] = add3(add3(place, shift), cross(w, sub3(place, point)))
            for k in range(3):
                axis = f[k], f[3 + k], f[6 + k]
                d.geom_xmat[g, k], d.geom_xmat[g, 3 + k], d.geom_xmat[g, 6 + k] = add3(axis, cross(w, axis))
    collide_pair(m, d, n, c, m.law_reach[pair_law(m, d, c)])


@kernel
def relative_motion(m, p, motions, x, k, point):
    """Motion x of the second body of contact k relative to the first, about a point."""
    first, second = bodies(m, p, k)
    return sub6(motion_of_body(m, p, motions, x, second, point), motion_of_body(m, p, motions, x, first, point))


@kernel
def add_by_pose(m, p, d, k, side, motions, pair):
    """Add the derivatives of the wrench of contact k by the pose of the body of a side, after `collide_displaced`."""
    b, point = p.contact_block[k], centre(m, p, k)
    row, dim, law, kind = p.block_row[b], p.block_dim[b], p.block_law[b], p.block_kind[b]
    a = relative_motion(m, p, motions, SLIDING, k, point)
    v = relative_motion(m, p, motions, VELOCITY, k, point)
    d.block_row[b], d.block_dim[b], d.block_law[b], d.block_kind[b] = row, dim, law, kind
    r = d.contact_dist[k] - m.law_margin[law]
    for e in range(dim):
        d.row_velocity[row + e] = dot6(unit_of_row(d, k, e, point), v)
    weights_and_references(m, d, b, kind, r, r < 0.0, contact_inverse(m, p, k) + 0.0 * r)
    for e in range(dim):
        d.row_residual[row + e] = dot6(unit_of_row(d, k, e, point), a) - d.row_aref[row + e]
    block_force(m, d, b)
    wrench = scale6(d.row_force[row], unit_of_row(d, k, 0, point))
    for e in range(1, dim):
        wrench = add_scaled6(wrench, d.row_force[row + e], unit_of_row(d, k, e, point))
    for x in range(6):
        for y in range(6):
            pair[BY_FIRST + side, x, y] += tangent_of(wrench[x], y)


@kernel(inline=True)
def unit_of_row(d, k, e, point):
    """The wrench about a point of a unit force of row e of contact k: along an axis of its frame, or a torque."""
    f = d.contact_frame[k]
    x = e if e < 3 else e - 3
    axis = f[0], f[1], f[2]
    if x == 1:
        axis = f[3], f[4], f[5]
    elif x == 2:
        axis = f[6], f[7], f[8]
    unit = unit_wrench(sub3(d.contact_pos[k], point), axis)
    if e >= 3:
        zero = 0.0 * axis[0]
        unit = axis[0], axis[1], axis[2], zero, zero, zero
    return unit


@kernel
def add_curvature(m, p, k, pair):
    """w += Σ f u, K -= Σ u W uᵀ and B -= Σ u W b uᵀ over the rows of contact k, with unit wrenches u."""
    b, point = p.contact_block[k], centre(m, p, k)
    block_weight(m, p, b)
    row, law, dim = p.block_row[b], p.block_law[b], p.block_dim[b]
    for e in range(dim):
        damping = m.law_damping_tangent[law] if e > 0 and p.block_kind[b] == CONE else m.law_damping[law]
        unit = unit_of_row(p, k, e, point)
        column = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for f in range(dim):
            column = add_scaled6(column, p.block_weight[f * dim + e], unit_of_row(p, k, f, point))
        put_six(pair, WRENCH, 0, add_scaled6(six(pair, WRENCH, 0), p.row_force[row + e], unit))
        for x in range(6):
            along = scale6(column[x], unit)
            put_six(pair, BY_SLIDING, x, sub6(six(pair, BY_SLIDING, x), along))
            put_six(pair, BY_VELOCITY, x, add_scaled6(six(pair, BY_VELOCITY, x), -damping, along))


@kernel
def add_pair(m, p, k, motions, axes, pair, columns):
    """Derivatives of the generalised forces of the pair of contact k, both of which move."""
    b = p.contact_block[k]
    first, num = p.block_dofs[b], p.block_num[b]
    bodies_of, point = bodies(m, p, k), centre(m, p, k)
    wrench = six(pair, WRENCH, 0)
    for c in range(num):
        i = chained_dof(m, p, first + c)
        put_six(axes, MOVED, i, about(p.cdof[i], arm_of_dof(m, p, i, point)))
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        a = motion_of_body(m, p, motions, SLIDING, bodies_of[side], point)
        v = motion_of_body(m, p, motions, VELOCITY, bodies_of[side], point)
        for e in range(num):
            if chained_sign(m, p, first + e) != sign:
                continue
            j = chained_dof(m, p, first + e)
            s, r = six(axes, MOVED, j), arm_of_dof(m, p, j, point)
            # change of the wrench if the body moves along s, by s × (a - a_j) and s × (v - v_j) more
            sliding = sub6(about(six(axes, CHI_SLIDING, j), r), cross_motion(a, s))
            turning = sub6(about(six(axes, PSI, j), r), cross_motion(v, s))
            change = add6(times(pair, BY_SLIDING, sliding), times(pair, BY_VELOCITY, turning))
            change = add_scaled6(times(pair, BY_FIRST + side, s), sign, change)
            # of generalised forces s_i · w; axes of joints beyond turn, too
            turned = sub6(change, cross_force(s, wrench))
            by_velocity = scale6(sign, times(pair, BY_VELOCITY, s))
            start = first_of_joint(m, j)
            for c in range(num):
                i, other = chained_dof(m, p, first + c), chained_sign(m, p, first + c)
                axis = six(axes, MOVED, i)
                columns[i, j] += other * dot6(axis, turned if other == sign and i >= start else change)
                columns[i, m.nv + j] += other * dot6(axis, by_velocity)
    add_common(m, p, k, motions, axes, pair, columns)


@kernel(inline=True)
def arm_of_dof(m, p, i, point):
    """A point relative to that about which the axis of degree of freedom i is given."""
    return sub3(point, p.subtree_com[m.body_rootid[m.dof_bodyid[i]]])


@kernel
def add_common(m, p, k, motions, axes, pair, columns):
    """Derivatives of the forces of a pair by the degrees of freedom that move both bodies, after `add_pair`."""
    b, point = p.contact_block[k], centre(m, p, k)
    first, second = bodies(m, p, k)
    i, j = m.body_lastdof[first], m.body_lastdof[second]
    while i != j:
        if i > j:
            i = m.dof_parentid[i]
        else:
            j = m.dof_parentid[j]
    a = relative_motion(m, p, motions, SLIDING, k, point)
    v = relative_motion(m, p, motions, VELOCITY, k, point)
    while j >= 0:
        s = about(p.cdof[j], arm_of_dof(m, p, j, point))
        change = add6(times(pair, BY_FIRST, s), times(pair, BY_SECOND, s))
        change = add6(change, times(pair, BY_SLIDING, cross_motion(s, a)))
        change = add6(change, times(pair, BY_VELOCITY, cross_motion(s, v)))
        change = sub6(change, cross_force(s, six(pair, WRENCH, 0)))
        for c in range(p.block_num[b]):
            place = p.block_dofs[b] + c
            i = chained_dof(m, p, place)
            columns[i, j] += chained_sign(m, p, place) * dot6(six(axes, MOVED, i), change)
        j = m.dof_parentid[j]
