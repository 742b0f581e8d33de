"""Every benchmark passes; each names its reference, its source and why its tolerance is what it is.

References and tolerances are in `saltus.verify`. Families whose code takes long to compile, and benchmarks that take
more than seconds, are slow. Those that need files of others skip here without them.
"""

import pytest
from helpers.files import SHARED

from saltus.verify.case import Data
from saltus.verify.drawing import image
from saltus.verify.registry import FAMILIES, benchmarks
from saltus.verify.running import NEEDS_DATA, PASSED, run_benchmark

ALL = benchmarks()
QUICK = ("smooth", "oscillator", "servo")  # families whose code compiles in seconds
DATA = Data(SHARED.parent / "data")


def parameter(one):
    slow = one.slow or one.family not in QUICK
    return pytest.param(one, id=one.name, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize("benchmark", [parameter(one) for one in ALL.values()])
def test_it_passes(benchmark):
    outcome = run_benchmark(benchmark, DATA)
    if outcome.verdict == NEEDS_DATA:
        pytest.skip(f"needs {outcome.message}")
    red = [check for check in outcome.checks if not check.passed]
    assert outcome.verdict == PASSED, (outcome.message, red)
    assert outcome.checks and outcome.figure.curves
    assert image(outcome.figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ALL)
def test_it_is_described(name):
    one = ALL[name]
    assert one.about.endswith(".") and one.title and one.source and one.allowed
    assert one.command == f"saltus verify {name}"


def test_there_are_benchmarks_of_every_family():
    assert len(ALL) >= 40
    assert {one.family for one in ALL.values()} == set(FAMILIES)
