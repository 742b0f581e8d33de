"""Slow tests are left out, and counted by name, once a run has used the time that it was given.

The environment variable SALTUS_SLOW_UNTIL holds the time (s since 1970) up to which tests marked `slow` begin. A busy
machine thus still gives a verdict, on all tests but these; without the variable, none is left out.
"""

import os
import time

import pytest

UNTIL = "SALTUS_SLOW_UNTIL"
REASON = "slow, and the time given for slow tests is over"


def is_over():
    """Whether the time for slow tests has passed."""
    until = os.environ.get(UNTIL, "")
    return bool(until) and time.time() > float(until)


def pytest_runtest_setup(item):
    """Leave a slow test out where the time for these is over."""
    if item.get_closest_marker("slow") and is_over():
        pytest.skip(REASON)


def pytest_terminal_summary(terminalreporter):
    """Name the slow tests that were left out."""
    for report in terminalreporter.getreports("skipped"):
        if REASON in str(report.longrepr):
            terminalreporter.write_line(f"left out for want of time: {report.nodeid}")
