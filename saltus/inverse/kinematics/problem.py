"""A problem of inverse kinematics in the form of kernels, and the memory on which one thread solves it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.algorithms.workspace import new_data
from saltus.contact.mujoco.collision import attach
from saltus.errors import warn
from saltus.inverse.kinematics.clearance import MOST, WEIGHT, WHY, kept_pairs, with_margins
from saltus.inverse.kinematics.kinds import ALIGNMENT, ANCHOR, CLEARANCE, COM, COUPLING
from saltus.inverse.kinematics.search import loops
from saltus.inverse.kinematics.search.memory import memory_size
from saltus.inverse.kinematics.targets import Task
from saltus.model.enums import BALL, CONNECT, FREE, JOINT, WELD
from saltus.model.layout import model_layout
from saltus.model.model import Model
from saltus.number.features import looked_at
from saltus.number.structs import Struct

Array = NDArray[np.float64]
KEPT = 32  # models, and problems of a model, whose memory a thread keeps
IDENTITY = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


class Row(NamedTuple):
    """A task with its place: level of priority, first row, number of rows, number of its constraint, weight."""

    task: Task
    level: int
    row: int
    dim: int
    object: int
    weight: float


class Problem:
    """The tasks, ranges and constraints of a search, without the goals. Frozen: threads share it.

    Attributes:
        keys: names of the residuals, first those of closed loops.
        closed: number of the first tasks, which are not targets: closed loops, geoms kept apart.
        solved, m: the model as it is solved, and its kernels' form with no features but those that the search looks at.
        ranges: whether joints keep their ranges.
    """

    def __init__(
        self,
        model: Model,
        groups: list[list[Task]],
        weights: dict[str, float],
        moving: NDArray[np.bool_],
        ranges: bool,
        apart: tuple[float, tuple[tuple[str, str], ...] | None] | None = None,
    ):
        self.model, self.ranges = model, ranges
        self.distance = 0.0 if apart is None else apart[0]
        self.solved = model if apart is None else with_margins(model, self.distance)
        self.m = _narrow(self.solved.struct(listed="" if apart is None else WHY), contacts=apart is not None)
        self.kept = np.zeros(0, np.int64) if apart is None else kept_pairs(model, self.m, apart[1])
        closed = _closed_loops(model)
        if apart is not None:
            closed.append((Task("collision", "collision", CLEARANCE, 0, IDENTITY), MOST, -1))
            weights = weights | {"collision": WEIGHT}
        own = [task for task, _, _ in closed]
        levels = [own, *groups] if closed and closed[0][0].kind != CLEARANCE else [own + groups[0], *groups[1:]]
        objects = {task.key: (dim, number) for task, dim, number in closed}
        self.rows: list[Row] = []
        self.first_row = [0]
        for level, tasks in enumerate(levels):
            at = self.first_row[-1]
            for task in tasks:
                dim, number = objects.get(task.key, (3, -1))
                self.rows.append(Row(task, level, at, dim, number, weights.get(task.target, 1.0)))
                at += dim
            self.first_row.append(at)
        self.closed, self.levels = len(closed), len(levels)
        self.keys = [row.task.key for row in self.rows]
        self.kinds = [row.task.kind for row in self.rows]
        self.moving = moving
        self.tasks: dict[str, list[Task]] = {}  # by target
        for row in self.rows[self.closed :]:
            self.tasks.setdefault(row.task.target, []).append(row.task)
        self.has_com = COM in self.kinds
        self.starts: dict[tuple[int, int], Array] = {}  # random ones, by number and seed
        self.arrays = self._arrays()

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        """tasks, frames, movers, weights, dofs, bounds, balls, as `rows.residuals` takes them."""
        tasks = [[r.task.kind, r.task.body, r.object, r.level, r.row, r.dim] for r in self.rows]
        bounds, balls = coordinate_ranges(self.model, self.moving, self.ranges)
        return (
            np.array(tasks, np.int64).reshape(-1, 6),
            np.array([r.task.frame for r in self.rows]).reshape(-1, 7),
            np.array([_subtrees(self.model, r.task) for r in self.rows], np.int64).reshape(
                len(self.rows), self.model.nv
            ),
            np.array([np.sqrt(r.weight) for r in self.rows]),
            np.stack([_addresses(self.model), ~self.moving], axis=1).astype(np.int64).copy(),
            bounds,
            balls,
        )


def _closed_loops(model: Model) -> list[tuple[Task, int, int]]:
    """Tasks of the active equality constraints, with their numbers of rows and that of the constraint in kernels."""
    views, out = model.struct().views, []
    if not len(views["eq_id"]):
        return out
    names = model.names("equality")
    for k, (i, kind) in enumerate(zip(views["eq_id"].tolist(), views["eq_type"].tolist(), strict=True)):
        if not model.eq_active0[i]:
            continue
        key = f"equality:{names[i]}"
        if kind in (CONNECT, WELD):
            out.append((Task(key, key, ANCHOR, 0, IDENTITY), 3, k))
            if kind == WELD and views["eq_data"][k, 10] > 0:
                out.append((Task(key, f"{key}:orientation", ALIGNMENT, 0, IDENTITY), 3, k))
        elif kind == JOINT:
            out.append((Task(key, key, COUPLING, 0, IDENTITY), 1, k))
        else:
            warn(f"inverse kinematics does not hold the equality constraint {names[i]!r}: only connect, weld and joint")
    return out


def _subtrees(model: Model, task: Task) -> list[int]:
    """For a centre of mass: the subtree that each degree of freedom moves of it, -1 for none."""
    if task.kind != COM:
        return [-1] * model.nv
    parents = model.body_parentid.tolist()

    def path(body: int) -> set[int]:
        found = {0, body}
        while body:
            body = parents[body]
            found.add(body)
        return found

    own = path(task.body)
    out = []
    for body in model.dof_bodyid.tolist():
        massive = model.body_subtreemass[body] > 0
        out.append(body if massive and task.body in path(body) else task.body if body in own else -1)
    return out


def _addresses(model: Model) -> NDArray[np.int64]:
    """Address in qpos of each degree of freedom of a hinge or slide, -1 for others."""
    kinds = model.jnt_type[model.dof_jntid]
    return np.where((kinds == FREE) | (kinds == BALL), -1, model.jnt_qposadr[model.dof_jntid])


def coordinate_ranges(model: Model, moving: NDArray[np.bool_], ranges: bool) -> tuple[Array, Array]:
    """Bounds [nv, 2] of hinges and slides (rad, m), infinite where there are none; balls [n, 2]: address, angle."""
    bounds = np.tile([-np.inf, np.inf], (model.nv, 1))
    balls = []
    for j in np.flatnonzero(model.jnt_limited) if ranges else []:
        i = int(model.jnt_dofadr[j])
        if moving[i] and model.jnt_type[j] == BALL:
            balls.append([float(model.jnt_qposadr[j]), float(model.jnt_range[j, 1])])
        elif moving[i]:
            bounds[i] = model.jnt_range[j]
    return bounds, np.array(balls, float).reshape(-1, 2)


def _narrow(m: Struct, *, contacts: bool) -> Struct:
    """The kernels' Model with the features that a search looks at, so that most models share what is compiled."""
    features = m.layout.features if contacts else m.layout.features - {"contact"}
    narrow = copy.copy(m)
    narrow.layout = model_layout(frozenset(looked_at(loops.solve_all, features) | features & {"hill"}))
    return narrow


class Workspace:
    """Memory of one thread for a problem, and the compiled loop on it."""

    def __init__(self, problem: Problem):
        self.problem = problem
        model = problem.model
        n, rows, levels = model.nv, problem.first_row[-1], len(problem.first_row)
        size = memory_size(n, rows, len(problem.rows), levels, model.nq)
        self._memory = (
            np.array(problem.first_row, np.int64),
            np.zeros(n, np.int64),
            np.zeros(size),
        )
        self._data = new_data(problem.solved, problem.m)
        if len(problem.kept):
            attach(problem.solved, self._data)
        self._solve: Callable[..., None] = loops.solve_rows.bound(problem.m, self._data)

    def solve(self, options: tuple[Any, ...], goals: Array, starts: Array, out: tuple[Any, ...]) -> None:
        """Solve for rows of goals; `options`: posture, whole and real ones; `out`: qpos, norms, counts."""
        self._solve(*self.problem.arrays, *options, self.problem.kept, goals, starts, *self._memory, *out)


class _Mine(threading.local):
    def __init__(self) -> None:
        self.workspaces: dict[int, Workspace] = {}


_mine = _Mine()


def workspace(problem: Problem) -> Workspace:
    """The calling thread's memory for a problem."""
    found = _mine.workspaces.get(id(problem))
    if found is None:
        while len(_mine.workspaces) >= KEPT:
            del _mine.workspaces[next(iter(_mine.workspaces))]
        found = _mine.workspaces[id(problem)] = Workspace(problem)
    return found
