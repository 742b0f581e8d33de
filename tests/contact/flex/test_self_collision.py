"""Where a deformable body may touch itself: no pair of elements is missed however its vertices move.

Law: the distance of two elements, convex hulls of two to four points, as a least-squares problem in weights that are
not negative and add up to 1 (SciPy's nnls, with 1e4 times the weight on the sums, so that it is good to 1e-6 m); and
MuJoCo 4.0's list of contacts.
"""

import mujoco
import numpy as np
import pytest
from helpers.flex_contacts import Finder, assert_same, mujocos
from helpers.flex_scenes import BODIES, SIZES, at, body, crumpled
from helpers.hull_distance import hull_distance

from saltus.contact.flex.self_collision import FULL, folds_close, list_neighbours, moved
from saltus.model.flex.mujoco_contacts import NEIGHBOURS_AT_LEAST
from saltus.number.kernels import Entry

LESS = SIZES | {"solid": 0.01}  # so that the list is not full
_CLOSE = Entry("folds_close", "", "d.time = folds_close(m, d, 0)", folds_close=folds_close)
_LIST = Entry("list_neighbours", "", "list_neighbours(m, d, 0)", list_neighbours=list_neighbours)
_MOVED = Entry("moved", "", "d.flexnear_made[0] = 1 - moved(m, d, 0)", moved=moved)


@pytest.mark.parametrize("name", list(BODIES))
def test_all_neighbours_are_listed(name):
    """Those without a common body that are within the reach and the skin, and no others."""
    m, rng = body(name), np.random.default_rng(1)
    finder, listed = Finder(m), 0
    elements = finder.m.flexelem_vert[:, : m.flex_dim[0] + 1]
    wide = 2 * m.flex_radius[0] + finder.m.flex_skin[0] + 1e-5
    for _ in range(3):
        d = at(m, crumpled(m, rng, LESS[name]))
        finder.place([d])
        _LIST(finder.m, finder.d)
        count = finder.d.flexnear_num[0]
        found = {tuple(sorted(map(int, pair))) for pair in finder.d.flexnear_elem[:count]}
        assert len(found) == count
        for i in range(len(elements)):
            for k in range(i):
                joined = set(m.flex_vertbodyid[elements[i]]) & set(m.flex_vertbodyid[elements[k]])
                apart = joined or hull_distance(d.flexvert_xpos[elements[i]], d.flexvert_xpos[elements[k]])
                assert ((k, i) in found) == (not joined and apart < wide) or abs(apart - wide) < 1e-4
        listed += count
    assert listed > 4


@pytest.mark.slow
@pytest.mark.parametrize("name", list(BODIES))
@pytest.mark.parametrize("kind", ["float64", "lane64"])
def test_contacts_of_what_moves_are_mujocos(name, kind):
    """Along paths of many small steps, most of which are taken with lists made before."""
    m, rng = body(name), np.random.default_rng(3)
    paths = [[crumpled(m, rng, SIZES[name]) for _ in range(4)] for _ in range(3)]
    finder, count = Finder(m, kind), 0
    for step in range(45):
        share = step % 15 / 15
        states = [at(m, (1 - share) * path[step // 15] + share * path[step // 15 + 1]) for path in paths]
        found, expected = finder(states), mujocos(states)
        if kind == "lane64":
            found, expected = ([sorted(c, key=lambda x: x.what) for c in side] for side in (found, expected))
        count += assert_same(found, expected, 1e-12)
    assert count > 10


def test_lists_last_until_something_has_moved_against_the_rest():
    """A body that is moved as a whole needs no new list, however far; half the skin of one vertex is not yet much."""
    m = body("sheet")
    finder, rest = Finder(m), np.zeros((m.nv // 3, 3))
    finder.place([at(m, rest)])
    _LIST(finder.m, finder.d)
    far = np.tile([3.0, -2.0, 5.0], (m.nv // 3, 1))
    m.flex_vert[:2] = 0.0
    skin = finder.m.flex_skin[0]
    finder.d.flexvert_xpos[...] += far[0]
    assert not changed(finder)
    finder.d.flexvert_xpos[7, 2] += 0.99 * skin
    assert not changed(finder)
    finder.d.flexvert_xpos[9, 2] -= 0.02 * skin
    assert changed(finder)


def changed(finder):
    _MOVED(finder.m, finder.d)
    return not finder.d.flexnear_made[0]


def test_calls_are_few():
    """MuJoCo is not called while a sheet is smooth, nor where it is folded with more than its thickness between."""
    m = body("sheet")
    finder, called = Finder(m), []
    find = finder.foreign._find
    finder.foreign._find = lambda lane: called.append(lane) or find(lane)
    places = finder_places(m)
    for gap, calls in ((0.0082, 0), (0.0079, 1)):
        called.clear()
        folded = places.copy()
        folded[:, 0] = np.abs(places[:, 0] - 0.03)  # one half above the other
        folded[:, 2] = np.where(places[:, 0] < 0.03, 1.0, 1.0 + gap)
        d = mujoco.MjData(m)
        d.flexvert_xpos[:] = folded
        d.geom_xmat[:] = 0.0
        finder.place([d])
        finder.d.flexvert_xpos[...] = folded
        seam = np.abs(places[:, 0] - 0.03) < 0.08
        finder.m.flexelem_active[:] = [not seam[corners[:3]].any() for corners in finder.m.flexelem_vert]
        finder.find()
        assert len(called) == calls


def finder_places(m):
    d = mujoco.MjData(m)
    mujoco.mj_fwdPosition(m, d)
    return d.flexvert_xpos.copy()


def test_a_full_list_counts_as_near():
    """More neighbours than there is room for: MuJoCo is called, and finds them."""
    m = body("sheet")
    finder = Finder(m)
    d = at(m, 0.0 * crumpled(m, np.random.default_rng(0), 0.1))
    d.qpos[:] += -0.97 * (d.flexvert_xpos[2:] - [0, 0, 1]).ravel() + 0.004 * np.random.default_rng(0).normal(size=m.nv)
    mujoco.mj_fwdPosition(m, d)
    finder.place([d])
    finder.find()
    assert finder.d.flexnear_num[0] == FULL and m.flex_elemnum[0] > NEIGHBOURS_AT_LEAST
    _CLOSE(finder.m, finder.d)
    assert finder.d.time == 1.0 and d.ncon > 100
