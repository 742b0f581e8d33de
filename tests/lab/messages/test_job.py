"""Work beside the simulation: it goes on alone, and its result or its error is had when it is done."""

import threading

import pytest

from saltus.lab.messages.job import Job


def test_it_goes_on_beside():
    go = threading.Event()
    job = Job(lambda: go.wait(60) and threading.current_thread().name, "film")
    job.join(0.01)
    assert not job.done
    go.set()
    job.join(60)
    assert job.done and job.result() == "saltus lab film"


def test_its_error_is_raised_where_the_result_is_asked_for():
    job = Job(lambda: 1 // 0, "film")
    job.join(60)
    with pytest.raises(ZeroDivisionError):
        job.result()
