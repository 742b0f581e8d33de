"""Recordings of the lab, what is made of them, and how they are played.

Reference: `sim.run` with the same sampling, bit for bit.
"""

import io
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from helpers.lab import do, notices, opened, page, pendulum, run

import saltus
from saltus import lab
from saltus.lab.data import recording
from saltus.lab.data.recording import Downloads
from saltus.record.trajectory import Trajectory


def loaded(content, tmp_path):
    path = tmp_path / "r.nc"
    path.write_bytes(content)
    return Trajectory.load(path)


@pytest.mark.parametrize(("timestep", "sample"), [(0.05, 0.05), (0.001, 0.017)])
def test_a_recording_is_what_a_run_records(timestep, sample, tmp_path):
    """Every step, or the step nearest to every 1/60 s."""
    session = pendulum(timestep=timestep)
    do(session, "record", on=True)
    assert session.status()["recording"]
    run(session, 2.0)
    assert session.status()["recorded"] == pytest.approx(2.0, abs=2 * timestep)
    do(session, "record", on=False)
    found = loaded(session.downloads.content("trajectory"), tmp_path)
    sim = saltus.Simulation("pendulum", "velocity_verlet", timestep=timestep)
    expected = sim.run(2.0, sample=sample)
    assert len(found) == len(expected) > 40
    for name in ("time", "qpos", "qvel", "ctrl", "energy"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.names == expected.names and found.units == expected.units
    assert found.attrs["integrator"] == "velocity_verlet" and found.attrs["sample"] == pytest.approx(sample)
    assert found.model is not None and found.model.nq == 1


def test_what_was_changed_meanwhile_is_told():
    session = pendulum()
    do(session, "record", on=True)
    run(session, 0.5)
    do(session, "integrator", name="rk4")
    do(session, "gravity", value=[0.0, 0.0, -1.0])
    run(session, 0.5)
    do(session, "record", on=False)
    trajectory, _ = session.downloads._trajectory, session.downloads._ghosts
    assert trajectory.attrs["lab_changes"] == [
        "t = 0.5 s: integrator rk4",
        "t = 0.5 s: opt.gravity[0] = 0, opt.gravity[1] = 0, opt.gravity[2] = -1",
    ]
    assert np.all(np.diff(trajectory.time) > 0) and trajectory.time[-1] == pytest.approx(1.0)


def test_a_reset_ends_a_recording():
    session = pendulum()
    do(session, "record", on=True)
    run(session, 0.5)
    do(session, "reset", key=None)
    assert not session.status()["recording"] and session.downloads.seconds == pytest.approx(0.5)
    assert "The recording ended with the reset." in notices(session)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(recording, "MOST_SAMPLES", 30)
    session = pendulum()
    do(session, "record", on=True)
    assert "room for 0.0242 min" in notices(session)[-1]
    run(session, 3.0)
    assert not session.status()["recording"] and session.playing
    assert session.downloads.seconds == pytest.approx(29 * 0.05)
    assert "The recording is full: 30 samples" in notices(session)[-1]


def test_ghosts_are_recorded_too():
    session = pendulum(ghosts=("explicit_euler", "rk4"))
    do(session, "ghosts", on=True)
    do(session, "record", on=True)
    run(session, 1.0)
    do(session, "record", on=False)
    euler, rk4 = session.downloads._ghosts
    by_itself = saltus.Simulation("pendulum", "rk4", timestep=0.05).run(1.0, sample=0.05)
    np.testing.assert_array_equal(rk4.qpos, by_itself.qpos)
    assert len(euler) == 21 and euler.attrs["integrator"] == "explicit_euler"


# ---------------------------------------------------------------- playing


def trajectory():
    return saltus.Simulation("pendulum", "velocity_verlet", timestep=0.05).run(2.0, sample=0.05)


# ---------------------------------------------------------------- over the wire


def fetch(it, name):
    base, _, token = it.url.partition("/?")
    with urllib.request.urlopen(f"{base}/download/{name}?{token}", timeout=60) as response:
        return response.headers, response.read()


@pytest.mark.slow
def test_downloads(tmp_path):
    """Record in the page, stop, and have it as a file, as a report, as a video."""
    with lab.open("pendularm", browser=False) as it, page(it) as client:
        client.until(lambda: client.frame is not None and client.frame["time"] > 0.05)
        client.send("video")
        client.until(lambda: any("record first" in text for text in client.notices))
        client.send("record", on=True)
        client.until(lambda: client.status["recording"] and client.status["recorded"] > 0.3)
        client.send("record", on=False)
        client.until(lambda: not client.status["recording"])
        headers, content = fetch(it, "trajectory.nc")
        assert headers["Content-Disposition"] == 'attachment; filename="trajectory.nc"'
        found = loaded(content, tmp_path)
        assert found.duration == pytest.approx(client.status["recorded"]) and found.duration > 0.3
        with pytest.raises(urllib.error.HTTPError, match="409"):
            fetch(it, "video.mp4")
        client.send("video")
        client.until(lambda: client.status["video"]["state"] == "ready")
        assert client.status["video"]["done"] == 1.0
        assert frames_of(fetch(it, "video.mp4")[1]) == int(np.ceil(found.duration * 60 - 1e-6))
        report = fetch(it, "report.html")[1].decode()
        assert report.lstrip().lower().startswith("<!doctype html>") and "pendulum" in report
        seen = client.frames
        client.until(lambda: client.frames > seen + 10)  # all the while it goes on


def frames_of(video):
    import av

    with av.open(io.BytesIO(video)) as container:
        return sum(1 for _ in container.decode(video=0))


def test_what_is_asked_for_twice_is_made_once(monkeypatch):
    """Also while it is being made: a download that was cancelled and begun again."""
    made, gate = [], threading.Event()

    def written(write, suffix):
        made.append(suffix)
        assert gate.wait(30)
        return b"content"

    monkeypatch.setattr(recording, "written", written)
    session = pendulum()
    do(session, "record", on=True)
    do(session, "record", on=False)
    found = []
    threads = [threading.Thread(target=lambda: found.append(session.downloads.content("report"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    gate.set()
    for thread in threads:
        thread.join()
    assert made == [".html"] and found == [b"content"] * 3


def test_a_video_that_cannot_be_made_says_why():
    downloads = Downloads()
    downloads.keep(Trajectory([0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]]))
    assert downloads.make_video() is None
    end = time.monotonic() + 30
    while downloads.video["state"] == "drawing":
        assert time.monotonic() < end
        time.sleep(0.01)
    assert downloads.video["state"] == "failed" and "model" in downloads.video["message"]


def test_a_recording_in_the_browser():
    with lab.open(trajectory(), browser=False) as it, page(it) as client:
        client.until(lambda: client.frame is not None and client.frame["time"] > 0.1)
        assert client.scene["kind"] == "replay" and client.frame["replay"]
        client.send("seek", time=1.5)
        client.send("pause")
        client.until(lambda: not client.status["playing"])
        assert client.status["time"] >= 1.5
        assert len(fetch(it, "trajectory.nc")[1]) > 1000
        client.send("scene", name="pendularm")
        client.until(lambda: client.scene["name"] == "pendularm")


def test_servo_states_are_recorded():
    """The controls that belong to each state, as `sim.run` records them."""
    session = opened("pendularm")
    do(session, "keydown", key="c")
    control = session.sim.control
    do(session, "record", on=True)
    run(session, 1.0)
    do(session, "record", on=False)
    sim = saltus.Simulation("pendulum", "velocity_verlet", timestep=0.05, control=control)
    expected = sim.run(1.0, sample=0.05)
    found = session.downloads._trajectory
    for name in ("qpos", "qvel", "act", "ctrl"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
