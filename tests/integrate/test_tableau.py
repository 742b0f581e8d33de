"""Butcher tableaus are checked when made, and any that is consistent works.

Law: sum b = 1, c = row sums of a, and the order conditions up to 4 (Hairer, Nørsett & Wanner, Solving Ordinary
Differential Equations I (1993), table II.2.2). On x' = v, v' = -x one step of a method multiplies by its stability
function R(i h), which is known for each method.

Tolerance: rounding.
"""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus import ButcherTableau, OptionError

OSCILLATOR = """
<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="slide" axis="1 0 0" stiffness="1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
ROOT = 3**0.5 / 6
VALID = {
    "heun": (([[0, 0], [1, 0]], ["1/2", "1/2"]), 2, lambda z: 1 + z + z**2 / 2),
    "ralston": (([[0, 0], ["2/3", 0]], ["1/4", "3/4"]), 2, lambda z: 1 + z + z**2 / 2),
    "kutta 3": (
        ([[0, 0, 0], ["1/2", 0, 0], [-1, 2, 0]], ["1/6", "2/3", "1/6"]), 3, lambda z: 1 + z + z**2 / 2 + z**3 / 6
    ),
    "3/8 rule": (
        ([[0, 0, 0, 0], ["1/3", 0, 0, 0], ["-1/3", 1, 0, 0], [1, -1, 1, 0]], ["1/8", "3/8", "3/8", "1/8"]),
        4,
        lambda z: 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24,
    ),
    "implicit euler": (([[1]], [1]), 1, lambda z: 1 / (1 - z)),
    "trapezoidal rule": (([[0, 0], ["1/2", "1/2"]], ["1/2", "1/2"]), 2, lambda z: (1 + z / 2) / (1 - z / 2)),
    "gauss 2": (
        ([[0.25, 0.25 - ROOT], [0.25 + ROOT, 0.25]], [0.5, 0.5]),
        4,
        lambda z: (1 + z / 2 + z**2 / 12) / (1 - z / 2 + z**2 / 12),
    ),
    "radau IIA": (
        ([["5/12", "-1/12"], ["3/4", "1/4"]], ["3/4", "1/4"]), 3, lambda z: (1 + z / 3) / (1 - 2 * z / 3 + z**2 / 6)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALID)
def test_order_is_found_and_the_step_is_right(name):
    (a, b), order, stability = VALID[name]
    tableau = ButcherTableau(a, b, name=name)
    assert tableau.order == order
    assert tableau.explicit == (not np.triu(tableau.a).any())
    h = 0.4
    sim = saltus.Simulation(OSCILLATOR, tableau, timestep=h)
    sim.qpos[0], sim.qvel[0] = 1.0, 0.3
    sim.step(5)
    # x - i v is an eigenvector with the eigenvalue i
    end = stability(1j * h) ** 5 * (1.0 - 0.3j)
    assert_allclose((sim.qpos[0], sim.qvel[0]), (end.real, -end.imag), rtol=0, atol=1e-13)
    assert sim.integrator.name == name


def test_the_built_in_methods_have_their_order():
    """Tableaus of the registry satisfy the order conditions of the order that they declare."""
    for name, order in (("explicit_euler", 1), ("midpoint", 2), ("rk4", 4), ("implicit_midpoint", 2), ("dopri5", 5)):
        table = saltus.integrators()[name].parameters[0]
        tableau = ButcherTableau(table[:-1, 1:], table[-1, 1:], table[:-1, 0])
        assert tableau.order == min(order, 4), name


def test_numbers_may_be_fractions_and_text():
    tableau = ButcherTableau([[0, 0], [Fraction(2, 3), 0]], ["1/4", 0.75], ["0", "2/3"])
    assert_allclose(tableau.b, [0.25, 0.75])
    assert_allclose(tableau.table, [[0, 0, 0], [2 / 3, 2 / 3, 0], [0, 0.25, 0.75]])
    assert "explicit, 2 stages, order 2" in repr(tableau)


@pytest.mark.parametrize(
    ("a", "b", "c", "reason"),
    [
        ([[0, 0], [1, 0]], ["1/2", "1/3"], None, r"b sum to 0\.8333.*not 1"),
        ([[0, 0], ["1/2", 0]], [0, 1], [0, 1], r"row 1 of a sums to 0\.5, but c\[1\] = 1"),
        ([[0, 0, 0], [1, 0, 0]], [0.5, 0.5], None, r"a must be square, not of shape \(2, 3\)"),
        ([[0, 0], [1, 0]], [1], None, r"b has shape \(1,\).*a has 2 stages"),
        ([[0, 0], [1, 0]], [0.5, 0.5], [0, 1, 1], r"c \(3,\).*2 stages"),
        ([[0, 0], [np.nan, 0]], [0.5, 0.5], None, r"a holds a number that is not finite"),
        ([[0, 0], ["one", 0]], [0.5, 0.5], None, r"a is not an array of numbers"),
        ([[0], [1, 0]], [0.5, 0.5], None, r"a is not an array of numbers"),
        ([[0, 0], ["1/0", 0]], [0.5, 0.5], None, r"a is not an array of numbers"),
    ],
)
def test_what_is_wrong_is_named(a, b, c, reason):
    with pytest.raises(OptionError, match=reason):
        ButcherTableau(a, b, c, name="mine")


def test_an_inconsistent_tableau_is_named():
    with pytest.raises(OptionError, match=r"'mine' is not consistent"):
        ButcherTableau([[0]], [0.9], name="mine")


def test_an_order_that_is_not_there():
    with pytest.raises(OptionError, match=r"order 3 is claimed, but the order conditions give 2"):
        ButcherTableau([[0, 0], [1, 0]], [0.5, 0.5], order=3)
    # more than the four levels that are checked may be claimed
    assert ButcherTableau(*VALID["3/8 rule"][0], order=5).order == 5
