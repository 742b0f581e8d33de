"""Long texts go out in pieces. Reference: the text, of which nothing is lost and no piece is longer than one may be."""

import pytest

from saltus.lab.serve.client import PIECE, pieces


@pytest.mark.parametrize("length", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_pieces_are_the_whole_text(length):
    text = "".join(chr(97 + k % 23) for k in range(length))
    found = list(pieces(text))
    assert "".join(found) == text and len(found) == -(-length // PIECE) and all(0 < len(p) <= PIECE for p in found)
