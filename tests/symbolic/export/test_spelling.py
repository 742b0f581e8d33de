"""Numbers in code are the doubles closest to what they stand for; reference: Python's exact fractions."""

import random
from fractions import Fraction

import pytest

from saltus.errors import OptionError
from saltus.symbolic.export.spelling import number_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1, 3), "(1.0/3.0)"),
        (Fraction(981, 100), "9.81"),
        (Fraction(1, 2), "0.5"),
        (Fraction(3), "3.0"),
        (Fraction(0.1), "0.1"),
        (Fraction(1, 12), "(1.0/12.0)"),
        (Fraction(1, 10**20), "1e-20"),
    ],
)
def test_texts(number, text):
    assert number_text(number) == text


def test_closest_doubles():
    rng = random.Random(0)
    for _ in range(2000):
        number = Fraction(rng.randrange(10 ** rng.randrange(1, 25)), rng.randrange(1, 10 ** rng.randrange(1, 25)))
        assert eval(number_text(number)) == float(number)


def test_too_large():
    with pytest.raises(OptionError, match="too large"):
        number_text(Fraction(10**400))
