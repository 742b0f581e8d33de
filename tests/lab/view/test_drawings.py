"""What users draw. Reference: the values that they give."""

import pytest

from saltus import lab
from saltus.errors import OptionError


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lab.arrow([0, 0], [1, 1]), "start and end of an arrow must be"),
        (lambda: lab.line([[0, 0, 0]]), "at least two points, got 1"),
        (lambda: lab.sphere([0, 0, 0], -1), "a size is a positive number"),
        (lambda: lab.sphere([0, 0, 0], "big"), "a size must be numbers, got 'big'"),
        (lambda: lab.sphere("here", 1), "center of a sphere must be numbers, got"),
        (lambda: lab.text([0, 0, 0], "x", color="gren"), "did you mean 'green'"),
        (lambda: lab.text([0, 0, 0], "x", color=(2, 0, 0)), "numbers from 0 to 1"),
    ],
)
def test_what_cannot_be_drawn(make, message):
    with pytest.raises(OptionError, match=message):
        make()


def test_colors():
    alphas = [lab.sphere([0, 0, 0], 1, color).alpha for color in ("red", "#123456", (1, 0, 0), (1, 0, 0, 0.5))]
    assert alphas == [1, 1, 1, 0.5] and lab.sphere([0, 0, 0], 1, (1, 0.5, 0)).color == "#ff8000"
