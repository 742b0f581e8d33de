"""Dask clusters whose workers come late, differ or are lost with their scheduler; and what is sent to them.

Reference: the same sweep in this process, to the bit.
"""

import asyncio
import contextlib
import pickle
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from helpers.systems import needs_kill, needs_pgrep

import saltus
from saltus.errors import OptionError, SaltusWarning
from saltus.record.io.sweep_zarr import SweepStore, open_dataset
from saltus.study.executors import cluster as clusters
from saltus.study.executors.executor import make_executor
from saltus.study.sampling import Uniform

distributed = pytest.importorskip("distributed")
QUIET = {"dashboard_address": None, "silence_logs": 50, "threads_per_worker": 1, "processes": True}
ANGLE = "qpos[theta]"


def test_a_first_worker_that_comes_late_is_waited_for(monkeypatch):
    monkeypatch.setattr(clusters, "SILENCE", 0.5)
    with distributed.LocalCluster(n_workers=0, **QUIET) as cluster, distributed.Client(cluster) as client:
        coming = threading.Timer(1.0, cluster.scale, (1,))
        coming.start()
        with pytest.warns(SaltusWarning, match="has no workers yet; waiting for the first one"):
            executor = make_executor(client)
        with executor:
            executor.submit("a", abs, -3)
            assert executor.next() == ("a", 3) and executor.slots == 1


def test_a_scheduler_that_is_lost_while_a_first_worker_is_waited_for(monkeypatch):
    """The scheduler ends once its lack of workers has been told, however long that took."""
    said = []
    with distributed.LocalCluster(n_workers=0, **QUIET) as cluster:
        address, ending = cluster.scheduler_address, threading.Thread(target=cluster.close)

        def told(text):
            said.append(text)
            ending.start()

        monkeypatch.setattr(clusters, "warn", told)
        monkeypatch.setattr(clusters, "SILENCE", 0.5)
        with pytest.raises(OptionError, match=f"there is no Dask scheduler at {re.escape(address)} any more"):
            make_executor(address)
        ending.join()
    assert len(said) == 1 and "no workers yet" in said[0]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_client_closes_while_it_comes_to_a_new_scheduler(monkeypatch):
    """That its search finds its connections closed is no error of the sweep's."""
    found = threading.Event()

    async def search(client, **_):
        if client.status == "connecting":
            found.set()
            while client.status != "closing":
                await asyncio.sleep(0.01)
            raise RuntimeError("ConnectionPool is closed")

    with distributed.LocalCluster(n_workers=1, **QUIET) as cluster:
        executor = make_executor(cluster.scheduler_address)
        port = int(cluster.scheduler_address.rsplit(":", 1)[1])
        monkeypatch.setattr(distributed.Client, "_update_scheduler_info", search)
    with distributed.LocalCluster(n_workers=0, scheduler_port=port, **QUIET), executor:
        assert found.wait(10.0)


def test_a_cluster_that_adapts_starts_its_first_worker():
    with distributed.LocalCluster(n_workers=0, **QUIET) as cluster, distributed.Client(cluster) as client:
        cluster.adapt(minimum=0, maximum=1)
        with make_executor(client) as executor:
            executor.submit("a", abs, -3)
            assert executor.next() == ("a", 3)


@pytest.mark.parametrize("where", ["", "x", "tcp://host", "tcp://host:port"])
def test_what_is_no_address(where):
    with pytest.raises(OptionError, match=rf"workers: '{where}' is no address of a scheduler, such as tcp://host:8786"):
        make_executor(where)


def test_other_processors_are_refused_unless_bits_do_not_matter(monkeypatch):
    """As between a computer with registers of 512 bits and one of 128: sums end otherwise."""
    with distributed.LocalCluster(n_workers=1, **QUIET) as cluster, distributed.Client(cluster) as client:
        monkeypatch.setattr("saltus.number.processor.cpu_name", lambda: "other-64")
        with pytest.raises(OptionError, match=r"worker tcp://.* has another processor \(.*, here other-64\)"):
            make_executor(client)
        table = saltus.sweep("pendulum", {ANGLE: [0.1]}, f"{ANGLE}.max", 0.1, workers=client, reproducible=False)
        assert table.status == ["done"]


def test_a_worker_that_comes_later_is_looked_at_too():
    """It refuses the call itself."""
    expected = clusters.ours() | {"processor": "other-64"}
    with pytest.raises(OptionError, match=r"a worker on .* has another processor \(.*, here other-64\)"):
        clusters._call(pickle.dumps((expected, abs)), pickle.dumps((-3,)))
    assert clusters._call(pickle.dumps((clusters.ours(), abs)), pickle.dumps((-3,))) == 3


def test_workers_take_turns_to_compile_and_none_to_run(monkeypatch):
    happened = []

    class Work:
        def compile(self, x):
            happened.append("compile")

        def __call__(self, x):
            happened.append("run")
            return -x

    @contextlib.contextmanager
    def turn():
        happened.append("begin")
        yield
        happened.append("end")

    work = clusters._Work(Work())
    monkeypatch.setattr(clusters, "one_compiles", turn)
    monkeypatch.setattr(clusters, "_unpacked", lambda common: work)
    assert [clusters._call(b"", pickle.dumps((x,))) for x in (1, 2)] == [-1, -2]
    assert happened == ["begin", "compile", "end", "run", "run"]


def test_a_store_gives_workers_their_values(tmp_path):
    points = [{ANGLE: 0.1 * k, "integrator": "rk4" if k % 2 else "euler"} for k in range(20)]
    store = SweepStore.open(tmp_path / "s.zarr", {}, points, [*points[0]], (), {"a": ""}, 8)
    assert store.values_exact and store.points(8, 8) == points[8:16]
    whole = [point | {"option/iterations": 3} for point in points]  # whole numbers would come back as fractions
    assert not SweepStore.open(tmp_path / "w.zarr", {}, whole, [*whole[0]], (), {"a": ""}, 8).values_exact
    some = [{ANGLE: 0.1}, {"integrator": "rk4"}]
    assert not SweepStore.open(tmp_path / "o.zarr", {}, some, [ANGLE, "integrator"], (), {"a": ""}, 8).values_exact


def test_what_all_chunks_share_is_sent_once_and_values_not_at_all(tmp_path):
    sizes = []
    with distributed.LocalCluster(n_workers=1, **QUIET) as cluster, distributed.Client(cluster) as client:
        submit = client.submit

        def measured(function, *given, **options):
            sizes.append((function.__name__, len(given[-1]) if given else 0))
            return submit(function, *given, **options)

        client.submit = measured
        values = {ANGLE: np.linspace(0.1, 1.0, 2500)}
        arguments = {"measures": f"{ANGLE}.max", "duration": 0.01, "timestep": 1e-3}
        found = saltus.sweep("pendulum", values, workers=client, save=tmp_path / "s.zarr", **arguments)
    np.testing.assert_array_equal(found.values, saltus.sweep("pendulum", values, workers=1, **arguments).values)
    assert [name for name, _ in sizes].count("_kept") == 1
    assert max(size for name, size in sizes if name == "_call") < 100  # 2500 floats are 20 kB


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes there")
def test_a_full_disk_ends_the_sweep_and_loses_nothing(tmp_path, monkeypatch):
    """The system refuses to write, as it does on a full disk: no file may have more than 200 bytes."""
    import resource

    values, name = {ANGLE: Uniform(-2, 2)}, "s.zarr"
    arguments = {"measures": [f"{ANGLE}.max"], "duration": 0.01, "samples": 4096, "workers": 1, "timestep": 1e-3}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    write, begun = SweepStore.write, []

    def fill(store, first, rows):
        if begun:
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
        begun.append(first)
        write(store, first, rows)

    monkeypatch.setattr(SweepStore, "write", fill)
    try:
        with pytest.raises(saltus.RecordError, match=rf"cannot write sweep '.*{name}': file too large"):
            saltus.sweep("pendulum", values, save=tmp_path / name, **arguments)
    finally:
        monkeypatch.undo()
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with open_dataset(tmp_path / name) as found:
        assert (found["status"].values == "done").sum() == 1024
        assert np.isfinite(found[f"{ANGLE}.max"].values[found["status"].values == "done"]).all()
    whole = saltus.sweep("pendulum", values, save=tmp_path / "whole.zarr", **arguments)
    again = saltus.sweep("pendulum", values, save=tmp_path / name, **arguments)
    np.testing.assert_array_equal(again.values, whole.values)


@needs_kill
@needs_pgrep
@pytest.mark.slow
def test_a_lost_scheduler_ends_the_sweep_with_what_is_done(tmp_path):
    """And the same call on another cluster does the rest."""
    from saltus.bench.sweep.cluster import running_cluster

    values = {ANGLE: Uniform(-2, 2)}
    arguments = {"measures": [f"{ANGLE}.max"], "duration": 2.0, "samples": 16384, "timestep": 1e-3, "sample": 0.01}
    (tmp_path / "first").mkdir()
    with running_cluster(tmp_path / "first") as address:
        found = subprocess.run(["pgrep", "-f", f"dask_scheduler.*{tmp_path}"], capture_output=True, text=True)
        (pid,) = map(int, found.stdout.split())

        def lose(fraction):
            if fraction > 0:
                clusters.os.kill(pid, signal.SIGKILL)

        with pytest.warns(SaltusWarning, match=r"the Dask cluster at .* is gone; \d+ of 16384 runs are done"):
            cut = saltus.sweep(
                "pendulum", values, workers=address, save=tmp_path / "s.zarr", progress=lose, **arguments
            )
    assert {*cut.status} == {"done", "not run"}
    whole = saltus.sweep("pendulum", values, save=tmp_path / "s.zarr", workers=2, **arguments)
    assert {*whole.status} == {"done"}
    done = np.array(cut.status) == "done"
    np.testing.assert_array_equal(whole.values[done], cut.values[done])
