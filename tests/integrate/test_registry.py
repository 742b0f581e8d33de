"""Integrators are found by name, by what they are, or by what a file says; anything else is named.

The names are the interface's. No physics here.
"""

import pytest

import saltus
from saltus.integrate.registry import find_integrator


@pytest.mark.parametrize("name", saltus.integrators())
def test_by_name(name):
    assert find_integrator(name, "euler").name == name


@pytest.mark.parametrize(
    ("written", "name"), [("RK4", "rk4"), ("Euler", "euler"), ("Velocity_Verlet", "velocity_verlet")]
)
def test_by_name_in_any_case(written, name):
    assert find_integrator(written, "euler").name == name
    assert saltus.Simulation("pendulum", written).integrator.name == name


def test_by_object_and_tableau():
    rk4 = saltus.integrators()["rk4"]
    assert find_integrator(rk4, "euler") is rk4
    explicit = find_integrator(saltus.ButcherTableau([[0]], [1], name="mine"), "euler")
    assert (explicit.name, explicit.kind, explicit.order) == ("mine", "explicit", 1)
    implicit = find_integrator(saltus.ButcherTableau([[1]], [1], name="mine"), "euler")
    assert (implicit.name, implicit.kind, implicit.order) == ("mine", "implicit", 1)


@pytest.mark.parametrize(
    ("from_file", "name"),
    [("euler", "euler"), ("RK4", "rk4"), ("implicit", "implicit"), ("implicitfast", "implicitfast")],
)
def test_what_the_file_says(from_file, name):
    assert find_integrator(None, from_file).name == name


@pytest.mark.parametrize(("wrong", "near"), [("rk5", "rk4"), ("Eulr", "euler"), ("velocity-verlet", "velocity_verlet")])
def test_an_unknown_name_proposes_the_nearest(wrong, near):
    with pytest.raises(saltus.OptionError, match=rf"unknown integrator '{wrong}'; did you mean '{near}'\?.*dopri5"):
        saltus.Simulation("chain", wrong)


def test_something_else():
    with pytest.raises(saltus.OptionError, match="unknown integrator 4"):
        saltus.Simulation("chain", 4)
    with pytest.raises(saltus.OptionError, match="unknown integrator"):
        saltus.Simulation("chain", ["rk4"])
