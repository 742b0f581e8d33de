"""Compiled kernels on disk: found again by other processes, and never when anything they depend on has changed.

Reference: what a user relies on. Runs are processes of their own that report the directory, what they compiled and what
came out.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.systems import needs_modes, needs_named_pipes

from saltus.errors import OptionError, SaltusWarning
from saltus.number.cache import eviction, fingerprint, storage
from saltus.number.cache.checksum import read_sealed
from saltus.number.compile import function_cache, progress
from saltus.number.kernels import kernel

PROGRAM = """
import json, sys
import numpy as np
{setup}
from saltus.number.cache.storage import cache_directory
from saltus.number.kernels import Entry, kernel
from saltus.terminal.compiling import compile_progress
from saltus.number.structs import Field, Layout, Struct

Layout("Store", {{"x": Field("real", ("n",)){more}}})

@kernel
def inner(x, shift={shift}):
    return x * {factor} + OFFSET + TABLE[1] + shift

@kernel
def outer(d):
    return inner(d.x[0])

OFFSET, TABLE = {offset}, np.array([1.0, {table}])
compiled = []
entry = Entry("program", "a", "return {body}", outer=outer)
d = Struct(Layout("Store", {{"x": Field("real", ("n",)){more}}}), {{"n": 1}})
d.x[0] = 10.0
with compile_progress(lambda name, depth, about: compiled.append(name)):
    result = entry(d, d, 0.5)
print(json.dumps([result, len(compiled), str(cache_directory())]))
"""


GIVEN = dict(setup="", factor=2.0, offset=0.25, table=0.0, shift=0.0, body="outer(d) + a", more="")


def run(path, directory, environment=(), **changes):
    """Run a program with kernels of its own; gives (result, whether it compiled, cache directory)."""
    program = path / "program.py"
    program.write_text(PROGRAM.format(**GIVEN | changes))
    environment = {**os.environ, "SALTUS_CACHE_DIR": str(directory), **dict(environment)}
    answer = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert answer.returncode == 0, answer.stderr
    result, compiled, place = json.loads(answer.stdout)
    return result, compiled > 0, place


def files(directory):
    """Files of compiled code."""
    return sorted(p for p in directory.rglob("*") if p.is_file() and p.name not in (progress.NAME, eviction.LOOKED))


# ---------------------------------------------------------------- the key


def key():
    """The key of the archive as it is now, whatever was there when it was first asked for."""
    return storage.source_key.__wrapped__()


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the package's sources, which the keys are then made from."""
    shutil.copytree(storage.PACKAGE, tmp_path / "saltus", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(storage, "PACKAGE", tmp_path / "saltus")
    monkeypatch.setattr(fingerprint, "PACKAGE", tmp_path / "saltus")
    return tmp_path / "saltus"


def test_key_is_that_of_the_sources(copy):
    assert key() == storage.source_key()


@pytest.mark.parametrize("room", ["number", "spatial", "model", "dynamics", "integrate", "simulate"])
def test_any_edit_of_a_kernel_source_changes_the_key_of_the_archive(copy, room):
    before = key()
    sources = [p for p in sorted((copy / room).rglob("*.py")) if p.name != "__init__.py"]
    source = next(p for p in sources if room != "simulate" or "number.kernels" in p.read_text())
    source.write_text(source.read_text() + "\n")
    assert key() != before


def test_new_renamed_and_removed_sources_change_the_key_of_the_archive(copy):
    keys = [key()]
    (copy / "dynamics" / "magnetism.py").write_text("")
    keys.append(key())
    (copy / "dynamics" / "magnetism.py").rename(copy / "dynamics" / "optics.py")
    keys.append(key())
    (copy / "dynamics" / "optics.py").unlink()
    assert len(set(keys)) == 3 and key() == keys[0]


def test_other_sources_leave_the_key_of_the_archive(copy):
    before = key()
    (copy / "errors.py").write_text("")
    (copy / "simulate" / "run.py").write_text("")
    assert key() == before


def test_an_edit_of_the_compiler_changes_the_key_of_all_files(copy):
    """No other edit does: what else a kernel depends on is told for each."""
    keys = [fingerprint.base_key.__wrapped__()]
    for edited in ("number/arithmetic/lanes.py", fingerprint.EXTENSIONS[0], "spatial/vectors.py"):
        source = copy / edited
        source.write_text(source.read_text() + "\n")
        keys.append(fingerprint.base_key.__wrapped__())
    assert keys[0] == fingerprint.base_key()
    assert len(set(keys)) == 3 and keys[2] == keys[3]


def test_cpu_and_versions_change_the_directory(monkeypatch):
    keys = {storage.cache_key()}
    monkeypatch.setattr(storage, "cpu_name", lambda: "abacus")
    keys.add(storage.cache_key.__wrapped__())
    monkeypatch.setattr(storage.numba, "__version__", "0.0")
    keys.add(storage.cache_key.__wrapped__())
    assert len(keys) == 3


# ---------------------------------------------------------------- processes


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A cache in which the program has left its kernels."""
    store = tmp_path_factory.mktemp("store")
    return store, run(tmp_path_factory.mktemp("first"), store)


@pytest.fixture
def filled(compiled, tmp_path):
    """A copy of it, and what the run that filled it gave."""
    store, (result, slow, place) = compiled
    return shutil.copytree(store, tmp_path / "store"), (
        result,
        slow,
        place.replace(str(store), str(tmp_path / "store")),
    )


def test_processes_share_what_one_compiled(tmp_path, filled):
    store, first = filled
    written = files(store)
    assert first[:2] == (20.75, True) and first[2].startswith(str(store)) and len(written) >= 3
    assert run(tmp_path, store) == (20.75, False, first[2])
    assert files(store) == written and not [p for p in written if ".tmp" in p.name]
    assert oct(os.stat(first[2]).st_mode)[-2:] == "00"  # what lies there is executed: nobody else's business


@pytest.mark.slow
@pytest.mark.parametrize(
    "change, result",
    [
        (dict(factor=3.0), 30.75),  # a constant in a kernel that the called kernel calls
        (dict(offset=1.25), 21.75),  # a number of the module, defined after the kernel
        (dict(table=3.0), 23.75),  # an array of the module
        (dict(shift=4.0), 24.75),  # a default of an argument
        (dict(body="outer(d) - a"), 19.75),  # the entry itself
        (dict(body="outer(d) + 2 * a"), 21.25),
        (dict(more=', "y": Field("real", ("n",))'), 20.75),  # the layout of a struct
    ],
    ids=["constant", "global", "array", "default", "operator", "body", "layout"],
)
def test_edits_outside_the_package_are_noticed(tmp_path, filled, change, result):
    assert run(tmp_path, filled[0], **change)[:2] == (result, True)


@needs_named_pipes
@pytest.mark.slow
@pytest.mark.parametrize("fault", ["truncated", "flipped", "exchanged", "zeroed", "strange"])
def test_damaged_files_are_compiled_anew(tmp_path, filled, compiled, fault):
    """The next run compiles, says so once and leaves whole files, which the run after it uses."""
    store, whole = filled[0], compiled[0]
    entries, said = files(store), tmp_path / "said"
    for n, path in enumerate(entries):
        content = path.read_bytes()
        half = len(content) // 2
        if fault == "truncated":
            path.write_bytes(content[: n % 2 * 40])
        elif fault == "flipped":  # in the compiled code: what used to crash
            path.write_bytes(content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :])
        elif fault == "exchanged":  # each whole, but another's
            path.write_bytes(files(whole)[n - 1].read_bytes())
        elif fault == "zeroed":
            path.write_bytes(bytes(len(content)))
        else:  # a pipe is not waited for
            path.unlink()
            os.mkfifo(path)
    report = f"import warnings; warnings.showwarning = lambda w, *_: print(w, file=open({str(said)!r}, 'a'))"
    assert run(tmp_path, store, setup=report)[:2] == (20.75, True)
    (line,) = said.read_text().splitlines()
    assert line.startswith("the cache of compiled kernels is damaged: ") and str(store) in line
    assert run(tmp_path, store, setup=report)[:2] == (20.75, False)
    assert all(read_sealed(str(path)) for path in entries) and len(said.read_text().splitlines()) == 1


def test_unwritable_place_falls_back_to_a_temporary_one(tmp_path):
    (tmp_path / "file").write_text("not a directory")
    (tmp_path / "temporary").mkdir()
    where = dict(TMPDIR=str(tmp_path / "temporary"))
    result, compiled, place = run(tmp_path, tmp_path / "file" / "store", where)
    assert (result, compiled) == (20.75, True) and place.startswith(str(tmp_path / "temporary"))
    assert run(tmp_path, tmp_path / "file" / "store", where) == (20.75, False, place)


def test_a_strangers_temporary_directory_is_not_trusted(tmp_path, monkeypatch):
    """Where someone else already made the temporary directory, a new one serves."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SALTUS_CACHE_DIR", str(tmp_path / "file" / "store"))
    monkeypatch.setattr(storage.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(storage.os, "getuid", lambda: 12345, raising=False)
    (tmp_path / "saltus-12345").mkdir()
    with pytest.warns(SaltusWarning, match="no files can be made"):
        place = storage.cache_directory.__wrapped__()
    root = place.parent
    assert place.is_dir() and root.parent == tmp_path and root.name.startswith("saltus-") and "12345" not in root.name


def test_full_disk_costs_time_only(tmp_path):
    """No file may grow: kernels run, nothing half-written stays."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    pytest.importorskip("resource")
    store = tmp_path / "store"
    assert run(tmp_path, store, setup=limit)[:2] == (20.75, True)
    assert files(store) == []


def test_default_place(monkeypatch, tmp_path):
    monkeypatch.delenv("SALTUS_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert storage.cache_directory.__wrapped__() == tmp_path / "saltus" / storage.cache_key()


@pytest.mark.parametrize("given", ["", "  "])
def test_an_empty_place_is_refused(monkeypatch, tmp_path, given):
    """It would be the current directory, where anyone's files may lie."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SALTUS_CACHE_DIR", given)
    with pytest.raises(OptionError, match="SALTUS_CACHE_DIR is empty"):
        storage.cache_directory.__wrapped__()
    assert list(tmp_path.iterdir()) == []


@needs_modes
@pytest.mark.parametrize("which", ["root", "directory"])
@pytest.mark.parametrize("how", ["group", "all", "sticky", "owner"])
def test_a_place_where_others_write_is_refused(monkeypatch, tmp_path, which, how):
    """What lies there is executed. Below a directory as /tmp one's own is fine."""
    root = tmp_path / "kernels"
    directory = root / storage.cache_key()
    directory.mkdir(parents=True, mode=0o700)
    root.chmod(0o700)
    place = root if which == "root" else directory
    place.chmod({"group": 0o770, "all": 0o777, "sticky": 0o1777, "owner": 0o700}[how])
    if how == "owner":
        real, stranger = os.stat_result, os.stat(place).st_uid + 1
        found = Path.stat

        def stat(self, **options):
            values = list(found(self, **options))
            values[4] = stranger if self == place else values[4]
            return real(values)

        monkeypatch.setattr(Path, "stat", stat)
    monkeypatch.setenv("SALTUS_CACHE_DIR", str(root))
    if (which, how) == ("root", "sticky"):
        assert storage.cache_directory.__wrapped__() == directory
        return
    said = "belongs to another user" if how == "owner" else "others may write"
    with pytest.raises(OptionError, match=f"SALTUS_CACHE_DIR: .*{said}.*executed"):
        storage.cache_directory.__wrapped__()


@needs_modes
def test_the_usual_place_where_others_write_is_left_alone(monkeypatch, tmp_path):
    monkeypatch.delenv("SALTUS_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(storage.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "saltus").mkdir()
    (tmp_path / "saltus").chmod(0o777)
    with pytest.warns(SaltusWarning, match="others may write in"):
        place = storage.cache_directory.__wrapped__()
    assert place.parent.parent == tmp_path and place.parent.name.startswith("saltus-")


def test_directories_are_made_for_oneself(monkeypatch, tmp_path):
    """Even where new ones are open to a group."""
    monkeypatch.setenv("SALTUS_CACHE_DIR", str(tmp_path / "kernels"))
    before = os.umask(0o002)
    try:
        place = storage.cache_directory.__wrapped__()
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == place.parent.stat().st_mode & 0o777 == 0o700


# ---------------------------------------------------------------- one process


@kernel
def leaf(x):
    return 2.0 * x


def test_code_that_cannot_be_told_from_others_is_not_kept(tmp_path):
    def law():
        return tmp_path

    store = function_cache._Files(str(tmp_path), "kernel", law, "")
    store.save("float64", 64)
    assert store.load("float64") is None and files(tmp_path) == []


def test_writers_do_not_mix_up_their_files(tmp_path):
    """Two processes that write at once, each from its own view of the directory: each key finds its own data."""
    first, second = (function_cache._Files(str(tmp_path), "kernel", leaf.py_func, "") for _ in range(2))
    first.save("float64", 64)
    second.save("float32", 32)
    assert (first.load("float32"), second.load("float64"), first.load("dual")) == (32, 64, None)
    assert all(pickle.loads(read_sealed(str(p))) in (32, 64) for p in files(tmp_path)) and len(files(tmp_path)) == 2


class Mine:
    """What unpickles only where this module has it."""


def test_what_cannot_be_unpickled_is_damaged(tmp_path, monkeypatch):
    store = function_cache._Files(str(tmp_path), "kernel", leaf.py_func, "")
    monkeypatch.setattr(storage, "_damaged", [])
    monkeypatch.setattr(store, "_dump", pickle.dumps)
    store.save("float64", Mine())
    monkeypatch.delitem(globals(), "Mine")
    with pytest.warns(SaltusWarning, match="cannot be unpickled, AttributeError"):
        assert store.load("float64") is None
