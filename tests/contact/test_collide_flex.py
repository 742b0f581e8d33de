"""Contacts of geoms with deformable bodies: which elements and vertices are tested, in which order, and segments.

Law: MuJoCo 4.0's lists of contacts at the same places of geoms and vertices: geoms, elements, vertices, distances,
positions, frames, order. Its functions are an independent implementation.

Tolerance: in double precision 1e-11, rounding over the least distance whose direction is a normal and the least angle
at which a capsule crosses a box's edge; 1e-4 in single precision, at places rounded to it.
"""

import functools

import mujoco
import numpy as np
import pytest
from helpers.files import shared
from helpers.flex_contacts import Finder, assert_same, mujocos, random_states, with_geoms
from helpers.flex_scenes import ROPE, SHEETS
from helpers.plain_or_slow import plain_or_slow_kinds, some

from saltus.contact.counts import NCON, NLOST
from saltus.model.flex.contacts import RUN

GEOMS = {
    "sphere": [("sphere", [0.04], {}), ("sphere", [0.15], {"margin": 0.02})],
    "capsule": [("capsule", [0.03, 0.1], {}), ("capsule", [0.05, 0.05], {"margin": 0.01, "gap": 0.01})],
    "box": [("box", [0.12, 0.08, 0.03], {}), ("box", [0.1, 0.1, 0.1], {"margin": 0.03})],
}
TOLERANCE = {"float64": 1e-11, "lane64": 1e-11, "lane32": 1e-4}


@functools.cache
def cases(name):
    """A rope, its states and MuJoCo's contacts there."""
    m = with_geoms(mujoco.MjSpec.from_string(ROPE), GEOMS[name])
    states = random_states(m, np.random.default_rng(3), 200, 0.02)
    return m, states, mujocos(states)


@plain_or_slow_kinds(TOLERANCE)
@pytest.mark.parametrize("name", list(GEOMS))
def test_contacts_of_ropes_are_mujocos(name, kind, way):
    m, states, expected = cases(name)
    states, expected = some(way, 8, states, expected)
    assert assert_same(Finder(m, kind)(states), expected, TOLERANCE[kind]) > len(states)


@functools.cache
def sheets():
    """Two deformable bodies, a plane, a geom of the world, a body of two geoms; pairs in MuJoCo's order."""
    spec = mujoco.MjSpec.from_string(SHEETS)
    m = with_geoms(spec, [("sphere", [0.08], {"conaffinity": 3}), ("capsule", [0.05, 0.2], {"conaffinity": 3})])
    states = random_states(m, np.random.default_rng(4), 60, 0.03)
    match = [(g, f) for b in range(m.nbody) for f in range(2) for g in geoms_of(m, b) if masks(m, g, f)]
    return m, states, match


def geoms_of(m, body):
    return [g for g in range(m.ngeom) if m.geom_bodyid[g] == body]


def masks(m, g, f):
    return m.geom_contype[g] & m.flex_conaffinity[f] or m.flex_contype[f] & m.geom_conaffinity[g]


@plain_or_slow_kinds(TOLERANCE)
def test_contacts_of_several_are_mujocos(kind, way):
    """Planes meet vertices, fixed ones too; geoms of the world meet no element with a corner that is fixed to it."""
    m, states, pairs = sheets()
    (states,) = some(way, 15, states)
    expected = mujocos(states)
    assert assert_same(Finder(m, kind, pairs)(states), expected, TOLERANCE[kind]) > 33 * len(states)
    whats = {c.what[0] for contacts in expected for c in contacts if c.what[6] >= 0}, [c.what for c in expected[0]]
    assert whats[0] == {0}
    corners = m.flex_elem[: 3 * m.flex_elemnum[0]].reshape(-1, 3)
    fixed = {e for e in range(m.flex_elemnum[0]) if {0, 40, 50} & set(corners[e])}
    met = {c.what[5] for contacts in expected for c in contacts if c.what[0] == 1 and c.what[3] == 0}
    assert fixed and met and not fixed & met


def test_what_has_no_room_is_counted():
    """Contacts beyond the room are lost, and counted; those before are kept."""
    m, states, pairs = sheets()
    finder = Finder(m, "float64", pairs)
    (whole,) = finder(states[:1])
    finder.m.ints[finder.m.layout.slot["nconmax"]] = 5
    finder.place(states[:1])
    finder.find()
    assert finder.d.count[NCON] == 5 and finder.d.count[NLOST] == len(whole) - 5
    np.testing.assert_array_equal(finder.d.contact_dist[:5], [c.dist for c in whole[:5]])


def test_a_scene_with_its_own_plane():
    """The trampoline at rest on its plane and deep in it, the ball in the middle."""
    m = mujoco.MjModel.from_xml_path(str(shared("mujoco/trampoline")))
    m.flex_selfcollide[:] = 0
    states = random_states(m, np.random.default_rng(6), 20, 0.02)
    for k, d in enumerate(states):
        d.qpos[9::3] -= 0.1 * k
        mujoco.mj_fwdPosition(m, d)
    expected = mujocos(states)
    assert assert_same(Finder(m)(states), expected, TOLERANCE["float64"]) > 1000
    assert m.flex_elemnum[0] > 4 * RUN
