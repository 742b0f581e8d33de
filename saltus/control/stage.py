"""A stage of a plan as its cost sees it: state, controls, places of sites and bodies, as numbers with derivatives."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from saltus.control.quadratic_number import quadratic_array
from saltus.simulate.gradients.coordinates import Coordinates

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array: TypeAlias = "NDArray[np.float64] | NDArray[np.object_]"


class Stage:
    """The present state of a simulation, for a cost; NumPy's functions take its arrays.

    qpos [nq], qvel [nv], act [na], ctrl [nu] (0 at the end), time (s). step: its number, from 0. final: whether the
    horizon ends here. Second derivatives of places by the positions are left out (Gauss & Newton).
    """

    def __init__(self, sim: Simulation, step: int, final: bool, derivatives: bool):
        self._sim, self._derivatives = sim, derivatives
        self.step, self.final, self.time = step, final, sim.time
        self._states = 2 * sim.model.nv + len(sim.act)
        self._directions = self._states + sim.model.nu

    def _rows(self, first: int, count: int) -> NDArray[np.float64]:
        """Gradients of `count` components of (dq, dv, dw, du) from the first on."""
        return np.eye(count, self._directions, first)

    def _number(self, values: NDArray[np.float64], gradients: NDArray[np.float64]) -> Array:
        return quadratic_array(values, gradients) if self._derivatives else values.copy()

    @cached_property
    def qpos(self) -> Array:
        """Positions [nq]; of quaternions along the sphere."""
        if not self._derivatives:
            return self._sim.qpos.copy()
        S = self._rows(0, self._sim.model.nv)
        return quadratic_array(self._sim.qpos, Coordinates(self._sim.model).changes(self._sim.qpos, S))

    @cached_property
    def qvel(self) -> Array:
        """Velocities [nv]."""
        nv = self._sim.model.nv
        return self._number(self._sim.qvel, self._rows(nv, nv))

    @cached_property
    def act(self) -> Array:
        """States of actuators [na]."""
        return self._number(self._sim.act, self._rows(2 * self._sim.model.nv, len(self._sim.act)))

    @cached_property
    def ctrl(self) -> Array:
        """Controls [nu]."""
        nu = self._sim.model.nu
        if self.final:
            return self._number(np.zeros(nu), np.zeros((nu, self._directions)))
        return self._number(self._sim.ctrl, self._rows(self._states, nu))

    def site(self, name: str) -> Array:
        """Place [3] of a site (m)."""
        m = self._sim.model
        found = self._sim.site(name).xpos
        return self._place(np.array(found), int(m.mj_model.site_bodyid[m.id("site", name)]))

    def body(self, name: str) -> Array:
        """Place [3] of a body's frame (m)."""
        return self._place(np.array(self._sim.body(name).xpos), self._sim.model.id("body", name))

    @cached_property
    def com(self) -> Array:
        """Centre of mass [3] of all bodies (m)."""
        m = self._sim.model.mj_model
        weights = m.body_mass / m.body_mass.sum()
        places = np.array(self._sim.data.xipos)
        if not self._derivatives:
            return weights @ places
        J = sum(weights[b] * self._sim.jacobian(b)[0] for b in range(1, m.nbody))
        return quadratic_array(weights @ places, np.hstack([J, np.zeros((3, self._directions - m.nv))]))

    def _place(self, at: NDArray[np.float64], body: int) -> Array:
        """A point of a body, with its Jacobian."""
        if not self._derivatives:
            return at
        J, _ = self._sim.jacobian(body, at)
        return quadratic_array(at, np.hstack([J, np.zeros((3, self._directions - J.shape[1]))]))
