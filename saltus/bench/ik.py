"""`saltus bench ik`: inverse kinematics of random reachable targets beside mink's loop, in this process, in turn.

Targets are made by random configurations within the ranges, so that all can be reached. Both sides begin at qpos0 and,
where a search fails, at the same random configurations. mink solves a quadratic program with the ranges as constraints
in each iteration, as its examples do, with a step of one: Gauss-Newton with Levenberg-Marquardt damping. Whether a
target is met is judged by MuJoCo's kinematics for both.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import FREE, HINGE, SLIDE
from saltus.model.model import Model

Array = NDArray[np.float64]
MISSING = "mink: not measured, it is not installed; pip install mink daqp"
TOLERANCE = 1e-4  # m and rad: the threshold of mink's examples
ITERATIONS, RESTARTS = 100, 10
LM_DAMPING = 1e-2  # of mink's tasks: of powers of ten, the one by which it solves most, here and in `cases`
SOLVER = "daqp"  # mink's examples' quadratic programming
FEW, MANY = 1000, 10_000  # targets of single searches and of a batch
FLOATING = (0.3, 0.5)  # m, rad: standard deviations of a free body's place and turn
SEED = 1


@dataclass(frozen=True)
class Reach:
    """Problems of a model: `bodies` with a goal, and whether it is a pose (True) or a place alone; mink's damping."""

    name: str
    model: Model
    bodies: dict[str, bool]
    damping: float = LM_DAMPING


@dataclass(frozen=True)
class Figure:
    """One side on one model. `solved`: share of the targets; `seconds`: CPU time a target on one core, their median.

    `ratio`: speed relative to mink's with as many restarts, None where it was not measured. `within`: whether all
    solutions keep the joints' ranges.
    """

    model: str
    dof: int
    name: str
    targets: int
    solved: float
    seconds: float
    ratio: float | None
    within: bool


def bench_ik(*, quick: bool, json_path: Path | None, extra: list[str]) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.record.files.atomic_write import check_writable, write_whole

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    if not has_mink():
        print(MISSING)
    figures = [figure for reach in cases(quick, extra) for figure in measured(reach, quick)]
    about = machine.description(1)
    print(f"random reachable targets, met to {TOLERANCE:g} m and rad within {ITERATIONS} iterations of a search")
    rows = [
        (f.model, str(f.dof), f.name, str(f.targets), f"{f.solved:.1%}", f"{f.seconds * 1e6:.3g} µs", _times(f.ratio))
        for f in figures
    ]
    print_table(("model", "dof", "search", "targets", "solved", "a target", "faster"), rows, left=("model", "search"))
    print(f"{about['cpu']}; CPU times on one core; up to {RESTARTS} random starts where it says restarts")
    if json_path is not None:
        content = {"machine": about, "figures": [asdict(f) for f in figures]}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def has_mink() -> bool:
    """Whether mink is there with the solver of its examples."""
    return find_spec("mink") is not None and find_spec(SOLVER) is not None


def cases(quick: bool, extra: list[str]) -> list[Reach]:
    """An arm, a humanoid with feet and hands at poses and places, a hand with five fingertips; models of users."""
    from saltus.model.load import load

    arm = Reach("arm of seven joints", load(ARM), {"flange": True})
    if quick:
        return [arm, *(of_user(path) for path in extra)]
    feet = {f"{side}_foot": True for side in ("left", "right")}
    hands = {f"{side}_forearm": False for side in ("left", "right")}
    fingertips = {f"tip{k}": False for k in range(FINGERS)}
    return [
        arm,
        Reach("humanoid", load("humanoid"), feet | hands, 1e-3),
        Reach("hand", load(hand()), fingertips, 1e-3),
        *(of_user(path) for path in extra),
    ]


def of_user(path: str) -> Reach:
    """Problems of a model: all bodies at the ends of its branches at places; the only one at a pose."""
    from saltus.errors import OptionError
    from saltus.model.load import load

    model = load(path)
    names, parents = model.names("body"), set(model.body_parentid.tolist())
    ends = [names[k] for k in range(1, model.nbody) if k not in parents and model.body_weldid[k] != 0]
    if not model.nv or not ends or any(name.startswith("#") for name in ends):
        raise OptionError(f"{path}: inverse kinematics is measured of mechanisms whose last bodies have names")
    return Reach(Path(path).stem, model, {name: len(ends) == 1 for name in ends})


def measured(reach: Reach, quick: bool) -> list[Figure]:
    """Figures of both sides: from one start, with restarts, and many targets at once."""
    from saltus.bench.harness.timing import Contender, in_turn

    few, many, repeats = (20, 100, 3) if quick else (FEW, MANY, 5)
    goals = targets(reach, configurations(reach.model, many, SEED))
    starts = configurations(reach.model, RESTARTS, SEED + 1)
    own, peer = partial(by_saltus, reach), partial(by_mink, reach, starts=starts)
    ways: dict[str, tuple[int, Callable[[], Array]]] = {}
    for word, restarts in (("one start", 0), ("restarts", RESTARTS)):
        ways[f"saltus, {word}"] = few, partial(one_by_one, own, goals, few, restarts)
        if has_mink():
            ways[f"mink, {word}"] = few, partial(one_by_one, peer, goals, few, restarts)
    ways["saltus, restarts, a batch"] = many, partial(own, goals, RESTARTS)
    found: dict[str, Array] = {}

    def contender(name: str, count: int, work: Callable[[], Array]) -> Contender:
        return Contender(name, lambda: None, lambda: found.__setitem__(name, work()), count)

    contenders = [contender(name, *way) for name, way in ways.items()]
    timings = in_turn(contenders, repeats=repeats, least=0.0, clock=time.process_time)
    out = []
    for name, (count, _) in ways.items():
        beside = timings.get("mink, restarts" if "restarts" in name else "mink, one start")
        ratio = timings[name].ratio_to(beside) if beside and not name.startswith("mink") else None
        met, within = judged(reach, {key: (p[:count], q[:count]) for key, (p, q) in goals.items()}, found[name])
        out.append(
            Figure(reach.name, reach.model.nv, name, count, float(met.mean()), timings[name].median, ratio, within)
        )
    return out


def one_by_one(side: Callable[..., Array], goals: Any, count: int, restarts: int) -> Array:
    """Configurations of the first `count` goals, each by a call."""
    return np.array([side({name: (p[k], q[k]) for name, (p, q) in goals.items()}, restarts) for k in range(count)])


def configurations(model: Model, count: int, seed: int) -> Array:
    """Random configurations [count, nq] within the ranges; free bodies near qpos0, see `FLOATING`."""
    import mujoco

    random, out = np.random.default_rng(seed), np.tile(model.qpos0, (count, 1))
    for j in range(model.njnt):
        at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
        if kind in (HINGE, SLIDE):
            low, high = model.jnt_range[j] if model.jnt_limited[j] else (-np.pi, np.pi)
            out[:, at] = random.uniform(low, high, count)
            continue
        turn = at
        if kind == FREE:
            out[:, at : at + 3] += FLOATING[0] * random.normal(size=(count, 3))
            turn += 3
        for row in out:
            mujoco.mju_quatIntegrate(row[turn : turn + 4], FLOATING[1] * random.normal(size=3), 1.0)
    return out


def targets(reach: Reach, qpos: Array) -> dict[str, tuple[Array, Array]]:
    """Places [n, 3] and quaternions [n, 4] of the bodies with goals in configurations [n, nq], by MuJoCo."""
    import mujoco

    m = reach.model.mujoco
    data, bodies = mujoco.MjData(m), [reach.model.id("body", name) for name in reach.bodies]
    places = np.empty((len(qpos), len(bodies), 7))
    for row, out in zip(qpos, places, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(m, data)
        out[:, :3], out[:, 3:] = data.xpos[bodies], data.xquat[bodies]
    return {name: (places[:, k, :3], places[:, k, 3:]) for k, name in enumerate(reach.bodies)}


def judged(reach: Reach, goals: dict[str, tuple[Array, Array]], qpos: Array) -> tuple[NDArray[np.bool_], bool]:
    """Whether each of configurations [n, nq] meets its goals, and whether all of them keep the joints' ranges."""
    import mujoco

    met, turn = np.ones(len(qpos), bool), np.zeros(3)
    for name, (places, quaternions) in targets(reach, qpos).items():
        met &= np.linalg.norm(places - goals[name][0], axis=1) <= TOLERANCE
        for k, (own, asked) in enumerate(zip(quaternions, goals[name][1], strict=True)):
            if reach.bodies[name]:
                mujoco.mju_subQuat(turn, own, asked)
                met[k] &= bool(np.linalg.norm(turn) <= TOLERANCE)
    model = reach.model
    hinges = np.flatnonzero(model.jnt_limited & np.isin(model.jnt_type, (HINGE, SLIDE)))
    angles, (low, high) = qpos[:, model.jnt_qposadr[hinges]], model.jnt_range[hinges].T
    return met, bool(((angles >= low - 1e-6) & (angles <= high + 1e-6)).all())


def by_saltus(reach: Reach, goals: dict[str, tuple[Array, Array]], restarts: int) -> Array:
    """Configurations of one problem [nq], or of many [n, nq] on one thread."""
    from saltus.inverse.kinematics.ik import ik

    asked = {f"body:{name}": goal if reach.bodies[name] else goal[0] for name, goal in goals.items()}
    found = ik(reach.model, asked, restarts=restarts, tolerance=TOLERANCE, iterations=ITERATIONS, threads=1)
    return found.qpos


def by_mink(reach: Reach, goals: dict[str, tuple[Array, Array]], restarts: int, *, starts: Array) -> Array:
    """The configuration [nq] of mink's loop, from qpos0, then from random starts until one of them is met."""
    import mink  # pyright: ignore[reportMissingImports]

    configuration, tasks, limits = _mink_problem(reach, goals)
    for start in [reach.model.qpos0, *starts[:restarts]]:
        configuration.update(start)
        for _ in range(ITERATIONS):
            if _met(reach, configuration, tasks):
                return configuration.q
            velocity = mink.solve_ik(configuration, tasks, 1.0, SOLVER, damping=0.0, limits=limits)
            configuration.integrate_inplace(velocity, 1.0)
        if _met(reach, configuration, tasks):
            break
    return configuration.q


def _mink_problem(reach: Reach, goals: dict[str, tuple[Array, Array]]) -> tuple[Any, list[Any], list[Any]]:
    """mink's configuration and limits, made once for a model, and its tasks with their targets."""
    import mink  # pyright: ignore[reportMissingImports]

    kept = _kept.get(id(reach))
    if kept is None:
        costs = {name: (1.0, float(turn)) for name, turn in reach.bodies.items()}
        tasks = [mink.FrameTask(name, "body", *cost, 1.0, reach.damping) for name, cost in costs.items()]
        limits = [mink.ConfigurationLimit(reach.model.mujoco, gain=1.0)]
        kept = _kept[id(reach)] = mink.Configuration(reach.model.mujoco), tasks, limits
    for task, (place, quaternion) in zip(kept[1], goals.values(), strict=True):
        task.set_target(mink.SE3.from_rotation_and_translation(mink.SO3(quaternion), place))
    return kept


_kept: dict[int, tuple[Any, list[Any], list[Any]]] = {}


def _met(reach: Reach, configuration: Any, tasks: list[Any]) -> bool:
    """Whether mink's errors are within the tolerance."""
    for task, turn in zip(tasks, reach.bodies.values(), strict=True):
        error = task.compute_error(configuration)
        if np.linalg.norm(error[:3]) > TOLERANCE or (turn and np.linalg.norm(error[3:]) > TOLERANCE):
            return False
    return True


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g} x"


def _chain(links: list[tuple[str, str, str, str]], end: str) -> str:
    """Nested bodies: name, place, axis and range (degrees) of each, and what is in the last one."""
    opened = "".join(
        f'<body name="{name}" pos="{place}"><joint axis="{axis}" range="{span}"/><geom size=".02"/>'
        for name, place, axis, span in links
    )
    return opened + end + "</body>" * len(links)


JOINTS = (  # an arm with shoulder, elbow and wrist: three axes that meet, one, three that meet; m and degrees
    ("a1", "0 0 .34", "0 0 1", "-170 170"),
    ("a2", "0 0 0", "0 1 0", "-120 120"),
    ("a3", "0 0 .2", "0 0 1", "-170 170"),
    ("a4", "0 0 .2", "0 -1 0", "-120 120"),
    ("a5", "0 0 .2", "0 0 1", "-170 170"),
    ("a6", "0 0 .2", "0 1 0", "-120 120"),
    ("a7", "0 0 0", "0 0 1", "-175 175"),
)
HEAD = '<mujoco><default><joint limited="true"/><geom contype="0" conaffinity="0"/></default><worldbody>'
END = "</worldbody></mujoco>"
FLANGE = '<body name="flange" pos="0 0 .126"><geom size=".02"/></body>'
ARM = HEAD + _chain(list(JOINTS), FLANGE) + END
FINGERS = 5


def hand() -> str:
    """MJCF of a hand of 22 joints: a wrist of two, and five fingers that spread and bend, all of them in ranges."""
    fingers = ""
    for k in range(FINGERS):
        root = f"{0.03 * (k - 2):.3g} 0 .09" if k else "-.04 .02 .03"
        bends = [
            (f"finger{k}_{i}", f"0 0 {length}", "1 0 0", "0 95") for i, length in ((1, 0.0), (2, 0.045), (3, 0.028))
        ]
        tip = f'<body name="tip{k}" pos="0 0 .022"><geom size=".008"/></body>'
        fingers += _chain([(f"finger{k}_0", root, "0 1 0", "-20 20"), *bends], tip)
    return HEAD + _chain([("forearm", "0 0 1", "0 1 0", "-40 28"), ("palm", "0 0 0", "1 0 0", "-35 45")], fingers) + END
