"""Base parameters: the combinations of inertial parameters that generalised forces depend on."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.algorithms import inertial_parameters, regressor
from saltus.errors import OptionError
from saltus.model.load import ModelSource, load
from saltus.model.model import Model

Array = NDArray[np.float64]
DEPENDENT = 1e-9  # of the longest column: shorter ones are rounding
THRESHOLDS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-8)  # of its length that a column adds to those before it
STATES = 4  # random ones for each body; each gives nv equations
SHOWN = 1e-9  # of the largest coefficient of a combination: less is rounding


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Combinations of inertial parameters that joint forces tell apart.

    columns: numbers of the independent columns of the regressor, k of them. matrix [k, 10 nbody]: a combination a row,
    so that the regressor times all parameters is `regressor[:, columns] @ matrix @ parameters`. names: the combinations
    as text. values [k]: those of the model (kg, kg m, kg m²). without: names of parameters that no force depends on.
    """

    columns: NDArray[np.int64]
    matrix: Array
    names: tuple[str, ...]
    values: Array
    without: tuple[str, ...] = field(repr=False)

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {value:.6g}" for name, value in zip(self.names, self.values, strict=True))


def base_parameters(
    model: ModelSource, q: ArrayLike | None = None, v: ArrayLike | None = None, a: ArrayLike | None = None
) -> BaseParameters:
    """Combinations of inertial parameters that generalised forces depend on, by name.

    Parameters whose columns of the stacked regressor depend on others' add to their combinations, which grow towards
    the root (Gautier, Numerical calculation of the base inertial parameters of robots, J. Robotic Systems 8, 1991).

    Args:
        model: as `saltus.load` takes it.
        q: positions [n, nq] (m, rad, quaternions) of states that tell parameters apart; by default random ones, with
            which everything is told apart that any motion could.
        v: velocities [n, nv] (m/s, rad/s), given together with q.
        a: accelerations [n, nv] (m/s², rad/s²), given together with q.

    Raises:
        OptionError: one of q, v and a is given without the others, arrays are not of these shapes, or forces overflow.
    """
    found = load(model)
    given = [x is not None for x in (q, v, a)]
    if any(given) and not all(given):
        raise OptionError("base_parameters: give q, v and a, or none of them")
    if q is None or v is None or a is None:
        q, v, a = _random_states(found)
    Y = regressor(found, q, v, a)
    if not np.isfinite(Y).all():
        raise OptionError("base_parameters: forces overflow in these states; q, v and a must be finite and moderate")
    names, values = inertial_parameters(found)
    columns, matrix = _combinations(Y.reshape(-1, Y.shape[-1]))
    used = np.zeros(len(names), bool)
    used[columns] = True
    used |= (abs(matrix) > SHOWN).any(axis=0)
    return BaseParameters(
        columns=columns,
        matrix=matrix,
        names=tuple(_text(row, names) for row in matrix),
        values=matrix @ values,
        without=tuple(name for name, use in zip(names, used, strict=True) if not use),
    )


def _random_states(model: Model) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of random states, always the same."""
    random = np.random.default_rng(0)
    count = STATES * model.nbody
    q = np.tile(model.qpos0, (count, 1))
    for row in q if model.nv else ():
        mujoco.mj_integratePos(model.mj_model, row, random.normal(size=model.nv), 1.0)
    return q, random.normal(size=(count, model.nv)), random.normal(size=(count, model.nv))


def _combinations(Y: Array) -> tuple[NDArray[np.int64], Array]:
    """Numbers of independent columns of Y [rows, n], and the matrix [k, n] with Y = Y[:, numbers] @ matrix.

    Columns are made orthogonal to the independent ones, twice against rounding (Gram and Schmidt). In turn those are
    taken of which much is left, then those with less, so that all others are well determined combinations of them
    (threshold pivoting).
    """
    from scipy.linalg import solve_triangular

    n = Y.shape[1]
    R: Array = np.linalg.qr(Y)[1] if len(Y) > n else Y  # the same dependencies, in few rows
    sizes = np.linalg.norm(R, axis=0)
    used = np.flatnonzero(sizes > DEPENDENT * sizes.max(initial=0.0))
    left, Q, columns = R[:, used] / sizes[used], np.zeros((len(R), len(used))), []
    for threshold in THRESHOLDS:
        for j in range(len(used)):
            length = np.linalg.norm(left[:, j])
            if j in columns or length < threshold:
                continue
            c = len(columns)
            q = left[:, j] / length
            q -= Q[:, :c] @ (Q[:, :c].T @ q)
            Q[:, c] = q / np.linalg.norm(q)
            columns.append(j)
            left -= np.outer(Q[:, c], Q[:, c] @ left)
    columns = sorted(columns)
    chosen = used[columns]
    Q, T = np.linalg.qr(R[:, chosen] / sizes[chosen])
    matrix = np.zeros((len(chosen), n))
    matrix[:, used] = solve_triangular(T, Q.T @ R[:, used]) / sizes[chosen, None]
    matrix[:, chosen] = np.eye(len(chosen))
    matrix[abs(matrix) <= SHOWN * abs(matrix).max(axis=1, initial=0.0)[:, None]] = 0.0
    return chosen, matrix


def _text(row: Array, names: tuple[str, ...]) -> str:
    """A combination as "mx[hand] + 0.3 m[finger]"."""
    parts = []
    for k in np.flatnonzero(row):
        size = abs(row[k])
        factor = "" if abs(size - 1) < 1e-6 else f"{size:.4g} "
        sign = "-" if row[k] < 0 else "+"
        parts.append((f" {sign} " if parts else "-" if row[k] < 0 else "") + factor + names[k])
    return "".join(parts)
