"""Links of a URDF file whose inertia no body has, and that are fixed to others: their mass goes to these.

Public files give such values to frames and covers: a mass of 1e-6 with an inertia of zeros or of six equal numbers,
which MuJoCo's compiler refuses. Of links that are fixed to each other, only the sum matters for the motion.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from saltus.model.source.urdf.remarks import Remark

REMEDY = (
    'correct it, or write <mujoco><compiler balanceinertia="true"/></mujoco> in the file, with which MuJoCo makes the '
    "three principal inertias equal where one is greater than the sum of the others"
)
SMALLEST = 1e-15  # kg m² and kg, of bodies that MuJoCo's compiler takes (mjMINVAL)
ORDER = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # places of MuJoCo's `fullinertia`


def merge_impossible(spec: Any) -> list[Remark]:
    """Give the mass of links with an impossible inertia to links to which they are fixed; a remark names them.

    Raises ValueError, with all names, if there are others.
    """
    merged: list[str] = []
    left: list[str] = []
    carried: dict[str, list[str]] = {}  # the links whose mass went to a link
    for body in reversed(list(spec.bodies)):  # from the leaves to the base
        inertia = _inertia(body)
        nothing = not body.explicitinertial or (body.mass == 0 and not inertia.any())
        if nothing or _possible(body.mass, inertia, balanced=spec.compiler.balanceinertia):
            continue
        own = carried.pop(body.name, [body.name])
        other = _partner(body)
        if other is not None:
            _set(other, *_sum(body, other))
            carried.setdefault(other.name, []).extend(own)
        if other is not None or not _moves(body):
            _clear(body)
            merged += own
        else:
            left += own
    if left:
        raise ValueError(f"no body has the inertia of {_links(left[::-1])}: {REMEDY}")
    meaning = "no body has such an inertia; the mass counts as part of a link to which this one is fixed"
    return [Remark("impossible inertia", tuple(dict.fromkeys(merged[::-1])), meaning)] if merged else []


def _links(names: list[str]) -> str:
    return f"{'link' if len(names) == 1 else 'links'} {', '.join(repr(name) for name in names)}"


def _inertia(body: Any) -> np.ndarray:
    """Inertia [3, 3] about the center of mass, in the axes of the inertial frame (kg m²); zeros if it is not given."""
    full = np.nan_to_num(np.array(body.fullinertia, float))
    inertia = np.zeros((3, 3))
    for value, (i, j) in zip(full, ORDER, strict=True):
        inertia[i, j] = inertia[j, i] = value
    return inertia


def _possible(mass: float, inertia: np.ndarray, *, balanced: bool = False) -> bool:
    """Whether a body may have these: positive, and no principal inertia greater than the sum of the others.

    `balanced`: the compiler sees to the latter.
    """
    a, b, c = np.linalg.eigvalsh(inertia)
    return mass > SMALLEST and a > SMALLEST and (balanced or a + b >= c * (1 - 1e-12))


def _partner(body: Any) -> Any | None:
    """The link that takes the mass of a link: the parent to which it is fixed, or a child, if their sum is possible.

    Not a link whose own mass is that of its shapes.
    """
    if not list(body.joints) and body.parent.name != "world" and _takes(body.parent):
        return body.parent
    for child in body.bodies:
        if not list(child.joints) and _takes(child):
            mass, _, inertia = _sum(body, child)
            if _possible(mass, inertia):
                return child
    return None


def _takes(body: Any) -> bool:
    return body.explicitinertial or not any(geom.contype for geom in body.geoms)


def _moves(body: Any) -> bool:
    at = body
    while at.name != "world":
        if list(at.joints):
            return True
        at = at.parent
    return False


def _matrix(quat: Any) -> np.ndarray:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.array(quat, float))
    return matrix.reshape(3, 3)


def _in_frame(body: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, center, and inertia about the center in the axes of the link; zeros for a link without <inertial>."""
    if not body.explicitinertial:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    turn = _matrix(body.iquat)
    return float(body.mass), np.array(body.ipos, float), turn @ _inertia(body) @ turn.T


def _sum(body: Any, other: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, center and inertia of both, in the frame of `other`, which is the parent or a child."""
    mass, center, inertia = _in_frame(body)
    if other.name == body.parent.name:
        turn = _matrix(body.quat)
        center, inertia = body.pos + turn @ center, turn @ inertia @ turn.T
    else:
        turn = _matrix(other.quat)
        center, inertia = turn.T @ (center - other.pos), turn.T @ inertia @ turn
    own, own_center, own_inertia = _in_frame(other)
    total = mass + own
    if total <= 0:
        return 0.0, center, inertia
    middle = (mass * center + own * own_center) / total
    return total, middle, _about(mass, center - middle, inertia) + _about(own, own_center - middle, own_inertia)


def _about(mass: float, d: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Inertia about a point that lies -d from the center of mass: the parallel axis theorem."""
    return inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))


def _set(body: Any, mass: float, center: np.ndarray, inertia: np.ndarray) -> None:
    body.mass, body.ipos, body.iquat = mass, center, [1, 0, 0, 0]
    body.fullinertia = [inertia[place] for place in ORDER]
    body.explicitinertial = True


def _clear(body: Any) -> None:
    """Leave a link without mass, also from its shapes."""
    body.mass, body.ipos, body.iquat, body.inertia = 0, [0, 0, 0], [1, 0, 0, 0], [0, 0, 0]
    body.fullinertia = [np.nan, 0, 0, 0, 0, 0]
    body.explicitinertial = False
    for geom in body.geoms:
        geom.mass, geom.density = np.nan, 0
