"""Slow tests are left out once their time is over, and only these.

Reference: pytest's own counts for a small file of tests.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import time_left

CONFTEST = "from helpers.time_left import pytest_runtest_setup, pytest_terminal_summary\n"
FILE = """
import pytest

@pytest.mark.slow
def test_slow():
    pass

def test_quick():
    pass
"""


@pytest.mark.parametrize(
    ("until", "counts", "named"), [("1e12", "2 passed", 0), ("1", "1 passed, 1 skipped", 1), ("", "2 passed", 0)]
)
def test_only_slow_tests_are_left_out(tmp_path, until, counts, named):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long\n")
    (tmp_path / "test_some.py").write_text(FILE)
    environment = {**os.environ, time_left.UNTIL: until, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path).stdout
    assert f"{counts} in" in said, said
    assert said.count("left out for want of time: test_some.py::test_slow") == named
    assert said.count("left out") == named
