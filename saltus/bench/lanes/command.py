"""`saltus bench lanes`: where the time of a batch's step goes, and how long its lanes wait for each other.

Simulations of a model move under random controls; then one step of theirs is taken apart, stage by stage. Each stage
is timed on the groups of lanes that the simulations form, and on groups of copies of each simulation, in which no lane
waits. Beside these times stands the least that the processor would need (see `saltus.bench.lanes.needs`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saltus.bench.harness.report import QUICK, Effort, print_table

STEPS = 200  # steps after which a step is taken apart
PRECISIONS = ("float64", "float32")
COUNTED = ("contacts", "rows", "iterations")
FOOTNOTES = (
    "times of a step of one simulation on one core (CPU time), by differences, which noise can make negative",
    "used: what lanes that do not wait would take, over this; 1 where no lane waits for another",
    "stages are those of the first evaluation of accelerations; the rest of a step has all others, and the integrator",
)


@dataclass(frozen=True)
class Lanes:
    """Measurement of one model in one precision.

    `stages`: `saltus.bench.lanes.waiting.Stage`; `counts`: by name of contacts, rows and iterations the means of groups
    and of simulations by themselves, the most of a simulation, and the utilisation. flops, bytes: least work of a step;
    bound: least time for it (s); peak, bandwidth: of the processor, per second.
    """

    model: str
    precision: str
    integrator: str
    width: int
    n: int
    stages: list[Any]
    counts: dict[str, tuple[float, float, float, float]]
    flops: float
    bytes: float
    bound: float
    peak: float
    bandwidth: float

    @property
    def seconds(self) -> float:
        """Time of a step of one simulation (s)."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def used(self) -> float:
        """Utilisation of lanes in a whole step, by time."""
        return sum(stage.alone for stage in self.stages) / self.seconds


def bench_lanes(
    *, models: Sequence[str], quick: bool, n: int | None, steps: int | None, json_path: Path | None
) -> None:
    """Run the benchmark: measure, print tables, write them as JSON."""
    from saltus.bench.harness import machine
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    effort = QUICK if quick else Effort()
    found: list[Lanes] = []
    with screen.Activity() as activity, screen.collected_warnings() as warned:
        for model in models:
            for precision in PRECISIONS[: 1 if quick else None]:
                what = f"measuring {Path(model).stem}, {precision}"
                activity.show(what)
                found.append(
                    measure(model, precision, n or effort.simulations, STEPS if steps is None else steps, effort)
                )
                activity.end(what)
    for text in warned:
        screen.say(f"warning: {text}")
    about = machine.description(1)
    for one in found:
        show(one)
    for line in FOOTNOTES:
        print(line)
    print(f"{about['cpu']}, {about['simd_bits']}-bit SIMD; medians of {effort.repeats} repeats")
    if json_path is not None:
        rows = [{k: None if v != v else v for k, v in asdict(one).items()} for one in found]  # JSON has no nan
        write_whole(
            json_path, (json.dumps({"machine": about, "lanes": rows}, indent=2) + "\n").encode(), what="benchmark"
        )
        print(f"wrote {json_path}")


def measure(source: str, precision: str, n: int, steps: int, effort: Effort) -> Lanes:
    """Measure a model."""
    from saltus.bench.lanes.needs import roofline
    from saltus.bench.lanes.waiting import Groups, moved

    groups = Groups(moved(source, n, steps, precision))
    batch, counts = groups.batch, groups.counts()
    tableau = batch.integrator.tableau
    evaluations = 1 if tableau is None else len(tableau) - 1
    state = groups.together[0, :, 0].nbytes
    least = roofline(batch.shared, evaluations, float(counts.flops.mean()), state, precision)
    return Lanes(
        model=batch.shared.name,
        precision=precision,
        integrator=batch.integrator.name,
        width=groups.lanes.width,
        n=groups.n,
        stages=groups.times(effort.repeats, effort.seconds),
        counts={name: counts.summary(k) for k, name in enumerate(COUNTED)},
        flops=least.flops,
        bytes=least.bytes,
        bound=least.seconds,
        peak=least.peak,
        bandwidth=least.bandwidth,
    )


def show(found: Lanes) -> None:
    """Print a measurement: stages, counts and the bound."""
    print(f"{found.model}: {found.n} simulations, {found.width} lanes of {found.precision}, {found.integrator}")
    rows = [_stage(s.name, s.seconds, s.alone, found.seconds) for s in found.stages]
    total = _stage("all", found.seconds, found.used * found.seconds, found.seconds)
    print_table(("stage", "a step", "share", "used"), [*rows, total], left=("stage",))
    counts = [
        (name, f"{group:.2f}", f"{alone:.2f}", f"{most:.0f}", f"{used:.2f}")
        for name, (group, alone, most, used) in found.counts.items()
    ]
    print_table(("counted", "a group", "a simulation", "at most", "used"), counts, left=("counted",))
    if math.isnan(found.flops):
        print("least operations: not counted, since kernels of this model only run compiled")
    else:
        share = 100.0 * found.bound / found.seconds
        print(
            f"at least {found.flops:,.0f} operations and {found.bytes:,.0f} bytes: {1e6 * found.bound:.3g} µs at "
            f"{found.peak / 1e9:.0f} GFLOP/s and {found.bandwidth / 1e9:.1f} GB/s, {share:.0f} % of the step"
        )
    print()


def _stage(name: str, seconds: float, alone: float, whole: float) -> tuple[str, ...]:
    """One line of the table of stages."""
    share = 100.0 * seconds / whole
    used = f"{alone / seconds:.2f}" if share > 1.0 else ""  # less is noise
    return name, f"{1e6 * seconds:.3g} µs", f"{share:.1f} %", used
