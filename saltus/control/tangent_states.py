"""States as vectors (dq, dv, dw) of differences: positions on their manifold, velocities, activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import EventError, OptionError

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
State = tuple[Array, Array, Array]  # qpos [nq], qvel [nv], act [na]
STEP = 6e-6  # of central differences: the cube root of the rounding of numbers


def check_simulation(sim: Any) -> None:
    """OptionError for anything but a Simulation."""
    if not hasattr(sim, "engine") or not hasattr(sim, "linearize"):
        raise OptionError(f"sim must be a saltus.Simulation, got a {type(sim).__name__}")


def control_ranges(sim: Simulation) -> tuple[Array, Array]:
    """Least and greatest controls [nu] that act; infinite without a limit, or where the model's flag lifts it."""
    views = sim.engine.m.views
    limited, span = views["actuator_ctrllimited"].astype(bool), views["actuator_ctrlrange"]
    return np.where(limited, span[:, 0], -np.inf), np.where(limited, span[:, 1], np.inf)


def state_of(sim: Simulation) -> State:
    """Copies of positions, velocities and states of actuators."""
    return sim.qpos.copy(), sim.qvel.copy(), sim.act.copy()


def put_state(sim: Simulation, state: State) -> None:
    """Set positions, velocities and states of actuators."""
    sim.qpos[:], sim.qvel[:], sim.act[:] = state


def difference(model: Model, reference: State, state: State) -> Array:
    """(dq, dv, dw) [2 nv + na] from the reference to the state."""
    dq = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model.mj_model, dq, 1.0, reference[0], state[0])
    return np.concatenate([dq, state[1] - reference[1], state[2] - reference[2]])


def displaced(model: Model, state: State, change: Array) -> State:
    """The state that is (dq, dv, dw) away."""
    nv, qpos = model.nv, state[0].copy()
    mujoco.mj_integratePos(model.mj_model, qpos, change[:nv], 1.0)
    return qpos, state[1] + change[nv : 2 * nv], state[2] + change[2 * nv :]


def take_whole_step(sim: Simulation, who: str) -> None:
    """Take a step. EventError where an event ends the motion within it, named by who took the step."""
    end = sim.time + sim.timestep
    sim.step()
    if abs(sim.time - end) > 1e-6 * sim.timestep:
        raise EventError(f"{who}: an event ends the motion; leave terminal events out of it", time=sim.time)


def central_differences(model: Model, state: State, size: int, read: Callable[[State], Array]) -> Array:
    """Derivatives [m, size] of what `read` gives [m], by (dq, dv, dw) at a state."""
    columns = []
    for k in range(size):
        change = np.zeros(size)
        change[k] = STEP
        after, before = (read(displaced(model, state, sign * change)) for sign in (1.0, -1.0))
        columns.append((after - before) / (2.0 * STEP))
    return np.stack(columns, axis=1)


def state_names(model: Model, count: int) -> list[str]:
    """Names of the components of (dq, dv, dw), `count` in all."""
    dofs = model.dof_names()
    names = [f"position of {name}" for name in dofs] + [f"velocity of {name}" for name in dofs]
    return names + [f"activation {k}" for k in range(count - len(names))]
