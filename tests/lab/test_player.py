"""A recording is played as it was. Reference: the recording."""

import numpy as np
import pytest
from helpers.lab import FRAME, decoded, run

import saltus
from saltus import lab
from saltus.errors import OptionError
from saltus.lab.data.recording import Downloads
from saltus.lab.messages.protocol import Command
from saltus.lab.player import Player
from saltus.record.trajectory import Trajectory


def trajectory():
    return saltus.Simulation("pendulum", "velocity_verlet", timestep=0.05).run(2.0, sample=0.05)


def at(player):
    """The angle that is shown, by the bob's pose, and the time."""
    frame = decoded(player.frame().encode(1), player.scene())
    assert frame["replay"]
    angle = -2 * np.arctan2(frame["bodies"][0, 1, 5], frame["bodies"][0, 1, 3])
    np.testing.assert_allclose(frame["dofs"][0, 0, 0], angle, atol=1e-6)
    return angle, frame["time"]


def test_a_recording_plays_as_it_was():
    recorded = trajectory()
    player = Player(recorded, Downloads())
    scene = player.scene()
    assert (scene["kind"], scene["duration"], scene["title"]) == ("replay", pytest.approx(2.0), "pendulum")
    for k in range(1, 119):
        player.tick(FRAME)
        angle, shown = at(player)
        assert shown == pytest.approx(k * FRAME)
        assert angle == pytest.approx(np.interp(k * FRAME, recorded.time, recorded.qpos[:, 0]), abs=1e-6)
    assert player.playing and not player.idle
    run(player, 0.1)
    assert not player.playing and at(player) == (pytest.approx(recorded.qpos[-1, 0], abs=1e-6), pytest.approx(2.0))
    assert player.frame() is None and player.idle
    player.handle(Command("play"))
    assert player.playing and at(player)[1] == 0.0


def test_seek_step_speed_pause_reset():
    recorded = trajectory()
    player = Player(recorded, Downloads())
    player.handle(Command("pause"))
    player.handle(Command("seek", {"time": 0.725}))
    assert at(player) == (pytest.approx(recorded.qpos[14:16, 0].mean(), abs=1e-6), pytest.approx(0.725))
    for n, sample in ((1, 15), (1, 16), (3, 19), (100, 40)):
        player.handle(Command("step", {"n": n}))
        assert at(player) == (pytest.approx(recorded.qpos[sample, 0], abs=1e-6), pytest.approx(0.05 * sample))
    player.handle(Command("seek", {"time": -5.0}))
    assert at(player)[1] == 0.0
    player.handle(Command("speed", {"value": 0.5}))
    player.handle(Command("toggle"))
    run(player, 1.0)
    assert at(player)[1] == pytest.approx(0.5)
    player.handle(Command("reset", {"key": None}))
    assert at(player)[1] == 0.0
    player.handle(Command("integrator", {"name": "rk4"}))
    assert player.notices.pop() == ("error", "integrator is not available for a recording")
    assert player.status()["hud"] == [["Recording", ["t = 0.00", "integrator = velocity_verlet", "dt = 0.05"]]]


def test_a_recording_without_its_model_cannot_be_played():
    bare = Trajectory([0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]])
    with pytest.raises(OptionError, match="does not contain its model"):
        lab.open(bare, browser=False)
    with pytest.raises(OptionError, match="a recording has no integrator"):
        lab.open(trajectory(), integrator="rk4", browser=False)


def test_several_recordings_play_on_one_timeline():
    """Each is where its own samples say at the same time after its start, and the longest decides the end."""
    first = trajectory()
    sim = saltus.Simulation("pendulum", "explicit_euler", timestep=0.05)
    sim.time = 7.0
    longer, shorter = sim.run(3.0, sample=0.05), saltus.Simulation("pendulum", "rk4").run(1.0, sample=0.05)
    player = Player(first, Downloads(), ghosts=[longer, shorter])
    scene = player.scene()
    assert scene["duration"] == pytest.approx(3.0)
    assert [ghost["name"] for ghost in scene["ghosts"]] == ["explicit_euler", "rk4"]
    for time in (0.5, 1.5, 3.0):
        player.handle(Command("seek", {"time": time}))
        dofs = decoded(player.frame().encode(1), scene)["dofs"][:, 0, 0]
        expected = [np.interp(t.time[0] + time, t.time, t.qpos[:, 0]) for t in (first, longer, shorter)]
        np.testing.assert_allclose(dofs, expected, atol=1e-6)
    history = player.signals.track.history
    energies = np.array([history.column(id) for id in history.ids])
    width = player.signals.track.width // 3
    np.testing.assert_allclose(energies[0] + energies[1], first.total_energy, atol=1e-4)
    np.testing.assert_allclose(energies[width] + energies[width + 1], longer.total_energy[:41], atol=1e-4)
    assert np.isnan(energies[2 * width][21:]).all() and np.isfinite(energies[2 * width][:21]).all()


def test_recordings_of_other_mechanisms_are_refused():
    other = saltus.Simulation("double_pendulum", "rk4").run(0.1, sample=0.05)
    with pytest.raises(OptionError, match="one has 2 positions"):
        lab.open([trajectory(), other], browser=False)
    with pytest.raises(OptionError, match="trajectories alone"):
        lab.open([trajectory(), "pendulum"], browser=False)
