"""Decisions whether bodies are near each other, by themselves in plain Python.

Such decisions spare searches, and a wrong one is seen only where bodies then fall through each other. Laws: distances
and projections of corners, by brute force in NumPy, at random poses. A decision must change exactly where a distance
passes the reach: it is asked a little before and a little beyond. Tolerance of numbers: rounding.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain
from helpers.selves.exact import Area
from helpers.stand_ins import floats, rotation
from scipy.optimize import nnls

from saltus.contact import bounding_spheres
from saltus.contact.broad import bounds
from saltus.contact.convex import bounding_boxes, last_axis, last_gap, refined_normal
from saltus.contact.convex.search import pair_area
from saltus.contact.event import gap_functions
from saltus.contact.flex import broad_phase, narrow_phase, self_collision
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, PLANE, SPHERE

CLOSE = 1e-9  # relative distance from a bound at which decisions are asked


def geoms(rng, kinds):
    """Model and data of random geoms of these types, with boxes about meshes, and radii."""
    n = len(kinds)
    m = SimpleNamespace(geom_type=list(kinds), geom_size=rng.uniform(0.1, 0.4, (n, 3)))
    m.geom_rbound = np.array([0.0 if kind == PLANE else rng.uniform(0.3, 0.6) for kind in kinds])
    m.geom_aabb = np.hstack([rng.uniform(-0.1, 0.1, (n, 3)), rng.uniform(0.1, 0.4, (n, 3))])
    d = SimpleNamespace(time=np.float64(0.0), geom_xpos=rng.normal(size=(n, 3)))
    d.geom_xmat = np.array([rotation(rng).ravel() for _ in range(n)])
    return m, d


def corners(m, d, g):
    """Corners (m) [8, 3] of the box about a geom in its own axes."""
    size, kind = m.geom_size[g], m.geom_type[g]
    middle, half = np.zeros(3), size
    if kind == MESH:
        middle, half = m.geom_aabb[g, :3], m.geom_aabb[g, 3:]
    elif kind == SPHERE:
        half = np.full(3, size[0])
    elif kind == CAPSULE:
        half = np.array([size[0], size[0], size[0] + size[1]])
    elif kind == CYLINDER:
        half = np.array([size[0], size[0], size[1]])
    signs = np.array([*itertools.product((-1, 1), repeat=3)])
    return d.geom_xpos[g] + (middle + signs * half) @ d.geom_xmat[g].reshape(3, 3).T


def between(one, two, axis):
    """Distance (m) of the projections of two sets of points on an axis, of any length."""
    return max((two @ axis).min() - (one @ axis).max(), (one @ axis).min() - (two @ axis).max())


# ---------------------------------------------------------------- spheres and boxes about geoms


@pytest.mark.parametrize("kinds", [(SPHERE, BOX), (PLANE, BOX)])
def test_spheres_about_geoms(kinds):
    rng = np.random.default_rng(0)
    for _ in range(6):
        m, d = geoms(rng, kinds)
        offset = d.geom_xpos[1] - d.geom_xpos[0]
        if kinds[0] == PLANE:
            apart = offset @ d.geom_xmat[0].reshape(3, 3)[:, 2] - m.geom_rbound[1]
        else:
            apart = np.linalg.norm(offset) - m.geom_rbound.sum()
        for change, near in ((-CLOSE, False), (CLOSE, True)):
            reach = np.float64(apart + change)
            assert plain(bounding_spheres.near)(m, d, 0, 1, reach) == near
            assert plain(bounding_spheres.may_touch)(m, d, 0, 1, reach) == near
        assert plain(gap_functions.bounding_distance)(m, d, 0, 1) == pytest.approx(apart, abs=1e-14)
        wanted = m.geom_rbound[1] if kinds[0] == PLANE else m.geom_rbound.min()
        assert plain(bounding_spheres.smaller_radius)(m, 0, 1) == wanted
        assert plain(bounding_spheres.smaller_radius)(m, 1, 0) == wanted
        for field in (d.geom_xmat, d.geom_xpos):
            kept = field[1, 0]
            field[1, 0] = np.nan  # a pose that is none touches nothing
            with np.errstate(invalid="ignore"):
                assert plain(bounding_spheres.may_touch)(m, d, 0, 1, np.float64(1e3)) == 0.0
            field[1, 0] = kept


KINDS = [(BOX, BOX), (MESH, BOX), (CAPSULE, MESH), (SPHERE, CYLINDER), (ELLIPSOID, MESH), (PLANE, MESH), (PLANE, BOX)]


@pytest.mark.parametrize("kinds", KINDS)
def test_boxes_about_geoms(kinds):
    """The bound of their distance is the widest gap along their axes, less rounding; products of edges decide, too."""
    rng, by_product = np.random.default_rng(1), 0
    for _ in range(12):
        m, d = geoms(rng, kinds)
        d.geom_xpos[1] = d.geom_xpos[0] + 0.9 * (d.geom_xpos[1] - d.geom_xpos[0])
        two, axes = corners(m, d, 1), [d.geom_xmat[g].reshape(3, 3).T for g in range(2)]
        if kinds[0] == PLANE:
            gap = ((two - d.geom_xpos[0]) @ axes[0][2]).min()
            limits = [gap]
        else:
            one = corners(m, d, 0)
            gap = max(between(one, two, axis) for own in axes for axis in own)
            products = [between(one, two, np.cross(a, b)) for a in axes[0] for b in axes[1]]
            limits = [gap, *([max(products)] if max(products) > 0.0 else [])]
        found = plain(bounding_boxes.near_and_gap)(m, d, 0, 1, np.float64(0.0))[1]
        assert gap - 1e-13 <= found <= gap
        bound = max(limits)
        by_product += bound > gap
        for change, near in ((-CLOSE, False), (CLOSE, True)):
            if change > 0.0 or bound > 0.0:
                assert plain(bounding_boxes.boxes_near)(m, d, 0, 1, np.float64(bound + change)) == near
    assert by_product > 0 or kinds[0] == PLANE or SPHERE in kinds


def test_widest_product_of_edges():
    rng = np.random.default_rng(2)
    for _ in range(8):
        rot, offset, size1, size2 = rotation(rng), 3.0 * rng.normal(size=3), *rng.uniform(0.1, 0.5, (2, 3))
        wanted = 0.0
        for i, j in itertools.product(range(3), repeat=2):
            axis = np.cross(np.eye(3)[i], rot[:, j])
            reach = np.abs(axis) @ size1 + np.abs(axis @ rot) @ size2
            wanted = max(wanted, abs(axis @ offset) - reach)
        given = (floats(x) for x in (rot, offset, size1, size2))
        assert plain(bounding_boxes.widest_product)(*given) == pytest.approx(wanted, abs=1e-14)


def test_bounds_along_the_axes_of_the_world():
    """A box about the origin with all corners of the geom's own, or its sphere's where that is smaller."""
    rng = np.random.default_rng(3)
    for _ in range(8):
        m, d = geoms(rng, (BOX, BOX))
        m.broad_box, d.broad_extent = m.geom_aabb, np.full((2, 3), np.nan)
        m.broad_reach = rng.uniform(0.0, 0.1, 2)
        signs = np.array([*itertools.product((-1, 1), repeat=3)])
        for g in range(2):
            plain(bounds.bound_geom)(m, d, g)
            local = m.broad_box[g, :3] + signs * m.broad_box[g, 3:]
            reach = np.abs(local @ d.geom_xmat[g].reshape(3, 3).T).max(axis=0)
            np.testing.assert_allclose(d.broad_extent[g], np.minimum(reach, m.geom_rbound[g]), rtol=1e-14)
        room = d.broad_extent.sum(axis=0) + m.broad_reach.sum()
        for k in range(3):
            for side, change in itertools.product((-1, 1), (-CLOSE, 0.0, CLOSE)):
                d.geom_xpos[0] = 0.0
                d.geom_xpos[1] = 0.5 * room
                d.geom_xpos[1, k] = side * (room[k] + change)
                if change:
                    assert plain(bounds.bounds_meet)(m, d, 0, 1) == (change < 0.0)
    m.broad_reach, d.broad_extent = np.array([0.25, 0.5]), np.array([[1.0, 2.0, 3.0], [0.5, 0.25, 0.125]])
    for k in range(3):  # just touching
        d.geom_xpos[:] = 0.0
        d.geom_xpos[1, k] = (d.broad_extent.sum(axis=0) + 0.75)[k]
        assert plain(bounds.bounds_meet)(m, d, 0, 1)


# ---------------------------------------------------------------- what is remembered of gaps


def test_a_remembered_gap_shrinks_with_all_that_moves():
    """By |ΔR| r + |Δt| and the changes of all sizes; known to be apart as long as more than the reach remains."""
    rng, decided = np.random.default_rng(4), set()
    for _ in range(20):
        m, d = geoms(rng, (BOX, MESH))
        slot, rot, shift = 1, rotation(rng), rng.normal(size=3)
        d.last_gap, d.last_pose = np.zeros(3), np.full((3, 18), np.nan)
        before, where = m.geom_size.copy(), 0.1 * rng.normal(size=(3, 3))
        gap, reach = rng.uniform(2.0, 3.0), rng.uniform(-0.1, 0.2)
        given = (floats(rot), floats(shift), np.float64(gap), np.float64(reach))
        plain(last_gap.keep_gap)(m, d, slot, 0, 1, *given)
        assert d.last_gap.tolist() == [0.0, gap, 0.0]
        np.testing.assert_array_equal(d.last_pose[slot], np.r_[rot.ravel(), shift, before.ravel()])
        m.geom_size = before + 0.1 * rng.normal(size=before.shape)
        moved = np.linalg.norm(where) * m.geom_rbound[1] + np.abs(m.geom_size - before).sum()
        step = 0.2 * rng.normal(size=3)
        moved += np.linalg.norm(step)
        for change, untold in ((-1e-9, 0.0), (1e-9, 1.0)):
            asked = np.float64(gap - moved + change)
            given = (floats(rot + where), floats(shift + step), asked)
            found = plain(last_gap.not_known_apart)(m, d, slot, 0, 1, *given)
            assert found == untold
            decided.add(float(found))
    assert decided == {0.0, 1.0}


@pytest.mark.parametrize(("gap", "reach", "kept"), [(0.3, 0.2, True), (0.2, 0.2, False), (0.1, -1.0, True)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gaps_are_kept_beyond_the_reach_alone(gap, reach, kept, sign):
    rng = np.random.default_rng(5)
    m, d = geoms(rng, (BOX, MESH))
    d.last_gap, d.last_pose = np.zeros(1), np.zeros((1, 18))
    numbers = floats(np.eye(3)), floats(np.ones(3)), np.float64(sign * gap), np.float64(reach)
    plain(last_gap.keep_gap)(m, d, 0, 0, 1, *numbers)
    assert d.last_gap[0] == (gap if kept and sign > 0.0 else 0.0)
    assert d.last_pose.any() == (kept and sign > 0.0)
    # nothing is known of bodies that were not apart
    d.last_gap[0] = 0.0
    assert plain(last_gap.not_known_apart)(m, d, 0, 0, 1, *numbers[:2], np.float64(-1.0)) == 1.0


def boxes_area(rng, size1, size2, rot, shift):
    """The memory of a search for two boxes."""
    area = Area([np.float64(np.nan)] * pair_area.PAIR_NUMBERS)
    for at, x in ((pair_area.ROT, rot), (pair_area.SHIFT, shift), (pair_area.SIZE1, size1), (pair_area.SIZE2, size2)):
        for k, number in enumerate(np.ravel(x)):
            area.put(at + k, np.float64(number))
    for at in (pair_area.KIND1, pair_area.KIND2):
        area.put(at, BOX)
    for at in (pair_area.HULL1, pair_area.HULL2, pair_area.LAST1, pair_area.LAST2):
        area.put(at, -1)
    return area


def test_a_remembered_direction_separates():
    """As far as the boxes' projections on it, less a margin relative to their size."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        rot, shift, radius = rotation(rng), 2.5 * rotation(rng)[0], rng.uniform(0.3, 2.0)
        size1, size2 = rng.uniform(0.1, 0.5, (2, 3))
        axis = -shift + 0.4 * rng.normal(size=3)  # from the second to the first
        d = SimpleNamespace(last_axis=np.array([[np.nan] * 3, axis]), last_vertex=np.full((2, 2), -1))
        gap = -(axis @ shift) / np.linalg.norm(axis)
        gap -= (np.abs(axis) @ size1 + np.abs(axis @ rot) @ size2) / np.linalg.norm(axis)
        assert gap > 0.1
        p = boxes_area(rng, size1, size2, rot, shift)
        margin = last_axis.ROOM * radius
        for change, apart in ((-1e-12, True), (1e-12, False)):
            enough = np.float64(gap - margin + change)
            assert plain(last_axis.still_apart)(None, d, p, 1, enough, np.float64(radius)) == apart
            if apart:
                assert p.get(pair_area.GAP) == pytest.approx(gap - margin, abs=1e-14)
        d.last_axis[1] = -axis  # overlapping along it
        assert not plain(last_axis.still_apart)(None, d, p, 1, np.float64(-5.0), np.float64(radius))
        d.last_axis[1] = 0.0  # nothing remembered
        assert not plain(last_axis.still_apart)(None, d, p, 1, np.float64(-5.0), np.float64(radius))
        # what the search finds is kept
        for k in range(3):
            p.put(pair_area.AXIS + k, np.float64(axis[k]))
        p.put(pair_area.LAST1, 5)
        p.put(pair_area.LAST2, 7)
        plain(last_axis.remember)(d, p, 0)
        assert d.last_axis[0].tolist() == axis.tolist() and d.last_vertex[0].tolist() == [5, 7]


def test_lengths_of_a_pair():
    rng = np.random.default_rng(7)
    size1, size2, shift = *rng.uniform(0.1, 0.5, (2, 3)), rng.normal(size=3)
    p = boxes_area(rng, size1, size2, rotation(rng), shift)
    assert plain(refined_normal.lengths)(p) == pytest.approx(np.abs(shift).sum() + size1.sum() + size2.sum(), rel=1e-15)


# ---------------------------------------------------------------- elements of deformable bodies


def elements(rng, counts, scale=0.3):
    """Elements with so many corners each, far from each other, and a body for each corner."""
    m = SimpleNamespace(flexelem_vert=np.full((len(counts), 4), -1))
    d = SimpleNamespace(time=np.float64(0.0), flexvert_xpos=rng.normal(size=(sum(counts), 3)) * scale)
    first = 0
    for e, count in enumerate(counts):
        m.flexelem_vert[e, :count] = range(first, first + count)
        d.flexvert_xpos[first : first + count] += 0.5 * rng.normal(size=3)
        first += count
    m.flexelem_body = m.flexelem_vert.copy()
    return m, d


def of(m, d, e):
    return d.flexvert_xpos[[v for v in m.flexelem_vert[e] if v >= 0]]


def hull_distance(one, two):
    """Distance (m) of the hulls of two sets of points, by non-negative least squares, and the point of each."""
    n, heavy = len(one), 1e4
    rows = np.hstack([one.T, -two.T])
    sums = heavy * np.array([[1.0] * n + [0.0] * len(two), [0.0] * n + [1.0] * len(two)])
    w, _ = nnls(np.vstack([rows, sums]), np.r_[0.0, 0.0, 0.0, heavy, heavy])
    a, b = w[:n] / w[:n].sum() @ one, w[n:] / w[n:].sum() @ two
    return np.linalg.norm(a - b), a, b


@pytest.mark.parametrize("counts", [*itertools.product((2, 3, 4), repeat=2)])
def test_elements_that_are_near(counts):
    rng, apart = np.random.default_rng(8), 0
    for _ in range(9):
        m, d = elements(rng, counts)
        distance, _, _ = hull_distance(of(m, d, 0), of(m, d, 1))
        middle = [of(m, d, e).mean(axis=0) for e in range(2)]
        np.testing.assert_allclose(plain(narrow_phase.middle)(m, d, 0), middle[0], atol=1e-15)
        if distance < 1e-3:
            assert plain(narrow_phase.elements_close)(m, d, 0, 1, np.float64(1e-9))
            continue
        apart += 1
        found, a, b = plain(narrow_phase.nearest_points)(m, d, 0, 1)
        assert found == pytest.approx(distance, abs=1e-9)
        assert np.linalg.norm(np.subtract(a, b)) == pytest.approx(found, abs=1e-14)
        for points, end in ((of(m, d, 0), a), (of(m, d, 1), b)):
            assert hull_distance(points, np.array([end]))[0] < 1e-8
        for share, close in ((1 - 1e-6, False), (1 + 1e-6, True)):
            assert plain(narrow_phase.elements_close)(m, d, 0, 1, np.float64(share * distance)) == close
    assert apart > 3


def test_support_points_of_elements_and_geoms():
    rng = np.random.default_rng(9)
    for kind, count in itertools.product((BOX, ELLIPSOID, CYLINDER, MESH), (2, 3, 4)):
        for _ in range(3):
            m, d = geoms(rng, (kind,))
            mm, dd = elements(rng, (count, count))
            along = rng.normal(size=3)
            local = along @ d.geom_xmat[0].reshape(3, 3)
            size = m.geom_size[0]
            reach = {
                BOX: np.abs(local) @ size,
                ELLIPSOID: np.linalg.norm(local * size),
                CYLINDER: size[0] * np.hypot(local[0], local[1]) + size[1] * abs(local[2]),
                MESH: m.geom_rbound[0] * np.linalg.norm(local),
            }[kind]
            found = plain(narrow_phase.lowest_of_geom)(m, d, 0, floats(along))
            assert (found - d.geom_xpos[0]) @ along == pytest.approx(-reach, rel=1e-13)
            # it is a point of the geom: no direction has it farther out
            x = np.abs((found - d.geom_xpos[0]) @ d.geom_xmat[0].reshape(3, 3))
            inside = {
                BOX: (x / size).max(),
                ELLIPSOID: np.linalg.norm(x / size),
                CYLINDER: max(np.hypot(x[0], x[1]) / size[0], x[2] / size[1]),
                MESH: np.linalg.norm(x) / m.geom_rbound[0],
            }[kind]
            assert inside <= 1.0 + 1e-14
            far = plain(narrow_phase.farthest_of_element)(mm, dd, 1, floats(along))
            assert far @ along == pytest.approx((of(mm, dd, 1) @ along).max(), abs=1e-14)
            way = plain(narrow_phase.least_way)(mm, dd, 0, 1, floats(along))
            wanted = (of(mm, dd, 1) @ along).min() - (of(mm, dd, 0) @ along).max()
            assert way @ along == pytest.approx(wanted, abs=1e-14)
            axis = plain(narrow_phase.lowest_of_geom)(m, d, 0, (0.0, 0.0, 0.0))
            assert np.isfinite(axis).all()


def ball_distance(m, d, e):
    """Distance (m) of an element from the sphere about geom 0."""
    return hull_distance(of(m, d, e), d.geom_xpos[:1])[0] - m.geom_rbound[0]


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("kind", [BOX, MESH])
def test_elements_near_geoms(kind, count):
    """Whatever is within the distance is found near, and what is a fifth farther is not."""
    rng, seen = np.random.default_rng(10), 0
    for _ in range(8):
        m, d = geoms(rng, (kind,))
        mm, dd = elements(rng, (count,))
        m.flexelem_vert, d.flexvert_xpos = mm.flexelem_vert, dd.flexvert_xpos + rng.normal(size=3)
        if kind == BOX:
            distance, _, _ = hull_distance(corners(m, d, 0), of(m, d, 0))
        else:
            distance = ball_distance(m, d, 0)
        if distance < 1e-2:
            assert plain(narrow_phase.element_close)(m, d, 0, 0, np.float64(1e-6))
            continue
        seen += 1
        assert plain(narrow_phase.element_close)(m, d, 0, 0, np.float64(1.0001 * distance))
        assert not plain(narrow_phase.element_close)(m, d, 0, 0, np.float64(distance / 1.2))
    assert seen > 4


def test_boxes_of_elements():
    rng = np.random.default_rng(11)
    m, d = elements(rng, (2, 3, 4))
    for e, dim in enumerate((1, 2, 3)):
        lower, upper = plain(broad_phase.element_box)(m, d, e, dim)
        np.testing.assert_array_equal(lower, of(m, d, e).min(axis=0))
        np.testing.assert_array_equal(upper, of(m, d, e).max(axis=0))
        w = rng.uniform(size=dim + 1)
        point = plain(broad_phase.element_point)(m, d, e, floats(np.r_[w, np.zeros(3 - dim)]))
        np.testing.assert_allclose(point, w @ of(m, d, e), atol=1e-15)
        for body in range(9):
            assert plain(broad_phase.shares_body)(m, e, body) == (body in m.flexelem_body[e])
    for first, second in itertools.product(range(3), repeat=2):
        assert plain(narrow_phase.share_body)(m, first, second) == (first == second)
    # pairs of elements with one common body, at each pair of corners; none is no body
    for i, j in itertools.product(range(4), repeat=2):
        m.flexelem_body = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
        m.flexelem_body[1, j] = i
        assert plain(narrow_phase.share_body)(m, 0, 1)
        m.flexelem_body[0, i] = m.flexelem_body[1, j] = -1
        assert not plain(narrow_phase.share_body)(m, 0, 1)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("k", range(3))
def test_boxes_along_the_axes_are_near_each_other(k, side):
    rng = np.random.default_rng(12)
    half, wide = rng.uniform(0.1, 0.5, (2, 3)), 0.05
    offset = 0.3 * half.sum(axis=0)
    for change, near in ((-CLOSE, True), (CLOSE, False)):
        offset[k] = side * (half[:, k].sum() + wide + change)
        one, two = (floats(-half[0]), floats(half[0])), (floats(offset - half[1]), floats(offset + half[1]))
        assert plain(narrow_phase.boxes_near)(*one, *two, np.float64(wide)) == near
        # a cube about a point, a hair wider
        bound = broad_phase.SLACK * wide + broad_phase.HAIR
        place = 0.5 * half[0]
        place[k] = side * (half[0, k] + bound + change)
        assert plain(broad_phase.box_near)(*one, floats(place), np.float64(wide)) == near
    # dyadic numbers that just touch
    one, two = (floats([0, 0, 0]), floats([1, 1, 1])), [np.zeros(3), np.ones(3)]
    for corner in two:
        corner[k] += side * 1.25
    assert plain(narrow_phase.boxes_near)(*one, *map(floats, two), np.float64(0.25))


def test_elements_that_meet_the_box_about_a_box():
    rng = np.random.default_rng(13)
    for _ in range(6):
        m, d = geoms(rng, (BOX,))
        lower = rng.normal(size=3)
        upper, thick, reach = lower + rng.uniform(0.1, 0.5, 3), 0.03, 0.05
        whole = np.abs(corners(m, d, 0) - d.geom_xpos[0]).max(axis=0)
        for k, side in itertools.product(range(3), (-1, 1)):
            for change, near in ((-CLOSE, True), (CLOSE, False)):
                middle = d.geom_xpos[0] + 0.4 * whole
                middle[k] = d.geom_xpos[0, k] + side * (whole[k] + (upper - lower)[k] / 2 + thick + reach + change)
                box = floats(middle - (upper - lower) / 2), floats(middle + (upper - lower) / 2)
                assert plain(broad_phase.meets_box)(m, d, *box, thick, 0, reach) == near


def test_vertices_that_have_moved():
    """By more than the skin, apart from a common translation, as the diagonal of the box of all displacements says."""
    rng = np.random.default_rng(14)
    for _ in range(6):
        m = SimpleNamespace(flex_vertadr=[2, 3], flex_vertnum=[1, 5], flex_skin=np.array([np.nan, 0.0]))
        d = SimpleNamespace(flexvert_near=rng.normal(size=(9, 3)), flexvert_xpos=np.full((9, 3), np.nan))
        d.flexvert_xpos[3:8] = d.flexvert_near[3:8] + rng.normal(size=3) + 0.01 * rng.normal(size=(5, 3))
        moves = (d.flexvert_xpos - d.flexvert_near)[3:8]
        diagonal = np.linalg.norm(np.ptp(moves, axis=0))
        for share, wanted in ((1 - 1e-9, True), (1 + 1e-9, False)):
            m.flex_skin[1] = share * diagonal
            assert plain(self_collision.moved)(m, d, 1) == wanted


def two_bodies(rng, at):
    """A row of 34 triangles, a metre apart, in two runs of elements, and three triangles of another body near number
    `at`: model, data with all boxes, and the distance of the nearest two.
    """
    counts = [3] * 37
    m, d = elements(rng, counts, 0.05)
    place = np.zeros((37, 3))
    place[:34, 0] = np.arange(34)
    place[34:] = [at + 0.3, 0.2, 0.1], [at + 0.5, 3.0, 0.0], [at, 0.0, 5.0]
    shape = 0.1 * rng.normal(size=(37, 3, 3))
    d.flexvert_xpos = (place[:, None] + shape).reshape(-1, 3)
    m.layout = SimpleNamespace(features=frozenset({"flexflex", "flexcontact"}))
    m.nflex, m.flex_vertadr, m.flex_vertnum, m.flex_dim = 2, [0, 102], [102, 9], [2, 2]
    m.flex_elemadr, m.flex_elemnum, m.flex_radius = [0, 34], [34, 3], np.array([0.01, 0.02])
    m.flexelem_active, m.collision_flex1, m.collision_flex2 = np.ones(37, int), [9, 0], [9, 1]
    m.flexelem_body = np.where(m.flexelem_vert >= 0, m.flexelem_vert + 1, -1)
    d.flex_lower, d.flex_upper, d.flex_boxed = np.full((2, 3), np.nan), np.full((2, 3), np.nan), [7, 7]
    d.flexrun_lower, d.flexrun_upper = np.full((5, 3), np.nan), np.full((5, 3), np.nan)
    plain(broad_phase.flex_boxes)(m, d)
    return m, d, hull_distance(of(m, d, at), of(m, d, 34))[0]


@pytest.mark.parametrize("at", [0, 31, 32, 33])
def test_deformable_bodies_that_are_near(at):
    rng = np.random.default_rng(at)
    m, d, distance = two_bodies(rng, at)
    points = [d.flexvert_xpos[:102], d.flexvert_xpos[102:]]
    np.testing.assert_array_equal(d.flex_lower, [x.min(axis=0) for x in points])
    np.testing.assert_array_equal(d.flex_upper, [x.max(axis=0) for x in points])
    assert d.flex_boxed == [0, 0] and distance > 0.02
    for share, near in ((1 - 1e-6, 0.0), (1 + 1e-6, 1.0)):
        reach = (share * distance - narrow_phase.MARGIN) / narrow_phase.SLACK - 0.03
        assert plain(narrow_phase.flexes_close)(m, d, 1, np.float64(reach)) == near
        # with a common corner they do not touch
        kept = m.flexelem_body[34, 1]
        m.flexelem_body[34, 1] = m.flexelem_body[at, 2]
        assert plain(narrow_phase.flexes_close)(m, d, 1, np.float64(reach)) == 0.0
        m.flexelem_body[34, 1] = kept
    assert d.flex_boxed == [1, 1]
    # boxes of runs, without elements that do not act
    m.flexelem_active[[3, 33, 35]] = 0
    for f, first, end, place in ((0, 0, 32, 0), (0, 32, 34, 1), (1, 34, 37, 2)):
        plain(broad_phase.run_boxes)(m, d, f)
        used = np.concatenate([of(m, d, e) for e in range(first, end) if m.flexelem_active[e]])
        np.testing.assert_array_equal(d.flexrun_lower[place], used.min(axis=0))
        np.testing.assert_array_equal(d.flexrun_upper[place], used.max(axis=0))


@pytest.mark.parametrize("at", [0, 33])
def test_geoms_near_deformable_bodies(at):
    rng = np.random.default_rng(20 + at)
    m, d, _ = two_bodies(rng, at)
    g, dd = geoms(rng, (BOX, PLANE))
    vars(m).update(vars(g) | {"collision_geom1": [9, 0, 1], "collision_flex2": [9, 0, 0], "geom_bodyid": [0, 0]})
    vars(d).update(geom_xpos=dd.geom_xpos, geom_xmat=dd.geom_xmat)
    m.geom_size[0] = 0.1
    m.geom_rbound[0] = 0.1 * 3**0.5
    d.geom_xpos[0] = [at + 0.1, 0.4, 0.3]
    distance = min(hull_distance(of(m, d, e), corners(m, d, 0))[0] for e in (at, max(at - 1, 0)))
    for share, near in ((1 / 1.2, 0.0), (1.0001, 1.0)):
        reach = (share * distance - narrow_phase.MARGIN) / narrow_phase.SLACK - 0.01
        assert plain(narrow_phase.geom_close)(m, d, 1, np.float64(reach)) == near
        m.geom_bodyid[0] = m.flexelem_body[at, 1]  # its own body
        assert plain(narrow_phase.geom_close)(m, d, 1, np.float64(reach)) == 0.0
        m.geom_bodyid[0] = 0
        m.flexelem_active[at] = 0
        d.flex_boxed[0] = 0
        assert plain(narrow_phase.geom_close)(m, d, 1, np.float64(reach)) == 0.0 or at == 0
        m.flexelem_active[at], d.flex_boxed[0] = 1, 0
    heights = (d.flexvert_xpos[:102] - d.geom_xpos[1]) @ d.geom_xmat[1].reshape(3, 3)[:, 2]
    for change, near in ((-CLOSE, 0.0), (CLOSE, 1.0)):
        reach = (heights.min() + change - narrow_phase.MARGIN) / narrow_phase.SLACK - 0.01
        assert plain(narrow_phase.geom_close)(m, d, 2, np.float64(reach)) == near
