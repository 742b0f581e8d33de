"""Linear and angular momentum of subtrees."""

from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import inertia_times_motion
from saltus.spatial.vectors import add3, cross, scale3, sub3


@only_with("sense_subtree")
@kernel
def subtree_momenta(m, d):
    """Velocity of the centre of mass of each subtree, and its angular momentum about that point.

    The spatial momenta I v of bodies about their tree's centre of mass are summed over subtrees; from a point O to the
    subtree's centre of mass c, its angular momentum changes by (O - c) × p, p its linear momentum. Reads cinert, cvel,
    subtree_com. Writes subtree_linvel (m/s) and subtree_angmom (N m s) [nbody, 3] in world axes.
    """
    # momenta of bodies
    zero = 0.0 * d.time
    d.subtree_linvel[0] = d.subtree_angmom[0] = (zero, zero, zero)
    for b in range(1, m.nbody):
        h = inertia_times_motion(d.cinert[b], d.cvel[b])
        d.subtree_angmom[b] = (h[0], h[1], h[2])
        d.subtree_linvel[b] = (h[3], h[4], h[5])
    # sum over subtrees; trees have different origins
    for b in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[b]
        momentum, spin = d.subtree_linvel[b], d.subtree_angmom[b]
        if parent == 0:
            spin = about(spin, momentum, d.subtree_com[b], d.subtree_com[0])
        d.subtree_linvel[parent] = add3(d.subtree_linvel[parent], momentum)
        d.subtree_angmom[parent] = add3(d.subtree_angmom[parent], spin)
    # about each subtree's centre of mass
    for b in range(m.nbody):
        momentum, origin = d.subtree_linvel[b], d.subtree_com[m.body_rootid[b]]
        d.subtree_angmom[b] = about(d.subtree_angmom[b], momentum, origin, d.subtree_com[b])
        d.subtree_linvel[b] = scale3(m.body_inv_subtreemass[b], momentum)


@kernel(inline=True)
def about(spin, momentum, origin, point):
    """Angular momentum about a point, from that about the origin."""
    return add3(spin, cross(sub3(origin, point), momentum))
