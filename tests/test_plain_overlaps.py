"""Overlaps of segments with tetrahedra, unions of boxes, found pairs and gaps by themselves, in plain Python.

Laws: Qhull's facets of Minkowski differences; normal cones of boxes by their definition; lists and sets in Python.
Tolerance: rounding.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.hull_distance import hull_distance
from helpers.plain_python import plain
from helpers.stand_ins import floats, layout
from scipy.spatial import ConvexHull

from saltus.contact import seams
from saltus.contact.broad import filters, found_pairs
from saltus.contact.broad.pair_key import pair_key
from saltus.contact.broad.still_grid import is_still
from saltus.contact.counts import NFOUND, NLOST
from saltus.contact.event import gap_functions
from saltus.contact.flex import tetrahedron
from saltus.dynamics.awake.counts import NGRID
from saltus.model.enums import BOX, HFIELD, MOVED, PLANE, SPHERE, pair_kind
from saltus.model.event_enums import OPEN

# ---------------------------------------------------------------- segments and tetrahedra


@pytest.mark.parametrize("seed", range(4))
def test_ways_out_of_tetrahedra(seed):
    """A segment passes where the origin lies in the difference; the way out is the facet that is nearest to it."""
    rng, kinds = np.random.default_rng(seed), {True: 0, False: 0}
    for _ in range(25):
        corners, ends = rng.normal(size=(4, 3)), rng.normal(size=(2, 3)) * [0.3, 1.0][seed % 2]
        if seed == 3:
            ends[1] = ends[0] + 0.5 * (corners[1] - corners[2])  # along an edge
        p, (start, end) = tuple(floats(x) for x in corners), (floats(x) for x in ends)
        order = (0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2), (1, 3, 2, 0)
        faces = tuple(plain(tetrahedron.face_of)(start, end, *(p[k] for k in each)) for each in order)
        for (normal, first, last), each in zip(faces, order, strict=True):
            a, opposite = corners[each[0]], corners[each[3]]
            assert np.linalg.norm(normal) == pytest.approx(1.0) and normal @ (opposite - a) < 0.0
            for k in each[:3]:
                assert normal @ (corners[k] - a) == pytest.approx(0.0, abs=1e-13)
            assert (first, last) == pytest.approx((normal @ (ends[0] - a), normal @ (ends[1] - a)), abs=1e-13)
        hull = ConvexHull((corners[:, None] - ends[None]).reshape(-1, 3))
        depth = -hull.equations[:, 3].max()
        passes = plain(tetrahedron.passes)(faces)
        assert passes == (depth >= 0.0)
        kinds[bool(passes)] += 1
        if passes:
            found, place, way = plain(tetrahedron.shortest_way)(start, end, p, faces)
            assert found == pytest.approx(depth, abs=1e-12)
            way = np.array(way)
            # that far along the way the segment has left, and the place lies on it
            assert (corners @ way).max() == pytest.approx((ends @ way).min() + found, abs=1e-11)
            t = (np.array(place) - ends[0]) @ (ends[1] - ends[0]) / ((ends[1] - ends[0]) @ (ends[1] - ends[0]))
            np.testing.assert_allclose(ends[0] + t * (ends[1] - ends[0]), place, atol=1e-11)
            assert -1e-9 <= t <= 1 + 1e-9
        else:
            distance, one, two = plain(tetrahedron.nearest_pair)(start, end, p)
            assert distance == pytest.approx(hull_distance(ends, corners), abs=1e-6)
            assert distance == pytest.approx(np.linalg.norm(np.subtract(one, two)), abs=1e-14)
        for x in [*rng.dirichlet(np.ones(4), 3) @ corners, *rng.normal(size=(4, 3))]:
            w = np.linalg.solve(np.vstack([corners.T, np.ones(4)]), [*x, 1.0])
            assert plain(tetrahedron.inside)(floats(x), p) == (w.min() >= 0.0)
    assert min(kinds.values()) > 0


# ---------------------------------------------------------------- unions of boxes


def boxes(*ranges):
    """Half-spaces of boxes (low, high)."""
    planes = []
    for low, high in ranges:
        for k in range(3):
            planes += [[*np.eye(3)[k], high[k]], [*-np.eye(3)[k], -low[k]]]
    return np.array(planes, float)


#: A box, one beside it with a flush top, one beside it that is higher, and one far away.
PIECES = [((-1, -1, -1), (1, 1, 1)), ((1, -1, -1), (3, 1, 1)), ((-3, -1, -1), (-1, 1, 1.5)), ((9, 9, 9), (10, 10, 10))]
TOLERANCE = 1e-6


def union():
    """Pair 1, whose second geom is the first piece, with the others as neighbours."""
    m = SimpleNamespace(layout=layout("seams"), seam_plane=boxes(*PIECES), seam_list=[7, 1, 2, 3])
    m.seam_planeadr, m.seam_planenum = [0, 6, 12, 18], [6, 6, 6, 6]
    m.seam_pair = np.array([[9] * 8, [0, 0, 0, 0, 1, 3, 0, 6]])
    m.seam_tolerance = np.array([[9.0, 9.0], [9.0, TOLERANCE]])
    m.collision_geom1, m.collision_geom2, m.slot_pair = [0, 0], [0, 1], [0, 1]
    return m, SimpleNamespace(time=np.float64(0.0), seam_push=np.full(9, np.nan))


def in_cone(piece, x, n):
    """Whether a unit vector is normal to a box at a point on its surface: outward on sides that it touches, else 0."""
    low, high = (np.array(PIECES[piece][k]) for k in range(2))
    for k in range(3):
        up, down = abs(x[k] - high[k]) < 1e-9, abs(x[k] - low[k]) < 1e-9
        if (n[k] > 1e-6 and not up) or (n[k] < -1e-6 and not down):
            return False
    return True


def contains(piece, x):
    return all(lo - 1e-9 <= y <= hi + 1e-9 for lo, y, hi in zip(PIECES[piece][0], x, PIECES[piece][1], strict=True))


PLACES = [(1, 0, 1), (1, 0, 0), (0, 0, 1), (-1, 0, 1), (1, 1, 1), (-1, 1, 1), (0, 1, 1), (-1, -1, 0), (2, 0, 1)]
WAYS = [x / np.linalg.norm(x) for x in map(np.array, itertools.product((-1.0, 0.0, 1.0), repeat=3)) if x.any()]


def test_neighbours_that_cover_points():
    m, d = union()
    for x, n in itertools.product(PLACES, WAYS):
        covered = any(contains(piece, x) and not in_cone(piece, x, n) for piece in (1, 2, 3))
        found = plain(seams.covers)(m, d, 1, 4, floats(x), floats(n))
        assert found == (seams.COVERED if covered else seams.EXPOSED)
        off = not contains(0, x) or not in_cone(0, x, n)
        for way in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)):
            there = np.array(x) - 0.5 * np.array(way)
            found = plain(seams.look_at)(m, d, 1, 4, floats(there), floats(n), way, np.float64(0.5))
            assert found == (seams.ELSEWHERE if off else seams.COVERED if covered else seams.EXPOSED)
        assert plain(seams.depth)(m, 0, 6, floats(x)) == max(np.abs(x) - 1.0)


@pytest.mark.parametrize(
    ("place", "normal", "exposed"),
    [
        ((1, 0, 1), (0, 0, 1), True),  # on the flush top
        ((1, 0, 1), (0.6, 0, 0.8), False),  # tilted towards the neighbour
        ((1, 0, 0), (1, 0, 0), False),  # against the wall between the two
        ((-1, 0, 1), (0, 0, 1), True),  # at the foot of the higher one: nearby the top is free
        ((-1, 0, 1), (-0.6, 0, 0.8), False),
        ((0, 1, 1), (0, 0.6, 0.8), True),  # over an outer edge
        ((1, 1, 1), (0, 0.6, 0.8), True),  # along it, where the two meet
        ((-1, 1, 1), (0, 0.6, 0.8), True),  # at the foot, along the outer edge
        ((-1, 1, 0), (0, 1, 0), True),
        ((-1, 1, 1), (-0.6, 0.0, 0.8), False),
    ],
)
def test_contacts_with_a_union(place, normal, exposed):
    m, d = union()
    rng = np.random.default_rng(0)
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    turn = q * np.sign(np.diag(r)) * np.linalg.det(q * np.sign(np.diag(r)))
    d.geom_xpos, d.geom_xmat = rng.normal(size=(2, 3)), np.array([np.eye(3).ravel(), turn.ravel()])
    away = turn @ np.array(normal)  # from the second geom, so that the contact's normal is opposite
    dist = 0.2
    on = d.geom_xpos[1] + turn @ np.array(place, float)
    d.contact_pos, d.contact_dist = np.array([np.zeros(3), on + dist / 2 * away]), np.array([9.0, dist])
    d.contact_frame, d.contact_collision = np.array([np.full(9, np.nan), np.r_[-away, np.zeros(6)]]), [0, 1]
    assert plain(seams.is_exposed)(m, d, 1, 1, 1) == exposed
    assert plain(seams.is_exposed)(m, d, 1, 1, 0)  # the first geom has no neighbours
    assert plain(seams.at_seam)(m, 1) and plain(seams.at_seam)(m, 0)
    kept = plain(seams.drop_covered)(m, d, 1, 2, 1)
    assert kept == (2 if exposed else 1)


def test_normals_at_seams_are_exact():
    """One that is slightly wrong becomes that of all neighbours at the point; the frame is then a rotation anew."""
    m, d = union()
    tilted = np.array([3e-7, 2e-7, 1.0])
    tilted /= np.linalg.norm(tilted)
    found = plain(seams.nearest_normal)(m, d, 1, 4, floats([1, 0, 1]), floats(tilted))
    np.testing.assert_allclose(found, [0, 0, 1], atol=1e-15)
    d.contact_frame = np.full((2, 9), np.nan)
    plain(seams.write_normal)(d, 1, floats(found))
    frame = d.contact_frame[1].reshape(3, 3)
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1.0) and frame[0].tolist() == [*found]


# ---------------------------------------------------------------- found pairs


def world(rng):
    """Planes and spheres of five bodies, some of which are asleep or moved from outside."""
    m = SimpleNamespace(layout=layout("broad", "sleep"), nbroadplane=2, broad_plane=[0, 1], ngrid=4, nbody=6)
    m.grid_geom, m.geom_type = [2, 3, 4, 5], [PLANE, PLANE, SPHERE, BOX, SPHERE, SPHERE]
    m.geom_bodyid, m.body_weldid = [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]
    m.body_treeid = [-1, MOVED, 0, 1, 2, 3]
    m.geom_rbound, m.broad_reach = np.array([0, 0, 0.3, 0.4, 0.5, 0.6]), rng.uniform(0.0, 0.1, 6)
    m.broad_contype, m.broad_conaffinity = np.array([1, 1, 1, 1, 1, 2]), np.array([1, 1, 1, 1, 1, 2])
    m.broad_parent, m.exclude_adr, m.exclude_num, m.exclude_body = [-1] * 6, [0] * 6, [0, 0, 0, 1, 0, 0], [4]
    m.broad_firstgeom, m.broad_bodygeoms = np.arange(6), 1
    d = SimpleNamespace(time=np.float64(0.0), count={NLOST: 0})
    d.found_key, d.found_count, d.found_end = np.full(40, -1), [0], 40
    d.geom_xpos, d.geom_xmat = rng.normal(size=(6, 3)), np.tile(np.eye(3).ravel(), (6, 1))
    d.geom_xpos[0, 2], d.geom_xpos[1, 2] = -0.3, 0.2
    return m, d


def test_filters_of_pairs():
    rng = np.random.default_rng(1)
    m, d = world(rng)
    m.layout = layout("broad")
    for one, two in itertools.combinations(range(6), 2):
        masks = m.broad_contype[one] & m.broad_conaffinity[two] or m.broad_contype[two] & m.broad_conaffinity[one]
        both_flat = one < 2 and two < 2
        wanted = bool(masks) and not both_flat and (one, two) != (3, 4)
        assert plain(filters.may_touch)(m, d, one, two) == wanted
    for name, change in (("body_weldid", [0, 1, 2, 2, 4, 5]), ("broad_parent", [-1, -1, -1, 2, -1, -1])):
        kept = getattr(m, name)
        setattr(m, name, change)
        assert not plain(filters.may_touch)(m, d, 2, 3)
        setattr(m, name, kept)
    m.broad_parent = [-1, -1, 3, -1, -1, -1]
    assert not plain(filters.may_touch)(m, d, 2, 3)
    m.geom_type[2], m.geom_type[3] = HFIELD, HFIELD
    m.broad_parent = [-1] * 6
    assert not plain(filters.may_touch)(m, d, 2, 3)
    # masks of one side are enough
    m.geom_type[2:4] = SPHERE, BOX
    m.broad_contype[2:4], m.broad_conaffinity[2:4] = [4, 0], [0, 4]
    assert plain(filters.may_touch)(m, d, 2, 3)
    m.broad_contype[2:4], m.broad_conaffinity[2:4] = [0, 4], [4, 0]
    assert plain(filters.may_touch)(m, d, 2, 3)


def test_pairs_of_planes():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        m, d = world(rng)
        for plane, g in itertools.product((0, 1), range(2, 6)):
            m.layout, d.found_count = layout("broad"), [0]
            plain(found_pairs.pair_with_plane)(m, d, plane, g)
            height = d.geom_xpos[g, 2] - d.geom_xpos[plane, 2] - m.geom_rbound[g]
            near = height <= m.broad_reach[plane] + m.broad_reach[g] and g != 5
            assert d.found_count == [int(near)]
            if near:
                assert d.found_key[0] == plain(pair_key)(m, plane, g)


@pytest.mark.parametrize("still", [(3, 4), (2, 5), ()])
def test_planes_that_are_moved_meet_what_sleeps(still):
    m, d = world(np.random.default_rng(4))
    m.broad_reach[:] = 9.0
    m.broad_contype[5] = m.broad_conaffinity[5] = 1
    d.tree_awake, d.awake_count = [int(g not in still) for g in range(2, 6)], {NGRID: 4 - len(still)}
    for k in range(4):
        assert plain(is_still)(m, d, k) == (m.grid_geom[k] in still)
    for plane, wanted in ((0, ()), (1, still)):
        d.found_count = [0]
        plain(found_pairs.pairs_of_moved_plane)(m, d, plane)
        keys = [plain(pair_key)(m, plane, g) for g in wanted]
        assert d.found_key[: d.found_count[0]].tolist() == keys
    # a pair of which neither is awake may not wake
    m.layout = layout("broad", "sleep")
    for one, two in itertools.combinations(range(2, 6), 2):
        awake = not (one in still and two in still)
        assert plain(filters.may_wake)(m, d, one, two) == awake
        assert not plain(filters.may_touch)(m, d, one, two) or awake


def test_descriptions_of_pairs():
    """Each once, of the lower type first; as often as the file names it, with the laws that it names."""
    rng = np.random.default_rng(2)
    m, d = world(rng)
    m.geom_type = [BOX, PLANE, SPHERE, BOX, SPHERE, SPHERE]
    m.nsurface, m.broad_surface, m.broad_law = 2, [0, 1, 0, 1, 1, 0], [10, 11, 12, 13]
    pairs = [(0, 1), (0, 2), (0, 2), (1, 3), (1, 3), (1, 3), (2, 3), (2, 4)]
    keys = [plain(pair_key)(m, *pair) for pair in pairs]
    named = [(plain(pair_key)(m, 0, 5), 90), (keys[3], 91), (keys[3], 92), (keys[6], 93), (keys[7] + 1, 94)]
    m.nnamed, m.named_key, m.named_law = 5, [k for k, _ in named], [law for _, law in named]
    m.named_key[0] = keys[0] - 1  # before all
    d.count[NFOUND], d.found_key[: len(keys)] = len(keys), keys
    for name in ("geom1", "geom2", "kind", "law"):
        setattr(d, f"found_{name}", np.full(20, -1))
    plain(found_pairs.describe_pairs)(m, d)
    wanted, law = [], {91: (1, 3), 92: (1, 3), 93: (2, 3)}
    for one, two in [(0, 1), (0, 2), (1, 3), (1, 3), (2, 3), (2, 4)]:
        first, second = (two, one) if m.geom_type[one] > m.geom_type[two] else (one, two)
        wanted.append((first, second, pair_kind(m.geom_type[first], m.geom_type[second])))
    n = d.count[NFOUND]
    found = [*zip(d.found_geom1[:n], d.found_geom2[:n], d.found_kind[:n], strict=True)]
    assert found == wanted
    laws = [m.broad_law[2 * m.broad_surface[a] + m.broad_surface[b]] for a, b, _ in wanted]
    laws[2:5] = [91, 92, 93]
    assert d.found_law[:n].tolist() == laws and law
    assert d.found_key[:n].tolist() == [keys[0], keys[1], keys[3], keys[3], keys[6], keys[7]]
    assert (d.found_geom1[n:] == -1).all()


# ---------------------------------------------------------------- gaps


def test_the_first_open_slot_of_a_pair_has_its_least_gap():
    rng = np.random.default_rng(3)
    m = SimpleNamespace(nslot=6, slot_varies=[0, 1], slot_pair=[0, 0, 1, 1, 1, 1], slot_adr=[0, 2], slot_num=[2, 4])
    for modes in itertools.product((OPEN, OPEN + 1), repeat=4):
        d = SimpleNamespace(gap=rng.normal(size=9), mode=[OPEN, OPEN, *modes, OPEN])
        is_open = [s for s in range(2, 6) if d.mode[s] == OPEN]
        for i in (0, 1, 6, 7):
            assert plain(gap_functions.open_gap)(m, d, i) == d.gap[i]
        for k, s in enumerate(is_open):
            wanted = min(d.gap[s] for s in is_open) if k == 0 else gap_functions.ABSENT
            assert plain(gap_functions.open_gap)(m, d, s) == wanted
        for c, closed in ((0, False), (1, len(is_open) < 4)):
            assert plain(gap_functions.touches)(m, d, c) == closed
