"""What a routine refuses, and files that are written whole."""

import pytest
import symengine as se
import sympy as sp

from saltus.errors import OptionError, RecordError
from saltus.symbolic.export.routine import Routine, write

x, y = sp.symbols("x y")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(name="two words"), "'two words' cannot be a name"),
        (dict(name="double"), "'double' cannot be a name"),
        (dict(arguments={"q": [x], "lambda": [y]}), "'lambda' cannot be a name"),
        (dict(results={"q": [x]}), "'q' is there twice"),
        (dict(arguments={"q": [x, y, x]}), "symbol x is there twice"),
        (dict(arguments={"q": [x], "p": [x + y]}), "which is not a symbol"),
        (dict(arguments={"q": [x]}), "y is in no argument"),
        (dict(results={"r": 3}), "neither a vector nor a matrix"),
        (dict(results={"r": [[x], [x, y]]}), "neither a vector nor a matrix"),
        (dict(symmetric=["r"]), "not a square matrix"),
        (dict(symmetric=["other"]), "not a square matrix"),
    ],
)
def test_refusals(arguments, message):
    given = dict(name="f", arguments={"q": [x, y]}, results={"r": [x + y]}) | arguments
    with pytest.raises(OptionError, match=message):
        Routine(**given)


@pytest.mark.parametrize(
    ("result", "shape"),
    [
        ([x, y], (2,)),
        ([[x, y]], (1, 2)),
        (sp.Matrix([x, y]), (2, 1)),
        (sp.Matrix([[x]]), (1, 1)),
        (se.DenseMatrix([[x, y], [y, x]]), (2, 2)),
        (sp.zeros(0, 2), (0, 2)),
        ([], (0,)),
    ],
)
def test_shapes(result, shape):
    assert Routine("f", {"q": [x, y]}, {"r": result}).shapes == {"r": shape}


def test_symbols_match_by_name_whatever_they_assume():
    real = sp.Symbol("x", real=True)
    assert Routine("f", {"q": [real]}, {"r": [sp.Symbol("x") + real]}).results["r"] == [2 * se.Symbol("x")]


def test_write(tmp_path):
    write(tmp_path / "a.py", "α = 1\n")
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "α = 1\n"
    with pytest.raises(RecordError, match="cannot write code"):
        write(tmp_path / "missing" / "a.py", "")
