"""The surface of height fields in plain Python, against one made of triangles in NumPy.

Laws: each triangle is three points of the grid; what is across an edge is the other triangle with the same two points;
weights of corners are barycentric coordinates seen from above; surfaces are convex where second differences are
negative; a normal leaves an edge or a corner where it points away from all that is there. Tolerance: rounding.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain
from helpers.selves.exact import Area
from helpers.stand_ins import floats

from saltus.contact.convex import field_contacts, field_surface
from saltus.contact.convex.field_surface import ALONG_X, ALONG_Y, BORDER, DIAGONAL, FLAT, ON
from saltus.contact.event import field_points
from saltus.model.contact.pair_table import MOST_OF_PAIR

ROWS, COLUMNS, FIELD = 4, 5, 1
EDGES = DIAGONAL, ALONG_Y, ALONG_X


class Surface:
    """A random height field, the second of two, as kernels see it, and its points [row, column, 3] (m)."""

    def __init__(self, seed, data=None):
        rng = np.random.default_rng(seed)
        self.m = SimpleNamespace(
            hfield_nrow=[3, ROWS],
            hfield_ncol=[3, COLUMNS],
            hfield_adr=[0, 9],
            hfield_size=np.array([[9.0, 8.0, 7.0, 6.0], [0.8, 0.7, 0.4, 0.1]]),
            hfield_data=np.r_[np.full(9, np.nan), rng.uniform(size=ROWS * COLUMNS)],
        )
        if data is not None:
            self.m.hfield_data[9:] = np.ravel(data)
        x, y = np.linspace(-0.8, 0.8, COLUMNS), np.linspace(-0.7, 0.7, ROWS)
        z = 0.4 * self.m.hfield_data[9:].reshape(ROWS, COLUMNS)
        self.points = np.stack([*np.meshgrid(x, y), z], axis=-1)

    def triangles(self):
        return itertools.product(range(ROWS - 1), range(COLUMNS - 1), range(2))

    def corners(self, r, j, half):
        """Places of a triangle's corners: those opposite to its edges: the diagonal, along y, along x."""
        if half == 0:  # at larger y
            return (r + 1, j), (r + 1, j + 1), (r, j)
        return (r, j + 1), (r, j), (r + 1, j + 1)

    def across(self, r, j, half, k):
        """The other triangle with the two corners of edge k, or None."""
        edge = {*self.corners(r, j, half)} - {self.corners(r, j, half)[k]}
        found = [t for t in self.triangles() if t != (r, j, half) and edge <= {*self.corners(*t)}]
        return found[0] if found else None

    def normal(self, r, j, half):
        a, b, c = (self.points[p] for p in self.corners(r, j, half))
        n = np.cross(b - a, c - a)
        return n / np.linalg.norm(n) * np.sign(n[2])

    def weights(self, r, j, half, x):
        """Barycentric coordinates of a place, seen from above."""
        flat = np.array([self.points[p][:2] for p in self.corners(r, j, half)])
        return np.linalg.solve(np.vstack([flat.T, np.ones(3)]), [x[0], x[1], 1.0])

    def bends(self, r, j, half, k):
        """Sines by which the corner across edge k rises over this triangle, seen from both ends of the edge."""
        other = self.across(r, j, half, k)
        if other is None:
            return None
        edge = {*self.corners(r, j, half)} - {self.corners(r, j, half)[k]}
        (far,) = {*self.corners(*other)} - edge
        ways = [self.points[far] - self.points[end] for end in edge]
        return [self.normal(r, j, half) @ way / np.linalg.norm(way) for way in ways]

    def about(self, r, c):
        """Neighbours of a corner along edges of triangles, None beyond the border."""
        ways = (0, 1), (1, 0), (1, 1), (0, -1), (-1, 0), (-1, -1)
        places = [(r + a, c + b) for a, b in ways]
        return [p if 0 <= p[0] < ROWS and 0 <= p[1] < COLUMNS else None for p in places]

    def is_peak(self, r, c):
        about = self.about(r, c)
        if None in about:
            return True
        z = self.points[..., 2]
        return any(z[about[k]] + z[about[k + 3]] < 2 * z[r, c] - 1e-6 for k in range(3))

    def leaves_edge(self, r, j, half, k, normal):
        bends = self.bends(r, j, half, k)
        if bends is not None and bends[0] > -FLAT:
            return False
        edge = sorted({*self.corners(r, j, half)} - {self.corners(r, j, half)[k]})
        start, along = self.points[edge[0]], self.points[edge[1]] - self.points[edge[0]]
        for t in [(r, j, half), self.across(r, j, half, k)]:
            if t is None:
                return normal[2] >= 0.0
            (far,) = {*self.corners(*t)} - {*edge}
            way = self.points[far] - start
            side = way - way @ along / (along @ along) * along
            if normal @ side > 1e-9 * np.linalg.norm(side):
                return False
        return True

    def leaves_corner(self, r, c, normal):
        about = self.about(r, c)
        ways = [self.points[p] - self.points[r, c] for p in about if p]
        rises = [normal @ way / np.linalg.norm(way) for way in ways]
        return max(rises) <= 1e-9 and min(rises) < -FLAT and (None not in about or normal[2] >= 0.0)


@pytest.fixture(params=range(2))
def surface(request):
    return Surface(request.param)


def run(kernel, surface, *given):
    return plain(kernel)(surface.m, FIELD, *given)


def test_points_and_triangles(surface):
    for r, c in itertools.product(range(ROWS), range(COLUMNS)):
        np.testing.assert_allclose(run(field_surface.grid_point, surface, r, c), surface.points[r, c], atol=1e-15)
        assert run(field_contacts.height, surface, r, c) == pytest.approx(surface.points[r, c, 2], rel=1e-15)
    for t in surface.triangles():
        np.testing.assert_allclose(run(field_surface.triangle_normal, surface, *t), surface.normal(*t), atol=1e-14)
        tops = [surface.points[p][2] for p in surface.corners(*t)]
        r, j, half = t
        assert run(field_contacts.triangle_top, surface, r, j + 1, half) == pytest.approx(max(tops), rel=1e-15)
        both = [surface.points[p][2] for h in range(2) for p in surface.corners(r, j, h)]
        assert run(field_contacts.cell_top, surface, r, j + 1) == pytest.approx(max(both), rel=1e-15)
        for k in EDGES:
            place = surface.corners(*t)[k]
            assert plain(field_surface.corner_place)(*t, k) == place
            np.testing.assert_allclose(run(field_surface.corner_of, surface, *t, k), surface.points[place], atol=1e-15)


def test_neighbours_across_edges(surface):
    """They exist where another triangle has the same two points; its edges have one number, and no other's."""
    numbers = {}
    for t in surface.triangles():
        assert run(field_surface.exists, surface, t)
        for k in EDGES:
            other, wanted = plain(field_surface.neighbour)(*t, k), surface.across(*t, k)
            assert run(field_surface.exists, surface, other) == (wanted is not None)
            assert wanted is None or other == wanted
            found, bends = run(field_surface.bend, surface, *t, k), surface.bends(*t, k)
            assert found == BORDER if bends is None else min(abs(found - x) for x in bends) < 1e-14
            edge = frozenset({*surface.corners(*t)} - {surface.corners(*t)[k]})
            numbers.setdefault(run(field_surface.edge_number, surface, *t, k), set()).add(edge)
    corners = [run(field_surface.corner_number, surface, r, c) for r in range(ROWS) for c in range(COLUMNS)]
    assert all(len(edges) == 1 for edges in numbers.values())
    assert len({*corners} | {*numbers}) == ROWS * COLUMNS + len({edge for one in numbers.values() for edge in one})
    assert min([*corners, *numbers]) > 0
    for t in [(-1, 0, 0), (0, -1, 0), (ROWS - 1, 0, 1), (0, COLUMNS - 1, 1)]:
        assert not run(field_surface.exists, surface, t)


def test_places_over_triangles(surface):
    """Inside by barycentric coordinates; beyond an edge it is met if the surface there rises over the plane."""
    rng, met = np.random.default_rng(3), 0
    for t in surface.triangles():
        corner = np.array([surface.points[p] for p in surface.corners(*t)])
        for x in [*rng.dirichlet(np.ones(3), 2) @ corner, *(1.6 * rng.dirichlet(np.ones(3), 6) - 0.2) @ corner]:
            w = surface.weights(*t, x)
            slacks = [run(field_surface.slack, surface, *t, k, floats(x)) for k in EDGES]
            np.testing.assert_allclose(slacks, w, atol=1e-13)
            over = w.min() >= -ON
            assert run(field_surface.is_over, surface, t, floats(x)) == over
            wanted = over
            for k in EDGES:
                other = surface.across(*t, k)
                if w[k] < -ON and other is not None:
                    rises = surface.bends(*t, k)[0] > FLAT
                    wanted = wanted or (surface.weights(*other, x).min() >= -ON and rises)
            assert run(field_surface.is_met, surface, *t, floats(x)) == wanted
            met += wanted and not over
        for k, by in itertools.product(EDGES, (-0.5 * ON, -2.0 * ON)):  # within rounding of an edge
            w = np.full(3, 0.5 - by / 2)
            w[k] = by
            assert run(field_surface.is_over, surface, t, floats(w @ corner)) == (by > -ON)
    assert met > 5


def test_where_it_is_convex(surface):
    for r, c in itertools.product(range(ROWS), range(COLUMNS)):
        assert run(field_surface.is_peak, surface, r, c) == surface.is_peak(r, c)
        for k in range(6):
            found = plain(field_surface.corner_about)(r, c, k)
            wanted = surface.about(r, c)[k]
            assert run(field_surface.on_grid, surface, *found) == (wanted is not None)
            assert wanted is None or found == wanted
    for t in surface.triangles():
        bends = [surface.bends(*t, k) for k in EDGES]
        wanted = any(b is None or b[0] < -FLAT for b in bends) or any(surface.is_peak(*p) for p in surface.corners(*t))
        assert run(field_surface.is_ridged, surface, *t) == wanted


@pytest.mark.parametrize("at", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("way", [(0, 1), (1, 0), (1, 1)])
def test_ridges_that_lie_in_one_direction(at, way):
    """A roof over a line of the grid is convex across it; a valley is not, nor is what is flat."""
    (r0, c0), r, c = at, *np.mgrid[:ROWS, :COLUMNS]
    away = np.abs((r - r0) * way[1] - (c - c0) * way[0])
    for sign in (1.0, -1.0, 0.0):
        roof = Surface(0, 0.5 - 0.1 * sign * away)
        assert run(field_surface.is_peak, roof, r0, c0) == roof.is_peak(r0, c0) == (sign > 0.0)
        for t in [(r0 - 1, c0 - 1, 0), (r0 - 1, c0 - 1, 1)]:
            bends = [roof.bends(*t, k) for k in EDGES]
            convex = any(b is None or b[0] < -FLAT for b in bends) or any(roof.is_peak(*p) for p in roof.corners(*t))
            assert run(field_surface.is_ridged, roof, *t) == convex


def normals(surface, r, j, half, k, rng):
    """Unit normals about edge k of a triangle: across it at all angles, along it, tilted and level ones."""
    edge = sorted({*surface.corners(r, j, half)} - {surface.corners(r, j, half)[k]})
    along = surface.points[edge[1]] - surface.points[edge[0]]
    across = [n - n @ along / (along @ along) * along for n in rng.normal(size=(12, 3))]
    other = surface.across(r, j, half, k)
    both = [surface.normal(r, j, half), surface.normal(*(other or (r, j, half)))]
    ways = [*across, *[w * both[0] + (1 - w) * both[1] for w in (-0.2, 0.1, 0.5, 0.9, 1.2)]]
    ways += [n + 0.3 * rng.normal() * along / np.linalg.norm(along) for n in ways]
    return [n / np.linalg.norm(n) for n in ways]


def test_normals_that_leave_edges_and_corners(surface):
    rng, found = np.random.default_rng(4), {True: 0, False: 0}
    for t in surface.triangles():
        for k in EDGES:
            for n in normals(surface, *t, k, rng)[::2]:
                wanted = bool(surface.leaves_edge(*t, k, n))
                assert run(field_surface.leaves_edge, surface, *t, k, floats(n)) == wanted
                found[wanted] += 1
    for r, c in itertools.product(range(ROWS), range(COLUMNS)):
        for n in [*rng.normal(size=(6, 3)), *(rng.normal(size=(6, 3)) * [0.3, 0.3, 1.0])]:
            n /= np.linalg.norm(n)
            wanted = bool(surface.leaves_corner(r, c, n))
            assert run(field_surface.leaves_corner, surface, r, c, floats(n)) == wanted
            found[wanted] += 1
    assert min(found.values()) > 20


def test_a_level_corner_is_left_by_nothing():
    level = Surface(0, np.full((ROWS, COLUMNS), 0.5))
    for r, c in itertools.product(range(ROWS), range(COLUMNS)):
        assert not run(field_surface.leaves_corner, level, r, c, floats([0, 0, 1]))
        # over the border a normal may tilt outwards, but not point down
        if r == 0:
            for tilt in (-0.1, 0.0, 0.1):
                n = np.array([0.0, -1.0, tilt])
                wanted = level.leaves_corner(r, c, n)
                assert run(field_surface.leaves_corner, level, r, c, floats(n)) == wanted == (tilt >= 0.0)


def test_features_of_points(surface):
    """Points amid a triangle are the face's; those of an edge or a corner have its number where the normal leaves it;
    below the surface, those of sides and base.
    """
    rng, kinds = np.random.default_rng(5), set()
    for t in surface.triangles():
        corner = np.array([surface.points[p] for p in surface.corners(*t)])
        for k in EDGES:
            ends = [i for i in range(3) if i != k]
            middle = 0.3 * corner[ends[0]] + 0.7 * corner[ends[1]]
            for n in normals(surface, *t, k, rng)[::3]:
                number = run(field_points.number_of, surface, *t, floats(middle), floats(n))
                wanted = 0
                if surface.leaves_edge(*t, k, n):
                    wanted = run(field_surface.edge_number, surface, *t, k)
                assert number == wanted
                kinds.add("edge" if wanted else "face")
                number = run(field_points.number_of, surface, *t, floats(corner[k]), floats(n))
                place = surface.corners(*t)[k]
                wanted = run(field_surface.corner_number, surface, *place) if surface.leaves_corner(*place, n) else 0
                assert number == wanted
                kinds.add("corner" if wanted else "face")
                amid = corner.mean(axis=0)
                assert run(field_points.number_of, surface, *t, floats(amid), floats(n)) == field_points.FACE
    assert kinds == {"edge", "corner", "face"}
    size = surface.m.hfield_size[FIELD]
    for axis, side, tilt in itertools.product(range(2), (-1, 1), (-0.1, 0.0, 0.1)):
        x, n = np.array([0.1, 0.1, -0.05]), np.zeros(3)
        x[axis], n[axis], n[2] = side * size[axis], side, tilt
        wanted = field_points.OUTSIDE if tilt <= 0.0 else field_points.FACE
        t = (0, 0, 0)
        assert run(field_points.number_of, surface, *t, floats(x), floats(n)) == wanted
        assert run(field_points.number_of, surface, *t, floats(x), floats(-n)) == field_points.FACE
        x[axis] *= 0.99  # inside
        assert run(field_points.number_of, surface, *t, floats(x), floats(n)) == field_points.FACE
    for z, wanted in ((-0.1, field_points.OUTSIDE), (-0.09, field_points.FACE)):
        x = floats([0.1, 0.1, z])
        assert run(field_points.number_of, surface, 0, 0, 0, x, floats([0, 0, -1])) == wanted
        assert run(field_points.number_of, surface, 0, 0, 0, x, floats([1, 0, 0])) == field_points.FACE


def test_lists_of_points():
    """Each numbered feature has one point, its nearest; faces have all that differ; a full list loses the farthest."""
    rng = np.random.default_rng(6)
    for _ in range(3):
        area, count, wanted = Area([np.nan] * field_points.POINTS_AREA), 0, []
        for _ in range(3 * MOST_OF_PAIR):
            number = int(rng.choice([0, 0, 0, -1, 3, 4, 5, 6, 8]))
            if number == 0 and wanted and rng.random() < 0.3:  # one that is there, or nearly
                dist, pos, normal = (np.array(x) for x in next(p for p in wanted if p[3] == 0)[:3])
                part, change = rng.integers(3), rng.choice([1e-7, 1e-4]) * rng.uniform(1.0, 5.0)
                dist = dist + change * (part == 0)
                pos, normal = pos + change * (part == 1), normal + change * (part == 2)
                known = change < 1e-6
            else:
                dist, pos, normal, known = rng.normal(), rng.normal(size=3), rng.normal(size=3), False
            point = (float(dist), tuple(pos), tuple(normal), number)
            given = np.float64(dist), floats(pos), floats(normal), number, np.float64(1e-6)
            count = plain(field_points.add_point)(area, count, *given)
            same = [i for i, p in enumerate(wanted) if p[3] == number]
            if number and same:
                if point[0] < wanted[same[0]][0]:
                    wanted[same[0]] = point
            elif not known:
                if len(wanted) < MOST_OF_PAIR:
                    wanted.append(point)
                else:
                    farthest = max(range(len(wanted)), key=lambda i: wanted[i][0])
                    if wanted[farthest][0] > point[0]:
                        wanted[farthest] = point
            assert count == len(wanted)
        for k, (dist, pos, normal, number) in enumerate(wanted):
            numbers = [area.get(field_points.POINT_NUMBERS * k + i) for i in range(8)]
            assert numbers == [dist, *pos, *normal, number]


@pytest.mark.parametrize("half", [0.5, 2.0])
def test_grid_lines_around_an_interval(half):
    rng, number = np.random.default_rng(7), 7
    lines = np.linspace(-half, half, number)
    for _ in range(30):
        low = rng.uniform(-1.5 * half, half)
        high = low + rng.uniform(0.0, half)
        first, last = plain(field_contacts.cells)(np.float64(low), np.float64(high), np.float64(half), number)
        assert first == max(0, np.searchsorted(lines, low) - 1) and last == min(
            number - 1, np.searchsorted(lines, high)
        )


def test_prisms(surface):
    """Base and top at a place of the grid; centred about the mean of the corners."""
    prism = Area([np.nan] * 18)
    places = [(1, 2), (2, 3), (2, 2)]
    for k, (r, c) in enumerate(places):
        plain(field_contacts.write_corner)(surface.m, FIELD, prism, k, r, c)
    tops = np.array([surface.points[p] for p in places])
    wanted = np.vstack([tops * [1, 1, 0] - [0, 0, 0.1], tops])
    centre = plain(field_contacts.centred)(prism)
    np.testing.assert_allclose(centre, wanted.mean(axis=0), atol=1e-15)
    found = np.array([prism.get(k) for k in range(18)]).reshape(6, 3)
    np.testing.assert_allclose(found, wanted - wanted.mean(axis=0), atol=1e-15)
    np.testing.assert_array_equal(plain(field_contacts.size_of_field)(surface.m, FIELD), surface.m.hfield_size[FIELD])
