"""Batches under hard contact and with located events: every simulation is a single run, to the bit, and so is its log.

Laws: a ball that falls from h is on the floor at √(2h/g), with the speed √(2gh), and after an impact with restitution e
again after 2e√(2h/g); the normal impulse is (1 + e) m √(2gh). A relay that pushes a mass of 1 kg with 1 N towards the
origin from x passes it at √(2x) (2k + 1). A rod that slides on its tip has accelerations up to a friction of 4/3 only
(Painlevé 1895; `helpers/hard_models.py`).

Tolerance: equality with single runs, and among batches, is of bits. Paths between events are polynomials of second
degree, so that against closed forms rounding alone counts: 1e-12 relative.
"""

import copy
import math
import pickle

import numpy as np
import pytest
from helpers import hard_models as models
from helpers.hard_models import G
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.simulate.engine.batch import one_by_one
from saltus.simulate.engine.batch.one_by_one import OneByOne

pytestmark = pytest.mark.usefixtures("one_hard_layout")

BALL = f"""<mujoco model="ball">
  <option timestep="0.01" gravity="0 0 {-G}"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="ball" pos="0 0 0.1"><joint name="z" type="slide" axis="0 0 1"/>
      <geom name="ball" size="0.1" mass="1"/></body>
  </worldbody>
  <sensor><jointpos joint="z"/><accelerometer site="s"/></sensor>
</mujoco>""".replace('mass="1"/></body>', 'mass="1"/><site name="s" size="0.2"/></body>')
CART = """<mujoco model="cart">
  <option gravity="0 0 0" timestep="0.25"/><size nuserdata="1"/>
  <worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><motor name="push" joint="x"/></actuator>
</mujoco>"""


def push(m, d, z):
    d.ctrl[0] = -d.actuation_state[0]


def origin(m, d):
    return d.qpos[0]


def switch(m, d):
    d.actuation_state[0] = -d.actuation_state[0]


def clock(m, d):
    return d.time - d.userdata[0]


RELAY = saltus.Actuation(push, start=[1.0], events=[saltus.Event(origin, switch, name="relay")])
END = saltus.Event(clock, name="end", terminal=True, direction="up")
STATE = ("time", "qpos", "qvel")


def balls(n, seed=0):
    """Heights (m) and restitutions [n]."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 2.0, n), rng.uniform(0.3, 0.95, n)


def dropped(heights, restitution, **options):
    contact = saltus.Hard(restitution=restitution)
    batch = saltus.Batch(BALL, len(heights), **{"threads": 1, "contact": contact, **options})
    batch.qpos = np.asarray(heights)[:, None]
    return batch


def single(height, restitution, **options):
    sim = saltus.Simulation(BALL, contact=saltus.Hard(restitution=float(restitution)), **options)
    sim.qpos[0] = height
    return sim


def assert_same(batch, i, sim):
    """Simulation i of a batch is a single one, with its log, to the bit."""
    for field in STATE:
        assert_array_equal(getattr(batch, field)[i], getattr(sim, field), err_msg=f"simulation {i}: {field}")
    found = batch.events_of(i)
    assert found.dtype == sim.events.dtype and type(found) is type(sim.events)
    assert found.tobytes() == sim.events.tobytes(), f"simulation {i}: {found} instead of {sim.events}"


def ends(batch):
    """State, and log without numbers that are none."""
    events = batch.events
    state = np.hstack([batch.time[:, None], batch.qpos, batch.qvel])
    return state, events["simulation"], events["time"], events["kind"], np.nan_to_num(events["impulse"])


def assert_all_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


# ------------------------------------------------------------ single runs


@pytest.mark.parametrize("n", [24, pytest.param(1024, marks=pytest.mark.slow)])
def test_bouncing_balls_are_single_runs_to_the_bit(n):
    heights, restitution = balls(n)
    batch = dropped(heights, restitution, threads=2)
    batch.step(100)
    batch.step(100)
    impacts = batch.events[batch.events["kind"] == "impact"]
    _, first = np.unique(impacts["simulation"], return_index=True)
    assert len(first) == n
    fall, speed = np.sqrt(2 * heights / G), np.sqrt(2 * G * heights)
    assert_allclose(impacts["time"][first], fall, rtol=1e-12)
    assert_allclose(impacts["velocity"][first], -speed, rtol=1e-12)
    assert_allclose(impacts["impulse"][first, 0], (1 + restitution) * speed, rtol=1e-12)
    assert_allclose(impacts["time"][first + 1], fall * (1 + 2 * restitution), rtol=1e-12)
    for i in range(0, n, max(1, n // 48)):  # all of a few, some of many: the closed form above holds for all
        sim = single(heights[i], restitution[i])
        sim.step(200)
        assert_same(batch, i, sim)
    assert not batch.diverged.any() and not batch.ended.any()


def test_steps_over_impacts_are_single_runs_to_the_bit():
    """Moreau's time stepping, which looks at what the step before left."""
    heights, restitution = balls(6)
    batch = dropped(heights, restitution, integrator="moreau_jean", timestep=0.002)
    batch.step(200)
    batch.step(300)
    assert isinstance(batch.lanes, OneByOne)
    assert (np.unique(batch.events["simulation"]) == np.arange(6)).all()
    for i in range(6):
        sim = single(heights[i], restitution[i], integrator="moreau_jean", timestep=0.002)
        sim.step(500)
        assert_same(batch, i, sim)


def test_bits_do_not_depend_on_neighbours_size_place_or_threads(monkeypatch):
    heights, restitution = balls(17)
    batch = dropped(heights, restitution)
    batch.step(150)
    expected = ends(batch)
    # alone
    for i in (0, 16):
        alone = dropped(heights[i : i + 1], restitution[i : i + 1])
        alone.step(150)
        assert_array_equal(ends(alone)[0][0], expected[0][i])
    # in another order
    order = np.random.default_rng(1).permutation(17)
    shuffled = dropped(heights[order], restitution[order])
    shuffled.step(150)
    assert_array_equal(ends(shuffled)[0], expected[0][order])
    assert shuffled.events_of(3).tobytes() == batch.events_of(order[3]).tobytes()
    # on threads, step by step
    for threads in (2, 3):
        other = dropped(heights, restitution, threads=threads)
        for _ in range(150):
            other.lanes.pace = 1.0  # however little there is to do, use them all
            other.step()
        assert_all_same(ends(other), expected)
    # with a log that is read after each of them
    monkeypatch.setattr(one_by_one, "LOG_ROOM", 1)
    other = dropped(heights, restitution)
    other.step(150)
    assert_all_same(ends(other), expected)


def test_a_change_from_outside_is_noticed_as_in_single_runs():
    """A push and a reset in the middle, and a Cartesian force on one of them."""
    heights, restitution = balls(5)
    batch = dropped(heights, restitution)
    sims = [single(h, e) for h, e in zip(heights, restitution, strict=True)]
    force = np.zeros((5, 2, 6))
    force[3, 1, 2] = -4.0
    batch.xfrc_applied = force
    sims[3].xfrc_applied[1, 2] = -4.0
    batch.step(120)
    for sim in sims:
        sim.step(120)
    velocity = batch.qvel
    velocity[1] += 2.0
    batch.qvel = velocity
    sims[1].qvel[0] += 2.0
    batch.reset([2])
    sims[2].reset()
    batch.step(60)
    for sim in sims:
        sim.step(60)
    assert_allclose(batch.time, [1.8, 1.8, 0.6, 1.8, 1.8])
    for i, sim in enumerate(sims):
        assert_same(batch, i, sim)


def test_sensors_are_those_of_single_runs():
    heights, restitution = balls(4)
    heights[2] = 0.0
    batch = dropped(heights, restitution)
    for steps in (0, 70):
        batch.step(steps)
        for i in range(4):
            sim = single(heights[i], restitution[i])
            sim.step(steps)
            assert_array_equal(batch.sensordata[i], sim.sensordata)
    assert_array_equal(batch.sensordata[:, 0], batch.qpos[:, 0])
    # the one on the floor does not accelerate, against gravity; the others fly
    assert_allclose(batch.sensordata[2, 1:], [0.0, 0.0, G], atol=1e-12)


def test_quantities_are_those_of_single_runs():
    """All that `Simulation.data` shows, in one call and into an array that is given."""
    heights, restitution = balls(4)
    heights[2] = 0.0
    batch = dropped(heights, restitution, threads=2)
    batch.step(70)
    names = ["time", "qpos", "xpos", "geom_xmat", "qacc", "qfrc_constraint", "cacc", "cfrc_int", "subtree_linvel", "M"]
    batch.lanes.pace = 1.0  # however little there is to do, use both threads
    found = dict(zip(names, batch.read(names), strict=True))
    found["qfrc_inverse"] = batch.read("qfrc_inverse")
    for i in range(4):
        sim = single(heights[i], restitution[i])
        sim.step(70)
        for name, values in found.items():
            assert_array_equal(values[i], getattr(sim.data, name), err_msg=f"simulation {i}: {name}")
    # the one on the floor is held there with its weight
    assert_allclose(found["qfrc_constraint"][2], [G], rtol=1e-12)
    out = np.zeros((4, 1, 2), np.float32)[:, :, 0]
    assert batch.read("qacc", out) is out
    assert_array_equal(out, found["qacc"].astype(np.float32))


def test_contacts_and_their_forces():
    """Of the ball that lies on the floor, whose weight it carries, and of no other."""
    batch = dropped([0.5, 0.0, 1.0], 0.5)
    contacts = batch.contacts()
    names = batch.model.names("geom")
    assert contacts.simulation.tolist() == [1] and contacts.count.tolist() == [0, 1, 0]
    assert (names[contacts.geom1[0]], names[contacts.geom2[0]]) == ("floor", "ball")
    assert_allclose(contacts.force, [[G, 0, 0, 0, 0, 0]], rtol=1e-12, atol=1e-12)
    assert_allclose(batch.contact_force("ball"), [[0, 0, 0], [0, 0, G], [0, 0, 0]], rtol=1e-12, atol=1e-12)


def test_what_is_written_into_memory_counts():
    """A view shows the states where they lie, one in each group; a push is noticed as in single runs."""
    heights, restitution = balls(3)
    batch = dropped(heights, restitution)
    batch.step(120)
    view = batch.view("qvel")
    assert view.shape == (3, 1, 1)
    view[1, 0, 0] += 2.0
    batch.write("qpos", [[0.4]], ids=[2])
    batch.step(60)
    for i in range(3):
        sim = single(heights[i], restitution[i])
        sim.step(120)
        if i == 1:
            sim.qvel[0] += 2.0
        if i == 2:
            sim.qpos[0] = 0.4
        sim.step(60)
        assert_same(batch, i, sim)


# ------------------------------------------------------------ events of the user's


def carts(starts, ends_at=1e9, **options):
    batch = saltus.Batch(CART, len(starts), threads=1, control=RELAY, events=[END], **options)
    batch.qpos, batch.userdata = np.asarray(starts)[:, None], np.broadcast_to(ends_at, len(starts))[:, None]
    return batch


def test_relays_switch_at_their_own_times():
    """More events in a step than a log has room for; each has its own discrete state."""
    starts = np.array([1e-6, 0.3, 1.0, 2.0])
    batch = carts(starts)
    assert_array_equal(batch.actuation_state, np.ones((4, 1)))
    batch.step(20)
    for i, x in enumerate(starts):
        relay = batch.events_of(i)
        assert set(relay["kind"]) == {"actuator"}
        expected = math.sqrt(2 * x) * (2 * np.arange(len(relay)) + 1)
        assert expected[-1] < 5.0 < expected[-1] + 2 * math.sqrt(2 * x)
        # rounding of each switch is handed on to all later ones
        assert_allclose(relay["time"], expected, rtol=1e-12 if i else 1e-8)
        assert batch.actuation_state[i] == (-1.0) ** len(relay)
        sim = saltus.Simulation(CART, control=RELAY, events=[END])
        sim.qpos[0], sim.userdata[0] = x, 1e9
        sim.step(20)
        assert_same(batch, i, sim)
    assert len(batch.events_of(0)) > 1500


def test_a_terminal_event_ends_the_steps_of_its_simulation():
    batch = carts([1.0, 1.0, 1.0], [0.7, 1e9, 2.1])
    batch.step(6)
    assert_array_equal(batch.ended, [True, False, False])
    assert_allclose(batch.time, [0.7, 1.5, 1.5], rtol=1e-15)
    batch.step(4)
    assert_array_equal(batch.ended, [False, False, True])
    assert_allclose(batch.time, [1.7, 2.5, 2.1], rtol=1e-15)
    batch.reset([2])
    assert not batch.ended.any() and not len(batch.events_of(2)) and batch.actuation_state[2] == 1.0


def test_logs_are_emptied():
    heights, restitution = balls(3)
    batch, other = dropped(heights, restitution), dropped(heights, restitution)
    for each in (batch, other):
        each.step(80)
    batch.forget_events(1)
    assert set(batch.events["simulation"]) == {0, 2}
    batch.forget_events()
    assert not len(batch.events) and batch.events.dtype.names[0] == "simulation"
    for each in (batch, other):
        each.step(80)
    late = other.events[other.events["time"] > 0.8]
    assert batch.events.tobytes() == late.tobytes()


@pytest.mark.parametrize("how", ["copy", "pickle"])
def test_a_copy_goes_on_alone(how):
    heights, restitution = balls(4)
    batch = dropped(heights, restitution)
    batch.step(77)
    other = copy.deepcopy(batch) if how == "copy" else pickle.loads(pickle.dumps(batch))
    before = ends(batch)
    other.step(80)
    assert_all_same(ends(batch), before)
    batch.step(80)
    assert_all_same(ends(other), ends(batch))
    assert other.law == batch.law


def test_a_copied_relay_keeps_its_state():
    batch = carts([0.3, 1.0])
    batch.step(5)
    other = pickle.loads(pickle.dumps(batch))
    for each in (batch, other):
        each.step(5)
    assert_all_same(ends(other), ends(batch))
    assert_array_equal(other.actuation_state, batch.actuation_state)


# ------------------------------------------------------------ the law of each


def test_friction_of_each_and_a_rod_that_jams():
    """Without friction, with some, and with more than any acceleration satisfies: the first two are not disturbed."""
    frictions = [0.0, 1.0, 1.5]
    contact = saltus.Hard(friction=frictions)
    batch = saltus.Batch(models.sliding_rod(0.3), 3, threads=1, contact=contact, timestep=1e-4)
    batch.qvel = [-1.0, 0.0, 0.0]
    with pytest.raises(saltus.EventError, match=r"Painlev.* in simulation 2 \(and 0 more of 3\)"):
        batch.step()
    assert_array_equal(batch.diverged, [False, False, True])
    for i in range(2):
        sim = saltus.Simulation(models.sliding_rod(0.3), contact=saltus.Hard(friction=frictions[i]), timestep=1e-4)
        sim.qvel[:] = [-1.0, 0.0, 0.0]
        sim.step()
        assert_same(batch, i, sim)
        # over so short a time the acceleration is the first one, to the angle that is passed: 1e-4
        rate = (batch.qvel[i] - [-1.0, 0.0, 0.0]) / 1e-4
        assert_allclose(rate, models.sliding_rod_acceleration(frictions[i]), rtol=3e-3, atol=1e-3)
    # it is said again; it stands still until it is reset, and another law lets it move
    with pytest.raises(saltus.EventError, match=r"in simulation 2 \(and 0 more of 3\), which stands there") as error:
        batch.step()
    assert error.value.simulation == 2
    assert_array_equal(batch.time, [2e-4, 2e-4, 0.0])
    batch.law = saltus.Hard(friction=[1.0, 0.0, 1.0])
    batch.reset()
    batch.qvel = [-1.0, 0.0, 0.0]
    batch.step()
    assert_array_equal(batch.qvel[2], batch.qvel[0])
    assert not np.array_equal(batch.qvel[1], batch.qvel[0])


def test_another_law_holds_from_the_next_step_on():
    batch = dropped([0.5] * 3, 0.5, threads=3)
    batch.law = saltus.Hard(restitution=[0.9, 0.5, 0.2])
    batch.lanes.pace = 1.0
    batch.step(60)
    for i, restitution in enumerate((0.9, 0.5, 0.2)):
        sim = single(0.5, restitution)
        sim.step(60)
        assert_same(batch, i, sim)
    batch.law = saltus.Hard(restitution=0.4)
    batch.reset()
    batch.qpos = [0.5]
    batch.lanes.pace = 1.0
    batch.step(60)
    sim = single(0.5, 0.4)
    sim.step(60)
    for i in range(3):
        assert_same(batch, i, sim)
    with pytest.raises(saltus.OptionError, match="law: impact cannot be changed"):
        batch.law = saltus.Hard(restitution=0.4, impact="poisson")
    with pytest.raises(saltus.OptionError, match="hard contact stays hard"):
        batch.law = saltus.Soft()
    with pytest.raises(saltus.OptionError, match="only restitution and friction of hard contact"):
        saltus.Batch("pendulum", 2, threads=1).law = saltus.Hard()


# ------------------------------------------------------------ what cannot go on


def test_starts_that_overlap():
    """A little is put right with a warning; what lies too deep is named, and the others go on."""
    batch = dropped([0.5, -0.05, -1e-6, 0.7], 0.5)
    with (
        pytest.warns(saltus.SaltusWarning, match="simulation 2: ball and floor overlap by 1e-06 m"),
        pytest.raises(saltus.EventError, match=r"overlap by 0.05 m.* in simulation 1 \(and 0 more of 4\)"),
    ):
        batch.step(50)
    assert_array_equal(batch.diverged, [False, True, False, False])
    assert_allclose(batch.time, [0.5, 0.0, 0.5, 0.5])
    sim = single(0.7, 0.5)
    sim.step(50)
    assert_same(batch, 3, sim)
    batch.reset(batch.diverged)
    assert not batch.diverged.any()
    batch.step()


@pytest.mark.parametrize("bad", [np.nan, 1e11])
def test_a_diverging_neighbour_changes_nothing(bad):
    heights, restitution = balls(3)
    batch = dropped(heights, restitution)
    batch.qvel = [[0.0], [bad], [0.0]]
    with pytest.raises(saltus.DivergenceError, match=r"joint 'z' .*in simulation 1 \(and 0 more of 3\)"):
        batch.step(60)
    assert_array_equal(batch.diverged, [False, True, False])
    for i in (0, 2):
        sim = single(heights[i], restitution[i])
        sim.step(60)
        assert_same(batch, i, sim)


def test_the_last_valid_state_is_kept():
    """After an impact, a force that makes the velocity grow by 3e9 m/s a step, beyond 1e10: three steps are valid."""
    batch = dropped([0.01, 0.5], [0.5, 0.5])
    sim = single(0.01, 0.5)
    batch.qvel, batch.qfrc_applied = [[-1e8], [0.0]], [[3e11], [0.0]]
    sim.qvel[0], sim.qfrc_applied[0] = -1e8, 3e11
    for run in (sim, batch):
        with pytest.raises(saltus.DivergenceError, match=r"joint 'z' .*velocity grew beyond 1e10"):
            run.step(60)
    assert_allclose(sim.time, 0.03, rtol=1e-12)
    assert_allclose(sim.qvel[0], 5e7 + 9e9, rtol=1e-8)  # the impact, 1e-10 s late, takes 45 m/s
    assert len(sim.events) == 1
    assert_same(batch, 0, sim)
    assert_allclose(batch.time, [0.03, 0.6])
    with pytest.raises(saltus.DivergenceError, match="which stands there"):
        batch.step()
    assert_same(batch, 0, sim)


def test_events_that_are_too_dense_are_named():
    law = saltus.Hard(restitution=[0.0, 0.9], dense="stop", dense_events=3, dense_time=0.5)
    batch = saltus.Batch(BALL, 2, threads=1, contact=law)
    batch.qpos = [0.02]
    with pytest.raises(saltus.EventError, match=r"dense_events .* in simulation 1 \(and 0 more of 2\)"):
        batch.step(60)
    assert_array_equal(batch.diverged, [False, True])


# ------------------------------------------------------------ options


def test_options():
    with pytest.raises(saltus.OptionError, match="hard contact and events need precision='float64'"):
        saltus.Batch(BALL, 2, precision="float32", contact="hard")
    with pytest.raises(saltus.OptionError, match="restitution holds 3 numbers for 2 simulations"):
        saltus.Batch(BALL, 2, contact=saltus.Hard(restitution=[0.1, 0.2, 0.3]))
    with pytest.raises(saltus.OptionError, match="requires hard contact"):
        saltus.Batch(BALL, 2, integrator="moreau_jean")
    with pytest.raises(saltus.OptionError, match="events and discrete states need hard contact, not 'soft'"):
        saltus.Batch(BALL, 2, events=[END], contact="soft")
    with pytest.raises(saltus.OptionError, match="unknown contact law 'elastic'"):
        saltus.Batch(BALL, 2, contact="elastic")
    with pytest.raises(saltus.OptionError, match="events_of: there is no simulation 2; the batch has 2, from 0"):
        saltus.Batch(BALL, 2, contact="hard").events_of(2)
    # nothing touches: both laws are the same, and lanes may do it
    batch = saltus.Batch("pendulum", 2, threads=1, contact="hard", precision="float32")
    assert batch.integrator.name == "dopri5" and not isinstance(batch.lanes, OneByOne)
    assert not len(batch.events) and not len(batch.events_of(1)) and not batch.ended.any()
