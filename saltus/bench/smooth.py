"""`saltus bench smooth`: motion without constraints against MuJoCo 4.0, both in this process, in turn."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saltus.errors import OptionError

ROOT = Path(__file__).resolve().parents[2]
# humanoids of others, in the order of preference; none is part of the project
HUMANOIDS = (
    ("beside the project", lambda: ROOT.parent / "shared" / "models" / "mujoco" / "humanoid.xml"),
    ("of gymnasium", lambda: _packaged("gymnasium", "envs/mujoco/assets/humanoid.xml")),
    ("of dm_control", lambda: _packaged("dm_control", "suite/humanoid.xml")),
)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    repeats: int = 7
    seconds: float = 0.1  # that each timing lasts at least
    simulations: int = 128  # of a batch, a thread
    batch_steps: int = 100


QUICK = Effort(repeats=5, seconds=0.01, simulations=32, batch_steps=20)


@dataclass(frozen=True)
class Case:
    """A model to measure, with as many steps from its start to the next as keep its motion sensible."""

    name: str
    model: Any
    steps: int
    spread: float = 0.3
    linearize: bool = False


@dataclass(frozen=True)
class Row:
    """One comparison.

    `what`: "step", "batch float64", "batch float32" or "linearize". `peer` and `saltus`: seconds a unit, a step of one
    simulation (on one core), or a pair of matrices. `ratio`: how many times faster, the median over the repeats.
    `difference`: of the peers' results.
    """

    model: str
    nv: int
    what: str
    peer: float
    saltus: float
    ratio: float
    difference: float = math.nan


def bench_smooth(*, quick: bool, threads: int | None, json_path: Path | None, extra: list[str]) -> None:
    """Measure, print a table, write it as JSON."""
    from saltus.bench import machine
    from saltus.cli import screen
    from saltus.record.whole import check_writable, write_whole

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    if threads is not None and threads < 1:
        raise OptionError(f"threads must be at least 1, got {threads}")
    threads = threads or machine.cores()
    effort = QUICK if quick else Effort()
    cases, notes = _cases(quick, extra)
    rows: list[Row] = []
    with screen.Activity() as activity:
        for case in cases:
            show = activity.progress(f"measuring {case.name}")
            rows += _measure(case, effort, threads, show)
            activity.end(f"measuring {case.name}")
    about = machine.description(threads)
    for note in notes:
        print(note)
    _print(rows, about, effort)
    if json_path is not None:
        content = {"machine": about, "effort": asdict(effort), "notes": notes, "rows": [asdict(r) for r in rows]}
        write_whole(json_path, (json.dumps(_plain(content), indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def _cases(quick: bool, extra: list[str]) -> tuple[list[Case], list[str]]:
    """What is measured, and what is to be said about it."""
    from saltus.model.load import n_link

    cases = [Case("pendulum", "pendulum", 10_000)]
    notes = []
    if quick:
        cases.append(Case("3 links", n_link(3), 1000, linearize=True))
    else:
        cases.append(Case("10 links", n_link(10), 1000))
        path, note = find_humanoid()
        notes.append(note)
        cases += [Case("humanoid", str(path), 1000, linearize=True)] if path else []
        cases.append(Case("100 links", n_link(100), 200, spread=0.02))
    return cases + [Case(Path(m).stem, m, 500, linearize=True) for m in extra], notes


def find_humanoid() -> tuple[Path | None, str]:
    """The first humanoid that there is, and which one it is."""
    for whose, place in HUMANOIDS:
        path = place()
        if path is not None and path.is_file():
            return path, f"humanoid: the one {whose}, {path.name}"
    return None, "humanoid: not measured, no file found; pip install gymnasium or name one with --model"


def _packaged(package: str, inside: str) -> Path | None:
    """A file of a package, without importing it."""
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent / inside if found and found.origin else None


def _measure(case: Case, effort: Effort, threads: int, show: Callable[[float], None]) -> list[Row]:
    from saltus.bench import peers
    from saltus.bench.timing import in_turn

    setup = peers.Setup(case.model, spread=case.spread)
    nv = setup.model.nv
    timed = {"repeats": effort.repeats, "least": effort.seconds}
    difference = setup.difference()
    contenders = peers.single(setup, case.steps)
    found = in_turn(contenders, **timed)
    _require_moving(setup, case.steps)
    rows = [_row(case.name, nv, "step", found, "saltus", difference)]
    show(0.3)
    steps = min(effort.batch_steps, case.steps)
    found = in_turn(peers.batches(setup, effort.simulations * threads, steps, threads), **timed)
    rows += [_row(case.name, nv, f"batch {p}", found, f"saltus {p}") for p in ("float64", "float32")]
    show(0.8)
    if case.linearize:
        contenders, apart = peers.derivatives(setup)
        rows.append(_row(case.name, nv, "linearize", in_turn(contenders, **timed), "saltus", apart))
    return rows


def _require_moving(setup: Any, steps: int) -> None:
    """Both peers' states after the timed steps."""
    import mujoco

    from saltus.bench.peers import require_motion

    sim, data = setup.simulation(), setup.data()
    sim.step(steps)
    mujoco.mj_step(setup.mujoco, data, steps)
    for name, state in (("saltus", sim), ("mujoco", data)):
        require_motion(f"{setup.name}, {name}", state.qpos, setup.qpos, state.time, steps * setup.timestep)


def _row(model: str, nv: int, what: str, found: dict[str, Any], own: str, difference: float = math.nan) -> Row:
    mine, peer = found[own], found["mujoco"]
    return Row(model, nv, what, peer.median, mine.median, mine.ratio_to(peer), difference)


def _print(rows: list[Row], about: dict[str, Any], effort: Effort) -> None:
    from rich.table import Table

    from saltus.cli import screen

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    headers = ("model", "dof", "what", f"MuJoCo {about['mujoco']}", "Saltus", "faster", "difference")
    for header in headers:
        table.add_column(header, justify="left" if header in ("model", "what") else "right", no_wrap=True)
    for r in rows:
        apart = "" if math.isnan(r.difference) else f"{r.difference:.0e}"
        times = (f"{r.peer * 1e6:.3g} µs", f"{r.saltus * 1e6:.3g} µs")
        table.add_row(r.model, str(r.nv), r.what, *times, f"{r.ratio:.2f} x", apart)
    print("motion without constraints, semi-implicit Euler")
    screen.console().print(table)
    print("times of one step of one simulation, in batches on one core; linearize: of A and B")
    print("difference: of positions and velocities after 10 steps; linearize: of A and B, from finite differences")
    print(
        f"{about['cpu']}, {screen.count(about['cores'], 'core')}, {about['simd_bits']}-bit SIMD; "
        f"batches on {screen.count(about['threads'], 'thread')}; medians of {effort.repeats} repeats; "
        f"Python {about['python']}, Numba {about['numba']}, NumPy {about['numpy']}"
    )


def _plain(value: Any) -> Any:
    """JSON knows no nan."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
