"""Films as files, read back by PyAV: how many frames, when, how large, and in which colours."""

import io
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltus.errors import OptionError
from saltus.record.film.encode import encoder, film_suffix

av = pytest.importorskip("av")

PURE = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "red": (200, 30, 30),
    "green": (20, 160, 60),
    "blue": (30, 60, 220),
}


def encoded(path, pictures, rate, suffix=None):
    height, width, _ = pictures[0].shape
    with encoder(path, suffix or path[path.rindex(".") :], Fraction(rate), width, height) as output:
        for picture in pictures:
            output.add(picture)
    return path


def decoded(path):
    """Times (s) and pictures of a film, with what its stream says of itself."""
    with av.open(path) as container:
        stream = container.streams.video[0]
        frames = [(Fraction(f.pts) * f.time_base, f.to_ndarray(format="rgb24")) for f in container.decode(stream)]
        about = {"rate": stream.average_rate, "format": stream.codec_context.pix_fmt, "codec": stream.codec.name}
    return [t for t, _ in frames], [picture for _, picture in frames], about


def plain(colour, size=(48, 64)):
    return np.full((*size, 3), colour, np.uint8)


@pytest.mark.parametrize("rate", [60, 24, 25, Fraction(30000, 1001), 1000, Fraction(1, 2)])
def test_mp4_has_exact_times(tmp_path, rate):
    times, pictures, about = decoded(
        encoded(str(tmp_path / "f.mp4"), [plain((k, k, k)) for k in range(0, 200, 20)], rate)
    )
    assert times == [Fraction(k) / Fraction(rate) for k in range(10)]
    assert about["rate"] == rate and about["format"] == "yuv420p" and about["codec"] == "h264"
    assert pictures[0].shape == (48, 64, 3)


def test_webm_has_times_to_the_millisecond(tmp_path):
    times, pictures, about = decoded(
        encoded(str(tmp_path / "f.webm"), [plain((k, k, k)) for k in range(0, 200, 20)], 60)
    )
    assert_allclose([float(t) for t in times], np.arange(10) / 60, rtol=0, atol=0.5e-3 + 1e-12)
    assert about["codec"] == "vp9" and pictures[0].shape == (48, 64, 3)


@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
@pytest.mark.parametrize("name", PURE)
def test_colours_are_kept(tmp_path, suffix, name):
    """To the rounding of limited range (219 steps) and the quantiser."""
    _, pictures, _ = decoded(encoded(str(tmp_path / f"f{suffix}"), [plain(PURE[name])] * 3, 30))
    assert np.abs(pictures[1].astype(int) - PURE[name]).max() <= 6


def test_into_memory():
    buffer = io.BytesIO()
    with encoder(buffer, ".mp4", Fraction(30), 64, 48) as output:
        for k in range(5):
            output.add(plain((k, k, k)))
    buffer.seek(0)
    assert len(decoded(buffer)[0]) == 5


@pytest.mark.parametrize(("width", "height"), [(63, 48), (64, 47), (8, 8)])
def test_sizes_that_a_film_cannot_have(tmp_path, width, height):
    for suffix in (".mp4", ".webm"):
        with pytest.raises(OptionError, match=f"{width} x {height}"), encoder("f", suffix, Fraction(30), width, height):
            pass


def test_suffixes():
    assert film_suffix("a/B.MP4") == ".mp4" and film_suffix("x.gif") == ".gif"
    for name in ("film", "film.mov", "film.mp4.txt"):
        with pytest.raises(OptionError, match=r"\.mp4, \.webm, \.gif"):
            film_suffix(name)
