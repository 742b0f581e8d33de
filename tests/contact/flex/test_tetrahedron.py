"""Contacts of spheres and capsules with the tetrahedra of solids.

Law: MuJoCo 4.0's lists of contacts at the same places of geoms and vertices: elements, distances, positions, frames,
order. Its functions are an independent implementation, and iterate to 1e-12 of a length where they do.

Tolerance: 1e-11 in double precision: rounding over the least distance whose direction is a normal, some 1e-4 m here;
2e-3 in single precision, at places rounded to it. Derivatives by differences are of fourth order: with h = 1e-5 and
distances over 5 mm their error is (h / L)⁴ / h, 1e-6, and 1e-16 / h by rounding.
"""

import functools

import mujoco
import numpy as np
import pytest
from helpers.flex_contacts import Finder, assert_same, assert_tangents, mujocos, random_states, same_bits, with_geoms
from helpers.plain_or_slow import COMPILED, plain_or_slow_kinds, some

SOLID = """<mujoco><worldbody><flexcomp type="grid" count="4 3 5" spacing=".1 .1 .1" dim="3" radius="{radius}" mass="1"
name="solid"><contact selfcollide="none" {contact}/><edge damping="1"/></flexcomp></worldbody></mujoco>"""
GEOMS = [
    ("sphere", [0.04], {}),
    ("sphere", [0.1], {"margin": 0.02}),
    ("capsule", [0.03, 0.1], {}),
    ("capsule", [0.01, 0.3], {"margin": 0.01, "gap": 0.01}),
]
TOLERANCE = {"float64": 1e-11, "lane64": 1e-11, "lane32": 2e-3}


@functools.cache
def cases(radius=0.01, layers=1, n=60):
    """A model, its states and MuJoCo's contacts there."""
    spec = mujoco.MjSpec.from_string(SOLID.format(radius=radius, contact=f'activelayers="{layers}"'))
    m = with_geoms(spec, GEOMS)
    states = random_states(m, np.random.default_rng(3), n, 0.015)
    return m, states, mujocos(states)


@pytest.mark.parametrize("radius", [0, 0.01])
@plain_or_slow_kinds(TOLERANCE)
def test_contacts_are_mujocos(kind, radius, way):
    """MuJoCo's contacts, of cores outside of tetrahedra and inside."""
    m, states, expected = cases(radius)
    states, expected = some(way, 12, states, expected)
    assert assert_same(Finder(m, kind)(states), expected, TOLERANCE[kind]) > 8 * len(states)
    assert min(c.dist for contacts in expected for c in contacts) < (-0.11 if way == COMPILED else -0.02)


def test_only_outer_layers_touch():
    """With more layers there are more contacts, up to all tetrahedra."""
    counts = []
    for layers in (1, 2, 5):
        m, states, expected = cases(0.01, layers, 20)
        counts.append(assert_same(Finder(m)(states), expected, TOLERANCE["float64"]))
    assert counts[0] < counts[1] <= counts[2]


def test_neighbours_do_not_matter():
    """A state's contacts are the same bit by bit beside other states and in another place."""
    m, states, _ = cases()
    finder = Finder(m, "lane64")
    mixed = np.random.default_rng(0).permutation(len(states))
    shuffled = finder([states[k] for k in mixed])
    found = finder(states)
    assert same_bits([found[k] for k in mixed], shuffled)
    alone = [finder([states[k]])[0] for k in mixed[:20]]  # the same state in every lane
    assert same_bits(shuffled[:20], alone)


@pytest.mark.slow
def test_tangents():
    """Duals carry the derivatives of distances, positions and frames, away from kinks."""
    m, states, _ = cases()
    assert assert_tangents(m, states[:12], np.random.default_rng(1), step=1e-5, tolerance=1e-6) > 100
