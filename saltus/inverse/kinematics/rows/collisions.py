"""Residuals of geoms that are nearer to each other than they should be, and their Jacobians.

The engine's contact detection finds the pairs, with the wanted distance as their margin. A row of a contact is
min(0, distance - wanted), whose rate is the normal times the relative velocity of the two bodies at the contact.
"""

from saltus.contact.collide import collide, collider_frames
from saltus.contact.counts import NCON, NLOST
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import dot3, sub3


@only_with("contact", otherwise="0.0")
@kernel
def collision_rows(m, d, kept, wanted, weight, J, r, row, room):
    """Rows of the contacts of pairs that are `kept` [ncollision], at most `room`; returns the largest violation (m)."""
    d.count[NLOST] = 0
    collider_frames(m, d)
    collide(m, d)
    used, worst = 0, 0.0
    for n in range(d.count[NCON]):
        violation = wanted - d.contact_dist[n]
        if not kept[d.contact_collision[n]] or not violation > 0.0:
            continue
        worst = max(worst, violation)
        if used < room:
            clearance_row(m, d, n, weight, J, row + used)
            r[row + used] = -weight * violation
            used += 1
    for k in range(row + used, row + room):
        r[k] = 0.0
        for i in range(m.nv):
            J[k, i] = 0.0
    return worst


@kernel
def clearance_row(m, d, n, weight, J, row):
    """Rate of the distance of contact n for each degree of freedom."""
    for i in range(m.nv):
        J[row, i] = 0.0
    normal = d.contact_frame[n, 0], d.contact_frame[n, 1], d.contact_frame[n, 2]
    c = d.contact_collision[n]
    add_side(m, d, m.geom_bodyid[m.collision_geom1[c]], n, normal, -weight, J, row)
    add_side(m, d, m.geom_bodyid[m.collision_geom2[c]], n, normal, weight, J, row)


@kernel
def add_side(m, d, body, n, normal, weight, J, row):
    """Add the velocity along the normal of a body's point at contact n."""
    arm = sub3(d.contact_pos[n], d.subtree_com[m.body_rootid[body]])
    i = m.body_lastdof[body]
    while i >= 0:
        J[row, i] += weight * dot3(normal, velocity_at(d.cdof[i], arm))
        i = m.dof_parentid[i]
