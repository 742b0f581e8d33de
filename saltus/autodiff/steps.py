"""Steps and runs from a fixed start as functions of state, controls and parameters, with vector-Jacobian products.

Over a step, (dq, dv, dw)' = A (dq, dv, dw) + B du + P dp. A gradient g by the end of the step is Aᵀ g by its start,
Bᵀ g by the controls and Pᵀ g by the parameters. Through a run of T steps it goes back from step to step; states are
kept at every √T-th step, and those in between computed again (Griewank & Walther, Evaluating Derivatives (2008),
chapter 12).
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.autodiff.batch_motion import BatchMotion
from saltus.autodiff.inputs import Inputs, check_shape, gradient_of_parameter
from saltus.autodiff.simulation_motion import SimulationMotion
from saltus.errors import OptionError
from saltus.simulate.batch import Batch
from saltus.simulate.gradients.coordinates import Coordinates
from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
States = tuple[Array, Array, Array]


@dataclass(eq=False)
class Copy:
    """A private copy of a simulation or batch, which one thread at a time moves."""

    motion: SimulationMotion | BatchMotion
    coordinates: Coordinates
    lock: threading.RLock


_COPIES: weakref.WeakKeyDictionary[Simulation | Batch, Copy] = weakref.WeakKeyDictionary()


def _copy_of(sim: Simulation | Batch) -> Copy:
    """The copy of a simulation or batch, made anew where its timestep, controller or law has changed."""
    copied = _COPIES.get(sim)
    if copied is None or not copied.motion.fits(sim):  # type: ignore[arg-type]
        motion = SimulationMotion(sim) if isinstance(sim, Simulation) else BatchMotion(sim)
        copied = _COPIES[sim] = Copy(motion, Coordinates(motion.model), threading.RLock())
    return copied


class Steps:
    """Steps of a simulation or batch from its present time, inputs and memory on; it keeps its state.

    `names`: of parameters. shapes: those of qpos, qvel, act and ctrl. present: their values.
    """

    def __init__(self, sim: Simulation | Batch, names: Sequence[str] = ()):
        if not isinstance(sim, Simulation | Batch):
            raise OptionError(f"sim must be a saltus.Simulation or a saltus.Batch, got a {type(sim).__name__}")
        copied = _copy_of(sim)
        self._motion, self._coordinates, self._lock = copied.motion, copied.coordinates, copied.lock
        self._start = self._motion.start(sim)  # type: ignore[arg-type]
        self.names = tuple(names)
        self._counts = self._motion.counts(self.names)
        model, leading = self._motion.model, () if self._motion.n is None else (self._motion.n,)
        sizes = {"qpos": model.nq, "qvel": model.nv, "act": self._motion.nact, "ctrl": model.nu}
        self.shapes = {name: (*leading, size) for name, size in sizes.items()}
        self.present: Mapping[str, Array] = {name: np.array(getattr(sim, name), float) for name in sizes}

    def given(self, name: str, value: Any) -> Any:
        """A part of the state, the present one for None; OptionError for another shape."""
        if value is None:
            return self.present[name]
        check_shape(name, value, self.shapes[name])
        return value

    def check(self, steps: int = 1) -> None:
        """OptionError where so many steps have no derivatives, whatever the state."""
        with self._lock:
            self._motion.check(self.names, steps)

    def step(self, inputs: Inputs) -> States:
        """qpos, qvel and act after a step."""
        with self._lock:
            self._begin(inputs)
            self._motion.set_control(inputs.ctrl)
            self._motion.advance()
            return self._motion.state()

    def step_back(self, inputs: Inputs, gradient: States) -> Inputs:
        """Gradient by the inputs of a step from that by its end."""
        with self._lock:
            self._begin(inputs)
            self._motion.set_control(inputs.ctrl)
            A, B, P = self._motion.derivatives(self.names)
            self._motion.advance()
            at_end = self._tangent(self._motion.state()[0], gradient)
        return self._of_inputs(inputs, _product(A, at_end), _product(B, at_end), _product(P, at_end))

    def run(self, inputs: Inputs, steps: int) -> tuple[States, list[Any]]:
        """qpos, qvel and act at the start and after each step [..., steps + 1, size], and states for `run_back`."""
        with self._lock:
            self._begin(inputs)
            samples, marks, apart = [self._motion.state()], [], spacing(steps)
            for k in range(steps):
                if k % apart == 0:
                    marks.append(self._motion.kept())
                self._motion.set_control(self._control(inputs.ctrl, k))
                self._motion.advance()
                samples.append(self._motion.state())
        qpos, qvel, act = (np.stack(parts, axis=-2) for parts in zip(*samples, strict=True))
        return (qpos, qvel, act), marks

    def run_back(self, inputs: Inputs, steps: int, gradient: States, marks: list[Any] | None = None) -> Inputs:
        """Gradient by the inputs of a run from that by its samples. `marks`: what `run` returned; None: run again."""
        with self._lock:
            marks = self.run(inputs, steps)[1] if marks is None else marks
            self._begin(inputs)  # the parameters
            apart, ctrl = spacing(steps), np.zeros_like(inputs.ctrl)
            leading = self.shapes["qvel"][:-1]
            state = np.zeros((*leading, sum(self.shapes[x][-1] for x in ("qvel", "qvel", "act"))))
            parameters = np.zeros((*leading, sum(self._counts)))
            for first in range((len(marks) - 1) * apart, -1, -apart):
                last = min(first + apart, steps)
                kept, ends = self._again(inputs, marks[first // apart], first, last)
                for k in range(last - 1, first - 1, -1):
                    sample = gradient[0][..., k + 1, :], gradient[1][..., k + 1, :], gradient[2][..., k + 1, :]
                    state += self._tangent(ends[k - first], sample)
                    self._motion.go_to(kept[k - first])
                    self._motion.set_control(self._control(inputs.ctrl, k))
                    A, B, P = self._motion.derivatives(self.names)
                    self._control(ctrl, k)[...] += _product(B, state)
                    parameters += _product(P, state)
                    state = _product(A, state)
            qpos = self._coordinates.normalised(inputs.qpos)
            state += self._tangent(qpos, (gradient[0][..., 0, :], gradient[1][..., 0, :], gradient[2][..., 0, :]))
        return self._of_inputs(inputs, state, ctrl, parameters)

    def _begin(self, inputs: Inputs) -> None:
        """Go to the start with the state and parameters of inputs, quaternions normalised."""
        qpos = self._coordinates.normalised(inputs.qpos)
        given = Inputs(qpos, inputs.qvel, inputs.act, inputs.ctrl, inputs.parameters)
        self._motion.begin(self._start, self.names, given)

    def _again(self, inputs: Inputs, mark: Any, first: int, last: int) -> tuple[list[Any], list[Array]]:
        """States at the starts of steps, and positions at their ends, from a mark on."""
        kept, ends = [mark], []
        self._motion.go_to(mark)
        for k in range(first, last):
            if k > first:
                kept.append(self._motion.kept())
            self._motion.set_control(self._control(inputs.ctrl, k))
            self._motion.advance()
            ends.append(self._motion.state()[0])
        return kept, ends

    def _control(self, ctrl: Array, k: int) -> Array:
        """Controls of step k: a view."""
        return ctrl if ctrl.ndim == len(self.shapes["ctrl"]) else ctrl[..., k, :]

    def _tangent(self, qpos: Array, gradient: States) -> Array:
        """A gradient by qpos, qvel and act as one by the state in the axes of qvel [..., 2 nv + na]."""
        return np.concatenate([self._coordinates.to_tangent(qpos, gradient[0]), *gradient[1:]], axis=-1)

    def _of_inputs(self, inputs: Inputs, state: Array, ctrl: Array, parameters: Array) -> Inputs:
        """A gradient by state, controls and columns of P in the shapes of the inputs."""
        nv = self.shapes["qvel"][-1]
        ends = np.cumsum([0, *self._counts])
        own = [parameters[..., a:b] for a, b in pairwise(ends)]
        return Inputs(
            self._coordinates.from_tangent(inputs.qpos, state[..., :nv]),
            state[..., nv : 2 * nv],
            state[..., 2 * nv :],
            ctrl,
            tuple(gradient_of_parameter(x, g) for x, g in zip(inputs.parameters, own, strict=True)),
        )


def spacing(steps: int) -> int:
    """Number of steps between kept states: about the square root of all."""
    return max(1, math.isqrt(steps))


def _product(matrix: Array, gradient: Array) -> Array:
    """matrixᵀ gradient, for each simulation."""
    return np.einsum("...ij,...i->...j", matrix, gradient)
