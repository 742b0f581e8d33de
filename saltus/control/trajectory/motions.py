"""Motions under a policy from one start, and derivatives of their steps: compiled where steps are a loop's alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numpy.typing import NDArray

from saltus.control.tangent_states import control_ranges, difference, put_state, take_whole_step
from saltus.control.trajectory.loops import Policies, follow, joints_of
from saltus.control.trajectory.stage_values import spans_of
from saltus.model.layout import DATA
from saltus.number.cache.checked import CHECKED
from saltus.simulate.derivatives.linearize import StepTangents, prepare_linearize

if TYPE_CHECKING:
    from saltus.simulate.engine.engine import Engine
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]


class Motions:
    """Motions of T steps of a simulation, which is used up, from its present state. States are [T + 1, rows]."""

    def __init__(self, sim: Simulation, steps: int, who: str):
        self._sim, self._steps, self._who = sim, steps, who
        self._start, self.low, self.high = sim.snapshot(), *control_ranges(sim)
        engine = sim.engine
        self._first = engine.state.copy()
        self.size = 2 * sim.model.nv + engine.m.nact
        self._spans = spans_of(engine)
        self._tangents = _plain_tangents(engine)
        self._loop = None
        if self._tangents is not None:
            parameters = engine.integrator.parameters
            address = engine.loop.address(
                engine.step_m, engine.d, 1, engine.timestep, *parameters, result=types.UniTuple(types.int64, 2)
            )
            spans = np.array([(span.start, span.stop) for span in self._spans[:4]])
            fixed = address, joints_of(sim.model), spans
            self._loop = follow(len(parameters)), (*_buffers(engine), *fixed), parameters

    def held(self, controls: Array) -> Array:
        """States under given controls [T, nu]; DivergenceError if the motion diverges."""
        k, K = np.zeros_like(controls), np.zeros((*controls.shape, self.size))
        nominal = np.repeat(self._first[None], self._steps + 1, axis=0)
        return self.under(nominal, controls, k, K, 0.0)

    def under(self, nominal: Array, controls: Array, k: Array, K: Array, size: float) -> Array:
        """States under the controls + size k + K (x ⊖ nominal), within their ranges, with these controls in them.

        Raises:
            DivergenceError: the motion diverges.
            EventError: an event ends it.
        """
        policies = Policies(nominal, controls, k, K, self.low, self.high, float(size))
        states = np.empty_like(nominal)
        states[0] = self._first
        if self._loop is not None:
            loop, fixed, parameters = self._loop
            engine = self._sim.engine
            engine.d.views["timestep"][...] = engine.timestep
            status = loop(*fixed, policies, np.zeros(self.size), states, engine.timestep, *parameters)
            engine.computed = None
            if engine.passed_reader is not None:
                engine.passed_reader.read(engine.timestep)
            if not status:
                return states
        return self._step_by_step(policies, states)

    def linearize(self, states: Array) -> tuple[Array, Array]:
        """A [T, n, n] and B [T, n, nu] of the steps from all states but the last."""
        sim, T = self._sim, self._steps
        A, B = np.empty((T, self.size, self.size)), np.empty((T, self.size, sim.model.nu))
        if self._tangents is not None:
            forced = np.full(T, sim.engine.d.ints[DATA.slot["has_xfrc"]], np.int64)
            self._tangents.of_each((states, forced), (A, B), (0, T))
            self._tangents.tell_unconverged()
            return A, B
        sim.restore(self._start)
        for k in range(T):
            self._put(states[k])
            A[k], B[k] = sim.linearize()
        return A, B

    def _put(self, state: Array) -> None:
        """Set time, positions, velocities, activations and controls of the simulation to those of a state."""
        q, v, w, u, time = (state[span] for span in self._spans)
        put_state(self._sim, (q, v, w))
        self._sim.time, self._sim.ctrl[:] = float(time[0]), u

    def _step_by_step(self, policies: Policies, states: Array) -> Array:
        """`under` by steps of the simulation, which raise errors."""
        sim, u = self._sim, self._spans.ctrl
        sim.restore(self._start)
        for k in range(self._steps):
            parts = [[row[span] for span in self._spans[:3]] for row in (policies.nominal[k], states[k])]
            apart = difference(sim.model, tuple(parts[0]), tuple(parts[1]))
            wanted = policies.controls[k] + policies.size * policies.k[k] + policies.K[k] @ apart
            states[k, u] = sim.ctrl[:] = np.clip(wanted, self.low, self.high)
            take_whole_step(sim, self._who)
            states[k + 1] = sim.engine.state
        return states


def _buffers(engine: Engine) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    return engine.step_m.real, engine.step_m.ints, engine.d.real, engine.d.ints


def _plain_tangents(engine: Engine) -> StepTangents | None:
    """Derivatives of an engine's steps, if these and the steps are loops alone, without anything between steps."""
    between = engine.other_loop is not None or engine.event_reader is not None
    moved = engine.guidance.has_movers or engine.dynamics is not None or engine.model.inertia_may_be_singular
    if between or moved or engine.sleeps or engine.team is not None or CHECKED:
        return None
    tangents = prepare_linearize(engine)
    return tangents if isinstance(tangents, StepTangents) and not tangents.may_lack_normals() else None
