"""Kernels that come with the package: a fresh installation takes them, with the same bits, and compiles none of them.

Reference: the run that compiled them.
"""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

import saltus
from saltus.number.cache import archive, storage
from saltus.number.cache.archive import MACHINE_CODE
from saltus.number.cache.checksum import sealed
from saltus.number.processor import family

STEP = """
import sys
from pathlib import Path
import saltus
from saltus.number.compile import worker_pool
from saltus.number.cache import storage
from saltus.number.cache import archive
archive.DIRECTORY = Path(sys.argv[1])
offered = []
worker_pool.offer = offered.extend
sim = saltus.Simulation("pendulum", "midpoint")
sim.step(5)
print(sim.qpos.tobytes().hex(), len(offered))
if sys.argv[2] == "pack":
    archive.pack(storage.cache_directory(), storage.source_key())
"""


def step(archive, directory, what="", options=()):
    """The bits after some steps with a cache in a directory, what other processes could do, and the files there."""
    directory.mkdir(mode=0o700)
    command = [sys.executable, "-c", STEP, str(archive), what]
    environment = {**os.environ, **dict(options), "SALTUS_CACHE_DIR": str(directory)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    bits, offered = done.stdout.split()
    return bits, int(offered), sorted(path.name for path in directory.rglob("*.nbc"))


@pytest.mark.slow
def test_a_fresh_installation_compiles_nothing_that_is_shipped(tmp_path):
    bits, offered, compiled = step(tmp_path / "archive", tmp_path / "first", "pack")
    assert 20 < offered < len(compiled) and any(name.startswith("unit_") for name in compiled)
    machine_code = [name for name in compiled if name.startswith(MACHINE_CODE)]
    again, offered, files = step(tmp_path / "archive", tmp_path / "second")
    assert again == bits
    assert family() == "" or offered == 0
    assert files == ([] if family() else machine_code)
    (archive,) = (tmp_path / "archive").iterdir()
    with zipfile.ZipFile(archive) as opened:
        names = [name.rpartition("/")[2] for name in opened.namelist()]
    assert sorted(names) == (compiled if family() else [name for name in compiled if name not in machine_code])
    for_another = {"NUMBA_CPU_NAME": "generic"}  # which shares the intermediate code alone
    assert step(tmp_path / "archive", tmp_path / "third", "", for_another)[-1] == machine_code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "DIRECTORY", tmp_path / "archive")
    monkeypatch.setattr(storage, "_damaged", [])
    yield tmp_path
    archive._archive.cache_clear()


def packed(folder, content, key=None):
    files = folder / "kept"
    files.mkdir()
    (files / "name-1.nbc").write_bytes(content)
    (files / "unit_name-1.nbc").write_bytes(content)
    return archive.pack(files, key or storage.source_key())


def test_what_is_shipped_is_found_by_its_name(folder):
    packed(folder, sealed("name-1.nbc", b"N."))
    assert archive.shipped(storage.source_key(), "name-1.nbc") == sealed("name-1.nbc", b"N.")
    assert archive.shipped(storage.source_key(), "name-2.nbc") is None
    assert storage.is_kept("name-1.nbc") and not storage.is_kept("name-2.nbc")


def test_machine_code_is_for_processors_of_its_family(folder, monkeypatch):
    monkeypatch.setattr(archive, "family", lambda: "x86-64-v3")
    packed(folder, b"code")
    key = storage.source_key()
    for other, found in (("x86-64-v3", b"code"), ("x86-64-v4", None), ("", None)):
        monkeypatch.setattr(archive, "family", lambda other=other: other)
        assert archive.shipped(key, "unit_name-1.nbc") == found
        assert archive.shipped(key, "name-1.nbc") == b"code"


def test_an_archive_of_other_sources_is_not_opened(folder):
    packed(folder, sealed("name-1.nbc", b"N."), key="0" * 16)
    assert archive.shipped(storage.source_key(), "name-1.nbc") is None


def test_an_older_archive_is_removed(folder):
    old = packed(folder, b"old", key="0" * 16)
    shutil.rmtree(folder / "kept")
    new = packed(folder, b"new")
    assert new.exists() and not old.exists()


@pytest.mark.parametrize("damage", ["content", "archive"])
def test_damage_is_told_and_compiled_anew(folder, damage):
    path = packed(folder, sealed("name-2.nbc", b"N."))  # another file's content
    if damage == "archive":
        path.write_bytes(path.read_bytes()[:-30])
    with pytest.warns(saltus.SaltusWarning, match=rf"damaged: {path}"):
        assert storage.content(str(folder / "name-1.nbc")) is None
