"""Parts of contact detection and of constraint rows by themselves, in plain Python.

Laws: geometry by brute force in NumPy and by Qhull, sorting and sets in Python, dense matrices, and differences of
motions. Tolerances: rounding.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.colliding import ASSETS
from helpers.plain_python import fields, plain
from helpers.selves.exact import Area
from helpers.stand_ins import floats, layout, rotation
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection

import saltus
from saltus.contact.broad import grid, pair_key
from saltus.contact.convex import clipping, face_contacts, faces
from saltus.contact.convex.search import pair_area, simplex
from saltus.contact.counts import NFOUND, NLOST
from saltus.contact.event import contact_matching, gap_functions, modes
from saltus.contact.rigid import box_box, lane_choice, plane_box_corner
from saltus.model.enums import BOX, HFIELD, MESH, SPHERE
from saltus.model.event_enums import LOGGED, LOST, OPEN
from saltus.model.layout import DIGIT_BITS
from saltus.number.threads.team import RESULT, place_of

NO_FEATURES = SimpleNamespace(features=frozenset())


def area_of(points, room=0):
    """Memory with points [n, 3] (m)."""
    return Area([*floats(points), *[np.float64(np.nan)] * room])


def read(area, n):
    return np.array([[area.get(3 * k + i) for i in range(3)] for k in range(n)]).reshape(n, 3)


# ---------------------------------------------------------------- clipping


def polygon(rng, n, scale=1.0):
    """Corners [n, 2] of a convex polygon, clockwise."""
    angles = np.sort(rng.uniform(0, 2 * np.pi, n))[::-1]
    return scale * np.stack([np.cos(angles), 0.8 * np.sin(angles)], axis=1)


def common(one, two):
    """Corners of the intersection of two convex polygons in the plane, none if they do not meet."""
    planes = np.vstack([ConvexHull(points).equations for points in (one, two)])
    # a point inside: the centre of the largest circle
    best = linprog([0, 0, -1], np.c_[planes[:, :2], np.ones(len(planes))], -planes[:, 2], bounds=[(None, None)] * 3)
    if best.x[2] < 1e-6:
        return np.zeros((0, 2))
    found = HalfspaceIntersection(planes, best.x[:2]).intersections
    return found[ConvexHull(found).vertices]


@pytest.mark.parametrize("seed", range(10))
def test_a_polygon_is_clipped_by_a_face(seed):
    """The corners of the intersection seen along the normal, at their heights in the polygon's plane; those farther in
    front than the reach are left out.
    """
    rng = np.random.default_rng(seed)
    turn, origin = rotation(rng), rng.normal(size=3)
    face, other = polygon(rng, 5 + seed % 3), polygon(rng, 4 + seed % 4) + rng.normal(size=2) * 0.4
    slope = rng.normal(size=2) * 0.3
    heights = other @ slope
    base = area_of(origin + np.c_[face, 0 * face[:, 0]] @ turn.T)
    # corners clockwise as seen from outside: along +z of this frame
    own, spare = (area_of(origin + np.c_[other, heights] @ turn.T, 200), area_of([], 300))
    reach = np.float64([0.1, 10.0][seed % 2])
    n, found = plain(clipping.clip)(base, len(face), floats(turn[:, 2]), reach, own, len(other), spare)
    wanted = common(face, other)
    wanted = np.c_[wanted, wanted @ slope] if len(wanted) else np.zeros((0, 3))
    wanted = wanted[wanted[:, 2] <= reach]
    mine = (read(found, n) - origin) @ turn
    assert n == len(wanted)
    for x in wanted:
        assert np.abs(mine - x).sum(axis=1).min() < 1e-9


def test_heights_areas_and_ends():
    rng = np.random.default_rng(1)
    points, inward, at = rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=3)
    heights, own = area_of([], 6), area_of(points)
    least, most = plain(clipping.write_heights)(own, 6, floats(at), floats(inward), heights)
    wanted = (points - at) @ inward
    np.testing.assert_allclose([heights.get(k) for k in range(6)], wanted, atol=1e-15)
    assert (least, most) == pytest.approx((wanted.min(), wanted.max()), abs=1e-15)
    pairs = [*itertools.combinations(range(6), 2)]
    longest = max(pairs, key=lambda pair: np.linalg.norm(points[pair[0]] - points[pair[1]]))
    assert plain(clipping.ends_of)(own, 6) == longest
    flat = polygon(rng, 7)
    own = area_of(np.c_[flat, 0 * flat[:, 0]] @ rotation(rng).T)
    for four in itertools.combinations(range(7), 4):
        x, y = flat[[*four]].T
        wanted = 0.5 * abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))
        assert plain(clipping.area)(own, *four) == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_four_corners_span_a_large_area(seed):
    """No other four span much more; of a square with more corners on its sides they are the square's."""
    rng = np.random.default_rng(seed)
    flat = polygon(rng, 9)
    own = area_of(np.c_[flat, 0 * flat[:, 0]])
    size = {four: float(plain(clipping.area)(own, *four)) for four in itertools.combinations(range(9), 4)}
    chosen = plain(clipping.widest_four)(own, 9, np.float64(0.0))
    assert size[tuple(sorted(chosen))] > 0.6 * max(size.values())
    first = next(k for k in range(4) if chosen[k] == min(chosen))
    assert [*np.roll(chosen, -first)] == sorted(chosen)  # around the polygon
    square = np.array([[1, 1], [1.1, 0], [1, -1], [0, -1.1], [-1, -1], [-1.1, 0], [-1, 1], [0, 1.1]])
    square = np.roll(square * [3, 2], 2 * seed, axis=0)
    chosen = plain(clipping.widest_four)(area_of(np.c_[square, 0 * square[:, 0]]), 8, np.float64(0.0))
    assert {tuple(x) for x in np.abs(square[[*chosen]])} == {(3.0, 2.0)}
    # by less than the margin nothing is wider: the first four of a polygon stay
    assert plain(clipping.widest_four)(own, 9, np.float64(1e6)) == (0, 1, 2, 3)


@pytest.mark.parametrize("seed", range(8))
def test_the_deepest_corner_is_among_four(seed):
    """In place of the next of them; where they hold one as deep, they stay."""
    rng, n = np.random.default_rng(seed), 8
    flat = polygon(rng, n, 2.0)
    for _ in range(8):
        chosen = tuple(sorted(rng.choice(n, 4, replace=False)))
        roll = int(rng.integers(4))
        chosen = chosen[roll:] + chosen[:roll]
        heights = rng.uniform(size=n)
        if rng.random() < 0.3:
            heights[:] = 0.5
            heights[rng.integers(n)] -= rng.choice([1e-9, 1e-3])
        normal, origin = rotation(rng)[0], rng.normal(size=3)
        side = np.linalg.svd(normal[None])[2][1:]
        points = origin + flat @ side + heights[:, None] * normal
        found = plain(face_contacts.with_deepest)(area_of(points), n, chosen, floats(origin), floats(normal))
        deepest = int(np.argmin(heights))
        if heights[deepest] > heights[[*chosen]].min() - 1e-6 or deepest in chosen:
            assert found == chosen
        else:
            after = min(chosen, key=lambda c: (c - deepest) % n)
            assert found == tuple(deepest if c == after else c for c in chosen)


# ---------------------------------------------------------------- faces, edges and corners


def pair_memory(rng, kind, size, hull=-1):
    area = Area([np.float64(np.nan)] * pair_area.PAIR_NUMBERS)
    rot, shift = rotation(rng), rng.normal(size=3)
    numbers = ((pair_area.ROT, rot), (pair_area.SHIFT, shift), (pair_area.SIZE1, size), (pair_area.SIZE2, size))
    for at, x in numbers:
        for k, number in enumerate(np.ravel(x)):
            area.put(at + k, np.float64(number))
    for at in (pair_area.KIND1, pair_area.KIND2):
        area.put(at, kind)
    for at in (pair_area.HULL1, pair_area.HULL2):
        area.put(at, hull)
    return area, (np.eye(3), rot), (np.zeros(3), shift)


def shapes():
    """(kind, size, the model's fields, number of the first corner, corners [n, 3]) of a box and of meshes."""
    size = np.array([0.3, 0.2, 0.25])
    signs = np.array([[1 if k >> i & 1 else -1 for i in range(3)] for k in range(8)])
    yield BOX, size, SimpleNamespace(layout=NO_FEATURES), 0, signs * size
    for name in ("dice", "prism"):
        model = saltus.load(f"""<mujoco><asset>{ASSETS}</asset><worldbody><body><freejoint/><geom type="mesh"
          mesh="{name}"/></body><body pos="5 0 0"><freejoint/><geom type="mesh" mesh="dice"/></body></worldbody>
          </mujoco>""")
        m = fields(model.struct())
        hull = m.geom_hull[0]
        first, last = m.hull_vertadr[hull], m.hull_vertadr[hull + 1]
        yield MESH, size, m, first, np.array([m.hull_vert[k] for k in range(first, last)])


def planes_of(points):
    """Facets of the hull of points, with coplanar triangles as one: (outward normal, corners in them)."""
    hull = ConvexHull(points)
    found = {}
    for normal in hull.equations:
        key = tuple(np.round(normal, 6))
        found[key] = frozenset(np.flatnonzero(np.abs(points @ normal[:3] + normal[3]) < 1e-7))
    return {corners: np.array(key[:3]) for key, corners in found.items()}


@pytest.mark.parametrize("side", [faces.FIRST, faces.SECOND])
def test_faces_and_edges_are_those_of_the_hull(side):
    rng = np.random.default_rng(2)
    for kind, size, m, first, corners in shapes():
        p, turns, places = pair_memory(rng, kind, size, 0)
        wanted = planes_of(corners)
        for corner in range(len(corners)):
            place = plain(faces.place_of)(m, p, side, first + corner)
            np.testing.assert_allclose(place, places[side] + turns[side] @ corners[corner], atol=1e-14)
            # faces at it
            k, found = 0, []
            while True:
                face, k = plain(faces.next_face)(m, p, side, (first + corner,) * 3, k)
                if face < 0:
                    break
                found.append(face)
            at_corner = [c for c in wanted if corner in c]
            assert len(found) == len(at_corner) == plain(faces.faces_about)(m, kind, first + corner)
            for face in found:
                memory = area_of([], 3 * 128)
                n = plain(faces.write_corners)(m, p, side, face, memory, (0.0, 0.0, 1.0))
                mine = (read(memory, n) - places[side]) @ turns[side]
                numbers = [int(np.abs(corners - x).sum(axis=1).argmin()) for x in mine]
                assert frozenset(numbers) in at_corner and len(numbers) == len({*numbers})
                normal = turns[side].T @ plain(faces.normal_of)(m, p, side, face)
                np.testing.assert_allclose(normal, wanted[frozenset(numbers)], atol=2e-6)
                for i in range(n):  # clockwise as seen from outside
                    a, b, c = mine[i], mine[(i + 1) % n], mine[(i + 2) % n]
                    assert np.cross(b - a, c - b) @ normal < 0.0
                for other in range(len(corners)):
                    assert plain(faces.has_corner)(m, kind, face, first + other) == (other in numbers)
            # edges at it: to the corners with which it shares two faces
            count = plain(faces.edges_about)(m, p, side, first + corner)
            ends = {plain(faces.other_end)(m, p, side, first + corner, k) - first for k in range(count)}
            others = {o for o in range(len(corners)) if o != corner}
            assert ends == {o for o in others if sum({o, corner} <= c for c in wanted) > 1}


def test_faces_with_three_corners():
    rng = np.random.default_rng(3)
    for kind, size, m, first, corners in shapes():
        p, _, _ = pair_memory(rng, kind, size, 0)
        wanted = planes_of(corners)
        for three in [rng.integers(len(corners), size=3) for _ in range(20)] + [[0, 1, 1], [2, 3, 3]]:
            face, k = plain(faces.next_face)(m, p, faces.FIRST, tuple(first + int(x) for x in three), 0)
            found = 0
            while face >= 0:
                found += 1
                face, k = plain(faces.next_face)(m, p, faces.FIRST, tuple(first + int(x) for x in three), k)
            assert found == sum({int(x) for x in three} <= c for c in wanted)


def test_first_corners_of_a_box():
    """(+, +), (+, -), (-, -), (-, +) along the next axes, each face from the corner that MuJoCo's begins with."""
    for face in range(6):
        axis, sign = face >> 1, 1 - 2 * (face & 1)
        turn = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
        if sign < 0:  # seen from the other side
            turn = [(b, a) for a, b in turn]
        found = []
        for k in range(4):
            number = plain(faces.corner_of_box)(face, k)
            signs = [1 if number >> i & 1 else -1 for i in range(3)]
            assert signs[axis] == sign
            found.append((signs[(axis + 1) % 3], signs[(axis + 2) % 3]))
        first = turn.index(found[0])
        assert found == turn[first:] + turn[:first] and first == faces.FIRST_CORNERS[face]


# ---------------------------------------------------------------- simplices


def by_brute_force(points):
    """The nearest point of a simplex to the origin, over all its corners, edges, ...: projections that lie inside."""
    best = None
    for count in range(1, len(points) + 1):
        for chosen in itertools.combinations(range(len(points)), count):
            x = points[[*chosen]]
            edges = (x[1:] - x[0]).T
            t = np.linalg.lstsq(edges, -x[0], rcond=None)[0] if count > 1 else np.zeros(0)
            w = np.r_[1.0 - t.sum(), t]
            if w.min() >= -1e-12:
                place = w @ x
                if best is None or np.linalg.norm(place) < np.linalg.norm(best) - 1e-13:
                    best = place
    return best


def test_weights_of_simplices():
    rng, seen = np.random.default_rng(4), set()
    kernels = {2: simplex.weights_of_segment, 3: simplex.weights_of_triangle, 4: simplex.weights_of_tetrahedron}
    for count, kernel in kernels.items():
        for _ in range(40):
            points = rng.normal(size=(count, 3)) + 0.6 * rng.normal(size=3)
            wanted = by_brute_force(points)
            found, inside = plain(kernel)(*(floats(x) for x in points)), False
            if count == 4:
                found, inside = found
            assert inside == (count == 4 and np.linalg.norm(wanted) < 1e-12)
            if not inside:
                assert min(found) >= 0.0 and sum(found) == pytest.approx(1.0, abs=1e-14)
                np.testing.assert_allclose(found @ points, wanted, atol=1e-12)
            seen.add((count, inside, sum(w > 0 for w in found)))
    assert len(seen) == 2 + 3 + 4


# ---------------------------------------------------------------- found pairs


def test_keys_sort_and_name_their_geoms():
    rng, body = np.random.default_rng(5), np.array([0, 0, 1, 2, 2, 2, 4])
    m = SimpleNamespace(geom_bodyid=body, nbody=5, broad_bodygeoms=3, broad_firstgeom=np.array([0, 2, 3, 6, 6]))
    pairs = [*itertools.combinations(range(7), 2)]
    keys = {pair: plain(pair_key.pair_key)(m, *pair) for pair in pairs}
    assert sorted(pairs, key=keys.get) == sorted(pairs, key=lambda p: (body[p[0]], body[p[1]], *p))
    assert len({*keys.values()}) == len(pairs)
    for pair, key in keys.items():
        assert tuple(plain(pair_key.geoms_of_key)(m, key)) == pair
    for count, digits in ((0, 1), (1, 1), (pair_key.FEW, 1), (pair_key.FEW + 1, 2), (300, 3)):
        numbers = rng.integers(0, 1 << (DIGIT_BITS * digits), count)
        room = max(count, 1) + 3
        d = SimpleNamespace(count={NFOUND: count}, found_key=np.full(room, -7), sorted_key=np.full(room, -7))
        d.digit_count, d.found_key[:count] = np.zeros(pair_key.DIGITS, int), numbers
        plain(pair_key.sort_keys)(SimpleNamespace(broad_digits=digits), d)
        assert d.found_key[:count].tolist() == sorted(numbers) and (d.found_key[count:] == -7).all()


def test_cells_of_a_grid():
    rng = np.random.default_rng(6)
    for _ in range(50):
        x, width, reach = rng.normal(), rng.uniform(0.1, 0.5), rng.uniform(0.0, 0.6)
        own = int(np.floor(x / width))
        assert plain(grid.cell_along)(np.float64(x), np.float64(width)) == own
        low, high = plain(grid.cells_along)(np.float64(x), np.float64(reach), np.float64(width))
        assert low == max(int(np.floor((x - reach) / width)), own - 1)
        assert high == min(int(np.floor((x + reach) / width)), own + 1)
    for x in (1e30, -1e30):
        assert plain(grid.cell_along)(np.float64(x), np.float64(1.0)) == np.sign(x) * grid.FARTHEST
    # buckets of all cells are used, and a level has its own
    m = SimpleNamespace(ngridbucket=64)
    cells = [*itertools.product(range(-4, 5), repeat=3)]
    buckets = [plain(grid.bucket_of)(m, *cell, level) for cell in cells for level in (0, 1)]
    assert min(buckets) == 0 and max(buckets) == 63 and len({*buckets}) == 64
    assert sum(a != b for a, b in zip(buckets[::2], buckets[1::2], strict=True)) > 700


def test_pairs_that_find_no_room_are_counted():
    d = SimpleNamespace(found_count=[0], found_end=2, found_key=[-1, -1, -1], count={NLOST: 0})
    for key in (5, 3, 9):
        plain(grid.append_pair)(None, d, key)
    assert (d.found_key, d.found_count, d.count[NLOST]) == ([5, 3, -1], [2], 1)


@pytest.mark.parametrize("room", [3, 5, 9])
def test_parts_of_a_list_of_pairs_are_joined(room):
    """Those of each thread after the others', as many as there is room for; the others are lost."""
    counts, m = [2, 3, 1], SimpleNamespace(layout=layout("threads"), nfound=room)
    d = SimpleNamespace(found_count=[counts[0]], found_key=np.full(3 * room, -1), count={NLOST: 0})
    d.team = np.zeros(200, int)
    wanted = []
    for part, count in enumerate(counts):
        keys = [10 * part + k for k in range(count)]
        d.found_key[part * room : part * room + count] = keys
        d.team[plain(place_of)(part, RESULT)] = part * room + count
        wanted += keys
    plain(grid.join_pairs)(m, d, 3)
    assert d.found_key[: min(room, 6)].tolist() == wanted[:room]
    assert d.found_count == [min(room, 6)]


# ---------------------------------------------------------------- matching of points


@pytest.mark.parametrize("seed", range(12))
def test_points_go_to_the_nearest_closed_slot(seed):
    """Greedily: over all pairs of a closed slot and a free contact the cheapest first; the rest to open slots."""
    rng, first, slots, before, count = np.random.default_rng(seed), 2, 5, 1, 4
    m = SimpleNamespace(
        layout=layout("contact"), slot_adr=[0, first], slot_num=[2, slots], law_margin=np.array([9.0, 0.01])
    )
    m.collision_law, m.collision_geom1, m.collision_geom2 = [0, 1], [0, 0], [0, 1]
    m.geom_rbound, m.geom_type = np.array([0.8, 0.5]), [SPHERE, SPHERE]
    d = SimpleNamespace(
        time=np.float64(0.0), mode=[OPEN] * 9, slot_contact=np.full(9, 7), contact_matched=np.full(9, 5)
    )
    d.slot_place, d.contact_pos = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    d.geom_xpos, d.geom_xmat = rng.normal(size=(2, 3)), np.array([rotation(rng).ravel() for _ in range(2)])
    d.contact_collision, n = [1] * 9, before + count
    widest = contact_matching.WIDEST * 0.5
    d.contact_dist = 0.01 + rng.uniform(-0.02, 2.0 * widest, 9)
    closed = [s for s in range(first, first + slots) if rng.random() < 0.6]
    for s in closed:
        d.mode[s] = OPEN + 1
    plain(contact_matching.match_points)(m, d, before, n, 1)
    local = (d.contact_pos - d.geom_xpos[1]) @ d.geom_xmat[1].reshape(3, 3)
    gap = d.contact_dist - 0.01
    wanted, free = dict.fromkeys(range(first, first + slots), -1), {*range(before, n)}
    costs = sorted(
        (((local[k] - d.slot_place[s]) ** 2).sum() + 1e4 * gap[k] ** 2, s, k)
        for s in closed
        for k in free
        if gap[k] <= widest
    )
    for _, s, k in costs:
        if wanted[s] < 0 and k in free:
            wanted[s] = k
            free.remove(k)
    for s, k in zip([s for s in wanted if s not in closed], sorted(free), strict=False):
        wanted[s] = k
    assert {s: d.slot_contact[s] for s in wanted} == wanted
    assert d.slot_contact[:first].tolist() == [7] * first and (d.slot_contact[first + slots :] == 7).all()
    # places of closed points that have a contact are remembered
    m.ncollision, m.slot_varies, old = 2, [False, True], d.slot_place.copy()
    plain(contact_matching.remember_points)(m, d)
    for s in range(9):
        known = s in closed and wanted[s] >= 0
        np.testing.assert_allclose(d.slot_place[s], local[wanted[s]] if known else old[s], atol=1e-14)
    assert plain(contact_matching.follows_points)(m, d) == bool(closed)


def test_features_of_height_fields_tell_points_apart():
    """Numbers of edges and corners; of faces also the normal, seen from the field."""
    rng = np.random.default_rng(7)
    m = SimpleNamespace(layout=layout("fieldgaps"), collision_geom1=[1, 0], geom_type=[SPHERE, HFIELD])
    d = SimpleNamespace(time=np.float64(0.0), geom_xmat=np.array([rotation(rng).ravel() for _ in range(2)]))
    d.contact_frame, d.slot_contact = np.array([rotation(rng).ravel() for _ in range(3)]), [2, 1]
    d.slot_feature, d.slot_normal, d.contact_feature = np.full(2, np.nan), np.full((2, 3), np.nan), np.array([0, 0, 0])
    plain(contact_matching.remember_feature)(m, d, 0, 0)
    normal = d.contact_frame[2, :3] @ d.geom_xmat[1].reshape(3, 3)
    np.testing.assert_allclose(d.slot_normal[0], normal, atol=1e-15)
    assert d.slot_feature[0] == 0.0
    same = plain(contact_matching.same_feature)
    assert same(m, d, 0, 2, 0) and not same(m, d, 0, 1, 0)
    tilt = np.cross(normal, [1.0, 0, 0])
    tilt *= contact_matching.TURNED / np.linalg.norm(tilt)
    for share, alike in ((0.99, True), (1.01, False)):
        d.slot_normal[0] = normal + share * tilt
        assert same(m, d, 0, 2, 0) == alike
    d.contact_feature[2] = 3
    assert not same(m, d, 0, 2, 0)
    d.slot_feature[0] = 3.0
    assert same(m, d, 0, 2, 0)  # an edge's normal turns
    assert same(m, d, 1, 0, 1)  # no height field


def test_absent_contacts_are_removed():
    rng, far = np.random.default_rng(8), gap_functions.ABSENT
    d = SimpleNamespace(contact_dist=np.array([9.0, 0.1, far, 0.3, 2 * far, 0.5, 7.0]), contact_collision=[*range(7)])
    d.contact_pos, d.contact_frame = rng.normal(size=(7, 3)), rng.normal(size=(7, 9))
    pos, frame = d.contact_pos.copy(), d.contact_frame.copy()
    assert plain(gap_functions.drop_absent)(None, d, 1, 6) == 4
    kept = [0, 1, 3, 5]
    assert d.contact_dist[:4].tolist() == [9.0, 0.1, 0.3, 0.5] and d.contact_collision[:4] == kept
    np.testing.assert_array_equal(d.contact_pos[:4], pos[kept])
    np.testing.assert_array_equal(d.contact_frame[:4], frame[kept])


def test_a_full_event_log_counts_what_it_loses():
    m = SimpleNamespace(layout=layout("event"), nevent_log=2)
    d = SimpleNamespace(time=np.float64(0.5), event_count={LOGGED: 0, LOST: 0}, event_log=np.full((3, 10), np.nan))
    for k in range(4):
        given = (k, 10 + k, 0.1 * k, -0.2 * k, (1.0 + k, 2.0 + k, 3.0 + k), 4.0 + k, 5.0 + k)
        plain(modes.log_event)(m, d, *given)
        assert plain(modes.log_is_full)(m, d) == (k >= 1)
    assert d.event_count == {LOGGED: 2, LOST: 2} and np.isnan(d.event_log[2]).all()
    for k in range(2):
        row = [0.5, k, 10 + k, 0.1 * k, -0.2 * k, 1 + k, 2 + k, 3 + k, 4 + k, 5 + k]
        places = [modes.TIME, modes.KIND, modes.ITEM, modes.GAP, modes.SPEED, modes.NORMAL, modes.TANGENT1]
        places += [modes.TANGENT2, modes.BEFORE, modes.AFTER]
        assert d.event_log[k][places].tolist() == row


# ---------------------------------------------------------------- boxes


def test_corner_of_a_box_on_a_plane():
    rng, size = np.random.default_rng(9), np.array([0.3, 0.2, 0.1])
    m = SimpleNamespace(layout=NO_FEATURES, collision_geom2=[1, 0])
    for number in range(8):
        signs = np.array([1 if number >> i & 1 else -1 for i in range(3)])
        d = SimpleNamespace(geom_xpos=rng.normal(size=(2, 3)), geom_xmat=np.array([rotation(rng).ravel()] * 2))
        corner = d.geom_xpos[1] + d.geom_xmat[1].reshape(3, 3) @ (signs * size)
        normal, dist = rotation(rng)[0], 0.5
        d.contact_collision, d.contact_dist = [1, 0], np.array([7.0, dist])
        d.contact_frame = np.array([np.full(9, np.nan), np.r_[normal, np.full(6, np.nan)]])
        d.contact_pos = np.array([np.full(3, np.nan), corner - 0.5 * dist * normal])
        assert plain(plane_box_corner.corner)(m, d, 1, 0) == number


def test_choices_of_components():
    rng, kinds = np.random.default_rng(10), np.arange(9.0)
    for k in range(3):
        a = floats(rng.normal(size=3))
        assert plain(lane_choice.pick3)(k, a) == plain(lane_choice.component)(np.float64(k), a) == a[k]
        assert plain(lane_choice.cycled)(np.float64(k), a) == (a * 2)[k : k + 3]
        assert plain(lane_choice.uncycled)(np.float64(k), plain(lane_choice.cycled)(np.float64(k), a)) == a
        r = kinds.reshape(3, 3)
        assert [*plain(lane_choice.row)(k, floats(kinds))] == [*r[k]]
        assert [*plain(lane_choice.column)(np.float64(k), floats(kinds))] == [*r[:, k]]
        order = [k, (k + 1) % 3, (k + 2) % 3]
        assert [*plain(lane_choice.cycled_columns)(np.float64(k), floats(kinds))] == [*r[:, order].ravel()]
        assert [*plain(lane_choice.cycled_rows)(np.float64(k), floats(kinds))] == [*r[order].ravel()]
    assert [*plain(lane_choice.transposed)(floats(kinds))] == [*kinds.reshape(3, 3).T.ravel()]
    for yes in (True, False):
        wanted = [*kinds] if yes else [*-kinds]
        assert [*plain(lane_choice.where9)(np.bool_(yes), floats(kinds), floats(-kinds))] == wanted
    for a in itertools.product((-2.0, -1.0, 1.0, 2.0), repeat=3):
        assert plain(lane_choice.largest3)(floats(a)) == np.argmax(np.abs(a))


def test_nearest_points_of_edges():
    """One along x, one along any unit vector: no nearby pair of points on them is nearer."""
    rng = np.random.default_rng(11)
    for _ in range(30):
        p, q, way = rng.normal(size=(3, 3))
        way /= np.linalg.norm(way)
        lengths = rng.uniform(0.2, 1.0, 2)
        a, b = plain(box_box.nearest_points)(
            floats(p), np.float64(lengths[0]), floats(q), np.float64(lengths[1]), floats(way)
        )
        s, t = (np.array(a) - p)[0], (np.array(b) - q) @ way
        np.testing.assert_allclose(a, p + s * np.eye(3)[0], atol=1e-14)
        np.testing.assert_allclose(b, q + t * way, atol=1e-14)
        assert abs(s) <= lengths[0] + 1e-14 and abs(t) <= lengths[1] + 1e-14
        # a quadratic in s and t over a rectangle: the slope leads out of it, or is zero
        slope = np.array([-2 * (q - p + t * way - s * np.eye(3)[0])[0], 2 * (q - p + t * way - s * np.eye(3)[0]) @ way])
        for x, length, down in zip((s, t), lengths, slope, strict=True):
            if abs(x) < length - 1e-9:
                assert abs(down) < 1e-12
            else:
                assert down * np.sign(x) < 1e-12
