"""Contacts of two convex shapes, lane by lane: meshes, cylinders, boxes, ellipsoids, capsules, spheres, and planes.

The search for a contact is a loop whose length depends on the poses, so that lanes take turns in it, and in contacts
that need none (see `saltus.contact.convex.met_face`). It always runs in double precision.
"""

from saltus.contact.bounding_spheres import may_touch
from saltus.contact.contact_list import add_contact
from saltus.contact.contact_tangents import carried
from saltus.contact.convex.bounding_boxes import boxes_near, near_and_gap
from saltus.contact.convex.contact_record import CONTACT_NUMBERS, MOST_CONTACTS, contact_at
from saltus.contact.convex.contacts import contacts
from saltus.contact.convex.field_contacts import field_contacts
from saltus.contact.convex.last_axis import ROOM, forget, remember, slot_of, still_apart
from saltus.contact.convex.last_gap import keep_gap, not_known_apart
from saltus.contact.convex.plane_mesh import plane_mesh
from saltus.contact.convex.search.pair_area import (
    GAP,
    GEOM1,
    GEOM2,
    HULL1,
    HULL2,
    KIND1,
    KIND2,
    LAST1,
    LAST2,
    PAIR_NUMBERS,
    SIZE1,
    SIZE2,
)
from saltus.contact.convex.search.support import rounding_radius
from saltus.contact.lane_turns import lane_of
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rigid.ellipsoid import relative_axes, values3, values9
from saltus.model.contact.hulls import LAST_LANES
from saltus.model.contact.pair_table import MOST_OF_PAIR
from saltus.model.enums import PLANE
from saltus.number.components import frozen, lane_count, lane_set, value_of
from saltus.number.functions import any_lane, where
from saltus.number.intrinsics.memory import get, get3, get_int, put, put_int, put_lanes, stack_area
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, matrix_times_vector, sub3, transpose_times_vector

LANES = 16  # largest number of lanes
FOUND_AREA = LANES * MOST_CONTACTS * CONTACT_NUMBERS
FIELD_AREA = LANES * MOST_OF_PAIR * CONTACT_NUMBERS
# numbers of a pair that differ between lanes: those from ROT to SIZE2, and the reach (m)
REACH = 18
LANE_AREA = LANES * (REACH + 1)


@kernel
def convex_pair(m, d, n, c, reach):
    """Contacts of pair c; returns the new number of contacts. The pair's k-th slot holds each lane's k-th contact.

    In duals the normal has no tangents (see `saltus.contact.mujoco.collision.foreign`).
    """
    p, own, found, counts = stack_area(PAIR_NUMBERS), stack_area(LANE_AREA), stack_area(FOUND_AREA), stack_area(LANES)
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    slot = slot_of(m, d, c, g1, g2)
    rot, shift = relative_pose(d, g1, g2)
    untold = value_of(may_touch(m, d, g1, g2, reach)) * not_known_apart(m, d, slot, g1, g2, rot, shift, reach)
    if not any_lane(untold > 0.5):
        return n
    boxes, gap = near_and_gap(m, d, g1, g2, reach)
    close, gap = untold * value_of(boxes), where(untold > 0.5, value_of(gap), 0.0 * untold)
    if not any_lane(close > 0.5):
        keep_gap(m, d, slot, g1, g2, rot, shift, gap, reach)
        return n
    write_lanes(m, d, own, g1, g2, rot, shift, reach)
    write_shapes(m, p, g1, g2)
    for i in range(lane_count(d.time)):
        count = 0
        if lane_of(close, i) > 0.5:
            take_lane(d, p, own, i)
            own_reach = get(own, lane_count(d.time) * REACH + i)
            radius = 1.0 * lane_of(m.geom_rbound[g1], i) + 1.0 * lane_of(m.geom_rbound[g2], i)
            at = LAST_LANES * slot + i
            count = contacts_of_lane(m, d, p, at, own_reach, radius, contact_at(found, MOST_CONTACTS * i))
            gap = lane_set(gap, i, get(p, GAP))
        put_int(counts, i, count)
    keep_gap(m, d, slot, g1, g2, rot, shift, gap, reach)
    return add_lanes(m, d, n, c, reach, found, counts, MOST_CONTACTS)


@only_with("field", otherwise="n")
@kernel
def field_pair(m, d, n, c, reach):
    """Contacts of pair c, a height field and a convex shape; returns the new number of contacts."""
    p, own, counts = stack_area(PAIR_NUMBERS), stack_area(LANE_AREA), stack_area(LANES)
    found = stack_area(FIELD_AREA)
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    close = near_lanes(m, d, g1, g2, reach)
    if not any_lane(close > 0.5):
        return n
    rot, shift = relative_pose(d, g1, g2)
    write_lanes(m, d, own, g1, g2, rot, shift, reach)
    write_shapes(m, p, g1, g2)
    for i in range(lane_count(d.time)):
        count = 0
        if lane_of(close, i) > 0.5:
            take_lane(d, p, own, i)
            own_reach = get(own, lane_count(d.time) * REACH + i)
            count = field_contacts(m, p, m.geom_hull[g1], own_reach, contact_at(found, MOST_OF_PAIR * i))
        put_int(counts, i, count)
    return add_lanes(m, d, n, c, reach, found, counts, MOST_OF_PAIR)


@kernel(inline=True)
def near_lanes(m, d, g1, g2, reach):
    """0 in lanes where spheres or boxes about the geoms are known to be beyond `reach` (m), else 1."""
    close = may_touch(m, d, g1, g2, reach)
    if any_lane(close > 0.5):
        close = close * boxes_near(m, d, g1, g2, reach)
    return close


@kernel
def add_lanes(m, d, n, c, reach, found, counts, room):
    """Add the contacts of all lanes; `found` has room for `room` contacts of each lane."""
    g1, g2, most = pair_geom1(m, d, c), pair_geom2(m, d, c), 0
    for i in range(lane_count(d.time)):
        most = max(most, get_int(counts, i))
    for k in range(most):
        dist, pos, normal = contact_of_lanes(d, found, counts, room, k, reach)
        mat = d.geom_xmat[g1]
        pos, normal = add3(d.geom_xpos[g1], matrix_times_vector(mat, pos)), matrix_times_vector(mat, normal)
        dist, pos, normal = carried(m, d, g1, g2, dist, frozen3(pos), frozen3(normal))
        n = add_contact(m, d, n, c, reach, dist, pos, normal, (0.0 * d.time, 0.0 * d.time, 0.0 * d.time))
    return n


@kernel(inline=True)
def frozen3(a):
    """The vector without tangents, of the same type."""
    return frozen(a[0]), frozen(a[1]), frozen(a[2])


@kernel
def contacts_of_lane(m, d, p, k, reach, radius, found):
    """Write the contacts of pair p within `reach` (m) at `found`; returns their number.

    k: place of the remembered separating direction; radius (m): the sum of the geoms' bounding radii. If the shapes are
    farther apart, the pair's area holds a lower bound of their distance (m).
    """
    put(p, GAP, 0.0)
    if get_int(p, KIND1) == PLANE:
        return plane_mesh(m, d, p, k, reach, radius, found)
    rounding = rounding_radius(get_int(p, KIND1), get3(p, SIZE1)) + rounding_radius(get_int(p, KIND2), get3(p, SIZE2))
    if still_apart(m, d, p, k, reach + rounding, radius + rounding):
        put(p, GAP, get(p, GAP) - rounding)
        return 0
    # the search does not depend on remembered data
    put_int(p, LAST1, -1)
    put_int(p, LAST2, -1)
    count, apart = contacts(m, p, reach, found)
    if apart:
        remember(d, p, k)
        put(p, GAP, get(p, GAP) - (rounding + ROOM * (radius + rounding)))
    elif count > 0:
        forget(d, k)
    return count


# ---------------------------------------------------------------- conversion between lanes and one lane


@kernel(inline=True)
def relative_pose(d, g1, g2):
    """Axes of the second geom and its origin (m) in the frame of the first, without tangents."""
    mat1, mat2 = values9(d.geom_xmat[g1]), values9(d.geom_xmat[g2])
    shift = transpose_times_vector(mat1, sub3(values3(d.geom_xpos[g2]), values3(d.geom_xpos[g1])))
    return relative_axes(mat1, mat2), shift


@kernel
def write_lanes(m, d, own, g1, g2, rot, shift, reach):
    """Write the numbers of a pair that differ between lanes: relative pose of the second geom, sizes, reach."""
    like, width = 0.0 * d.time, lane_count(d.time)
    put_lanes(own, 0, rot[0])
    put_lanes(own, width, rot[1])
    put_lanes(own, 2 * width, rot[2])
    put_lanes(own, 3 * width, rot[3])
    put_lanes(own, 4 * width, rot[4])
    put_lanes(own, 5 * width, rot[5])
    put_lanes(own, 6 * width, rot[6])
    put_lanes(own, 7 * width, rot[7])
    put_lanes(own, 8 * width, rot[8])
    put_lanes(own, 9 * width, shift[0])
    put_lanes(own, 10 * width, shift[1])
    put_lanes(own, 11 * width, shift[2])
    for j in range(3):
        put_lanes(own, (SIZE1 + j) * width, like + m.geom_size[g1, j])
        put_lanes(own, (SIZE2 + j) * width, like + m.geom_size[g2, j])
    put_lanes(own, REACH * width, like + reach)


@kernel
def write_shapes(m, p, g1, g2):
    """Set the numbers of a pair that are equal in all lanes."""
    put_int(p, KIND1, m.geom_type[g1])
    put_int(p, KIND2, m.geom_type[g2])
    put_int(p, HULL1, m.geom_hull[g1])
    put_int(p, HULL2, m.geom_hull[g2])
    put_int(p, GEOM1, g1)
    put_int(p, GEOM2, g2)


@kernel
def take_lane(d, p, own, i):
    """Set the numbers that differ between lanes to those of lane i."""
    for k in range(REACH):
        put(p, k, get(own, lane_count(d.time) * k + i))
    put_int(p, LAST1, -1)
    put_int(p, LAST2, -1)


@kernel
def contact_of_lanes(d, found, counts, room, k, reach):
    """Contact k of every lane: distance, position, normal; out of reach in lanes with fewer."""
    zero = 0.0 * d.time
    dist, x, y, z, nx, ny, nz = zero + (reach + 1.0), zero, zero, zero, zero + 1.0, zero, zero
    for i in range(lane_count(d.time)):
        if k < get_int(counts, i):
            at = contact_at(found, room * i + k)
            dist = lane_set(dist, i, get(at, 0))
            pos, normal = get3(at, 1), get3(at, 4)
            x, y, z = lane_set(x, i, pos[0]), lane_set(y, i, pos[1]), lane_set(z, i, pos[2])
            nx, ny, nz = lane_set(nx, i, normal[0]), lane_set(ny, i, normal[1]), lane_set(nz, i, normal[2])
    return dist, (x, y, z), (nx, ny, nz)
