"""Values on the command line: numbers, vectors, ranges and texts are what was written, and what is none is refused."""

import numpy as np
import pytest

from saltus.cli.shared.values import parse_sets, parse_values
from saltus.errors import OptionError


def test_values_from_text():
    assert parse_values("body_mass[b]", "1, 2.5,4") == [1, 2.5, 4]
    assert parse_values("opt.gravity", "0 0 -9.81,0 0 -1.62") == [[0, 0, -9.81], [0, 0, -1.62]]
    assert parse_values("qpos[x]", "linspace(0, 1, 5)") == np.linspace(0, 1, 5).tolist()
    assert parse_values("qpos[x]", "geomspace(1e3,1e6,4)") == [1e3, 1e4, 1e5, 1e6]
    assert parse_values("flexcomp[s]/pin/id", "0 15,0 3 12") == ["0 15", "0 3 12"]
    assert parse_values("flexcomp[s]/elasticity/elastic2d", "both,") == ["both", None]
    assert parse_values("integrator", "euler,rk4") == ["euler", "rk4"]
    assert parse_sets(["a[b]=1", "geom[c]/type=box"]) == {"a[b]": [1], "geom[c]/type": ["box"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("body_mass[b]", "expected PATH=A,B"),
        ("body_mass[b]=1,x", "'x' is not a number"),
        ("body_mass[b]=1,", "'' is not a number"),
        ("qpos[x]=linspace(0,1,0)", r"expected linspace\(FIRST,LAST,COUNT\)"),
        ("qpos[x]=geomspace(0,1,3)", r"expected geomspace"),
    ],
)
def test_text_that_is_no_values(text, message):
    with pytest.raises(OptionError, match=message):
        parse_sets([text])
    with pytest.raises(OptionError, match="given twice"):
        parse_sets(["qpos[x]=1", "qpos[x]=2"])
