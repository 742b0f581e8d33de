"""HDF5 that is not as plain as a recording: refused by name, in little memory, without opening another file.

Each file is made from a recording by h5py and sealed again, as a stranger could.
"""

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

from saltus.errors import RecordError
from saltus.record import Trajectory
from saltus.record.files.checksum import write_sealed

SECRET = b"7 8 9 " * 100


def recording(path, change, *, seal=True):
    Trajectory(np.arange(5.0), np.ones((5, 2)), np.ones((5, 2))).save(path)
    with h5py.File(path, "r+") as file:
        change(file)
    if seal:
        write_sealed(path, path.read_bytes())
    return path


@pytest.fixture
def foreign(tmp_path):
    """A file elsewhere, whose time of access tells whether it was read."""
    path = tmp_path / "foreign"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(5.0)
    os.utime(path, (1e9, 2e9))
    yield path
    assert path.stat().st_atime == 1e9


def external(file, foreign):
    del file["energy"]
    file.create_dataset("energy", shape=(5, 2), dtype="f8", external=[(str(foreign), 0, 80)])


def external_link(file, foreign):
    del file["energy"]
    file["energy"] = h5py.ExternalLink(str(foreign), "x")


def soft_link(file, foreign):
    file["more"] = h5py.SoftLink("/qpos")


def virtual(file, foreign):
    layout = h5py.VirtualLayout((5,), "f8", maxshape=(None,))
    source = h5py.VirtualSource(str(foreign), "x", shape=(5,), maxshape=(None,))
    layout[: h5py.h5s.UNLIMITED] = source[: h5py.h5s.UNLIMITED]
    file.create_virtual_dataset("more", layout)


def group(file, foreign):
    file.create_group("more")


REFUSED = {
    external: "the data of 'energy' are in another file, which is not opened",
    external_link: r"'energy' is a link to somewhere else \(ExternalLink\), which is not followed",
    soft_link: r"'more' is a link to somewhere else \(SoftLink\)",
    virtual: "the data of 'more' are in another file",
    group: "'more' is a group, which recordings do not have",
}


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: change.__name__)
def test_what_lies_elsewhere(tmp_path, foreign, change):
    path = recording(tmp_path / "run.nc", lambda file: change(file, foreign))
    with pytest.raises(RecordError, match=REFUSED[change]):
        Trajectory.load(path)


def test_without_a_seal_too(tmp_path, foreign):
    path = recording(tmp_path / "run.nc", lambda file: external_link(file, foreign), seal=False)
    with pytest.raises(RecordError, match="'energy' is a link to somewhere else"):
        Trajectory.load(path)


def test_filters_that_are_plugins(tmp_path):
    path = recording(tmp_path / "run.nc", lambda f: f.create_dataset("more", data=np.ones(99), compression="lzf"))
    with pytest.raises(RecordError, match=r"'more' is compressed by filter 32000; recordings are not"):
        Trajectory.load(path)


def test_what_netcdf_tools_pack_is_read(tmp_path):
    def pack(file):
        values, scales = file["qpos"][()], [dimension[0] for dimension in file["qpos"].dims]
        del file["qpos"]
        new = file.create_dataset("qpos", data=values, chunks=(5, 2), compression="gzip", shuffle=True, fletcher32=True)
        for axis, scale in enumerate(scales):
            new.dims[axis].attach_scale(scale)

    assert Trajectory.load(recording(tmp_path / "run.nc", pack)).qpos.tolist() == [[1.0, 1.0]] * 5


BOMBS = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from test_plain_hdf5 import bombs, recording
from saltus import RecordError, Trajectory
for change in bombs:
    path = recording(Path({folder!r}) / "run.nc", change)
    size = path.stat().st_size
    assert size < 2e7, size
    try:
        Trajectory.load(path)
    except RecordError as error:
        assert "would decompress" in str(error) or "entries" in str(error), error
    else:
        raise SystemExit(change.__name__)
# ru_maxrss would be that of the process that started this one, where it was larger
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def deflated(file):
    file.create_dataset("more", shape=(10**10,), dtype="f8", chunks=(10**6,), compression="gzip")
    file["more"][: 10**6] = 0.0


def never_written(file):
    file.create_dataset("more", shape=(10**11,), dtype="f8")


def many_texts(file):
    file.create_dataset("more", shape=(10**9,), dtype=h5py.string_dtype(), chunks=(1000,))


def long_attribute(file):
    file.attrs.create("more", np.zeros(8000), shape=(8000,))


bombs = (deflated, never_written, many_texts, long_attribute)


def test_bombs_take_little_memory(tmp_path):
    if not os.path.exists("/proc/self/status"):
        pytest.skip("this system does not tell how much memory was in use")
    code = BOMBS.format(path=[*sys.path, os.path.dirname(__file__)], folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) * 1024 < 1e9
