"""Streams of samples with known numbers."""

import numpy as np

from saltus.record.io.stream import Stream
from saltus.record.table.columns import row_shapes

SHAPES = row_shapes(nq=2, nv=2, nu=1, ncontact=3, nmocap=1)
LABELS = {"qpos": ["a", "b"], "qvel": ["a", "b"], "ctrl": ["m"], "contact": ["x", "y", "z"], "mocap": ["hand"]}


def create(path, expected=100, **changes):
    about = {"names": LABELS, "units": {}, "attrs": {"integrator": "rk4", "seed": 2**70}, "model": None}
    return Stream.create(path, SHAPES, expected, **{**about, **changes})


def row(k):
    rng = np.random.default_rng(k)
    values = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    return values | {"time": 0.1 * k, "contact_state": rng.random(3) < 0.5}


def fill(sink, first, last):
    for k in range(first, last):
        sink.append(**row(k))


def commit(sink, **position):
    sink.commit({"next": len(sink), "time": 0.1 * len(sink), **position}, {"state": np.arange(3.0) + len(sink)})


def assert_rows(trajectory, count):
    assert len(trajectory) == len(trajectory.time) == count
    for k in range(count):
        for name, value in row(k).items():
            np.testing.assert_array_equal(getattr(trajectory, name)[k], value)
