"""Complex steps in the mass distribution of bodies, by inertial parameters, coordinates and scales of masses."""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from saltus.model.tree.body_inertia import (
    COUNT,
    INERTIAL,
    PRODUCTS,
    PSEUDO,
    SCALE_MASS,
    STORED_IN,
    about_centre,
    from_pseudo_inertia,
    inertial,
    matrix_of,
    principal_axes,
    pseudo_inertia,
)
from saltus.model.vary.columns import Column

_FIELDS = ("body_mass", "body_ipos", "body_inertia")
_STEP = 2.0**-200
EQUAL = 1e-12  # relative difference of principal inertias that are equal


def step_inertias(
    m: mujoco.MjModel, columns: Sequence[Column], step: float, arrays: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Fields of bodies [columns, ...] of `arrays` or `m`, with an imaginary step in each column of a mass distribution.

    Empty if there is no such column.
    """
    own = [(row, column) for row, column in enumerate(columns) if column.field in STORED_IN]
    if not own:
        return {}
    whole = {name: arrays.get(name, getattr(m, name)) for name in _FIELDS} | {PRODUCTS: np.zeros((m.nbody, 3))}
    found = {}
    for name, value in whole.items():
        shape = value.shape if name in arrays else (len(columns), *value.shape)
        found[name] = np.broadcast_to(value, shape).astype(complex)
    for row, (_, field, place) in own:
        if field == SCALE_MASS:
            body = place
            changes = (1.0, np.zeros(3), m.body_inertia[body] / m.body_mass[body], np.zeros(3))
        else:
            body, k = divmod(place, COUNT)
            changes = _changes(m, body, _slope(m, field, body, k))
        for name, change in zip(found, changes, strict=True):
            found[name][row, body] += 1j * step * change
    return found


def turned_axes(m: mujoco.MjModel, columns: Sequence[Column]) -> np.ndarray:
    """Derivatives of body_iquat [columns, nbody, 4] by columns of mass distributions.

    NaN where two principal inertias are equal, whose axes any change may turn at once.
    """
    found = np.zeros((len(columns), m.nbody, 4))
    for row, (_, field, place) in enumerate(columns):
        if field in (INERTIAL, PSEUDO):
            body, k = divmod(place, COUNT)
            products = _changes(m, body, _slope(m, field, body, k))[3]
            first, second, third = m.body_inertia[body]
            least = EQUAL * m.body_inertia[body].max()
            apart = np.array([second - third, third - first, first - second])
            with np.errstate(divide="ignore", invalid="ignore"):
                turn = np.where(np.abs(apart) > least, products[::-1] / apart, np.nan)
            turn[np.abs(products[::-1]) <= EQUAL * np.abs(products).max()] = 0.0
            mujoco.mju_mulQuat(found[row, body], m.body_iquat[body], np.array([0.0, *turn / 2]))
    return found


def _slope(m: mujoco.MjModel, field: str, body: int, k: int) -> np.ndarray:
    """Derivatives of a body's inertial parameters [10] by one of its numbers."""
    if field == INERTIAL:
        return np.eye(COUNT)[k]
    theta = pseudo_inertia(inertial(m, body), f"{PSEUDO}[{body}]").astype(complex)
    theta[k] += 1j * _STEP
    return np.imag(from_pseudo_inertia(theta)) / _STEP


def _changes(m: mujoco.MjModel, body: int, slope: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Changes of mass, centre of mass, principal inertias and products, for one of the inertial parameters [10]."""
    mass, centre, axes = float(m.body_mass[body]), m.body_ipos[body], principal_axes(m, body)
    moved = (slope[1:4] - centre * slope[0]) / mass
    across = np.outer(centre, moved)
    huygens = about_centre(slope[0], centre) + mass * (2 * (centre @ moved) * np.eye(3) - across - across.T)
    inertia = axes.T @ (matrix_of(slope[4:]) - huygens) @ axes
    return slope[0], moved, inertia.diagonal(), inertia[[0, 0, 1], [1, 2, 2]]
