"""Conservative distance tests between elements of deformable bodies and other objects, lane by lane, 1 or 0.

The tests decide whether MuJoCo's narrow phase is called. Objects that fail are farther apart than the reach by more
than MARGIN, so that MuJoCo would find no contact.
"""

from saltus.contact.flex.broad_phase import (
    RUN,
    box_near,
    element_box,
    element_point,
    run_address,
    run_boxes,
    run_count,
    shares_body,
)
from saltus.contact.flex.tetrahedron import FAR, nearer, nearer_edge
from saltus.contact.flex.triangle import nearest_on_triangle
from saltus.contact.rigid.plane import height_over_plane
from saltus.contact.rows.flex_contacts import element_weights
from saltus.model.enums import BOX, CYLINDER, ELLIPSOID, PLANE
from saltus.number.components import zero_like
from saltus.number.functions import any_lane, clip, maximum, minimum, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    dot3,
    length3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
    where3,
)

MARGIN = 1e-5  # m: ten times the tolerance of MuJoCo's iterations
SLACK = 1.0 + 1e-5
STEPS = 8  # steps of Gilbert's iteration for two elements, before their nearest points are computed
GEOM_STEPS = 20  # steps of Gilbert's iteration for a geom and an element, before they count as near


@kernel
def geom_close(m, d, c, reach):
    """Whether the geom of pair c is near the deformable body."""
    g, f = m.collision_geom1[c], m.collision_flex2[c]
    zero = 0.0 * d.time
    one = zero + 1.0
    near = zero
    wide = SLACK * (reach + m.flex_radius[f]) + MARGIN
    # plane: heights of the vertices
    if m.geom_type[g] == PLANE:
        for v in range(m.flex_vertadr[f], m.flex_vertadr[f] + m.flex_vertnum[f]):
            _, height = height_over_plane(d, g, d.flexvert_xpos[v])
            near = where(height <= wide, one, near)
        return near
    # broad phase: box of the whole body, then boxes of its runs
    bound = wide + m.geom_rbound[g]
    if not box_near(d.flex_lower[f], d.flex_upper[f], d.geom_xpos[g], bound):
        return near
    if not d.flex_boxed[f]:
        run_boxes(m, d, f)
    end = m.flex_elemadr[f] + m.flex_elemnum[f]
    for k in range(run_count(m, f)):
        place, first = run_address(m, f) + k, m.flex_elemadr[f] + RUN * k
        if box_near(d.flexrun_lower[place], d.flexrun_upper[place], d.geom_xpos[g], bound):
            # elements of the run: box first, then separating directions
            for e in range(first, min(first + RUN, end)):
                lower, upper = element_box(m, d, e, m.flex_dim[f])
                meets = m.flexelem_active[e] and box_near(lower, upper, d.geom_xpos[g], bound)
                if meets and not shares_body(m, e, m.geom_bodyid[g]):
                    near = where(element_close(m, d, g, e, wide), one, near)
                if not any_lane(near < 0.5):
                    return near
    return near


@kernel
def element_close(m, d, g, e, wide):
    """Whether geom g is within `wide` (m) of an element, unless a separating direction is found.

    Candidates are the geom's axes, the element's normal, and iterates as in `elements_close`, starting from the point
    of the element nearest to the geom's centre. Meshes, height fields and signed distance fields are replaced by their
    bounding spheres.
    """
    centre = d.geom_xpos[g]
    v = sub3(centre, element_point(m, d, e, element_weights(m, d, e, centre)))
    close = zero_like(v[0]) + 1.0
    # separating axes: axes of the geom, normal of the element
    for k in range(3):
        close = separated(m, d, g, e, v, (d.geom_xmat[g, k], d.geom_xmat[g, k + 3], d.geom_xmat[g, k + 6]), wide, close)
    if corners_of(m, e) > 2:
        first, second, third = face(m, d, e, 0)
        close = separated(m, d, g, e, v, cross(sub3(second, first), sub3(third, first)), wide, close)
    # Gilbert's iteration towards the nearest points
    for _ in range(GEOM_STEPS):
        if not any_lane(close > 0.5):
            return close > 0.5
        w = sub3(lowest_of_geom(m, d, g, v), farthest_of_element(m, d, e, v))
        v, close = step(v, w, wide, close)
    return close > 0.5


@kernel
def separated(m, d, g, e, v, along, wide, close):
    """`close`, set to 0 where the direction ±along, on the side of v, separates geom and element by over `wide`."""
    along = scale3(sign(dot3(along, v)), along)
    _, close = step(along, sub3(lowest_of_geom(m, d, g, along), farthest_of_element(m, d, e, along)), wide, close)
    return close


@kernel
def lowest_of_geom(m, d, g, along):
    """Support point (m) of a geom in the direction -along."""
    kind, size, mat = m.geom_type[g], m.geom_size[g], d.geom_xmat[g]
    # direction in the axes of the geom
    local = transpose_times_vector(mat, along)
    zero = zero_like(local[0])
    one = zero + 1.0
    # support point s(n): box S sign(n), ellipsoid S² n / |S n|, cylinder rim, otherwise bounding sphere
    if kind == BOX:
        x, y, z = size[0] * sign(local[0]), size[1] * sign(local[1]), size[2] * sign(local[2])
    elif kind == ELLIPSOID:
        scaled = size[0] * local[0], size[1] * local[1], size[2] * local[2]
        length = length3(scaled)
        share = 1.0 / where(length > 0.0, length, one)
        x, y, z = share * size[0] * scaled[0], share * size[1] * scaled[1], share * size[2] * scaled[2]
    elif kind == CYLINDER:
        length = length3((local[0], local[1], zero))
        share = size[0] / where(length > 0.0, length, one)
        x, y, z = share * local[0], share * local[1], size[1] * sign(local[2])
    else:
        length = length3(local)
        share = m.geom_rbound[g] / where(length > 0.0, length, one)
        x, y, z = share * local[0], share * local[1], share * local[2]
    # the shapes are symmetric about their centres: the support point along -n is -s(n)
    return sub3(d.geom_xpos[g], matrix_times_vector(mat, (x, y, z)))


@kernel(inline=True)
def sign(x):
    """1, or -1 for x < 0."""
    one = zero_like(x) + 1.0
    return where(x < 0.0, -one, one)


@kernel(inline=True)
def step(v, w, wide, close):
    """The next v, and `close`, set to 0 in lanes where v separates by more than `wide` (m) (see `elements_close`)."""
    zero = zero_like(v[0])
    gap = dot3(v, w)
    close = where((gap > 0.0) & (gap * gap > wide * wide * dot3(v, v)), zero, close)
    back = sub3(v, w)
    square = dot3(back, back)
    share = clip(dot3(v, back) / where(square > 0.0, square, zero + 1.0), zero, zero + 1.0)
    return add_scaled3(v, -share, back), close


# ---------------------------------------------------------------- elements with elements


@kernel
def elements_close(m, d, e1, e2, wide):
    """Whether, lane by lane, two elements are at most `wide` (m) apart, or intersect.

    Elements are apart if some direction separates them. With v a vector from a point of the first to one of the second,
    and w that from the support point of the first along v to that of the second along -v, the gap along v is
    v · w / |v|. The first v joins their middles; each next v is the point on the line from v to w nearest to the origin
    (Gilbert 1966, SIAM J. Control 4, 61). Undecided pairs are tested along the line between their two nearest points.
    """
    v = sub3(middle(m, d, e2), middle(m, d, e1))
    close = zero_like(v[0]) + 1.0
    # Gilbert's iteration towards the nearest points
    for _ in range(STEPS):
        v, close = step(v, least_way(m, d, e1, e2, v), wide, close)
        if not any_lane(close > 0.5):
            return close > 0.5
    # undecided: exact nearest points
    best = nearest_points(m, d, e1, e2)
    v = sub3(best[2], best[1])
    _, close = step(v, least_way(m, d, e1, e2, v), wide, close)
    return close > 0.5


@kernel(inline=True)
def corners_of(m, e):
    """Number of corners of an element."""
    return 2 if m.flexelem_vert[e, 2] < 0 else 3 if m.flexelem_vert[e, 3] < 0 else 4


@kernel(inline=True)
def corner_of(m, d, e, k):
    """Corner k of an element (m)."""
    return d.flexvert_xpos[m.flexelem_vert[e, k]]


@kernel
def middle(m, d, e):
    """Mean of an element's corners (m)."""
    count = corners_of(m, e)
    total = corner_of(m, d, e, 0)
    for k in range(1, count):
        total = add3(total, corner_of(m, d, e, k))
    return scale3(1.0 / count, total)


@kernel(inline=True)
def least_way(m, d, e1, e2, along):
    """Vector (m) from the support point of e1 along a direction to that of e2 in the opposite direction."""
    second = corner_of(m, d, e2, 0)
    low = dot3(along, second)
    for k in range(1, corners_of(m, e2)):
        corner = corner_of(m, d, e2, k)
        far = dot3(along, corner)
        second, low = where3(far < low, corner, second), minimum(far, low)
    return sub3(second, farthest_of_element(m, d, e1, along))


@kernel(inline=True)
def farthest_of_element(m, d, e, along):
    """Support point (m) of an element: its corner farthest along a vector."""
    first = corner_of(m, d, e, 0)
    high = dot3(along, first)
    for k in range(1, corners_of(m, e)):
        corner = corner_of(m, d, e, k)
        far = dot3(along, corner)
        first, high = where3(far > high, corner, first), maximum(far, high)
    return first


@kernel
def nearest_points(m, d, e1, e2):
    """(distance, point of e1, point of e2) of the nearest points, over pairs of edges and of corner and face."""
    n1, n2 = corners_of(m, e1), corners_of(m, e2)
    first, second = corner_of(m, d, e1, 0), corner_of(m, d, e2, 0)
    best = 0.0 * first[0] + FAR, first, second
    # edges against edges
    for i in range(n1):
        for j in range(i):
            for k in range(n2):
                for h in range(k):
                    start, end = corner_of(m, d, e1, j), corner_of(m, d, e1, i)
                    best = nearer_edge(best, start, end, corner_of(m, d, e2, h), corner_of(m, d, e2, k))
    # corners of e1 against faces of e2
    for i in range(n1):
        for k in range(faces_of(n2)):
            corner = corner_of(m, d, e1, i)
            best = nearer(best, corner, nearest_on_triangle(corner, face(m, d, e2, k)))
    # corners of e2 against faces of e1
    for i in range(n2):
        for k in range(faces_of(n1)):
            corner = corner_of(m, d, e2, i)
            best = nearer(best, nearest_on_triangle(corner, face(m, d, e1, k)), corner)
    return best


@kernel(inline=True)
def faces_of(corners):
    """Number of faces of an element with the given number of corners."""
    return 0 if corners == 2 else 1 if corners == 3 else 4


@kernel(inline=True)
def face(m, d, e, k):
    """The corners (m) of face k of an element: all but corner 3 - k."""
    return (
        corner_of(m, d, e, 1 if k == 3 else 0),
        corner_of(m, d, e, 2 if k >= 2 else 1),
        corner_of(m, d, e, 3 if k >= 1 else 2),
    )


@only_with("flexflex", otherwise="0.0 * d.time")
@kernel
def flexes_close(m, d, c, reach):
    """Whether, lane by lane, the two deformable bodies of pair c are near each other: 1, else 0."""
    first, second = m.collision_flex1[c], m.collision_flex2[c]
    near = 0.0 * d.time
    wide = SLACK * (reach + m.flex_radius[first] + m.flex_radius[second]) + MARGIN
    # broad phase: boxes of the bodies, then of their runs
    if not boxes_near(d.flex_lower[first], d.flex_upper[first], d.flex_lower[second], d.flex_upper[second], wide):
        return near
    if not d.flex_boxed[first]:
        run_boxes(m, d, first)
    if not d.flex_boxed[second]:
        run_boxes(m, d, second)
    for k1 in range(run_count(m, first)):
        p1 = run_address(m, first) + k1
        for k2 in range(run_count(m, second)):
            p2 = run_address(m, second) + k2
            lower1, upper1 = d.flexrun_lower[p1], d.flexrun_upper[p1]
            if boxes_near(lower1, upper1, d.flexrun_lower[p2], d.flexrun_upper[p2], wide):
                near = runs_close(m, d, c, k1, k2, wide, near)
                if not any_lane(near < 0.5):
                    return near
    return near


@kernel
def runs_close(m, d, c, k1, k2, wide, near):
    """`near`, set to 1 in lanes where elements of two runs are at most `wide` (m) apart."""
    first, second = m.collision_flex1[c], m.collision_flex2[c]
    begin1, begin2 = m.flex_elemadr[first] + RUN * k1, m.flex_elemadr[second] + RUN * k2
    end1 = min(begin1 + RUN, m.flex_elemadr[first] + m.flex_elemnum[first])
    end2 = min(begin2 + RUN, m.flex_elemadr[second] + m.flex_elemnum[second])
    one = 0.0 * d.time + 1.0
    for e1 in range(begin1, end1):
        lower, upper = element_box(m, d, e1, m.flex_dim[first])
        for e2 in range(begin2, end2):
            lower2, upper2 = element_box(m, d, e2, m.flex_dim[second])
            if boxes_near(lower, upper, lower2, upper2, wide) and not share_body(m, e1, e2):
                near = where(elements_close(m, d, e1, e2, wide), one, near)
                if not any_lane(near < 0.5):
                    return near
    return near


@kernel(inline=True)
def boxes_near(lower1, upper1, lower2, upper2, wide):
    """Whether, in any lane, two axis-aligned boxes are at most `wide` (m) apart."""
    over, under = sub3(lower2, upper1), sub3(lower1, upper2)
    return any_lane(
        (over[0] <= wide)
        & (over[1] <= wide)
        & (over[2] <= wide)
        & (under[0] <= wide)
        & (under[1] <= wide)
        & (under[2] <= wide)
    )


@kernel(inline=True)
def share_body(m, e1, e2):
    """Whether two elements have corners on the same body."""
    first, second = m.flexelem_body[e1], m.flexelem_body[e2]
    same = is_among(first[0], second) | is_among(first[1], second)
    return same | is_among(first[2], second) | is_among(first[3], second)


@kernel(inline=True)
def is_among(body, bodies):
    """Whether a body is one of four; -1 (none) never is."""
    same = (body == bodies[0]) | (body == bodies[1]) | (body == bodies[2]) | (body == bodies[3])
    return same & (body >= 0)
