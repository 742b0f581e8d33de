"""Processes that work through jobs: every job has one result, its own, whatever becomes of its process.

The results are those of the same functions called here; functions of the standard library stand for work.
"""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import saltus
from saltus.errors import OptionError
from saltus.study.executors import executor
from saltus.study.executors.workers import Lost, worker_count


def results(work, jobs, workers):
    with executor.make_executor(workers) as made:
        yield from executor.results(made, work, jobs)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_and_exceptions_by_number(workers):
    jobs = [4.0, -1.0, 9.0, 16.0]
    found = dict(results(math.sqrt, jobs, workers))
    assert [found[k] for k in (0, 2, 3)] == [2.0, 3.0, 4.0]
    assert isinstance(found[1], ValueError) and sorted(found) == [0, 1, 2, 3]


def test_they_are_other_processes():
    found = dict(results(eval, ["__import__('os').getpid()"] * 6, 2))
    assert os.getpid() not in found.values() and 1 <= len(set(found.values())) <= 2


def test_prints_do_not_disturb():
    found = dict(results(eval, ["print('hello') or 1", "print('hello' * 10000) or 2"], 2))
    assert found == {0: 1, 1: 2}


def test_a_process_that_ends_loses_its_own_job():
    found = dict(results(eval, ["__import__('os')._exit(7)", "1", "__import__('os').abort()", "2", "3"], 2))
    assert (found[1], found[3], found[4]) == (1, 2, 3)
    assert isinstance(found[0], Lost) and "code 7" in str(found[0])
    assert isinstance(found[2], Lost) and ("signal 6" if os.name == "posix" else "code") in str(found[2])


def test_what_cannot_be_sent():
    with pytest.raises(OptionError, match="use workers=1"):
        list(results(eval, [lambda: 0, "1"], 2))
    found = dict(results(eval, ["lambda: 0", "1"], 2))
    assert isinstance(found[0], OptionError) and "cannot be sent back" in str(found[0]) and found[1] == 1


def test_a_script_needs_no_guard(tmp_path):
    """The program that asks is not run again by its workers."""
    script = tmp_path / "script.py"
    script.write_text(
        "from saltus.study.executors.executor import make_executor, results\nprint('once')\n"
        "with make_executor(2) as executor:\n    print(sorted(results(executor, abs, [-1, -2, -3])))\n"
    )
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert result.stdout == "once\n[(0, 1), (1, 2), (2, 3)]\n", result.stderr


def test_how_many():
    assert 1 <= worker_count(None) <= (os.cpu_count() or 1) and worker_count(3) == 3
    for wrong in (0, -1, 1.5):
        with pytest.raises(OptionError, match="whole number" if wrong == 1.5 else "at least 1"):
            worker_count(wrong)


def test_there_is_no_other_way_to_many_processes():
    """What runs simulations elsewhere is the executor."""
    root = Path(saltus.__file__).parent
    texts = {path.relative_to(root): path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    assert not [path for path, text in texts.items() if re.search("multiprocessing|ProcessPoolExecutor", text)]
