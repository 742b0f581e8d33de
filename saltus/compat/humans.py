"""A recording under the names of the HuMAnS toolbox, and centres of pressure.

In HuMAnS, `Simulation` of initial and final time, sampling period, initial position and velocity gives T, Q, QDOT, Z,
ACTUATIONSTATE and CONTACTSTATE, and `ComputeContactForces` LAMBDA: Wieber, Billet, Boissieux, Pissard-Gibollet, The
HuMAnS toolbox, a homogenous framework for motion capture, analysis and simulation, 2006.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import PlainValue, numbers
from saltus.errors import OptionError

#: Attribute of a recording: the two bodies that meet at each contact point.
BODIES = "contact_bodies"

#: Attribute: the reason why a recording with contacts has no columns for contact points.
NO_POINTS = "no_contact_points"

#: Name of a body that cannot move.
WORLD = "world"


class Recording(Protocol):
    """Columns that are read from a recording, see `saltus.Trajectory`."""

    time: NDArray[np.float64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    act: NDArray[np.float64]
    actuation_state: NDArray[np.float64]
    contact_state: NDArray[np.bool_]
    contact_force: NDArray[np.float64]
    contact_pos: NDArray[np.float64]
    attrs: dict[str, PlainValue]

    def __len__(self) -> int: ...


class HumansNames:
    """Columns of a recording under HuMAnS's names, read-only; a recording unpacks into the first six."""

    def __iter__(self) -> Iterator[NDArray[np.float64] | NDArray[np.bool_]]:
        """The six results of HuMAnS's `Simulation`, in order: T, Q, QDOT, Z, ACTUATIONSTATE, CONTACTSTATE."""
        return iter((self.T, self.Q, self.QDOT, self.Z, self.ACTUATIONSTATE, self.CONTACTSTATE))

    @property
    def T(self) -> NDArray[np.float64]:
        """Times of the samples [T], s."""
        return _trajectory(self).time

    @property
    def Q(self) -> NDArray[np.float64]:
        """Positions [nq, T] (rad, m, quaternion parts): one column per sample."""
        return _trajectory(self).qpos.T

    @property
    def QDOT(self) -> NDArray[np.float64]:
        """Velocities [nv, T] (rad/s, m/s): one column per sample."""
        return _trajectory(self).qvel.T

    @property
    def Z(self) -> NDArray[np.float64]:
        """Dynamic states of actuators [na, T]: one column per sample."""
        return _trajectory(self).act.T

    @property
    def ACTUATIONSTATE(self) -> NDArray[np.float64]:
        """Discrete states of actuation [k, T]: one column per sample; [0, T] where there are none."""
        return _trajectory(self).actuation_state.T

    @property
    def CONTACTSTATE(self) -> NDArray[np.bool_]:
        """Whether contact is closed [n, T]: one row per contact point, one column per sample."""
        return _trajectory(self).contact_state.T

    @property
    def LAMBDA(self) -> NDArray[np.float64]:
        """Contact forces [3 n, T], N, world axes: all X, then all Y, then all Z; one column per sample.

        Raises:
            OptionError: there are contacts, of whose points the recording has no columns.
        """
        t = _trajectory(self)
        _check_points(t)
        return t.contact_force.transpose(2, 1, 0).reshape(-1, len(t))

    def centre_of_pressure(
        self, body: str | None = None, *, normal: ArrayLike = (0.0, 0.0, 1.0)
    ) -> NDArray[np.float64]:
        """Centre of pressure: contact points weighted by normal forces [T, 3], m, world axes; nan without force.

        Σ fᵢ pᵢ / Σ fᵢ over the contact points pᵢ, with fᵢ ≥ 0 the force along `normal`, the ground's upward normal.
        `body`: only this body's contacts count, whatever it stands on; None: all contacts with bodies that cannot move.

        Raises:
            OptionError: the recording does not say which bodies touch, or there are no such contacts; or `normal` is no
                direction.
        """
        return centre_of_pressure_of(_trajectory(self), body, normal)


def _trajectory(recording: Any) -> Recording:
    return recording


def _check_points(t: Recording) -> None:
    if why := t.attrs.get(NO_POINTS):
        raise OptionError(
            f"the recording has no contact forces: {why}; it only says which geoms, or pairs of geoms, touch"
        )


def centre_of_pressure_of(t: Recording, body: str | None, normal: ArrayLike) -> NDArray[np.float64]:
    """Centre of pressure at each sample [T, 3]; see `HumansNames.centre_of_pressure`."""
    up = numbers("normal", normal)
    if up.shape != (3,) or not np.isfinite(up).all() or not up.any():
        raise OptionError(f"normal must be a direction [3], got {normal!r}")
    sign = _signs(t, body)
    up = up / np.linalg.norm(up)
    return pressure_centre(t.contact_pos, t.contact_force, sign, up)


def pressure_centre(
    points: NDArray[np.float64], forces: NDArray[np.float64], sign: NDArray[np.float64], up: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Centre of pressure [..., 3] (m) of contacts at points [..., n, 3] (m); nan without force.

    forces [..., n, 3] (N); sign [n]: 1 for those on the supported side, -1 for their opposites, 0 for ignored ones; up
    [3]: the ground's unit normal.
    """
    # a contact that pulls, as no unilateral one does, has no part in the pressure
    weight = np.maximum(sign * (forces @ up), 0.0)
    total = weight.sum(axis=-1, keepdims=True)
    # force and place of an open contact are ignored, even nan
    moment = np.einsum("...n,...nk->...k", weight, np.where(weight[..., None] > 0.0, points, 0.0))
    return np.where(total > 0.0, moment / np.where(total > 0.0, total, 1.0), np.nan)


def _signs(t: Recording, body: str | None) -> NDArray[np.float64]:
    """Sign of each contact's force as one on the body, or on the moving side: 1, -1, or 0 if ignored [n]."""
    _check_points(t)
    pairs: Any = t.attrs.get(BODIES)
    if pairs is None:
        if body is not None or t.contact_force.shape[1]:
            raise OptionError(
                "the recording does not say which bodies touch: it has no contacts, or was made by an earlier version"
            )
        return np.zeros(0)
    known = sorted({name for pair in pairs for name in pair})
    if body is not None and body not in known:
        raise OptionError.unknown("body with contacts", body, known)
    if body is None:
        return np.array([1.0 if first == WORLD else -1.0 if second == WORLD else 0.0 for first, second in pairs])
    return np.array([1.0 if second == body else -1.0 if first == body else 0.0 for first, second in pairs])
