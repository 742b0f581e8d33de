"""Contacts of spheres, capsules and boxes with the triangles of sheets.

Law: MuJoCo 4.0's lists of contacts at the same places of geoms and vertices: elements, distances, positions, frames,
order. Its functions are an independent implementation.

Tolerance: a contact's numbers are some ten products and sums of numbers of order 1, and the direction of a distance of
1 mm, as the least are here, is a thousand times less good: 1e-12 in double precision, 1e-3 in single precision, at
places rounded to it. Derivatives by differences are of fourth order: with h = 1e-5 and distances over 5 mm their error
is (h / L)⁴ / h, 1e-6, and 1e-16 / h by rounding.
"""

import functools

import mujoco
import numpy as np
import pytest
from helpers.files import shared
from helpers.flex_contacts import Finder, assert_same, assert_tangents, mujocos, random_states, same_bits, with_geoms
from helpers.plain_or_slow import plain_or_slow_kinds, some

from saltus.contact.flex.triangle import nearest_on_triangle
from saltus.number.kernels import interpret

SHEET = """<mujoco><worldbody><flexcomp type="grid" count="7 6 1" spacing=".1 .1 .1" radius="{radius}" mass="1"
name="sheet" dim="2"><contact selfcollide="none" {contact}/><edge damping="1"/><pin id="0 5"/></flexcomp></worldbody>
</mujoco>"""
GEOMS = {
    "sphere": [("sphere", [0.06], {}), ("sphere", [0.3], {"margin": 0.02})],
    "capsule": [("capsule", [0.03, 0.2], {}), ("capsule", [0.05, 0.05], {"margin": 0.01, "gap": 0.01})],
    "box": [("box", [0.12, 0.08, 0.05], {}), ("box", [0.3, 0.2, 0.04], {"margin": 0.03})],
}


@functools.cache
def cases(name):
    """A model, its states and MuJoCo's contacts there."""
    spec = mujoco.MjSpec.from_string(SHEET.format(radius=0.01, contact='margin=".005"'))
    m = with_geoms(spec, GEOMS[name])
    states = random_states(m, np.random.default_rng(len(name)), 60, 0.02)
    return m, states, mujocos(states)


TOLERANCE = {"float64": 1e-12, "lane64": 1e-12, "lane32": 1e-3}


@plain_or_slow_kinds(TOLERANCE)
@pytest.mark.parametrize("name", list(GEOMS))
def test_contacts_are_mujocos(name, kind, way):
    """MuJoCo's contacts, with what is outside and what is deep inside."""
    m, states, expected = cases(name)
    states, expected = some(way, 10, states, expected)
    assert assert_same(Finder(m, kind)(states), expected, TOLERANCE[kind]) > 8 * len(states)
    depths = [c.dist for contacts in expected for c in contacts]
    assert min(depths) < -0.01 and max(depths) > 0.01


@pytest.mark.parametrize("scene", ["trampoline", "flag"])
def test_contacts_on_a_scene_are_mujocos(scene):
    """The same on sheets of a scene, some of whose vertices are fixed."""
    spec = mujoco.MjSpec.from_file(str(shared(f"mujoco/{scene}")))

    def alone(spec):
        for flex in spec.flexes:
            flex.selfcollide = 0

    m = with_geoms(spec, [geom for geoms in GEOMS.values() for geom in geoms], alone)
    states = random_states(m, np.random.default_rng(2), 20, 0.02)
    assert assert_same(Finder(m)(states), mujocos(states), TOLERANCE["float64"]) > 500


def test_neighbours_do_not_matter():
    """A state's contacts are the same bit by bit beside other states and in another place."""
    for name in GEOMS:
        m, states, _ = cases(name)
        finder = Finder(m, "lane64")
        mixed = np.random.default_rng(0).permutation(len(states))
        shuffled = finder([states[k] for k in mixed])
        found = finder(states)
        assert same_bits([found[k] for k in mixed], shuffled)
        alone = [finder([states[k]])[0] for k in mixed[:20]]  # the same state in every lane
        assert same_bits(shuffled[:20], alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(GEOMS))
def test_tangents(name):
    """Duals carry the derivatives of distances, positions and frames, away from kinks."""
    m, states, _ = cases(name)
    assert assert_tangents(m, states[:12], np.random.default_rng(1), step=1e-5, tolerance=1e-6) > 50


def test_the_nearest_point_is_nearest():
    """No point of a fine grid on the triangle is nearer, and the point is on the triangle; flat and thin ones too."""
    nearest = interpret(nearest_on_triangle)
    rng = np.random.default_rng(5)
    shares = [(i / 60, j / 60) for i in range(61) for j in range(61 - i)]
    for k in range(60):
        corners = rng.normal(size=(3, 3))
        corners[2] = corners[2] if k % 3 else corners[0] + 0.3 * (corners[1] - corners[0]) + 1e-3 * corners[2]
        point = 2.0 * rng.normal(size=3)
        found = np.array(nearest(tuple(point), tuple(map(tuple, corners))))
        grid = corners[0] + np.array(shares) @ (corners[1:] - corners[0])
        assert np.linalg.norm(found - point) < np.linalg.norm(grid - point, axis=1).min() + 1e-12
        share, *_ = np.linalg.lstsq((corners[1:] - corners[0]).T, found - corners[0])
        assert share.min() > -1e-9 and share.sum() < 1 + 1e-9
        assert np.linalg.norm((corners[1:] - corners[0]).T @ share - (found - corners[0])) < 1e-12
