"""Boxes about geoms, aligned with the geoms' own axes: separated boxes need no search for contacts.

The boxes are MuJoCo's `geom_aabb`, or for primitive shapes made from their sizes. Two boxes whose projections on some
axis are farther apart than `reach` have no points within it (Gottschalk, Lin, Manocha, OBBTree (1996)).
"""

from saltus.contact.rigid.box_axes import FAR, widest_face_axis
from saltus.contact.rigid.lane_choice import pick3, row, transposed
from saltus.model.enums import CAPSULE, CYLINDER, HFIELD, MESH, PLANE, SDF, SPHERE
from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, maximum, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, dot3, matrix_times_matrix, matrix_times_vector, sub3, transpose_times_vector


@kernel
def boxes_near(m, d, g1, g2, reach):
    """1 in lanes where the boxes about the geoms may be within `reach` (m), else 0; g1 may be a plane.

    Rounding never changes a 1 to 0.
    """
    return near_and_gap(m, d, g1, g2, reach)[0]


@kernel
def near_and_gap(m, d, g1, g2, reach):
    """`boxes_near`, and a lower bound of the boxes' distance (m), negative if unknown."""
    zero = 0.0 * d.time
    one = zero + 1.0
    if m.geom_type[g2] == SDF:
        return one, zero - FAR
    centre2, size2 = box_about(m, d, g2, zero)
    if m.geom_type[g1] == PLANE:
        mat = d.geom_xmat[g1]
        normal = transpose_times_vector(d.geom_xmat[g2], (mat[2], mat[5], mat[8]))
        radius = absolute(normal[0]) * size2[0] + absolute(normal[1]) * size2[1] + absolute(normal[2]) * size2[2]
        offset = sub3(centre2, d.geom_xpos[g1])
        slack = 16.0 * epsilon_of(zero) * (absolute(offset[0]) + absolute(offset[1]) + absolute(offset[2]) + radius)
        gap = dot3(offset, (mat[2], mat[5], mat[8])) - radius
        return where(gap <= reach + slack, one, zero), gap - 2.0 * slack
    centre1, size1 = box_about(m, d, g1, zero)
    # the second box in the axes of the first, and vice versa
    rot = matrix_times_matrix(transposed(d.geom_xmat[g1]), d.geom_xmat[g2])
    between = sub3(centre2, centre1)
    offset = transpose_times_vector(d.geom_xmat[g1], between)
    back = transpose_times_vector(d.geom_xmat[g2], between)
    size = size1[0] + size1[1] + size1[2] + size2[0] + size2[1] + size2[2]
    slack = 16.0 * epsilon_of(zero) * (absolute(offset[0]) + absolute(offset[1]) + absolute(offset[2]) + size)
    gap = widest_face_axis(rot, offset, size1, size2)[0]
    gap = maximum(gap, widest_face_axis(transposed(rot), back, size2, size1)[0])
    # products of edges, no longer than 1, which are ignored if they vanish
    across = widest_product(rot, offset, size1, size2)
    near = where((gap <= reach + slack) & (across <= maximum(reach, zero) + slack), one, zero)
    return near, gap - 2.0 * slack


@kernel
def widest_product(rot, offset, size1, size2):
    """Largest separation (m) of two boxes along a product of edges, times the length of the product.

    rot [9]: axes of the second box in those of the first, offset [3] (m) of its centre; size1, size2 [3] (m): half
    sizes.
    """
    widest = 0.0 * offset[0]
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        own, row1, row2 = row(i, rot), row(i1, rot), row(i2, rot)
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            # projections of the boxes on the axis e_i x a_j
            radius = pick3(i1, size1) * absolute(pick3(j, row2)) + pick3(i2, size1) * absolute(pick3(j, row1))
            radius = radius + pick3(j1, size2) * absolute(pick3(j2, own)) + pick3(j2, size2) * absolute(pick3(j1, own))
            between = absolute(pick3(i2, offset) * pick3(j, row1) - pick3(i1, offset) * pick3(j, row2))
            widest = maximum(widest, between - radius)
    return widest


@kernel(inline=True)
def box_about(m, d, g, zero):
    """The box about a geom: its centre [3] (m, world axes) and half sizes [3] (m)."""
    kind, size = m.geom_type[g], m.geom_size[g]
    centre, half = d.geom_xpos[g], (zero + size[0], zero + size[1], zero + size[2])
    if kind == MESH or kind == HFIELD:
        box = m.geom_aabb[g]
        centre = add3(centre, matrix_times_vector(d.geom_xmat[g], (zero + box[0], zero + box[1], zero + box[2])))
        half = zero + box[3], zero + box[4], zero + box[5]
    elif kind == SPHERE:
        half = half[0], half[0], half[0]
    elif kind == CAPSULE:
        half = half[0], half[0], half[0] + half[1]
    elif kind == CYLINDER:
        half = half[0], half[0], half[1]
    return centre, half
