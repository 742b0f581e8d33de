"""The course of a run: what the page's energy and phase plots are drawn from.

References: `saltus.Simulation` by itself, stepped and read by hand, to the 32 bits of samples; a ball's fall from its
height h, which hits the floor at sqrt(2 h / g); columns of a recording.
"""

import math

import numpy as np
import pytest
from helpers.lab import do, opened, run, session_of

import saltus
from saltus.lab.data import track as track_module
from saltus.lab.data.recording import Downloads
from saltus.lab.player import Player


@pytest.fixture(autouse=True)
def all_the_time_there_is(monkeypatch):
    """Energies are computed at every sample, however busy the machine is."""
    monkeypatch.setattr(track_module, "SHARE", math.inf)


def course(session, run=0, runs=1):
    """Times [n] and the columns of a run [n, ...] of a session's course."""
    history = session.signals.track.history
    width = len(history.ids) // runs
    return history.times, np.stack([history.column(id) for id in history.ids[run * width : (run + 1) * width]], axis=1)


def by_hand(sim, samples):
    rows = []
    for _ in range(samples):
        rows.append([sim.time, *sim.energy(), *np.stack([sim.qpos, sim.qvel], axis=1).ravel()])
        sim.step()
    return np.array(rows)


def test_every_step_is_there():
    session = run(session_of("pendulum", integrator="velocity_verlet", timestep=0.05), 2.0)
    times, columns = course(session)
    rows = by_hand(session.setup.simulation(), 41)
    np.testing.assert_array_equal(times, rows[:, 0])
    np.testing.assert_array_equal(columns[:, [0, 1, 3, 4]], rows[:, 1:].astype(np.float32))
    assert np.isnan(columns[:, 2]).all()


def test_ghosts_have_their_own_course_and_those_that_do_not_run_have_none():
    session = opened("pendulum_ghosts", {"timestep": 0.05})
    names = session.setup.ghosts
    run(session, 1.0)
    for k, name in enumerate(names, start=1):
        sim = saltus.Simulation(session.sim.model, name, timestep=0.05, control=session.setup.control)
        session.setup.reset(sim, session.setup.key)
        sim.control_prm[:] = session.sim.control_prm
        rows = by_hand(sim, 21)
        found = course(session, k, 1 + len(names))[1]
        np.testing.assert_allclose(found[:, 3:], rows[:, 3:], rtol=1e-6, atol=1e-7)
    do(session, "ghosts", on=False)
    run(session, 0.1)
    assert np.isnan(course(session, 1, 1 + len(names))[1][-1]).all()


def test_an_impact_has_its_time_and_a_reset_forgets_all():
    session = opened("bouncing_ball", {"timestep": 0.01})
    height = session.sim.qpos[0]
    hit = math.sqrt(2 * height / 9.81)
    run(session, 0.5)
    times, columns = course(session)
    (k,) = np.flatnonzero(np.isfinite(columns[:, 2]))
    assert times[k] + columns[k, 2] == pytest.approx(hit, abs=1e-6)
    assert times[k - 1] < hit <= times[k]
    do(session, "reset", key=None)
    times, columns = course(session)
    assert times.tolist() == [0.0] and columns[0, 3] == height


def test_a_recording_shows_its_columns_and_its_impacts():
    trajectory = saltus.Simulation("bouncing_ball", contact="hard", timestep=0.01).run(1.0)
    player = Player(trajectory, Downloads())
    times, columns = course(player)
    np.testing.assert_array_equal(times, trajectory.time)
    np.testing.assert_array_equal(columns[:, :2], trajectory.energy.astype(np.float32))
    np.testing.assert_array_equal(columns[:, 3], trajectory.qpos[:, 0].astype(np.float32))
    hits = trajectory.events["time"][trajectory.events["kind"] == "impact"]
    found = times[np.isfinite(columns[:, 2])] + columns[np.isfinite(columns[:, 2]), 2]
    first = [
        hits[np.searchsorted(hits, before, "left")] for before in times[np.flatnonzero(np.isfinite(columns[:, 2])) - 1]
    ]
    np.testing.assert_allclose(found, first, atol=1e-6)
