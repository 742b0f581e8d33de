"""Of processes that begin together one goes through alone, the others after it, and those together."""

import errno
import os
import subprocess
import sys
import threading

import pytest

from saltus.number.cache import turn


def test_the_others_wait_for_the_first_and_not_for_each_other(tmp_path, monkeypatch):
    """Locks belong to open files, so that threads stand for processes here."""
    monkeypatch.setattr(turn, "cache_directory", lambda: tmp_path)
    together = threading.Barrier(3)
    order = []

    def other():
        with turn.one_compiles():
            order.append("other")
            together.wait(10)  # all three are in here at once

    with turn.one_compiles():
        threads = [threading.Thread(target=other) for _ in range(3)]
        for thread in threads:
            thread.start()
        threads[0].join(0.3)
        order.append("first")
    for thread in threads:
        thread.join(10)
    assert order == ["first", "other", "other", "other"]


HOLD = """
import sys, time
from saltus.number.cache import turn
turn.cache_directory = lambda: __import__("pathlib").Path(sys.argv[1])
with turn.one_compiles():
    print("compiling", flush=True)
    time.sleep(60)
"""


def test_nobody_waits_for_a_process_that_was_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(turn, "cache_directory", lambda: tmp_path)
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline().strip() == b"compiling"
    passed = threading.Event()

    def other():
        with turn.one_compiles():
            passed.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert not passed.wait(0.3)
    process.kill()
    process.wait()
    assert passed.wait(10)
    thread.join()


@pytest.mark.skipif(os.name == "nt", reason="locks of Unix")
def test_without_locks_all_go_at_once(tmp_path, monkeypatch):
    def none(descriptor, kind):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(turn, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr("fcntl.flock", none)
    with turn.one_compiles(), turn.one_compiles():
        pass
