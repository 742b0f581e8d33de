"""Velocity-dependent bias J̇ v of active rows in closed form, for points on stationary planes.

A contact point p moves over its body, whose material velocity v_B and acceleration a_B are known
(Featherstone 2008, section 2.12):

    d(v_B(p))/dt = a_B(p) + ω × (dp/dt - v_B(p))

A corner is fixed to its body; a sphere's lowest point keeps its offset from the centre. Plane and tangents do not
rotate.
"""

from saltus.contact.counts import NBLOCK, NROW
from saltus.model.enums import BALL, BOX, PLANE, SPHERE, pair_kind
from saltus.model.event_enums import CLOSED, OPEN, ROLL, SPIN
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import acceleration_at
from saltus.spatial.vectors import add3, cross, dot3, scale3, sub3


@kernel
def is_simple(m, d):
    """Whether the active set is limited to points on stationary planes and limits of hinges and slides."""
    if m.neq or m.nlimit > m.njntlimit or m.nfriction > m.ndoffriction:
        return False
    for k in range(m.njntlimit):
        if m.jnt_type[m.limit_obj[k]] == BALL:
            return False
    return simple_contacts(m, d)


@only_with("contact", otherwise="True")
@kernel
def simple_contacts(m, d):
    """Whether all closed contacts are of spheres and boxes with stationary planes."""
    for c in range(m.ncollision):
        kind, standing = m.collision_kind[c], m.chain_body1[m.collision_chain[c]] == 0
        if (
            not (kind == pair_kind(PLANE, SPHERE) or kind == pair_kind(PLANE, BOX))
            or not standing
            or m.collision_moves[c]
        ):
            for s in range(m.slot_adr[c], m.slot_adr[c] + m.slot_num[c]):
                if d.mode[s] != OPEN:
                    return False
    return True


@kernel
def simple_drifts(m, d):
    """row_drift [nrow] (m/s², rad/s²) if `is_simple`; needs `closed_rows`, and cvel and cacc of all bodies."""
    for r in range(d.count[NROW]):
        d.row_drift[r] = 0.0 * d.time
    if d.event_count[CLOSED]:
        for b in range(d.count[NBLOCK]):
            item = d.block_item[b]
            if 0 <= item < m.nslot:
                contact_drift(m, d, b, d.slot_contact[item])


@kernel
def contact_drift(m, d, b, k):
    """row_drift of block b of contact k."""
    body, row = m.chain_body2[d.block_chain[b]], d.block_row[b]
    velocity, point = d.cvel[body], d.contact_pos[k]
    arm = sub3(point, d.subtree_com[m.body_rootid[body]])
    g = m.opt_gravity[0]
    # cacc includes gravity as an acceleration of the world
    change = add3(acceleration_at(velocity, d.cacc[body], arm), g)
    f = d.contact_frame[k]
    normal, turn = (f[0], f[1], f[2]), (velocity[0], velocity[1], velocity[2])
    # contact_pos is midway between the plane and the body point: a corner, or the point below a sphere's centre
    offset = scale3(-0.5 * d.contact_dist[k], normal)
    c = d.contact_collision[k]
    if m.collision_kind[c] == pair_kind(PLANE, SPHERE):
        offset = sub3(point, d.geom_xpos[m.collision_geom2[c]])
    # velocity of the point over its body, dp/dt - v_B(p)
    slide = sub3(scale3(-0.5 * d.row_velocity[row], normal), cross(turn, offset))
    change = add3(change, cross(turn, slide))
    tangent1, tangent2 = (f[3], f[4], f[5]), (f[6], f[7], f[8])
    d.row_drift[row] = dot3(normal, change)
    if d.block_dim[b] > 1:
        d.row_drift[row + 1] = dot3(tangent1, change)
        d.row_drift[row + 2] = dot3(tangent2, change)
    # rotations about the normal and the tangents, which stand still
    acceleration = d.cacc[body]
    turning = (acceleration[0], acceleration[1], acceleration[2])
    if d.block_dim[b] > SPIN:
        d.row_drift[row + 3] = dot3(normal, turning)
    if d.block_dim[b] > ROLL:
        d.row_drift[row + 4] = dot3(tangent1, turning)
        d.row_drift[row + 5] = dot3(tangent2, turning)
