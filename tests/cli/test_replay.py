"""`saltus replay`: what a recording is of, and the files that show it, long after the run."""

import urllib.error
import urllib.request

import pytest

import saltus
from saltus import lab
from saltus.record.io import stream

av = pytest.importorskip("av")
SMALL = ["--size", "160x120"]


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "run.nc"
    saltus.Simulation("pendulum", "rk4", timestep=0.01).run(1.0, certify=True).save(path)
    return path


@pytest.mark.slow
def test_summary_and_files(saltus_command, recording, tmp_path):
    outputs = {"--plot": "p.svg", "--video": "v.webm", "--report": "r.html", "--save": "again.zarr"}
    options = [word for option, name in outputs.items() for word in (option, tmp_path / name)]
    code, out, err = saltus_command("replay", recording, *options, *SMALL, "--fps", 10)
    assert code == 0 and all(line.startswith("compiling ") for line in err.splitlines())
    for words in ("pendulum: 1 body", "rk4 (order 4, explicit)", "0.01 s", "1 s, 61 samples", "position error about"):
        assert words in out
    for name in outputs.values():
        assert (tmp_path / name).exists() and f"wrote {tmp_path / name}" in out
    assert len(saltus.Trajectory.load(tmp_path / "again.zarr")) == 61


def test_a_run_that_was_cut_short_says_how_to_go_on(saltus_command, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "SECONDS", 0.0)

    class Cut(Exception):
        pass

    def cut(done):
        if done > 0.5:
            raise Cut

    path = tmp_path / "run.zarr"
    with pytest.raises(Cut):
        saltus.Simulation("pendulum").run(2.0, save=path, progress=cut)
    code, out, _ = saltus_command("replay", path, "--plot", tmp_path / "p.png")
    assert code == 0 and f"resume it with saltus run --resume {path}" in out


def test_the_player(saltus_command, recording, monkeypatch):
    """Without a file to write it opens the lab, whose page answers; here until it is looked at."""
    seen = []

    def look(self):
        with urllib.request.urlopen(self.url, timeout=10) as answer:
            seen.append(answer.read())

    monkeypatch.setattr(lab.Lab, "wait", look)
    code, out, _ = saltus_command("replay", recording, "--no-browser")
    assert code == 0 and "playing at http://127.0.0.1:" in out and b"<html" in seen[0]
    url = next(word for word in out.split() if word.startswith("http"))
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--video", "v.avi"], ".mp4, .webm, .gif"),
        (["--video", "v.mp4", "--camera", "no"], "no camera 'no'"),
        (["--report", "r.txt"], ".html"),
    ],
)
def test_bad_options(saltus_command, recording, options, said):
    code, _, err = saltus_command("replay", recording, *options)
    assert code == 1 and err.startswith("error: ") and said in err


def test_what_is_no_recording(saltus_command, tmp_path):
    (tmp_path / "x.nc").write_bytes(b"nothing")
    code, out, err = saltus_command("replay", tmp_path / "x.nc")
    assert code == 1 and out == "" and "cannot read recording" in err
    assert saltus_command("replay", tmp_path / "none.nc")[0] == 1
