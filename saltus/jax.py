"""Steps and runs as functions of JAX arrays, with exact gradients, under `jax.jit` and `jax.grad`.

    import saltus.jax
    qpos, qvel, act = saltus.jax.step(sim, qpos, qvel, act, ctrl, parameters={"body_mass[link]": mass})

Requires JAX, which the first call imports: pip install 'saltus[jax]'.
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
    from jax import Array
    from jax.typing import ArrayLike

__all__ = ["States", "run", "step"]


class States(NamedTuple):
    """State after a step, or samples of a run, as JAX arrays."""

    qpos: Array
    """[nq], of a batch [n, nq]; of a run [steps + 1, nq], [n, steps + 1, nq] (rad, m, quaternion parts)."""
    qvel: Array
    """[..., nv] (rad/s, m/s)."""
    act: Array
    """[..., na and the controller's states]."""


def step(
    sim: Simulation | Batch,
    qpos: ArrayLike,
    qvel: ArrayLike,
    act: ArrayLike | None = None,
    ctrl: ArrayLike | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> States:
    """The state after a step from (qpos, qvel, act) under ctrl, differentiable once by all of them and by parameters.

    `sim`: a Simulation, or a Batch, whose arrays have an axis [n, ...] in front; it keeps its state. Time, applied
    forces and everything else that steps depend on are those of `sim` at the call, under `jax.jit` at the time of
    tracing; act and ctrl, too, if None. `parameters`: values by the names of `Simulation.linearize`, which replace
    those of the model and its controller; of a batch also [n, ...], one for each simulation, where the model's vary.

    Steps are computed on the CPU in the precision of `sim`, derivatives in float64; results have JAX's precision, which
    is float32 unless `jax_enable_x64` is set: then states are rounded after each step. Reverse mode only.

    Quaternions in qpos are normalised first. Gradients by them point along the sphere, without a part off it.

    Raises:
        ImportError: JAX is not installed.
        OptionError: a shape or name is wrong; the step has no derivatives, where they are asked for.
        jax.errors.JaxRuntimeError: with the text of an EventError or DivergenceError of the computed step.
    """
    functions = _functions()
    names, values = of_parameters(parameters)
    return States(*functions.step(Steps(sim, names), qpos, qvel, act, ctrl, values))


def run(
    sim: Simulation | Batch,
    qpos: ArrayLike,
    qvel: ArrayLike,
    act: ArrayLike | None = None,
    ctrl: ArrayLike | None = None,
    steps: int | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> States:
    """The states of a run at its start and after each step, differentiable as those of `step`.

    `ctrl` [steps, nu]: a row for each step, of a batch [n, steps, nu]; or [nu], [n, nu] or None, held for `steps`
    steps. Rounding to JAX's precision is that of the samples, not of the motion. Gradients go from step to step with
    the derivatives of each; they take the run twice again, in the memory of the states of about 2 √steps steps.

    Raises:
        As `step`; OptionError: the number of steps is not known, or steps remember more than the state (delays,
        Verlet's method).
    """
    functions = _functions()
    names, values = of_parameters(parameters)
    return States(*functions.run(Steps(sim, names), qpos, qvel, act, ctrl, steps, values))


def _functions():
    """The module that needs JAX."""
    try:
        import_module("jax")
    except Exception as error:  # whatever a broken installation raises
        absent = isinstance(error, ModuleNotFoundError) and error.name == "jax"
        why = "" if absent else f" (the one that is found gives {type(error).__name__}: {error})"
        raise ImportError(f"saltus.jax needs JAX: pip install 'saltus[jax]'{why}", name="jax") from error
    return import_module("saltus.autodiff.jax_functions")
