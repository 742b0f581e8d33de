"""Event-driven runs as users meet them: names in the log, starts that cannot be, runs that stop, reports of impacts.

The physics is in `test_hard_contact.py`; numbers here are closed forms of it, exact but for rounding.
"""

import math

import numpy as np
import pytest
from helpers import hard_models as models
from helpers.hard_models import CRADLE, G, floor

import saltus

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


def test_steps_and_runs_come_to_the_same_place():
    """A run takes steps of its own; 700 steps of 1 ms end each: the motion between impacts is exact for both."""
    law = saltus.Hard(restitution=0.5)
    one, other = (saltus.Simulation(DROP, contact=law) for _ in range(2))
    one.run(0.7, sample=0.7)
    other.step(700)
    np.testing.assert_allclose(other.qpos, one.qpos, atol=1e-12)
    np.testing.assert_allclose(other.events["time"], one.events["time"], rtol=1e-12)


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
    with pytest.raises(saltus.EventError, match=r"ball and floor overlap by 0\.05 m"):
        sim.step()
    sim.qpos[2] = 0.1 - 1e-6
    with pytest.warns(saltus.SaltusWarning, match="overlap by 1e-06 m"):
        sim.step()
    np.testing.assert_allclose(sim.qpos[2], 0.1, atol=1e-12)


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
    with pytest.raises(saltus.OptionError, match="located in event-driven runs alone"):
        saltus.Simulation(DROP).impact_report()


def test_soft_and_hard_side_by_side():
    """A block on a slope below the friction angle: the hard law holds it, the soft one lets it creep."""
    result = saltus.compare(
        models.slope(models.BLOCK, math.atan(0.25), 0.3),
        integrators=["dopri5"],
        contacts=["soft", "hard"],
        duration=0.5,
    )
    assert {row.contact for row in result.rows} == {"soft", "hard"}
    assert all(row.error is not None for row in result.rows)
