"""Steps and runs as functions of JAX: calls out of compiled code, with vector-Jacobian products of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saltus.arguments import whole_number
from saltus.autodiff.inputs import Inputs, Shape, control_steps
from saltus.autodiff.steps import States, Steps
from saltus.errors import OptionError


def step(steps: Steps, qpos: Any, qvel: Any, act: Any, ctrl: Any, parameters: Sequence[Any]) -> tuple[Any, ...]:
    """qpos, qvel and act after a step."""
    arrays = _arrays(steps, qpos, qvel, act, steps.given("ctrl", ctrl), parameters)
    shapes = [steps.shapes[name] for name in ("qpos", "qvel", "act")]
    return _differentiable(steps.check, steps.step, steps.step_back, shapes)(*arrays)


def run(
    steps: Steps, qpos: Any, qvel: Any, act: Any, ctrl: Any, number: int | None, parameters: Sequence[Any]
) -> tuple[Any, ...]:
    """qpos, qvel and act at the start and after each step of a run."""
    number = None if number is None else whole_number("steps", number, 1)
    ctrl = steps.present["ctrl"] if ctrl is None else ctrl
    count = whole_number("steps", control_steps(ctrl, steps.shapes["ctrl"], number), 1)
    arrays = _arrays(steps, qpos, qvel, act, ctrl, parameters)
    of_state = [steps.shapes[name] for name in ("qpos", "qvel", "act")]
    shapes = [(*shape[:-1], count + 1, shape[-1]) for shape in of_state]

    def forwards(inputs: Inputs) -> States:
        return steps.run(inputs, count)[0]

    def backwards(inputs: Inputs, gradient: States) -> Inputs:
        return steps.run_back(inputs, count, gradient)

    return _differentiable(lambda: steps.check(count), forwards, backwards, shapes)(*arrays)


def _differentiable(
    check: Callable[[], None],
    forwards: Callable[[Inputs], States],
    backwards: Callable[[Inputs, States], Inputs],
    shapes: Sequence[Shape],
) -> Callable[..., Any]:
    """A function of arrays that calls `forwards`, and `backwards` for its vector-Jacobian products.

    `check` is called when JAX traces a gradient; its errors reach the user as they are. `shapes`: of the results.
    """

    def primal(*arrays: Any) -> Any:
        of_results = tuple(jax.ShapeDtypeStruct(shape, arrays[0].dtype) for shape in shapes)
        return jax.pure_callback(_called(forwards, len(arrays)), of_results, *arrays, vmap_method="sequential")

    def forward(*arrays: Any) -> Any:
        check()
        return primal(*arrays), arrays

    def backward(arrays: Any, gradients: Any) -> Any:
        of_inputs = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays)
        call = _called(backwards, len(arrays))
        return jax.pure_callback(call, of_inputs, *arrays, *gradients, vmap_method="sequential")

    function = jax.custom_vjp(primal)
    function.defvjp(forward, backward)
    return function


def _called(function: Callable[..., Any], inputs: int) -> Callable[..., Any]:
    """A function of arrays of JAX, of which the first are inputs and the others gradients by a state, as a callback."""

    def call(*arrays: Any) -> Any:
        given = [np.asarray(array).astype(np.float64, copy=False) for array in arrays]
        qpos, qvel, act, ctrl, *parameters = given[:inputs]
        gradient = (tuple(given[inputs:]),) if given[inputs:] else ()
        found = tuple(function(Inputs(qpos, qvel, act, ctrl, tuple(parameters)), *gradient))
        return tuple(np.asarray(array, arrays[0].dtype) for array in found)

    return call


def _arrays(steps: Steps, qpos: Any, qvel: Any, act: Any, ctrl: Any, parameters: Sequence[Any]) -> list[Any]:
    """All inputs as arrays of JAX's floats, of the type of qpos."""
    state = [steps.given(name, value) for name, value in (("qpos", qpos), ("qvel", qvel), ("act", act))]
    found: list[Any] = []
    for name, value in zip(("qpos", "qvel", "act", "ctrl", *steps.names), (*state, ctrl, *parameters), strict=True):
        try:
            array = jnp.asarray(value)
        except (TypeError, ValueError) as error:
            raise OptionError(f"{name} must be an array of numbers: {error}") from error
        if not jnp.issubdtype(array.dtype, jnp.floating):
            array = array.astype(float)
        found.append(array.astype(found[0].dtype) if found else array)
    return found
