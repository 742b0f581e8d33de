"""Text in figures and tables. Reference: what Matplotlib takes for mathematics, and for a label to hide."""

import pytest

from saltus.record.table.labels import literal, readable, with_unit


@pytest.mark.parametrize("label", ["x", "$x$", "_hidden", "$a_$b$", "_$\\frac$"])
def test_a_label_is_no_mathematics_and_not_hidden(label):
    cbook = pytest.importorskip("matplotlib.cbook")
    shown = literal(label)
    assert not cbook.is_math_text(shown) and not shown.startswith("_")
    assert shown.replace(r"\$", "$").strip() == label


def test_names_for_readers():
    assert readable("#3", "joint") == "joint 3" and readable("knee", "joint") == "knee"
    assert readable("#12 x", "body") == "body 12 x" and readable("c#major", "body") == "c#major"
    assert with_unit("speed", "m/s") == "speed (m/s)" and with_unit("mode", "") == "mode"
