"""Measured forces on bodies as generalised forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.algorithms import jacobian, kinematics
from saltus.arguments import mapping, numbers
from saltus.errors import OptionError
from saltus.model.model import Model

Array = NDArray[np.float64]
#: By the body's name: rows of force and moment about its centre of mass [n, 6], or about a point [n, 9], world axes.
Wrenches: TypeAlias = Mapping[str, ArrayLike]


def generalised(model: Model, qpos: Array, wrenches: Any) -> Array:
    """Generalised forces [n, nv] of forces and moments on bodies, Σ Jᵀ (f, n), in positions [n, nq].

    Raises:
        OptionError: there is no such body, or the numbers have another shape or are not finite.
    """
    out = np.zeros((len(qpos), model.nv))
    for name, given in mapping("wrenches", wrenches).items():
        body = model.id("body", name)
        rows = numbers(f"wrenches[{name!r}]", given)
        if rows.shape not in ((len(qpos), 6), (len(qpos), 9)):
            raise OptionError(
                f"wrenches[{name!r}] must be rows of force and moment, {(len(qpos), 6)}, or of "
                f"force, moment and the point where they act, {(len(qpos), 9)}; not {rows.shape}"
            )
        if not np.isfinite(rows).all():
            raise OptionError(
                f"wrenches[{name!r}] must be finite; where nothing acts, force and moment are zero, "
                "and the point is any"
            )
        force, moment = rows[:, :3], rows[:, 3:6]
        if rows.shape[1] == 9:
            # moved to the centre of mass
            moment = moment + np.cross(rows[:, 6:] - _centre(model, qpos, body), force)
        J = jacobian(model, qpos, body, model.body_ipos[body])
        out += np.einsum("nki,nk->ni", J, np.concatenate([force, moment], axis=1))
    return out


def _centre(model: Model, qpos: Array, body: int) -> Array:
    """Centre of mass [n, 3] (m) of a body, world axes."""
    frames = kinematics(model, qpos)
    x, quat, c = frames.xpos[:, body], frames.xquat[:, body], model.body_ipos[body]
    u, w = quat[:, 1:], quat[:, :1]
    return x + c + 2.0 * np.cross(u, np.cross(u, c) + w * c)
