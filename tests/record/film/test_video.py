"""Videos of recordings: each frame shows its own moment, whatever the step, and a file is there whole or not at all.

Reference: the renderer's own pictures of the states at k/fps. A decoded frame is nearer to its own picture than to any
neighbour's, and near it to within the quantiser (a mean of 3 of 255).
"""

import contextlib
import warnings
from itertools import pairwise

import numpy as np
import pytest

import saltus
from saltus.draw.renderer import make_renderer
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View
from saltus.errors import OptionError, RecordError, SaltusWarning
from saltus.record.film.video import Video
from saltus.record.table.interpolate import Interpolator

av = pytest.importorskip("av")
SMALL = {"width": 160, "height": 120}


@pytest.fixture(scope="module")
def swing():
    """A pendulum whose samples are not at the frames' times."""
    return saltus.Simulation("pendulum", "rk4", timestep=0.01).run(1.0, sample=0.03)


def decoded(path):
    with av.open(path) as container:
        frames = list(container.decode(video=0))
    return [float(f.pts * f.time_base) for f in frames], [f.to_ndarray(format="rgb24").astype(int) for f in frames]


def drawn(trajectory, times):
    renderer = make_renderer(trajectory.model, View(**SMALL))
    states = Interpolator(trajectory, trajectory.model).at(times)["qpos"]
    return [renderer.draw(Still(qpos)).astype(int) for qpos in states]


@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_each_frame_shows_its_moment(swing, tmp_path, speed):
    path, fps = str(tmp_path / "swing.mp4"), 30
    swing.video(path, fps, speed=speed, text=False, **SMALL)
    times, frames = decoded(path)
    count = int(30 / speed)
    assert len(frames) == count
    np.testing.assert_allclose(times, np.arange(count) / fps, rtol=0, atol=1e-12)
    expected = drawn(swing, np.arange(count) / fps * speed)
    apart = np.array([[np.abs(frame - picture).mean() for picture in expected] for frame in frames])
    assert np.diag(apart).max() < 3.0
    moving = np.array([np.abs(a - b).mean() for a, b in pairwise(expected)]) > 0.3
    assert moving.sum() > count / 2
    for k in np.flatnonzero(moving[:-1] & moving[1:]) + 1:
        assert np.argmin(apart[k]) == k


def test_frame_count_and_size_of_each_format(swing, tmp_path):
    for suffix, rate in ((".mp4", 60), (".webm", 60), (".gif", 50)):
        path = str(tmp_path / f"swing{suffix}")
        swing.video(path, **SMALL)
        times, frames = decoded(path)
        assert len(times) == rate and frames[0].shape == (120, 160, 3)


def test_text_and_ghosts_are_drawn(swing, tmp_path):
    ghost = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    ghost.qpos[0] = -1.0
    ghost = ghost.run(1.0)
    pictures = [np.asarray(swing.picture(time=0.5, **o, **SMALL)).astype(int) for o in ({}, {"text": True})]
    pictures.append(np.asarray(swing.picture(time=0.5, ghosts=[ghost], **SMALL)).astype(int))
    assert np.abs(pictures[0] - pictures[1]).max() > 50
    assert np.abs(pictures[0] - pictures[2]).max() > 50


def test_a_notebook_shows_it(swing, tmp_path):
    film = swing.show(fps=10, **SMALL)
    assert isinstance(film, Video) and film.frames == 10 and film.data[4:8] == b"ftyp"
    html = film._repr_html_()
    assert html.startswith('<video src="data:video/mp4;base64,') and "controls" in html and "http" not in html
    film.save(tmp_path / "film.mp4")
    assert len(decoded(str(tmp_path / "film.mp4"))[0]) == 10
    with pytest.raises(OptionError, match=r"this video is \.mp4"):
        film.save(tmp_path / "film.gif")
    assert swing.show(fps=5, suffix=".gif", **SMALL)._repr_html_().startswith('<img src="data:image/gif;base64,R0lGOD')


def test_progress(swing, tmp_path):
    seen = []
    swing.video(tmp_path / "f.mp4", 20, progress=seen.append, **SMALL)
    assert len(seen) == 20 and seen == sorted(seen) and seen[-1] == 1.0


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("f.mov", {}, "suffix of a video"),
        ("f.mp4", {"width": 161}, "must be even"),
        ("f.mp4", {"fps": 0}, "fps must be"),
        ("f.mp4", {"camera": "nowhere"}, "nowhere"),
        ("f.mp4", {"follow": "nobody"}, "nobody"),
        ("f.mp4", {"progress": "yes"}, "progress must be"),
    ],
)
def test_bad_options_leave_nothing_behind(swing, tmp_path, name, options, said):
    with pytest.raises(OptionError, match=said):
        swing.video(tmp_path / name, **{**SMALL, **options})
    assert list(tmp_path.iterdir()) == []


def test_a_gif_that_browsers_slow_down(swing, tmp_path):
    with pytest.warns(SaltusWarning, match="60 frames per second: browsers slow down"):
        swing.video(tmp_path / "f.gif", 60, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        swing.video(tmp_path / "f.gif", **SMALL)


def test_a_file_that_cannot_be_written(swing, tmp_path):
    with pytest.raises(RecordError, match=r"cannot write video.*does not exist"):
        swing.video(tmp_path / "no" / "f.mp4", **SMALL)


@contextlib.contextmanager
def largest_file(size):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", [".mp4", ".webm", ".gif"])
def test_a_disk_that_fills_up_leaves_the_previous_file(swing, tmp_path, suffix):
    path = tmp_path / f"f{suffix}"
    path.write_bytes(b"before")
    with largest_file(2000), pytest.raises(RecordError, match=rf"cannot write video '.*f\{suffix}': file too large"):
        swing.video(path, **SMALL)
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"before"


def test_an_interrupt_leaves_nothing_behind(swing, tmp_path):
    def stop(done):
        if done > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swing.video(tmp_path / "f.mp4", progress=stop, **SMALL)
    assert list(tmp_path.iterdir()) == []


def test_one_sample_is_one_frame(swing, tmp_path):
    one = saltus.Trajectory(swing.time[:1], swing.qpos[:1], swing.qvel[:1], model=swing.model)
    one.video(tmp_path / "f.mp4", **SMALL)
    assert len(decoded(str(tmp_path / "f.mp4"))[0]) == 1
