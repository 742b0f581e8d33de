"""What an environment may declare as an input, and what is refused by name."""

import pytest

from saltus.env.inputs import Input, inputs
from saltus.errors import OptionError

SIZES = {"command": 2, "wind": 0}


def test_numbers_and_rows():
    found = inputs("Task", {"wind": ("wind", 0, 3, "N"), "command": [("forward", -1, 1), ("turn", -2, 2)]}, SIZES)
    assert found == (
        Input("wind", 0, "wind", 0.0, 3.0, "N"),
        Input("command", 0, "forward", -1.0, 1.0),
        Input("command", 1, "turn", -2.0, 2.0),
    )
    assert [one.id for one in found] == ["wind[0]", "command[0]", "command[1]"]
    assert inputs("Task", {}, SIZES) == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"wnd": ("wind", 0, 3)}, "unknown parameter or memory for an input of Task 'wnd'; did you mean 'wind'"),
        ({"command": [("forward", -1, 1)]}, r"inputs\['command'\] must have 2 ranges"),
        ({"wind": ("wind", 3, 0)}, "3 to 0 is not a range"),
        ({"wind": (0, 3)}, r"must be \(name, least, largest\)"),
        ({"wind": "wind"}, r"must be \(name, least, largest\)"),
        ({"wind": ("wind", "a", 3)}, "must be numbers"),
        ({"command": [("same", -1, 1), ("same", -1, 1)]}, "different names"),
        ([], "must be a dictionary"),
    ],
)
def test_what_is_wrong_is_named(given, message):
    with pytest.raises(OptionError, match=message):
        inputs("Task", given, SIZES)
