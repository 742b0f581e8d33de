"""Sweeps on a cluster.

Charter. Law: a row depends on its run alone: the same bits from one process, several, and a Dask cluster, whatever the
chunks were and whoever died meanwhile. Against outside: a pendulum released at rest from θ0 swings with the period
4 K(sin θ0/2) √(l/g) (complete elliptic integral), so that after it has passed θ is θ0 again, to RK4's error and to the
second order in the rest of a step. A run in a batch is the run by itself to 1e-12: the same operations, compiled
for lanes.
"""

import os
import signal
import threading
import time

import numpy as np
import pytest
from helpers.systems import needs_kill
from scipy.special import ellipk

import saltus
from saltus.errors import OptionError
from saltus.record.io.sweep_zarr import open_dataset
from saltus.simulate.setup import Sampling, Setup
from saltus.study.executors.executor import make_executor
from saltus.study.executors.workers import Here
from saltus.study.jobs import Task, run_one
from saltus.study.measures.measure import parse
from saltus.study.running import run_all
from saltus.study.sampling import Uniform
from saltus.study.settings import Start
from saltus.study.side_by_side import run_side_by_side
from saltus.study.sweep import sweep

distributed = pytest.importorskip("distributed")
LENGTH, ANGLE = "body_ipos[pendulum][2]", "qpos[theta]"
VALUES = {
    LENGTH: Uniform(-3, -1),
    "body_mass[pendulum]": Uniform(1, 3),
    "dof_damping[theta]": Uniform(0.01, 0.5),
    ANGLE: Uniform(-2, 2),
}
MEASURES = ["qpos[theta].final", "energy_drift", "xpos[pendulum][0].max", "body_energy[pendulum].range"]
OPTIONS = {"duration": 0.5, "samples": 150, "sampling": "sobol"}


def task_of(measures, duration, **options):
    return Task(Start(Setup("pendulum", **options)), Sampling(duration), tuple(map(parse, measures)), together=True)


@pytest.fixture(scope="module")
def cluster():
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as made:
        yield made


@pytest.fixture(scope="module")
def local():
    return sweep("pendulum", VALUES, MEASURES, workers=1, **OPTIONS)


def test_a_cluster_gives_the_same_bits_and_a_store_the_same_rows(cluster, local, tmp_path):
    assert set(local.status) == {"done"}
    found = sweep("pendulum", VALUES, MEASURES, workers=cluster.scheduler_address, **OPTIONS)
    np.testing.assert_array_equal(found.values, local.values)
    path = tmp_path / "s.zarr"
    with distributed.Client(cluster) as client:
        stored = sweep("pendulum", VALUES, MEASURES, workers=client, save=path, **OPTIONS)
        np.testing.assert_array_equal(stored.values, local.values)
        last = sweep("pendulum", VALUES, {"last": lambda run: run.qpos[-1, 0]}, workers=client, **OPTIONS)
        np.testing.assert_array_equal(last["last"], local["qpos[theta].final"])
    with open_dataset(path) as data:
        np.testing.assert_array_equal(data["energy_drift"], local["energy_drift"])
        np.testing.assert_array_equal(data[LENGTH], [point[LENGTH] for point in local.points])
        assert set(data["status"].values) == {"done"}


def test_chunks_change_nothing_and_runs_by_themselves_agree(local):
    task = task_of(MEASURES, 0.5)
    for size in (1, 7):
        rows = [row for k in range(0, 21, size) for row in run_side_by_side(task, local.points[k : k + size])]
        found = [[row.measures[name] for name in MEASURES] for row in rows]
        np.testing.assert_array_equal(found, local.values[:21])
    alone = [run_one(task, values).measures for values in local.points[:5]]
    np.testing.assert_allclose(
        [[m[name] for name in MEASURES] for m in alone], local.values[:5], rtol=1e-12, atol=1e-12
    )


def test_periods_are_the_elliptic_integral():
    """Whole periods of pendulums of other lengths and amplitudes, in one batch: 200 steps each."""
    angles, lengths = np.array([0.3, 1.0, 2.0, 2.8]), np.array([0.5, 1.0, 2.0, 4.0])
    periods = 4 * ellipk(np.sin(angles / 2) ** 2) * np.sqrt(lengths / 9.81)
    h = 1e-3
    points = [{LENGTH: -float(length), ANGLE: float(angle)} for length, angle in zip(lengths, angles, strict=True)]
    for k, period in enumerate(periods):
        steps = round(period / h)
        start, sampling = Start(Setup("pendulum", "rk4", timestep=h)), Sampling(steps * h, h)
        task = Task(start, sampling, (parse("qpos[theta].final"),), together=True)
        found = run_side_by_side(task, points)[k].measures["qpos[theta].final"]
        acceleration = 9.81 / lengths[k] * np.sin(angles[k])
        # at most half a step from the end of the period, where θ has its maximum; RK4's own error is below 1e-9
        assert abs(found - angles[k]) < acceleration * (h / 2) ** 2 / 2 + 1e-9


def test_what_cannot_be_in_a_batch_is_run_by_itself():
    """A mass of nothing is refused and a state beyond all measure diverges; the others keep their bits."""
    task = task_of(["qpos[theta].final"], 0.5)
    good = [{"body_mass[pendulum]": 2.0, ANGLE: 0.1 * k} for k in range(4)]
    bad = [{"body_mass[pendulum]": -1.0, ANGLE: 0.1}, {"body_mass[pendulum]": 2.0, "qvel[theta]": 1e200}]
    rows = run_side_by_side(task, [*good[:2], *bad, *good[2:]])
    assert [row.status for row in rows] == ["done", "done", "refused", "diverged", "done", "done"]
    assert rows[2].note and "diverged at t" in rows[3].note
    expected = run_side_by_side(task, good)
    assert [row.measures for row in rows if row.status == "done"] == [row.measures for row in expected]


def test_a_comparison_on_a_cluster(cluster):
    arguments = {"integrators": ["euler", "rk4"], "duration": 1.0}
    here, there = (saltus.compare("pendulum", workers=w, **arguments) for w in (1, cluster.scheduler_address))
    assert {(row.name, row.error) for row in there.rows} == {(row.name, row.error) for row in here.rows}


# ------------------------------------------------------------ what is kept


def test_a_store_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    values = {ANGLE: np.linspace(0.1, 1.0, 20), "integrator": ["euler"]}
    arguments = {"measures": ["qpos[theta].final"], "duration": 0.5, "workers": 1}
    whole = sweep("pendulum", values, save=tmp_path / "whole.zarr", **arguments)
    calls = []
    write = saltus.record.io.sweep_zarr.SweepStore.write

    def once(store, first, rows):
        if calls:
            raise KeyboardInterrupt
        calls.append(first)
        write(store, first, rows)

    with monkeypatch.context() as patched:
        patched.setattr(saltus.record.io.sweep_zarr.SweepStore, "write", once)
        with pytest.warns(saltus.SaltusWarning, match="interrupted; 8 of 20 runs are done"):
            cut = sweep("pendulum", values, save=tmp_path / "cut.zarr", **arguments)
    assert cut.status == ["done"] * 8 + ["not run"] * 12
    again = sweep("pendulum", values, save=tmp_path / "cut.zarr", **arguments)
    np.testing.assert_array_equal(again.values, whole.values)
    assert files_of(tmp_path / "cut.zarr") == files_of(tmp_path / "whole.zarr")
    with pytest.raises(OptionError, match="another duration;"):
        sweep("pendulum", values, save=tmp_path / "cut.zarr", **{**arguments, "duration": 1.0})
    with pytest.raises(OptionError, match="another values;"):
        sweep("pendulum", values | {ANGLE: np.linspace(0, 1, 20)}, save=tmp_path / "cut.zarr", **arguments)


def test_a_store_that_was_not_finished_is_made_anew(tmp_path, monkeypatch):
    arguments = {"measures": ["qpos[theta].final"], "duration": 0.1, "workers": 1, "save": tmp_path / "s.zarr"}

    def cut(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("saltus.record.io.sweep_zarr._word", cut)
        sweep("pendulum", {ANGLE: [0.1, 0.2]}, **arguments)
    assert set(sweep("pendulum", {ANGLE: [0.1, 0.2]}, **arguments).status) == {"done"}
    assert not (tmp_path / "s.zarr.new").exists()


def files_of(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


# ------------------------------------------------------------ what goes wrong


class Dying(Here):
    """Calls whose process is lost: every one of several runs, and those of run 2 always."""

    def next(self):
        tag, work, job = self._calls.popleft()
        values = job[0]
        if len(values) > 1 or values[0].get("qpos[theta]") == 0.2:
            return tag, saltus.study.executors.workers.Lost("its process ended")
        return tag, work(*job)


def test_a_lost_chunk_is_tried_again_in_halves():
    points = [{"qpos[theta]": 0.1 * k} for k in range(6)]
    task = task_of(["qpos[theta].initial"], 0.1)
    found = {}
    with Dying() as executor:
        for numbers, rows in run_all(executor, task, points, range(6), None):
            found.update(zip(numbers, rows, strict=True))
    assert [found[k].status for k in range(6)] == ["done", "done", "lost", "done", "done", "done"]


@needs_kill
@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing():
    values = {ANGLE: np.linspace(0.1, 1.0, 24).tolist()}
    arguments = {"measures": ["qpos[theta].final"], "duration": 200.0, "timestep": 1e-3}
    expected = sweep("pendulum", values, workers=1, **arguments)
    quiet = {"dashboard_address": None, "silence_logs": 50}
    own = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet)
    with own, distributed.Client(own) as client:
        alive = [next(iter(client.run(os.getpid).values()))]

        def kill(fraction):
            if fraction > 0 and alive:
                os.kill(alive.pop(), signal.SIGKILL)

        found = sweep("pendulum", values, workers=client, progress=kill, **arguments)
        assert not alive
    assert found.status == ["done"] * 24
    np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.slow
def test_a_worker_that_joins_gets_work_within_5_s():
    values = {ANGLE: np.linspace(0.1, 1.0, 60).tolist()}
    measures = {"process": lambda run: os.getpid(), "when": lambda run: time.time()}
    quiet = {"dashboard_address": None, "silence_logs": 50}
    own = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, **quiet)
    with own, distributed.Client(own) as client:
        first = next(iter(client.run(os.getpid).values()))
        joined = []

        def wait():
            client.wait_for_workers(2)
            joined.append(time.time())

        waiting = threading.Thread(target=wait)

        def grow(fraction):
            if fraction > 0 and waiting.ident is None:
                own.scale(2)
                waiting.start()

        found = sweep("pendulum", values, measures, 200.0, timestep=1e-3, workers=client, progress=grow)
        waiting.join()
    begun = found["when"][found["process"] != first]
    assert begun.size and begun.min() - joined[0] < 5.0 + 2 * np.diff(np.sort(found["when"])).max()


def test_other_workers_are_refused(cluster, monkeypatch):
    monkeypatch.setattr("saltus.version.__version__", "0.0")
    with pytest.raises(OptionError, match=r"worker tcp://.* has another version of Saltus \(.*, here 0.0\)"):
        make_executor(cluster.scheduler_address)
    with make_executor(cluster.scheduler_address, reproducible=False) as executor:
        executor.submit(1, abs, -3)
        assert executor.next() == (1, 3)


def test_no_cluster_there(monkeypatch):
    monkeypatch.setattr("saltus.study.executors.cluster.PATIENCE", 0.3)
    with pytest.raises(OptionError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"):
        make_executor("tcp://127.0.0.1:9")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(OptionError, match=r"pip install 'saltus\[cluster\]'"):
        make_executor("tcp://127.0.0.1:8786")
