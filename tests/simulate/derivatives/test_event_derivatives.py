"""Derivatives of located events: of their times, of the states at them, and of impulses.

References: closed forms, to 1e-9 of the value, which leaves room for the tolerance 1e-11 of the integrator; and
central differences of recorded events, extrapolated to the fourth order with steps of 1e-4 and 5e-5, to 1e-7: rounding
of 1e-12 over the step.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.record.table.event_sensitivity import EventSensitivity
from saltus.simulate.derivatives.event_derivatives import EventRun

G, TIGHT = 9.81, (1e-11, 1e-13)
POINT = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".2"/>
  <body name="ball" pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/><joint name="x" type="slide" axis="1 0 0"/>
  <joint name="y" type="slide" axis="0 1 0"/><geom name="ball" size=".1" friction=".3" mass="2"/></body></worldbody>
  </mujoco>"""
BOX = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".4"/>
  <body pos="0 0 .5"><freejoint/><geom type="box" size=".1 .15 .2" friction=".4"/></body></worldbody></mujoco>"""

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_hard_layout")]  # duals of event location compile


def simulation(model, restitution, qpos, qvel=None, integrator="dopri5", timestep=0.05, **options):
    tolerance = TIGHT if integrator == "dopri5" else None
    law = saltus.Hard(restitution=restitution)
    sim = saltus.Simulation(model, integrator, law, timestep=timestep, tolerance=tolerance, **options)
    sim.qpos = qpos
    if qvel is not None:
        sim.qvel = qvel
    return sim


def close(found, expected, tolerance=1e-9):
    scale = np.maximum(np.abs(expected), 1.0)
    np.testing.assert_allclose(np.asarray(found) / scale, np.asarray(expected) / scale, rtol=0, atol=tolerance)


def of_kind(run, kind):
    """Places of the events of a kind."""
    return np.flatnonzero(run.events["kind"] == kind)


def test_twenty_impacts_of_a_ball_by_height_gravity_and_restitution():
    """Impact k at t₁ (1 + 2 (e + ... + e^(k-1))), t₁ = √(2 h/g); behind it the speed eᵏ √(2 g h)."""
    h, e, count = 0.8, 0.9, 20
    run = simulation(POINT, e, [h, 0, 0]).run(8.0, sensitivity=("qpos", "qvel", "opt.gravity[2]", "Hard.restitution"))
    found = run.events.sensitivity
    assert isinstance(found, EventSensitivity)
    assert list(found) == ["qpos", "qvel", "opt.gravity[2]", "Hard.restitution"]
    fall, k = np.sqrt(2 * h / G), np.arange(count)
    times = fall * np.array([1 + 2 * sum(e**j for j in range(1, n + 1)) for n in k])
    by_e = fall * np.array([2 * sum(j * e ** (j - 1) for j in range(1, n + 1)) for n in k])
    speed = e ** (k + 1) * np.sqrt(2 * G * h)
    close(run.events["time"][:count], times)
    close(found["qpos"].time[:count], np.outer(times / (2 * h), [1, 0, 0]))
    close(found["qvel"].time[:count, 0], 1 / G)  # (v + √(v² + 2 g h))/g: later, and not faster
    close(found["opt.gravity[2]"].time[:count], times / (2 * G))  # the option is -g
    close(found["Hard.restitution"].time[:count], by_e)
    close(found["qpos"].qvel[:count, 0, 0], speed / (2 * h))
    close(found["Hard.restitution"].qvel[:count, 0], (k + 1) * speed / e)
    close(found["qpos"].velocity[:count, 0], -speed / e / (2 * h))
    close(found["qpos"].qpos[:count, 0], 0.0)  # on the floor
    # impulse m (1 + e) v, v = eᵏ √(2 g h) before
    close(run.events["impulse"][:count, 0], 2.0 * (1 + e) * speed / e)
    close(found["qpos"].impulse[:count, 0, 0], 2.0 * (1 + e) * speed / e / (2 * h))
    close(found["Hard.restitution"].impulse[:count, 0], 2.0 * speed / e * (1 + (1 + e) * k / e))
    # the limit of the series, t₁ (1 + e)/(1 - e)
    zeno = int(of_kind(run, "zeno")[0])
    close(found["qpos"].time[zeno, 0], fall * (1 + e) / (1 - e) / (2 * h))
    close(found["Hard.restitution"].time[zeno], 2 * fall / (1 - e) ** 2)
    assert np.isnan(found["qpos"].impulse[zeno]).all()


def test_apexes_of_a_ball():
    """The k-th apex is e^(2 k) h high, at t₁ (1 + 2 (e + ... + e^(k-1)) + eᵏ): a zero of the speed."""

    def speed(m, d):
        return d.qvel[0]

    h, e, count = 0.8, 0.9, 20
    sim = simulation(POINT, e, [h, 0, 0], events=[saltus.Event(speed, direction="down", name="apex")])
    run = sim.run(7.5, sensitivity=("qpos", "Hard.restitution"))
    apex, k, fall = of_kind(run, "user")[:count], np.arange(1, count + 1), np.sqrt(2 * h / G)
    times = fall * np.array([1 + 2 * sum(e**j for j in range(1, n)) + e**n for n in k])
    found = run.events.sensitivity
    close(run.events["time"][apex], times)
    close(found["qpos"].time[apex, 0], times / (2 * h))
    close(found["qpos"].qpos[apex, 0, 0], e ** (2 * k))
    close(found["Hard.restitution"].qpos[apex, 0], 2 * k * e ** (2 * k - 1) * h)
    close(found["qpos"].qvel[apex, 0, 0], 0.0)


def test_where_and_when_a_block_stops():
    """A sliding block stops after v/(μ g), at v²/(2 μ g)."""
    v, mu = 1.0, 0.3
    run = simulation(POINT, 0.0, [0, 0, 0], [0, v, 0]).run(0.6, sensitivity=("qvel", "geom_friction[ball][0]"))
    stop, found = int(of_kind(run, "stick")[0]), run.events.sensitivity
    close(run.events["time"][stop], v / (mu * G))
    close(found["geom_friction[ball][0]"].time[stop], -v / (mu**2 * G))
    close(found["geom_friction[ball][0]"].qpos[stop], [0, -(v**2) / (2 * mu**2 * G), 0])
    close(found["qvel"].time[stop, 1], 1 / (mu * G))
    close(found["qvel"].qpos[stop, 1, 1], v / (mu * G))
    close(found.qpos[stop], [0, v**2 / (2 * mu * G), 0])
    close(found.qvel[stop], 0.0)
    assert found.act.shape == (len(run.events), 0)


def test_when_a_sliding_ball_begins_to_roll():
    """A solid ball (I = 2/5 m r²) slides until t = 2 v/(7 μ g), then rolls with 5/7 v at 12 v²/(49 μ g)."""
    model = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".1"/>
      <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/><joint axis="0 1 0"/>
      <geom name="ball" size=".1" friction=".3"/></body></worldbody></mujoco>"""
    v, mu = 2.0, 0.3
    run = simulation(model, 0.0, [0, 0, 0], [0, v, 0]).run(0.3, sensitivity=("qvel", "geom_friction[ball][0]"))
    rolls, found = int(of_kind(run, "stick")[0]), run.events.sensitivity
    close(run.events["time"][rolls], 2 * v / (7 * mu * G))
    close(found["qvel"].time[rolls, 1], 2 / (7 * mu * G))
    close(found["qvel"].qvel[rolls, 1:, 1], [5 / 7, 5 / 7 / 0.1])
    close(found["qvel"].qpos[rolls, 1, 1], 24 * v / (49 * mu * G))
    close(found["geom_friction[ball][0]"].time[rolls], -2 * v / (7 * mu**2 * G))
    close(found["geom_friction[ball][0]"].qpos[rolls, 1], -12 * v**2 / (49 * mu**2 * G))
    close(found["geom_friction[ball][0]"].qvel[rolls], 0.0)


def test_two_balls_that_meet():
    """At gap/(v₁ - v₂), with the impulse (1 + e) (v₁ - v₂) m₁ m₂/(m₁ + m₂)."""
    model = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body name="a"><joint type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
      <body name="b" pos="1 0 0"><joint type="slide" axis="1 0 0"/><geom size=".1" mass="3"/></body></worldbody>
      </mujoco>"""
    gap, e, (v1, v2), (m1, m2) = 0.8, 0.6, (2.0, -0.5), (1.0, 3.0)
    sim = simulation(model, e, [0, 0], [v1, v2])
    run = sim.run(0.5, sensitivity=("qpos", "qvel", "body_mass[a]", "Hard.restitution"))
    found, closing = run.events.sensitivity, v1 - v2
    (meets,) = of_kind(run, "impact")
    reduced, by_m1 = m1 * m2 / (m1 + m2), (m2 / (m1 + m2)) ** 2
    close(run.events["time"][meets], gap / closing)
    close(found["qpos"].time[meets], np.array([-1, 1]) / closing)
    close(found["qvel"].time[meets], np.array([-1, 1]) * gap / closing**2)
    close(found["qvel"].impulse[meets, 0], np.array([1, -1]) * (1 + e) * reduced)
    close(found["body_mass[a]"].impulse[meets, 0], (1 + e) * closing * by_m1)
    close(found["Hard.restitution"].impulse[meets, 0], closing * reduced)
    close(found["Hard.restitution"].qvel[meets], [-closing * reduced / m1, closing * reduced / m2])
    close(found["body_mass[a]"].time[meets], 0.0)


def test_a_block_that_rocks_from_edge_to_edge():
    """Housner (1963): the speed after the first impact is 1 - 3/2 sin² α of that before; times are ∝ 1/√g."""
    model = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction="2"/>
      <body pos="0 0 .4"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
      <geom type="box" size=".1 .1 .4" friction="2"/></body></worldbody></mujoco>"""
    a, b, tilt = 0.1, 0.4, 0.08
    R, alpha = np.hypot(a, b), np.arctan2(a, b)
    start = [R * np.sin(alpha) - R * np.sin(alpha - tilt), R * np.cos(alpha - tilt) - b, tilt]
    with pytest.warns(saltus.SaltusWarning, match="only where their order does not matter"):  # both ends of an edge
        run = simulation(model, 0.0, start).run(0.4, sensitivity="opt.gravity[2]")
    found, first = run.events.sensitivity["opt.gravity[2]"], int(of_kind(run, "impact")[0])
    omega = np.sqrt(1.5 * G / R * (np.cos(alpha - tilt) - np.cos(alpha)))  # ω² = 2 m g R (...)/(4/3 m R²)
    after = omega * (1 - 1.5 * np.sin(alpha) ** 2)
    close(found.time[first], run.events["time"][first] / (2 * G), 1e-8)
    close(np.abs(found.qvel[first, 2]), after / (2 * G), 1e-8)
    close(found.qpos[first], 0.0, 1e-8)


@pytest.mark.parametrize("steps", [0, 1, 3, 7])
@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_an_impact_that_coincides_with_the_end(steps, integrator):
    """An impact 2 to 9 roundings before the end: the event's own derivatives, and those of the state at the end.

    A step later than the impact, the sample's derivatives are those of the throw behind it: dz/dh = -e.
    """
    h, e = 0.8, 0.7
    fall = np.sqrt(2 * h / G)
    end = fall + (2 + steps) * np.spacing(fall)
    sim = simulation(POINT, e, [h, 0, 0], integrator=integrator, timestep=end)
    A, _ = sim.linearize()
    run = sim.run(end, sensitivity="qpos")
    if len(run.events):
        found = run.events.sensitivity["qpos"]
        close(found.time[:, 0], 1 / (G * fall))
        close(found.qvel[:, 0, 0], e * np.sqrt(2 * G * h) / (2 * h))
        close(found.qpos[:, 0], 0.0)
        close(A[[0, 3], 0], [-e, (1 + e) * np.sqrt(2 * G * h) / (2 * h)])
    else:
        close(A[[0, 3], 0], [1, 0])
    assert len(run.events) or integrator == "rk4"


def test_an_elastic_bounce_without_gravity():
    """z = -(h + v t): the mirror image, whose derivatives are -1 by height, -t by speed, and -1 of speed by speed."""
    t = 0.9
    sim = simulation(POINT.replace("-9.81", "0"), 1.0, [0.5, 0, 0], [-1.0, 0.4, 0], timestep=t)
    A, _ = sim.linearize()
    close(A[np.ix_([0, 3], [0, 3])], [[-1, -t], [0, -1]])
    found = sim.run(t, sensitivity=("qpos", "qvel")).events.sensitivity
    close(found["qpos"].time[0], [1, 0, 0])
    close(found["qvel"].time[0], [0.5, 0, 0])
    close(found["qvel"].impulse[0, 0], [-4.0, 0, 0])


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_a_tumbling_box_beside_differences(integrator):
    """Events of a free box, whose rotations have three directions and quaternions four numbers."""
    h = 0.005 if integrator == "rk4" else 0.05
    start = np.array([0, 0, 0.5, 0.978, 0.171, 0.101, 0.05])
    start[3:] /= np.linalg.norm(start[3:])

    def make(change):
        sim = simulation(BOX, 0.4, start, integrator=integrator, timestep=h)
        q = np.array(sim.qpos)
        mujoco.mj_integratePos(sim.model.mujoco, q, change[:6], 1.0)
        sim.qpos, sim.qvel = q, np.array([1, 0.2, 0, 0.5, 0.3, 0.2]) + change[6:]
        return sim

    def seen(change):
        events = make(change).run(0.45).events
        assert len(events) == len(reference.events)
        return np.concatenate([events["time"], events["velocity"], events["impulse"].ravel()])

    def central(k, x):
        change = x * np.eye(12)[k]
        return (seen(change) - seen(-change)) / (2 * x)

    reference = make(np.zeros(12)).run(0.45, sensitivity=("qpos", "qvel"))
    found = reference.events.sensitivity
    assert len(reference.events) >= 2
    for k in (2, 3, 4, 6, 10):
        own = found["qpos" if k < 6 else "qvel"]
        parts = [own.time[:, k % 6], own.velocity[:, k % 6], own.impulse[..., k % 6].ravel()]
        expected = (4 * central(k, 5e-5) - central(k, 1e-4)) / 3
        there = np.isfinite(expected)
        np.testing.assert_array_equal(there, np.isfinite(np.concatenate(parts)))
        scale = np.abs(expected[there]).max()
        np.testing.assert_allclose(np.concatenate(parts)[there], expected[there], rtol=0, atol=1e-7 * scale)


def test_controls_activations_and_arrays_of_controls():
    """m z'' = u - m g with a filtered control, τ u' = c - u: the time of landing beside differences."""
    model = POINT.replace(
        "</worldbody>", "</worldbody><actuator><general joint='z' dyntype='filter' dynprm='.1'/></actuator>"
    )

    def landing(c, act, rows=None):
        sim = simulation(model, 0.5, [0.8, 0, 0])
        sim.ctrl, sim.act = c, act
        control = None if rows is None else np.full((40, 1), c) + np.arange(40)[:, None] / 10
        return sim.run(0.5, control=control, sensitivity=("ctrl", "act")).events

    for rows in (None, True):
        events = landing(3.0, 1.0, rows)
        found = events.sensitivity
        for name, at in (("ctrl", lambda x: (3.0 + x, 1.0)), ("act", lambda x: (3.0, 1.0 + x))):
            central = [
                (landing(*at(x), rows)["time"][0] - landing(*at(-x), rows)["time"][0]) / (2 * x) for x in (1e-3, 5e-4)
            ]
            assert found[name].time[0, 0] == pytest.approx((4 * central[1] - central[0]) / 3, rel=1e-8)
        assert found["act"].act.shape == (len(events), 1, 1)


def test_a_controller_of_the_run_alone():
    """A servo's gain, given to the run or to the simulation: equal derivatives; that of the run is gone after it."""
    model = POINT.replace("</worldbody>", "</worldbody><actuator><motor name='lift' joint='z'/></actuator>")
    servo = saltus.PID(kp=2.0, target=0.1)
    own, lent = (simulation(model, 0.7, [0.8, 0, 0], **options) for options in ({"control": servo}, {}))
    names = ("PID.kp[lift]", "qpos")
    first = own.run(0.6, sensitivity=names).events
    second = lent.run(0.6, control=servo, sensitivity=names).events
    assert lent.control is None
    np.testing.assert_array_equal(first["time"], second["time"])
    np.testing.assert_array_equal(first.sensitivity[names[0]].time, second.sensitivity[names[0]].time)

    def landing(kp):
        return simulation(model, 0.7, [0.8, 0, 0], control=saltus.PID(kp=kp, target=0.1)).run(0.6).events["time"][0]

    central = [(landing(2.0 + x) - landing(2.0 - x)) / (2 * x) for x in (1e-2, 5e-3)]
    found = first.sensitivity[names[0]].time[0]
    assert found == pytest.approx((4 * central[1] - central[0]) / 3, rel=1e-8)
    # behind the run, the state is the one of a run without derivatives
    plain = simulation(model, 0.7, [0.8, 0, 0])
    plain.run(0.6, control=servo)
    np.testing.assert_array_equal(plain.run(0.3).qpos, lent.run(0.3).qpos)


def test_a_terminal_event_ends_the_run():
    """The first apex, at t₁ (1 + e)."""

    def speed(m, d):
        return d.qvel[0]

    h, e = 0.8, 0.7
    top = saltus.Event(speed, direction="down", name="apex", terminal=True)
    run = simulation(POINT, e, [h, 0, 0], events=[top]).run(3.0, sensitivity="qpos")
    fall = np.sqrt(2 * h / G)
    close(run.events["time"], [fall, fall * (1 + e)])
    close(run.events.sensitivity["qpos"].time[:, 0], np.array([1, 1 + e]) * fall / (2 * h))


def test_the_run_is_the_one_without_and_goes_on():
    """The recording, and the state behind it, are equal to the bit to those of a run that is not differentiated."""
    plain, asked = (simulation(POINT, 0.5, [0.8, 0, 0]) for _ in range(2))
    first, second = plain.run(0.7), asked.run(0.7, sensitivity="qpos")
    np.testing.assert_array_equal(first.qpos, second.qpos)
    np.testing.assert_array_equal(first.events["time"], second.events["time"])
    np.testing.assert_array_equal(plain.snapshot(), asked.snapshot())
    # the next run starts in flight
    more = asked.run(0.6, sensitivity="qpos").events
    np.testing.assert_array_equal(plain.run(0.6).events["time"], more["time"])
    assert np.isfinite(more.sensitivity["qpos"].time).all()


def test_events_at_the_start_have_their_time_given():
    """A ball that is pulled off the floor by F > m g: it leaves at once, and strikes no earlier than it would."""
    model = POINT.replace("</worldbody>", "</worldbody><actuator><motor joint='z'/></actuator>")
    sim = simulation(model, 0.5, [0, 0, 0])
    sim.run(0.1)
    sim.ctrl = 30.0
    run = sim.run(0.1, sensitivity=("ctrl", "qvel"))
    (leaves,) = of_kind(run, "liftoff")
    found = run.events.sensitivity
    close(run.events["time"][leaves], 0.1)
    close(found["ctrl"].time[leaves], 0.0)
    close(found["ctrl"].qvel[leaves, :, 0], 0.0)


TWO = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction="0"/>
  <body pos="0 0 .1"><joint name="a" type="slide" axis="0 0 1"/><geom size=".1" friction="0"/></body>
  <body pos="1 0 .1"><joint name="b" type="slide" axis="0 0 1"/><geom size=".1" friction="0"/></body>
  </worldbody></mujoco>"""


def test_what_has_no_derivatives_is_named():
    with pytest.raises(saltus.OptionError, match="only located events have derivatives"):
        saltus.Simulation(POINT).run(0.1, sensitivity="qpos")
    with pytest.raises(saltus.OptionError, match="only located events have derivatives"):
        saltus.Simulation(POINT, "moreau_jean", "hard").run(0.1, sensitivity="qpos")
    sim = simulation(POINT, 0.5, [0.8, 0, 0])
    for wrong, said in (("no_field", "no_field"), ("Hard.friction", "its parameter is geom_friction")):
        with pytest.raises(saltus.OptionError, match=said):
            sim.run(0.1, sensitivity=wrong)
    with pytest.raises(saltus.OptionError, match="a control function in Python has no derivatives"):
        sim.run(0.1, control=lambda sim: None, sensitivity="qpos")
    assert sim.time == 0.0
    with pytest.raises(saltus.EventError, match="it begins at an impact"):
        simulation(POINT, 0.5, [0, 0, 0], [-1, 0, 0]).run(0.1, sensitivity="qpos")
    with pytest.raises(saltus.EventError, match="several contacts meet at once") as caught:
        simulation(TWO, 0.5, [0.8, 0.8]).run(0.6, sensitivity="qpos")
    assert len(caught.value.trajectory.events) >= 2
    assert EventRun.__module__ == "saltus.simulate.derivatives.event_derivatives"


def test_parts_and_plain_runs_have_no_derivatives():
    run = simulation(POINT, 0.5, [0.8, 0, 0]).run(0.5, sensitivity="qpos")
    for events in (run.events[:1], run.events.copy(), simulation(POINT, 0.5, [0.8, 0, 0]).run(0.1).events):
        with pytest.raises(saltus.OptionError, match="these have no derivatives"):
            _ = events.sensitivity
