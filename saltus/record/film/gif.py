"""GIF films: one palette, each frame only where it differs from the one before.

A GIF counts hundredths of a second. Frame k of n a second is shown from round(100 k/n) to round(100 (k + 1)/n), so that
no frame is ever more than half a hundredth away from its time, and the film's rate is exact in the mean.

Pillow finds the colours and packs the pixels; its own writer of films keeps all frames in memory until the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

HUNDREDTHS = 100


def durations(rate: Fraction, frames: range) -> list[int]:
    """Hundredths of a second for which frames are shown, each at least one."""
    ends = [round(HUNDREDTHS * Fraction(k) / rate) for k in range(frames.start, frames.stop + 1)]
    return [max(b - a, 1) for a, b in pairwise(ends)]


def palette_of(pictures: Sequence[NDArray[np.uint8]]) -> Any:
    """A Pillow image whose palette of 256 colours serves these pictures."""
    from PIL import Image

    strip = Image.fromarray(np.concatenate(list(pictures), axis=0))
    return strip.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


class GifEncoder:
    """Writes frames to a binary file as they come; keeps one frame in memory."""

    def __init__(self, file: Any, rate: Fraction, width: int, height: int, palette: Any = None):
        self._file, self._rate, self._palette = file, rate, palette
        self._size = width, height
        self._before: NDArray[np.uint8] | None = None
        self._count = 0

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Append a frame [height, width, 3]."""
        from PIL import Image

        if self._palette is None:
            self._palette = palette_of([picture])
        image = Image.fromarray(picture).quantize(palette=self._palette, dither=Image.Dither.NONE)
        indices = np.asarray(image)
        if self._before is None:
            self._file.write(self._head())
            box = (0, 0, *self._size)
        else:
            box = _changed(indices, self._before)
        self._before = indices.copy()
        self._write(image.crop(box), box[:2])
        self._count += 1

    def finish(self) -> None:
        """Write the end of the file."""
        self._file.write(b";")

    def _head(self) -> bytes:
        colours = bytes(self._palette.getpalette())[:768].ljust(768, b"\0")
        size = b"".join(n.to_bytes(2, "little") for n in self._size)
        # a global table of 256 colours; played again and again
        return b"GIF89a" + size + b"\xf7\x00\x00" + colours + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"

    def _write(self, image: Any, offset: tuple[int, int]) -> None:
        from PIL import GifImagePlugin

        (shown,) = durations(self._rate, range(self._count, self._count + 1))
        # drawn pixels stay (disposal 1)
        self._file.write(b"\x21\xf9\x04\x04" + shown.to_bytes(2, "little") + b"\x00\x00")
        for part in GifImagePlugin.getdata(image, offset):
            self._file.write(part)


def _changed(now: NDArray[Any], before: NDArray[Any]) -> tuple[int, int, int, int]:
    """Box (left, upper, right, lower) around the changed pixels; one pixel if nothing changed."""
    different = now != before
    rows, columns = np.flatnonzero(different.any(axis=1)), np.flatnonzero(different.any(axis=0))
    if not rows.size:
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
