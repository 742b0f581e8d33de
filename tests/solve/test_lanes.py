"""Constrained simulations side by side, in lanes: none feels the others, and each is the single simulation.

Law: what touches, how long the solver goes on and which entries its matrix has is decided for all lanes together; what
each lane gets from it depends on its own state alone, to the bit: not on its neighbours, its place, the size of the
batch, the number of threads, nor on whether anything touches elsewhere.

Tolerance against single runs: lanes sum and evaluate sines in other orders, 1e-13 a step, which impacts multiply: 1e-9
after 100 steps in double precision; in single precision 1e-6 a step and 1e-2 after 20.
"""

import numpy as np
import pytest
from helpers.constraints import complete
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.contact.counts import NBLOCK
from saltus.number.kinds import LANES

OFF = 'contype="0" conaffinity="0"'
PRECISIONS = "float64", "float32"
# legs and balls that come down at different times, a loop, limits and dry friction
XML = f"""
<mujoco><option cone="{{}}"/><worldbody><geom type="plane" size="9 9 .1" friction=".7 .02 .01"/>
  <body pos="0 0 .5"><freejoint/><geom type="capsule" size=".06" fromto="-.1 0 0 .1 0 0"/>
    <body pos=".1 0 0"><joint name="k" axis="0 1 0" range="-40 60" damping=".1"/>
      <geom type="capsule" size=".04" fromto="0 0 0 .05 0 -.2"/></body>
    <body pos="-.1 0 0"><joint axis="0 1 0" range="-60 40" frictionloss=".02"/>
      <geom type="capsule" size=".04" fromto="0 0 0 -.05 0 -.2"/></body></body>
  <body pos="0 0 .8"><freejoint/><geom size=".08" condim="6"/></body>
  <body pos="2 0 1"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" {OFF}/>
    <body name="e" pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" {OFF}/>
  </body></body>
</worldbody><equality><connect body1="e" anchor=".3 0 .0"/></equality>
<actuator><motor joint="k" gear="2"/></actuator></mujoco>"""
STEPS = 100


def model(cone="pyramidal"):
    """With the tolerance that a file has by default, which single precision reaches too."""
    m = complete(XML.format(cone))
    m.opt.tolerance = 1e-8
    return saltus.load(m)


def starts(model, n, seed=0):
    """States from high above to deep in the floor, so that lanes touch at all times; some fly away."""
    rng = np.random.default_rng(seed)
    qpos, qvel = np.tile(model.qpos0, (n, 1)), 0.5 * rng.normal(size=(n, model.nv))
    qpos[:, 2] += rng.choice([-0.3, -0.25, -0.1, 0.5, 20], n)
    qpos[:, 11] += rng.choice([-0.72, -0.6, -0.1, 30], n)
    qpos[:, 7:9] += 0.3 * rng.normal(size=(n, 2))
    return qpos, qvel, rng.normal(size=(n, model.nu))


def ends(model, states, steps=STEPS, **options):
    """State after some steps [n, nq + nv]; steps are taken in several calls."""
    qpos, qvel, ctrl = states
    batch = saltus.Batch(model, len(qpos), **{"threads": 1, **options})
    batch.qpos, batch.qvel, batch.ctrl = qpos, qvel, ctrl
    for count in (1, steps // 2, steps - 1 - steps // 2):
        batch.step(count)
    assert batch.unconverged == 0
    return np.hstack([batch.qpos, batch.qvel])


def taken(states, index):
    return tuple(x[index] for x in states)


def rows_on_the_way(model, states):
    """How many blocks of rows each single simulation has at each of some steps [n, STEPS]."""
    counts = []
    for qpos, qvel, ctrl in zip(*states, strict=True):
        sim = saltus.Simulation(model)
        sim.qpos[:], sim.qvel[:], sim.ctrl[:] = qpos, qvel, ctrl
        row = []
        for _ in range(STEPS):
            sim.step()
            row.append(int(sim.engine.d.count[NBLOCK]))
        counts.append(row)
    return np.array(counts)


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_neighbours_place_size_and_threads_do_not_matter(precision, cone):
    m = model(cone)
    width = LANES[precision].width
    n = 2 * width + 3
    states = starts(m, n)
    options = {"precision": precision}
    reference = ends(m, states, **options)
    rng = np.random.default_rng(1)
    # alone, and in all lanes
    for i in (0, 1, n - 1):
        assert_array_equal(ends(m, taken(states, [i]), **options)[0], reference[i])
        assert_array_equal(ends(m, taken(states, [i] * width), **options), np.tile(reference[i], (width, 1)))
    # with other neighbours in other places, in a batch of another size
    for _ in range(2):
        order = rng.permutation(n)
        assert_array_equal(ends(m, taken(states, order), **options), reference[order])
    few = rng.permutation(n)[: width // 2 + 1]
    assert_array_equal(ends(m, taken(states, few), **options), reference[few])
    # among neighbours that touch nothing at all, ever
    away = starts(m, width)
    away[0][:, [2, 11]] += 1000, 2000
    for i in range(3):
        mixed = tuple(np.concatenate([a[:1], b[1:]]) for a, b in zip(taken(states, [i]), away, strict=True))
        assert_array_equal(ends(m, mixed, **options)[0], reference[i])
    assert_array_equal(ends(m, states, threads=3, **options), reference)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e12, 1e200])
def test_a_neighbour_that_is_not_a_number(bad):
    """Neither changes the others nor keeps their solver from ending."""
    m = model()
    states = starts(m, LANES["float64"].width)
    reference = ends(m, states)
    batch = saltus.Batch(m, len(reference), threads=1)
    batch.qpos, batch.qvel, batch.ctrl = states
    broken = states[1].copy()
    broken[1] = bad
    batch.qvel = broken
    for count in (1, STEPS // 2, STEPS - 1 - STEPS // 2):
        try:
            batch.step(count)
        except saltus.DivergenceError as error:
            assert "simulation 1 " in str(error)
    others = np.arange(len(reference)) != 1
    assert_array_equal(np.hstack([batch.qpos, batch.qvel])[others], reference[others])
    assert_array_equal(batch.diverged, ~others)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_equal_to_single_simulations(cone):
    """And contacts begin and end on the way, in different lanes at different times."""
    m = model(cone)
    n = LANES["float64"].width + 2
    states = starts(m, n)
    found = ends(m, states)
    for i in range(n):
        sim = saltus.Simulation(m)
        sim.qpos[:], sim.qvel[:], sim.ctrl[:] = taken(states, i)
        sim.step(STEPS)
        assert_allclose(found[i], np.hstack([sim.qpos, sim.qvel]), rtol=0, atol=1e-9)
    counts = rows_on_the_way(m, taken(states, slice(4)))
    assert (np.diff(counts, axis=1) != 0).any(axis=1).sum() > 1 and len(np.unique(counts)) > 3


@pytest.mark.slow
def test_single_precision():
    m = model()
    states = starts(m, 20)
    double, single = ends(m, states, 20), ends(m, states, 20, precision="float32")
    scale = np.maximum(1.0, np.abs(double))
    assert np.max(np.abs(single - double) / scale) < 1e-2
    assert np.median(np.abs(single - double) / scale) < 1e-5
    assert np.max(np.abs(single - double)) > 1e-9


def test_a_simulation_that_nothing_touches_is_that_of_free_motion():
    """To the bit, whatever its neighbours do."""
    xml = XML.format("pyramidal").replace("<connect", '<connect active="false"').replace("frictionloss", "armature")
    m = saltus.load(complete(xml))
    free = saltus.load(complete(xml), ignore=["constraint"])
    n = LANES["float64"].width
    states = starts(m, n)
    states[0][::2, [2, 11]] += 1000, 2000
    states[1][::2] *= 0.01  # no limit is reached
    states[2][::2] = 0.0
    found = ends(m, states)
    assert_array_equal(found[::2], ends(free, states)[::2])
    assert (found != ends(free, states))[1::2].any()
