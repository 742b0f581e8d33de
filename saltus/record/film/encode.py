"""Video encoding: MP4 and WebM by PyAV, GIF by Pillow. An encoder takes pictures and writes to a path or a buffer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError

#: Suffix, and the frames a second that are taken where none are asked for. Browsers show frames of a GIF that are
#: shorter than 0.02 s for 0.1 s.
DEFAULT_RATE = {".mp4": 60, ".webm": 60, ".gif": 50}
MIME = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}


class Encoder(Protocol):
    """Takes pictures [height, width, 3] of bytes, in order."""

    def add(self, picture: NDArray[np.uint8]) -> None: ...


def film_suffix(path: str | os.PathLike[str]) -> str:
    """Suffix of a film's file; OptionError for one that is not a film's."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in DEFAULT_RATE:
        raise OptionError(f"the suffix of a video must be one of {', '.join(DEFAULT_RATE)}, got '{os.fspath(path)}'")
    return suffix


def check_size(suffix: str, width: int, height: int) -> None:
    """Raise OptionError for sizes that the format cannot have."""
    if suffix != ".gif" and (width % 2 or height % 2):
        raise OptionError(f"width and height of a {suffix} video must be even, got {width} x {height}")
    if suffix != ".gif" and (width < 16 or height < 16):
        raise OptionError(f"width and height of a {suffix} video must be at least 16, got {width} x {height}")


@contextmanager
def encoder(
    target: Any, suffix: str, rate: Fraction, width: int, height: int, palette: Any = None
) -> Iterator[Encoder]:
    """An encoder that writes to a path or a binary file; complete when left.

    `palette`: of a GIF, a picture whose colours are those of all frames.
    """
    check_size(suffix, width, height)
    if suffix == ".gif":
        from saltus.record.film.gif import GifEncoder

        with open(target, "wb") if isinstance(target, str) else _kept_open(target) as file:
            gif = GifEncoder(file, rate, width, height, palette)
            yield gif
            gif.finish()
    else:
        with _av_encoder(target, suffix, rate, width, height) as film:
            yield film


@contextmanager
def _kept_open(file: Any) -> Iterator[Any]:
    yield file


# H.264 at constant quality; the colours that players expect of such a film (BT.709, limited range)
_H264 = ("libx264", {"preset": "veryfast", "crf": "17"})
_VP9 = ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "crf": "30", "b": "0", "row-mt": "1"})


@contextmanager
def _av_encoder(target: Any, suffix: str, rate: Fraction, width: int, height: int) -> Iterator[Encoder]:
    import av

    kind, (codec, options) = ("mp4", _H264) if suffix == ".mp4" else ("webm", _VP9)
    # the index goes to the front of the file, so that a browser can begin at once
    settings = {"movflags": "+faststart"} if kind == "mp4" and isinstance(target, str) else {}
    with av.open(target, "w", format=kind, options=settings) as container:
        stream: Any = container.add_stream(codec, rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        # a tick is a frame: MP4 holds these times exactly, WebM rounds them to milliseconds
        stream.time_base = stream.codec_context.time_base = 1 / rate
        context = stream.codec_context
        context.color_range, context.colorspace, context.color_primaries, context.color_trc = 1, 1, 1, 1
        context.thread_type = "AUTO"
        film = _AvEncoder(container, stream, rate)
        yield film
        film.finish()


class _AvEncoder:
    def __init__(self, container: Any, stream: Any, rate: Fraction):
        from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

        self._colours = {"dst_colorspace": Colorspace.ITU709, "dst_color_range": ColorRange.MPEG}
        self._container, self._stream, self._rate, self._count = container, stream, rate, 0
        self._reformatter = VideoReformatter()

    def add(self, picture: NDArray[np.uint8]) -> None:
        import av

        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame = self._reformatter.reformat(frame, format="yuv420p", **self._colours)
        frame.pts, frame.time_base = self._count, 1 / self._rate
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        self._container.mux(self._stream.encode(None))
