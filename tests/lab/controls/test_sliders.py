"""Sliders of users. Reference: the bounds and values that they give."""

import numpy as np
import pytest
from helpers.lab import FRAME, do, notices, run, set_control, with_extras

from saltus.errors import OptionError
from saltus.lab.controls.extras import Extras


@pytest.mark.slow
def test_a_slider_is_called_with_its_first_value_when_moved_and_after_a_reset():
    session, _ = with_extras(lambda extras: extras.slider("force", -5, 5, 1.5, "N", set_control))
    assert session.sim.ctrl[0] == 1.5 and session.slider_values()["user[force]"] == 1.5
    do(session, "slider", id="user[force]", value=-2.0)
    run(session, FRAME)
    assert session.sim.ctrl[0] == -2.0
    do(session, "reset", key=None)
    assert session.sim.ctrl[0] == -2.0 and session.sim.time == 0.0


def test_a_value_beyond_its_bounds_is_clamped_and_told():
    session, _ = with_extras(lambda extras: extras.slider("force", -5, 5, 0, "N", set_control))
    do(session, "slider", id="user[force]", value=9.0)
    run(session, FRAME)
    assert session.sim.ctrl[0] == 5.0 and notices(session) == ["user[force] was set to its bound, 5."]


def test_a_slider_can_be_read_and_set_from_python():
    made = []
    session, _ = with_extras(lambda extras: made.append(extras.slider("force", -5, 5, 0, "N", set_control)))
    made[0].value = 3
    run(session, FRAME)
    assert session.sim.ctrl[0] == 3.0 == session.slider_values()["user[force]"]
    made[0].value = 30
    assert made[0].value == 5.0 and repr(made[0]) == "<slider 'force' at 5 N>"
    do(session, "slider", id="user[force]", value=1.0)
    assert made[0].value == 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, 1, 2, "", None), "its value 2 is not between 0 and 1"),
        ((1, 1, 1, "", None), "1 to 1 is not a range"),
        (("a", 1, 0, "", None), "low must be numbers, got 'a'"),
        ((0, 1, 0, "", 3), "on_change must be a function, got 3"),
    ],
)
def test_what_is_no_slider(given, message):
    with pytest.raises(OptionError, match=message):
        Extras().slider("s", *given)


@pytest.mark.parametrize("value", ["half", None, np.nan])
def test_a_slider_stands_at_numbers(value):
    made = Extras().slider("s", 0, 1, 0.5, "", None)
    with pytest.raises(OptionError, match="value must be"):
        made.value = value
    assert made.value == 0.5
