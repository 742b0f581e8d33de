"""A sweep on two workers of a Dask cluster whose scheduler is a process of its own."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saltus.bench.harness.fresh import ROOT
from saltus.bench.sweep.runs import run_sweep
from saltus.errors import SaltusError

WORKERS = 2
LOOKS = 8  # samples of the scheduler, spread over the runs
CALL = "call"  # Dask names tasks after this: the function _call
BURST = 300  # chunks that do nothing, for the scheduler's work on each
WAIT = 60.0  # s within which scheduler and workers must start and end


@dataclass(frozen=True)
class Look:
    """Sample of the scheduler: runs done, tasks that it holds, its resident memory (bytes)."""

    runs: int
    tasks: int
    memory: int


@dataclass(frozen=True)
class OnCluster:
    """A sweep on a cluster.

    `seconds`: from the first chunk's start to the last chunk's end; `computing`: of all workers together, in chunks;
    `idle`: the share of the workers' time outside chunks; `lost`: that time per chunk (s); `scheduler`: the processor
    time that the scheduler spends on a chunk (s), without its work at rest; `message`: bytes that say which runs
    a chunk has.
    """

    workers: int
    runs: int
    chunks: int
    seconds: float
    computing: float
    idle: float
    lost: float
    scheduler: float
    message: int
    looks: list[Look]


@contextmanager
def running_cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler, a process of its own, with workers of a thread each. SaltusError: none starts."""
    file = folder / "scheduler.json"
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    with open(folder / "cluster.log", "w+", encoding="utf-8") as log:

        def start(module: str, *options: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(file)]
            command += ["--no-dashboard", "--dashboard-address", "127.0.0.1:0", *options]
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment)

        local = ("--local-directory", str(folder), "--nworkers", str(WORKERS), "--nthreads", "1")
        processes = [
            start("dask_scheduler", "--host", "127.0.0.1", "--port", "0"),
            start("dask_worker", "--host", "127.0.0.1", *local),
        ]
        try:
            yield _address(file, processes, folder / "cluster.log")
        finally:
            for process in reversed(processes):
                process.terminate()
                try:
                    process.wait(WAIT)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _address(file: Path, processes: Sequence[subprocess.Popen[bytes]], log: Path) -> str:
    """Address that the scheduler writes once it listens."""
    limit = time.monotonic() + WAIT
    while time.monotonic() < limit and all(process.poll() is None for process in processes):
        try:
            return json.loads(file.read_text(encoding="utf-8"))["address"]
        except (OSError, json.JSONDecodeError):
            time.sleep(0.1)
    said = log.read_text(encoding="utf-8").strip().splitlines()
    raise SaltusError(f"no Dask cluster came up: {said[-1] if said else 'it says nothing'}")


def measure_cluster(address: str, n: int, path: Path, show: Callable[[float], None]) -> OnCluster:
    """Measure a sweep of n runs whose workers write into a store."""
    import distributed

    from saltus.study.keeping import BLOCKS

    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=WAIT)
        run_sweep(256, None, client)  # compiles
        before: Any = client.run_on_scheduler(scheduler_now)
        looks: list[Look] = []
        moments: list[float] = []

        def look(fraction: float) -> None:
            moments.append(time.perf_counter())
            show(fraction)
            if fraction * LOOKS >= len(looks):
                now: Any = client.run_on_scheduler(scheduler_now)
                looks.append(Look(round(fraction * n), now["tasks"], now["memory"]))

        table = run_sweep(n, path, client, look)
        after: Any = client.run_on_scheduler(scheduler_now)
        chunks = after["chunks"] - before["chunks"]
        job = None, tuple(range(max(1, n // chunks // BLOCKS[True])))  # contents of a chunk, in a message
        spent = measure_scheduler(client, job)
    if set(table.status) != {"done"}:
        raise SaltusError(f"not all runs of the sweep are done: {', '.join(sorted(set(table.status)))}")
    seconds = moments[-1] - moments[0]
    computing = after["computing"] - before["computing"]
    lost = WORKERS * seconds - computing
    message = len(pickle.dumps(job))
    idle = lost / (WORKERS * seconds)
    return OnCluster(WORKERS, n, chunks, seconds, computing, idle, lost / chunks, spent, message, looks)


def measure_scheduler(client: Any, job: tuple[Any, ...]) -> float:
    """Measure the processor time (s) that the scheduler spends on a chunk that does nothing."""
    from saltus.study.executors.executor import make_executor

    with make_executor(client) as executor:
        before: Any = client.run_on_scheduler(scheduler_now)
        for k in range(BURST):
            executor.submit(k, do_nothing, *job)
            if k >= 2 * WORKERS:
                executor.next()
        for _ in range(2 * WORKERS):
            executor.next()
        after: Any = client.run_on_scheduler(scheduler_now)
    return (after["processor"] - before["processor"]) / BURST


def do_nothing(points: None, firsts: tuple[int, ...]) -> None:
    """Do nothing: the work of a chunk whose messages alone are to be measured."""


def scheduler_now(dask_scheduler: Any) -> dict[str, Any]:
    """Run on the scheduler: tasks that it holds, chunks that ended and their seconds, its memory and processor time."""
    import psutil

    own = psutil.Process()
    prefixes = [prefix for name, prefix in dask_scheduler.task_prefixes.items() if name == CALL]
    times = own.cpu_times()
    return {
        "tasks": len(dask_scheduler.tasks),
        "chunks": sum(prefix.state_counts["memory"] for prefix in prefixes),
        "computing": sum(prefix.all_durations["compute"] for prefix in prefixes),
        "memory": own.memory_info().rss,
        "processor": times.user + times.system,
    }
