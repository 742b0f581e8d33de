"""Jacobians of points and bodies as arrays."""

from typing import Any

import numpy as np

from saltus.arguments import numbers, whole_number
from saltus.dynamics.tree.jacobian import point_jacobian
from saltus.errors import OptionError
from saltus.number.kernels import entry
from saltus.simulate.engine.engine import Engine


@entry(name="jacobian")
def _jacobian(m, d, x, y, z, body, translation, rotation):
    point_jacobian(m, d, (x, y, z), body, translation, rotation)


def jacobian(engine: Engine, body: str | int, point: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Translation and rotation Jacobians [3, nv] of a point fixed to a body, as `mj_jac`.

    `point` (m, world axes): by default the body's centre of mass. The engine's positions are those of its state.
    """
    m = engine.model
    index = m.id("body", body) if isinstance(body, str) else whole_number("body", body)
    if not 0 <= index < m.nbody:
        raise OptionError(f"there is no body {body}; the model has {m.nbody}")
    at = engine.d.views["xipos"][index] if point is None else numbers("point", point)
    if at.shape != (3,):
        raise OptionError(f"point must have shape (3,), not {at.shape}")
    translation, rotation = np.zeros((3, m.nv)), np.zeros((3, m.nv))
    _jacobian(m.struct(), engine.d, *map(float, at), index, translation, rotation)
    return translation, rotation
