"""What is written to a batch is in the states of the simulations meant, and in no others.

Law: reading gives the bits that were written, rounded to the batch's precision; a simulation that is set to a state
goes on as one that began there, whatever it did before. Equality is of bits.
"""

import numpy as np
import pytest
from helpers.batches import scene
from numpy.testing import assert_array_equal

import saltus
from saltus.errors import OptionError
from saltus.number.kinds import LANES
from saltus.simulate.batches.fields import STATES

WIDTH = LANES["float64"].width
N = 2 * WIDTH + 3


@pytest.fixture(scope="module")
def model():
    return scene()


def numbers(batch, name, seed=0):
    return np.random.default_rng(seed).normal(size=batch.read(name).shape)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", STATES)
def test_reads_what_was_written(model, name, threads, monkeypatch):
    monkeypatch.setattr("saltus.simulate.engine.batch.states.WORTH_A_THREAD", 0.0)
    batch = saltus.Batch(model, N, threads=threads)
    values = numbers(batch, name)
    before = {other: batch.read(other) for other in STATES}
    batch.write(name, values)
    assert_array_equal(batch.read(name), values)
    for other in {*STATES} - {name, "qacc_warmstart"}:
        assert_array_equal(batch.read(other), before[other])
    # from columns of single precision, backwards
    room = np.repeat(values.astype(np.float32)[..., None], 3, -1)[::-1, ..., 1]
    batch.write(name, room)
    assert_array_equal(batch.read(name), values.astype(np.float32)[::-1])


def test_some_simulations(model):
    batch = saltus.Batch(model, N, threads=1)
    values = batch.qpos
    ids = [N - 1, 0, WIDTH]
    rows = numbers(batch, "qpos")[:3]
    batch.write("qpos", rows, ids)
    values[ids] = rows
    assert_array_equal(batch.qpos, values)
    mask = np.arange(N) % 2 == 1
    batch.write("qpos", rows[0], mask)
    values[mask] = rows[0]
    assert_array_equal(batch.qpos, values)
    batch.write("time", 1.0 / 3.0, ids)
    assert_array_equal(batch.time, np.where(np.isin(np.arange(N), ids), 1.0 / 3.0, 0.0))
    batch.write("ctrl", np.zeros((0, 4)), [])


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [None, "dopri5"])
def test_what_integrators_remember_is_forgotten(model, integrator):
    """Of the simulations that are set, and of no others."""
    used, fresh, other = (saltus.Batch(model, 3, threads=1, integrator=integrator) for _ in range(3))
    start = fresh.qpos, fresh.qvel, fresh.act
    for batch in (used, other):
        batch.ctrl = 0.3
        batch.step(5)
    for name, values in zip(("qpos", "qvel", "act"), start, strict=True):
        used.write(name, values[:2], [0, 2])
    used.write("time", 0.0, [0, 2])
    fresh.ctrl = 0.3
    for batch in (used, fresh, other):
        batch.step(5)
    for i, wanted in ((0, fresh), (1, other), (2, fresh)):
        assert_array_equal(used.qpos[i], wanted.qpos[i])


@pytest.mark.slow
def test_forces_act_once_they_are_written(model):
    batch, other = (saltus.Batch(model, 3, threads=1) for _ in range(2))
    force = np.zeros((3, batch.model.nv))
    force[1, 0] = 2.0
    batch.write("qfrc_applied", force)
    for each in (batch, other):
        each.step(3)
    assert_array_equal(batch.qvel[[0, 2]], other.qvel[[0, 2]])
    assert batch.qvel[1, 0] > other.qvel[1, 0]


def test_wrong_values(model):
    batch = saltus.Batch(model, 3, threads=1)
    with pytest.raises(OptionError, match=r"qpos has shape \(3, \d+\), not \(2, 1, 1\)"):
        batch.write("qpos", np.zeros((2, 1, 1)))
    with pytest.raises(OptionError, match="did you mean 'qpos'"):
        batch.write("qpso", 0.0)
    with pytest.raises(OptionError, match="unknown field of the state or the inputs 'xpos'"):
        batch.write("xpos", 0.0)
    with pytest.raises(OptionError, match="write: ids must be whole numbers from 0 to 2"):
        batch.write("qpos", 0.0, [3])
