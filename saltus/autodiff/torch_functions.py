"""Steps and runs as functions of `torch.autograd`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from saltus.arguments import whole_number
from saltus.autodiff.inputs import Inputs, control_steps
from saltus.autodiff.steps import Steps
from saltus.errors import OptionError

REAL = (torch.float32, torch.float64)


def step(steps: Steps, qpos: Any, qvel: Any, act: Any, ctrl: Any, parameters: Sequence[Any]) -> tuple[Any, ...]:
    """qpos, qvel and act after a step."""
    tensors = _tensors(steps, qpos, qvel, act, steps.given("ctrl", ctrl), parameters)
    if _is_wanted(tensors):
        steps.check()
    return _Step.apply(steps, *tensors)


def run(
    steps: Steps, qpos: Any, qvel: Any, act: Any, ctrl: Any, number: int | None, parameters: Sequence[Any]
) -> tuple[Any, ...]:
    """qpos, qvel and act at the start and after each step of a run."""
    number = None if number is None else whole_number("steps", number, 1)
    ctrl = steps.present["ctrl"] if ctrl is None else ctrl
    number = whole_number("steps", control_steps(ctrl, steps.shapes["ctrl"], number), 1)
    tensors = _tensors(steps, qpos, qvel, act, ctrl, parameters)
    if _is_wanted(tensors):
        steps.check(number)
    return _Run.apply(steps, number, *tensors)


class _Step(torch.autograd.Function):
    """A step; its backward pass solves nothing but takes the derivatives of the step at the same start."""

    @staticmethod
    def forward(ctx: Any, steps: Steps, *tensors: Any) -> Any:
        """Tensors of the state after the step, of the type and on the device of qpos."""
        ctx.steps = steps
        ctx.save_for_backward(*tensors)
        return _like(tensors[0], steps.step(_inputs(tensors)))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradients by the tensors."""
        found = ctx.steps.step_back(_inputs(ctx.saved_tensors), _arrays(gradients))
        return None, *_gradients(ctx, found, 1)


class _Run(torch.autograd.Function):
    """A run, with states kept for the backward pass at some of its steps."""

    @staticmethod
    def forward(ctx: Any, steps: Steps, number: int, *tensors: Any) -> Any:
        """Tensors of all samples, of the type and on the device of qpos."""
        samples, marks = steps.run(_inputs(tensors), number)
        ctx.steps, ctx.number = steps, number
        ctx.marks = marks if any(ctx.needs_input_grad) else None
        ctx.save_for_backward(*tensors)
        return _like(tensors[0], samples)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradients by the tensors."""
        found = ctx.steps.run_back(_inputs(ctx.saved_tensors), ctx.number, _arrays(gradients), ctx.marks)
        return None, None, *_gradients(ctx, found, 2)


def _tensors(steps: Steps, qpos: Any, qvel: Any, act: Any, ctrl: Any, parameters: Sequence[Any]) -> list[Any]:
    """All inputs as tensors; those that are no tensors have qpos' type and device."""
    if not isinstance(qpos, torch.Tensor) or qpos.dtype not in REAL:
        raise OptionError(f"qpos must be a tensor of float32 or float64, not {_kind(qpos)}")
    state = [steps.given(name, value) for name, value in (("qpos", qpos), ("qvel", qvel), ("act", act))]
    found = []
    for name, value in zip(("qpos", "qvel", "act", "ctrl", *steps.names), (*state, ctrl, *parameters), strict=True):
        if not isinstance(value, torch.Tensor):
            try:
                value = torch.as_tensor(value, dtype=qpos.dtype, device=qpos.device)
            except (TypeError, ValueError, RuntimeError) as error:
                raise OptionError(f"{name} must be a tensor or numbers: {error}") from error
        if value.dtype not in REAL:
            raise OptionError(f"{name} must be a tensor of float32 or float64, not {_kind(value)}")
        found.append(value)
    return found


def _kind(value: Any) -> str:
    return str(value.dtype) if isinstance(value, torch.Tensor) else type(value).__name__


def _is_wanted(tensors: Sequence[Any]) -> bool:
    """Whether a backward pass may follow."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _array(tensor: Any) -> NDArray[np.float64]:
    """A tensor's numbers in float64: its own memory where it holds them on the CPU."""
    return tensor.detach().cpu().numpy().astype(np.float64, copy=False)


def _arrays(tensors: Sequence[Any]) -> Any:
    return tuple(_array(tensor) for tensor in tensors)


def _inputs(tensors: Sequence[Any]) -> Inputs:
    """Tensors as inputs of a step or run."""
    qpos, qvel, act, ctrl, *parameters = _arrays(tensors)
    return Inputs(qpos, qvel, act, ctrl, tuple(parameters))


def _like(tensor: Any, arrays: Sequence[NDArray[np.float64]]) -> tuple[Any, ...]:
    """Arrays as tensors of the type and on the device of another one."""
    return tuple(torch.from_numpy(array).to(device=tensor.device, dtype=tensor.dtype) for array in arrays)


def _gradients(ctx: Any, found: Inputs, first: int) -> list[Any]:
    """Gradients as tensors, None for those that nobody asked for; `first`: place of the first tensor's."""
    asked, saved = ctx.needs_input_grad[first:], ctx.saved_tensors
    out = [
        _like(tensor, [array])[0] if wanted else None for wanted, tensor, array in zip(asked, saved, found, strict=True)
    ]
    if torch.is_grad_enabled():  # the gradients will be differentiated (create_graph)
        return [None if gradient is None else _Once.apply(gradient, *saved) for gradient in out]
    return out


class _Once(torch.autograd.Function):
    """A gradient that depends on tensors, as PyTorch is told, but cannot be differentiated by them."""

    @staticmethod
    def forward(ctx: Any, gradient: Any, *tensors: Any) -> Any:
        """The gradient."""
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Nothing but the error for second derivatives."""
        raise OptionError("saltus.torch: steps have first derivatives only; leave the gradient of a gradient out")
