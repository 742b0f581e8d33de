"""`saltus bench start`: the time that a user waits until something moves, from an empty cache and from a warm one.

Each start is a process of its own with a cache of its own: `saltus run`, the first step of a batch, a scene of the lab.
Beside the whole wall time stand the seconds of its phases: imports, and those of the compiler. The phases are of one
more start, which is watched; watching takes some 5 % itself, and compilation in other processes is not in them.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

LIMIT = 600.0  # s that a start may take
IMPORT = re.compile(r"^import time:\s+(\d+) \|", re.MULTILINE)  # µs of one module by itself


@dataclass(frozen=True)
class Start:
    """A start to be measured: its kind (see `saltus.bench.start.process`), its arguments, and the starts before it."""

    name: str
    what: str
    arguments: tuple[str, ...]
    after: tuple[Start, ...] = ()


@dataclass
class StartRow:
    """Seconds of wall time of each repeat from an empty cache (or one with the earlier starts in it), and warm."""

    name: str
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    phases: dict[str, float] = field(default_factory=dict)


def starts(quick: bool) -> list[Start]:
    """Starts to measure: bundled models, and robots where they lie beside the project."""
    from saltus.bench.harness.found_models import ROOT

    pendulum = Start("run pendulum", "run", ("pendulum", "--duration", "1"))
    found = [pendulum, Start("run pendulum --no-certify", "run", ("pendulum", "--duration", "1", "--no-certify"))]
    if quick:
        return found
    humanoid = Start("run humanoid", "run", ("humanoid", "--duration", "1"))
    ball = Start("run bouncing_ball, hard", "run", ("bouncing_ball", "--duration", "1", "--contact", "hard"))
    sit = Start("run sit_to_stand, hard", "run", ("sit_to_stand", "--duration", "1", "--contact", "hard"))
    found += [
        humanoid,
        ball,
        Start("run sit_to_stand, hard, after the ball", sit.what, sit.arguments, (ball,)),
        Start("run cart_pole, after the pendulum", "run", ("cart_pole", "--duration", "1"), (pendulum,)),
        Start("run arm, after the humanoid", "run", ("arm", "--duration", "1"), (humanoid,)),
        Start("batch of humanoid", "batch", ("humanoid",)),
        Start("lab pendularm", "scene", ("pendularm",)),
    ]
    robots = sorted((ROOT.parent / "shared" / "models" / "robots").glob("*.xml"))
    return found + [Start(f"batch of {path.stem}", "batch", (str(path),)) for path in robots]


def measure(start: Start, repeats: int) -> StartRow:
    """Measure one start; RuntimeError with the reason where it fails."""
    row = StartRow(start.name)
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="saltus-start-") as cache:
            for before in start.after:
                _seconds(before, cache)
            row.cold.append(_seconds(start, cache)[0])
            row.warm.append(_seconds(start, cache)[0])
    with tempfile.TemporaryDirectory(prefix="saltus-start-") as cache:
        for before in start.after:
            _seconds(before, cache)
        row.phases = _seconds(start, cache, phases=True)[1]
    return row


def _seconds(start: Start, cache: str, *, phases: bool = False) -> tuple[float, dict[str, float]]:
    """Wall time of one start, and of its phases."""
    from saltus.bench.harness.fresh import run_fresh

    given = {"what": start.what, "arguments": start.arguments, "phases": phases}
    environment = {"SALTUS_CACHE_DIR": cache} | ({"PYTHONPROFILEIMPORTTIME": "1"} if phases else {})
    begun = time.perf_counter()
    outcome = run_fresh("saltus.bench.start.process", given, limit=LIMIT, environment=environment)
    whole = time.perf_counter() - begun
    if outcome.late or outcome.error:
        raise RuntimeError(f"{start.name}: {outcome.error or f'took longer than {LIMIT:g} s'}")
    imports = sum(map(int, IMPORT.findall(outcome.stderr))) * 1e-6
    return whole, {"imports": imports, **outcome.facts["phases"]}


def bench_start(*, quick: bool, json_path: Path | None) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.number.cache.archive import archive_path
    from saltus.number.cache.storage import source_key
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    repeats = 1 if quick else 3
    chosen = starts(quick)
    rows = []
    with screen.Activity() as activity:
        for k, start in enumerate(chosen):
            activity.progress(start.name)(k / len(chosen))
            rows.append(measure(start, repeats))
        activity.end("starts")
    phases = list(rows[0].phases)
    print_table(("start", "cold", "warm", *phases), [_cells(row, phases) for row in rows], left=("start",))
    print("seconds; cold: from an empty cache; phases of a cold start, each without those that it contains")
    about = machine.description(1)
    came_along = archive_path(source_key()).exists()
    print(f"{'with' if came_along else 'without'} compiled kernels that came with the package")
    print(f"{about['cpu']}, {about['cores']} cores; medians of {repeats} repeats")
    if json_path is not None:
        content: dict[str, Any] = {
            "machine": about,
            "repeats": repeats,
            "shipped": came_along,
            "rows": [asdict(row) for row in rows],
        }
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def _cells(row: StartRow, phases: Sequence[str]) -> tuple[str, ...]:
    return (
        row.name,
        f"{median(row.cold):.1f}",
        f"{median(row.warm):.1f}",
        *(f"{row.phases[phase]:.1f}" for phase in phases),
    )
