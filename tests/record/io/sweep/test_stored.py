"""The store of a sweep says what was written, or is refused, whatever became of its files.

Charter. Reference: the rows and values that were written, kept in memory. Damage is drawn with seeds: bits, pages,
digits, cut, missing and exchanged files, links, devices and pipes in their place. A row may be missing (its block is
run again), never another one.
"""

import json
import random
import shutil
import sys
import warnings
from collections import Counter

import numpy as np
import pytest
from helpers.damage import KINDS, STRANGE, damage, make_strange, no_waiting

from saltus.errors import RecordError, SaltusWarning
from saltus.record.io.sweep import stored as module
from saltus.record.io.sweep.seals import FOLDER, SHARED
from saltus.record.io.sweep.stored import STATUS, StoredSweep
from saltus.record.io.sweep_zarr import SweepStore, open_dataset
from saltus.study.watching import standing

COUNT, BLOCK = 20, 8
POINTS = [{"qpos[x]": 0.25 * k, "integrator": "rk4" if k % 2 else "euler", "size": [0.5, k]} for k in range(COUNT)]
ABOUT = {"model": "spring 0", "duration": 2.0, "measures": ["height", "drift"]}
UNITS = {"height": "m", "drift": ""}
ROWS = [{"status": "done", "note": "", "measures": {"height": 1 / (k + 1), "drift": 0.1 * k}} for k in range(COUNT)]
ROWS[11] = {"status": "diverged", "note": "at t = 1 s", "measures": {"height": None, "drift": None}}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders, no links without rights")


def opened(path, points=POINTS, about=ABOUT):
    return SweepStore.open(path, about, points, [*POINTS[0]], (), UNITS, BLOCK)


def written(path, rows=ROWS, points=POINTS):
    store = opened(path, points)
    for first in range(0, COUNT, BLOCK):
        store.write(first, rows[first : first + BLOCK])
    return path


def is_row(found, row):
    """Whether a row is the one that was written, or one that waits to be run."""
    if found["status"] == "not run":
        return not found["note"] and all(np.isnan(x) for x in found["measures"].values())
    numbers = {name: np.nan if x is None else x for name, x in row["measures"].items()}
    same = np.array_equal([*found["measures"].values()], [*numbers.values()], equal_nan=True)
    return same and (found["status"], found["note"]) == (row["status"], row["note"])


def all_read(path):
    """Whether all ways to read a store tell what was written. RecordError where one refuses."""
    store = opened(path)
    rows, points = store.rows(), store.points(0, COUNT)
    with open_dataset(path) as found:
        done = found["status"].values == "done"
        heights = np.array([row["measures"]["height"] or np.nan for row in ROWS])
        same = np.array_equal(found["height"].values[done], heights[done])
        same &= np.array_equal(found["qpos[x]"].values, [point["qpos[x]"] for point in POINTS])
        same &= [*found["integrator"].values] == [point["integrator"] for point in POINTS]
    state = standing(path)
    waiting = [k for first in store.left() for k in range(first, first + store.size(first))]
    same &= all(row["status"] != "not run" or k in waiting for k, row in enumerate(rows))
    same &= state.total == COUNT and state.finished == COUNT - len(waiting)
    return bool(same) and all(map(is_row, rows, ROWS)) and points == POINTS


def outcome(path):
    """How reading ends, and in the lines of what an error would be seen."""
    try:
        with warnings.catch_warnings(), no_waiting(20):
            warnings.simplefilter("error", SaltusWarning)  # said to be unprotected
            return "right" if all_read(path) else "OTHER"
    except RecordError:
        return "refused"
    except Exception as error:
        return f"RAW {type(error).__name__}: {error}"


def files_of(path):
    return sorted(file for file in path.rglob("*") if file.is_file())


@pytest.mark.parametrize("kind", [*KINDS, *STRANGE])
def test_damage_is_noticed(tmp_path, kind):
    whole, rng, found = written(tmp_path / "whole.zarr"), random.Random(kind), Counter()
    assert outcome(whole) == "right"
    for _ in range(8):
        target = tmp_path / "damaged.zarr"
        if kind in KINDS:
            damage(whole, target, kind, rng)
        else:
            shutil.copytree(whole, target)
            files = files_of(target)
            make_strange(rng.choice(files), files, kind, rng)
        found[outcome(target)] += 1
        shutil.rmtree(target)
    assert {*found} <= {"right", "refused"}, found
    assert found["refused"] >= 4, found


def test_every_file_is_looked_at(tmp_path):
    """A changed file of any kind is refused; without one of the files of a block, its runs are made again."""
    whole = written(tmp_path / "whole.zarr")
    for file in files_of(whole):
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        if file.name == "zarr.json":
            file.write_bytes(content.replace(b'"float64"', b'"float32"').replace(b'"int8"', b'"int16"'))
            file.write_bytes(file.read_bytes().replace(b"spring", b"pendul").replace(b'"uint8"', b'"int8"'))
            file.write_bytes(file.read_bytes().replace(b"euler", b"rk2"))
            file.write_bytes(file.read_bytes().replace(b'"int32"', b'"int64"'))
        assert outcome(whole) == "refused", file
        file.write_bytes(content)
    assert outcome(whole) == "right"
    (whole / FOLDER / "1").unlink()
    assert outcome(whole) == "right" and opened(whole).left() == [8]
    assert [row["status"] for row in opened(whole).rows()].count("not run") == 8


def test_blocks_cannot_come_from_elsewhere(tmp_path):
    """Neither from another place in the store nor from another sweep, whole as they are."""
    path = written(tmp_path / "s.zarr")
    others = [dict(row, measures={"height": 2.0, "drift": 0.0}) for row in ROWS]
    other = written(tmp_path / "other.zarr", others, [dict(point, size=[1.0, 1.0]) for point in POINTS])
    block = [f"{name}/c/1" for name in ("height", "drift", STATUS)] + ["note/c/1/0", f"{FOLDER}/1"]
    for name in block:
        shutil.copy(other / name, path / name) if (other / name).exists() else (path / name).unlink(missing_ok=True)
    with pytest.raises(RecordError, match="block 1 are those of another block or sweep"):
        standing(path)
    shutil.copy(path / FOLDER / "0", path / FOLDER / "1")
    with pytest.raises(RecordError, match="block 1 are those of another"):
        opened(path).rows()


def test_a_damaged_block_says_what_helps(tmp_path):
    path = written(tmp_path / "s.zarr")
    shutil.copy(path / "height/c/0", path / "height/c/1")
    with pytest.raises(RecordError, match=r"'height' of runs 8 to 15 is not what was written; remove '.*1' and resume"):
        opened(path).rows()
    (path / FOLDER / "1").unlink()
    assert opened(path).left() == [8]
    opened(path).write(8, ROWS[8:16])
    assert outcome(path) == "right" and opened(path).left() == []


def test_a_store_from_before_there_were_checksums(tmp_path):
    """It is read and gone on with, after a warning; what is plainly damaged there is refused."""
    path = written(tmp_path / "s.zarr")
    shutil.rmtree(path / FOLDER)
    with pytest.raises(RecordError, match="its checksums are missing"):
        standing(path)
    about = path / "zarr.json"
    about.write_text(about.read_text().replace("saltus sweep 3", "saltus sweep 2"))
    with pytest.warns(SaltusWarning, match="before sweeps had checksums: it cannot be verified"):
        assert all_read(path)
    with pytest.warns(SaltusWarning, match="cannot be verified"):
        store = opened(path)
    store.write(0, [{"status": "not run"}] * BLOCK)
    assert store.left() == [0]
    store.write(0, ROWS[:BLOCK])
    assert store.left() == [] and all(map(is_row, store.rows(), ROWS)) and not (path / FOLDER).exists()
    import zarr

    zarr.open_group(path, mode="r+")[STATUS][3] = 77
    with pytest.raises(RecordError, match="a status that there is not"), pytest.warns(SaltusWarning):
        opened(path).rows()


def test_sizes_are_limited_before_anything_is_read(tmp_path, monkeypatch):
    """A store that claims more than its files can hold (in one of a hundred bytes each) is refused."""
    path = written(tmp_path / "s.zarr")
    shutil.rmtree(path / FOLDER)
    for file in files_of(path):
        if file.name == "zarr.json":
            found = json.loads(file.read_text().replace("saltus sweep 3", "saltus sweep 2"))
            if "shape" in found:
                found["shape"][0] = 10**12
            file.write_text(json.dumps(found))
    with pytest.raises(RecordError, match="decompress to"), pytest.warns(SaltusWarning):
        standing(path)


def test_a_block_that_is_written_meanwhile_is_read_again(tmp_path, monkeypatch):
    """Its checksums are read, then it is replaced, then its numbers are read."""
    path = written(tmp_path / "s.zarr")
    again, complete = [dict(row, measures={"height": 7.0, "drift": 8.0}) for row in ROWS[:BLOCK]], []
    read = StoredSweep._complete

    def replaced_after(self):
        found = read(self)
        if not complete:
            complete.append(found)
            SweepStore(path, tuple(UNITS), COUNT, BLOCK).write(0, again)
        return found

    monkeypatch.setattr(module.StoredSweep, "_complete", replaced_after)
    found = StoredSweep(path).rows(UNITS)
    assert complete and (found.measures["height"][:BLOCK] == 7.0).all()
    assert found.measures["height"][BLOCK] == ROWS[BLOCK]["measures"]["height"]


def test_two_writers_of_a_block_end_in_one_of_both(tmp_path, monkeypatch):
    """Another process writes other numbers between the columns and the checksums of the first."""
    path = written(tmp_path / "s.zarr")
    theirs = [dict(row, measures={"height": 3.0, "drift": 4.0}) for row in ROWS[:BLOCK]]
    mine = [dict(row, measures={"height": 5.0, "drift": 6.0}) for row in ROWS[:BLOCK]]
    seal, cut = module.Seals.write_block, []

    def between(self, *given):
        if not cut:
            cut.append(True)
            SweepStore(path, tuple(UNITS), COUNT, BLOCK).write(0, theirs)
        seal(self, *given)

    monkeypatch.setattr(module.Seals, "write_block", between)
    opened(path).write(0, mine)
    assert cut and (StoredSweep(path).rows(UNITS).measures["height"][:BLOCK] == 5.0).all()


def test_other_programs_read_it_without_a_word(tmp_path):
    """Files of checksums are where readers of Zarr do not look."""
    import xarray

    path = written(tmp_path / "s.zarr")
    assert (path / FOLDER / SHARED).is_file()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xarray.open_zarr(path, consolidated=False) as found:
            np.testing.assert_array_equal(found["drift"].values[:11], 0.1 * np.arange(11))
