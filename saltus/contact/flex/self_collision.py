"""Self-collision test of deformable bodies by Verlet neighbour lists of elements.

The list (Verlet 1967, Phys. Rev. 159, 98) holds all pairs without a common body that are within the reach plus a skin
of each other. It remains valid until some vertex has moved by half the skin, apart from a common translation; it is
then rebuilt from a grid of cells as wide as the largest element box extended by reach and skin, at a cost proportional
to the number of elements. If elements are so dense that the list overflows, the body counts as touching itself.

In lanes the list is the union over all of them.
"""

from saltus.contact.flex.broad_phase import around, element_box
from saltus.contact.flex.narrow_phase import MARGIN, SLACK, elements_close, share_body
from saltus.contact.lane_turns import first_to_see, lane_of
from saltus.model.flex.mujoco_contacts import NEIGHBOURS, NEIGHBOURS_AT_LEAST
from saltus.number.components import lane_count
from saltus.number.functions import any_lane, clip, floor, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import dot3, sub3

FULL = -1  # number of pairs of a list that has overflowed
WORLD = 1 << 20  # cells on either side of the origin; elements outside are put in the last
BITS = 21  # bits of a cell number along an axis


@only_with("flexself", otherwise="0.0 * d.time")
@kernel
def folds_close(m, d, f):
    """Whether, lane by lane, any listed pair of elements of a body is near enough to touch: 1, else 0."""
    zero = 0.0 * d.time
    one = zero + 1.0
    if not d.flexnear_made[f] or moved(m, d, f):
        list_neighbours(m, d, f)
    near = one if d.flexnear_num[f] == FULL else zero
    wide = SLACK * 2.0 * m.flex_radius[f] + MARGIN
    first = list_address(m, f)
    for k in range(first, first + d.flexnear_num[f]):
        near = where(elements_close(m, d, d.flexnear_elem[k, 0], d.flexnear_elem[k, 1], wide), one, near)
        if not any_lane(near < 0.5):
            return near
    return near


@kernel(inline=True)
def list_address(m, f):
    """Address of a body's list, which has NEIGHBOURS places for each element and NEIGHBOURS_AT_LEAST more."""
    return NEIGHBOURS * m.flex_elemadr[f] + NEIGHBOURS_AT_LEAST * f


@kernel
def moved(m, d, f):
    """Whether, in any lane, vertices have moved relative to each other by more than the skin since the list was built.

    If a box with the skin as diagonal contains all displacements, none is farther than half the skin from its middle.
    """
    first = m.flex_vertadr[f]
    lower = upper = sub3(d.flexvert_xpos[first], d.flexvert_near[first])
    for v in range(first + 1, first + m.flex_vertnum[f]):
        lower, upper = around(lower, upper, sub3(d.flexvert_xpos[v], d.flexvert_near[v]))
    diagonal = sub3(upper, lower)
    return any_lane(dot3(diagonal, diagonal) > m.flex_skin[f] * m.flex_skin[f])


@kernel
def list_neighbours(m, d, f):
    """Rebuild the list of a body.

    If two elements are within reach, the lower ends of their boxes are no farther apart along each axis than the widest
    box and the reach together: they are in the same cell or in adjacent cells of a grid that is as wide.
    """
    for v in range(m.flex_vertadr[f], m.flex_vertadr[f] + m.flex_vertnum[f]):
        d.flexvert_near[v] = d.flexvert_xpos[v]
    d.flexnear_made[f] = 1
    d.flexnear_num[f] = 0
    wide = SLACK * (2.0 * m.flex_radius[f] + m.flex_skin[f]) + MARGIN
    widest = element_boxes(m, d, f, wide)
    for i in range(lane_count(d.time)):
        scale = 1.0 / (lane_of(widest[0], i)), 1.0 / lane_of(widest[1], i), 1.0 / lane_of(widest[2], i)
        fill_grid(m, d, f, i, scale)
        compare_cells(m, d, f, i, wide)


@kernel
def element_boxes(m, d, f, wide):
    """Boxes of elements, with upper ends extended by `wide` (m); returns the largest widths [3]."""
    zero = 0.0 * d.time
    widest = zero + wide, zero + wide, zero + wide
    for e in range(m.flex_elemadr[f], m.flex_elemadr[f] + m.flex_elemnum[f]):
        if m.flexelem_active[e]:
            lower, upper = element_box(m, d, e, m.flex_dim[f])
            upper = upper[0] + wide, upper[1] + wide, upper[2] + wide
            d.flexelem_box[e] = (lower[0], lower[1], lower[2], upper[0], upper[1], upper[2])
            _, widest = around(widest, widest, sub3(upper, lower))
    return widest


# ---------------------------------------------------------------- the grid of one lane


@kernel
def fill_grid(m, d, f, i, scale):
    """Sort the active elements of a body by the hash buckets of their cells, 1/scale [3] (m) wide, in lane i."""
    # counting sort: elements in each bucket
    for b in range(m.nselfbucket + 1):
        d.flexgrid_start[b] = 0
    first, end = m.flex_elemadr[f], m.flex_elemadr[f] + m.flex_elemnum[f]
    for e in range(first, end):
        if m.flexelem_active[e]:
            cell = cell_of(d, e, i, scale)
            b = bucket_of(m, cell)
            d.flexelem_cell[e] = cell
            d.flexgrid_start[b] = d.flexgrid_start[b] + 1
    # prefix sums: end of each bucket
    total = 0
    for b in range(m.nselfbucket + 1):
        total = total + d.flexgrid_start[b]
        d.flexgrid_start[b] = total
    # fill buckets from their ends; last element first, so that elements ascend
    for k in range(end - first):
        e = end - 1 - k
        if m.flexelem_active[e]:
            b = bucket_of(m, d.flexelem_cell[e])
            place = d.flexgrid_start[b] - 1
            d.flexgrid_start[b] = place
            d.flexgrid_elem[place] = e


@kernel(inline=True)
def cell_of(d, e, i, scale):
    """Number of the cell that contains the lower end of an element's box."""
    x = cell_along(lane_of(d.flexelem_box[e, 0], i), scale[0])
    y = cell_along(lane_of(d.flexelem_box[e, 1], i), scale[1])
    z = cell_along(lane_of(d.flexelem_box[e, 2], i), scale[2])
    return (x << 2 * BITS) | (y << BITS) | z


@kernel(inline=True)
def cell_along(x, scale):
    """Cell number along an axis."""
    place = floor(clip(x * scale, -WORLD + 2.0, WORLD - 2.0))
    return int(where(place == place, place, 0.0 * scale)) + WORLD


@kernel(inline=True)
def bucket_of(m, cell):
    """Hash bucket of a cell: neighbours in space are near in memory, at prime strides along the axes."""
    x, y, z = cell >> 2 * BITS, (cell >> BITS) & (2 * WORLD - 1), cell & (2 * WORLD - 1)
    return (8191 * x + 127 * y + z) & (m.nselfbucket - 1)


@kernel
def compare_cells(m, d, f, i, wide):
    """List all pairs of elements at most `wide` (m) apart in the same or adjacent cells in lane i."""
    total = d.flexgrid_start[m.nselfbucket]
    begin = 0
    while begin < total:
        cell = d.flexelem_cell[d.flexgrid_elem[begin]]
        # elements of one cell
        end = begin + 1
        while end < total and d.flexelem_cell[d.flexgrid_elem[end]] == cell:
            end += 1
        # the cell and half of its neighbours, so that each pair of cells comes once
        for x in range(-1, 2):
            for y in range(-1, 2):
                for z in range(-1, 2):
                    step = (x << 2 * BITS) + (y << BITS) + z
                    if step >= 0:
                        compare_with(m, d, f, i, wide, begin, end, cell + step)
        begin = end


@kernel
def compare_with(m, d, f, i, wide, begin, end, cell):
    """List pairs of the elements of one cell, places `begin` to `end`, with those of another cell.

    Within their own cell, each is paired with those after it only.
    """
    b = bucket_of(m, cell)
    same = d.flexelem_cell[d.flexgrid_elem[begin]] == cell
    for p in range(d.flexgrid_start[b], d.flexgrid_start[b + 1]):
        other = d.flexgrid_elem[p]
        if d.flexelem_cell[other] == cell:
            box = d.flexelem_box[other]
            for q in range(begin, min(end, p) if same else end):
                e = d.flexgrid_elem[q]
                meet = boxes_meet(d.flexelem_box[e], box)
                if any_lane(meet) and not share_body(m, e, other) and first_to_see(d, meet, i):
                    list_pair(m, d, f, wide, e, other)


@kernel(inline=True)
def boxes_meet(a, b):
    """Whether, lane by lane, two boxes (lower and upper ends) overlap."""
    return (a[0] <= b[3]) & (b[0] <= a[3]) & (a[1] <= b[4]) & (b[1] <= a[4]) & (a[2] <= b[5]) & (b[2] <= a[5])


@kernel
def list_pair(m, d, f, wide, e1, e2):
    """Add two elements to the list if they are at most `wide` (m) apart in any lane."""
    number = d.flexnear_num[f]
    if number == FULL or not any_lane(elements_close(m, d, e1, e2, wide)):
        return
    if number == NEIGHBOURS * m.flex_elemnum[f] + NEIGHBOURS_AT_LEAST:
        d.flexnear_num[f] = FULL
    else:
        d.flexnear_elem[list_address(m, f) + number] = (e1, e2)
        d.flexnear_num[f] = number + 1
