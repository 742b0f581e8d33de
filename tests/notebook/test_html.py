"""Pieces of displays. Reference: the standard parser of HTML reads back what was put in; NumPy's histogram."""

import re

import numpy as np
import pytest
from helpers.displayed import Displayed

from saltus.notebook import html

ODD = 'a < b & "c"\n<script>&amp;'


def test_text_is_shown_as_it_stands():
    found = Displayed(html.facts({ODD: ODD}))
    assert found.rows == [[ODD, ODD]] and "script" not in found.tags
    found = Displayed(html.table([ODD], [[ODD]], [ODD]))
    assert found.rows == [[ODD]] * 3 and "script" not in found.tags
    for piece in (html.title(ODD, ODD), html.folded(ODD, html.note(ODD)), html.image(b"", 1, ODD)):
        assert "script" not in Displayed(piece.replace('src="data:image/png;base64,"', "").replace("<img", "<hr")).tags


def test_what_is_html_already_stays():
    assert html.escaped(html.note("x")) == html.note("x")
    assert Displayed(html.facts({"a": html.folded("b", html.note("c"))})).rows == [["a", "bc"]]


@pytest.mark.parametrize("more", [0, 1, 7])
def test_of_many_rows_the_first_are_shown(more):
    rows = [[str(k)] for k in range(html.ROWS + more)]
    found = Displayed(html.table(["k"], rows)).rows
    assert found == [["k"], *rows[: html.ROWS], *([[f"and {more} more"]] if more else [])]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", "-2.5", "1e-3", "nan", "-"], True),
        (["1 rad", "0.5 N m s/rad", ""], True),
        (["0 to 1 rad"], True),
        (["0, -1, 0"], True),
        (["5.3 0 0"], True),
        (["1/2", "-3/4"], True),
        (["2", "two"], False),
        (["x1"], False),
        (["", ""], False),
        (["3 <b>"], False),
    ],
)
def test_columns_of_numbers_are_at_the_right(cells, numbers):
    text = html.table(["name", "k"], [["a", cell] for cell in cells])
    assert text.count('class="number"') == (len(cells) + 1 if numbers else 0)


def test_columns_without_content_are_left_out():
    assert Displayed(html.table(["a", "b", "c"], [["1", "", "2"], ["3", "", "4"]])).rows[0] == ["a", "c"]
    assert Displayed(html.table(["a", "b"], [])).rows == [["a", "b"]]


def test_long_tables_are_folded():
    short, long = ([[str(k)] for k in range(n)] for n in (html.FOLDED, html.FOLDED + 1))
    assert "<details open>" in html.folded_table("k", ["k"], short)
    assert "<details>" in html.folded_table("k", ["k"], long)
    assert html.folded_table("k", ["k"], []) == ""


def test_a_part_that_fails_says_why():
    found = Displayed(html.attempt("picture", lambda: 1 / 0))
    assert found.text == "no picture: ZeroDivisionError: division by zero"
    with pytest.raises(KeyboardInterrupt):
        html.attempt("picture", lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def test_histograms_have_the_counts_as_heights():
    values = np.random.default_rng(1).normal(size=500)
    counts, _ = np.histogram(values, html.BINS)
    heights = [float(h) for h in re.findall(r' height="([\d.]+)"></rect>', html.histogram([*values, np.nan]))]
    # written with one decimal
    np.testing.assert_allclose(heights, 18 * counts[counts > 0] / counts.max(), atol=0.05 + 1e-9)
    assert html.histogram([1.0, 1.0]) == "" == html.histogram([np.nan])


def test_colours_are_those_of_the_page():
    """Only greys that can be seen on white and on black, and the colour of the text around."""
    colours = re.findall(r"(?:color|background|border|border-bottom):([^;}]*)", html.STYLE)
    assert colours and all(re.search(r"inherit|none|rgba\(128,128,128|^0$|collapse", colour) for colour in colours)
    assert all(selector.startswith("div.saltus-display") for selector in re.findall(r"(?:^|}|, )([^{},]+)", html.STYLE))
