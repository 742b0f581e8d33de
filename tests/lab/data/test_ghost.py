"""Ghosts are runs of their own. Reference: the same run alone."""

import numpy as np
import pytest
from helpers.lab import alone, assert_same_state, do, notices, pendulum, run, seen, session_of

import saltus


def test_ghosts_are_runs_of_their_own():
    """Each equals a simulation under its integrator by itself, from the moment on when they appear."""
    session = pendulum(ghosts=("explicit_euler", "rk4"))
    nothing = seen(session)
    assert np.isnan(nothing["bodies"][1:]).all() and np.isnan(nothing["energy"][1:]).all()
    run(session, 1.0)
    do(session, "ghosts", on=True)
    run(session, 2.0)
    start, frame = alone(session, 20), session.frame()
    assert frame is not None
    for k, name in enumerate(("explicit_euler", "rk4")):
        by_itself = saltus.Simulation("pendulum", name, timestep=0.05)
        by_itself.time, by_itself.qpos, by_itself.qvel = start.time, start.qpos, start.qvel
        by_itself.step(40)
        assert_same_state(session.motion.ghosts[k].sim, by_itself)
        np.testing.assert_allclose(frame.ghost_energy[k], by_itself.energy())
    do(session, "ghosts", on=False)
    assert np.isnan(seen(session)["bodies"][1:]).all()


def test_a_ghost_that_diverges_leaves():
    session = pendulum(ghosts=("explicit_euler", "rk4"))
    do(session, "ghosts", on=True)
    ghost = session.motion.ghosts[0]
    ghost.sim.qvel[:] = 2e10
    run(session, 0.2)
    (text,) = notices(session)
    assert text.startswith("The ghost explicit_euler is gone: diverged") and session.playing
    frame = seen(session)
    assert np.isnan(frame["bodies"][1]).all() and np.isfinite(frame["bodies"][2]).all()
    do(session, "reset", key=None)  # it comes back
    run(session, 0.2)
    assert np.isfinite(seen(session)["bodies"]).all()


@pytest.mark.slow
def test_ghosts_under_hard_contact():
    session = session_of("bouncing_ball", contact="hard", integrator="dopri5", ghosts=("rk4",))
    do(session, "ghosts", on=True)
    run(session, 1.0)
    (ghost,) = session.motion.ghosts
    assert ghost.alive and ghost.sim.contact == "hard"
    np.testing.assert_allclose(ghost.sim.qpos, session.sim.qpos, atol=1e-9)  # on the floor, both
