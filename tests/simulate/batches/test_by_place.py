"""Arguments of a batch by place: those of `saltus.Simulation` after the number, or threads and precision first.

Reference: the same batch with its arguments by name.
"""

import copy

import pytest
from numpy.testing import assert_array_equal

import saltus


def moved(batch):
    batch.qpos = 0.3
    batch.step(5)
    return batch.qpos


def test_the_places_of_a_simulation():
    named = saltus.Batch("pendulum", 3, integrator="rk4", contact="soft", timestep=0.02, threads=1)
    batch = saltus.Batch("pendulum", 3, "rk4", "soft", 0.02, threads=1)
    single = saltus.Simulation("pendulum", "rk4", "soft", 0.02)
    single.qpos = 0.3
    single.step(5)
    assert (batch.integrator.name, batch.timestep, batch.threads) == ("rk4", 0.02, 1)
    assert_array_equal(moved(batch), moved(named))
    assert_array_equal(moved(copy.copy(batch))[0], moved(named)[0])
    assert batch.qpos[0, 0] == pytest.approx(single.qpos[0], abs=1e-12)
    assert saltus.Batch("pendulum", 2, "rk4", precision="float32").precision == "float32"


def test_threads_and_precision_first():
    batch = saltus.Batch("pendulum", 3, 1, "float32", "rk4", 0.02)
    assert (batch.threads, batch.precision, batch.integrator.name, batch.timestep) == (1, "float32", "rk4", 0.02)
    assert saltus.Batch("pendulum", 3, None, "float32").precision == "float32"


@pytest.mark.parametrize(
    ("given", "named", "text"),
    [
        (("rk4",), {"integrator": "euler"}, "integrator is given twice"),
        (("rk4", "soft", 0.01, 4), {}, "integrator, contact, timestep by place"),
        ((1, "float64", "rk4", 0.01, "soft"), {}, "threads, precision, integrator, timestep by place"),
        (("rk5",), {}, "did you mean 'rk4'"),
        ((1, "float64"), {"precision": "float32"}, "precision is given twice"),
    ],
)
def test_mistakes_are_named(given, named, text):
    with pytest.raises(saltus.OptionError, match=text):
        saltus.Batch("pendulum", 2, *given, **named)
