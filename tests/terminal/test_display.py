"""Counts with their plurals, and tables in HTML. Reference: the standard parser of HTML reads back what was put in."""

from html.parser import HTMLParser

import pytest

from saltus.terminal import display, screen


def test_counting():
    assert [screen.count(n, "body") for n in (0, 1, 2)] == ["0 bodies", "1 body", "2 bodies"]
    assert screen.count(3, "degree of freedom") == "3 degrees of freedom"


class Cells(HTMLParser):
    """The text of a table's cells, as the parser of the standard library reads it."""

    def __init__(self, html):
        super().__init__()
        self.found, self.tags = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th", "caption"):
            self.found.append("")
        elif tag == "br":
            self.found[-1] += "\n"

    def handle_data(self, data):
        self.found[-1] += data


def test_text_is_shown_as_it_stands():
    odd = 'a < b & "c"\n<script>&amp;'
    assert Cells(display.facts_html(odd, {odd: odd})).found == [odd, odd, odd]
    table = Cells(display.table_html("", [odd], [[odd]], [odd]))
    assert table.found == [odd] * 3 and "caption" not in table.tags and "script" not in table.tags


@pytest.mark.parametrize("more", [0, 1, 7])
def test_of_many_rows_the_first_are_shown(more):
    rows = [[str(k)] for k in range(display.SHOWN + more)]
    found = Cells(display.first_rows_html("t", ["k"], rows)).found
    assert found == ["t", "k", *(str(k) for k in range(display.SHOWN)), *([f"and {more} more"] if more else [])]
