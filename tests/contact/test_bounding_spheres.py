"""Bounding spheres within reach of each other, and of planes: closed forms, at random poses in plain Python."""

from types import SimpleNamespace

import numpy as np
import pytest

from saltus.contact.bounding_spheres import may_touch, near, smaller_radius
from saltus.model.enums import BOX, PLANE
from saltus.number.kernels import interpret

RADII = np.array([0.3, 0.5])


def pair(kind, place, mat, radii=RADII):
    """A model and data of two geoms: the first of a kind at a place, with axes; the second at the origin."""
    m = SimpleNamespace(geom_type=np.array([kind, BOX]), geom_rbound=np.where([kind == PLANE, False], 0.0, radii))
    rows = SimpleNamespace(time=0.0, geom_xpos=[tuple(place), (0.0, 0.0, 0.0)], geom_xmat=Matrices((mat, np.eye(3))))
    return m, rows


class Matrices:
    """Rows of nine numbers, by one index or two."""

    def __init__(self, mats):
        self._rows = [tuple(map(float, np.ravel(mat))) for mat in mats]

    def __getitem__(self, index):
        return self._rows[index[0]][index[1]] if isinstance(index, tuple) else self._rows[index]


@pytest.mark.parametrize("kind", [PLANE, BOX])
def test_geoms_are_near_where_the_distance_is_no_more_than_the_reach(kind):
    rng, close, touch = np.random.default_rng(0), interpret(near), interpret(may_touch)
    said = []
    for _ in range(300):
        mat, place = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
        reach = rng.uniform(-0.1, 0.5)
        m, d = pair(kind, place, mat)
        if kind == PLANE:
            distance = -place @ mat[:, 2] - RADII[1]
        else:
            distance = np.linalg.norm(place) - RADII.sum()
        wanted = distance <= reach
        assert close(m, d, 0, 1, reach) == wanted
        assert touch(m, d, 0, 1, reach) == float(wanted)
        said.append(wanted)
    assert 30 < sum(said) < 270


def test_the_stricter_one_leaves_out_what_rounding_decides():
    """Places and sizes that are sums of powers of two: near at exactly the reach, but not within rounding of it."""
    for kind in (PLANE, BOX):
        radii = np.array([0.25, 0.5])
        least = 0.5 if kind == PLANE else 0.75
        m, d = pair(kind, (0.0, 0.0, -least - 0.25), np.eye(3), radii)
        assert interpret(near)(m, d, 0, 1, 0.25)
        assert interpret(may_touch)(m, d, 0, 1, 0.25) == 0.0
        assert interpret(may_touch)(m, d, 0, 1, 0.25 * (1 + 1e-13)) == 1.0
        assert interpret(may_touch)(m, d, 0, 1, 0.25 * (1 - 1e-13)) == 0.0
    # far along the plane a height is the difference of large numbers
    m, d = pair(PLANE, (2.0**20, 2.0**20, -0.75), np.eye(3), np.array([0.25, 0.5]))
    assert interpret(may_touch)(m, d, 0, 1, 0.25 + 1e-9) == 0.0
    assert interpret(may_touch)(m, d, 0, 1, 0.25 + 1e-7) == 1.0


def test_what_is_no_number_touches_nothing():
    for k in range(2):
        for kind in (PLANE, BOX):
            m, d = pair(kind, (0.0, 0.0, 0.0), np.eye(3))
            d.geom_xmat = Matrices([np.full((3, 3), np.nan) if i == k else np.eye(3) for i in range(2)])
            assert interpret(may_touch)(m, d, 0, 1, 0.1) == 0.0


def test_the_smaller_radius_is_that_of_what_is_no_plane():
    m, smaller = SimpleNamespace(geom_rbound=[0.0, 0.2, 0.3]), interpret(smaller_radius)
    assert [smaller(m, *pair) for pair in ((0, 1), (1, 0), (1, 2), (2, 1), (2, 2))] == [0.2, 0.2, 0.2, 0.2, 0.3]
