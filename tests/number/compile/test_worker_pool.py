"""Code compiled by another process while this one does something else.

Reference: what a user relies on. Whatever happens to the other process, nobody waits for it in vain.
"""

import os
import subprocess
import sys

import pytest

from saltus.number.compile import worker_pool

SCRIPT = """
import sys, time
from saltus.number.compile import worker_pool
from saltus.number.compile import parts
from saltus.number.compile import units
parts.LARGE = 10
worker_pool._running, worker_pool.usable_cores = lambda: {running}, lambda: 4
{setup}
from saltus.number.kernels import Entry, kernel
from saltus.number.structs import Field, Layout, Struct

made = []
compile_unit = units.compile_unit
def counted(file, codegen):
    made.append(file.partition("-")[0])
    return compile_unit(file, codegen)
units.compile_unit = counted

@kernel
def series(x, n):
    total, term = 0.0, 1.0
    for k in range(1, n + 1):
        total += term
        term *= x / k
        if term > 1e9:
            return -total
    return total

kept = parts.keep
def keep(part, file):
    kept(part, file)
    {meanwhile}
from saltus.number.compile import function_cache
function_cache.keep = keep

m = Struct(Layout("Nothing", {{"n": Field("int", ())}}, frozen=True), {{"n": 1}})
d = Struct(Layout("One", {{"x": Field("real", ("one",))}}), {{"one": 1}})
d.x[0] = 0.3
assert Entry("series", "n", "return series(d.x[0], n)", series=series)(m, d, 9) == series.py_func(0.3, 9)
print(made, worker_pool._processes)
"""

UNTIL_BEGUN = "while part.is_unit and not worker_pool._begun: time.sleep(0.01)"


@pytest.fixture
def run(tmp_path):
    """Runs a process that needs one unit; gives what it printed: units that it made itself, processes beside it."""

    def run(running=0, setup="", meanwhile="pass"):
        (tmp_path / "cache").mkdir(mode=0o700, exist_ok=True)
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.format(running=running, setup=setup, meanwhile=meanwhile))
        environment = {**os.environ, "SALTUS_CACHE_DIR": str(tmp_path / "cache")}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        done = subprocess.run(
            [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, env=environment, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert len(list((tmp_path / "cache").rglob("unit_series*"))) == 1
        return done.stdout.strip()

    return run


def test_a_free_core_compiles_a_unit(run):
    assert run(meanwhile=UNTIL_BEGUN) == "[] 1"


def test_what_the_other_process_has_not_begun_is_compiled_here(run):
    assert run(setup="worker_pool._next = lambda: time.sleep(5)") == "['series'] 1"


def test_without_a_free_core_there_is_no_other_process(run):
    assert run(running=99) == "['series'] 0"


@pytest.mark.slow
@pytest.mark.parametrize(
    "started",
    [
        "raise OSError('no more processes')",
        "return subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1, stdout=-1)",
    ],
    ids=["does not start", "dies at work"],
)
def test_a_process_that_fails_costs_time_only(run, started):
    setup = f"import subprocess\ndef start():\n    {started}\nworker_pool._start = start"
    assert run(setup=setup).startswith("['series']")


def test_it_ends_with_the_one_that_asked(tmp_path):
    """Its standard input is closed then."""
    command = [sys.executable, "-m", "saltus.number.compile.worker", "no.such.module"]
    done = subprocess.run(
        command, input="unit no_such_file\nkernel nonsense\n", capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "unit\nkernel\n")


@pytest.mark.parametrize(("known", "running"), [("proc", 3.0), ("average", 2.5), ("nothing", 0.0)])
def test_how_busy_a_computer_is_is_asked_where_the_system_tells(monkeypatch, known, running):
    """Linux: /proc/loadavg (proc_loadavg(5)); macOS: getloadavg(3); Windows has neither."""

    def read_text(path):
        if known != "proc":
            raise FileNotFoundError(path)
        return "0.20 0.18 0.12 3/80 11206\n"

    monkeypatch.setattr(worker_pool.Path, "read_text", read_text)
    monkeypatch.setattr(worker_pool.os, "getloadavg", lambda: (2.5, 1.0, 1.0), raising=False)
    if known == "nothing":
        monkeypatch.delattr(worker_pool.os, "getloadavg")
    assert worker_pool._running() == running
