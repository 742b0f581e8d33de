"""`saltus.ik`: inverse kinematics in one call."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import flag, mapping, number, numbers, several, thread_count, whole_number, words
from saltus.errors import OptionError
from saltus.inverse.kinematics.clearance import distance_and_pairs
from saltus.inverse.kinematics.kinds import ORIENTATION
from saltus.inverse.kinematics.problem import KEPT, Problem, workspace
from saltus.inverse.kinematics.solution import IkSolution
from saltus.inverse.kinematics.starts import random_starts
from saltus.inverse.kinematics.targets import Goal, goals_of, names_of, split_goal, tasks_of
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.simulate.engine.threads.pool import ThreadPool

Array = NDArray[np.float64]
RESTARTS = 10  # random starts where the first one fails
TOLERANCE = 1e-6  # m, rad
FEW = 32  # problems that are not worth several threads

_pools: dict[int, ThreadPool] = {}
_problems: dict[tuple[Any, ...], Problem] = {}
_lock = threading.Lock()


def ik(
    model: ModelSource,
    targets: Mapping[str, Goal],
    *,
    start: ArrayLike | None = None,
    weights: Mapping[str, float] | None = None,
    limits: bool = True,
    posture: tuple[ArrayLike, float] | None = None,
    priority: Sequence[str | Sequence[str]] | None = None,
    collision: float | tuple[float, Sequence[tuple[str, str]]] | None = None,
    joints: Sequence[str] | None = None,
    restarts: int | None = None,
    seed: int = 0,
    tolerance: float | tuple[float, float] = TOLERANCE,
    iterations: int = 100,
    follow: bool = False,
    threads: int | None = None,
) -> IkSolution:
    """Configurations in which sites, bodies or geoms are where they are wanted, within the joints' ranges.

    Damped Gauss-Newton steps on the configuration manifold with exact Jacobians (Levenberg-Marquardt), bounded by the
    ranges. Connect, weld and joint constraints of the model hold. What cannot be reached is approached as near as
    possible.

    Args:
        model: any source that `saltus.load` takes; a Model, loaded once, saves the time of loading.
        targets: goals by name. A name is that of a site, body or geom, in this order; "body:hand" is of this kind. Its
            goal is a position [3] (m), or (position, quaternion), as a tuple or `Pose`, either of them None if it is
            free. "com" and "com:body" are centres of mass, of all or of a subtree, at a position. "look:eye": the
            z-axis of the site, body or geom, or the viewing direction of the camera (its -z-axis), goes through a point
            [3]. "axis:hand": the z-axis has a direction [3]. Goals [n, 3] and [n, 4] make n problems.
        start: where the search begins, [nq] or [n, nq]; by default the model's qpos0.
        weights: of targets, by name, on the square of their residuals (1/m², 1/rad²); by default 1.
        limits: whether joints keep their ranges, in every iterate.
        posture: (qpos [nq], weight): of all configurations that are as near to the targets, the one near this.
        priority: names, or lists of names, the most important first: those that follow act only where they do not
            disturb what comes before. Targets that are not named come last.
        collision: distance (m) that pairs of geoms keep, by a heavy weight on what is missing: of all that can touch in
            the model, or, as (distance, [(geom, geom), ...]), of some of them.
        joints: names of the joints that may move; by default all.
        restarts: random starts where the search fails, by default 10, and none for `follow`, where only the first frame
            has them.
        seed: of the random starts.
        tolerance: largest residual that counts as reached: for m and rad, or (m, rad).
        iterations: most iterations of one search.
        follow: the rows of goals are frames of a motion: each search begins at the solution before it. Positions may be
            NaN where a marker is not seen.
        threads: for many problems; by default as many as this process may use.

    Raises:
        OptionError: a name, shape or option is wrong; the message says which.
        ModelError: the model cannot be loaded.
    """
    loaded = model if isinstance(model, Model) else load(model)
    names = names_of(mapping("targets", targets))
    following = flag("follow", follow)
    problem = _problem(loaded, names, targets, weights, flag("limits", limits), priority, joints, collision)
    goals, single = _goals(problem, names, targets, following)
    first, many = _start(loaded, start)
    count = max(len(goals), len(first))
    goals, qpos = _as_many("targets", goals, count), _as_many("start", first, count).copy()
    usual = 0 if following else RESTARTS
    number_of = usual if restarts is None else whole_number("restarts", restarts)
    starts = random_starts(problem, number_of, whole_number("seed", seed))
    tolerances = _tolerances(tolerance)
    options = _options(problem, posture, whole_number("iterations", iterations), tolerances, following)
    norms, counts = np.zeros((count, len(problem.keys))), np.zeros((count, 2), np.int64)
    parts = 1 if following else thread_count(threads)
    _solve(problem, options, goals, starts, (qpos, norms, counts), parts)
    if following:
        norms[np.isnan(goals[:, :, 0])] = np.nan
    return IkSolution(problem, qpos, norms, counts, tolerances, single and not many and not following)


def _problem(model, names, targets, weights, ranges, priority, joints, collision) -> Problem:
    """The problem without its goals, kept for the next call with the same names."""
    heavy = {} if weights is None else _weights(names, weights)
    forms = tuple((name, _form(name, targets[name])) for name in names)
    levels = _levels(names, priority)
    moving = None if joints is None else tuple(words("joints", joints))
    apart = None if collision is None else distance_and_pairs(collision)
    key = (id(model), forms, tuple(heavy.items()), ranges, levels, moving, apart)
    found = _problems.get(key)
    if found is None:
        groups = [[task for name in group for task in tasks_of(model, name, targets[name])] for group in levels]
        found = Problem(model, groups, heavy, _moving(model, moving), ranges, apart)
        with _lock:
            while len(_problems) >= KEPT:
                del _problems[next(iter(_problems))]
            _problems[key] = found
    return found


def _form(name: str, goal: Any) -> tuple[bool, bool]:
    """Whether a goal has a position and a quaternion."""
    position, quaternion = split_goal(name, goal)
    return position is not None, quaternion is not None


def _weights(names: list[str], weights: Any) -> dict[str, float]:
    out = {}
    for name, value in mapping("weights", weights).items():
        if name not in names:
            raise OptionError.unknown("target in weights", name, names)
        out[name] = number(f"the weight of {name!r}", value)
        if not 0 < out[name] < np.inf:
            raise OptionError(f"the weight of {name!r} must be positive and finite, got {value!r}; leave a target out")
    return out


def _levels(names: list[str], priority: Any) -> tuple[tuple[str, ...], ...]:
    """Names of targets by level of priority."""
    if priority is None:
        return (tuple(names),)
    groups = [tuple(words("priority", group)) for group in several("priority", priority)]
    named = [name for group in groups for name in group]
    for name in named:
        if name not in names:
            raise OptionError.unknown("target in priority", name, names)
        if named.count(name) > 1:
            raise OptionError(f"the target {name!r} has two priorities")
    rest = tuple(name for name in names if name not in named)
    return tuple(group for group in (*groups, rest) if group)


def _moving(model: Model, joints: tuple[str, ...] | None) -> NDArray[np.bool_]:
    """Whether each degree of freedom may move."""
    if joints is None:
        return np.ones(model.nv, bool)
    chosen = [model.id("joint", name) for name in joints]
    return np.isin(model.dof_jntid, chosen)


def _goals(problem: Problem, names: list[str], targets: Any, following: bool) -> tuple[Array, bool]:
    """Goals [n, K, 7] of all tasks, and whether there is one problem only."""
    found: dict[str, Array] = {}
    for name in names:
        parts = goals_of(name, problem.tasks[name], targets[name], gaps=following)
        found |= {task.key: part for task, part in zip(problem.tasks[name], parts, strict=True)}
    sizes = {name: len(part) for name, part in found.items() if part.ndim == 2}
    if len(set(sizes.values())) > 1:
        raise OptionError(f"targets must have as many rows as each other, got {sizes}")
    out = np.zeros((next(iter(sizes.values()), 1), len(problem.keys), 7))
    for k in range(problem.closed, len(problem.keys)):
        part = found[problem.keys[k]]
        columns = slice(3, 7) if problem.kinds[k] == ORIENTATION else slice(0, 3)
        out[:, k, columns] = part
    return out, not sizes


def _start(model: Model, start: Any) -> tuple[Array, bool]:
    """Starts [n, nq], and whether they were given as rows."""
    if start is None:
        return np.array(model.qpos0, float)[None], False
    found = numbers("start", start)
    if found.ndim not in (1, 2) or found.shape[-1] != model.nq:
        raise OptionError(f"start must have shape ({model.nq},) or (n, {model.nq}), not {found.shape}")
    if not np.isfinite(found).all():
        raise OptionError("start must be finite")
    return np.atleast_2d(found), found.ndim == 2


def _as_many(what: str, rows: Array, count: int) -> Array:
    """Rows as many as `count`, from as many or one."""
    if len(rows) == count:
        return rows
    if len(rows) != 1:
        raise OptionError(f"{what} have {len(rows)} rows, others {count}; give as many of each, or one")
    return np.repeat(rows, count, axis=0)


def _tolerances(tolerance: Any) -> tuple[float, float]:
    """Tolerances for m and rad."""
    pair = numbers("tolerance", tolerance)
    if pair.shape not in ((), (2,)) or not ((pair > 0) & np.isfinite(pair)).all():
        raise OptionError(f"tolerance must be a positive number, or two (m, rad), got {tolerance!r}")
    length, angle = np.broadcast_to(pair, 2).tolist()
    return length, angle


def _options(problem: Problem, posture: Any, iterations: int, tolerances: tuple[float, float], following: bool):
    """Posture, whole and real options, as kernels take them; see `saltus.inverse.kinematics.kinds`."""
    qpos, weight = np.array(problem.model.qpos0, float), 0.0
    if posture is not None:
        if not isinstance(posture, tuple | list) or len(posture) != 2:
            raise OptionError(f"posture must be (qpos, weight), got {posture!r}")
        rows, many = _start(problem.model, posture[0])
        weight = number("the weight of posture", posture[1])
        if many or not 0 <= weight < np.inf:
            raise OptionError("posture must be (qpos [nq], weight) with a weight that is finite and not negative")
        qpos = np.ascontiguousarray(rows[0])
    whole = [iterations, problem.levels, problem.has_com, weight > 0, following]
    return qpos, np.array(whole, np.int64), np.array([*tolerances, weight, problem.distance])


def _solve(problem: Problem, options, goals: Array, starts: Array, out: tuple[Any, ...], threads: int) -> None:
    """Solve all rows, in threads where there are many."""
    count = len(goals)
    if threads == 1 or count < FEW:
        workspace(problem).solve(options, goals, starts, out)
        return
    step = max(FEW // 2, -(-count // (4 * threads)))
    parts = [slice(at, at + step) for at in range(0, count, step)]
    workspace(problem).solve(options, goals[:0], starts, tuple(part[:0] for part in out))  # compiled here, once
    with _lock:
        pool = _pools.setdefault(threads, ThreadPool(threads)).get()
    work = [pool.submit(_part, problem, options, goals[p], starts, tuple(part[p] for part in out)) for p in parts]
    for each in work:
        each.result()


def _part(problem: Problem, options, goals: Array, starts: Array, out: tuple[Any, ...]) -> None:
    workspace(problem).solve(options, goals, starts, out)
