"""Sweeps as datasets. Law: what is selected by values is the measure of the run with these values."""

import itertools

import numpy as np

from saltus.record.sweep import Sweep


def swept(points, **more):
    paths = tuple(points[0])
    values = np.array([[10 * sum(map(float, point.values())) for point in points], np.arange(len(points))]).T
    count = len(points)
    about = dict(title="t", paths=paths, measures=("height", "number"), units=("m", ""))
    return Sweep(**about, points=points, values=values, status=["done"] * count, notes=[""] * count, **more)


def test_all_combinations_are_a_grid():
    points = [{"a": a, "b": b} for a, b in itertools.product([3.0, 1.0], [0.5, 0.25, 0.125])]
    dataset = swept(points).to_xarray()
    assert dataset.height.dims == ("a", "b") and dataset.height.units == "m"
    for k, point in enumerate(points):
        assert dataset.height.sel(point) == 10 * (point["a"] + point["b"]) and dataset.number.sel(point) == k
    assert (dataset.status == "done").all()


def test_other_runs_lie_in_a_row():
    points = [{"a": 1.0, "b": 2.0}, {"a": 1.5, "b": 2.0}, {"a": 1.0, "b": 3.0}]
    dataset = swept(points).to_xarray()
    assert dataset.height.dims == ("run",)
    np.testing.assert_array_equal(dataset.a, [1.0, 1.5, 1.0])
    named = swept(points, cases=("x", "y", "z")).to_xarray()
    assert list(named.case.values) == ["x", "y", "z"] and named.number.dims == ("run",)
