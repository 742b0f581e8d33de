"""Names that compilers and readers take."""

import keyword
import re

import pytest
import sympy as sp

from saltus.symbolic.export.identifiers import RESERVED, identifier, names_of, prefix_of_temporaries


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("theta_1", "theta_1"),
        ("lambda", "lambda_"),
        ("int", "int_"),
        ("sin", "sin_"),
        ("θ1", "theta1"),
        ("Ω", "Omega"),
        ("λ", "lambda_"),
        (r"\dot{\theta}_{1}", "dot_theta_1"),
        ("1st", "v1st"),
        ("_x", "x"),
        ("é", "e"),
        ("", "v"),
        ("+-", "v"),
    ],
)
def test_names(text, name):
    assert identifier(text) == name


def test_every_reserved_word_gets_another_name():
    for word in RESERVED:
        name = identifier(word)
        assert re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) and name not in RESERVED and not keyword.iskeyword(name)


def test_names_differ_and_good_ones_stay():
    symbols = [sp.Symbol(s) for s in ("a b", "a_b", "a+b", "lambda", "lambda_", "M")]
    names = list(names_of(symbols, ["M"]).values())
    assert len(set(names)) == len(names)
    assert names[1] == "a_b" and names[4] == "lambda_" and names[5] == "M_"


def test_prefix_of_temporaries():
    assert prefix_of_temporaries(["a", "x"]) == "x"
    assert prefix_of_temporaries(["x12"]) == "x_"
    assert prefix_of_temporaries(["x1", "x_2"]) == "x__"
