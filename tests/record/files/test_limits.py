"""Paths that are no files are not opened; what a file may unpack to grows with its size."""

import os
import socket

import pytest
from helpers.systems import needs_links, needs_named_pipes

import saltus
from saltus.errors import OptionError, RecordError
from saltus.record import Trajectory
from saltus.record.files.limits import LEAST, RATIO, Allowance


@pytest.mark.parametrize("path", [0, 1, True, None, 2.5, b"run.nc"])
def test_numbers_are_no_paths(path):
    """The system would take 1 for the standard output, and close it."""
    with pytest.raises(OptionError, match=r"path must be text or a pathlib\.Path, got"):
        Trajectory.load(path)
    with pytest.raises(OptionError, match="path must be text"):
        Trajectory([0.0], [[0.0]], [[0.0]]).save(path)
    os.fstat(1)


@needs_named_pipes
def test_pipes_devices_and_sockets(tmp_path):
    """A pipe would be waited for, and a device never ends."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", "/dev/zero", "/dev/tty"):
            with pytest.raises(RecordError, match="is not a regular file"):
                Trajectory.load(path)


@needs_links
def test_a_link_to_a_recording_is_one(tmp_path):
    Trajectory([0.0], [[1.0]], [[2.0]]).save(tmp_path / "run.nc")
    (tmp_path / "link.nc").symlink_to(tmp_path / "run.nc")
    assert saltus.Trajectory.load(tmp_path / "link.nc").qpos == [[1.0]]


def test_allowance():
    small, large = Allowance(10), Allowance(LEAST)
    small.spend(LEAST, "x")
    with pytest.raises(ValueError, match="x would decompress to 0 MiB or more, from 10 bytes"):
        small.spend(1, "x")
    large.spend(RATIO * LEAST, "y")
    with pytest.raises(ValueError, match="y would decompress"):
        large.spend(1, "y")
    with pytest.raises(ValueError, match="z would decompress"):
        Allowance(10).spend(-1, "z")
