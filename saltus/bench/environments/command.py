"""`saltus bench env`: steps of environments a second against Gymnasium, EnvPool and `mujoco.batch`, in turn.

All take random actions and go on from repeat to repeat, so that episodes begin and end at any time. Saltus and
`mujoco.batch` also take one step from the same starts with the same actions, with solvers at their minimum, and the
results are compared.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.bench.environments.sides import Side, Timed
    from saltus.bench.harness.timing import Timing

TASKS = ("HalfCheetah", "Ant", "Humanoid")
QUICK_TASKS = ("InvertedPendulum",)
PRECISIONS = ("float64", "float32")
COMPARED = 8  # simulations whose numbers are compared
PEERS = ("gymnasium sync", "gymnasium async", "envpool", "mujoco.batch")


@dataclass(frozen=True)
class Effort:
    """Amount of measurement: simulations of a task and of a robot, repeats, seconds of a timing, untimed steps."""

    n: int = 1024
    robots: int = 4096
    repeats: int = 7
    seconds: float = 0.5
    warming: int = 32


QUICK = Effort(n=64, robots=64, repeats=3, seconds=0.02, warming=4)


@dataclass(frozen=True)
class EnvRow:
    """Timing of one contender on a task.

    `seconds`: of a step of one simulation, on all threads together. `faster`: speed of Saltus relative to it,
    in float64 and in float32. `difference`: of observations and rewards after one step, relative to their size.
    """

    task: str
    who: str
    n: int
    threads: int
    seconds: float
    faster: tuple[float, float] | None = None
    difference: float = math.nan


@dataclass(frozen=True)
class CostRow:
    """Parts of the cost of a step of Saltus.

    `host`: the part of a step outside the compiled call. `varied`: ratio by which a step is longer where simulations
    have values of their own.
    """

    task: str
    precision: str
    n: int
    host: float
    varied: float = math.nan


Found = tuple[list[EnvRow], list[CostRow]]


def bench_env(
    *,
    quick: bool,
    threads: int | None,
    json_path: Path | None,
    tasks: Sequence[str],
    models: Sequence[str],
    n: int | None,
    repeats: int | None,
) -> None:
    """Run the benchmark: measure, print two tables, write them as JSON."""
    from saltus.arguments import thread_count
    from saltus.bench.harness import machine
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    known = (*TASKS, *QUICK_TASKS)
    for name in tasks:
        if name not in known:
            raise OptionError.unknown("task", name, known)
    effort, count = planned(quick, n, repeats), thread_count(threads)
    chosen = tasks or (() if models else QUICK_TASKS if quick else TASKS)
    measured: list[tuple[str, Callable[[], Found]]] = [(t, lambda t=t: measure_task(t, effort, count)) for t in chosen]
    measured += [(Path(m).stem, lambda m=m: measure_robot(m, effort)) for m in models]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
    rows: list[EnvRow] = []
    costs: list[CostRow] = []
    with screen.Activity() as activity, screen.collected_warnings() as warned:
        for name, measure in measured:
            activity.show(f"measuring {name}")
            found = measure()
            rows, costs = rows + found[0], costs + found[1]
            activity.end(f"measuring {name}")
    for text in warned:
        screen.say(f"warning: {text}")
    about = machine.description(count)
    _print(rows, costs)
    print(
        f"{about['cpu']}, {screen.count(about['cores'], 'core')}, {about['simd_bits']}-bit SIMD, load {load:.1f}; "
        f"medians of {effort.repeats} repeats, in turn; Python {about['python']}, MuJoCo {about['mujoco']}"
    )
    if json_path is not None:
        content = {"machine": about, "load": load, "effort": asdict(effort)}
        content |= {"rows": [asdict(r) for r in rows], "costs": [asdict(r) for r in costs]}
        write_whole(json_path, (json.dumps(_plain(content), indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def planned(quick: bool, n: int | None, repeats: int | None) -> Effort:
    """Amount of measurement, with the options of the command line."""
    usual = QUICK if quick else Effort()
    sizes = (usual.n, usual.robots) if n is None else (n, n)
    return Effort(*sizes, repeats or usual.repeats, usual.seconds, usual.warming)


# ---------------------------------------------------------------- bundled tasks


def measure_task(name: str, effort: Effort, threads: int) -> Found:
    """Measure a bundled task; return its rows."""
    from saltus.bench.environments import sides
    from saltus.bench.environments.mujoco_tasks import TASKS as BY_MUJOCO

    own = {p: sides.saltus_task(name, effort.n, threads, p) for p in PRECISIONS}
    envs = own["float64"][1]
    peer = BY_MUJOCO[name](envs.environment.loaded().mujoco, effort.n, threads)
    actions = envs.some_actions()
    missing = sides.missing()
    makers: dict[str, Callable[[], Side]] = {
        "gymnasium sync": lambda: sides.gymnasium_task(name, "sync", threads),
        "gymnasium async": lambda: sides.gymnasium_task(name, "async", threads),
        "envpool": lambda: sides.envpool_task(name, effort.n, threads),
        "mujoco.batch": lambda: sides.mujoco_task(peer, actions),
    }
    entered = [make() for who, make in makers.items() if who not in missing]
    try:
        timings = _timed([*entered, *(side for side, _ in own.values())], effort)
    finally:
        for side in entered:
            side.close()
    rows = [_row(name, side, threads, timings) for side in entered]
    rows[-1] = replace(rows[-1], difference=task_difference(name))
    rows += [_row(name, side, threads, timings) for side, _ in own.values()]
    return rows, [_cost(name, p, timed) for p, (_, timed) in own.items()]


def task_difference(name: str) -> float:
    """Difference between Saltus and `mujoco.batch`, see `one_step_difference`."""
    from saltus.bench.environments import sides
    from saltus.bench.environments.mujoco_tasks import TASKS as BY_MUJOCO

    model = sides.solved_tightly(sides.found(name, {}).loaded().mujoco)
    envs = sides.Timed(sides.found(name, {"model": model}), COMPARED, threads=1)
    envs.reset(seed=0)
    return one_step_difference(envs, BY_MUJOCO[name](model, COMPARED, 1), envs.some_actions()[0])


def one_step_difference(envs: Any, peer: Any, actions: Any) -> float:
    """Largest difference of observations and rewards after one step from the starts of `envs`, relative to size."""
    import numpy as np

    peer.put(np.arange(peer.n), envs.read("qpos"), envs.read("qvel"))
    seen, rewards, terminated, _, infos = envs.step(actions)
    theirs, their_rewards, *_ = peer.step(actions)
    own = rewards - infos.get("reward_contact", 0.0)  # mujoco.batch does not compute it
    kept = ~terminated  # environments whose episodes have not begun anew
    pairs = ((seen[kept, : theirs.shape[1]], theirs[kept]), (own[kept], their_rewards[kept]))
    return max(float((np.abs(a - b) / (1.0 + np.abs(b))).max(initial=0.0)) for a, b in pairs)


# ---------------------------------------------------------------- a robot


def measure_robot(source: str, effort: Effort) -> Found:
    """Measure a robot from a file on one thread, each simulation with values of its own; return its rows."""
    import numpy as np

    from saltus.bench.environments import robot, sides

    model, environment, changes = robot.made(source)
    n, rng = effort.robots, np.random.default_rng(0)
    values = robot.own_values(model, n, rng)
    actions = [robot.controls(model, n, rng) for _ in range(sides.ACTIONS)]
    peer = robot.MujocoRobot(model.mujoco, n, 1)
    robot.give_values(peer, values)
    entered = [sides.mujoco_task(peer, actions)]
    timed: dict[tuple[str, bool], Timed] = {}
    for precision in PRECISIONS:
        for own in (True, False):
            made = environment(**changes, vary=robot.varied(model) if own else ())
            envs = timed[precision, own] = sides.Timed(made, n, threads=1, precision=precision)
            if own:
                robot.give_values(envs, values)
            envs.reset(seed=0)
            who = f"saltus {precision}{'' if own else ', shared'}"
            entered.append(sides.Side(who, n, envs.timed_step, actions))
    timings = _timed(entered, effort)
    name = Path(source).stem
    rows = [_row(name, side, 1, timings) for side in entered if "shared" not in side.name]
    rows[0] = replace(rows[0], difference=robot_difference(source))
    costs = []
    for precision in PRECISIONS:
        shared, own = timings[f"saltus {precision}, shared"], timings[f"saltus {precision}"]
        costs.append(_cost(name, precision, timed[precision, True], shared.ratio_to(own)))
    return rows, costs


def robot_difference(source: str) -> float:
    """Difference between Saltus and `mujoco.batch`, each simulation with values of its own."""
    import numpy as np

    from saltus.bench.environments import robot, sides

    tight = sides.solved_tightly(robot.made(source)[0].mujoco)
    model, environment, changes = robot.made(tight)
    rng = np.random.default_rng(0)
    values, actions = robot.own_values(model, COMPARED, rng), robot.controls(model, COMPARED, rng)
    envs = sides.Timed(environment(**changes, vary=robot.varied(model)), COMPARED, threads=1)
    peer = robot.MujocoRobot(model.mujoco, COMPARED, 1)
    for side in (envs, peer):
        robot.give_values(side, values)
    envs.reset(seed=0)
    return one_step_difference(envs, peer, actions)


# ---------------------------------------------------------------- times and tables


def _timed(entered: Sequence[Side], effort: Effort) -> dict[str, Timing]:
    from saltus.bench.harness.timing import in_turn

    return in_turn([s.contender(effort.warming) for s in entered], repeats=effort.repeats, least=effort.seconds)


def _row(task: str, side: Side, threads: int, timings: dict[str, Timing]) -> EnvRow:
    mine = timings[side.name]
    faster = None
    if side.name in PEERS:
        double, single = (timings[f"saltus {p}"].ratio_to(mine) for p in PRECISIONS)
        faster = double, single
    return EnvRow(task, side.name, side.n, threads, mine.median, faster)


def _cost(task: str, precision: str, timed: Timed, varied: float = math.nan) -> CostRow:
    return CostRow(task, precision, timed.num_envs, median(timed.shares), varied)


def _print(rows: list[EnvRow], costs: list[CostRow]) -> None:
    from saltus.bench.environments.sides import missing
    from saltus.bench.harness.report import print_table

    print("environments: steps a second, random actions")
    headers = ("task", "who", "n", "threads", "steps/s", "a step", "float64", "float32", "difference")
    print_table(headers, [_cells(r) for r in rows], left=("task", "who"))
    print("a step: of one simulation; float64, float32: how many times faster Saltus is in that precision")
    print("difference: of observation and reward after one step from the same start in float64, solvers at their")
    print("  minimum, relative to 1 or their size")
    print("Gymnasium's and EnvPool's environments are version 5; gymnasium async: one process an environment")
    print("mujoco.batch: rewards, ends and starts by NumPy; no external wrenches, which it does not compute")
    for who, why in missing().items():
        print(f"{who}: {why}")
    table = [
        (r.task, r.precision, str(r.n), f"{100 * r.host:.1f} %", "" if math.isnan(r.varied) else f"{r.varied:.2f} x")
        for r in costs
    ]
    print_table(("task", "precision", "n", "host", "own values"), table, left=("task", "precision"))
    print("host: part of a step outside the compiled call; own values: time of a step with them over that without")


def _cells(row: EnvRow) -> tuple[str, ...]:
    faster = ("", "") if row.faster is None else tuple(f"{x:.3g} x" for x in row.faster)
    apart = "" if math.isnan(row.difference) else f"{row.difference:.0e}"
    rate = f"{1.0 / row.seconds:,.0f}"
    return row.task, row.who, str(row.n), str(row.threads), rate, f"{1e6 * row.seconds:.3g} µs", *faster, apart


def _plain(value: Any) -> Any:
    """Replace nan by None, as JSON has no nan."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
