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
from saltus.number import kept, shipped
from saltus.number.sealed import sealed
from saltus.number.shipped import MACHINE_CODE, compiler_options

STEP = """
import sys
from pathlib import Path
import saltus
from saltus.number import kept, shipped
shipped.DIRECTORY = Path(sys.argv[1])
sim = saltus.Simulation("pendulum", "midpoint")
sim.step(5)
print(sim.qpos.tobytes().hex())
if sys.argv[2] == "pack":
    shipped.pack(kept.cache_directory(), kept.source_key(), next(iter(shipped.families()), None))
"""


def step(archive, directory, options, what=""):
    """The bits after some steps, with a cache in a directory, and the files there."""
    directory.mkdir(mode=0o700)
    command = [sys.executable, "-c", STEP, str(archive), what]
    environment = {**os.environ, **options, "SALTUS_CACHE_DIR": str(directory)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.strip(), sorted(path.name for path in directory.rglob("*.nbc"))


def test_a_fresh_installation_compiles_nothing_that_is_shipped(tmp_path):
    options = {name: value for family in shipped.families()[:1] for name, value in compiler_options(family).items()}
    bits, compiled = step(tmp_path / "archive", tmp_path / "first", options, "pack")
    assert len(compiled) > 20 and any(name.startswith("unit_") for name in compiled)
    again, files = step(tmp_path / "archive", tmp_path / "second", {})
    assert again == bits
    assert files == ([] if options else [name for name in compiled if name.startswith(MACHINE_CODE)])
    (archive,) = (tmp_path / "archive").iterdir()
    with zipfile.ZipFile(archive) as opened:
        names = [name.rpartition("/")[2] for name in opened.namelist()]
    assert names == (compiled if options else [name for name in compiled if not name.startswith(MACHINE_CODE)])


def test_code_for_a_processor_that_was_asked_for_is_not_shipped(tmp_path):
    (family,) = shipped.families()[:1] or pytest.skip("no family of processors that machine code is shipped for")
    step(tmp_path / "archive", tmp_path / "first", compiler_options(family), "pack")
    _, files = step(tmp_path / "archive", tmp_path / "second", {"NUMBA_CPU_NAME": "generic"})
    assert files and all(name.startswith(MACHINE_CODE) for name in files)


@pytest.fixture
def archive(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "DIRECTORY", tmp_path / "archive")
    monkeypatch.setattr(kept, "_damaged", [])
    yield tmp_path
    shipped._archive.cache_clear()


def packed(folder, content, key=None, family=None):
    files = folder / "kept"
    files.mkdir()
    (files / "name-1.nbc").write_bytes(content)
    (files / "unit_name-1.nbc").write_bytes(content)
    return shipped.pack(files, key or kept.source_key(), family)


def test_what_is_shipped_is_found_by_its_name(archive):
    packed(archive, sealed("name-1.nbc", b"N."))
    assert shipped.shipped(kept.source_key(), "name-1.nbc") == sealed("name-1.nbc", b"N.")
    assert shipped.shipped(kept.source_key(), "name-2.nbc") is None


def test_machine_code_is_for_processors_of_its_family(archive, monkeypatch):
    packed(archive, b"code", family="x86-64-v3")
    key = kept.source_key()
    for belongs_to, found in ((["x86-64-v4", "x86-64-v3"], b"code"), (["x86-64-v4"], None), ([], None)):
        monkeypatch.setattr(shipped, "families", lambda belongs_to=belongs_to: belongs_to)
        assert shipped.shipped(key, "unit_name-1.nbc") == found
        assert shipped.shipped(key, "name-1.nbc") == b"code"


@pytest.mark.parametrize(
    "missing, expected", [("", ["x86-64-v4", "x86-64-v3"]), ("avx512vl", ["x86-64-v3"]), ("fma", [])]
)
def test_a_family_has_all_that_its_name_promises(monkeypatch, missing, expected):
    features = dict.fromkeys(shipped.FAMILIES["x86-64-v4"], True) | {missing: False}
    monkeypatch.setattr(shipped.llvm, "get_host_cpu_features", lambda: features)
    assert shipped.families.__wrapped__() == expected


def test_an_archive_of_other_sources_is_not_opened(archive):
    packed(archive, sealed("name-1.nbc", b"N."), key="0" * 16)
    assert shipped.shipped(kept.source_key(), "name-1.nbc") is None


def test_an_older_archive_is_removed(archive):
    old = packed(archive, b"old", key="0" * 16)
    shutil.rmtree(archive / "kept")
    new = packed(archive, b"new")
    assert new.exists() and not old.exists()


@pytest.mark.parametrize("damage", ["content", "archive"])
def test_damage_is_told_and_compiled_anew(archive, damage):
    path = packed(archive, sealed("name-1.nbc", b"N.")[:-1] + b"X")
    if damage == "archive":
        path.write_bytes(path.read_bytes()[:-30])
    with pytest.warns(saltus.SaltusWarning, match=rf"damaged: {path}"):
        assert kept.content(str(archive / "name-1.nbc")) is None
