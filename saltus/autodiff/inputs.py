"""Inputs of a step: state, controls and parameters as arrays, of one simulation or with a leading axis for many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError

Array = NDArray[np.float64]
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Inputs:
    """State qpos [..., nq], qvel [..., nv], act [..., na], controls, and a value for each parameter.

    ctrl: [..., nu], or of a run also [..., steps, nu]. parameters: as they were given, in the order of their names.
    """

    qpos: Array
    qvel: Array
    act: Array
    ctrl: Array
    parameters: tuple[Array, ...] = ()

    def __iter__(self):
        return iter((self.qpos, self.qvel, self.act, self.ctrl, *self.parameters))


def check_shape(name: str, value: Any, expected: Shape) -> None:
    """OptionError for an array of another shape than a state needs."""
    if tuple(np.shape(value)) != expected:
        raise OptionError(f"{name} must have shape {list(expected)}, not {list(np.shape(value))}")


def control_steps(ctrl: Any, each: Shape, steps: int | None) -> int:
    """The number of steps of a run with controls [..., nu], held, or [..., steps, nu]; OptionError for other shapes.

    `each`: shape of the controls of one step.
    """
    shape = tuple(np.shape(ctrl))
    held = shape == each
    if not held and (len(shape) != len(each) + 1 or (*shape[:-2], shape[-1]) != each):
        raise OptionError(
            f"ctrl must have shape {list(each)}, held, or {[*each[:-1], 'steps', each[-1]]}, not {list(shape)}"
        )
    if held and steps is None:
        raise OptionError("steps: how many? Controls with a row for each step say so, others do not")
    if not held and steps not in (None, shape[-2]):
        raise OptionError(f"steps is {steps}, but ctrl has rows for {shape[-2]}")
    return shape[-2] if steps is None else steps


def of_parameters(given: Mapping[str, Any] | None) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Names and values of parameters; OptionError for anything but a dictionary."""
    if given is None:
        return (), ()
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise OptionError(
            f'parameters must be a dictionary of values by names, {{"body_mass[link]": 1.2}}, got {given!r}'
        )
    return tuple(given), tuple(given.values())


def rows_of_parameter(name: str, value: Array, columns: int, n: int | None) -> Array:
    """A parameter's numbers as [columns], or [n, columns] where simulations differ; OptionError for another size."""
    if value.size == columns:
        return value.reshape(-1)
    if n is not None and value.ndim and value.shape[0] == n and value.size == n * columns:
        return value.reshape(n, columns)
    each = f", or [{n}, {columns}] for each simulation its own" if n is not None else ""
    raise OptionError(f"parameters: {name} takes {columns} numbers{each}, not an array of shape {list(value.shape)}")


def gradient_of_parameter(value: Array, gradient: Array) -> Array:
    """Gradient by a parameter in its shape, from that by the columns of P [..., columns]; one value for all sums up."""
    if gradient.ndim > 1 and value.size != gradient.size:
        gradient = gradient.sum(axis=0)
    return gradient.reshape(value.shape)
