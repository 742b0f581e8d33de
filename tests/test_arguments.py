"""What users pass is taken for what it is, or refused with an error that names the argument."""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from saltus import arguments
from saltus.errors import OptionError


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (arguments.number, [1, 2.5, np.float32(3), "4", np.array(5), Fraction(1, 2)], [None, [1], "x", 10**400]),
        (arguments.whole_number, [0, 3.0, np.int8(4), sys.maxsize], [-1, 2.5, "3", None, np.inf, np.nan, 2.0**63]),
        (arguments.positive, [1e-300, 3, np.float32(2)], [0, -1.0, np.inf, np.nan, None, "x", [1, 2]]),
        (arguments.path_of, ["a", Path("b")], [b"a", 1, None]),
        (arguments.flag, [0, True, [], "x"], [np.zeros(2)]),
        (arguments.words, ["one", ["a", "b"], ()], [1, [1], None]),
        (arguments.mapping, [{}], [[], None, "a"]),
        (arguments.function, [len], [None, "len"]),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_good_values_are_taken_and_bad_ones_named(check, good, bad):
    for value in good:
        found = check("that", value)
        assert found == value or check is not arguments.number or found == float(value)
    for value in bad:
        with pytest.raises(OptionError, match="that"):
            check("that", value)


@pytest.mark.parametrize("value", [1j, [1.0, 2j], np.array([1 + 0j])])
def test_complex_numbers_are_refused(value):
    with pytest.raises(OptionError, match="x must be numbers"):
        arguments.numbers("x", value)


@pytest.mark.parametrize(("affinity", "count", "usable"), [({2, 5}, 8, 2), (None, 8, 8), (None, None, 1)])
def test_processors_are_counted_where_the_system_tells_which_may_be_used(monkeypatch, affinity, count, usable):
    """sched_getaffinity(2) is Linux's; macOS and Windows tell how many there are, and others may not even do that."""
    monkeypatch.setattr(arguments.os, "cpu_count", lambda: count)
    if affinity is None:
        monkeypatch.delattr(arguments.os, "sched_getaffinity", raising=False)
    else:
        monkeypatch.setattr(arguments.os, "sched_getaffinity", lambda process: affinity, raising=False)
    assert arguments.usable_cores() == arguments.thread_count(None) == usable


def test_fields_without_room_take_nothing():
    """NumPy drops one number that is put into an empty array."""
    view = np.zeros((0, 3))
    for value in (np.zeros((0, 3)), 0.0):
        arguments.put("mocap_pos", view, value)
    for value in ([0.0], 1.0, [[1.0, 2.0, 3.0]]):
        with pytest.raises(OptionError, match=r"mocap_pos has shape \(0, 3\), not .*: it has no entries to set"):
            arguments.put("mocap_pos", view, value)
