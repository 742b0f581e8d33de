"""Lines of text on a picture: white on a dark, translucent panel in the upper left corner."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FONT = ("matplotlib", "mpl-data/fonts/ttf/DejaVuSans.ttf")  # part of Matplotlib, a dependency of Saltus
SMALLEST = 11  # smallest font size, pixels
SHARE = 1 / 30  # font size as a fraction of the picture's height
PANEL, OPACITY = np.array([22.0, 27.0, 34.0], np.float32), 0.62
INK = np.float32(255.0)


def write(image: NDArray[np.uint8], text: str) -> None:
    """Write lines of text on an image [height, width, 3]; text that does not fit is cut off."""
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        return
    size = max(SMALLEST, round(image.shape[0] * SHARE))
    masks = [_line(line, size) for line in lines]
    pad = round(0.6 * size)
    height = sum(len(mask) for mask in masks) + 2 * pad - round(0.2 * size)
    width = max(mask.shape[1] for mask in masks) + 2 * pad
    margin = round(0.7 * size)
    place = image[margin : margin + height, margin : margin + width]
    ink = np.zeros((height, width), np.float32)
    top = pad
    for mask in masks:
        ink[top : top + len(mask), pad : pad + mask.shape[1]] = mask[: height - top]
        top += len(mask)
    ink = ink[: place.shape[0], : place.shape[1], None]
    shade = _panel(height, width, round(0.45 * size))[: place.shape[0], : place.shape[1], None]
    dark = place + (PANEL - place) * shade
    place[...] = dark + (INK - dark) * ink + np.float32(0.5)


@functools.lru_cache(maxsize=64)
def _panel(height: int, width: int, radius: int) -> NDArray[np.float32]:
    """Opacity [height, width] of a rectangle with rounded corners."""
    y, x = np.ogrid[:height, :width]
    dx = np.maximum(np.abs(x + 0.5 - width / 2) - (width / 2 - radius), 0.0)
    dy = np.maximum(np.abs(y + 0.5 - height / 2) - (height / 2 - radius), 0.0)
    return (np.clip(radius + 0.5 - np.hypot(dx, dy), 0.0, 1.0) * OPACITY).astype(np.float32)


def _line(line: str, size: int) -> NDArray[np.float32]:
    """Coverage [height, width] of a line: the masks of its letters side by side."""
    letters = [_letter(c, size) for c in line] or [_letter(" ", size)]
    return np.concatenate(letters, axis=1)


@functools.lru_cache(maxsize=4096)
def _letter(letter: str, size: int) -> NDArray[np.float32]:
    """Coverage [height, advance] of a letter, from 0 to 1; unprintable ones are blanks."""
    from PIL import Image, ImageDraw

    font = _font(size)
    advance = max(1, round(font.getlength(letter if letter.isprintable() else " ")))
    image = Image.new("L", (advance, round(1.35 * size)))
    if letter.isprintable():
        ImageDraw.Draw(image).text((0, 0), letter, fill=255, font=font)
    return np.asarray(image, np.float32) / np.float32(255.0)


@functools.cache
def _font(size: int):
    """DejaVu Sans, or Pillow's default font if that is not found."""
    from PIL import ImageFont

    package, path = FONT
    spec = importlib.util.find_spec(package)
    file = Path(spec.origin).parent / path if spec and spec.origin else None
    if file is not None and file.exists():
        return ImageFont.truetype(str(file), size)
    return ImageFont.load_default(size)
