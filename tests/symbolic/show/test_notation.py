"""Numbers in formulas: exact where that can be read, and told where they are rounded."""

import math
from fractions import Fraction

import pytest

from saltus.symbolic import derive
from saltus.symbolic.show.notation import Notation, decimal, is_long

LONG = """
<mujoco><worldbody><body><joint axis="0 1 0"/>
  <inertial pos="0 0 -0.123456789012345" mass="3.14159265358979" diaginertia="0.1 0.1 0.1"/>
</body></worldbody></mujoco>
"""


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("981/100", "9.81"),
        ("-981/25", "-39.24"),
        ("1/3", None),
        ("1/8", None),  # reads well as it is
        ("1/80", "0.0125"),
        ("123456789012345678/100000000000000000", "1.23456789"),
        ("1/12345678901234567", r"8.100000073 \cdot 10^{-17}"),
    ],
)
def test_decimal(number, text):
    assert decimal(Fraction(number)) == text


def test_rounded_numbers_are_told():
    """m c² + I has more digits than anyone reads; 10 of them are shown, and the notation says so."""
    equations = derive(LONG)
    notation = Notation(equations)
    assert not notation.rounded
    shown = notation.text(equations.M[0, 0])
    exact = Fraction(str(equations.M[0, 0]))
    assert is_long(exact) and notation.rounded
    assert math.isclose(float(shown), exact, rel_tol=5e-10)


def test_short_numbers_are_exact():
    equations = derive("double_pendulum")
    notation = Notation(equations)
    for x in (*equations.M, *equations.bias):
        notation.text(x)
    assert not notation.rounded
