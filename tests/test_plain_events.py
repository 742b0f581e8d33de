"""Located events in plain Python: users' events, dense events, samples, dips, and their derivatives.

Laws: closed forms of carts, balls and blocks under constant forces (polynomials of second degree, which steps of dopri5
and rk4 follow to rounding, times to 1e-10), and of springs (to the method's order); Newton's restitution.
"""

import math

import numpy as np
import pytest
from helpers import hard_models
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.contact.counts import NUNSOLVED
from saltus.integrate.event.dense_events import come_back
from saltus.integrate.event.event_density import MANY, MOST_STIFF, SHORT, STIFFEST, creeps, is_stiff, stalls, too_dense
from saltus.integrate.event.step_start import keep_values
from saltus.model.compile.constraints.hard import MOST_CLOSED
from saltus.model.event_enums import (
    CLOSED,
    COUNTED,
    COUNTED_AT,
    LEFT,
    LENGTH,
    OPEN,
    RECENT,
    ROUGHLY,
    SHARED,
    SIZE,
    STIFF,
    TRIED_AT,
    TRIES,
)
from saltus.simulate.derivatives.run_tangents import RunTangents
from saltus.solve.acceleration import acceleration

G = hard_models.G
CART = """<mujoco><option gravity="0 0 0" timestep=".25"><flag refsafe="disable"/></option><size nuserdata="3"/>
<worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body></worldbody>
<actuator><motor name="push" joint="x"/></actuator></mujoco>"""
BALL = """<mujoco><option timestep=".1"><flag refsafe="disable"/></option><size nuserdata="2"/>
<worldbody><geom type="plane" size="1 1 .1"/>
<body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
</worldbody></mujoco>"""
SPRING = """<mujoco><option gravity="0 0 0"/><worldbody><geom type="plane" zaxis="1 0 0" size="1 1 1"/>
<body pos=".1 0 0"><joint type="slide" axis="1 0 0" stiffness="4"/><geom size=".1" mass="1"/></body></worldbody>
</mujoco>"""
PAIR = """<mujoco><option gravity="0 0 0"/><default><geom friction="0 0 0" size=".1"/></default><worldbody><geom/><body>
<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><geom mass="1"/></body></worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


# ---------------------------------------------------------------- users' events


def push(m, d, z):
    d.ctrl[0] = -d.actuation_state[0]


def place(m, d):
    return d.qpos[0]


def speed(m, d):
    return d.qvel[0]


def switch(m, d):
    d.actuation_state[0] = -d.actuation_state[0]


def count(m, d):
    d.userdata[0] += 1.0


def count_too(m, d):
    d.userdata[2] += 1.0


def clock(m, d):
    return d.time - d.userdata[1]


EVENTS = [
    saltus.Event(speed, count, name="left turn", direction="up"),
    saltus.Event(speed, count_too, name="right turn", direction="down"),
    saltus.Event(clock, name="end", terminal=True, direction="up"),
]


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_a_relay(integrator):
    """x = 1 - t²/2 up to the origin, where the force turns: it passes it at √2 (2 k + 1), and turns between."""
    relay = saltus.Actuation(push, start=[1.0], events=[saltus.Event(place, switch, name="relay")])
    sim = saltus.Simulation(CART, integrator, control=relay, events=EVENTS)
    sim.qpos[0], sim.userdata[1] = 1.0, 6.6
    run = sim.run(8.0, sample=0.3)
    events = run.events
    passed = events["time"][events["name"] == "relay"]
    np.testing.assert_allclose(passed, math.sqrt(2) * (2 * np.arange(2) + 1), rtol=1e-10)
    np.testing.assert_allclose(events["time"][events["name"] == "left turn"], 2 * math.sqrt(2), rtol=1e-10)
    np.testing.assert_allclose(events["time"][events["name"] == "right turn"], 4 * math.sqrt(2), rtol=1e-10)
    assert run.attrs["ended_by"] == "end" and abs(sim.time - 6.6) < 1e-12
    assert [*sim.userdata[[0, 2]]] == [1.0, 1.0]
    switched = np.searchsorted(passed, run.time)
    np.testing.assert_array_equal(run.actuation_state[:, 0], np.where(switched % 2, -1.0, 1.0))
    # x from one turn to the next: ±(1 - s²/2)
    s = (run.time + math.sqrt(2)) % (2 * math.sqrt(2)) - math.sqrt(2)
    side = np.where(np.floor((run.time + math.sqrt(2)) / (2 * math.sqrt(2))) % 2, -1.0, 1.0)
    np.testing.assert_allclose(run.qpos[:, 0], side * (1 - s**2 / 2), atol=1e-9)


def strike(m, d):
    d.qvel[0] = -d.userdata[0]


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_a_ball_that_is_struck_at_its_apex(integrator):
    """From h = e² v²/(2 g (1 - e²)) a blow of v at each apex brings it back to h, with the period (w - v + e w)/g."""
    e, v = 0.5, 2.0
    height = e**2 * v**2 / (2 * G * (1 - e**2))
    fast = math.sqrt(v**2 + 2 * G * height)
    period = (fast - v + e * fast) / G
    apex = saltus.Event(speed, strike, name="apex", direction="down")
    sim = saltus.Simulation(BALL, integrator, contact=saltus.Hard(restitution=e), events=[apex])
    sim.qpos[0], sim.qvel[0], sim.userdata[0] = height, -v, v
    sim.step(int(3.5 * period / 0.1) + 1)
    times, kinds = sim.events["time"], sim.events["kind"]
    strikes, impacts = times[kinds == "user"], times[kinds == "impact"]
    assert len(strikes) >= 3
    np.testing.assert_allclose(strikes, period * np.arange(1, len(strikes) + 1), atol=1e-9)
    np.testing.assert_allclose(impacts, (fast - v) / G + period * np.arange(len(impacts)), atol=1e-9)


def parabola(m, d):
    return (d.qpos[0] - 0.5) * (d.qpos[0] - 0.5) - d.userdata[0]


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
@pytest.mark.parametrize("depth", [1e-4, -1e-4])
def test_a_function_that_dips_below_zero_within_a_step(integrator, depth):
    """At x = t: zero at 0.5 ± √depth, or never."""
    sim = saltus.Simulation(CART, integrator, events=[saltus.Event(parabola, name="dip")], timestep=1.1)
    sim.qvel[0], sim.userdata[0] = 1.0, depth
    sim.step()
    wanted = 0.5 + np.array([-1.0, 1.0]) * math.sqrt(max(depth, 0.0)) if depth > 0 else []
    np.testing.assert_allclose(sim.events["time"], wanted, atol=1e-9)


def valley(m, d):
    y = (d.qpos[0] - d.userdata[0]) * (d.qpos[0] - d.userdata[0])
    return y * (d.userdata[2] + (1.0 - d.userdata[2]) * y) - d.userdata[1]


@pytest.mark.parametrize(("integrator", "direction"), [("dopri5", "down"), ("rk4", "down"), ("dopri5", "up")])
@pytest.mark.parametrize(("power", "depth"), [(2, 1e-5), (2, 1e-3), (4, 1e-7)])
def test_dips_anywhere_within_a_step(integrator, direction, power, depth):
    """At x = t: (x - c)ᵖ is as small as the depth a root of it from c; also where samples lie alike about c."""
    sim = saltus.Simulation(
        CART, integrator, events=[saltus.Event(valley, name="dip", direction=direction)], timestep=1.0
    )
    side = 1.0 if direction == "up" else -1.0
    for centre in (0.06, 0.125, 0.19, 0.3, 0.375, 0.42, 0.625, 0.71, 0.875, 0.95):
        sim.reset()
        sim.qvel[0], sim.userdata[:] = 1.0, [centre, depth, power == 2]
        sim.step()
        np.testing.assert_allclose(sim.events["time"], [centre + side * depth ** (1 / power)], atol=1e-8)


def wave(m, d):
    return math.sin(12.0 * d.qpos[0] + 0.3)


def hump(m, d):
    return d.qpos[0] * (0.3 - d.qpos[0])


def flat_hump(m, d):
    return d.qpos[0] * d.qpos[0] * (0.5 - d.qpos[0])


def steep(m, d):
    return math.exp(-20.0 * d.qpos[0]) - 0.01


def cubic(m, d):
    return d.qpos[0] * d.qpos[0] * d.qpos[0] - 0.2


def flat(m, d):
    x = d.qpos[0] - 0.4
    return -x * x * x


def narrow(m, d):
    return (d.qpos[0] - 0.333) * (d.qpos[0] - 0.333) - 1e-6


ZEROS = {
    wave: [(k * math.pi - 0.3) / 12 for k in range(1, 5)],
    hump: [0.3],
    flat_hump: [0.5],
    steep: [math.log(100) / 20],
    cubic: [0.2 ** (1 / 3)],
    flat: [0.4],
    narrow: [0.332, 0.334],
}


@pytest.mark.parametrize("function", ZEROS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_zeros_of_functions_of_the_place(integrator, function):
    """At x = t within one step: of many turns, steep, flat, after a start at zero, and close to each other."""
    sim = saltus.Simulation(CART, integrator, events=[saltus.Event(function, name="f")], timestep=1.1)
    sim.qvel[0] = 1.0
    sim.step()
    close = 2e-5 if function is flat else 1e-9  # the third root of rounding
    np.testing.assert_allclose(sim.events["time"], ZEROS[function], atol=close)


def test_events_close_to_each_other_come_in_their_order():
    """Of functions in any order, by 1e-7 s, each once."""
    places = [0.5, 0.4999999, 0.3, 0.5000001, 0.3000001]
    events = [saltus.Event(at_place(x), name=str(x), direction="up") for x in places]
    sim = saltus.Simulation(CART, "dopri5", events=events, timestep=1.0)
    sim.qvel[0] = 1.0
    sim.step()
    np.testing.assert_allclose(sim.events["time"], sorted(places), atol=1e-12)
    assert [*sim.events["name"]] == [str(x) for x in sorted(places)]


def at_place(x):
    return lambda m, d: d.qpos[0] - x


def test_a_function_that_begins_at_zero_has_its_side_from_its_motion():
    """x = t - t²/2 of a cart that is slowed leaves zero upwards, and comes back at 2."""
    down = saltus.Event(place, count, name="back", direction="down")
    up = saltus.Event(place, count_too, name="up", direction="up")
    sim = saltus.Simulation(CART, "dopri5", events=[down, up])
    sim.qvel[0], sim.ctrl[0] = 1.0, -1.0
    sim.step(10)
    np.testing.assert_allclose(sim.events["time"], [2.0], atol=1e-10)
    assert [*sim.userdata[[0, 2]]] == [1.0, 0.0]


def test_two_events_at_once():
    """Both act, once each, and the log has both at one time."""
    events = [saltus.Event(place, count, name="a"), saltus.Event(place, count_too, name="b")]
    sim = saltus.Simulation(CART, "dopri5", events=events)
    sim.qpos[0], sim.qvel[0] = -0.3, 1.0
    sim.step(2)
    np.testing.assert_allclose(sim.events["time"], [0.3, 0.3], atol=1e-12)
    assert sorted(sim.events["name"]) == ["a", "b"] and [*sim.userdata[[0, 2]]] == [1.0, 1.0]


# ---------------------------------------------------------------- within steps


@pytest.mark.parametrize(("integrator", "error"), [("rk4", 1e-4), ("dopri5", 1e-5), ("midpoint", 3e-2)])
def test_samples_inside_steps_do_not_change_the_run(integrator, error):
    """A ball on a spring (ω = 2) at a wall: x = |cos 2t|, by 0.8 less after an impact at π/4."""
    runs = []
    for sample in (0.013, 0.9):
        sim = saltus.Simulation(SPRING, integrator, contact=saltus.Hard(restitution=0.8), timestep=0.1)
        sim.qpos[0] = 1.0
        runs.append((sim.run(0.9, sample=sample), sim.qpos.copy()))
    run = runs[0][0]
    np.testing.assert_array_equal(runs[0][1], runs[1][1])
    np.testing.assert_array_equal(run.events["time"], runs[1][0].events["time"])
    exact = np.where(run.time > math.pi / 4, 0.8, 1.0) * np.abs(np.cos(2 * run.time))
    np.testing.assert_allclose(run.qpos[:, 0], exact, atol=error)
    np.testing.assert_allclose(run.events["time"], math.pi / 4, atol=error)


@pytest.mark.parametrize("start", [-0.3, -1.04, -2.15])
@pytest.mark.parametrize("depth", [1e-3, 1e-8, -1e-8])
def test_a_ball_that_only_just_meets_another_one(start, depth):
    """Elastic and smooth: reflected at the line between the centres, if it meets it at all."""
    sim = saltus.Simulation(PAIR, contact=saltus.Hard(restitution=1.0), timestep=4.0)
    sim.qpos[:], sim.qvel[:] = [start, 0.2 - depth], [1.0, 0.0]
    sim.step()
    if depth < 0.0:
        assert len(sim.events) == 0 and [*sim.qvel] == [1.0, 0.0]
        return
    half = math.sqrt(depth * (0.4 - depth))
    normal = np.array([-half, 0.2 - depth]) / 0.2
    np.testing.assert_allclose(sim.events["time"], [-start - half], atol=1e-9)
    np.testing.assert_allclose(sim.qvel, np.array([1.0, 0.0]) - 2 * normal[0] * normal, atol=1e-9 / half)


def test_a_step_of_too_many_substeps_is_refused():
    stiff = SPRING.replace('stiffness="4"', 'stiffness="3948"').replace('pos=".1', 'pos="1')
    sim = saltus.Simulation(stiff, "dopri5", contact="hard", timestep=0.05)
    sim.qpos[:] = 0.1
    sim.step(2)
    np.testing.assert_allclose(sim.qpos[0], 0.1 * math.cos(math.sqrt(3948) * 0.1), atol=1e-5)


def test_a_step_with_more_events_than_the_log_holds():
    """A cart between two elastic stops: its log is read, and the step goes on."""
    xml = """<mujoco><option gravity="0 0 0" timestep="27"><flag refsafe="disable"/></option><worldbody><body>
    <joint type="slide" axis="1 0 0" limited="true" range="-.05 .05"/><geom size=".1" contype="0"/></body></worldbody>
    </mujoco>"""
    sim = saltus.Simulation(xml, contact=saltus.Hard(limits=1.0))
    sim.qvel[0] = 1.0
    sim.step()
    times = sim.events["time"]
    assert len(times) == 270 > sim.engine.m.nevent_log / 2 and sim.time == 27.0
    np.testing.assert_allclose(times, 0.05 + 0.1 * np.arange(270), atol=1e-8)
    np.testing.assert_allclose([sim.qpos[0], sim.qvel[0]], [0.0, 1.0], atol=1e-8)


# ---------------------------------------------------------------- dense events


def crates(count, tilt=0.0, height=0.1):
    """Boxes of 1 kg side by side on a floor."""
    bodies = "".join(
        f'<body pos="{0.3 * k} 0 {height}" euler="{tilt} {2 * tilt} 0"><freejoint/>'
        '<geom type="box" size=".1 .1 .1" mass="1"/></body>'
        for k in range(count)
    )
    floor = '<option timestep=".002"/><worldbody><geom type="plane" size="9 9 .1"/>'
    return f"<mujoco>{floor}{bodies}</worldbody></mujoco>"


def bouncing(**law):
    """A ball that bounces with restitution 0.9 more often than events may be dense, from 5 mm."""
    sim = saltus.Simulation(BALL, contact=saltus.Hard(restitution=0.9, **law), timestep=0.01)
    sim.qpos[0] = 2e-4
    return sim


def test_dense_events_are_stepped_over_and_summed_up_in_the_log():
    """At intervals of 2 · 0.9ᵏ √(2 h/g), k = 1, 2, ..., a count that decays by 4 in 0.1 s is 4.1 at the sixth.

    From there on steps of 0.5 ms lead to rest.
    """
    sim = bouncing(dense_events=4, dense_time=0.1, dense_step=5e-4)
    run = sim.run(0.3, sample=0.0007)
    dense = run.events[run.events["kind"] == "dense"]
    first = run.events[: np.flatnonzero(run.events["kind"] == "dense")[0]]
    fall = math.sqrt(2 * 2e-4 / G)
    times = fall * np.array([1 + 2 * sum(0.9**j for j in range(1, k + 1)) for k in range(len(first) + 1)])
    np.testing.assert_allclose([*first["time"], dense["since"][0]], times, atol=1e-9)
    assert len(first) == 5 and dense["impacts"].sum() > 0
    assert (dense["energy_after"] <= dense["energy_before"] + G * 2.0 * 0.0005**2).all()
    np.testing.assert_allclose(run.contact_force[-1].sum(axis=0), [0, 0, G], atol=1e-8)
    assert abs(sim.qpos[0]) < 1e-9 and np.abs(sim.qvel).max() < 1e-9
    # samples inside steps lie between the steps' ends
    assert run.qpos[:, 0].min() > -2.0 * 0.0005**2 * 10 and run.qpos[:, 0].max() <= 2e-4 + 1e-12
    assert (np.diff(run.time) > 0).all()


def test_dense_events_may_stop_or_be_located():
    with pytest.raises(saltus.EventError, match="dense_events events within dense_time"):
        bouncing(dense_events=4, dense_time=0.1, dense="stop").run(0.3)
    located = bouncing(dense_events=4, dense_time=0.1, dense="locate").run(0.08).events
    assert set(located["kind"]) == {"impact"} and len(located) > 6


def test_more_points_than_can_be_located_are_stepped_and_carry_their_weights():
    number = MOST_CLOSED // 4 + 1
    end = saltus.Event(lambda m, d: d.time - 0.0033, name="clock", terminal=True)
    sim = saltus.Simulation(crates(number), contact="hard", events=[end])
    run = sim.run(0.006, sample=0.002)
    assert sim.engine.d.views["dense"][LEFT] > 0
    np.testing.assert_allclose(run.contact_force[-1].sum(axis=0), [0, 0, number * G], rtol=1e-6, atol=1e-3)
    # phases go on by eight steps of twice dense_step as long as it is so
    dense, before = sim.engine.d.views["dense"], sim.engine.d.views["dense"][LENGTH]
    dense[SIZE] = 1e-3
    assert not called(come_back, sim)
    assert dense[LEFT] == 8.0 and dense[SIZE] == 2e-3 and dense[LENGTH] == before + 8.0
    assert (sim.engine.d.views["mode"][: sim.engine.step_m.nslot] == OPEN).all()
    # at the end of the step of twice dense_step that passes it
    found = run.events[run.events["kind"] == "user"]
    assert len(found) == 1 and 0.0033 <= found["time"][0] <= 0.0033 + 2e-3
    assert np.abs(sim.qpos.reshape(-1, 7)[:, 2] - 0.1).max() < 2 * (2e-3) ** 2


# ---------------------------------------------------------------- counts of events


def called(kernel, sim, *arguments):
    return plain(kernel)(fields(sim.engine.step_m), fields(sim.engine.d), *arguments)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_count_of_events_that_decays(restitution):
    """By dense_events in dense_time; impacts that return everything are not counted."""
    law = saltus.Hard(restitution=restitution, dense_events=10, dense_time=0.5)
    sim = saltus.Simulation(BALL, contact=law)
    sim.forward()
    d, rng = sim.engine.d, np.random.default_rng(0)
    d.views["event_rate"][:] = 0.0
    d.views["dense"][[COUNTED, COUNTED_AT, RECENT]] = 0.0
    d.views["event_hit"][:] = 0
    d.views["event_hit"][0] = 1
    count = last = 0.0
    for time in np.cumsum(rng.exponential(0.03, 60)):
        sim.time = time
        found = called(too_dense, sim, True)
        if restitution < 1.0:
            count = max(count - 20.0 * (time - last), 0.0) + 1.0
        last = time
        np.testing.assert_allclose(d.views["event_rate"][0][0], count, rtol=1e-12)
        assert bool(found) == (count > 10.0)
    assert restitution == 1.0 or d.views["dense"][COUNTED] > 0.0


def test_a_count_of_the_events_of_all_contacts():
    """Of many points in turn, none of which has many: by `MANY` times as much for each tree."""
    sim = saltus.Simulation(crates(3), contact=saltus.Hard(dense_events=4, dense_time=0.5, dense_step=1e-3))
    sim.forward()
    d, rng, limit = sim.engine.d.views, np.random.default_rng(0), 4 * MANY * 3
    d["event_rate"][:] = d["dense"][[COUNTED, COUNTED_AT, RECENT]] = 0.0
    number, count, last, told = 12, 0.0, 0.0, set()
    for k, time in enumerate(np.cumsum(rng.exponential(0.5 / limit / 2, 300))):
        if k == 200:
            time = last + 0.4
        sim.time = max(time, last)
        d["event_hit"][:] = 0
        d["event_hit"][k % number] = 1
        d["event_rate"][k % number] = 0.0
        found = called(too_dense, sim, True)
        count = max(count - 2.0 * limit * (sim.time - last), 0.0) + 1.0
        last = sim.time
        np.testing.assert_allclose(d["dense"][COUNTED], count, rtol=1e-9)
        assert bool(found) == (count > limit)
        told.add(bool(found))
    assert told == {False, True}


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2, math.pi / 2])
def test_slips_that_turn_fast_are_stiff(angle):
    """A ball on crossed slides: its slip turns at the rate μ f_N A / v, with A the mobility across it."""
    xml = """<mujoco><worldbody><geom type="plane" size="9 9 1" friction=".5"/><body pos="0 0 .1"><joint type="slide"
    axis="1 0 0"/><geom size=".01" mass="3" contype="0" conaffinity="0"/><body><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom size=".1" mass="2" friction=".5"/></body></body></worldbody></mujoco>"""
    sim, speed = saltus.Simulation(xml, contact="hard", timestep=1e-7), 1e-2
    sim.qvel[:2] = speed * math.cos(angle), speed * math.sin(angle)
    sim.step()  # which finds the modes
    called(acceleration, sim)
    across = math.sin(angle) ** 2 / 5 + math.cos(angle) ** 2 / 2
    longest = STIFFEST * speed / (0.5 * 2 * G * across)
    assert not called(is_stiff, sim, np.float64(0.99 * longest))
    assert called(is_stiff, sim, np.float64(1.01 * longest))


def test_slips_are_stiff_for_many_steps_in_a_row_before_they_stall():
    """One more than MOST_STIFF; a step that is not begins the count anew; only where time may be stepped."""
    for dense, may in (("step", True), ("locate", False)):
        sim = saltus.Simulation(BALL, contact=saltus.Hard(dense=dense, dense_step=1e-3))
        sim.qvel[1] = 1e-9
        sim.step()
        called(acceleration, sim)
        count = sim.engine.d.views["dense"]
        count[STIFF] = 0.0
        short, long = np.float64(0.99 * SHORT * 1e-3), np.float64(1.01 * SHORT * 1e-3)
        stiff = bool(called(is_stiff, sim, short))
        told = [bool(called(stalls, sim, short)) for _ in range(int(MOST_STIFF) + 3)]
        assert told == [stiff and may and k >= MOST_STIFF for k in range(int(MOST_STIFF) + 3)]
        assert not called(stalls, sim, long) and count[STIFF] == 0.0


def test_a_count_of_trial_steps_that_decays():
    """By 50 within dense_step; only with contacts that are active."""
    sim = saltus.Simulation(BALL, contact=saltus.Hard(dense_step=1e-3))
    sim.forward()
    dense, closed = sim.engine.d.views["dense"], sim.engine.d.views["event_count"]
    dense[[TRIES, TRIED_AT]] = 0.0
    count, last = 0.0, 0.0
    for k, time in enumerate(np.cumsum(np.r_[np.full(70, 1e-6), np.full(5, 4e-4)])):
        sim.time = time
        closed[CLOSED] = k % 2
        count, last = max(count - 5e4 * (time - last), 0.0) + 1.0, time
        assert bool(called(creeps, sim)) == (count > 50.0 and k % 2 == 1)
        np.testing.assert_allclose(dense[TRIES], count, rtol=1e-9)
    assert count < 50.0


def test_forces_that_are_shared_roughly_count_as_unsolved():
    """Event functions are kept, and slips followed, all the same."""
    sim = saltus.Simulation(BALL, contact="hard")
    sim.forward()
    d = sim.engine.d.views
    for shared in (ROUGHLY, ROUGHLY + 1, ROUGHLY - 1):
        before, d["event_value"][:] = d["count"][NUNSOLVED], np.arange(len(d["event_value"])) + shared
        d["event_count"][SHARED] = shared
        called(keep_values, sim)
        assert d["count"][NUNSOLVED] - before == (shared == ROUGHLY)
        np.testing.assert_array_equal(
            d["event_before"][: sim.engine.step_m.nevent], d["event_value"][: sim.engine.step_m.nevent]
        )


# ---------------------------------------------------------------- derivatives


def test_times_of_a_balls_impacts_by_its_height():
    """Impact k at t₁ (1 + 2 (e + ... + e^k)), t₁ = √(2 h/g), after which the speed is e^(k+1) √(2 g h)."""
    h, e = 0.8, 0.7
    sim = saltus.Simulation(BALL, "dopri5", saltus.Hard(restitution=e), timestep=1.6, tolerance=(1e-11, 1e-13))
    sim.qpos[0] = h
    tangents = RunTangents(sim.engine)
    next(tangents.columns())  # direction 0 is the height
    impacts = [row for row in tangents.advance(1) if row[0, 1] == 0]
    fall = np.sqrt(2 * h / G)
    times = np.array([fall * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(len(impacts))])
    assert len(impacts) == np.searchsorted(times, 1.6) >= 3
    np.testing.assert_allclose([row[0, 0] for row in impacts], times, rtol=1e-9)
    np.testing.assert_allclose([row[1, 0] for row in impacts], times / (2 * h), rtol=1e-9)
    speeds = np.array([e**k * np.sqrt(2 * G * h) for k in range(len(impacts))])
    np.testing.assert_allclose([-row[1, 4] for row in impacts], speeds / (2 * h), rtol=1e-9)


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_derivatives_through_an_impact(integrator):
    """z = e v (t - t₁) - g (t - t₁)²/2 after the first impact, by the height and the speed at the start."""
    h, e = 0.8, 0.7
    fall = np.sqrt(2 * h / G)
    sim = saltus.Simulation(BALL, integrator, saltus.Hard(restitution=e), timestep=1.3 * fall)
    sim.qpos[0] = h
    A, _ = sim.linearize()
    s, by_h, by_v, v = 0.3 * fall, 1 / (G * fall), 1 / G, G * fall
    wanted = [[e * (G * by_h * s - v * by_h) + G * s * by_h, -e * v * by_v + G * s * by_v]]
    wanted += [[e * G * by_h + G * by_h, G * by_v]]
    np.testing.assert_allclose(A[np.ix_([0, 2], [0, 2])], wanted, atol=1e-8)


# ---------------------------------------------------------------- limits of tendons

THROWN = """<mujoco><option timestep=".13333333" gravity="0 0 -10"><flag refsafe="disable"/></option><worldbody><body>
<joint name="z" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody><tendon>
<fixed limited="true" range="-9 {}"><joint joint="z" coef="2"/></fixed></tendon></mujoco>"""


@pytest.mark.parametrize("height", [0.184, 0.191, 0.199, 0.201])
def test_a_limit_that_is_passed_within_a_step_alone(height):
    """Thrown up at 2 m/s, a mass would be beyond it for √(4 - 20 z)/5 s; it turns there with half of its speed.

    The second time step begins as long before the apex as it ends after it, below the limit.
    """
    sim = saltus.Simulation(THROWN.format(2 * height), "dopri5", contact=saltus.Hard(limits=0.5))
    sim.qvel[0] = 2.0
    sim.step(2)
    speed = math.sqrt(max(4.0 - 20.0 * height, 0.0))
    left, after, at = (sim.time - (2.0 - speed) / 10, -0.5 * speed, height) if speed else (sim.time, 2.0, 0.0)
    assert sim.qvel[0] == pytest.approx(after - 10.0 * left, abs=1e-8)
    assert sim.qpos[0] == pytest.approx(at + after * left - 5.0 * left**2, abs=1e-8)


BESIDE = """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="1 1 .1"/>
<body pos="0 0 .115"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>
<body pos="3 0 3"><joint type="ball"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="1" contype="0"
  conaffinity="0"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("rows", [512, 1])
def test_a_full_log_keeps_the_status_of_steps_before_it(rows, monkeypatch):
    """Of two steps, the first has no solution for a rod that turns by 4 rad; in the second a ball bounces beside it."""
    monkeypatch.setattr("saltus.model.compile.constraints.hard.LOG_ROWS", rows)
    with plain_python():
        sim = saltus.Simulation(BESIDE, "energy_momentum", contact=saltus.Hard(restitution=1.0))
        sim.qvel[:] = -1.0, 300.0, 270.0, -240.0
        with pytest.warns(saltus.SaltusWarning, match="Newton's method did not converge"):
            sim.step(2)
    assert len(sim.events) == 1 and sim.unconverged == 1
