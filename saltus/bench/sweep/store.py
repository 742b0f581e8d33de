"""Size of a sweep's store on disk, and in the memory of the process that asks for it."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import dataclass
from pathlib import Path

from saltus.bench.sweep.runs import MEASURES, points, run_sweep
from saltus.errors import SaltusError, SaltusWarning


@dataclass(frozen=True)
class Stored:
    """Sizes of a store: bytes per run of measures, status and note, and of values; runs per block; files per block."""

    results: float
    values: float
    block: int
    files: float


@dataclass(frozen=True)
class Memory:
    """Bytes per run in the asking process: of the values alone; at most, when a stored sweep is opened and read."""

    runs: int
    points: float
    most: float


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
    """Memory of Python in this process, for a sweep that is opened again after all its runs are done."""
    fill_store(n, path)
    tracemalloc.start()
    try:
        values = points(n)
        held, _ = tracemalloc.get_traced_memory()
        del values
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        table = run_sweep(n, path, 1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if set(table.status) != {"done"}:
        raise SaltusError("a store that is full was not taken as done")
    return Memory(n, held / n, (most - before) / n)


def fill_store(n: int, path: Path) -> None:
    """Write a store as a sweep of n runs leaves it. Results are drawn at random: their size depends on n alone."""
    import numpy as np

    from saltus.record.io.sweep.stored import StoredSweep
    from saltus.record.io.sweep_zarr import SweepStore
    from saltus.record.table.sweep_table import DONE

    def leave(fraction: float) -> None:
        raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)  # an interrupted sweep warns that nothing is done
        run_sweep(n, path, 1, leave)
    drawn = np.random.default_rng(0).normal(size=(n, len(MEASURES))).tolist()
    store = SweepStore(path, tuple(MEASURES), n, StoredSweep(path).block)
    for first in range(0, n, store.block):
        rows = drawn[first : first + store.block]
        store.write(first, [{"status": DONE, "measures": dict(zip(MEASURES, row, strict=True))} for row in rows])
