"""A recording without checksums is read by a process of its own first; then it loads, and is said to be unverified."""

import signal
import sys

import numpy as np
import pytest
from helpers.systems import needs_kill

from saltus.errors import RecordError, SaltusWarning
from saltus.record import Trajectory
from saltus.record.io import isolated_reader
from saltus.record.io.dataset import to_dataset
from saltus.record.io.file import FORMAT, _attributes
from saltus.record.io.isolated_reader import check_readable

SPINS = 3072  # of which HDF5 makes a list without an end
TRAJECTORY = Trajectory(np.arange(50.0), np.ones((50, 2)), np.ones((50, 2)), attrs={"integrator": "rk4"})


def old(path):
    """A recording as it was written before there were checksums."""
    dataset = to_dataset(TRAJECTORY)
    dataset.attrs = _attributes(TRAJECTORY)
    assert FORMAT == 2
    dataset.to_netcdf(path, engine="h5netcdf")
    return path


def test_a_recording_from_before_checksums(tmp_path):
    path = old(tmp_path / "run.nc")
    with pytest.warns(
        SaltusWarning, match=r"run\.nc' was written before recordings had checksums: it cannot be verified"
    ):
        loaded = Trajectory.load(path)
    np.testing.assert_array_equal(loaded.qpos, TRAJECTORY.qpos)
    assert loaded.attrs == TRAJECTORY.attrs


@pytest.mark.slow
def test_a_zeroed_page_of_one_does_not_hang(tmp_path, monkeypatch):
    """It makes HDF5 spin; it is given up after a few seconds."""
    monkeypatch.setattr(isolated_reader, "SECONDS", 1.0)
    path = old(tmp_path / "run.nc")
    whole = path.read_bytes()
    path.write_bytes(whole[:SPINS] + bytes(512) + whole[SPINS + 512 :])
    with pytest.raises(RecordError, match="reading it comes to no end"):
        Trajectory.load(path)


@needs_kill
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("while True: pass", "reading it comes to no end"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", f"ends with status {-signal.SIGSEGV}"),
        ("print('why'); raise SystemExit(1)", "why"),
    ],
)
def test_how_a_trial_may_end(tmp_path, monkeypatch, command, said):
    path = tmp_path / "file"
    path.write_bytes(b"")
    monkeypatch.setattr(isolated_reader, "START", command.replace("{", "{{"))
    monkeypatch.setattr(isolated_reader, "START_SECONDS", 1.0)
    monkeypatch.setattr(isolated_reader, "SECONDS", 0.1)
    assert sys.executable
    with pytest.raises(ValueError, match=said):
        check_readable(str(path))


class Limits:
    """A system's module `resource` with one limit of one kind; other systems lack other kinds."""

    RLIM_INFINITY, RLIMIT_CPU = -1, 0

    def __init__(self, hard):
        self.hard, self.set = hard, []

    def getrlimit(self, kind):
        return self.RLIM_INFINITY, self.hard

    def setrlimit(self, kind, limits):
        if self.hard != self.RLIM_INFINITY and limits[1] > self.hard:
            raise ValueError("not allowed to raise maximum limit")
        self.set.append(limits)


@pytest.mark.parametrize(("hard", "found"), [(Limits.RLIM_INFINITY, 10), (20, 10), (5, 5)])
def test_limits_are_lowered_as_far_as_the_system_has_them(hard, found):
    """getrlimit(2): nobody but root raises a hard limit."""
    system = Limits(hard)
    for name in ("RLIMIT_CPU", "RLIMIT_AS"):
        isolated_reader._limit(system, name, 10)
    assert system.set == [(found, found)]
