"""Targets of inverse kinematics: from names and goals as users give them to tasks of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError, UnknownName, proposal
from saltus.inverse.kinematics.kinds import COM, DIRECTION, LOOK, ORIENTATION, POSITION
from saltus.model.model import Model

Array = NDArray[np.float64]
KINDS = ("site", "body", "geom")  # of objects that targets name, in the order in which they are looked for
SPECIAL = ("look", "axis", "com")
SMALL = 1e-9  # a quaternion or direction this short has no meaning


class Pose(NamedTuple):
    """A place and an orientation: position [3] (m), quaternion [4] (w, x, y, z), or [n, 3] and [n, 4]; None: free."""

    position: ArrayLike | None = None
    quaternion: ArrayLike | None = None


#: A position [3] (m), a pose, or rows of these, [n, 3] and [n, 4]; see `saltus.ik`.
Goal: TypeAlias = ArrayLike | Pose | tuple[ArrayLike | None, ArrayLike | None]


class Task(NamedTuple):
    """Three residuals of a target. key: its name among the residuals; frame: point (m) and quaternion on the body."""

    target: str
    key: str
    kind: int
    body: int
    frame: tuple[float, ...]


class Frame(NamedTuple):
    """A frame on a body: its origin (m) and quaternion there."""

    body: int
    pos: Array
    quat: Array


def split_goal(name: str, goal: Any) -> tuple[Any, Any]:
    """Position and quaternion of a goal, either None if it is free."""
    if isinstance(goal, Pose):
        return goal.position, goal.quaternion
    if isinstance(goal, tuple) and len(goal) == 2:
        position, quaternion = goal
        if position is None or quaternion is None or numbers(f"the target {name!r}", quaternion).shape[-1:] == (4,):
            return position, quaternion
    return goal, None


def tasks_of(model: Model, name: str, goal: Any) -> list[Task]:
    """The tasks of one target: position, orientation or both, a direction, a centre of mass."""
    word, _, rest = name.partition(":")
    if word in SPECIAL and not _is_object(model, name):
        return [_special(model, name, word, rest)]
    position, quaternion = split_goal(name, goal)
    if position is None and quaternion is None:
        raise OptionError(f"the target {name!r} has neither a position nor a quaternion")
    frame = find_frame(model, name, KINDS)
    numbers_of = (*map(float, frame.pos), *map(float, frame.quat))
    out = []
    if position is not None:
        out.append(Task(name, name, POSITION, frame.body, numbers_of))
    if quaternion is not None:
        out.append(Task(name, f"{name}:orientation", ORIENTATION, frame.body, numbers_of))
    return out


def _special(model: Model, name: str, word: str, rest: str) -> Task:
    if word == "com":
        body = _body_of_com(model, name, rest)
        return Task(name, name, COM, body, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    frame = find_frame(model, rest, ("site", "camera", "body", "geom"))
    numbers_of = (*map(float, frame.pos), *map(float, frame.quat))
    return Task(name, name, LOOK if word == "look" else DIRECTION, frame.body, numbers_of)


def _body_of_com(model: Model, name: str, rest: str) -> int:
    body = find_object(model, rest.removeprefix("body:"), ("body",))[1] if rest else 0
    if not model.body_subtreemass[body] > 0:
        raise OptionError(f"{name!r} has no mass, hence no centre of mass")
    return body


def goals_of(name: str, tasks: list[Task], goal: Any, *, gaps: bool) -> list[Array]:
    """Goals of a target's tasks: positions or directions [..., 3], quaternions [..., 4].

    `gaps`: rows of positions may be NaN.
    """
    if tasks[0].kind in (LOOK, DIRECTION, COM):
        position, quaternion = goal, None
    else:
        position, quaternion = split_goal(name, goal)
    out = []
    for task in tasks:
        if task.kind == ORIENTATION:
            out.append(_unit(f"the quaternion of {name!r}", _rows(name, quaternion, 4, gaps=False)))
        else:
            point = _rows(name, position, 3, gaps=gaps)
            if task.kind == DIRECTION:
                point = _unit(f"the direction of {name!r}", point)
            out.append(point)
    return out


def _rows(name: str, values: Any, size: int, *, gaps: bool) -> Array:
    """A goal as numbers [size] or [n, size]."""
    what = "a quaternion (w, x, y, z)" if size == 4 else "a position"
    found = numbers(f"the target {name!r}", values)
    if found.ndim not in (1, 2) or found.shape[-1] != size:
        raise OptionError(f"the target {name!r} must be {what} [{size}] or [n, {size}], its shape is {found.shape}")
    if np.isfinite(found).all():
        return found
    unknown = np.isnan(found)
    if np.isinf(found).any() or not gaps:
        gap = "" if gaps else "; only with follow=True may positions be NaN where they are not known"
        raise OptionError(f"the target {name!r} is not finite{gap}")
    return np.where(unknown.any(axis=-1, keepdims=True), np.nan, found)


def _unit(what: str, vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not (length > SMALL).all():
        raise OptionError(f"{what} must not be zero")
    return vectors / length


# ---------------------------------------------------------------- objects by their names


def find_object(model: Model, name: str, kinds: tuple[str, ...]) -> tuple[str, int]:
    """Kind and number of an object: "hand" of the first kind that has it, "body:hand" of this kind."""
    for kind in kinds:
        number = _number(model, kind, name)
        if number >= 0:
            return kind, number
    kind, _, rest = name.partition(":")
    if kind in kinds and (number := _number(model, kind, rest)) >= 0:
        return kind, number
    known = [each for kind in kinds for each in model.names(kind)]
    raise UnknownName(
        f"no {' or '.join(kinds)} {name!r}{proposal(name, known)}; targets are named after a site, body or geom, "
        f'"site:name" where names are ambiguous, "com", "com:body", "look:name" or "axis:name"'
    )


def _number(model: Model, kind: str, name: str) -> int:
    of = mujoco.mjtObj.__members__[f"mjOBJ_{kind.upper()}"]
    found = mujoco.mj_name2id(model.mj_model, of.value, name)
    if found < 0 and name.startswith("#") and name in (names := model.names(kind)):
        return names.index(name)
    return found


def _is_object(model: Model, name: str) -> bool:
    return any(_number(model, kind, name) >= 0 for kind in KINDS)


def find_frame(model: Model, name: str, kinds: tuple[str, ...]) -> Frame:
    """The frame of a site, body, geom or camera; a camera's z-axis is turned to where it looks."""
    kind, number = find_object(model, name, kinds)
    if kind == "body":
        return Frame(number, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    m = model.mj_model
    if kind == "camera":
        if m.cam_mode[number] != mujoco.mjtCamLight.mjCAMLIGHT_FIXED:
            raise OptionError(f"the camera {name!r} follows something by itself; only fixed ones can be targets")
        quat = np.zeros(4)
        mujoco.mju_mulQuat(quat, m.cam_quat[number], np.array([0.0, 1.0, 0.0, 0.0]))
        return Frame(int(m.cam_bodyid[number]), m.cam_pos[number].copy(), quat)
    views = model.struct().views
    body = int(getattr(m, f"{kind}_bodyid")[number])
    return Frame(body, views[f"{kind}_pos"][number].copy(), views[f"{kind}_quat"][number].copy())


def names_of(targets: Mapping[str, Any]) -> list[str]:
    """The names of targets; OptionError where they are not names."""
    for name in targets:
        if not isinstance(name, str):
            raise OptionError(f"targets are named by text, got {name!r}")
    if not targets:
        raise OptionError('there is no target; give at least one, {"hand": position}')
    return list(targets)
