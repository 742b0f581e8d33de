"""`saltus bench sweep`: the needs of a sweep of very many short runs, and their growth with the number of runs.

A pendulum's length, mass, damping and first angle are drawn at random. Measured are a run in the lanes of a batch and
by itself, in turn; a sweep on two workers of a Dask cluster whose scheduler is a process of its own; the files of its
store; and the memory of the process that asks for it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saltus.bench.sweep.cluster import OnCluster, measure_cluster, running_cluster
from saltus.bench.sweep.one_core import REPEATS, Runs, measure_runs
from saltus.bench.sweep.runs import MODEL
from saltus.bench.sweep.store import Memory, Stored, measure_memory, measure_store
from saltus.errors import OptionError


@dataclass(frozen=True)
class Amount:
    """Numbers of runs: one by one, side by side, on the cluster, and those of which the client's memory is measured."""

    alone: int
    together: int
    cluster: int
    client: tuple[int, ...]


def bench_sweep(*, quick: bool, n: int | None = None, json_path: Path | None = None) -> None:
    """Run the benchmark: measure, print tables, write them as JSON. `n`: runs on the cluster."""
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
        runs = measure_runs(amount.alone, amount.together)
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
