"""The cost of a gradient of a run in reverse mode, in runs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saltus.bench.harness.peers import Setup
    from saltus.simulate.simulation import Simulation

#: Fields whose gradients need no directions; a model may lack some, or have numbers without derivatives.
FIELDS = (
    *("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_damping", "dof_armature", "dof_frictionloss"),
    *("jnt_stiffness", "jnt_range", "jnt_margin", "jnt_solref", "jnt_solimp", "geom_friction", "geom_solref"),
    *("geom_solimp", "geom_margin", "actuator_gear", "actuator_gainprm", "actuator_biasprm", "actuator_ctrlrange"),
    *("actuator_forcerange", "opt.gravity", "opt.impratio", "body_pos", "body_quat", "jnt_pos", "jnt_axis"),
)


@dataclass(frozen=True)
class ReverseGradient:
    """Gradient of a run of `steps` by its start, controls and `parameters`: `cost` in runs, `memory` in MB.

    memory: the largest that arrays of the gradient take at once, states of all steps included.
    """

    model: str
    steps: int
    parameters: int
    cost: float
    memory: float


def reverse_gradient(setup: Setup, steps: int, timed: dict[str, Any]) -> ReverseGradient:
    """Measure the gradient beside the same run without it, in turn, from the start of a setup."""
    import saltus
    from saltus.bench.harness.timing import Contender, in_turn

    sim = saltus.Simulation(setup.model)
    sim.qpos[:], sim.qvel[:] = setup.start.qpos, setup.start.qvel
    start, names = sim.snapshot(), by_numbers(sim)

    def differentiate() -> object:
        last = sim.model.nq
        return saltus.run_gradient(
            sim, steps * sim.timestep, lambda run: sum(run.qpos[-1, k] ** 2 for k in range(last)),
            wrt=("qpos", "qvel", "ctrl", *names), mode="reverse",
        )  # fmt: skip

    def begin() -> None:
        sim.restore(start)

    plain = Contender("run", begin, lambda: sim.step(steps), 1)
    found = in_turn([plain, Contender("gradient", begin, differentiate, 1)], **timed)
    begin()
    tracemalloc.start()
    differentiate()
    memory = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    cost = found["gradient"].median / found["run"].median
    return ReverseGradient(setup.name, steps, len(names), cost, memory)


def by_numbers(sim: Simulation) -> Sequence[str]:
    """Names of all numbers of `FIELDS` by which gradients need no directions, at kinks none."""
    import numpy as np

    from saltus.errors import OptionError
    from saltus.model.vary.columns import columns
    from saltus.simulate.derivatives.dual_model import DualModel
    from saltus.simulate.gradients.step_adjoint import StepAdjoint

    found = []
    for field in FIELDS:
        try:
            there = columns(sim.model, [field])
        except OptionError:  # the model has none
            continue
        for column in there:
            try:
                tangents = DualModel(sim.engine, [column.name]).tangents[0]
            except OptionError:  # no derivative, such as that of a power
                continue
            if not any(np.isnan(tangent).any() for tangent in tangents.values()):
                found.append(column.name)
    quick = StepAdjoint(sim.engine, found).quick
    return [name for name, alone in zip(found, quick, strict=True) if alone]
