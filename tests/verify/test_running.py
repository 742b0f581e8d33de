"""Verdicts, tables and files of made-up benchmarks, whose right answers are known."""

import json
import math

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.verify.case import Check, Curve, Data, Figure, NeedsData, Result, family, order_check
from saltus.verify.page import whole_page
from saltus.verify.registry import chosen
from saltus.verify.report import print_outcomes, summary, write_figures, write_json
from saltus.verify.running import FAILED, NEEDS_DATA, PASSED, run_benchmark

FIGURE = Figure("x", "y", [Curve("reached", [0, 1], [0, 1])])
made = family("smooth")


@made("good", "Good", source="arithmetic", allowed="none")
def good(data):
    """Two and two."""
    return Result([Check("sum", 2 + 2, 4, 0.0, "m")], FIGURE)


@made("bad", "Bad", source="arithmetic", allowed="none")
def bad(data):
    """A wrong sum, and one that is right."""
    return Result([Check("wrong <sum>", 5.0, 4.0, 1e-3), Check("right", 4.0, 4.0, 1e-3)], FIGURE)


@made("broken", "Broken", source="arithmetic", allowed="none")
def broken(data):
    """A run that ends early."""
    raise ZeroDivisionError("it stopped")


@made("empty", "Empty", source="arithmetic", allowed="none")
def empty(data):
    """Nothing is compared."""
    return Result([], FIGURE)


@made("lacking", "Lacking", source="a table", allowed="none")
def lacking(data):
    """A table of others."""
    data.file("table.txt")
    raise AssertionError


ALL = (good, bad, broken, empty, lacking)


@pytest.fixture
def outcomes():
    return [run_benchmark(one) for one in ALL]


def test_verdicts(outcomes):
    assert [o.verdict for o in outcomes] == [PASSED, FAILED, FAILED, FAILED, NEEDS_DATA]
    assert outcomes[2].message == "ZeroDivisionError: it stopped"
    assert "table.txt" in outcomes[4].message
    assert summary(outcomes).startswith("5 benchmarks, 1 passed, 3 failed, 1 not run, as it needs data; ")


@pytest.mark.parametrize(
    ("reached", "relative", "error", "passed"),
    [(2.1, False, 0.1, True), (2.1, True, 0.05, True), (2.3, False, 0.3, False), (math.nan, False, math.inf, False),
     (math.inf, True, math.inf, False)],
)  # fmt: skip
def test_checks(reached, relative, error, passed):
    check = Check("x", reached, 2.0, 0.11, relative=relative)
    assert check.error == pytest.approx(error) and check.passed is passed
    of_numpy = Check("x", np.float64(reached), np.float64(2.0), np.float64(0.11), relative=relative)
    assert of_numpy.passed is passed


def test_an_order_is_the_slope_of_the_errors():
    steps = [0.1, 0.05, 0.025]
    assert order_check(steps, [3 * h**2 for h in steps], 2).reached == pytest.approx(2)
    assert not order_check(steps, [3 * h**1.7 for h in steps], 2).passed


def test_the_table_shows_what_failed(outcomes, capsys):
    print_outcomes(outcomes, every=False)
    out = capsys.readouterr().out
    assert "wrong <sum>" in out and "right" not in out
    assert "broken failed: ZeroDivisionError: it stopped" in out and "lacking needs: table.txt" in out
    print_outcomes(outcomes, every=True)
    assert "right" in capsys.readouterr().out


def test_files(outcomes, tmp_path):
    write_json(outcomes, tmp_path / "r.json")
    results = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [r["verdict"] for r in results] == [o.verdict for o in outcomes]
    assert results[1]["checks"][0]["error"] == 1.0 and results[0]["command"] == "saltus verify good"
    assert {p.stem for p in write_figures(outcomes, tmp_path / "new" / "figures")} == {"good", "bad", "empty"}
    page = whole_page(outcomes)
    assert "wrong &lt;sum&gt;" in page and 'id="good"' in page and page.count("data:image/svg+xml") == 3
    assert "http" not in page  # all of it is in the file


def test_data(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "t.txt").write_text("1")
    assert Data(tmp_path).file("a/t.txt").read_text() == "1" and len(Data(tmp_path).files("a/*.txt")) == 1
    for lacks in (lambda: Data().file("a"), lambda: Data(tmp_path).file("b"), lambda: Data(tmp_path).files("*.npz")):
        with pytest.raises(NeedsData):
            lacks()


def test_choice():
    assert [one.name for one in chosen(["zeno", "servo-pid", "zeno"])] == ["zeno", "servo-pid"]
    assert {one.family for one in chosen(family="flex")} == {"flex"}
    for names, of, said in (
        (["zen"], None, "unknown benchmark 'zen'; did you mean 'zeno'"),
        ([], "flx", "unknown family 'flx'; did you mean 'flex'"),
        (["zeno"], "flex", "none of zeno belongs to the family 'flex'"),
    ):
        with pytest.raises(OptionError, match=said):
            chosen(names, of)
