"""GIF films, read back by Pillow: frames, durations in hundredths of a second, pixels."""

import io
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

from saltus.record.film.gif import GifEncoder, durations, palette_of

COLOURS = np.array([(230, 230, 230), (200, 30, 30), (20, 160, 60), (30, 60, 220)], np.uint8)


def frames(count=12, size=(20, 31)):
    """A square that walks over the picture, in four colours; the last two frames are equal."""
    pictures = []
    for k in range(count):
        picture = np.empty((*size, 3), np.uint8)
        picture[:] = COLOURS[0]
        at = min(k, count - 2)
        picture[3 : 3 + at % 5 + 2, at : at + 4] = COLOURS[1 + at % 3]
        pictures.append(picture)
    return pictures


def written(pictures, rate, palette=None):
    buffer = io.BytesIO()
    height, width, _ = pictures[0].shape
    gif = GifEncoder(buffer, Fraction(rate), width, height, palette)
    for picture in pictures:
        gif.add(picture)
    gif.finish()
    return Image.open(buffer)


def read(image):
    shown, pictures = [], []
    for k in range(image.n_frames):
        image.seek(k)
        shown.append(image.info["duration"])
        pictures.append(np.asarray(image.convert("RGB")))
    return shown, pictures


def test_pixels_are_those_of_the_frames():
    """Four colours fit any palette: each frame comes back as it was, although only what changed is stored."""
    pictures = frames()
    _, found = read(written(pictures, 50, palette_of(pictures)))
    assert len(found) == len(pictures)
    for a, b in zip(found, pictures, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rate", [50, 60, 30, 24, 25, 100, Fraction(30000, 1001), 7, Fraction(1, 3)])
def test_durations_are_exact_in_the_mean(rate):
    """No frame begins more than half a hundredth from its time, however long the film."""
    shown = durations(Fraction(rate), range(1000))
    begins = np.concatenate([[0], np.cumsum(shown)])
    exact = np.array([float(100 * Fraction(k) / Fraction(rate)) for k in range(1001)])
    assert np.abs(begins - exact).max() <= 0.5 and min(shown) >= 1


def test_durations_in_the_file():
    shown, _ = read(written(frames(), 30))
    assert shown == [10 * d for d in durations(Fraction(30), range(12))] and sum(shown) == 400


def test_it_plays_again_and_again():
    assert written(frames(), 30).info["loop"] == 0


def test_what_does_not_change_takes_no_room():
    busy, still = (io.BytesIO() for _ in range(2))
    noise = np.random.default_rng(0).integers(0, 255, (20, 100, 100, 3)).astype(np.uint8)
    for buffer, pictures in ((busy, noise), (still, [noise[0]] * 20)):
        gif = GifEncoder(buffer, Fraction(30), 100, 100)
        for picture in pictures:
            gif.add(picture)
        gif.finish()
    assert len(still.getvalue()) < len(busy.getvalue()) / 10
    assert Image.open(still).n_frames == 20
