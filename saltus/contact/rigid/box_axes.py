"""Separating axis test for two boxes: three face normals of each and nine products of edges.

Reference: Gottschalk, Lin, Manocha, OBBTree (1996).

The boxes are given in the axes of the first; the second's axes are the columns of a matrix `rot`. A separation (m) is
the distance of the boxes' projections on an axis, negative where they overlap.
"""

from saltus.contact.rigid.lane_choice import by_precision, column, cycled, pick3, row
from saltus.number.functions import absolute, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import where3

FAR = 1e30
PREFERENCE = 1e-6  # relative margin by which the separation along a product of edges must exceed the others


@kernel
def widest_face_axis(rot, offset, size, other):
    """The face normal of a box with the largest separation from another box: (separation (m), axis of the box).

    offset [3] (m): the other box's centre. size, other [3] (m): half sizes. Of equal separations the first is taken.
    """
    zero = 0.0 * offset[0]
    best, axis = zero - FAR, zero
    for k in range(3):
        r = row(k, rot)
        radius = absolute(r[0]) * other[0] + absolute(r[1]) * other[1] + absolute(r[2]) * other[2]
        gap = absolute(pick3(k, offset)) - pick3(k, size) - radius
        axis = where(gap > best, k + zero, axis)
        best = where(gap > best, gap, best)
    return best, axis


@kernel
def widest_edge_axis(rot, offset, size1, size2, face):
    """The product of edges with the largest separation, if that is larger than along any face normal.

    face (m): the largest separation along a face normal. Returns (separation (m), `face` if no product is larger; 1 if
    one is, else 0; edge i of the first box, edge j of the second; largest separation along any product). Products of
    nearly parallel edges are left out: face normals take their place.
    """
    zero = 0.0 * offset[0]
    one = zero + 1.0
    parallel = by_precision(zero, 1e-16, 1e-7)  # squared sine of an angle
    best, found, first, second, largest = face, zero, zero, zero, zero - FAR
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        row1, row2 = row(i1, rot), row(i2, rot)
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            # the product of edges i and j; its component i is 0
            a, b = -pick3(j, row2), pick3(j, row1)
            square = a * a + b * b
            distinct = square >= parallel
            scale = 1.0 / sqrt(where(distinct, square, one))
            a, b = a * scale, b * scale
            radius1 = pick3(i1, size1) * absolute(a) + pick3(i2, size1) * absolute(b)
            # components of the product along the second box's axes
            a1 = a * pick3(j1, row1) + b * pick3(j1, row2)
            a2 = a * pick3(j2, row1) + b * pick3(j2, row2)
            radius2 = pick3(j1, size2) * absolute(a1) + pick3(j2, size2) * absolute(a2)
            # distance of the projections
            gap = absolute(a * pick3(i1, offset) + b * pick3(i2, offset)) - radius1 - radius2
            largest = where(distinct & (gap > largest), gap, largest)
            # accept only if clearly larger than the best so far
            better = distinct & (gap - PREFERENCE * absolute(gap) > best) & (gap > face)
            best = where(better, gap, best)
            found = where(better, one, found)
            first = where(better, i + zero, first)
            second = where(better, j + zero, second)
    return best, found, first, second, largest


@kernel
def face_stands_for(rot, face, i, j, separation, edge_separation, slack):
    """Whether a face normal replaces the product of edges i and j, which is nearly the same axis.

    A face has several contacts and an edge one, so that boxes at rest would jump between them. Within 8 degrees and 5 %
    of the depth, or `slack` (m), the face is preferred, as in MuJoCo. face: 0 to 2 for the first box's axes, 3 to 5 for
    the second's.
    """
    zero = 0.0 * separation
    one = zero + 1.0
    own = face < 2.5
    k = where(own, face, face - 3.0)
    unit = (where(k < 0.5, one, zero), where(absolute(k - 1.0) < 0.5, one, zero), where(k > 1.5, one, zero))
    normal = where3(own, unit, column(k, rot))
    # cosine of the angle to the product, whose components i, i+1, i+2 are 0, a, b
    edge = cycled(i, column(j, rot))
    square = edge[1] * edge[1] + edge[2] * edge[2]
    along = cycled(i, normal)
    cosine = (edge[1] * along[2] - edge[2] * along[1]) / sqrt(where(square > 0.0, square, one))
    return (absolute(cosine) > 0.99) & (edge_separation < separation + 0.05 * absolute(separation) + slack)
