"""The letters of lectures. Reference: numbers of the bundled models, which one letter must not give two values."""

import re

import numpy as np
import pytest
import sympy

import saltus
from saltus.errors import OptionError
from saltus.symbolic.show.letters import LETTERS, letters


@pytest.mark.parametrize("name", LETTERS)
def test_one_letter_has_one_value(name):
    model, values, late = saltus.load(name).mujoco, {}, []
    for key, text in LETTERS[name].items():
        field, *places = re.split(r"[][]+", key.rstrip("]"))
        at = model.opt if field.startswith("opt.") else model
        value = getattr(at, field.removeprefix("opt."))
        for place in places:
            if not place.isdigit():
                place = model.joint(place).dofadr[0] if field.startswith("dof_") else model.body(place).id
            value = value[int(place)]
        assert value != 0.0
        expression = sympy.sympify(text, locals={"I1": sympy.Symbol("I1"), "I2": sympy.Symbol("I2")})
        if re.fullmatch(r"-?\w+", text):
            letter, value = text.lstrip("-"), -value if text.startswith("-") else value
            assert np.isclose(values.setdefault(letter, value), value, rtol=1e-12), (key, text)
        else:
            late.append((expression, value))
    for expression, value in late:
        assert float(expression.subs(values)) == pytest.approx(value, rel=1e-6)


def test_a_model_without_letters():
    with pytest.raises(OptionError, match="no textbook letters for 'humanoid'; there are for pendulum"):
        letters(saltus.load("humanoid"), "textbook")
    arm = saltus.load("arm")
    assert letters(arm, "numbers") == "numbers" and letters(arm, {"a": "b"}) == {"a": "b"}


def test_letters_of_a_chain_are_its_numbers():
    """A chain with different links: each letter has the value that `n_link` was given, geometry is made of letters."""
    given = {"m": [1.0, 2.0, 3.0], "l": [0.5, 0.7, 0.9], "d": [0.5, 0.25, 1.0], "inertia": [0.1, 0.2, 0.3]}
    e = saltus.derive(saltus.n_link(3, **given, pivot=(0.2, 0.4)), "absolute", "textbook")
    found = {str(s): value for s, value in e.parameters.items()}
    wanted = {f"{letter}{i + 1}": given[name][i] for name, letter in zip(given, "mldI", strict=True) for i in range(3)}
    assert found == pytest.approx({**wanted, "X0": 0.2, "Y0": 0.4, "g": 9.81}, rel=1e-14)
    l1, l2, d2, x, a1, a2 = sympy.symbols("l1 l2 d2 X0 alpha1 alpha2")
    assert sympy.expand(e.positions["link2"][0] - x - l1 * sympy.sin(a1) - d2 * l2 * sympy.sin(a2)) == 0


def test_a_chain_of_points_has_no_inertias():
    e = saltus.derive(saltus.n_link(2, inertia=0.0, d=1.0), parameters="textbook")
    assert {str(s) for s in e.parameters} == {"X0", "Y0", "g", "m1", "l1", "d1", "m2", "l2", "d2"}
