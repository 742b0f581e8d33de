"""Marker files. Reference: numbers written by hand in the format's own words, and files of the package c3d's writer.

The .c3d bytes are those of its specification (c3d.org): blocks of 512 bytes, a header, a block of parameters, then
frames of four numbers a point, the last below 0 for one that was not seen.
"""

import builtins
import struct

import numpy as np
import pytest

from saltus.errors import OptionError, RecordError
from saltus.inverse.kinematics.markers import read_c3d, read_trc

TEXT = """PathFileType\t4\t(X/Y/Z)\twalk.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100\t100\t3\t2\tmm\t100\t1\t3
Frame#\tTime\tknee\t\t\tankle\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

1\t0.00\t100\t200\t300\t10\t20\t30
2\t0.01\t101\t201\t301\t\t\t
3\t0.02\t102\t202\t302\t12\t22\t32
"""


def test_markers_are_in_metres_with_gaps(tmp_path):
    path = tmp_path / "walk.trc"
    path.write_text(TEXT)
    time, positions = read_trc(path)
    np.testing.assert_allclose(time, [0, 0.01, 0.02])
    np.testing.assert_allclose(positions["knee"], np.array([[100, 200, 300], [101, 201, 301], [102, 202, 302]]) / 1000)
    np.testing.assert_allclose(positions["ankle"][[0, 2]], np.array([[10, 20, 30], [12, 22, 32]]) / 1000)
    assert np.isnan(positions["ankle"][1]).all()
    # a right-handed turn about x: y becomes z
    turned = read_trc(path, up="y").positions["knee"][0]
    np.testing.assert_allclose(turned, [0.1, -0.3, 0.2])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not the .trc format"),
        (TEXT.replace("\tmm\t", "\tfurlong\t"), "furlong"),
        (TEXT.replace("201", "x"), "'x'"),
    ],
)
def test_what_is_no_marker_file_is_refused(tmp_path, text, says):
    path = tmp_path / "walk.trc"
    path.write_text(text)
    with pytest.raises(RecordError, match=says):
        read_trc(path)
    with pytest.raises(RecordError, match="cannot read marker file"):
        read_trc(tmp_path / "none.trc")
    with pytest.raises(OptionError, match="up must be"):
        read_trc(path, up="x")


def parameter(name, group, data):
    """A parameter of a group: its name, the offset to the next one, and typed data; no description."""
    return struct.pack("<bb", len(name), group) + name.encode() + struct.pack("<H", 3 + len(data)) + data + b"\0"


def texts(*values):
    """Texts of one length, as data of a parameter."""
    width = max(map(len, values))
    padded = "".join(value.ljust(width) for value in values).encode()
    return struct.pack("<bBBB", -1, 2, width, len(values)) + padded


def c3d_bytes(frames, labels=("knee", "ankle"), unit="mm", first=11, rate=50.0, scale=-1.0):
    """A file for Intel's processors: frames [T, points, 4] as real numbers for a negative scale, else as integers."""
    count, points = len(frames), len(frames[0])
    parts = [b"\x01P", struct.pack("<BB", 1, 84), struct.pack("<bb", 5, -1) + b"POINT" + struct.pack("<Hb", 3, 0)]
    parts += [
        parameter("USED", 1, struct.pack("<bBh", 2, 0, points)),
        parameter("SCALE", 1, struct.pack("<bBf", 4, 0, scale)),
        parameter("RATE", 1, struct.pack("<bBf", 4, 0, rate)),
        parameter("DATA_START", 1, struct.pack("<bBh", 2, 0, 3)),
        parameter("FRAMES", 1, struct.pack("<bBh", 2, 0, count)),
        parameter("LABELS", 1, texts(*labels)),
        parameter("UNITS", 1, texts(unit)) if unit else b"",
        struct.pack("<bb", 0, 0),
    ]
    header = struct.pack("<BBHHHHHfHHf", 2, 80, points, 0, first, first + count - 1, 10, scale, 3, 0, rate)
    data = np.array(frames).astype("<f4" if scale < 0 else "<i2").tobytes()
    blocks = (header, b"".join(parts), data)
    return b"".join(block + bytes(-len(block) % 512) for block in blocks)


FRAMES = [
    [[100, 200, 300, 0], [10, 20, 30, 0]],
    [[101, 201, 301, 0], [0, 0, 0, -1]],
    [[102, 202, 302, 1], [12, 22, 32, 0]],
]


@pytest.mark.parametrize("scale", [-1.0, 0.5])
def test_bytes_of_the_published_format_are_read(tmp_path, scale):
    """The first frame is number 11, at 50 Hz; integers count in units of the scale."""
    pytest.importorskip("c3d")
    path = tmp_path / "walk.c3d"
    path.write_bytes(c3d_bytes(FRAMES, scale=scale))
    time, positions = read_c3d(path)
    np.testing.assert_allclose(time, [0.2, 0.22, 0.24], rtol=1e-12)
    unit = 0.001 * max(scale, 0.5 if scale > 0 else 1.0)
    np.testing.assert_allclose(positions["knee"], unit * np.array(FRAMES)[:, 0, :3], rtol=1e-6)
    np.testing.assert_allclose(positions["ankle"][[0, 2]], unit * np.array(FRAMES)[[0, 2], 1, :3], rtol=1e-6)
    assert np.isnan(positions["ankle"][1]).all() and list(positions) == ["knee", "ankle"]
    turned = read_c3d(path, up="y").positions["knee"][0]
    np.testing.assert_allclose(turned, unit * np.array([100, -300, 200]), rtol=1e-6)
    path.write_bytes(c3d_bytes(FRAMES, unit="m"))
    np.testing.assert_allclose(read_c3d(path).positions["knee"][0], [100, 200, 300])


@pytest.mark.filterwarnings("ignore:No analog data")
def test_files_of_another_writer_are_read(tmp_path):
    c3d = pytest.importorskip("c3d")
    writer = c3d.Writer(point_rate=200.0)
    writer.set_point_labels(["hip", "knee", "toe"])
    writer.point_group.add_str("UNITS", "length", "cm", 2)
    places = np.random.default_rng(0).normal(size=(7, 3, 3))
    frames = [np.hstack([frame, np.zeros((3, 2))]).astype(np.float32) for frame in places]
    writer.add_frames([(frame, np.zeros((0, 0))) for frame in frames])
    with open(tmp_path / "run.c3d", "wb") as stream:
        writer.write(stream)
    time, positions = read_c3d(tmp_path / "run.c3d")
    np.testing.assert_allclose(time, np.arange(7) / 200)
    for k, name in enumerate(["hip", "knee", "toe"]):
        np.testing.assert_allclose(positions[name], 0.01 * places[:, k], rtol=1e-6)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not the .c3d format"),
        (b"hello" * 300, "not the .c3d format"),
        (c3d_bytes(FRAMES)[:700], "not the .c3d format"),
        (c3d_bytes(FRAMES)[:1056], "it holds 1 of 3 frames"),
        (c3d_bytes(FRAMES, unit="furlong"), "its unit 'furlong' is none of m, cm, mm"),
        (c3d_bytes(FRAMES, unit=""), "it has no parameter POINT:UNITS"),
        (c3d_bytes(FRAMES, labels=("knee",)), "it names 1 of 2 points"),
        (c3d_bytes(FRAMES, labels=("knee", "knee")), "two markers 'knee'"),
    ],
)
def test_what_is_no_c3d_file_is_refused(tmp_path, content, says):
    pytest.importorskip("c3d")
    path = tmp_path / "walk.c3d"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=says):
        read_c3d(path)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    path = tmp_path / "walk.c3d"
    path.write_bytes(c3d_bytes(FRAMES))
    found = builtins.__import__

    def without_c3d(name, *rest, **named):
        if name == "c3d":
            raise ImportError(name)
        return found(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_c3d)
    with pytest.raises(ImportError, match=r"pip install 'saltus\[c3d\]'"):
        read_c3d(path)
    with pytest.raises(RecordError, match="cannot read marker file"):
        read_c3d(tmp_path / "none.c3d")
