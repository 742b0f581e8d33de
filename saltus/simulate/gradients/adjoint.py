"""Gradients of losses of runs in reverse mode: from the end of a run back to its start, whatever the number of inputs.

A step maps the state's changes s' = A s + B u + P p. The gradient λ by the state after it is Aᵀ λ by that before it,
and adds Bᵀ λ and Pᵀ λ to those by controls and parameters (the discrete adjoint: Griewank & Walther, Evaluating
Derivatives (2008), chapter 3.2). The states of all steps are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NBLOCK
from saltus.errors import OptionError
from saltus.model.enums import BALL, FREE
from saltus.model.layout import DATA
from saltus.simulate.derivatives.linearize import Linearization, StepTangents, check_chain, linearize, prepare_linearize
from saltus.simulate.derivatives.run_directions import STATE
from saltus.simulate.derivatives.run_tangents import check_differentiable
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking
from saltus.simulate.gradients.coordinates import Coordinates
from saltus.simulate.gradients.differentiated_run import DifferentiatedRun
from saltus.simulate.gradients.reverse_number import ReverseNumber, Tape
from saltus.simulate.gradients.step_adjoint import StepAdjoint, Turns
from saltus.simulate.stepping import take_steps

Array = NDArray[np.float64]
SMALL = 0.1  # rad: angle below which a series is exact to rounding
CHUNK = 64  # steps whose matrices are computed at once


class ReverseRun(DifferentiatedRun):
    """The samples of a run as arrays of numbers on a tape, each made when a loss first reads it."""

    def __init__(self, time: Array, values: dict[str, Array], tape: Tape):
        for name, value in {"time": time, "events": (), "_values": values, "_tape": tape, "_first": {}}.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(name)
        array, self._first[name] = self._tape.array(self._values[name])
        object.__setattr__(self, name, array)
        return array

    def gradients(self, result: ReverseNumber) -> dict[str, Array]:
        """The gradient of a number by the samples, in their shapes, 0 for those that were not read."""
        found = self._tape.gradient(result)
        out = {name: np.zeros(value.shape) for name, value in self._values.items()}
        for name, first in self._first.items():
            out[name][...] = found[first : first + out[name].size].reshape(out[name].shape)
        return out


class Adjoint:
    """A run of a number of steps with the states at their starts, and the way back from its end.

    `names`: what gradients are by, in order; `parameters`: those of them that are parameters. run: its samples, for a
    loss. changes: times (s) at which the set of constraints changed between steps.
    """

    def __init__(self, engine: Engine, steps: int, names: Sequence[str], parameters: Sequence[str]):
        check_reversible(engine)
        self._engine, self._names, self._parameters = engine, names, parameters
        tangents = prepare_linearize(engine)
        assert isinstance(tangents, StepTangents)
        self._tangents, self._coordinates = tangents, Coordinates(engine.model)
        m = engine.model.mj_model
        kinds = zip(m.jnt_type.tolist(), m.jnt_dofadr.tolist(), strict=True)
        turning = [i + 3 * (kind == FREE) for kind, i in kinds if kind in (FREE, BALL)]
        self._rotations = np.array(turning, int)[:, None] + np.arange(3)  # degrees of freedom [rotations, 3]
        self._quick = step_adjoint(engine, tuple(parameters))
        self._slow = [c.name for c, quick in zip(self._quick.columns, self._quick.quick, strict=True) if not quick]
        if self._slow:
            prepare_linearize(engine, self._slow)  # what has no derivatives is refused before the run
        self._forward(steps)

    def _forward(self, steps: int) -> None:
        """Take the steps; keep states and samples."""
        engine = self._engine
        sizes = dict(zip(STATE, (engine.model.nq, engine.model.nv, engine.m.nact, engine.model.nu), strict=True))
        self._states, blocks, present = np.zeros((steps + 1, engine.state.size)), engine.d.views["count"], -1
        changed = []
        with peeking(engine):
            engine.prepare()
            take = self._stepping()
            for k in range(steps):
                self._states[k] = engine.state
                if take():  # again, by what says what is wrong
                    engine.state[:] = self._states[k]
                    take_steps(engine, 1, engine.timestep)
                if k and blocks[NBLOCK] != present:
                    changed.append(k)
                present = int(blocks[NBLOCK])
            self._states[steps] = engine.state
        rows = {name: engine.rows_of(name).start for name in ("time", *sizes)}
        self._values = {name: self._states[:, rows[name] : rows[name] + size] for name, size in sizes.items()}
        time = self._states[:, rows["time"]].copy()
        self.changes = time[changed].tolist()
        self.run = ReverseRun(time, self._values | {"ctrl": self._values["ctrl"][0]}, Tape())
        self._states = self._states[:steps]

    def _stepping(self) -> Callable[[], int]:
        """A function that takes a step; not 0: by other means."""
        engine = self._engine
        if engine.guidance.has_movers or engine.dynamics is not None:
            return lambda: 1
        return engine.stepping(engine.timestep)

    def nothing(self) -> dict[str, Array]:
        """The gradient, by name, of a loss that does not feel the run."""
        return self._named(np.zeros(self._tangents.room(1)[0].shape[1]), np.zeros(self._engine.model.nu), None)

    def gradient(self, by_samples: dict[str, Array]) -> dict[str, Array]:
        """The gradient by the names, each [directions], from that by the samples."""
        at_samples = self._coordinates.to_tangent(self._values["qpos"], by_samples["qpos"])
        at_samples = np.concatenate([at_samples, by_samples["qvel"], by_samples["act"]], axis=1)
        with peeking(self._engine):
            state, ctrl, parameters = self._back(at_samples)
        return self._named(state, ctrl + by_samples["ctrl"], parameters)

    def _named(self, state: Array, ctrl: Array, parameters: Array | None) -> dict[str, Array]:
        """Parts of a gradient by name; `parameters`: None for zeros."""
        nv = self._engine.model.nv
        found = {"qpos": state[:nv], "qvel": state[nv : 2 * nv], "act": state[2 * nv :], "ctrl": ctrl}
        for name, here in self._quick.places.items():
            found[name] = np.zeros(len(here)) if parameters is None else parameters[here]
        return {name: found[name] for name in self._names}

    def _back(self, at_samples: Array) -> tuple[Array, Array, Array]:
        """Gradients by the start's state, controls and parameters, from those by the state of samples."""
        engine, quick = self._engine, self._quick
        state, ctrl, slow = at_samples[-1].copy(), np.zeros(engine.model.nu), np.zeros(len(self._slow))
        if quick.whole or quick.quick.any():
            quick.begin()
        turns, steps = self._turns(), len(self._states)
        if quick.goes_alone():
            quick.back(self._states, (0, steps), state, ctrl, at_samples, turns)
        else:
            for k, A, B, P in self._steps_back():
                if quick.quick.any():
                    quick.back(self._states, (k, k + 1), state.copy(), ctrl.copy(), at_samples, turns)
                ctrl += B.T @ state
                slow += P.T @ state
                state = A.T @ state + at_samples[k]
        parameters = quick.gradient() if quick.quick.any() else np.zeros(len(quick.columns))
        parameters[~quick.quick] = slow
        return state, ctrl, parameters

    def _steps_back(self) -> Iterator[tuple[int, Array, Array, Array]]:
        """Numbers of steps from the last to the first, with A, B and P, the last of parameters that need directions."""
        engine, tangents = self._engine, self._tangents
        if self._slow or tangents.may_lack_normals() or engine.guidance.has_movers:
            for k in range(len(self._states) - 1, -1, -1):
                engine.state[:] = self._states[k]
                engine.computed = None
                found = linearize(engine, self._slow)
                assert isinstance(found, Linearization)
                yield k, found.A, found.B, found.P
            return
        states, none = self._states.copy(), np.zeros((2 * engine.model.nv + engine.m.nact, 0))
        states[:, engine.rows_of("memory")] = 0.0
        forced = np.full(len(states), engine.d.ints[DATA.slot["has_xfrc"]])
        A, B = tangents.room(CHUNK)
        for last in range(len(states), 0, -CHUNK):
            first = max(0, last - CHUNK)
            tangents.of_each((states[first:last], forced[first:last]), (A, B), (0, last - first))
            tangents.tell_unconverged()
            for k in range(last - 1, first - 1, -1):
                yield k, A[k - first], B[k - first], none

    def _turns(self) -> Turns:
        """Transposed derivatives of rotations after steps, Jᵀ and R [steps, rotations, 3, 3], and who turns.

        Behind a rotation by θ, h times the velocity, changes of θ turn by J(θ) = 1 - (1 - cos θ)/θ² [θ] +
        (θ - sin θ)/θ³ [θ]², the right Jacobian of the exponential (Solà (2017), equation 183), and changes before it by
        Rᵀ(θ), R = 1 + sin θ/θ [θ] + (1 - cos θ)/θ² [θ]². On other coordinates both are 1.
        """
        turns = self._engine.timestep * self._values["qvel"][1:, self._rotations]
        angle = np.linalg.norm(turns, axis=-1)[..., None, None]
        x, y, z = np.moveaxis(turns, -1, 0)
        none = np.zeros_like(x)
        cross = np.stack([none, -z, y, z, none, -x, -y, x, none], axis=-1).reshape(*turns.shape, 3)
        first = 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
        square, large = angle * angle, np.maximum(angle, SMALL)
        series = 1 / 6 - square * (1 / 120 - square * (1 / 5040 - square / 362880))
        second, twice = np.where(angle > SMALL, (large - np.sin(large)) / large**3, series), cross @ cross
        jacobians = np.eye(3) + first * cross + second * twice
        return jacobians, np.eye(3) + np.sinc(angle / np.pi) * cross + first * twice, self._rotations


def step_adjoint(engine: Engine, names: tuple[str, ...]) -> StepAdjoint:
    """Gradients without directions, kept for the next call with these names."""
    memory: dict[tuple[str, ...], StepAdjoint] = engine.memo.setdefault("step_adjoint", {})
    if names not in memory:
        memory.clear()
        memory[names] = StepAdjoint(engine, names)
    return memory[names]


def check_reversible(engine: Engine) -> None:
    """OptionError for an engine through whose runs reverse mode cannot go."""
    check_differentiable(engine)
    if engine.hard is not None or engine.integrator.adaptive or engine.locates_events:
        raise OptionError(
            'run_gradient: mode="reverse" goes back over steps of fixed length, not over located events or '
            'adaptive steps; choose mode="forward", or a fixed-step integrator with soft contact'
        )
    check_chain(engine, 'run_gradient: mode="reverse"')
