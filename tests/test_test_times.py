"""The command for times of tests: each kind of work is counted as what it is, and seconds at least as they were spent.

Work is told in CPU seconds, so that a busy machine changes no lower bound; the clocks are good to 0.02 s.
"""

import sys

import pytest
from helpers import test_times
from helpers.time_plugin import START, Clock, part_of

LONG = 0.2  # s
BURN = f"import time\nend = time.process_time() + {LONG}\nwhile time.process_time() < end: pass\n"
TESTS = f"""
import subprocess, sys, time
import numba

def burn():
    end = time.process_time() + {LONG}
    while time.process_time() < end: pass

def test_running(): burn()
def test_waiting(): time.sleep({LONG})
def test_children(): subprocess.run([sys.executable, "-c", {BURN!r}], check=True)
def test_importing(): import slowly_imported

def f(x): return x + 1
def test_compiled(): assert numba.njit(f)(1) + numba.njit(f)(1.0) == 4
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timed")
    (folder / "tests").mkdir()
    (folder / "slowly_imported.py").write_text(BURN)
    (folder / "tests" / "test_timed.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    options = ["-q", "-n", "2", "--rootdir", str(folder), "-c", str(folder / "pytest.ini"), str(folder / "tests")]
    status, found = test_times.measured([sys.executable, "-m", "pytest", *options])
    assert status == 0
    return found


def test_each_kind_of_work_is_counted_as_what_it_is(found):
    tests, kernels = test_times.together(found)
    assert len(found) == 3  # one that hands the tests out, two that run them
    seconds = {name.partition("::")[2]: spent for name, spent in tests.items()}
    for kind in ("running", "waiting", "children", "importing"):
        assert seconds[f"test_{kind}"][kind] > LONG - 0.02, kind
    assert seconds["test_importing"]["running"] < seconds["test_importing"]["importing"]
    assert seconds["test_waiting"]["running"] < LONG / 2
    assert seconds["test_compiled"]["front end"] > 0 and seconds["test_compiled"]["LLVM"] > 0
    (kernel,) = (kernel for name, kernel in kernels.items() if name.endswith(".f"))
    assert len({*kernel["keys"]}) == 2  # for an integer and a float
    whole = seconds["test_compiled"]["front end"] + seconds["test_compiled"]["LLVM"]
    assert kernel["seconds"] <= whole + 1e-6


def test_tables_hold_all_of_it(found):
    tests, kernels = test_times.together(found)
    head, _, *rows = test_times.parts_table(tests)
    assert head.count("|") == len(test_times.HEADS) + 3
    assert {row.split(" | ")[0] for row in rows} == {"| test_timed.py", f"| {START}", "| **all**"}
    assert rows[-1].startswith("| **all** | 5 |")
    assert len(test_times.tests_table(tests)) == 2 + 5
    assert any(".f` |" in row for row in test_times.kernels_table(kernels))


def test_what_is_inside_something_else_is_counted_once(monkeypatch):
    clock, now = Clock(), iter([0.0, 1.0, 3.0, 7.0])
    monkeypatch.setattr("helpers.time_plugin.time.thread_time", lambda: next(now))
    inner = clock.timed("LLVM", lambda: None)
    clock.timed("front end", inner, lambda: "kernel")()
    assert clock.seconds == {"front end": 1.0 + 4.0, "LLVM": 2.0}
    assert clock.kernels["kernel"]["seconds"] == 7.0  # what LLVM does for it is its, too


def test_parts_are_the_folders_of_tests():
    assert part_of("tests/solve/soft/test_newton.py::test_a[b/c]") == "solve"
    assert part_of("tests/test_bits.py::test_bits") == "test_bits.py"


def test_a_page_is_renewed_between_its_marks():
    page = f"before\n{test_times.BEGIN}\nold\n{test_times.END}\nafter\n"
    assert test_times.written(page, ["new"]) == page.replace("old", "new")
    with pytest.raises(SystemExit, match="lacks the marks"):
        test_times.written("nothing", ["new"])
