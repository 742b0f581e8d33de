"""Looking back in a live run and going on from there.

Reference: the same simulation by itself, bit for bit; frames in 32-bit numbers.
"""

import numpy as np
from helpers.lab import FRAME, alone, assert_same_state, decoded, do, notices, pendulum, run

STEP = 0.05  # s, three frames


def watched(session, seconds):
    """Let time pass with a page that is shown every frame."""
    for _ in range(round(seconds / FRAME)):
        session.tick(FRAME)
        session.frame()
    return session


def shown(session):
    return decoded(session.present_frame().encode(1), session.scene())


def test_an_earlier_time_is_seen_as_it_was():
    """At whole steps the frame is that of the simulation alone; the run waits, and nothing of it changes."""
    session = watched(pendulum(), 2.0)
    present, before = shown(session), session.sim.snapshot()
    do(session, "seek", time=1.0 + 1e-9)
    assert not session.playing and session.status()["looking"] == shown(session)["time"]
    np.testing.assert_allclose(shown(session)["time"], 1.0, atol=1e-9)
    then = alone(session, round(1.0 / STEP))
    np.testing.assert_allclose(shown(session)["dofs"][0], [[then.qpos[0], then.qvel[0]]], rtol=1e-6)
    assert session.status()["hud"] == [["Looking back", ["t = 1.00", "now = 2.00"]]]
    np.testing.assert_array_equal(session.sim.snapshot(), before)
    do(session, "seek", time=99.0)
    assert session.status()["looking"] is None
    np.testing.assert_array_equal(shown(session)["bodies"], present["bodies"])


def test_play_goes_on_from_now():
    session = watched(pendulum(), 1.0)
    do(session, "seek", time=0.3)
    do(session, "play")
    watched(session, 1.0)
    assert_same_state(session.sim, alone(session, round(2.0 / STEP)))
    assert session.status()["looking"] is None


def test_the_run_goes_on_from_there():
    """It is the run that never went further; what came after the moment is gone from past, plots and events."""
    session = watched(pendulum(), 2.0)
    do(session, "record", on=True)
    do(session, "seek", time=1.0 + 1e-9)
    do(session, "from_here")
    assert "time was set back" in notices(session)[-1]
    assert session.playing and abs(session.sim.time - 1.0) < 1e-12
    assert session.status()["past"][1] <= session.sim.time + 1e-9
    assert np.nanmax(session.signals.history.times) <= session.sim.time
    watched(session, 0.5)
    assert_same_state(session.sim, alone(session, round(1.5 / STEP)))
    times = session.signals.history.times
    assert (np.diff(times[np.isfinite(times)]) > 0).all() and times[-1] > 1.4


def test_another_method_goes_on_from_the_same_place():
    session = watched(pendulum(), 1.0)
    do(session, "integrator", name="rk4")
    watched(session, 1.0)
    do(session, "seek", time=0.5 + 1e-9)
    then = alone(pendulum(), round(0.5 / STEP))
    do(session, "from_here")
    assert_same_state(session.sim, then)


def test_there_is_nothing_before_the_reset():
    session = watched(pendulum(), 1.0)
    do(session, "seek", time=0.5)
    do(session, "reset", key=None)
    assert session.status()["past"] is session.status()["looking"] is None
    do(session, "from_here")
    assert "look back first" in notices(session)[-1]
    assert session.sim.time == 0.0


def test_a_past_without_a_page_costs_nothing():
    session = run(pendulum(), 1.0)
    assert len(session.past) == 0
