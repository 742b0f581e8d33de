"""Forward or reverse mode: an estimate of what the gradient of a run costs in each, in runs without gradients.

Forward mode takes all steps with dual numbers, `NTANGENT` directions at a time. Reverse mode costs about the same for
any number of inputs where steps have adjoints of their own; else it needs the matrices A and B of each step, and P of
the parameters that need directions (see `saltus.simulate.gradients.adjoint`). The weights are measured medians of
models from one to 29 degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saltus.errors import OptionError
from saltus.integrate.fixed.euler_tangents import SUPPORTED
from saltus.number.kinds import NTANGENT
from saltus.simulate.derivatives.parameter_columns import step_columns
from saltus.simulate.derivatives.run_directions import STATE, direction_counts, places
from saltus.simulate.engine.engine import Engine
from saltus.simulate.gradients.adjoint import check_reversible, step_adjoint

RUN = 1.0
FORWARD_GROUP = 12.0  # runs, for a group of directions along a run
BACK = 10.0  # runs, for the way back by adjoints of steps
MATRICES_GROUP, OWN_MATRICES_GROUP = 6.0, 2.0  # for one of A and B, by dual steps or by tangents that integrators have
PARAMETERS_GROUP, PARAMETERS_STEP = 8.0, 6.0  # for one of P, and for a step that has any
MOST_MEMORY = 2e9  # bytes of states that reverse mode may keep unasked, if forward mode keeps fewer


@dataclass(frozen=True)
class ModeCost:
    """Estimated cost of a gradient in both modes, and why one of them was taken.

    forward, reverse: in runs without gradients; NaN where the user named the mode, or a mode is impossible. memory: MB
    that the states of all steps take in reverse mode. reason: why the mode was taken.
    """

    forward: float
    reverse: float
    memory: float
    reason: str


def cheaper_mode(engine: Engine, steps: int, names: Sequence[str], parameters: Sequence[str]) -> tuple[str, ModeCost]:
    """The mode for a gradient of `steps` steps by `names`, `parameters` among them, and what it costs in each.

    OptionError for a parameter by which there are no derivatives.
    """
    counts = direction_counts(engine) | {name: len(step_columns(engine, [name])) for name in parameters}
    forward = RUN + FORWARD_GROUP * _forward_groups(engine, names, parameters, counts)
    memory = 8.0 * (steps + 1) * engine.state.size
    try:
        check_reversible(engine)
    except OptionError as error:
        return "forward", ModeCost(forward, np.nan, memory / 1e6, f"reverse mode is refused: {error}")
    reverse = RUN + _way_back(engine, tuple(parameters))
    sample = engine.model.nq + engine.model.nv + engine.m.nact + engine.model.nu
    of_forward = 8.0 * (steps + 1) * sample * (1 + sum(counts[name] for name in names))
    mode, reason = ("forward" if forward <= reverse else "reverse"), "it costs less by the estimate"
    if mode == "reverse" and memory > max(MOST_MEMORY, of_forward):
        mode, reason = "forward", f"reverse mode would keep {memory / 1e9:.3g} GB of states"
    return mode, ModeCost(forward, reverse, memory / 1e6, reason)


def _forward_groups(engine: Engine, names: Sequence[str], parameters: Sequence[str], counts: dict[str, int]) -> int:
    """Number of groups of directions: of state and controls in their fixed order, then of parameters in theirs."""
    groups: set[tuple[bool, int]] = set()
    of_state, of_parameters = places(STATE, counts), places(parameters, counts)
    for name in names:
        own = name in of_parameters
        here = of_parameters[name] if own else of_state[name]
        groups |= {(own, int(k) // NTANGENT) for k in here}
    return max(len(groups), 1)


def _way_back(engine: Engine, parameters: tuple[str, ...]) -> float:
    """Cost in runs of the way back of reverse mode."""
    adjoint = step_adjoint(engine, parameters)
    engine.note_forces()
    slow = int(np.count_nonzero(~adjoint.quick))
    if adjoint.goes_alone():
        return BACK
    directions = 2 * engine.model.nv + engine.m.nact + engine.model.nu
    own = engine.integrator.tangent_step is not None and engine.m.layout.features <= SUPPORTED
    cost = _groups(directions) * (OWN_MATRICES_GROUP if own else MATRICES_GROUP) + _groups(slow) * PARAMETERS_GROUP
    cost += PARAMETERS_STEP if slow else 0.0
    return cost + (BACK if adjoint.quick.any() else 0.0)


def _groups(directions: int) -> int:
    """Number of groups that so many directions fill."""
    return -(-directions // NTANGENT)
