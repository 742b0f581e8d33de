"""Counts with their plurals."""

from saltus.terminal import display, screen


def test_counting():
    assert [screen.count(n, "body") for n in (0, 1, 2)] == ["0 bodies", "1 body", "2 bodies"]
    assert screen.count(3, "degree of freedom") == "3 degrees of freedom"
    assert [display.count(n, "joint") for n in (0, 1)] == ["0 joints", "1 joint"]
