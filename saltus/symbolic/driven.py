"""Inputs of equations in a simulation: forces from outside and controls, as numbers or compiled functions of time.

They become a controller of the time loop, which every stage of every integrator sees, and which runs that of the user,
if any, first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.dynamics.user_laws import user_kernel
from saltus.errors import OptionError
from saltus.number.components import value_of
from saltus.simulate.laws.control import Controller, check_control
from saltus.symbolic.code import applied_routine
from saltus.symbolic.evaluate import by_name
from saltus.symbolic.export.kernel_code import kernel_source, load_kernels

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.symbolic.derived import DerivedEquations

FORM = "f(t), a function of the time (s) alone"
CONSTANT = """from saltus.number.kernels import kernel


@kernel(inline=True)
def constant(t):
    return {number!r} + 0.0 * t
"""


class Driven(Controller):
    """A controller that sets the generalised forces of `applied`, and controls, after another controller has run."""

    def __init__(self, law: Any, before: Controller | None):
        super().__init__(law)
        self._before = before

    def states_of(self, model: Model) -> int:
        """Number of the other controller's states."""
        return self._before.states_of(model) if self._before else 0

    def parameters(self, model: Model) -> NDArray[np.float64]:
        """Parameters of the other controller."""
        return self._before.parameters(model) if self._before else np.zeros(0)


def driven(equations: DerivedEquations, inputs: Any, control: Controller | None) -> Controller | None:
    """The controller of a simulation of equations with `applied` forces and values of inputs; `control`: the user's.

    Raises:
        OptionError: an input is unknown, is no number or function of time, or is a control that `control` sets too.
    """
    given = by_name("input", equations.inputs, {} if inputs is None else inputs)
    if not given and all(force == 0 for force in equations.derivation.forces["applied"]):
        return control
    check_control(control)
    if control is not None and control.hold:
        raise OptionError(
            "simulation: a controller with hold=True runs once a step, but forces from outside at every stage; "
            "leave hold out, or apply the forces by sim.qfrc_applied"
        )
    functions = {str(symbol): _function(str(symbol), given.get(str(symbol), 0.0)) for symbol in equations.inputs}
    controls = _controls(equations, given, control)
    known: dict[str, Any] = {"value_of": value_of}
    known |= {f"input_{i}": functions[str(symbol)] for i, symbol in enumerate(equations.applied_meanings)}
    text = kernel_source(
        applied_routine(equations),
        (),
        values=equations.mechanism.parameters,
        fields={"applied": "qfrc_applied"},
        calls={"inputs": "input_{i}(value_of(d.time))"},
    )
    lines = ["", "", "@kernel(inline=True)", "def driven(m, d, z):", "    applied(m, d)"]
    if control is not None:
        known["before"] = control.law
        lines.insert(4, "    before(m, d, z)")
    for name, place in controls.items():
        known[f"control_{place}"] = functions[name]
        lines.append(f"    d.ctrl[{place}] = 0.0 * d.time + control_{place}(value_of(d.time))")
    kernels = load_kernels(text + "\n".join(lines) + "\n", known=known)
    return Driven(kernels["driven"], control)


def _controls(equations: DerivedEquations, given: Mapping[str, Any], control: Controller | None) -> dict[str, int]:
    """Places in ctrl of the inputs that are controls and have values, by name."""
    out = {}
    for motor in equations.mechanism.motors:
        name = str(motor.input)
        if name not in given:
            continue
        if motor.gain is None:
            raise OptionError(f"inputs: {name} is the force of actuator {motor.name}, which the engine computes")
        if control is not None:
            raise OptionError(f"inputs: {name} is a control, which control= sets; leave one of the two out")
        out[name] = motor.place
    return out


def _function(name: str, value: Any) -> Any:
    """The kernel of an input: a function of time; a number is a constant one."""
    if callable(value):
        return user_kernel(f"inputs[{name!r}]", FORM, _plain(value), inline=True)
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        raise OptionError(f"inputs: {name} must be a number or {FORM}, got {value!r}")
    number = float(value)
    if not np.isfinite(number):
        raise OptionError(f"inputs: {name} must be finite, got {number}")
    return load_kernels(CONSTANT.format(number=number))["constant"]


def _plain(function: Callable[..., object]) -> Any:
    """The function itself; OptionError for an object that is called but has no code of its own."""
    if not (hasattr(function, "__code__") or hasattr(function, "py_func") or hasattr(function, "__func__")):
        raise OptionError(f"inputs: a function of time must be {FORM}, got a {type(function).__name__}")
    return function
