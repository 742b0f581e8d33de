"""Derivatives of one step, exact to rounding, by dual numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.contact.foreign import attach
from saltus.errors import OptionError
from saltus.model.layout import DATA
from saltus.number.structs import Struct
from saltus.simulate import loops

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

POLISH = 12  # Newton iterations after convergence, for the tangents of implicit methods


class Linearization:
    """Derivatives of the steps of a simulation, with memory for them."""

    def __init__(self, sim: "Simulation"):
        integrator = sim.integrator
        if integrator.adaptive:
            raise OptionError(
                f"linearize: the steps of {integrator.name} depend on the state; choose a fixed-step integrator"
            )
        tangent_parameters: list[Any] = list(integrator.parameters)
        if integrator.needs.get("newton"):
            tangent_parameters[1] = np.int64(POLISH)
        self._sim = sim
        self._parameters = (*integrator.parameters, *tangent_parameters)
        self._dual = Struct(DATA, integrator.data_sizes(sim.model.sizes(), tangents=True), "dual")
        attach(sim.model, self._dual)
        self._loop = loops.linearize(integrator, bool(sim._model.nblockmax))
        self._state_rows = [self._dual.span(f, f) for f in ("qpos", "qvel", "ctrl")]
        self._force_rows = self._dual.span("qfrc_applied", "xfrc_applied")

    def __call__(self) -> tuple[np.ndarray, np.ndarray]:
        """A [2 nv, 2 nv] and B [2 nv, nu] of (dq, dv)' = A (dq, dv) + B du over one step at the present state."""
        sim, dual = self._sim, self._dual
        sim._prepare()
        before = sim._state.copy()
        memory = sim._struct.views["memory"]
        memory[:] = 0.0
        dual.ints[DATA.slot["has_xfrc"]] = sim._struct.ints[DATA.slot["has_xfrc"]]
        dual.real[self._force_rows, 0, 0] = before[self._force_rows]
        nv, nu = sim.model.nv, sim.model.nu
        A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nu))
        start = [before[rows] for rows in self._state_rows]
        sizes = memory.size, sim._struct.views["qacc_warmstart"].size
        self._loop(sim._model, sim._struct, dual, *start, *sizes, sim.timestep, A, B, *self._parameters)
        sim._state[:] = before
        sim._computed = None
        return A, B
