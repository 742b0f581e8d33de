"""Applied forces, as a user writes them down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import sympy

from saltus.arguments import text_of
from saltus.errors import OptionError
from saltus.symbolic.derivation.lagrange import Applied
from saltus.symbolic.derivation.mechanism import Mechanism
from saltus.symbolic.expressions import Expression, Vector, exact, parsed, to_symengine

#: A number, a name or an expression; names become inputs.
Component: TypeAlias = float | str | sympy.Expr | Expression
ZEROS = (0, 0, 0)


@dataclass(frozen=True)
class Force:
    """A force (N, world axes) on a body at a point (m, in the body's frame): three numbers, names or expressions each.

    Names become inputs of the equations: Force("link4", ("F_x", "F_y", 0), point=(0, 0, -1)). The reaction acts on the
    body `against`, at the same place in space; None: on the world.
    """

    body: str
    force: Sequence[Component]
    point: Sequence[Component] = ZEROS
    against: str | None = None


@dataclass(frozen=True)
class Torque:
    """A torque (N m, world axes) on a body, and its reaction on the body `against`; None: on the world.

    Three numbers, names or expressions; names become inputs of the equations.
    """

    body: str
    torque: Sequence[Component]
    against: str | None = None


def applied_forces(
    mechanism: Mechanism, given: Sequence[Force | Torque]
) -> tuple[list[Applied], dict[Expression, str]]:
    """Applied forces in the form that the derivation takes, and the meanings of their symbols."""
    out: list[Applied] = []
    inputs: dict[Expression, str] = {}
    for one in given:
        if not isinstance(one, Force | Torque):
            raise OptionError(f"applied: expected saltus.symbolic.Force or Torque, got {one!r}")
        for body in (one.body, one.against):
            if body is not None and text_of("body", body) not in [b.name for b in mechanism.bodies]:
                raise OptionError.unknown("body", body, [b.name for b in mechanism.bodies])
        zero = _three(ZEROS, mechanism, {}, "")
        if isinstance(one, Force):
            force = _three(one.force, mechanism, inputs, f"force on {one.body} (N)")
            out.append(Applied(one.body, force, _three(one.point, mechanism, {}, ""), zero, one.against))
        else:
            torque = _three(one.torque, mechanism, inputs, f"torque on {one.body} (N m)")
            out.append(Applied(one.body, zero, zero, torque, one.against))
    return out, inputs


def _three(values: Sequence[Component], mechanism: Mechanism, inputs: dict[Expression, str], meaning: str) -> Vector:
    if isinstance(values, str) or len(values) != 3:
        raise OptionError(f"expected three numbers or names, got {values!r}")
    x, y, z = (_component(value, mechanism, inputs, meaning) for value in values)
    return x, y, z


def _component(value: Component, mechanism: Mechanism, inputs: dict[Expression, str], meaning: str) -> Expression:
    if isinstance(value, int | float):
        return exact(value)
    expression = parsed(value)
    parameters = {str(symbol) for symbol in mechanism.parameters}
    for symbol in sorted(expression.free_symbols, key=str):
        if str(symbol) not in parameters:
            inputs[to_symengine(symbol)] = meaning
    return to_symengine(expression)
