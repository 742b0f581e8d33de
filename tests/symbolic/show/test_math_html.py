"""Texts with formulas as HTML. Reference: the standard parser of XML, which reads them back."""

from xml.etree import ElementTree

from saltus.symbolic.show import math_html


def parsed(html):
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_text_is_escaped_and_formulas_are_math():
    found = parsed(math_html.inline(r"1 < 2 & $x < y$, then $$\dot{q}^2$$ <b>"))
    assert found.text == "1 < 2 & " and [tail for e in found if (tail := e.tail)] == [", then ", " <b>"]
    inline, display = found
    assert inline.tag.endswith("math") and display.get("class") == "formula" and display[0].tag.endswith("math")


def test_what_mathml_is_not_known_for_is_shown_as_latex():
    found = parsed(math_html.inline(r"$\nosuchcommand{x} < 1$"))
    assert found[0].tag == "code" and found[0].text == r"\nosuchcommand{x} < 1"


def test_paragraphs_and_tables():
    first, second = parsed(math_html.paragraphs("one\n\n\n\n$$x$$"))
    assert first.tag == "p" and first.text == "one" and second.get("class") == "formula"
    table = parsed(math_html.table_html((("a", "b"), (("1", "<"), ("$x$", ""))))).find("div/table")
    assert [len(row) for row in table.iter("tr")] == [2, 2, 2] and table.find("tbody/tr/td[2]").text == "<"
    assert math_html.formula("") == ""
