"""Events of the user's, and actuation with discrete states, against closed forms.

A relay that pushes a mass m = 1 towards the origin with force 1 lets it swing with x = 1 - t²/2 from x = 1: it passes
the origin at √2 (2 k + 1). A ball that is struck downwards with v₀ at each apex and bounces with restitution e comes
back to h = e² v₀² / (2 g (1 - e²)); with the speed w = √(v₀² + 2 g h) it falls for (w - v₀)/g and rises for e w/g.

Tolerance: all paths are polynomials of second degree, so that rounding alone counts: 1e-12, and 1e-10 where errors of
the time are handed on.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.errors import OptionError

G = 9.81
CART = """<mujoco model="cart">
  <option gravity="0 0 0" timestep="0.01"/><size nuserdata="3"/>
  <worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><motor name="push" joint="x"/></actuator>
</mujoco>"""
BALL = """<mujoco model="struck ball">
  <option timestep="0.01"/><size nuserdata="2"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body pos="0 0 0.1"><joint name="z" type="slide" axis="0 0 1"/><geom name="ball" size="0.1" mass="1"/></body>
  </worldbody>
</mujoco>"""


def push(m, d, z):
    d.ctrl[0] = -d.actuation_state[0]


def origin(m, d):
    return d.qpos[0]


def switch(m, d):
    d.actuation_state[0] = -d.actuation_state[0]


def speed(m, d):
    return d.qvel[0]


def count(m, d):
    d.userdata[0] += 1.0


def clock(m, d):
    return d.time - d.userdata[1]


RELAY = saltus.Actuation(push, start=[1.0], events=[saltus.Event(origin, switch, name="relay")])
COUNTED = [
    saltus.Event(speed, count, name="left turn", direction="up"),
    saltus.Event(clock, name="end", terminal=True, direction="up"),
]


def cart(x=1.0, **options):
    """The relay's cart; its clock has no end until it is set."""
    sim = saltus.Simulation(CART, control=RELAY, events=COUNTED, **options)
    sim.qpos[0] = x
    sim.userdata[1] = 1e9
    return sim


@pytest.mark.slow
def test_a_relay_switches_when_it_should():
    sim = cart()
    trajectory = sim.run(20.0, sample=0.1)
    events = trajectory.events
    relay = events[events["name"] == "relay"]
    assert set(relay["kind"]) == {"actuator"}
    assert_allclose(relay["time"], math.sqrt(2) * (2 * np.arange(7) + 1), rtol=1e-12)
    switched = np.searchsorted(relay["time"], trajectory.time)
    assert_array_equal(trajectory.actuation_state[:, 0], np.where(switched % 2, -1.0, 1.0))
    assert trajectory.names["actuation"] == ["state 0"]


@pytest.mark.slow
def test_events_are_of_the_direction_asked_for_and_act_on_the_state():
    sim = cart()
    events = sim.run(20.0, sample=20.0).events
    turns = events[events["name"] == "left turn"]
    # at x = -1, once in each period of 4 √2
    assert_allclose(turns["time"], 2 * math.sqrt(2) * (2 * np.arange(len(turns)) + 1), rtol=1e-12)
    assert len(turns) == sim.userdata[0] == 4
    assert set(turns["kind"]) == {"user"}


@pytest.mark.slow
@pytest.mark.parametrize("sample", [0.3, 2.0])
def test_a_terminal_event_ends_the_run(sample):
    sim = cart()
    sim.userdata[1] = 1.25
    trajectory = sim.run(5.0, sample=sample)
    assert_allclose(sim.time, 1.25, rtol=1e-15)
    assert trajectory.attrs["ended_by"] == "end"
    assert trajectory.time[-1] <= 1.25 < trajectory.time[-1] + sample
    assert_allclose(trajectory.end["qpos"], 1 - 1.25**2 / 2, rtol=1e-12)
    # and it goes on from there
    sim.run(1.0, sample=1.0)
    assert_allclose(sim.time, 2.25)


def test_steps_go_through_events_as_runs_do():
    sim, other = cart(), cart()
    sim.step(500)
    events = other.run(5.0, sample=5.0).events
    assert_allclose(sim.events["time"], events["time"], rtol=1e-12)
    assert_allclose(sim.qpos, other.qpos, atol=1e-12)
    assert_array_equal(sim.actuation_state, other.actuation_state)


def test_a_snapshot_holds_where_events_are():
    sim = cart()
    sim.step(300)
    here = sim.snapshot()
    sim.step(200)
    there = sim.qpos.copy(), sim.actuation_state.copy()
    sim.restore(here)
    sim.step(200)
    assert_array_equal(sim.qpos, there[0])
    assert_array_equal(sim.actuation_state, there[1])


# ------------------------------------------------------------ beside contact


def strike(m, d):
    d.qvel[0] = -d.userdata[0]


@pytest.mark.slow
def test_what_an_event_changes_goes_on_to_impacts():
    restitution, strength = 0.5, 2.0
    height = restitution**2 * strength**2 / (2 * G * (1 - restitution**2))
    fast = math.sqrt(strength**2 + 2 * G * height)
    period = (fast - strength) / G + restitution * fast / G
    apex = saltus.Event(speed, strike, name="apex", direction="down")
    sim = saltus.Simulation(BALL, contact=saltus.Hard(restitution=restitution), events=[apex])
    sim.qpos[0], sim.qvel[0], sim.userdata[0] = height, -strength, strength
    events = sim.run(20.5 * period, sample=20.5 * period).events
    impacts, strikes = (events["time"][events["kind"] == kind] for kind in ("impact", "user"))
    assert_allclose(strikes, period * np.arange(1, 21), rtol=1e-10)
    assert_allclose(impacts, (fast - strength) / G + period * np.arange(21), rtol=1e-10)


# ------------------------------------------------------------ methods


class Relay:
    """The relay above as an object, whose numbers are its own."""

    start = (1.0,)

    def __init__(self, force=1.0):
        self.force, self.shape = force, (2.0, np.array([1.0, 0.5]))
        self.events = [saltus.Event(self.side, self.switch, name="relay")]

    def strength(self, side):
        return self.force * self.shape[1][0] * side

    def torques(self, m, d, z):
        """Towards the origin."""
        d.ctrl[0] = -self.strength(d.actuation_state[0])

    def side(self, m, d):
        return d.qpos[0] / self.shape[0]

    @staticmethod
    def switch(m, d):
        d.actuation_state[0] = -d.actuation_state[0]


class OwnRelay(saltus.Actuation):
    """The same as an actuation of its own."""

    def __init__(self, force):
        self.force = force
        super().__init__(self.law, start=[1.0], events=[saltus.Event(origin, switch, name="relay")])

    def law(self, m, d, z):
        d.ctrl[0] = -self.force * d.actuation_state[0]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "force"), [(lambda force: saltus.Actuation(Relay(force)), 4.0), (OwnRelay, 1.0)])
def test_laws_and_events_may_be_methods(kind, force):
    """x = 1 - F t²/2: the origin is passed at √(2/F) (2 k + 1)."""
    sim = saltus.Simulation(CART, control=kind(force))
    sim.qpos[0] = 1.0
    events = sim.run(6.0, sample=1.0).events
    expected = math.sqrt(2 / force) * (2 * np.arange(len(events)) + 1)
    assert len(events) == (2 if force == 1.0 else 4)
    assert_allclose(events["time"], expected, rtol=1e-12)
    assert events["kind"].tolist() == ["actuator"] * len(events)


@pytest.mark.slow
def test_a_controllers_law_may_be_a_method():
    law = Relay(3.0)
    sim = saltus.Simulation(CART, "rk4", control=saltus.controller(law.constant))
    sim.run(1.0, 1.0)
    assert_allclose(sim.qvel[0], 3.0, rtol=1e-13)


def constant(self, m, d, z):
    d.ctrl[0] = self.force


Relay.constant = constant


def test_a_method_keeps_the_numbers_that_it_was_compiled_with():
    relay = Relay(1.0)
    control = saltus.controller(relay.constant)
    saltus.Simulation(CART, control=control)
    relay.force = 2.0
    with pytest.raises(OptionError, match="has changed since its first use"):
        saltus.Simulation(CART, control=control)
    saltus.Simulation(CART, control=saltus.controller(relay.constant))


class Unsuited:
    def __init__(self):
        self.names, self.gain = {"a": 1.0}, 2.0

    def reads(self, m, d, z):
        d.ctrl[0] = self.names["a"]

    def writes(self, m, d, z):
        self.gain = d.time

    def hands_on(self, m, d, z):
        d.ctrl[0] = str(self)

    def lacks(self, m, d, z):
        d.ctrl[0] = self.nothing

    def calls_itself(self, m, d, z):
        self.calls_itself(m, d, z)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("reads", "Unsuited.reads reads self.names, a dict; of an object numbers, text, tuples and NumPy arrays"),
        ("writes", "Unsuited.writes changes self.gain, .*d.actuation_state"),
        ("hands_on", "Unsuited.hands_on uses self as a whole"),
        ("lacks", "has no attribute 'nothing'"),
        ("calls_itself", "calls itself"),
    ],
)
def test_what_a_method_may_do_with_its_object_is_said(name, message):
    with pytest.raises(OptionError, match=f"Actuation: law: .*{message}"):
        saltus.Actuation(getattr(Unsuited(), name))


# ------------------------------------------------------------ what cannot be


def touch(m, d, gap, velocity):
    return -1e4 * gap, 0.0, 0.0


@pytest.mark.parametrize(
    ("integrator", "contact", "message"),
    [
        (None, "soft", "need hard contact, not 'soft': forces of soft contact begin and end inside steps"),
        (None, saltus.Compliant(touch), "need hard contact, not 'compliant': the law's forces may jump inside steps"),
        ("moreau_jean", "hard", "moreau_jean steps over events: impacts and sliding are impulses of whole steps"),
    ],
)
@pytest.mark.parametrize("options", [{"events": COUNTED}, {"control": saltus.Actuation(push, start=[1.0])}])
def test_what_cannot_locate_events_says_why(integrator, contact, message, options):
    """Both events and an actuation with discrete states, under each law and method that steps over their times."""
    with pytest.raises(OptionError, match=message):
        saltus.Simulation(BALL, integrator, contact, **options)


def test_what_events_are_is_checked():
    with pytest.raises(OptionError, match="direction"):
        saltus.Event(origin, direction="sideways")
    with pytest.raises(OptionError, match="function"):
        saltus.Event(3.0)
    with pytest.raises(OptionError, match="Event"):
        saltus.Simulation(CART, events=[origin])
    with pytest.raises(OptionError, match="start"):
        saltus.Actuation(push, start="on")
    with pytest.raises(OptionError, match="actuation_states"):
        saltus.Simulation(CART, control=RELAY, actuation_states=2)
    sim = saltus.Simulation(CART)
    with pytest.raises(OptionError, match="events"):
        sim.control = RELAY
