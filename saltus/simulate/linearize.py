"""Derivatives of one step, exact to rounding, by dual numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.contact.mujoco.collision import attach
from saltus.errors import OptionError
from saltus.model.layout import DATA
from saltus.number.structs import Struct
from saltus.simulate import loops

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

FREE = {"tendon", "wrap", "tendon_force", "tendon_armature"}  # features that integrators' own tangents can do
POLISH = 12  # Newton iterations after convergence, for the tangents of implicit methods


class Linearization:
    """Derivatives of the steps of a simulation, with memory for them."""

    def __init__(self, sim: "Simulation"):
        integrator = sim.integrator
        if integrator.adaptive:
            raise OptionError(
                f"linearize: the steps of {integrator.name} depend on the state; choose a fixed-step integrator"
            )
        solved = integrator.needs.get("pcg", False)
        if solved is True or (solved and "flex" in sim._model.layout.features):
            of = "" if solved is True else " of deformable bodies"
            raise OptionError(
                f"linearize: steps of {integrator.name}{of} have no derivatives here; choose euler or implicit_midpoint"
            )
        tangent_parameters: list[Any] = list(integrator.parameters)
        if integrator.needs.get("newton"):
            tangent_parameters[1] = np.int64(POLISH)
        self._sim = sim
        self._parameters = (*integrator.parameters, *tangent_parameters)
        sizes = sim._struct.sizes
        room = {"control_states": sizes["nact_room"] - sizes["nact"], "control_prm": sizes["ncontrol_prm"]}
        self._dual = Struct(DATA, integrator.data_sizes(sim.model.sizes(), tangents=True, **room), "dual")
        attach(sim.model, self._dual)
        self._loop = loops.linearize(integrator, sim._model.layout.features <= FREE)
        self._state_rows = [self._dual.span(f, f) for f in ("qpos", "qvel", "act", "ctrl")]
        self._input_rows = [self._dual.span("history", "history"), self._dual.span("mocap_pos", "control_prm")]
        self._input_rows.append(self._dual.span("qfrc_applied", "xfrc_applied"))

    def __call__(self) -> tuple[np.ndarray, np.ndarray]:
        """A and B of (dq, dv, dw)' = A (dq, dv, dw) + B du over one step at the present state.

        A [2 nv + nact, 2 nv + nact], B [2 nv + nact, nu]. Values that wait in the delays of actuators and sensors are
        no part of the state: they count as constant, so that a control with a delay has no share in B.
        """
        sim, dual = self._sim, self._dual
        sim._prepare()
        before = sim._state.copy()
        memory = sim._struct.views["memory"]
        memory[:] = 0.0
        dual.ints[DATA.slot["has_xfrc"]] = sim._struct.ints[DATA.slot["has_xfrc"]]
        dual.fill("timestep", sim.timestep)
        sim._struct.fill("timestep", sim.timestep)
        for rows in self._input_rows:
            dual.real[rows, 0, 0] = sim._struct.real[rows]
        states, nu = 2 * sim.model.nv + sim._model.nact, sim.model.nu
        A, B = np.empty((states, states)), np.empty((states, nu))
        start = [sim._struct.real[rows].copy() for rows in self._state_rows]
        sizes = memory.size, sim._struct.views["qacc_warmstart"].size
        self._loop(sim._model, sim._struct, dual, *start, *sizes, sim.timestep, A, B, *self._parameters)
        sim._state[:] = before
        sim._computed = None
        return A, B
