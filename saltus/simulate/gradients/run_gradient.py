"""The gradient of a loss of a run by its start, controls and parameters, exact to rounding.

In forward mode dual numbers run along, through steps, contacts and located events (see
`saltus.simulate.derivatives.run_tangents`), eight directions at a time, and the loss is evaluated once, on dual
numbers. Reverse mode goes back from the end of the run (see `saltus.simulate.gradients.adjoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import positive, words
from saltus.errors import OptionError
from saltus.simulate.derivatives.parameter_columns import LAW
from saltus.simulate.derivatives.run_directions import STATE
from saltus.simulate.derivatives.run_tangents import check_tangents
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine.threads.turn import in_turn
from saltus.simulate.gradients.adjoint import Adjoint
from saltus.simulate.gradients.differentiated_number import DifferentiatedNumber, value_of
from saltus.simulate.gradients.differentiated_run import DifferentiatedRun, differentiated_run
from saltus.simulate.gradients.dual_number import DualNumber
from saltus.simulate.gradients.reverse_number import ReverseNumber
from saltus.simulate.gradients.sensitivities import sensitivities, tell_changes
from saltus.simulate.stepping import refuse_in_control

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Loss = Callable[[DifferentiatedRun], "DifferentiatedNumber | np.object_ | float"]
MODES = ("forward", "reverse")
WHOLE = 1e-9  # of a step: a duration this close to a whole number of steps has it


class Gradient(Mapping[str, "float | NDArray[np.float64]"]):
    """A gradient by name: gradient["qpos"] [nv] (along the axes of qvel), gradient["body_mass[link]"] a number.

    zero: names by which it is exactly zero, since the loss does not feel them here. condition: the largest factor by
    which the run grows a change of what it is differentiated by, over all samples; in chaotic motion it grows
    exponentially; NaN in reverse mode, which does not find it. changes: times (s) at which soft contacts or limits
    began or ended, whose changes the gradient leaves out; empty under located contact, which has them.
    """

    def __init__(self, parts: dict[str, float | NDArray[np.float64]], condition: float, changes: Sequence[float] = ()):
        self._parts = parts
        self.condition, self.changes = condition, tuple(changes)
        self.zero = tuple(name for name, value in parts.items() if _is_zero(value))

    def __getitem__(self, name: str) -> float | NDArray[np.float64]:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self.items()]
        lines += [f"zero here: {', '.join(self.zero)}"] if self.zero else []
        if self.changes:
            lines += [f"leaves out changes of contacts at: {self.changes[0]:g} s ({len(self.changes)} in all)"]
        return "\n".join([*lines, f"condition: {self.condition:.3g}"])


def _is_zero(value: float | NDArray[np.float64]) -> bool:
    """Whether a part of a gradient has numbers, and all of them are zero."""
    return value.size > 0 and not value.any() if isinstance(value, np.ndarray) else value == 0.0


def run_gradient(
    sim: Simulation,
    duration: float,
    loss: Loss,
    wrt: Sequence[str] | str = STATE[:2],
    mode: Literal["forward", "reverse"] = "forward",
) -> tuple[float, Gradient]:
    """Value and gradient of a loss of the run of `duration` s (whole steps) from the present state, which stays.

    `loss`: f(run) -> number, of the samples and events of a `DifferentiatedRun`, by arithmetic and NumPy's functions.
    `wrt`: "qpos" (along the axes of qvel), "qvel", "act" at the start; "ctrl", held; parameters as of
    `Simulation.linearize`, "body_mass[link]", "PID.kp[motor]", "Hard.restitution".

    `mode`: "forward" takes time in proportion to the number of directions. "reverse" goes back from the end, over
    fixed steps with soft contact: about the same time for any number of parameters (geometry and some others, and
    integrators other than Euler, still need directions), and memory for the states of all steps.

    Through located events the times of these count (saltation), also where a sample coincides with one. Under soft
    contact the derivatives are those of the steps: a SaltusWarning and `gradient.changes` say where contacts or limits
    begin or end, whose times they leave out.

    Raises:
        OptionError: a name or duration is wrong; a parameter, or the motion, has no derivatives.
        EventError: the motion has no derivatives at an event (grazing), or events are too dense to be located.
        DivergenceError: the motion diverges.
    """
    engine = getattr(sim, "engine", None)
    if engine is None:
        raise OptionError(f"sim must be a saltus.Simulation, got a {type(sim).__name__}")
    names = words("wrt", wrt)
    steps = positive("duration", duration) / engine.timestep
    if abs(steps - round(steps)) > WHOLE * steps or round(steps) < 1:
        raise OptionError(f"duration must be a whole number of timesteps ({engine.timestep:g} s), got {duration:g} s")
    parameters = [name for name in names if name not in STATE]
    if mode not in MODES:
        raise OptionError.unknown("mode", mode, MODES)
    found = _gradient if mode == "forward" else _reverse_gradient
    return found(sim, round(steps), loss, names, parameters)


@in_turn
def _gradient(
    sim: Simulation, steps: int, loss: Loss, names: Sequence[str], parameters: Sequence[str]
) -> tuple[float, Gradient]:
    """Value and gradient of the loss of a number of steps."""
    engine = sim.engine
    refuse_in_control(engine, "run_gradient")
    divergence.check_given(engine)
    samples, of_name = sensitivities(engine, steps, names, parameters)
    count = sum(len(here) for here in of_name.values())
    found = _evaluated(loss, differentiated_run(engine, samples, count))
    value, tangent = (found.value, found.tangent) if isinstance(found, DualNumber) else (float(found), np.zeros(count))
    check_tangents(tangent)
    parts = {name: _part(name, tangent[here]) for name, here in of_name.items()}
    grown = [np.concatenate(x) for x in zip(samples.tangents["qpos"], samples.tangents["qvel"], strict=True)]
    condition = max(float(np.linalg.norm(sensitivity, 2)) for sensitivity in grown) if count else 0.0
    return value, Gradient(parts, condition, samples.changes)


@in_turn
def _reverse_gradient(
    sim: Simulation, steps: int, loss: Loss, names: Sequence[str], parameters: Sequence[str]
) -> tuple[float, Gradient]:
    """Value and gradient of the loss of a number of steps, from the end back to the start."""
    engine = sim.engine
    refuse_in_control(engine, "run_gradient")
    divergence.check_given(engine)
    adjoint = Adjoint(engine, steps, names, parameters)
    found = _evaluated(loss, adjoint.run)
    if isinstance(found, ReverseNumber):
        value, gradients = found.value, adjoint.gradient(adjoint.run.gradients(found))
    else:
        value, gradients = float(found), adjoint.nothing()
    check_tangents(*gradients.values())
    tell_changes(adjoint.changes)
    return value, Gradient({name: _part(name, g) for name, g in gradients.items()}, np.nan, adjoint.changes)


def _part(name: str, gradient: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """The gradient by a name: a number where the name is one of a number, else an array."""
    single = len(gradient) == 1 and (name.endswith("]") or name.startswith(LAW))
    return float(gradient[0]) if single else gradient


def _evaluated(loss: Loss, run: DifferentiatedRun) -> Any:
    """The loss of a run; OptionError for what is no number, or goes through functions without derivatives."""
    try:
        found = loss(run)
    except (TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise OptionError(f"loss: {error}; it must consist of arithmetic and NumPy's functions of numbers") from error
    if isinstance(found, np.ndarray) and found.size == 1:
        found = found.item()
    if not isinstance(found, DifferentiatedNumber) and not np.isscalar(found):
        raise OptionError(f"loss must return one number, not {type(found).__name__}")
    if isinstance(value_of(found), str) or not np.isfinite(value_of(found)):
        raise OptionError(f"loss must be a finite number, not {value_of(found)!r}")
    return found
