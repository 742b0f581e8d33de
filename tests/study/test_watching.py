"""How a sweep stands, by its store.

Charter. Reference: the table that the sweep itself returns; NumPy's median; the times that files of the store are
given here.
"""

import os
import time

import numpy as np
import pytest

from saltus.errors import OptionError, RecordError
from saltus.record.io.sweep.seals import FOLDER
from saltus.record.io.sweep_zarr import SweepStore, block_times
from saltus.study.sweep import sweep
from saltus.study.watching import standing, watch

VALUES = {"opt.timestep": [*np.linspace(0.01, 0.05, 17).tolist(), 0.3, 0.4, 0.5]}
ARGUMENTS = {"measures": ["qpos[x].max", "energy_drift"], "duration": 20.0, "workers": 1, "progress": False}
ARGUMENTS["integrator"] = "euler"


@pytest.fixture
def whole(tmp_path):
    """A store whose sweep is complete, and the table."""
    return tmp_path / "s.zarr", sweep("spring", VALUES, save=tmp_path / "s.zarr", **ARGUMENTS)


def test_a_complete_sweep_stands_as_its_table_says(whole):
    path, table = whole
    found = standing(path)
    assert found.complete and (found.total, found.finished) == (20, 20) and found.left == 0
    assert found.failed == {"diverged": 3} and table.status.count("diverged") == 3
    for name in table.measures:
        good = table[name][np.isfinite(table[name])]
        np.testing.assert_array_equal(found.measures[name], [good.min(), np.median(good), good.max()])
    assert found.units == dict(zip(table.measures, table.units, strict=True))
    assert found.title == "spring, 20 s" and str(found) == "finished 20 of 20 runs; 3 diverged"
    assert [*map(str, watch(path))] == [str(found)]


def test_while_it_is_filled_each_look_sees_more(tmp_path, monkeypatch):
    """Blocks of eight runs; the store is looked at between them."""
    seen, write = [], SweepStore.write

    def looked_at(store, first, rows):
        seen.append(standing(store.path))
        write(store, first, rows)

    monkeypatch.setattr(SweepStore, "write", looked_at)
    sweep("spring", VALUES, save=tmp_path / "s.zarr", **ARGUMENTS)
    assert [found.finished for found in seen] == [0, 8, 16] and not any(found.complete for found in seen)
    assert all(np.isnan(x) for x in seen[0].measures["qpos[x].max"]) and seen[0].failed == {}


def test_watching_goes_on_until_the_end(whole, monkeypatch):
    path, _ = whole
    store = SweepStore(path, ("qpos[x].max", "energy_drift"), 20, 8)
    rows = store.rows()
    store.write(16, [{"status": "not run"}] * 4)
    looks = watch(path, every=0.01)
    assert next(looks).finished == 16
    store.write(16, rows[16:])
    assert next(looks).complete and next(looks, None) is None


def test_rate_and_time_left_are_those_of_the_files(whole, monkeypatch):
    """Blocks of 8, 8 and 4 runs came 4 s apart: 12 runs in the 8 s after the first one."""
    path, _ = whole
    now = time.time()
    for k in range(3):
        os.utime(path / FOLDER / str(k), (now, now - 10 + 4 * k))
    SweepStore(path, (), 20, 8)  # nothing of it is in memory
    found = standing(path)
    assert found.rate == pytest.approx(12 / 8) and found.quiet == pytest.approx(2, abs=1)
    os.remove(path / FOLDER / "1")
    assert sorted(block_times(path)) == [0, 2]
    found = standing(path)
    assert found.finished == 12 and found.rate == pytest.approx(4 / 8) and found.left == pytest.approx(16)
    assert str(found).endswith("; 0.5 runs/s, 16 s left")
    for k in (0, 2):
        os.utime(path / FOLDER / str(k), (now, now - 1800 + k))
    assert str(standing(path)).endswith("; the last result came 30 min ago")


def test_what_is_no_store(tmp_path):
    import zarr

    (tmp_path / "s.json").write_text("{}")
    zarr.create_group(tmp_path / "other.zarr")
    for name, why in (("none", "there is nothing"), ("s.json", "it is a file; expected the Zarr store of a sweep")):
        with pytest.raises(RecordError, match=why):
            standing(tmp_path / name)
    with pytest.raises(RecordError, match="the folder is not the Zarr store of a sweep"):
        standing(tmp_path)
    with pytest.raises(RecordError, match="not a sweep: it is another Zarr store"):
        standing(tmp_path / "other.zarr")
    with pytest.raises(OptionError, match="path must be the path of a file"):
        standing(3)
    with pytest.raises(OptionError, match="every must be positive"):
        next(watch(tmp_path, every=0))


def test_the_command_prints_it_once_where_there_is_no_terminal(saltus_command, whole):
    path, table = whole
    code, out, err = saltus_command("sweep", "--watch", path)
    lines = out.splitlines()
    assert (code, err) == (0, "") and lines[:2] == ["spring, 20 s", "finished 20 of 20 runs; 3 diverged"]
    assert lines[2].split() == ["measure", "min", "median", "max"]
    good = table["qpos[x].max"][np.isfinite(table["qpos[x].max"])]
    assert lines[3].split() == ["qpos[x].max", "(m)", *(f"{x:.5g}" for x in (good.min(), np.median(good), good.max()))]
    code, _, err = saltus_command("sweep", "--watch", path / "none")
    assert code == 1 and "there is nothing" in err
    code, _, err = saltus_command("sweep")
    assert code == 2 and "MODEL" in err


def test_the_command_follows_it_in_a_terminal(saltus_command, whole, monkeypatch):
    path, _ = whole
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    looks = iter([standing(path), standing(path)])
    monkeypatch.setattr("saltus.study.watching.watch", lambda _: looks)
    code, out, _ = saltus_command("sweep", "--watch", path)
    assert code == 0 and next(looks, None) is None and "finished 20 of 20 runs; 3 diverged" in out

    def cut(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("saltus.study.watching.watch", cut)
    assert saltus_command("sweep", "--watch", path)[0] == 0


def test_any_store_of_a_sweep_has_what_is_read(tmp_path):
    """Functions as measures, cases with names, measures without a unit."""
    cases = {"light": {"body_mass[pendulum]": 1.0}, "as it is": {}}
    last = {"last": lambda run: run.qpos[-1, 0]}
    path = tmp_path / "s.zarr"
    table = sweep("pendulum", cases, last, 0.1, workers=1, progress=False, save=path)
    found = standing(path)
    assert found.complete and found.units == {"last": ""} and found.measures["last"][0] == table["last"].min()
    assert found.title == "pendulum, 0.1 s"
