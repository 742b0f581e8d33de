"""Mistakes in users' functions: an OptionError with the file, the line, the expression and what to write.

Reference: where the mistake was made in this file.
"""

import inspect
import re

import numpy as np
import pytest

import saltus
from saltus.dynamics.users.messages import explained, reason


def typo(m, d, z):
    d.ctrl[0] = d.tme


def short(m, d):
    d.ctrl[0] = 1.0


def listed(m, d, z):
    d.ctrl[0] = sum([d.qpos[k] for k in range(m.nq)])


def raising(m, d, z):
    if d.qpos[0] > 1:
        raise ValueError


def missing(m, d):
    if d.qpos[0] > 1:
        return 1.0


def printing(m, d, z):
    print(d.time)


def from_the_end(m, d, z):
    d.ctrl[0] = d.qpos[-1]


def shared(m, d, z):
    a = np.zeros(2)
    b = a
    b[0] = 1.0
    d.ctrl[0] = a[0]


def open_slice(m, d, z):
    d.ctrl[0] = sum(d.qvel[0 : m.nv])


def importing(m, d, z):
    import math

    d.ctrl[0] = math.sin(d.time)


def by_lane(m, d, z):
    d.ctrl[0] = d.qpos[d.qvel[0]]


def line_of(function, k):
    """Line k of a function in this file."""
    return inspect.getsourcelines(function)[1] + k


@pytest.mark.parametrize(
    ("function", "line", "said"),
    [
        (typo, 1, "d.tme: d has no field 'tme'; did you mean 'time'?"),
        (listed, 1, "write a loop that adds up"),
        (raising, 2, "raise ValueError: compiled code raises no exceptions"),
        (printing, 1, "print(d.time): compiled code prints nothing"),
        (from_the_end, 1, "d.qpos[-1]: fields are not counted from the end"),
        (shared, 2, "b = a: b would be the same array as another variable; write np.array(a)"),
        (open_slice, 1, "a slice needs numbers as its ends"),
        (importing, 1, "import at the top of the file"),
    ],
)
def test_forms_that_cannot_be(function, line, said):
    with pytest.raises(saltus.OptionError, match=re.escape(said)) as caught:
        saltus.controller(function)
    assert f"{function.__name__}, test_messages.py, line {line_of(function, line)}: " in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_wrong_signature_names_the_right_one():
    with pytest.raises(saltus.OptionError, match=r"must be law\(m, d, z\): it is called with 3.*short\(m, d\)"):
        saltus.controller(short)
    with pytest.raises(saltus.OptionError, match=r"f\(m, d\): it is called with 2"):
        saltus.Event(typo)


def test_a_way_without_a_value_is_named():
    with pytest.raises(saltus.OptionError, match="not returned on every way"):
        saltus.Event(missing)


def test_types_that_cannot_be_are_told_before_numba():
    simulation = saltus.Simulation("pendulum", integrator="euler", control=saltus.controller(by_lane))
    with pytest.raises(saltus.OptionError, match="an index must be a whole number") as caught:
        simulation.step()
    assert f"by_lane, test_messages.py, line {line_of(by_lane, 1)}: " in str(caught.value)


def test_reasons_of_numba_are_short():
    text = "Failed in kernel mode pipeline\nUnknown attribute 'x' of type Data-1\n\nFile \"a.py\", line 3:"
    assert reason(text) == "d has no field 'x'"
    assert explained("law", typo, text).startswith("law: typo, test_messages.py, line")
