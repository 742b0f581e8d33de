"""Marker files. Reference: numbers written by hand in the format's own words."""

import numpy as np
import pytest

from saltus.errors import OptionError, RecordError
from saltus.inverse.kinematics.markers import read_trc

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
