"""Contacts of two convex shapes, lane by lane: meshes, cylinders, boxes, ellipsoids, capsules, spheres,
and planes with meshes.

The search for a contact is a loop whose length depends on the poses, so that lanes take turns in it. It runs in double
precision, whatever the simulation's.
"""

from saltus.contact.contact_list import add_contact
from saltus.contact.convex.contact_record import CONTACT_NUMBERS, MOST_CONTACTS, contact_at
from saltus.contact.convex.contacts import contacts
from saltus.contact.convex.memory import get, get3, get_int, put3, put_int, stack_area
from saltus.contact.convex.pair_area import (
    HULL1,
    HULL2,
    KIND1,
    KIND2,
    LAST1,
    LAST2,
    PAIR_NUMBERS,
    SIZE1,
    SIZE2,
    write_poses,
)
from saltus.contact.convex.plane_mesh import plane_mesh
from saltus.contact.lane_turns import lane_of
from saltus.contact.mujoco.bounding_boxes import boxes_near
from saltus.contact.mujoco.collision import carried, may_touch
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.model.enums import PLANE
from saltus.number.components import lane_count, lane_set
from saltus.number.functions import any_lane
from saltus.number.kernels import kernel
from saltus.spatial.vectors import z_axis

LANES = 16  # at most
AREA = LANES * MOST_CONTACTS * CONTACT_NUMBERS


@kernel
def convex_pair(m, d, n, c, reach):
    """Contacts of pair c; returns the new number of contacts. The pair's k-th slot holds each lane's k-th contact.

    In duals the normal has no tangents (see `saltus.contact.mujoco.collision.foreign`).
    """
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    close = may_touch(m, d, g1, g2, reach)
    if any_lane(close > 0.5):
        close = close * boxes_near(m, d, g1, g2, reach)
    if not any_lane(close > 0.5):
        return n
    p, found, counts = stack_area(PAIR_NUMBERS), stack_area(AREA), stack_area(LANES)
    most = 0
    for i in range(lane_count(d.time)):
        count = 0
        if lane_of(close, i) > 0.5:
            count = contacts_of_lane(m, d, p, g1, g2, i, 1.0 * lane_of(reach, i), contact_at(found, MOST_CONTACTS * i))
        put_int(counts, i, count)
        most = max(most, count)
    for k in range(most):
        dist, pos, normal = contact_of_lanes(d, found, counts, k, reach)
        dist, pos, normal = carried(m, d, g1, g2, dist, pos, normal)
        n = add_contact(m, d, n, c, reach, dist, pos, normal, (0.0 * d.time, 0.0 * d.time, 0.0 * d.time))
    return n


@kernel
def contacts_of_lane(m, d, p, g1, g2, i, reach, found):
    """Write lane i's contacts of two geoms within `reach` (m) at `found`; returns their number."""
    if m.geom_type[g1] == PLANE:
        mat = matrix_of_lane(d.geom_xmat[g1], i)
        plane, centre = vector_of_lane(d.geom_xpos[g1], i), vector_of_lane(d.geom_xpos[g2], i)
        axes = matrix_of_lane(d.geom_xmat[g2], i)
        return plane_mesh(m, m.geom_hull[g2], plane, z_axis(mat), centre, axes, reach, found)
    write_pair(m, d, p, g1, g2, i)
    return contacts(m, p, reach, found)


@kernel
def write_pair(m, d, p, g1, g2, i):
    """Set the area of a pair: lane i's poses and shapes of the two geoms."""
    centre1, mat1 = vector_of_lane(d.geom_xpos[g1], i), matrix_of_lane(d.geom_xmat[g1], i)
    centre2, mat2 = vector_of_lane(d.geom_xpos[g2], i), matrix_of_lane(d.geom_xmat[g2], i)
    write_poses(p, centre1, mat1, centre2, mat2)
    put3(p, SIZE1, vector_of_lane(m.geom_size[g1], i))
    put3(p, SIZE2, vector_of_lane(m.geom_size[g2], i))
    put_int(p, KIND1, m.geom_type[g1])
    put_int(p, KIND2, m.geom_type[g2])
    put_int(p, HULL1, m.geom_hull[g1])
    put_int(p, HULL2, m.geom_hull[g2])
    put_int(p, LAST1, -1)
    put_int(p, LAST2, -1)


@kernel(inline=True)
def vector_of_lane(a, i):
    """Lane i of a vector, in double precision."""
    return 1.0 * lane_of(a[0], i), 1.0 * lane_of(a[1], i), 1.0 * lane_of(a[2], i)


@kernel(inline=True)
def matrix_of_lane(a, i):
    """Lane i of a matrix, in double precision."""
    x, y, z = vector_of_lane((a[0], a[1], a[2]), i), vector_of_lane((a[3], a[4], a[5]), i), (a[6], a[7], a[8])
    z = vector_of_lane(z, i)
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@kernel
def contact_of_lanes(d, found, counts, k, reach):
    """Contact k of every lane: distance, position, normal; out of reach in lanes with fewer."""
    zero = 0.0 * d.time
    dist, x, y, z, nx, ny, nz = zero + (reach + 1.0), zero, zero, zero, zero + 1.0, zero, zero
    for i in range(lane_count(d.time)):
        if k < get_int(counts, i):
            at = contact_at(found, MOST_CONTACTS * i + k)
            dist = lane_set(dist, i, get(at, 0))
            pos, normal = get3(at, 1), get3(at, 4)
            x, y, z = lane_set(x, i, pos[0]), lane_set(y, i, pos[1]), lane_set(z, i, pos[2])
            nx, ny, nz = lane_set(nx, i, normal[0]), lane_set(ny, i, normal[1]), lane_set(nz, i, normal[2])
    return dist, (x, y, z), (nx, ny, nz)
