"""Steps and runs as functions of PyTorch tensors, with exact gradients.

    import saltus.torch
    qpos, qvel, act = saltus.torch.step(sim, qpos, qvel, act, ctrl, parameters={"body_mass[link]": mass})

Requires PyTorch, which the first call imports: pip install 'saltus[torch]'.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from saltus.autodiff.inputs import of_parameters
from saltus.autodiff.steps import Steps
from saltus.simulate.batch import Batch
from saltus.simulate.simulation import Simulation

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["States", "run", "step"]


class States(NamedTuple):
    """State after a step, or samples of a run, as tensors."""

    qpos: Tensor
    """[nq], of a batch [n, nq]; of a run [steps + 1, nq], [n, steps + 1, nq] (rad, m, quaternion parts)."""
    qvel: Tensor
    """[..., nv] (rad/s, m/s)."""
    act: Tensor
    """[..., na and the controller's states]."""


def step(
    sim: Simulation | Batch,
    qpos: Tensor,
    qvel: Tensor,
    act: Tensor | None = None,
    ctrl: Tensor | None = None,
    *,
    parameters: Mapping[str, Tensor] | None = None,
) -> States:
    """The state after a step from (qpos, qvel, act) under ctrl, differentiable once by all of them and by parameters.

    `sim`: a Simulation, or a Batch, whose tensors have an axis [n, ...] in front; it keeps its state. Time, applied
    forces and everything else that steps depend on are those of `sim` at the call; act and ctrl, too, if None.
    `parameters`: values by the names of `Simulation.linearize`, which replace those of the model and its controller; of
    a batch also [n, ...], one for each simulation, where the model's vary. Tensors may be float32 or float64 and on
    any device; the step is computed on the CPU in the precision of `sim`, derivatives in float64.

    Quaternions in qpos are normalised first. Gradients by them point along the sphere, without a part off it.

    Raises:
        ImportError: PyTorch is not installed.
        OptionError: a shape or name is wrong; the step has no derivatives by something that requires a gradient.
        EventError: the motion has no derivatives at an event (in `backward`), or a terminal event ends the step.
        DivergenceError: the motion diverges.
    """
    functions = _functions()
    names, values = of_parameters(parameters)
    return States(*functions.step(Steps(sim, names), qpos, qvel, act, ctrl, values))


def run(
    sim: Simulation | Batch,
    qpos: Tensor,
    qvel: Tensor,
    act: Tensor | None = None,
    ctrl: Tensor | None = None,
    steps: int | None = None,
    *,
    parameters: Mapping[str, Tensor] | None = None,
) -> States:
    """The states of a run at its start and after each step, differentiable as those of `step`.

    `ctrl` [steps, nu]: a row for each step, of a batch [n, steps, nu]; or [nu], [n, nu] or None, held for `steps`
    steps. `backward` goes from step to step with the derivatives of each. Between the two, memory holds the state of
    about √steps steps, and twice as many during `backward`, which takes the steps again.

    Raises:
        As `step`; OptionError: the number of steps is not known, or steps remember more than the state (delays,
        Verlet's method).
    """
    functions = _functions()
    names, values = of_parameters(parameters)
    return States(*functions.run(Steps(sim, names), qpos, qvel, act, ctrl, steps, values))


def _functions():
    """The module that needs PyTorch."""
    try:
        import_module("torch")
    except Exception as error:  # whatever a broken installation raises
        absent = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        why = "" if absent else f" (the one that is found gives {type(error).__name__}: {error})"
        raise ImportError(f"saltus.torch needs PyTorch: pip install 'saltus[torch]'{why}", name="torch") from error
    return import_module("saltus.autodiff.torch_functions")
