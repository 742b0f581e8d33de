"""Algorithms of rigid-body dynamics as functions of a model and arrays.

    from saltus import algorithms
    model = saltus.load("humanoid")
    M = algorithms.crba(model, q)                 # q [nq]  ->  M [nv, nv]
    tau = algorithms.rnea(model, q, v, a)         # q [n, nq], v and a [n, nv]  ->  tau [n, nv]

Each function takes one state or rows of states, and runs a compiled loop on memory that it keeps for the model, one for
each thread. Positions q [nq] and velocities v [nv] have MuJoCo's coordinates: quaternions (w, x, y, z), angular
velocities of ball and free joints in the body's axes, linear velocities of free joints in the world's.

The mechanism is unconstrained: contacts, limits, equalities, springs, dampers and actuators are left out, and enter as
generalised forces. The inertia is that of bodies, of armatures, and of tendons with armature. Mocap bodies are where
the model puts them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.algorithms.inertial_parameters import InertialParameters, inertial_parameters
from saltus.algorithms.workspace import Loop, workspace
from saltus.arguments import whole_number
from saltus.errors import OptionError
from saltus.model.model import Model

__all__ = [
    "Centroidal",
    "Frames",
    "InertialParameters",
    "aba",
    "centroidal",
    "crba",
    "inertial_parameters",
    "jacobian",
    "kinematics",
    "mass_matrix_inverse",
    "regressor",
    "rnea",
]

Array = NDArray[np.float64]
_FLOAT = np.dtype(np.float64)


class Frames(NamedTuple):
    """Positions xpos [..., nbody, 3] (m) and orientations xquat [..., nbody, 4] of all bodies, in world axes."""

    xpos: Array
    xquat: Array


class Centroidal(NamedTuple):
    """Centre of mass [..., 3] (m), momentum [..., 6] (kg m/s, then kg m²/s) about it, and its matrix [..., 6, nv]."""

    com: Array
    momentum: Array
    matrix: Array


def rnea(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Generalised forces tau [..., nv] (N, N m) of a motion: tau = M(q) a + C(q, v) v + g(q).

    Recursive Newton-Euler algorithm (Featherstone, Rigid Body Dynamics Algorithms, 2008, table 5.1), O(nv).

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions).
        v: velocities [nv] or [n, nv] (m/s, rad/s).
        a: accelerations [nv] or [n, nv] (m/s², rad/s²).

    Raises:
        OptionError: arrays are not of these shapes.
    """
    return _of_motion(model, "rnea", q, v, "a", a)


def aba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
    """Accelerations [..., nv] (m/s², rad/s²) under generalised forces: M(q)⁻¹ (tau - C(q, v) v - g(q)).

    Articulated-body algorithm (Featherstone 2008, table 7.1), O(nv); with armatures of tendons, which couple branches,
    by the factored inertia matrix.

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions).
        v: velocities [nv] or [n, nv] (m/s, rad/s).
        tau: generalised forces [nv] or [n, nv] (N, N m).

    Raises:
        OptionError: arrays are not of these shapes.
    """
    return _of_motion(model, "aba", q, v, "tau", tau)


def crba(model: Model, q: ArrayLike) -> Array:
    """Joint-space inertia matrix M(q) [..., nv, nv] (kg, kg m, kg m²): kinetic energy is vᵀ M v / 2.

    Composite-rigid-body algorithm (Featherstone 2008, table 6.2), O(nv depth).

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions).

    Raises:
        OptionError: q is not of this shape.
    """
    return _of_positions(model, "crba", q)


def mass_matrix_inverse(model: Model, q: ArrayLike) -> Array:
    """Inverse M(q)⁻¹ [..., nv, nv] of the joint-space inertia matrix.

    Column j is the acceleration under a unit force along degree of freedom j, at rest without gravity: one articulated
    factorisation and nv back-substitutions (Featherstone 2008, section 7.3), O(nv²).

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions).

    Raises:
        OptionError: q is not of this shape.
    """
    return _of_positions(model, "inverse_inertia", q)


def kinematics(model: Model, q: ArrayLike) -> Frames:
    """Poses of all bodies: products of joints' transforms from the root outwards (Featherstone 2008, section 4.4).

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions, which need not be normalised).

    Raises:
        OptionError: q is not of this shape.
    """
    space = workspace(model)
    q = _numbers(q)
    if q.ndim == 1:
        if q.shape != (space.nq,):
            raise _shapes(space, q=q)
        out = np.empty((space.nbody, 7))
        space.frames.one(q, out)
    else:
        out = _rows(space, space.frames, (space.nbody, 7), q=q)
    return Frames(out[..., :3], out[..., 3:])


def jacobian(model: Model, q: ArrayLike, body: str | int, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Jacobian J(q) [..., 6, nv] of a point fixed to a body: (its velocity, the body's angular velocity) = J v.

    Column i is (s_i + ω_i × r, ω_i) with the motion axis (ω_i, s_i) of degree of freedom i and the arm r from its
    reference point (Featherstone 2008, section 2.10), in world axes (m/s, rad/s).

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions).
        body: its name or number.
        point: in the body's frame [3] (m), by default its origin.

    Raises:
        OptionError: there is no such body, or an array is not of its shape.
    """
    space = workspace(model)
    index = model.id("body", body) if isinstance(body, str) else whole_number("body", body)
    if index >= space.nbody:
        raise OptionError(f"there is no body {body}; the model has {space.nbody}")
    q, point = _numbers(q), _numbers(point)
    if point.shape != (3,):
        raise OptionError(f"point must have shape (3,), not {point.shape}")
    if q.ndim == 1:
        if q.shape != (space.nq,):
            raise _shapes(space, q=q)
        out = np.empty((6, space.nv))
        space.jacobian.one(q, index, point, out)
        return out
    return _rows(space, space.jacobian, (6, space.nv), index, point, q=q)


def centroidal(model: Model, q: ArrayLike, v: ArrayLike) -> Centroidal:
    """Centre of mass, momentum h about it and centroidal momentum matrix A(q): h = A v.

    Linear momentum first, in world axes (Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, Autonomous
    Robots 35, 2013, eq. 24).

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions).
        v: velocities [nv] or [n, nv] (m/s, rad/s).

    Raises:
        OptionError: arrays are not of these shapes.
    """
    space = workspace(model)
    q, v = _numbers(q), _numbers(v)
    if q.ndim == 1:
        if q.shape != (space.nq,) or v.shape != (space.nv,):
            raise _shapes(space, q=q, v=v)
        out = np.empty((6, space.nv + 2))
        space.centroidal.one(q, v, out)
    else:
        out = _rows(space, space.centroidal, (6, space.nv + 2), q=q, v=v)
    return Centroidal(out[..., :3, 0], out[..., 1], out[..., 2:])


def regressor(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Matrix Y(q, v, a) [..., nv, 10 nbody] by which inverse dynamics is linear in the bodies' inertial parameters.

    tau = Y p + armature a, with p the values of `inertial_parameters(model)` and tau as of `saltus.algorithms.rnea`.
    There are ten for each body, first the world's, in the order m (kg); m c, the first moments (kg m); Ixx, Ixy, Iyy,
    Ixz, Iyz, Izz (kg m²) about the origin of the body's frame, in its axes. Armatures of joints and tendons are no
    parameters of bodies: what they need, and what springs, dampers, gravity compensation and contacts exert, comes on
    top. Columns of bodies that no joint moves are zero.

    Source: Atkeson, An and Hollerbach, Estimation of inertial parameters of manipulator loads and links, Int. J.
    Robotics Research 5, 1986.

    Args:
        model: as `saltus.load` gives it.
        q: positions [nq] or [n, nq] (m, rad, quaternions).
        v: velocities [nv] or [n, nv] (m/s, rad/s).
        a: accelerations [nv] or [n, nv] (m/s², rad/s²).

    Raises:
        OptionError: arrays are not of these shapes.
    """
    return _of_motion(model, "regressor", q, v, "a", a, 10 * workspace(model).nbody)


def _of_motion(model: Model, name: str, q: Any, v: Any, third: str, x: Any, columns: int | None = None) -> Array:
    """A vector [..., nv], or matrix [..., nv, columns], of positions, velocities and a third array."""
    space = workspace(model)
    nv = space.nv
    shape = (nv,) if columns is None else (nv, columns)
    loop: Loop = getattr(space, name)
    q, v, x = _numbers(q), _numbers(v), _numbers(x)
    if q.ndim == 1:
        if q.shape != (space.nq,) or v.shape != (nv,) or x.shape != (nv,):
            raise _shapes(space, **{"q": q, "v": v, third: x})
        out = np.empty(shape)
        loop.one(q, v, x, out)
        return out
    return _rows(space, loop, shape, **{"q": q, "v": v, third: x})


def _of_positions(model: Model, name: str, q: ArrayLike) -> Array:
    """A matrix [..., nv, nv] that depends on positions alone, by the loop of this name."""
    space = workspace(model)
    nv = space.nv
    loop: Loop = getattr(space, name)
    q = _numbers(q)
    if q.ndim == 1:
        if q.shape != (space.nq,):
            raise _shapes(space, q=q)
        out = np.empty((nv, nv))
        loop.one(q, out)
        return out
    return _rows(space, loop, (nv, nv), q=q)


def _numbers(values: Any) -> Array:
    """An array in the form that loops are compiled for."""
    if type(values) is np.ndarray and values.dtype is _FLOAT and values.flags.carray:
        return values
    try:
        return np.array(values, np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise OptionError(f"states are arrays of numbers: {error}") from error


def _rows(space: Any, loop: Loop, shape: tuple[int, ...], *constant: Any, **arrays: Array) -> Array:
    """An algorithm for all rows of arrays."""
    n = len(next(iter(arrays.values()))) if all(array.ndim == 2 for array in arrays.values()) else -1
    for name, array in arrays.items():
        if array.shape != (n, space.nq if name == "q" else space.nv):
            raise _shapes(space, **arrays)
    out = np.empty((n, *shape))
    loop.rows(*arrays.values(), *constant, out)
    return out


def _shapes(space: Any, **arrays: Array) -> OptionError:
    """The error that says which shapes arrays have, and which they should have."""
    wanted = {name: space.nq if name == "q" else space.nv for name in arrays}
    one = ", ".join(f"{name} ({size},)" for name, size in wanted.items())
    found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    return OptionError(f"shapes must be {one}, or rows of these, as many of each; got {found}")
