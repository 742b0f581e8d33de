"""Kernels that an entry will call are known before it is compiled.

Reference: the files that compiling makes.
"""

import os
import subprocess
import sys
from types import FunctionType

import pytest
from numba import types

from saltus.model.layout import DATA, model_layout
from saltus.number.cache import storage
from saltus.number.compile import prefetch
from saltus.number.kernels import kernel, only_with
from saltus.number.struct_types import StructType

MODEL = model_layout(frozenset({"contact", "tendon"}))

PROGRAM = """
import time
import saltus
from saltus.number.compile import worker_pool
from saltus.number.compile import function_cache
worker_pool._running, worker_pool.usable_cores = lambda: 0, lambda: 2
made = []
save = function_cache.PartCache._save_overload
def saved(self, sig, data):
    made.append(data.library.name)
    save(self, sig, data)
    while len(made) == 1 and (worker_pool._queue or worker_pool._begun) and worker_pool._processes:
        time.sleep(0.01)  # until the other process has done all that it can do
function_cache.PartCache._save_overload = saved
saltus.Simulation("pendulum").forward()
print(len(made))
"""


@only_with("contact", otherwise="None")
@kernel
def touched(m, d):
    d.qvel[0] = m.opt_tolerance


@only_with("fluid", otherwise="None")
@kernel
def swims(m, d):
    d.qvel[0] = 0.0


@kernel
def inner(m, d):
    d.qpos[0] = 2.0


@kernel
def between(m, d, k):
    inner(m, d)
    return k


@kernel
def outer(m, d):
    touched(m, d)
    swims(m, d)
    d.qvel[0] = between(m, d, 3)


@kernel
def again(m, d):
    inner(m, d)
    outer(m, d)


def entry(m, d):
    again(m, d)


def now(m, d):
    inner(m, d)


@pytest.fixture
def found(monkeypatch, tmp_path):
    """A function that tells what is missing for the entry, in an empty cache; these kernels count as the package's."""
    for dispatcher in (touched.kernel, swims.otherwise, inner, between, outer, again):
        monkeypatch.setattr(dispatcher._cache, "_cache_path", str(tmp_path))
        monkeypatch.setattr(dispatcher._cache._cache_file, "_cache_path", str(tmp_path))
    monkeypatch.setattr(storage, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(prefetch, "OURS", __name__)
    structs = StructType(MODEL.name, types.float64), StructType(DATA.name, types.float64)

    def found(function: FunctionType = entry):
        kernels = prefetch._Kernels(*structs)
        kernels.called_in(function)
        return kernels.missing

    return found


def names(files):
    return [file.partition("-")[0].rpartition(".")[2] for file in files]


def test_what_will_be_called_is_found_in_the_order_of_compiling(found):
    """Without a kernel of more than model and data, and without what a choice by features leaves out."""
    missing = found()
    assert names(missing) == ["inner", "touched", "other", "outer", "again"]
    after = [[], [], [], ["touched", "other", "inner"], ["inner", "outer"]]
    assert [names(work.after) for work in missing.values()] == after
    assert [work.can_begin() for work in missing.values()] == [True, True, True, False, False]


def test_its_files_are_those_that_compiling_makes(found, tmp_path):
    works = list(found().values())
    for count, work in enumerate(works, start=1):
        assert work.can_begin()
        prefetch.compile_kernel(work.asked.removeprefix("kernel "))
        assert {w.file for w in works[:count]} <= set(os.listdir(tmp_path))
        assert list(found()) == [w.file for w in works[count:]]


def test_what_a_user_wrote_is_left_to_the_process_that_has_it(found, monkeypatch):
    monkeypatch.setattr(prefetch, "OURS", "saltus.")
    assert not found()


@pytest.mark.slow
def test_what_is_needed_soon_begins_with_what_is_needed_now(found, monkeypatch):
    """And is compiled by others first, who come from the end."""
    offered = []
    monkeypatch.setattr(prefetch.worker_pool, "offer", lambda works: offered.append(names(work.file for work in works)))
    structs = {"m": StructType(MODEL.name, types.float64), "d": StructType(DATA.name, types.float64)}
    prefetch.soon(entry, structs)
    prefetch.begin(now, structs)
    prefetch.begin(now, structs)
    prefetch.begin(now, {"p": structs["m"]})
    assert offered == [["inner", "touched", "other", "outer", "again"], ["inner"], []]


def test_another_process_compiles_most_of_it(tmp_path):
    """The first one waits once it has compiled a kernel, and has little left to do."""
    environment = {**os.environ, "SALTUS_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    tmp_path.chmod(0o700)
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    files = [name for path in tmp_path.iterdir() if path.is_dir() for name in os.listdir(path)]
    assert int(done.stdout) < 0.7 * len(files)
