"""Contacts of deformable bodies that MuJoCo finds: the same as those of its own step, for each lane and on any thread.

Law: MuJoCo 4.0's lists of contacts. Its functions are run on a copy of the model at the places of geoms and vertices
that a step of its own has, so that distances and positions are equal to the bit but for the sums that place vertices:
1e-15 m; a frame is made of the normal again, 1e-14. In single precision places are rounded, and directions of distances
of some millimetres good to a thousandth.

Derivatives: central differences with steps of 1e-5 m of distances that MuJoCo finds to 1e-12 m; normals, and with them
the tangents of distances, are then good to the square root, 1e-6, over distances of a tenth of what touches: 1e-4 (and
less so of ellipsoids).
"""

import _thread
import functools
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
import pytest
from helpers.flex_contacts import Finder, assert_same, mujocos, random_states, same_bits, with_geoms
from helpers.flex_scenes import GEOMS, SCENES
from helpers.plain_or_slow import COMPILED, PLAIN, some

from saltus.contact.counts import NCON, NLOST
from saltus.model.layout import DATA

KINDS = ("float64", "lane64", "lane32")
TOLERANCE = {"float64": 1e-12, "lane64": 1e-12, "lane32": 1e-2}


@functools.cache
def cases(name):
    """A model, its states and MuJoCo's contacts there."""
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{SCENES[name]}</worldbody></mujoco>")
    m = with_geoms(spec, GEOMS.get(name, []))
    states = random_states(m, np.random.default_rng(7), 24, 0.03)
    return m, states, mujocos(states)


def ordered(found):
    """Each state's contacts in the order of what touches."""
    return [sorted(contacts, key=lambda c: c.what) for contacts in found]


# which fifty contacts of a rigid body are kept depends on roundings of places
ALL = [(name, "float64", PLAIN) for name in SCENES]
ALL += [
    pytest.param(name, kind, COMPILED, marks=pytest.mark.slow)
    for name in SCENES
    for kind in KINDS
    if (name, kind) != ("rigid", "lane32")
]


@pytest.mark.parametrize(("name", "kind", "way"), ALL, indirect=["way"])
def test_contacts_are_mujocos(name, kind, way):
    """In MuJoCo's order; where lanes are put side by side, in that of the elements."""
    m, states, expected = cases(name)
    states, expected = some(way, 8, states, expected)
    found = Finder(m, kind)(states)
    if kind != "float64":
        found, expected = ordered(found), ordered(expected)
    assert assert_same(found, expected, TOLERANCE[kind]) > 4 * len(states)


@pytest.mark.slow
def test_more_deformable_bodies_than_bits_of_a_mask():
    """Rods that cross, and a box that some touch; those that the masks keep apart, at the same place, do not touch."""
    rods = "".join(
        f"""<flexcomp name="rod{k}" type="grid" dim="1" count="3 1 1" spacing=".05 .1 .1" radius=".01" mass=".05"
          pos="{0.2 * (k // 3)} 0 0" euler="0 0 {90 * (k % 3)}">
          <contact selfcollide="none" contype="{1 + k % 2}" conaffinity="{1 + k % 2}"/></flexcomp>"""
        for k in range(36)
    )
    body = '<body pos=".2 0 .05"><freejoint/><geom type="box" size=".05 .05 .05"/></body>'
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}{rods}</worldbody></mujoco>")
    states = random_states(m, np.random.default_rng(7), 4, 0.003)
    assert assert_same(ordered(Finder(m, "float64")(states)), ordered(mujocos(states)), 1e-12) > 40


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sheet", "both"])
def test_neighbours_do_not_matter(name):
    """A state's contacts are the same bit by bit beside other states and in another place."""
    m, states, _ = cases(name)
    finder = Finder(m, "lane64")
    mixed = np.random.default_rng(0).permutation(len(states))
    shuffled = finder([states[k] for k in mixed])
    found = finder(states)
    assert same_bits([found[k] for k in mixed], shuffled)
    alone = [finder([states[k]])[0] for k in mixed[:6]]  # the same state in every lane
    assert same_bits(shuffled[:6], alone)


def test_threads():
    """Two Datas, one on each thread, at the same time."""
    m, states, _ = cases("sheet")
    expected = Finder(m)(states)
    finders = [Finder(m) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            assert all(same_bits(found, expected) for found in pool.map(lambda finder: finder(states), finders))


def height(m, z):
    """The state at rest with the first geom's body at height z (m), upright."""
    d = mujoco.MjData(m)
    first, second = m.jnt_qposadr[m.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    d.qpos[first : first + 3] = 0.03, 0.02, z
    d.qpos[second : second + 3] = 5.0
    mujoco.mj_fwdPosition(m, d)
    return d


@pytest.mark.parametrize(("gap", "calls"), [(0.002, 1), (-2e-4, 1), (0.0101, 0), (0.2, 0)])
def test_mujoco_is_called_where_it_may_find_something(gap, calls):
    """Not where a cylinder is above the sheet by more than its margin, however near its bounding sphere is."""
    m, _, _ = cases("sheet")
    finder, called = Finder(m), []
    find = finder.foreign._find
    finder.foreign._find = lambda lane: called.append(lane) or find(lane)
    (found,) = finder([height(m, 0.08 + 0.01 + gap)])
    assert len(called) == calls and bool(found) == bool(calls)


@pytest.mark.slow
def test_tangents():
    """Duals carry the derivatives of distances, of bodies apart."""
    m, _, _ = cases("sheet")
    m.opt.ccd_tolerance = 1e-12
    m.opt.ccd_iterations = 200
    rng = np.random.default_rng(3)
    duals, floats, compared = Finder(m, "dual"), Finder(m), 0
    for state in random_states(m, rng, 40, 0.03):
        change = {
            name: rng.normal(size=(*np.shape(getattr(state, name)), 8)) for name in ("geom_xpos", "flexvert_xpos")
        }
        values, tangents = duals.with_tangents(state, change)
        sides = []
        for k in range(8):
            for sign in (1e-5, -1e-5):
                places = {p: getattr(state, p) for p in ("geom_xmat", "xpos", "xmat")}
                places |= {p: getattr(state, p) + sign * change[p][..., k] for p in change}
                sides.append({c.what: c.dist for c in floats([type("State", (), places)])[0]})
        for c, tangent in zip(values, tangents, strict=True):
            apart = c.what[0] == 0 and c.dist > -0.005  # the cylinder, its core and the element's by 5 mm
            if apart and all(c.what in side for side in sides):
                slope = [(sides[2 * k][c.what] - sides[2 * k + 1][c.what]) / 2e-5 for k in range(8)]
                np.testing.assert_allclose(tangent.dist, slope, rtol=0, atol=1e-4)
                compared += 1
    assert compared > 20


# ---------------------------------------------------------------- where something is missing or goes wrong


def test_what_nobody_works_for_is_lost():
    """A Data that nothing is attached to counts a pair that is near as lost."""
    m, _, _ = cases("sheet")
    finder = Finder(m)
    finder.d.ints[DATA.slot["flexforeign_call"]] = 0
    finder.place([height(m, 0.085)])
    finder.find()
    assert finder.d.count[NCON] == 0 and finder.d.count[NLOST] == 1


def test_an_error_in_mujoco_is_a_lost_contact(monkeypatch):
    """The process goes on, and the next call finds contacts again."""
    m, _, _ = cases("sheet")
    finder, state = Finder(m), height(m, 0.085)
    (expected,) = finder([state])

    def fails(m, d):
        raise mujoco.FatalError("out of memory")

    monkeypatch.setattr(mujoco, "mj_collision", fails)
    finder.find()
    assert finder.d.count[NCON] == 0 and finder.d.count[NLOST] == 1
    monkeypatch.undo()
    assert same_bits(finder([state]), [expected])


def test_too_little_memory():
    """Contacts that MuJoCo has no memory for are lost, too."""
    spec = mujoco.MjSpec.from_string(f"<mujoco><size memory='70K'/><worldbody>{SCENES['itself']}</worldbody></mujoco>")
    m = spec.compile()
    finder = Finder(m)
    crumpled = mujoco.MjData(m)
    finder.place([crumpled])
    finder.d.flexvert_xpos[...] = 0.02 * np.random.default_rng(0).normal(size=(m.nflexvert, 3))
    finder.find()
    assert finder.d.count[NLOST] > 0


def test_an_interrupt_comes_later(monkeypatch):
    """Ctrl-C during a call does not lose contacts, and is raised soon after."""
    m, _, _ = cases("sheet")
    finder, state = Finder(m), height(m, 0.085)
    (expected,) = finder([state])
    find, times = finder.foreign._find, []

    def interrupted(lane):
        times.append(lane)
        if len(times) == 1:
            _thread.interrupt_main()
            time.sleep(0.01)
        return find(lane)

    finder.foreign._find = interrupted
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            finder.find()
            for _ in range(500):
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(times) == 2 and finder.d.count[NCON] == len(expected)
