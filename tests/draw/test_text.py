"""Text on a picture."""

import numpy as np

from saltus.draw import text
from saltus.draw.text import write


def blank(height=240, width=320):
    return np.full((height, width, 3), 120, np.uint8)


def changed(line, **size):
    image = blank(**size)
    write(image, line)
    return (image != 120).any(axis=2), image


def test_nothing_to_write_changes_nothing():
    for line in ("", "\n\n", "   "):
        assert not changed(line)[0].any()


def test_lines_are_written_on_a_dark_panel_in_the_corner():
    where, image = changed("t = 1.25 s")
    rows, columns = np.flatnonzero(where.any(axis=1)), np.flatnonzero(where.any(axis=0))
    assert rows.max() < 60 and columns.max() < 200 and rows.min() > 0
    assert image.max() == 255 and image[where].min() < 70
    more = changed("t = 1.25 s\neuler")[0]
    assert more.sum() > 1.4 * where.sum()


def test_letters_differ_and_stay_where_they_are():
    """Digits are equally wide: what follows a number does not move when it changes."""
    first, second = changed("t = 1.23 s  euler")[1], changed("t = 8.88 s  euler")[1]
    assert (first != second).any()
    half = np.flatnonzero((first != second).any(axis=(0, 2))).max()
    assert half < np.flatnonzero((first != 120).any(axis=(0, 2))).max() - 40


def test_what_does_not_fit_is_cut_off():
    for height, width in ((4, 4), (20, 30), (1, 500), (300, 12)):
        image = blank(height, width)
        write(image, "a long line of text\n" * 20)
        assert image.shape == (height, width, 3)


def test_unusual_letters():
    where, _ = changed("θ̈ = −9.81 m/s² \t\x00 ✓")
    assert where.any()


def test_letters_are_drawn_once():
    """A clock that counts in a film costs no font engine: its digits are masks from the first pictures."""
    image = blank(480, 640)
    write(image, "t = 0123456789. s   implicitfast, h = 0.005 s")
    drawn = text._letter.cache_info().misses
    for k in range(30):
        write(image, f"t = {k / 7:.2f} s   implicitfast, h = 0.005 s")
    assert text._letter.cache_info().misses == drawn
