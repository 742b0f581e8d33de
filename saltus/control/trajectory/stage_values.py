"""States and controls at all stages of a trajectory, places of points of bodies there, and rates of all of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.control.trajectory.loops import places
from saltus.simulate.gradients.coordinates import Coordinates

if TYPE_CHECKING:
    from saltus.simulate.engine.engine import Engine

Array = NDArray[np.float64]


class Spans(NamedTuple):
    """Slices of fields in states as `Engine.state`; act without room for actuators that are not there."""

    qpos: slice
    qvel: slice
    act: slice
    ctrl: slice
    time: slice


def spans_of(engine: Engine) -> Spans:
    """Slices of fields in an engine's states."""
    if "stage_spans" not in engine.memo:
        spans = Spans(*(engine.rows_of(name) for name in Spans._fields))
        own = slice(spans.act.start, spans.act.start + engine.m.nact)  # without room for what is not there
        engine.memo["stage_spans"] = spans._replace(act=own)
    return engine.memo["stage_spans"]


class StageValues:
    """Values of stages 0 to `last` for a cost, from states [last + 1, rows] as `Engine.state`.

    Everything that a cost reads is an input, with a number: `first` says where those of a field begin; places of
    points, three each, follow as they are asked for. Directions are (dq, dv, dw, du). Units are those of `Stage`.
    """

    def __init__(self, engine: Engine, states: Array):
        self._engine, self._states = engine, states
        self.model, self.last = engine.model, len(states) - 1
        spans = spans_of(engine)
        self.qpos, self.qvel, self.act = states[:, spans.qpos], states[:, spans.qvel], states[:, spans.act]
        self.ctrl, self.time = states[:, spans.ctrl].copy(), states[:, spans.time.start]
        self.ctrl[-1] = 0.0
        m = engine.model
        starts = 0, m.nq, m.nq + m.nv, m.nq + m.nv + self.act.shape[1]
        self.first = dict(zip(Spans._fields, starts, strict=False))
        self._places_from = starts[-1] + m.nu
        self._numbers: dict[tuple[object, ...], int] = {}
        self._places: list[Array] = []
        self._jacobians: list[Array | None] = []

    def place(self, kind: str, name: str, derivatives: bool) -> tuple[Array, int]:
        """Positions [last + 1, 3] (m) of a body's frame or a site; number of the first coordinate."""
        known, key = self._engine.memo.setdefault("stage_points", {}), (kind, name)
        if key not in known:
            m, index = self.model.mj_model, self.model.id(kind, name)
            point = (index, np.zeros(3)) if kind == "body" else (m.site_bodyid[index], m.site_pos[index])
            known[key] = np.array([point[0]], np.int64), np.array([point[1]], float)
        body, offset = known[key]
        return self._combined(key, body, offset, np.ones(1), derivatives)

    def com(self, derivatives: bool) -> tuple[Array, int]:
        """Centres of mass [last + 1, 3] (m) of all bodies; number of the first coordinate."""
        m = self.model.mj_model
        return self._combined(("com",), np.arange(m.nbody), m.body_ipos, m.body_mass / m.body_mass.sum(), derivatives)

    def _combined(
        self, key: tuple[object, ...], bodies: NDArray[np.int64], offsets: Array, weights: Array, derivatives: bool
    ) -> tuple[Array, int]:
        """A weighted sum of positions of points, which is computed once for all stages."""
        if key not in self._numbers:
            self._numbers[key] = len(self._places)
            self._places.append(np.empty(0))
            self._jacobians.append(None)
        k = self._numbers[key]
        if not len(self._places[k]) or (derivatives and self._jacobians[k] is None):
            N, P, nv = len(self._states), len(bodies), self.model.nv
            points, jacobians = np.empty((N, P, 3)), np.zeros((N if derivatives else 0, P, 3, nv))
            call = self._engine.m, self._engine.d, self._states, bodies, offsets, points, jacobians, np.zeros((3, nv))
            places(*call)
            self._engine.computed = None
            alone = P == 1
            self._places[k] = points[:, 0] if alone else np.einsum("p,npi->ni", weights, points)
            if derivatives:
                self._jacobians[k] = jacobians[:, 0] if alone else np.einsum("p,npij->nij", weights, jacobians)
        return self._places[k], self._places_from + 3 * k

    def direction(self, key: int, coordinates: Coordinates) -> int | None:
        """The direction of which an input is the coordinate; None for places and quaternions, which have `rates`."""
        if key < self.first["qvel"]:
            return coordinates.dof_of(key)
        return None if key >= self._places_from else key - self.first["qvel"] + self.model.nv

    def rates(self, key: int, coordinates: Coordinates) -> Array:
        """Rates [last + 1, nv] of a place's coordinate, or of a quaternion's, along the axes of qvel."""
        if key < self.first["qvel"]:
            return coordinates.rates(self.qpos, key)
        k, i = divmod(key - self._places_from, 3)
        jacobian = self._jacobians[k]
        assert jacobian is not None, "places have rates where derivatives were asked for"
        return jacobian[:, i]
