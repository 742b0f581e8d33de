"""Searches where one region ends and another begins, on a lattice of points, in plain Python.

There a wrong comparison chooses a wrong formula. Points are those of small whole numbers, which lie on such ends often
and exactly. Laws: brute force over all corners, edges, faces and cells.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.colliding import GEOMS, model_of
from helpers.plain_python import fields, plain
from helpers.selves.exact import Area
from helpers.stand_ins import floats

from saltus.contact import barycentric
from saltus.contact.convex.search import hull, simplex, support
from saltus.contact.flex import self_collision, tetrahedron, triangle
from saltus.model.contact.hulls import CELLS
from saltus.model.enums import BOX, CAPSULE, CYLINDER
from saltus.model.flex.mujoco_contacts import NEIGHBOURS, NEIGHBOURS_AT_LEAST


def nearest(points, to):
    """The point of a simplex nearest to a place: the best projection on a corner, edge, ... that lies inside."""
    best, least = None, np.inf
    for count in range(1, len(points) + 1):
        for chosen in itertools.combinations(range(len(points)), count):
            x = points[[*chosen]]
            edges = (x[1:] - x[0]).T
            if np.linalg.matrix_rank(edges) < count - 1:
                continue
            t = np.linalg.lstsq(edges, to - x[0], rcond=None)[0] if count > 1 else np.zeros(0)
            w = np.r_[1.0 - t.sum(), t]
            if w.min() >= -1e-12 and np.linalg.norm(w @ x - to) < least - 1e-13:
                best, least = w @ x, np.linalg.norm(w @ x - to)
    return best


TRIANGLES = [
    [[0, 0, 0], [2, 0, 0], [0, 2, 0]],
    [[0, 0, 0], [0, 2, 0], [2, 0, 0]],
    [[0, 2, 0], [0, 0, 0], [2, 0, 0]],
    [[-1, 0, 0], [3, 0, 0], [0, 1, 0]],
    [[3, 0, 0], [0, 1, 0], [-1, 0, 0]],
    [[0, 1, 0], [-1, 0, 0], [3, 0, 0]],
    [[0, 0, 0], [2, 0, 2], [2, 2, 0]],
    [[0, 0, 0], [2, 0, 0], [1, 0, 0]],
    [[1, 1, 0], [1, 1, 0], [0, 1, 0]],
]
PLACES = np.array([*itertools.product((-1, 0, 1, 2, 3), (-1, 0, 1, 2, 3), (0, 1))], float)
TETRAHEDRA = [
    [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]],
    [[0, 0, 0], [0, 2, 0], [2, 0, 0], [0, 0, 2]],
    [[0, 0, 2], [2, 0, 0], [-1, 2, 0], [-1, -2, 0]],
    [[0, 0, 0], [2, 0, 0], [0, 2, 0], [2, 2, 0]],
]


@pytest.mark.parametrize("number", range(len(TRIANGLES)))
def test_points_of_triangles(number):
    corners = np.array(TRIANGLES[number], float)
    for p in PLACES:
        wanted = nearest(corners, p)
        for kernel in (barycentric.triangle_weights, barycentric.edge_weights):
            w = plain(kernel)(floats(p), *(floats(x) for x in corners))
            assert min(w) >= -1e-15 and sum(w) == pytest.approx(1.0, abs=1e-15)
            target = wanted
            if kernel is barycentric.edge_weights:
                sides = [nearest(corners[[*e]], p) for e in ((0, 1), (1, 2), (2, 0))]
                target = min(sides, key=lambda x, p=p: np.linalg.norm(x - p))
                assert np.linalg.norm(w @ corners - p) == pytest.approx(np.linalg.norm(target - p), abs=1e-14)
            else:
                np.testing.assert_allclose(w @ corners, target, atol=1e-14)
        np.testing.assert_allclose(
            plain(triangle.nearest_on_triangle)(floats(p), tuple(floats(x) for x in corners)), wanted, atol=1e-14
        )
        if number < 7:
            w = plain(simplex.weights_of_triangle)(*(floats(x - p) for x in corners))
            np.testing.assert_allclose(w @ corners, wanted, atol=1e-14)
        w = plain(barycentric.segment_weights)(floats(p), *(floats(x) for x in corners[:2]))
        np.testing.assert_allclose(w @ corners[:2], nearest(corners[:2], p), atol=1e-14)
        if number < 8:
            w = plain(simplex.weights_of_segment)(*(floats(x - p) for x in corners[:2]))
            np.testing.assert_allclose(w @ corners[:2], nearest(corners[:2], p), atol=1e-14)


@pytest.mark.parametrize("number", range(len(TETRAHEDRA)))
def test_points_of_tetrahedra(number):
    corners = np.array(TETRAHEDRA[number], float)
    volume = np.linalg.det(corners[1:] - corners[0])
    for p in PLACES[::3]:
        wanted = nearest(corners, p)
        w = plain(barycentric.tetrahedron_weights)(floats(p), *(floats(x) for x in corners))
        assert sum(w) == pytest.approx(1.0, abs=1e-14) and min(w) >= -1e-15
        np.testing.assert_allclose(np.linalg.norm(w @ corners - p), np.linalg.norm(wanted - p), atol=1e-14)
        inside = volume != 0.0 and np.linalg.norm(wanted - p) < 1e-13
        assert plain(tetrahedron.inside)(floats(p), tuple(floats(x) for x in corners)) == inside
        if volume:
            w, within = plain(simplex.weights_of_tetrahedron)(*(floats(x - p) for x in corners))
            assert inside or not within
            if not within:
                np.testing.assert_allclose(w @ corners, wanted, atol=1e-13)


def test_nearest_points_of_segments():
    """All ends, crossings and parallels of segments between whole numbers: as near as brute force has it."""
    ends = np.array([*itertools.product((-1, 0, 2), (0, 1), (0, 1))], float)
    pairs = [(a, b) for a, b in itertools.permutations(ends, 2)][::7]
    grid = np.linspace(0, 1, 13)
    for (a, b), (c, e) in itertools.product(pairs[:9], pairs[4::2]):
        far = np.float64(1e30), floats(a), floats(a)
        found, one, two = plain(tetrahedron.nearer_edge)(far, *(floats(x) for x in (a, b, c, e)))
        lines = a + np.outer(grid, b - a), c + np.outer(grid, e - c)
        assert found <= np.linalg.norm(lines[0][:, None] - lines[1][None], axis=-1).min() + 1e-14
        assert found == pytest.approx(np.linalg.norm(np.subtract(one, two)), abs=1e-15)
        for x, (start, end) in ((one, (a, b)), (two, (c, e))):
            np.testing.assert_allclose(nearest(np.array([start, end]), np.array(x)), x, atol=1e-14)
        # by no more than rounding nearer is not nearer
        same = plain(tetrahedron.nearer)((found, floats(a), floats(b)), one, two)
        assert same[1] == floats(a) and same[0] == found


def test_support_points_of_ties():
    """Sides of zero count as positive; of a prism the first of equally high corners."""
    size = floats([0.3, 0.2, 0.1])
    for u in itertools.product((-1.0, 0.0, 1.0), repeat=3):
        signs = [1.0 if x >= 0.0 else -1.0 for x in u]
        x, y, z, number = plain(support.support)(None, BOX, -1, size, floats(u), -1)
        assert (x, y, z) == tuple(s * half for s, half in zip(signs, size, strict=True))
        assert number == sum(2**i for i in range(3) if signs[i] > 0)
        if any(u):
            found = plain(support.support)(None, CAPSULE, -1, size, floats(u), -1)
            assert found == (0.0, 0.0, signs[2] * 0.2, 1 if signs[2] > 0 else 0)
            x, y, z, number = plain(support.support)(None, CYLINDER, -1, size, floats(u), -1)
            assert z == signs[2] * 0.2 and number == -1
            reach = 0.3 if u[0] or u[1] else 0.0
            assert np.hypot(x, y) == pytest.approx(reach) and x * u[0] + y * u[1] == pytest.approx(
                reach * np.hypot(*u[:2])
            )
    prism = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]], float)
    for u in itertools.product((-1.0, 0.0, 1.0), repeat=3):
        *x, number = plain(support.of_prism)(Area([*floats(prism)]), floats(u))
        assert number == np.argmax(prism @ u) and [*x] == [*prism[number]]


def test_where_climbs_on_hulls_begin():
    """At the vertex that is highest in the middle direction of the cell of a cube that u points to."""
    model = model_of(GEOMS["dice"], GEOMS["cloud"])
    m, rng, seen = fields(model.struct()), np.random.default_rng(0), set()
    for h in (m.geom_hull[g] for g in range(2)):
        first, last = m.hull_vertadr[h], m.hull_vertadr[h + 1]
        points = np.array([m.hull_vert[k] for k in range(first, last)])
        for axis, sign in itertools.product(range(3), (1, -1)):
            cells = [(0, 0), (CELLS - 1, CELLS - 1), (0, CELLS - 1), *rng.integers(0, CELLS, (9, 2))]
            for i, j in cells:
                middle = np.zeros(3)
                middle[axis] = sign
                middle[(axis + 1) % 3], middle[(axis + 2) % 3] = (2 * np.array([i, j]) + 1) / CELLS - 1
                wanted = first + np.argmax(points @ middle)
                u = middle.copy()
                for k in (1, 2):  # anywhere in the cell
                    u[(axis + k) % 3] += rng.uniform(-0.999, 0.999) / CELLS
                found = plain(hull.seed)(m, h, floats(rng.uniform(0.1, 9.0) * u))
                heights = points @ middle
                assert heights[found - first] == pytest.approx(heights[wanted - first], abs=1e-7)
                seen.add(int(found))
            u = np.zeros(3)  # edges and corners of the cube belong to some cell
            for u[(axis + 1) % 3], u[(axis + 2) % 3] in itertools.product((-1.0, 1.0), repeat=2):
                u[axis] = sign
                found = plain(hull.seed)(m, h, floats(u))
                assert first <= found < last and (points @ u)[found - first] > 0.9 * (points @ u).max()
        for u in rng.normal(size=(12, 3)):
            wanted = first + np.argmax(points @ u)
            for start in (-1, first, wanted, last - 1):
                assert plain(hull.highest)(m, h, floats(u), start) == wanted
                assert plain(hull.along)(m, wanted, floats(u)) == pytest.approx((points @ u).max(), abs=1e-15)
    assert len(seen) > 20


# ---------------------------------------------------------------- neighbours in deformable bodies


def crowd(rng, count, features=("flexself",)):
    """Segments of a body, most of them near others, and the memory of its list."""
    m = SimpleNamespace(layout=SimpleNamespace(features=frozenset(features)))
    m.flex_elemadr, m.flex_elemnum = [0, 2], [2, count]
    m.flexelem_vert = np.array([[2 * e, 2 * e + 1, -1, -1] for e in range(2 + count)])
    m.flexelem_active, m.flex_dim, m.nselfbucket = np.ones(2 + count, int), [1, 1], 16
    m.flexelem_body = np.where(m.flexelem_vert >= 0, m.flexelem_vert + 1, -1)
    m.flex_radius, m.flex_skin = np.array([0.5, 0.05]), np.array([9.0, 0.1])
    m.flex_vertadr, m.flex_vertnum = [0, 4], [4, 2 * count]
    start = rng.uniform(-0.35, 0.35, (2 + count, 3))
    d = SimpleNamespace(time=np.float64(0.0), flexvert_near=np.full((4 + 2 * count, 3), np.nan))
    ends = np.stack([start, start + 0.15 * rng.normal(size=start.shape)], axis=1)
    d.flexvert_xpos = ends.reshape(-1, 3)
    d.flexnear_made, d.flexnear_num = [5, 0], [7, 7]
    d.flexnear_elem = np.full((NEIGHBOURS * (2 + count) + 2 * NEIGHBOURS_AT_LEAST, 2), -1)
    d.flexelem_box, d.flexelem_cell = np.full((2 + count, 6), np.nan), np.full(2 + count, -1)
    d.flexgrid_start, d.flexgrid_elem = np.full(17, -1), np.full(2 + count, -1)
    return m, d


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_in_a_crowd(seed):
    """All pairs without a common body and within reach and skin, once each; what does not act is in none."""
    rng = np.random.default_rng(seed)
    m, d = crowd(rng, 12)
    m.flexelem_active[5] = 0
    m.flexelem_body[7, 0] = m.flexelem_body[8, 1]
    plain(self_collision.list_neighbours)(m, d, 1)
    wide = self_collision.SLACK * (2 * 0.05 + 0.1) + self_collision.MARGIN
    wanted = set()
    for e, o in itertools.combinations(range(2, 14), 2):
        far = np.float64(1e30), (0.0,) * 3, (0.0,) * 3
        ends = [floats(d.flexvert_xpos[m.flexelem_vert[k, i]]) for k in (e, o) for i in range(2)]
        if plain(tetrahedron.nearer_edge)(far, *ends)[0] <= wide and 5 not in (e, o) and (e, o) != (7, 8):
            wanted.add((e, o))
    number = d.flexnear_num[1]
    place = plain(self_collision.list_address)(m, 1)
    found = [tuple(sorted(map(int, pair))) for pair in d.flexnear_elem[place : place + number]]
    assert len(found) == number and {*found} == wanted and len(wanted) > 2
    assert (np.delete(d.flexnear_elem, range(place, place + number), axis=0) == -1).all()
    assert d.flexnear_made == [5, 1] and d.flexnear_num[0] == 7
    np.testing.assert_array_equal(d.flexvert_near[4:], d.flexvert_xpos[4:])
    assert np.isnan(d.flexvert_near[:4]).all()
    # the list serves until vertices have moved; a full one counts as touching
    touching = any(
        plain(tetrahedron.nearer_edge)(
            (np.float64(1e30), (0.0,) * 3, (0.0,) * 3),
            *[floats(d.flexvert_xpos[m.flexelem_vert[k, i]]) for k in pair for i in range(2)],
        )[0]
        <= self_collision.SLACK * 0.1 + self_collision.MARGIN
        for pair in wanted
    )
    assert plain(self_collision.folds_close)(m, d, 1) == touching
    d.flexnear_num[1] = self_collision.FULL
    assert plain(self_collision.folds_close)(m, d, 1) == 1.0
    d.flexnear_num[1] = 0  # nothing listed, nothing touches, until something moves
    assert plain(self_collision.folds_close)(m, d, 1) == 0.0
    d.flexvert_xpos[4] += 0.11
    d.flexvert_xpos[4] -= 0.0
    plain(self_collision.folds_close)(m, d, 1)
    assert d.flexnear_num[1] > 0


@pytest.mark.parametrize("share", [1 - 1e-7, 1 + 1e-7])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("axis", range(3))
def test_neighbours_at_the_end_of_the_skin(share, side, axis):
    """In the next cell, on either side along each axis."""
    m, d = crowd(np.random.default_rng(2), 2)
    wide = self_collision.SLACK * (2 * 0.05 + 0.1) + self_collision.MARGIN
    ends = np.zeros((2, 2, 3))
    ends[:, 1, (axis + 1) % 3] = 0.05
    ends[1, :, axis] = side * share * wide
    d.flexvert_xpos[4:] = ends.reshape(-1, 3) + [0.13, 0.29, 0.31]
    plain(self_collision.list_neighbours)(m, d, 1)
    assert d.flexnear_num[1] == (share < 1.0)


def test_a_list_of_neighbours_that_is_full():
    rng = np.random.default_rng(9)
    m, d = crowd(rng, 3)
    m.flex_elemnum = [2, 0]
    d.flexnear_num[1] = NEIGHBOURS_AT_LEAST - 1
    for full in (False, True, True):
        plain(self_collision.list_pair)(m, d, 1, np.float64(9.0), 2, 3)
        assert (d.flexnear_num[1] == self_collision.FULL) == full
    place = plain(self_collision.list_address)(m, 1) + NEIGHBOURS_AT_LEAST - 1
    assert d.flexnear_elem[place].tolist() == [2, 3]
    assert (d.flexnear_elem[place + 1 :] == -1).all()


def test_boxes_that_just_meet():
    one = floats([0, 0, 0, 1, 1, 1])
    for k, way in itertools.product(range(3), (1, -1)):
        for change, meet in ((0.0, True), (2.0**-40, False)):
            other = np.array([0.25, 0.25, 0.25, 0.75, 0.75, 0.75])
            other[[k, k + 3]] = [1 + change, 2] if way > 0 else [-1, -change]
            assert plain(self_collision.boxes_meet)(one, floats(other)) == meet
            assert plain(self_collision.boxes_meet)(floats(other), one) == meet


def test_cells_of_the_grid_of_a_body():
    """Floors of coordinates, each in bits of its own; the last ones beyond the grid."""
    bits, world = self_collision.BITS, self_collision.WORLD
    rng, scale = np.random.default_rng(1), floats([2.0, 3.0, 5.0])
    for x in [*rng.normal(size=(10, 3)), *rng.integers(-3, 4, (10, 3)) / np.array([2.0, 3.0, 5.0])]:
        d = SimpleNamespace(flexelem_box=np.r_[x, x][None])
        a, b, c = (int(np.floor(u * s)) + world for u, s in zip(x, scale, strict=True))
        cell = plain(self_collision.cell_of)(d, 0, 0, scale)
        assert cell == (a << 2 * bits) | (b << bits) | c
        m = SimpleNamespace(nselfbucket=64)
        assert plain(self_collision.bucket_of)(m, cell) == (8191 * a + 127 * b + c) % 64
    for x in (1e30, -1e30):
        assert plain(self_collision.cell_along)(np.float64(x), np.float64(1.0)) == world + np.sign(x) * (world - 2)
