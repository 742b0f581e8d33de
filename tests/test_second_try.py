"""Tests that fail beside others have a second try alone; the law is in `helpers.second_try`."""

import subprocess
import sys

import pytest
from helpers import second_try

STEADY = "def test_steady(): pass\n"
BROKEN = "def test_broken(): assert False\n"
UNSTEADY = """
from pathlib import Path

def test_unsteady():
    seen = Path(__file__).with_suffix(".seen")
    tried, _ = seen.exists(), seen.touch()
    assert tried
"""


@pytest.fixture
def first_try(tmp_path):
    def run(text):
        (tmp_path / "test_tried.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-o", f"cache_dir={tmp_path / 'cache'}", "."]
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode

    return run


@pytest.mark.parametrize(
    ("text", "first", "second", "listed"),
    [
        (STEADY, 0, 0, []),
        (STEADY + UNSTEADY, 1, 0, ["unsteady: test_tried.py::test_unsteady"]),
        (STEADY + BROKEN, 1, 1, []),
        (UNSTEADY + BROKEN, 1, 1, ["unsteady: test_tried.py::test_unsteady"]),
    ],
    ids=["steady", "unsteady", "broken", "unsteady and broken"],
)
def test_unsteady_tests_are_listed_and_broken_ones_fail(first_try, tmp_path, monkeypatch, text, first, second, listed):
    monkeypatch.setenv("SALTUS_UNSTEADY", str(tmp_path / "unsteady"))
    monkeypatch.chdir(tmp_path)
    assert first_try(text) == first
    assert second_try.second_try(tmp_path / "cache", ["-q"]) == second
    names = (tmp_path / "unsteady").read_text().splitlines() if listed else []
    assert names == listed and (tmp_path / "unsteady").exists() == bool(listed)


def test_many_failures_are_not_tried_again(first_try, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(second_try, "MOST", 1)
    assert first_try(UNSTEADY + BROKEN) == 1
    assert second_try.second_try(tmp_path / "cache", ["-q"]) == 1
    assert len(second_try.failed(tmp_path / "cache")) == 2


def test_what_was_not_collected_has_no_second_try(tmp_path, monkeypatch, capsys):
    """pytest-xdist notes a worker that found other tests than the rest; with that name alone all tests would run."""
    noted = tmp_path / "cache" / "v" / "cache" / "lastfailed"
    noted.parent.mkdir(parents=True)
    noted.write_text('{"gw0": true}')
    monkeypatch.setattr(second_try.subprocess, "run", None)
    assert second_try.second_try(tmp_path / "cache", []) == 1
    assert "not collected: gw0" in capsys.readouterr().out
