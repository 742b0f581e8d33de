"""Columns of a recording go to panels, a unit each. Reference: the recording that is drawn."""

import itertools

import pytest
from helpers.plotted import legend, recorded

pytest.importorskip("matplotlib")


def test_each_unit_has_a_panel():
    names = ["base.x", "base.y", "base.qw", "base.qx", "slide", "hinge"]
    units = ["m", "m", "", "", "m", "rad"]
    t = recorded(nv=6, names={"qpos": names}, units={"qpos": units, "qvel": ["m/s"] * 6})
    shown = {axes.get_ylabel(): legend(axes) for axes in t.plot().axes}
    assert shown["position (m)"] == ["base.x", "base.y", "slide"]
    assert shown["orientation (quaternion)"] == ["base.qw", "base.qx"]
    assert shown["position (rad)"] == ["hinge"]


def test_columns_of_a_joint_stay_together():
    names = [f"{ball}.{axis}" for ball in "abcdefgh" for axis in "xyz"]
    t = recorded(nv=24, names={"qpos": names}, units={"qpos": ["m"] * 24, "qvel": ["m/s"] * 24})
    shown = [legend(axes) for axes in t.plot().axes if axes.get_ylabel() == "position (m)"]
    assert [len(part) for part in shown] == [6, 6, 6, 6] and list(itertools.chain(*shown)) == names
