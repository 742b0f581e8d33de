"""Equations of motion as numbers and as code: evaluated, integrated, simulated, written out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import path_of, positive, text_of
from saltus.errors import OptionError, SaltusWarning
from saltus.symbolic.code import TARGETS, kernel_text, routine
from saltus.symbolic.derived import DerivedEquations
from saltus.symbolic.evaluate import Evaluator, Inputs, SolveOptions, Values, checked_state, parameter_values, solution
from saltus.symbolic.export.c_code import c_header, c_source
from saltus.symbolic.export.numba_code import numba_source
from saltus.symbolic.export.program import Counts
from saltus.symbolic.export.python_code import function, python_source
from saltus.symbolic.export.routine import counts, write
from saltus.symbolic.simplify import simplified

if TYPE_CHECKING:
    from saltus.integrate.registry import IntegratorChoice, Tolerance
    from saltus.simulate.laws.contact import ContactChoice
    from saltus.simulate.laws.control import Controller
    from saltus.simulate.laws.dynamics import Dynamics
    from saltus.simulate.laws.events import Event
    from saltus.simulate.simulation import Simulation


class SimulationOptions(TypedDict, total=False):
    """Options of a simulation of equations; see `saltus.Simulation`."""

    integrator: IntegratorChoice
    contact: ContactChoice
    timestep: float | None
    tolerance: Tolerance | None
    control: Controller | None
    events: Sequence[Event]
    actuation_states: int | Sequence[float] | None


class NumericEquations(DerivedEquations):
    """Derived equations with their numerical methods; see `Equations`."""

    # ------------------------------------------------------------ numbers and motion

    def lambdify(self) -> Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """f(qpos, qvel, parameters=None) -> (M [n, n], bias [n]); parameters by name where they are letters."""
        compiled = function(routine(self, ("M", "bias")))
        if not self.mechanism.parameters:
            return lambda qpos, qvel: compiled(qpos, qvel)
        return lambda qpos, qvel, parameters=None: compiled(qpos, qvel, parameter_values(self, parameters))

    def acceleration(
        self, q: ArrayLike, v: ArrayLike, inputs: Values | None = None, parameters: Values | None = None
    ) -> NDArray[np.float64]:
        """a [n] at a state, with values of inputs (0 unless given) and parameters (the model's) by name."""
        return Evaluator(self, inputs, parameters)(*checked_state(self, q, v))[0]

    def multipliers(
        self, q: ArrayLike, v: ArrayLike, inputs: Values | None = None, parameters: Values | None = None
    ) -> NDArray[np.float64]:
        """λ [nc] of the constraints at a state of maximal coordinates (N, N m); Jᵀ λ are their forces."""
        return Evaluator(self, inputs, parameters)(*checked_state(self, q, v))[1]

    def solve(
        self, duration: float, q: ArrayLike, v: ArrayLike, **options: Unpack[SolveOptions]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """(time [T], q [T, nq], v [T, n]) from a state over a duration (s), by SciPy's DOP853.

        `inputs`: {name: number or function of time}; `parameters`: {name: number}; `stabilisation`: (α, β) in 1/s of
        constraints; `sample` (s); `rtol`, `atol`. OptionError for a start off the constraints, unless `stabilisation`
        is to draw it back; `from_joint` gives starts on them.
        """
        return solution(self, duration, q, v, **options)

    @cached_property
    def dynamics(self) -> Dynamics:
        """Kernels of these equations, for `saltus.Simulation(model, dynamics=...)` and `saltus.Batch`."""
        from saltus.simulate.laws.dynamics import Dynamics
        from saltus.symbolic.export.kernel_code import load_kernels

        return Dynamics(**load_kernels(kernel_text(self)))

    def simulation(self, *, inputs: Inputs | None = None, **options: Unpack[SimulationOptions]) -> Simulation:
        """A Simulation of the model whose inertia and bias are these equations; options as of `saltus.Simulation`.

        Its state is the joints' qpos and qvel whichever coordinates the equations are in: absolute angles are sums of
        the joints', and every integrator commutes with sums. Springs, dampers, actuators and constraints are the
        engine's. Forces from outside (`applied`) act at every stage of the integrator and are in `qfrc_applied`.

        `inputs`: {name: number, or function of time (s)}, of `applied` (0 unless given) and of controls; functions
        become part of the compiled steps.

        Raises:
            OptionError: maximal coordinates; an input is unknown, no number or function, or set by `control` too.
        """
        from saltus.simulate.simulation import Simulation
        from saltus.symbolic.driven import driven

        dynamics = self.dynamics
        options["control"] = driven(self, inputs, options.get("control"))
        return Simulation(self.model, dynamics=dynamics, **options)

    def simplify(self, limit: float = 60.0) -> Self:
        """Return the equations with M and bias simplified by SymPy's `trigsimp` as far as `limit` seconds allow.

        `timings["simplify"]` says how long it took; a SaltusWarning, how much was not done in time.
        """
        limit = positive("the limit of simplification", limit)
        n = len(self.v)
        lower = [(i, j) for i in range(n) for j in range(i + 1)]
        d = self.derivation
        out, done, seconds = simplified([*(d.M[i][j] for i, j in lower), *d.bias], limit)
        if done < len(out):
            text = f"simplified {done} of {len(out)} expressions of {self.model.name} in {limit:g} s; the rest stays"
            warnings.warn(text, SaltusWarning, stacklevel=2)
        M = [[out[lower.index((max(i, j), min(i, j)))] for j in range(n)] for i in range(n)]
        timings = {**d.timings, "simplify": seconds}
        shorter = replace(d, M=M, bias=out[len(lower) :], timings=timings)
        return type(self)(self.model, self.mechanism, self.choice, shorter, self.applied_meanings)

    # ------------------------------------------------------------ code

    def count_ops(self) -> Counts:
        """Operations of M and bias, of J and γ too in maximal coordinates, each common subexpression once."""
        constraint = ("jacobian", "gamma") if self.derivation.jacobian else ()
        return counts(routine(self, ("M", "bias", *constraint)))

    def python(self, path: str | os.PathLike[str] | None = None, target: str = "numpy") -> str:
        """Python code of the equations; with a path, written there too.

        `target`: "numpy", a function of arrays; "numba", the same compiled, without allocation; "kernel", kernels that
        take the place of the engine's inertia and bias.
        """
        if text_of("target", target) not in TARGETS:
            raise OptionError.unknown("target", target, TARGETS)
        makers = {"numpy": python_source, "numba": numba_source}
        text = kernel_text(self) if target == "kernel" else makers[target](routine(self))
        return written(path, text)

    def c(self, path: str | os.PathLike[str] | None = None) -> str:
        """C99 code of the equations; with a path, written there too, with a header file beside it."""
        code = routine(self)
        if path is not None:
            write(Path(path).with_suffix(".h"), c_header(code))
        return written(path, c_source(code))


def written(path: str | os.PathLike[str] | None, text: str) -> str:
    if path is not None:
        write(path_of("path", path), text)
    return text
