"""Broad phase for deformable bodies: axis-aligned bounding boxes of bodies and runs of elements, in world axes.

Each deformable body has a box around all its vertices, and a box for each run of RUN elements, computed when a geom
first comes near the body. The tests that discard are slightly wider than the reach, so that pairs discarded are out of
reach for any rounding, and the contacts of a lane do not depend on its neighbours.
"""

from saltus.model.flex.contacts import RUN
from saltus.number.components import lane_count
from saltus.number.functions import absolute, any_lane, maximum, minimum
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, scale3, sub3

SLACK = 1.0 + 1e-5
HAIR = 1e-7  # m


@only_with("flexcontact")
@kernel
def flex_boxes(m, d):
    """flex_lower, flex_upper [nflex, 3] (m) around all vertices; marks the boxes of runs as out of date.

    Reads flexvert_xpos. To be called before `collide_flex`, whenever vertices have moved.
    """
    for f in range(m.nflex):
        first = m.flex_vertadr[f]
        lower = upper = d.flexvert_xpos[first]
        for v in range(first + 1, first + m.flex_vertnum[f]):
            lower, upper = around(lower, upper, d.flexvert_xpos[v])
        d.flex_lower[f], d.flex_upper[f] = lower, upper
        d.flex_boxed[f] = 0
    forget_foreign(m, d)


@only_with("flexforeign")
@kernel
def forget_foreign(m, d):
    """Mark the contacts found by MuJoCo as out of date in all lanes."""
    for i in range(lane_count(d.time)):
        d.flexforeign_count[i] = -1


@kernel(inline=True)
def around(lower, upper, point):
    """A box (lower, upper), extended to contain a point."""
    return (
        (minimum(lower[0], point[0]), minimum(lower[1], point[1]), minimum(lower[2], point[2])),
        (maximum(upper[0], point[0]), maximum(upper[1], point[1]), maximum(upper[2], point[2])),
    )


@kernel
def run_boxes(m, d, f):
    """flexrun_lower, flexrun_upper (m) around the active elements of a body, run by run."""
    d.flex_boxed[f] = 1
    end = m.flex_elemadr[f] + m.flex_elemnum[f]
    for k in range(run_count(m, f)):
        first = m.flex_elemadr[f] + RUN * k
        # start with the first element, active or not
        lower, upper = element_box(m, d, first, m.flex_dim[f])
        for e in range(first + 1, min(first + RUN, end)):
            if m.flexelem_active[e]:
                low, high = element_box(m, d, e, m.flex_dim[f])
                lower, _ = around(lower, upper, low)
                _, upper = around(lower, upper, high)
        place = run_address(m, f) + k
        d.flexrun_lower[place], d.flexrun_upper[place] = lower, upper


@kernel(inline=True)
def run_count(m, f):
    """Number of runs of elements of a body."""
    return (m.flex_elemnum[f] + RUN - 1) // RUN


@kernel(inline=True)
def run_address(m, f):
    """Address of the boxes of a body's runs (see `saltus.model.flex.contacts.runs`)."""
    return m.flex_elemadr[f] // RUN + f


@kernel(inline=True)
def element_box(m, d, e, dim):
    """Lower and upper ends (m) of an element's bounding box in world axes, without its radius."""
    corner = m.flexelem_vert[e]
    lower = upper = d.flexvert_xpos[corner[0]]
    lower, upper = around(lower, upper, d.flexvert_xpos[corner[1]])
    if dim > 1:
        lower, upper = around(lower, upper, d.flexvert_xpos[corner[2]])
    if dim > 2:
        lower, upper = around(lower, upper, d.flexvert_xpos[corner[3]])
    return lower, upper


@kernel(inline=True)
def element_point(m, d, e, weights):
    """The point (m) of an element with barycentric coordinates `weights` [4]."""
    corner = m.flexelem_vert[e]
    point = add_scaled3(scale3(weights[0], d.flexvert_xpos[corner[0]]), weights[1], d.flexvert_xpos[corner[1]])
    if corner[2] >= 0:
        point = add_scaled3(point, weights[2], d.flexvert_xpos[corner[2]])
    if corner[3] >= 0:
        point = add_scaled3(point, weights[3], d.flexvert_xpos[corner[3]])
    return point


@kernel(inline=True)
def box_near(lower, upper, centre, bound):
    """Whether, in any lane, a cube of half size `bound` (m) around a point overlaps a box."""
    wide = SLACK * bound + HAIR
    beyond = sub3(lower, centre)
    below = sub3(centre, upper)
    return any_lane(
        (beyond[0] <= wide)
        & (beyond[1] <= wide)
        & (beyond[2] <= wide)
        & (below[0] <= wide)
        & (below[1] <= wide)
        & (below[2] <= wide)
    )


@kernel(inline=True)
def shares_body(m, e, body):
    """Whether a corner of an element is carried by a body."""
    bodies = m.flexelem_body[e]
    return body == bodies[0] or body == bodies[1] or body == bodies[2] or body == bodies[3]


@kernel(inline=True)
def meets_box(m, d, lower, upper, thick, box, reach):
    """Lanes in which an element with this bounding box and radius `thick` (m) is within reach of the geom `box`.

    MuJoCo's choice, by bounding boxes in world axes at most `reach` (m) apart. It discards some elements beside a
    corner of the geom in two or three of its axes.
    """
    middle = scale3(0.5, add3(lower, upper))
    half = scale3(0.5, sub3(upper, lower))
    offset = sub3(middle, d.geom_xpos[box])
    mat, size = d.geom_xmat[box], m.geom_size[box]
    # distance of the geom's centre from the element's box along each world axis, against its own extent
    out = absolute(offset[0]) - half[0], absolute(offset[1]) - half[1], absolute(offset[2]) - half[2]
    wide = thick + reach
    return (
        (out[0] <= wide + size[0] * absolute(mat[0]) + size[1] * absolute(mat[1]) + size[2] * absolute(mat[2]))
        & (out[1] <= wide + size[0] * absolute(mat[3]) + size[1] * absolute(mat[4]) + size[2] * absolute(mat[5]))
        & (out[2] <= wide + size[0] * absolute(mat[6]) + size[1] * absolute(mat[7]) + size[2] * absolute(mat[8]))
    )
