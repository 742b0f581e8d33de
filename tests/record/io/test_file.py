"""A file is written whole or not at all, and what cannot be read says why."""

import contextlib
import errno
import os

import numpy as np
import pytest

from saltus.errors import RecordError
from saltus.record import Trajectory
from saltus.record.files.atomic_write import write_whole

resource = pytest.importorskip("resource")


def recorded(value=1.0, count=2000):
    return Trajectory(np.arange(count) * 0.01, np.full((count, 3), value), np.zeros((count, 3)))


def only_file(directory):
    (path,) = directory.iterdir()
    return path


@contextlib.contextmanager
def largest_file(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def as_nobody():
    """Root may write anywhere, so step down for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_disk_that_fills_up_leaves_the_previous_file(tmp_path):
    path = tmp_path / "run.nc"
    recorded(1.0).save(path)
    with largest_file(10_000), pytest.raises(RecordError, match=r"run\.nc': file too large"):
        recorded(2.0).save(path)
    assert only_file(tmp_path) == path
    assert Trajectory.load(path).qpos[0, 0] == 1.0


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failure_at_the_last_moment_leaves_the_previous_file(tmp_path, monkeypatch, function):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "run.nc"
    recorded(1.0).save(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        with pytest.raises(RecordError) as caught:
            recorded(2.0).save(path)
    assert caught.value.path == str(path)
    assert caught.value.reason == "no space left on device"
    assert only_file(tmp_path) == path
    assert Trajectory.load(path).qpos[0, 0] == 1.0


def test_an_interrupt_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "run.nc", b"content")
    assert list(tmp_path.iterdir()) == []


def test_data_that_cannot_be_stored_leaves_the_previous_file(tmp_path):
    path = tmp_path / "run.nc"
    recorded(1.0).save(path)
    broken = recorded(2.0)
    broken.attrs["model_xml"] = "\ud800"
    with pytest.raises(RecordError, match=r"run\.nc"):
        broken.save(path)
    assert only_file(tmp_path) == path
    assert Trajectory.load(path).qpos[0, 0] == 1.0


def test_missing_directory(tmp_path):
    with pytest.raises(RecordError, match=r"directory '.*nowhere' does not exist"):
        recorded().save(tmp_path / "nowhere" / "run.nc")
    assert list(tmp_path.iterdir()) == []


def test_path_is_a_directory(tmp_path):
    with pytest.raises(RecordError, match="is a directory"):
        recorded().save(tmp_path)
    with pytest.raises(RecordError, match="is a directory"):
        Trajectory.load(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_unwritable_directory(tmp_path):
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_uid == os.geteuid() and not directory.stat().st_mode & 0o005:
            directory.chmod(0o755)
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    with as_nobody(), pytest.raises(RecordError, match="permission denied"):
        recorded().save(locked / "run.nc")
    assert list(locked.iterdir()) == []


def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RecordError, match="pipe': is not a regular file"):
        recorded().save(pipe)
    assert pipe.is_fifo()


def test_a_path_no_system_takes():
    with pytest.raises(RecordError, match="null"):
        write_whole("run\0.nc", b"")
    with pytest.raises(RecordError, match="null"):
        Trajectory.load("run\0.nc")


def test_a_link_is_followed(tmp_path):
    target, link = tmp_path / "target.nc", tmp_path / "link.nc"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_new_files_are_readable_as_the_user_has_set(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    write_whole(tmp_path / "ours", b"content")
    assert (tmp_path / "ours").stat().st_mode == plain.stat().st_mode
    assert (tmp_path / "ours").read_bytes() == b"content"


def test_load_of_a_missing_file(tmp_path):
    with pytest.raises(RecordError, match=r"cannot read recording '.*none\.nc': no such file"):
        Trajectory.load(tmp_path / "none.nc")


@pytest.mark.parametrize("content", [b"", b"not a recording", b"\x89HDF\r\n\x1a\n" + b"\0" * 100])
def test_load_of_something_else(tmp_path, content):
    path = tmp_path / "other.nc"
    path.write_bytes(content)
    with pytest.raises(RecordError, match="not a netCDF4 file"):
        Trajectory.load(path)


def test_load_of_a_truncated_file(tmp_path):
    path = tmp_path / "run.nc"
    recorded().save(path)
    whole = path.read_bytes()
    for part in (0.1, 0.5, 0.99):
        path.write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(RecordError):
            Trajectory.load(path)


def altered(tmp_path, change):
    xarray = pytest.importorskip("xarray")
    path = tmp_path / "run.nc"
    recorded().save(path)
    with xarray.load_dataset(path, engine="h5netcdf") as dataset:
        change(dataset).to_netcdf(path, engine="h5netcdf")
    return path


def test_load_of_a_foreign_dataset(tmp_path):
    path = altered(tmp_path, lambda ds: ds.drop_attrs())
    with pytest.raises(RecordError, match="not a recording of Saltus"):
        Trajectory.load(path)


@pytest.mark.slow
def test_load_of_a_recording_with_a_part_missing(tmp_path):
    path = altered(tmp_path, lambda ds: ds.drop_vars("qvel"))
    with pytest.raises(RecordError, match="damaged recording"):
        Trajectory.load(path)


def test_load_of_a_newer_layout(tmp_path):
    path = altered(tmp_path, lambda ds: ds.assign_attrs(trajectory_format=3))
    with pytest.raises(RecordError, match="newer Saltus"):
        Trajectory.load(path)
