"""Every column has a shape, a type and dimensions that fit each other."""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.record.io.dataset import to_dataset
from saltus.record.recorder import TrajectoryBuilder
from saltus.record.table.columns import COLUMNS, DIMENSIONS, FIXED, LINEAR, Column, row_shapes, tables
from saltus.record.table.interpolate import BETWEEN


def test_shapes_dimensions_and_tables_are_of_the_same_columns():
    """All sizes differ, so that no two columns could be taken for one another."""
    shapes = row_shapes(nq=11, nv=12, na=13, nu=14, ncontact=15, nmocap=16, npoint=17, nactuation=18, nledger=19)
    assert shapes.keys() == DIMENSIONS.keys()
    widths = {}
    for name, table in tables(shapes, 5).items():
        assert table.shape == (5, *shapes[name]) and len(DIMENSIONS[name]) == len(shapes[name])
        for dimension, width in zip(DIMENSIONS[name], shapes[name], strict=True):
            widths.setdefault(dimension, set()).add(width)
    assert widths.pop("contact_name") == {15, 17}  # points are all contacts or none
    assert all(len(found) == 1 for found in widths.values())
    assert widths["axis"] == {3} and widths["quaternion_part"] == {4}


def test_a_row_of_the_table_is_all_that_a_column_needs(monkeypatch, tmp_path):
    """A temperature of each body is recorded, written, read and known at the end; its numbers are the given ones."""
    new = Column("temperature", "temperature", ("body_name",), "nbody", unit="K")
    monkeypatch.setitem(COLUMNS, "temperature", new)
    monkeypatch.setitem(DIMENSIONS, "temperature", new.dimensions)
    builder = TrajectoryBuilder(1, 1, nbody=3)
    for k in range(4):
        builder.append(0.1 * k, [k], [0.0], temperature=[290.0 + k, 291.0, 292.0])
    builder.end(time=0.35, qpos=[4.0], qvel=[0.0], temperature=[295.0, 296.0, 297.0])
    recorded = builder.finish()
    assert recorded.temperature.shape == (4, 3)
    dataset = to_dataset(recorded)
    assert dataset["temperature"].dims == ("time", "body_name") and dataset["temperature"].units == "K"
    for name in ("run.nc", "run.zarr"):
        recorded.save(tmp_path / name)
        found = saltus.Trajectory.load(tmp_path / name)
        np.testing.assert_array_equal(found.temperature[:, 0], [290.0, 291.0, 292.0, 293.0])
        np.testing.assert_array_equal(found.end["temperature"], [295.0, 296.0, 297.0])


def test_columns_that_are_read_between_samples():
    """Numbers move on straight lines, controls and sleep are held, as they were in the run."""
    assert {name for name, way in BETWEEN.items() if way == LINEAR} == {"qvel", "act", "mocap_pos"}
    assert BETWEEN["qpos"] != BETWEEN["ctrl"] == BETWEEN["tree_asleep"]


def test_every_column_has_labels_or_fixed_dimensions():
    for column in COLUMNS.values():
        free = [dimension for dimension in column.dimensions if dimension not in FIXED]
        assert len(free) == bool(column.size) and free == list(column.dimensions[: len(free)])


def test_unknown_columns_and_sizes_are_named():
    """A misspelt column is not dropped, and one that a recording has is not left out."""
    with pytest.raises(OptionError, match="qposs"):
        saltus.Trajectory([0.0], [[0.0]], [[0.0]], qposs=[[0.0]])
    with pytest.raises(OptionError, match="qposs"):
        saltus.Trajectory([0.0], [[0.0]], [[0.0]], end={"qposs": [0.0]})
    with pytest.raises(OptionError, match="nmocaps"):
        row_shapes(nmocaps=1)
    builder = TrajectoryBuilder(1, 1, nmocap=1)
    with pytest.raises(OptionError, match="lacks mocap_pos, mocap_quat"):
        builder.append(0.0, [0.0], [0.0])
    with pytest.raises(OptionError, match="mocap_poss"):
        builder.append(0.0, [0.0], [0.0], mocap_poss=[[0.0, 0.0, 0.0]])
    assert len(builder) == 0


@pytest.mark.parametrize(
    "given",
    [
        {"contact_mode": np.zeros(3)},
        {"contact_mode": np.zeros(3), "contact_force": np.zeros(3), "contact_pos": np.zeros(3)},
        {"contact_mode": np.zeros((5, 0))},
        {"contact_force": 1.0},
    ],
)
def test_contact_points_of_a_wrong_shape_are_named(given):
    with pytest.raises(OptionError, match=f"{next(iter(given))} must have shape"):
        saltus.Trajectory(np.arange(3.0), np.zeros((3, 1)), np.zeros((3, 1)), **given)
