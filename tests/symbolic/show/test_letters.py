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
        letters("humanoid", "textbook")
    assert letters("humanoid", "numbers") == "numbers" and letters("humanoid", {"a": "b"}) == {"a": "b"}
