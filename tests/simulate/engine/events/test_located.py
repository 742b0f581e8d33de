"""Event-driven runs as users meet them: names in the log, starts that cannot be, runs that stop, reports of impacts.

The physics is in `test_hard_contact.py`; numbers here are closed forms of it, exact but for rounding.
"""

import math
import warnings

import numpy as np
import pytest
from helpers import hard_models as models
from helpers.hard_models import CRADLE, G, floor
from scipy.special import ellipk

import saltus
from saltus.model.compile.constraints.hard import LOG_ROWS

pytestmark = pytest.mark.usefixtures("one_hard_layout")

DROP = floor('<body name="ball" pos="0 0 1.1"><freejoint/><geom name="ball" size="0.1" mass="1"/></body>')


def test_events_have_names_velocities_impulses_and_energies():
    """From 1 m: v² = 2 g; the impulse is (1 + e) m v, the energy after m g h + e² v²/2."""
    sim = saltus.Simulation(DROP, contact=saltus.Hard(restitution=0.5))
    trajectory = sim.run(0.6, sample=0.1)
    (impact,) = trajectory.events
    speed = math.sqrt(2 * G)
    assert (impact["kind"], impact["name"], impact["other"]) == ("impact", "ball", "floor")
    np.testing.assert_allclose(impact["velocity"], -speed, rtol=1e-12)
    np.testing.assert_allclose(impact["impulse"], [1.5 * speed, 0, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([impact["energy_before"], impact["energy_after"]], [1.1 * G, 0.35 * G], rtol=1e-12)
    assert abs(impact["gap"]) < 1e-14
    assert len(sim.events) == 1
    sim.reset()
    assert len(sim.events) == 0


def test_long_names_are_whole_in_the_log():
    name = "b" * 80
    sim = saltus.Simulation(DROP.replace('<geom name="ball"', f'<geom name="{name}"'), contact="hard")
    assert set(sim.run(0.5, sample=0.5).events["name"]) == {name} == set(sim.events["name"])


def test_steps_and_runs_come_to_the_same_place():
    """A run takes steps of its own; 700 steps of 1 ms end each: the motion between impacts is exact for both."""
    law = saltus.Hard(restitution=0.5)
    one, other = (saltus.Simulation(DROP, contact=law) for _ in range(2))
    one.run(0.7, sample=0.7)
    other.step(700)
    np.testing.assert_allclose(other.qpos, one.qpos, atol=1e-12)
    np.testing.assert_allclose(other.events["time"], one.events["time"], rtol=1e-12)


def test_one_step_may_hold_any_number_of_events():
    """More impacts than compiled code has room to note, at √(2h/g) (2k - 1); each hands its rounding on."""
    fall = math.sqrt(2 / G)
    sim = saltus.Simulation(DROP, contact=saltus.Hard(restitution=1.0), timestep=1200 * fall)
    sim.step()
    assert len(sim.events) == 600 > LOG_ROWS
    np.testing.assert_allclose(sim.events["time"], fall * (2 * np.arange(1, 601) - 1), rtol=1e-10)
    assert sim.time == 1200 * fall


def test_a_snapshot_holds_the_modes():
    sim = saltus.Simulation(floor(models.BLOCK, friction=0.2), contact="hard")
    sim.qvel[0] = 3.0
    sim.run(0.5, sample=0.5)
    here = sim.snapshot()
    first = sim.run(1.5, sample=0.5)
    sim.restore(here)
    again = sim.run(1.5, sample=0.5)
    np.testing.assert_array_equal(again.qpos, first.qpos)
    np.testing.assert_array_equal(again.events["time"], first.events["time"])
    assert first.contact_mode.tolist() == again.contact_mode.tolist()


def test_a_change_from_outside_is_seen():
    """A block at rest that is given a velocity slides; one that is lifted falls."""
    sim = saltus.Simulation(floor(models.BLOCK, friction=0.2), contact="hard")
    sim.run(0.1, sample=0.1)
    sim.qvel[0] = 1.0
    sim.run(0.1, sample=0.1)
    np.testing.assert_allclose(sim.qvel[0], 1 - 0.2 * G * 0.1, rtol=1e-12)
    sim.qpos[2] += 0.5
    sim.qvel[:] = 0.0
    sim.run(0.1, sample=0.1)
    np.testing.assert_allclose(sim.qvel[2], -0.1 * G, rtol=1e-12)


def test_data_belong_to_the_present_state():
    """Held by the floor the block has no acceleration; looking changes nothing."""
    sim = saltus.Simulation(floor(models.BLOCK, friction=0.2), contact="hard")
    before = sim.snapshot()
    np.testing.assert_allclose(sim.data.qacc, 0.0, atol=1e-12)
    np.testing.assert_allclose(sim.data.qfrc_constraint[2], 2 * G, rtol=1e-12)
    np.testing.assert_array_equal(sim.qvel, 0.0)
    assert before.shape == sim.snapshot().shape


def test_bodies_in_each_other_are_refused_or_moved_apart():
    sim = saltus.Simulation(DROP, contact="hard")
    sim.qpos[2] = 0.05
    with pytest.raises(saltus.EventError, match=r"^at t = 0 s: ball and floor overlap by 0\.05 m, too much") as caught:
        sim.step()
    assert caught.value.time == 0.0
    sim.qpos[2] = 0.1 - 1e-6
    with pytest.warns(saltus.SaltusWarning, match="^at t = 0 s: ball and floor overlap by 1e-06 m"):
        sim.step()
    np.testing.assert_allclose(sim.qpos[2], 0.1, atol=1e-12)


def test_an_overlap_is_said_once():
    """Where a start is repeated, once for all: of a simulation and of a batch; also in the text itself."""
    sim, batch = saltus.Simulation(DROP, contact="hard"), saltus.Batch(DROP, 2, contact="hard")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            sim.reset()
            sim.qpos[2] = 0.1 - 1e-6
            sim.step()
            batch.reset()
            batch.write("qpos", sim.model.qpos0 - [0, 0, sim.model.qpos0[2] - 0.1 + 1e-6, 0, 0, 0, 0])
            batch.step()
    texts = [str(one.message) for one in caught]
    assert len(texts) == 2 and texts[1].startswith("simulation 0: ball and floor overlap")
    assert texts[0].count("t = 0 s") == 1


GEARED = """<mujoco><option gravity="0 0 0"/><worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0" mass="1"/></body>
  <body pos="2 0 1"><joint name="b" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0" mass="1"/></body></worldbody>
  <equality><joint name="gear" joint1="a" joint2="b" polycoef="0 -1 0 0 0"/></equality></mujoco>"""


def test_equalities_that_are_violated_are_refused_or_met():
    """q_a = -q_b of equal wheels: each turns back by half of what is too much."""
    sim = saltus.Simulation(GEARED, contact="hard")
    sim.qpos[0] = 0.01
    with pytest.raises(saltus.EventError, match=r"equality gear is violated by 0\.01, too much"):
        sim.step()
    sim.qpos[0] = 1e-5
    with pytest.warns(saltus.SaltusWarning, match="equality gear is violated by 1e-05; .*projected onto it"):
        sim.step()
    np.testing.assert_allclose(sim.qpos, [5e-6, -5e-6], rtol=1e-12)


def test_equalities_are_switched_on_where_they_are_closed():
    """Two equal wheels, one of which turns, are geared in an impact: each has half of its velocity (momentum)."""
    sim = saltus.Simulation(GEARED.replace("polycoef", 'active="false" polycoef'), contact="hard")
    sim.qvel[0] = 1.0
    sim.step()
    np.testing.assert_allclose(sim.qvel, [1.0, 0.0], atol=1e-12)
    sim.qpos[:] = 0.0
    sim.eq_active[0] = 1
    sim.step()
    np.testing.assert_allclose(sim.qvel, [0.5, -0.5], rtol=1e-12)
    sim.eq_active[0] = 0
    sim.qpos[0] += 0.01
    sim.step()
    np.testing.assert_allclose(sim.qvel, [0.5, -0.5], rtol=1e-12)
    sim.eq_active[0] = 1
    with pytest.raises(saltus.EventError, match=r"equality gear is violated by 0\.01,"):
        sim.step()


def test_samples_have_what_actions_changed_after_them():
    """A geared wheel takes half of a torque of 1 N m until it is let go (equal inertias); the recording knows when."""

    def when(m, d):
        return d.time - 0.1

    def let_go(m, d):
        d.eq_active[0] = 0.0
        d.ctrl[0] = 0.5

    driven = GEARED.replace("</mujoco>", '<actuator><motor name="motor" joint="b"/></actuator></mujoco>')
    sim = saltus.Simulation(driven, "dopri5", contact="hard", events=[saltus.Event(when, action=let_go)])
    sim.qfrc_applied[0] = 1.0
    run = sim.run(0.2, sample=0.02, record="qfrc_constraint")
    before = run.time < 0.1
    np.testing.assert_allclose(run.signals[before], -0.5, rtol=1e-9)
    np.testing.assert_allclose(run.signals[run.time > 0.11], 0.0, atol=1e-12)
    assert (run.ctrl[before] == 0.0).all() and (run.ctrl[run.time > 0.11] == 0.5).all()


def test_actions_may_not_switch_equalities_on():
    """The gear may be open there: the wheels would jump onto it."""

    def when(m, d):
        return d.time - 0.1

    def take(m, d):
        d.eq_active[0] = 1.0

    open_gear = GEARED.replace("polycoef", 'active="false" polycoef')
    events = [saltus.Event(when, action=take)]
    sim = saltus.Simulation(open_gear, "dopri5", contact="hard", events=events)
    with pytest.raises(saltus.OptionError, match="an action has switched equality 'gear' on"):
        sim.run(0.2)
    batch = saltus.Batch(open_gear, 2, integrator="dopri5", contact="hard", events=events)
    with pytest.raises(saltus.OptionError, match="an action has switched equality 'gear' on"):
        batch.step(100)


def test_looking_notes_no_events():
    """A ball that strikes the floor at the start: looking at forces finds the impact, and the step finds it again."""
    sim = saltus.Simulation(DROP, contact=saltus.Hard(restitution=0.5))
    sim.qpos[2], sim.qvel[2] = 0.1, -1.0
    sim.forward()
    assert len(sim.events) == 0 and sim.qvel[2] == -1.0
    sim.step()
    assert sim.events["kind"].tolist() == ["impact"]


def test_a_contact_sensor_sees_what_is_closed():
    """Not points at a distance, of which the law knows, too."""
    sensor = '<sensor><contact geom1="ball" num="2" data="found"/></sensor></mujoco>'
    sim = saltus.Simulation(DROP.replace("</mujoco>", sensor), contact="hard")
    assert sim.sensordata.tolist() == [0, 0]
    sim.qpos[2] = 0.1
    assert sim.sensordata.tolist() == [1, 0]


def test_a_run_that_stops_keeps_what_it_has():
    """Painlevé's rod has no motion above μ = 4/3: the recording, the modes and a snapshot stay."""
    sim = saltus.Simulation(models.sliding_rod(1.5), contact="hard")
    sim.qvel[0] = -1.0
    with pytest.raises(saltus.EventError, match="Painlev") as caught:
        sim.run(0.1, sample=1e-4)
    error = caught.value
    assert error.trajectory is not None and "Painlev" in error.trajectory.attrs["stopped"]
    assert len(error.trajectory) >= 1 and error.time is not None
    sim.restore(error.snapshot)
    assert sim.time == error.time


@pytest.mark.slow
def test_the_next_impact_of_a_cradle_by_all_treatments():
    """Equal balls, e = 1: one leaves; Moreau's single problem has all of them move, at -3/5 and 2/5."""
    sim = saltus.Simulation(CRADLE, contact=saltus.Hard(restitution=1.0))
    sim.qvel[0] = 1.0
    report = sim.impact_report()
    assert sim.time == 0.0 and sim.qvel[0] == 1.0
    normal = report.first
    found = {t: report.outcomes["newton", t].after[normal] for t in ("simultaneous", "moreau", "sequential")}
    np.testing.assert_allclose(found["simultaneous"], [0, 0, 0, 1], atol=1e-10)
    np.testing.assert_allclose(found["sequential"], [0, 0, 0, 1], atol=1e-10)
    np.testing.assert_allclose(found["moreau"], [1, 0, 0, 0], atol=1e-10)
    assert "moreau: differs from simultaneous" in str(report)


def test_no_impact_to_report():
    sim = saltus.Simulation(DROP, contact="hard")
    with pytest.raises(saltus.OptionError, match=r"no impact within 0\.1 s"):
        sim.impact_report(within=0.1)
    with pytest.raises(saltus.OptionError, match="requires located events"):
        saltus.Simulation(DROP).impact_report()


def side_by_side(model, hard, duration):
    """Final positions under the soft and the hard law, and how far they are apart at most, of one comparison."""
    result = saltus.compare(model, integrators=["dopri5"], contacts=["soft", hard], duration=duration)
    assert {row.contact for row in result.rows} == {"soft", "hard"}
    assert all(math.isfinite(row.error) for row in result.rows)
    soft, rigid = (result.references[law].trajectory.qpos[-1] for law in ("soft", "hard"))
    (apart,) = result.differences.values()
    return soft, rigid, apart


@pytest.mark.slow
def test_a_ball_under_both_laws():
    """Until it touches the two are the same; then the soft one dips in, the hard one does not."""
    soft, rigid, apart = side_by_side(DROP, "hard", 0.44)
    np.testing.assert_allclose(soft, rigid, atol=1e-9)
    soft, rigid, apart = side_by_side(DROP, "hard", 0.47)
    assert rigid[2] == pytest.approx(0.1, abs=1e-12) and soft[2] < 0.1 - 1e-3
    np.testing.assert_allclose(apart[-1], rigid[2] - soft[2], rtol=1e-6)


@pytest.mark.slow
def test_a_box_on_a_slope_under_both_laws():
    """Below the friction angle the hard law holds it where it is; the soft one, regularised, lets it creep down."""
    model = models.slope(models.BLOCK, math.atan(0.25), 0.3)
    start = saltus.load(model).qpos0
    soft, rigid, _ = side_by_side(model, "hard", 0.5)
    np.testing.assert_allclose(rigid, start, atol=1e-14)
    assert 1e-4 < np.linalg.norm(soft[:3] - start[:3]) < 1e-2


def test_a_cradle_under_both_laws():
    """One ball falls from 0.5 rad, the last one rises as high: half a period and four gaps of 2 mm later.

    Springs between the balls hand on all but 1e-3 of the height; around the highest point times matter little: 1 ms of
    them g sin(0.5)/(2 l) 1e-6 = 5e-6 rad.
    """
    half = 2 * math.sqrt(0.5 / G) * ellipk(math.sin(0.25) ** 2)
    duration = half + 4 * 0.002 / 1.0959
    soft, rigid, _ = side_by_side("newtons_cradle", saltus.Hard(restitution=1.0), duration)
    np.testing.assert_allclose(rigid[-1], 0.5, atol=1e-4)
    np.testing.assert_allclose(rigid[:-1], 0.0, atol=1e-2)
    np.testing.assert_allclose(soft[-1], 0.5, atol=1e-3)
