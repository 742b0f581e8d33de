"""Ten numbers of a body's mass distribution: inertial parameters, and coordinates in which every value is physical.

Inertial parameters are the mass, the mass times the centre of mass, and the inertia about the origin of the body's
frame in its axes. With the second moments S = tr(I)/2 - I they form the pseudo-inertia, which is positive definite for
every distribution of mass in space:

    J = [[S, m c], [m cᵀ, m]] = U Uᵀ,    U = exp(α) [[exp(d1), s12, s13, t1],
                                                    [0, exp(d2), s23, t2],
                                                    [0, 0, exp(d3), t3],
                                                    [0, 0, 0, 1]]

(Rucker & Wensing, Smooth parameterization of rigid-body inertia, IEEE Robotics and Automation Letters 7 (2022)).
"""

import itertools

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError

Array = NDArray[np.float64]

#: Names of the inertial parameters, in order.
PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
COUNT = len(PARAMETERS)
INERTIAL, PSEUDO, SCALE_MASS = "body_inertial", "body_pseudo_inertia", "body_scale_mass"
#: MuJoCo's fields that hold what each of these names means.
STORED_IN = {
    SCALE_MASS: ("body_mass", "body_inertia"),
    INERTIAL: ("body_mass", "body_ipos", "body_iquat", "body_inertia"),
    PSEUDO: ("body_mass", "body_ipos", "body_iquat", "body_inertia"),
}
#: Products of inertia [nbody, 3] (kg m²) in the axes of body_iquat, xy xz yz: no field of MuJoCo's, and there in steps
#: of derivatives alone.
PRODUCTS = "body_inertia_products"
FLAT = 1e-9  # least ratio of second moments along and across a body for which logarithms exist
_ROWS, _COLUMNS = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]  # places of Ixx ... Izz in a matrix


def matrix_of(moments: NDArray) -> NDArray:
    """Symmetric matrix [3, 3] with the moments Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    full = np.zeros((3, 3), moments.dtype)
    full[_ROWS, _COLUMNS] = full[_COLUMNS, _ROWS] = moments
    return full


def about_centre(mass, centre: NDArray) -> NDArray:
    """Inertia [3, 3] (kg m²) about the origin of a point mass at `centre` (m): Huygens' and Steiner's term."""
    return mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))


def inertial(m: mujoco.MjModel, body: int) -> Array:
    """The inertial parameters [10] of a body (kg, kg m, kg m²)."""
    R, c, mass = principal_axes(m, body), m.body_ipos[body], float(m.body_mass[body])
    about_origin = (R * m.body_inertia[body]) @ R.T + about_centre(mass, c)
    return np.array([mass, *(mass * c), *about_origin[_ROWS, _COLUMNS]])


def principal_axes(m: mujoco.MjModel, body: int) -> Array:
    """Principal axes of a body's inertia as columns, in the axes of its frame [3, 3]."""
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, m.body_iquat[body])
    return axes.reshape(3, 3)


def set_inertial(m: mujoco.MjModel, body: int, values: Array, key: str) -> None:
    """Give a body the mass distribution with these inertial parameters [10].

    Principal axes are those nearest to the present ones. OptionError, with `key`: no body has these parameters.
    """
    mass = values[0]
    if not mass > 0:
        raise OptionError(f"{key}: the mass of a body must be positive, got {mass:g} kg")
    centre = values[1:4] / mass
    inertia = matrix_of(values[4:]) - about_centre(mass, centre)
    old = principal_axes(m, body)
    turned = old.T @ inertia @ old
    quat, moments = m.body_iquat[body].copy(), turned.diagonal().copy()
    if np.abs(turned - np.diag(moments)).max() > 1e-14 * np.abs(moments).max():
        moments, axes = _nearest(old, *np.linalg.eigh(inertia))
        mujoco.mju_mat2Quat(quat, axes.reshape(-1))
        quat *= np.copysign(1.0, quat @ m.body_iquat[body])
    if not (moments.min() > 0 and moments.max() <= (moments.sum() - moments.max()) * (1 + FLAT)):
        raise OptionError(
            f"{key}: no rigid body has principal inertias {moments} kg m²; {PSEUDO} has coordinates in which all have"
        )
    m.body_mass[body], m.body_ipos[body], m.body_iquat[body], m.body_inertia[body] = mass, centre, quat, moments


def _nearest(old: Array, moments: Array, axes: Array) -> tuple[Array, Array]:
    """Moments and axes in the order, and with the signs, in which the axes turn least from `old`."""
    along = np.abs(old.T @ axes)
    order = list(max(itertools.permutations(range(3)), key=lambda p: float(sum(along[k, p[k]] for k in range(3)))))
    axes = axes[:, order]
    cosines = np.sum(old * axes, axis=0)
    axes = axes * np.copysign(1.0, cosines)
    if np.linalg.det(axes) < 0:
        axes[:, np.argmin(np.abs(cosines))] *= -1
    return moments[order], np.ascontiguousarray(axes)


def distribution(m: mujoco.MjModel, body: int, field: str, key: str) -> Array:
    """Numbers of a body's mass distribution under a name of `STORED_IN`; OptionError, with `key`, if it has none."""
    if field == SCALE_MASS:
        return np.array(m.body_mass[body])
    values = inertial(m, body)
    return pseudo_inertia(values, key) if field == PSEUDO else values


def set_distribution(m: mujoco.MjModel, body: int, field: str, values: Array, key: str) -> None:
    """Give a body the mass distribution with these numbers; OptionError, with `key`, if no body has them."""
    if field == SCALE_MASS:
        m.body_inertia[body] *= float(values) / m.body_mass[body]
        m.body_mass[body] = float(values)
    else:
        set_inertial(m, body, from_pseudo_inertia(values) if field == PSEUDO else values, key)


def pseudo_inertia(values: Array, key: str) -> Array:
    """Coordinates [10] of the pseudo-inertia with inertial parameters [10]; OptionError, with `key`, without them."""
    mass, first, moments = values[0], values[1:4], matrix_of(values[4:])
    second = np.trace(moments) / 2 * np.eye(3) - moments
    across = second - np.outer(first, first) / mass if mass > 0 else np.zeros((3, 3))
    if not np.linalg.eigvalsh(across)[0] > FLAT * np.trace(across):
        raise OptionError(
            f"{key}: the body has no extent in some direction, and no coordinates; give it one, or a mass"
        )
    # J = U Uᵀ from the last row upwards
    scale = np.sqrt(mass)
    t = first / mass
    u = np.linalg.cholesky(across[::-1, ::-1] / mass)[::-1, ::-1]
    return np.array([np.log(scale), *np.log(u.diagonal()), u[0, 1], u[1, 2], u[0, 2], *t])


def from_pseudo_inertia(theta: NDArray) -> NDArray:
    """Inertial parameters [10] with coordinates [10] of the pseudo-inertia, real or complex."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    zero = 0.0 * alpha
    u = np.array([[np.exp(d1), s12, s13, t1], [zero, np.exp(d2), s23, t2], [zero, zero, np.exp(d3), t3]])
    J = np.exp(2 * alpha) * (u @ u.T)
    mass = np.exp(2 * alpha)
    moments = np.trace(J) * np.eye(3) - J
    return np.array([mass, *(mass * u[:, 3]), *moments[_ROWS, _COLUMNS]])
