"""A view is the batch's own memory, and what is written there counts as if it had been assigned.

Law: reading a field gives what its view holds, simulation i in place i // width, i % width; steps after writing into
views are, bit for bit, those after `write`.
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


def flat(view, n):
    return view.reshape(view.shape[0] * view.shape[1], *view.shape[2:])[:n]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_sees_the_memory(model, precision):
    batch = saltus.Batch(model, N, threads=1, precision=precision)
    width = LANES[precision].width
    for k, name in enumerate(STATES):
        view = batch.view(name)
        batch.write(name, np.random.default_rng(k).normal(size=batch.read(name).shape))
        assert view.shape[:2] == (-(-N // width), width)
        assert_array_equal(flat(view, N), batch.read(name))
        assert np.shares_memory(view, batch.lanes.states) or name == "time" or not view.size


def test_follows_steps(model):
    batch = saltus.Batch(model, N, threads=1)
    view = batch.view("qpos")
    batch.step(3)
    assert_array_equal(flat(view, N), batch.qpos)


@pytest.mark.parametrize("integrator", [None, pytest.param("dopri5", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["qpos", "qvel", "act", "time", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos"])
def test_writing_is_noticed(model, name, integrator):
    """By steps and by what is computed, in the simulations that were changed."""
    seen, written = (saltus.Batch(model, N, threads=1, integrator=integrator) for _ in range(2))
    view = seen.view(name)
    for batch in (seen, written):
        batch.ctrl = 0.2
        batch.step(4)
    values = batch.read(name) + 0.01
    view[0, 1], view[1, 0] = values[1], values[WIDTH]
    written.write(name, values[[1, WIDTH]], [1, WIDTH])
    for field in ("qacc", "sensordata"):
        assert_array_equal(seen.read(field), written.read(field))
    for batch in (seen, written):
        batch.step(4)
    assert_array_equal(seen.lanes.states, written.lanes.states)
    assert_array_equal(seen.time, written.time)


def test_a_written_state_is_kept_whole(model):
    """Writing after a view was taken does not make the batch forget what is written next."""
    batch = saltus.Batch(model, N, threads=1)
    batch.view("qpos")
    batch.step(2)
    kept = {name: batch.read(name) for name in STATES}
    batch.reset()
    for name, values in kept.items():
        batch.write(name, values)
    batch.write("qacc_warmstart", kept["qacc_warmstart"])
    batch.step(0)
    assert_array_equal(batch.read("qacc_warmstart"), kept["qacc_warmstart"])


def test_other_libraries_see_it(model):
    """By DLPack, strides and all."""
    batch = saltus.Batch(model, N, threads=1)
    view = batch.view("qpos")
    other = np.from_dlpack(view)
    batch.qpos = np.random.default_rng(0).normal(size=(N, model.nq))
    assert_array_equal(other, view)
    assert np.shares_memory(other, view)
    torch = pytest.importorskip("torch")
    tensor = torch.from_dlpack(view)
    tensor[0, 0, 0] = 5.0
    assert batch.qpos[0, 0] == 5.0


def test_copies_are_apart(model):
    """A batch that was copied has memory of its own."""
    import copy

    batch = saltus.Batch(model, 3, threads=1)
    view = batch.view("qpos")
    other = copy.copy(batch)
    view[...] = 7.0
    assert_array_equal(batch.qpos, 7.0)
    assert not np.any(other.qpos == 7.0)


def test_wrong_names(model):
    with pytest.raises(OptionError, match="unknown field of the state or the inputs 'xpos'"):
        saltus.Batch(model, 3, threads=1).view("xpos")
