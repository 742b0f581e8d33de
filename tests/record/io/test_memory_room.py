"""Recordings that are too large for memory. Reference: the size of the arrays that NumPy makes for them."""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.record.io import memory_room
from saltus.record.io.memory_room import check_room, free_memory, sample_size
from saltus.record.table.columns import row_shapes, tables


def test_the_size_is_that_of_the_arrays():
    shapes = row_shapes(nq=3, nv=2, nu=1, ncontact=4, npoint=4, nsensordata=5, ntree=2)
    assert sample_size(shapes) * 10 == sum(column.nbytes for column in tables(shapes, 10).values())


def test_free_memory_is_some_of_what_there_is():
    free = free_memory()
    assert free is not None and free > 2**20


def test_half_of_the_memory_is_allowed_for_both_copies(monkeypatch):
    monkeypatch.setattr(memory_room, "free_memory", lambda: 4_000_000)
    check_room(100, 10_000, 0.01, "")
    with pytest.raises(
        OptionError, match=r"2 MB of memory \(10,001 samples of 100 bytes.*at most 50 % of the free 4 MB"
    ):
        check_room(100, 10_001, 0.01, "")
    monkeypatch.setattr(memory_room, "free_memory", lambda: None)
    check_room(100, 10**12, 0.01, "")


def test_a_run_is_refused_before_it_begins_and_goes_to_disk(monkeypatch, tmp_path):
    """The remedies that the error names are accepted: another sampling period, and a store on disk."""
    sim = saltus.Simulation("pendulum")
    size = sample_size(row_shapes(nq=1, nv=1, nu=1))
    monkeypatch.setattr(memory_room, "free_memory", lambda: 4 * 100 * size)
    with pytest.raises(OptionError, match=r"sample=0\.021 or more \(--sample 0\.021\), or record to disk with save="):
        sim.run(2.0, 0.01)
    assert sim.time == 0.0
    assert len(sim.run(2.0, 0.021)) == 96
    sim.reset()
    assert len(sim.run(2.0, 0.01, save=tmp_path / "run.zarr")) == 201


def test_the_command_line_says_so(saltus_command):
    code, out, error = saltus_command("run", "pendulum", "--duration", "1e12", "--sample", "0.001")
    assert code != 0 and "of memory" in out + error and "--save run.zarr" in out + error and "Traceback" not in error


def test_a_batch_counts_all_its_simulations(monkeypatch):
    batch = saltus.Batch("pendulum", 10)
    one = 8 * 4  # time, qpos, qvel, ctrl
    monkeypatch.setattr(memory_room, "free_memory", lambda: 4 * 10 * one * 20)
    steps = 30
    batch.run(10 * batch.timestep)
    batch.reset()
    with pytest.raises(OptionError, match="or fewer simulations"):
        batch.run(steps * batch.timestep)
    assert np.array_equal(batch.time, np.zeros(10))
