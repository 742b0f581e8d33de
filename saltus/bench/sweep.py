"""`saltus bench sweep`: what a sweep of very many short runs needs, and what of it grows with their number.

A pendulum's length, mass, damping and first angle are drawn at random. Measured are a run in the lanes of a batch and
by itself, in turn; a sweep on two workers of a Dask cluster whose scheduler is a process of its own; the files of its
store; and the memory of the process that asks for it.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saltus.bench.harness.fresh import ROOT
from saltus.errors import OptionError, SaltusError, SaltusWarning

MODEL, STEP, DURATION, SAMPLE = "pendulum", 1e-3, 2.0, 0.01  # s
RANGES = {
    "body_ipos[pendulum][2]": (-3.0, -1.0),  # m, minus the length
    "body_mass[pendulum]": (1.0, 3.0),  # kg
    "dof_damping[theta]": (0.01, 0.5),  # N m s
    "qpos[theta]": (-2.0, 2.0),  # rad
}
MEASURES = ("qpos[theta].max", "energy_drift")
REPEATS = 5
WORKERS = 2
LOOKS = 8  # at the scheduler, spread over the runs
CALL = "call"  # what Dask names tasks after that are chunks: the function _call
BURST = 300  # chunks that do nothing, for the scheduler's work on each
WAIT = 60.0  # s in which scheduler and workers begin and end
ALIKE = 1e-12  # the same operations, compiled for lanes: rounding, relative to the largest value


@dataclass(frozen=True)
class Amount:
    """How many runs: one by one, side by side, on the cluster, and those of which the client's memory is measured."""

    alone: int
    together: int
    cluster: int
    client: tuple[int, ...]


@dataclass(frozen=True)
class Runs:
    """Seconds that a run takes on one core, by itself and side by side with others; the ratio of the two.

    `difference`: of the measures, relative to the largest; `work`: steps, samples, paths of values, measures of a run.
    """

    alone: float
    together: float
    ratio: float
    difference: float
    work: dict[str, int]


@dataclass(frozen=True)
class Look:
    """The scheduler at a moment: runs done, tasks that it holds, its resident memory (bytes)."""

    runs: int
    tasks: int
    memory: int


@dataclass(frozen=True)
class OnCluster:
    """A sweep on a cluster.

    `seconds`: from the first chunk's begin to the last one's end; `computing`: of all workers together, in chunks;
    `idle`: the share of the workers' time that is not; `lost`: that time for each chunk (s); `scheduler`: the processor
    time that the scheduler spends on a chunk (s), without what it does at rest; `message`: bytes that say which runs
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


@dataclass(frozen=True)
class Stored:
    """A store: bytes of a run's measures, status and note, and of its values; runs of a block, files that each has."""

    results: float
    values: float
    block: int
    files: float


@dataclass(frozen=True)
class Memory:
    """Bytes a run that the asking process holds: its values alone; at most, when a stored sweep is opened and read."""

    runs: int
    points: float
    most: float


def bench_sweep(*, quick: bool, n: int | None = None, json_path: Path | None = None) -> None:
    """Measure, print tables, write them as JSON. `n`: runs on the cluster."""
    from saltus.arguments import whole_number
    from saltus.bench.harness import machine
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    amount = Amount(8, 256, 4096, (1000, 4000)) if quick else Amount(32, 4096, 131072, (10_000, 100_000))
    count = amount.cluster if n is None else whole_number("n", n, least=256)
    _require_distributed()
    with screen.Activity() as activity, tempfile.TemporaryDirectory(prefix="saltus-sweep-") as folder:
        activity.progress("measuring side by side")(0.0)
        runs = measure_runs(amount)
        activity.end("measuring side by side")
        path = Path(folder) / "runs.zarr"
        with running_cluster(Path(folder)) as address:
            cluster = measure_cluster(address, count, path, activity.progress("measuring on a cluster"))
        activity.end("measuring on a cluster")
        stored = measure_store(path, count)
        memory = [measure_memory(k, Path(folder) / f"{k}.zarr") for k in amount.client]
    about = machine.description(1)
    _print(runs, cluster, stored, memory, about)
    if json_path is not None:
        content = {"machine": about, "runs": asdict(runs), "cluster": asdict(cluster)}
        content |= {"store": asdict(stored), "client": [asdict(m) for m in memory]}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def _require_distributed() -> None:
    from saltus.study.executors.cluster import INSTALL

    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise OptionError(INSTALL) from error


def points(n: int) -> list[dict[str, float]]:
    """Values of n runs, by path."""
    from saltus.study.sampling import sampled

    return sampled(_distributions(), n, "random", 0)


def _distributions() -> dict[str, Any]:
    from saltus.study.sampling import Uniform

    return {path: Uniform(*ends) for path, ends in RANGES.items()}


# ------------------------------------------------------------ one core


def measure_runs(amount: Amount) -> Runs:
    """Runs in a batch and by themselves, in turn. SaltusError: they do not give the same measures."""
    import numpy as np

    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.study.jobs import Task, run_one
    from saltus.study.measures import parse
    from saltus.study.settings import Setup
    from saltus.study.side_by_side import run_side_by_side

    task = Task(Setup(MODEL, timestep=STEP), DURATION, SAMPLE, tuple(map(parse, MEASURES)), together=True)
    many = points(amount.together)
    few = many[: amount.alone]

    def alone() -> list[Any]:
        return [run_one(task, values) for values in few]

    def together() -> list[Any]:
        return run_side_by_side(task, many)

    one, other = (
        np.array([[(row.measures or {})[name] for name in MEASURES] for row in rows])
        for rows in (alone(), together()[: amount.alone])
    )
    difference = float((abs(one - other) / abs(one).max(axis=0)).max())
    if not difference < ALIKE:
        raise SaltusError(f"side by side and one by one differ by {difference:.1e}, not timed")
    contenders = [
        Contender("alone", lambda: None, alone, len(few)),
        Contender("together", lambda: None, together, len(many)),
    ]
    found = in_turn(contenders, repeats=REPEATS, least=0.0)
    work = {"steps": round(DURATION / STEP), "samples": round(DURATION / SAMPLE) + 1}
    work |= {"paths": len(RANGES), "measures": len(MEASURES)}
    ratio = found["together"].ratio_to(found["alone"])
    return Runs(found["alone"].median, found["together"].median, ratio, difference, work)


# ------------------------------------------------------------ a cluster


@contextmanager
def running_cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler, a process of its own, with workers of a thread each. SaltusError: none comes up."""
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
    """What the scheduler writes once it listens."""
    limit = time.monotonic() + WAIT
    while time.monotonic() < limit and all(process.poll() is None for process in processes):
        try:
            return json.loads(file.read_text(encoding="utf-8"))["address"]
        except (OSError, json.JSONDecodeError):
            time.sleep(0.1)
    said = log.read_text(encoding="utf-8").strip().splitlines()
    raise SaltusError(f"no Dask cluster came up: {said[-1] if said else 'it says nothing'}")


def measure_cluster(address: str, n: int, path: Path, show: Callable[[float], None]) -> OnCluster:
    """A sweep of n runs whose workers write into a store."""
    import distributed

    from saltus.study.keeping import BLOCKS

    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=WAIT)
        _sweep(256, None, client)  # compiles
        before: Any = client.run_on_scheduler(scheduler_now)
        looks: list[Look] = []
        moments: list[float] = []

        def look(fraction: float) -> None:
            moments.append(time.perf_counter())
            show(fraction)
            if fraction * LOOKS >= len(looks):
                now: Any = client.run_on_scheduler(scheduler_now)
                looks.append(Look(round(fraction * n), now["tasks"], now["memory"]))

        table = _sweep(n, path, client, look)
        after: Any = client.run_on_scheduler(scheduler_now)
        chunks = after["chunks"] - before["chunks"]
        job = None, tuple(range(max(1, n // chunks // BLOCKS[True])))  # what a chunk is, in a message
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
    """Processor time (s) that the scheduler spends on a chunk, whose workers do nothing with it."""
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
    """What the workers do with a chunk whose messages alone are to be measured."""


def scheduler_now(dask_scheduler: Any) -> dict[str, Any]:
    """On the scheduler: tasks that it holds, chunks that ended, seconds that they took, its own memory and time."""
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


def _sweep(n: int, path: Path | None, workers: Any, progress: Callable[[float], None] | bool = False) -> Any:
    from saltus.study.sweep import sweep

    options: dict[str, Any] = {"timestep": STEP, "sample": SAMPLE, "samples": n, "workers": workers, "save": path}
    return sweep(MODEL, _distributions(), MEASURES, DURATION, progress=progress, **options)


# ------------------------------------------------------------ disk and memory


def measure_store(path: Path, n: int) -> Stored:
    """Sizes of files, as they are read."""
    import zarr

    group = zarr.open_group(path, mode="r")
    sizes = {"value": 0, "result": 0}
    files = 0
    for name, array in group.arrays():
        role = "value" if array.attrs.get("role") == "value" else "result"
        chunks = [file for file in (path / name).rglob("*") if file.is_file() and file.name != "zarr.json"]
        sizes[role] += sum(file.stat().st_size for file in chunks)
        files += len(chunks) if role == "result" else 0
    (block,) = {array.chunks[0] for _, array in group.arrays() if array.attrs.get("role") != "value"}
    return Stored(sizes["result"] / n, sizes["value"] / n, block, files / -(-n // block))


def measure_memory(n: int, path: Path) -> Memory:
    """What Python holds in this process, of a sweep that is opened again after all its runs have been done."""
    fill_store(n, path)
    tracemalloc.start()
    try:
        values = points(n)
        held, _ = tracemalloc.get_traced_memory()
        del values
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        table = _sweep(n, path, 1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if set(table.status) != {"done"}:
        raise SaltusError("a store that is full was not taken as done")
    return Memory(n, held / n, (most - before) / n)


def fill_store(n: int, path: Path) -> None:
    """A store as a sweep of n runs leaves it. Its results are drawn at random: what they take depends on n alone."""
    import numpy as np
    import zarr

    from saltus.record.io.sweep_zarr import NOTE, STATUS, STATUSES
    from saltus.record.table.sweep_table import DONE

    def leave(fraction: float) -> None:
        raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)  # that nothing is done
        _sweep(n, path, 1, leave)
    group: Any = zarr.open_group(path, mode="r+")
    for name in MEASURES:
        group[name][:] = np.random.default_rng(0).normal(size=n)
    group[NOTE][:] = 0
    group[STATUS][:] = STATUSES.index(DONE)


# ------------------------------------------------------------ what is printed


def _print(runs: Runs, cluster: OnCluster, stored: Stored, memory: Sequence[Memory], about: dict[str, Any]) -> None:
    from saltus.bench.harness.report import print_table
    from saltus.terminal import screen

    work = runs.work
    print(f"{MODEL}: {work['steps']} steps, {work['samples']} samples, {work['measures']} measures a run")
    one = (
        f"{runs.alone * 1e3:.3g} ms",
        f"{runs.together * 1e3:.3g} ms",
        f"{runs.ratio:.2f} x",
        f"{runs.difference:.0e}",
    )
    print_table(("one by one", "side by side", "faster", "difference"), [one], left=())
    print("a run on one core; difference: of the measures, relative to the largest")
    found = (
        str(cluster.runs),
        str(cluster.chunks),
        f"{cluster.seconds:.1f} s",
        f"{cluster.idle * 100:.1f} %",
        f"{cluster.lost * 1e3:.3g} ms",
        f"{cluster.scheduler * 1e3:.3g} ms",
        f"{cluster.message} B",
    )
    headers = ("runs", "chunks", "time", "idle", "idle a chunk", "scheduler a chunk", "message")
    print_table(headers, [found], left=())
    print(f"on {screen.count(cluster.workers, 'worker')} of a Dask cluster; scheduler a chunk: its processor time")
    rows = [(str(x.runs), str(x.tasks), f"{x.memory / 2**20:.1f} MiB") for x in cluster.looks]
    print_table(("runs done", "tasks", "memory of the scheduler"), rows, left=())
    sizes = (f"{stored.results:.1f} B", f"{stored.values:.1f} B", str(stored.block), f"{stored.files:.2f}")
    print_table(("results of a run", "values of a run", "runs a block", "files a block"), [sizes], left=())
    print("in the store, compressed; results: measures, status and note")
    rows = [(str(m.runs), f"{m.points:.0f} B", f"{m.most:.0f} B") for m in memory]
    print_table(("runs", "values of a run", "most of a run"), rows, left=())
    print("memory of the process that asks for the sweep; most: while a finished sweep is opened and read")
    cores = f"{screen.count(about['cores'], 'core')}, {about['simd_bits']}-bit SIMD"
    print(f"{about['cpu']}, {cores}; medians of {REPEATS} repeats; Python {about['python']}")
