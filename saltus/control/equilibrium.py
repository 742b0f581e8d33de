"""Equilibria: positions, activations and controls that a step leaves as they are.

With v = 0, the velocities and activations after a step are v'(q, w, u) = 0 and w'(q, w, u) = w. Newton's method with
the exact derivatives of the step, damped (Levenberg & Marquardt: Nocedal & Wright, Numerical Optimization (2006),
10.3), with the controls kept in their ranges.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import flag, positive, whole_number, words
from saltus.control.tangent_states import (
    State,
    check_simulation,
    control_ranges,
    displaced,
    put_state,
    state_of,
    take_whole_step,
)
from saltus.errors import DivergenceError
from saltus.model.actuator_enums import PID_KI, PID_ON, PID_PARAMETERS
from saltus.simulate.derivatives.linearize import check_chain
from saltus.simulate.laws.control import PID

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state that stays: qpos [nq], act [na], with controls ctrl [nu] and no velocity.

    residual: largest acceleration that is left (rad/s², m/s², or rate of an activation). reached: whether it is below
    the tolerance. iterations: of Newton's method. failed: reason why it is not reached; "" if it is.
    """

    qpos: Array
    act: Array
    ctrl: Array
    residual: float
    reached: bool
    iterations: int
    failed: str = ""


def equilibrium(
    sim: Simulation,
    *,
    controls: bool = True,
    hold: Sequence[str] | str = (),
    tolerance: float = 1e-9,
    iterations: int = 100,
) -> Equilibrium:
    """An equilibrium near the present state of a simulation, with its contacts; the simulation is not changed.

    `controls`: these may change, too, within their ranges; otherwise they are held. `hold`: joints whose positions
    stay. `tolerance`: acceleration that counts as none (rad/s², m/s²).

    Raises:
        OptionError: no such joint; a simulation whose steps have no derivatives, or remember more than the state.
        EventError: a terminal event ends the motion within a step.
    """
    check_simulation(sim)
    check_chain(sim.engine, "equilibrium")
    held = _held(sim, words("hold", hold))
    free_controls = flag("controls", controls)
    small, most = positive("tolerance", tolerance, ""), whole_number("iterations", iterations, least=1)
    moved = copy.deepcopy(sim)
    moved.qvel[:] = 0.0
    return _search(moved, held, free_controls, small, most)


def _held(sim: Simulation, names: list[str]) -> NDArray[np.bool_]:
    """Mask [nv] of the degrees of freedom of some joints."""
    m = sim.model
    mask = np.zeros(m.nv, bool)
    for name in names:
        joint = m.id("joint", name)
        mask |= m.mj_model.dof_jntid == joint
    return mask


def _search(sim: Simulation, held: NDArray[np.bool_], controls: bool, tolerance: float, most: int) -> Equilibrium:
    """Damped Newton iterations from the present state."""
    from scipy.optimize import lsq_linear

    state, ctrl, damping = state_of(sim), sim.ctrl.copy(), 1e-6
    nx = sim.model.nv + len(state[2])
    low, high = control_ranges(sim) if controls else (np.zeros(0), np.zeros(0))
    residual = _residual(sim, state, ctrl)
    done = 0
    while done < most and abs(residual).max(initial=0.0) > tolerance:
        done += 1
        J = _jacobian(sim, state, ctrl, held)[:, : nx + len(low)]
        here = ctrl[: len(low)]
        span = np.concatenate([np.full(nx, -np.inf), low - here]), np.concatenate([np.full(nx, np.inf), high - here])
        for _ in range(20):
            rows = np.vstack([J, np.sqrt(damping) * np.eye(J.shape[1])])
            change = lsq_linear(rows, -np.concatenate([residual, np.zeros(J.shape[1])]), span, tol=1e-14).x
            tried, u = _moved(sim, state, change), ctrl.copy()
            u[: len(low)] += change[nx:]
            found = _residual(sim, tried, u)
            if np.linalg.norm(found) < np.linalg.norm(residual):
                state, ctrl, residual, damping = tried, u, found, max(0.1 * damping, 1e-14)
                break
            damping *= 10.0
        else:
            break
    largest = float(abs(residual).max(initial=0.0))
    reached = largest <= tolerance
    return Equilibrium(state[0], state[2], ctrl, largest, reached, done, "" if reached else _reason(sim, residual))


def _reason(sim: Simulation, residual: Array) -> str:
    """Text about the largest acceleration that is left."""
    k = int(np.argmax(abs(residual)))
    nv = sim.model.nv
    if servo := _without_integral_gain(sim, k - nv - sim.model.na):
        return (
            f"the PID of actuator {servo!r} has ki = 0: it rests {abs(residual[k]):.3g} from its target, and the "
            "integral of this error, a state of the PID, grows for ever; give it a ki, a target at which no control "
            "is needed, or take a position actuator with kp and kv in place of the PID"
        )
    name = (
        f"acceleration {residual[k]:.3g} of {sim.model.dof_names()[k]}" if k < nv else f"a rate of activation {k - nv}"
    )
    return (
        f"{name} is left, which no small change of free positions and controls takes away; begin nearer to an "
        "equilibrium (in contact where contacts carry it), or hold fewer joints"
    )


def _without_integral_gain(sim: Simulation, k: int) -> str:
    """The actuator whose PID has state k of the controller, and no gain on it; "" for others."""
    if k < 0 or not isinstance(sim.control, PID):
        return ""
    gains = sim.control.parameters(sim.model).reshape(-1, PID_PARAMETERS)
    return sim.model.names("actuator")[k] if gains[k, PID_ON] > 0.5 and gains[k, PID_KI] == 0.0 else ""


def _moved(sim: Simulation, state: State, change: Array) -> State:
    """The state after changes (dq, dw, du), at rest."""
    nv, na = sim.model.nv, len(state[2])
    return displaced(sim.model, state, np.concatenate([change[:nv], np.zeros(nv), change[nv : nv + na]]))


def _residual(sim: Simulation, state: State, ctrl: Array) -> Array:
    """Accelerations and rates of activations over a step from rest; inf where it diverges."""
    put_state(sim, state)
    sim.ctrl[:] = ctrl
    time = sim.time
    try:
        take_whole_step(sim, "equilibrium")
    except DivergenceError:
        return np.full(len(state[1]) + len(state[2]), np.inf)
    sim.time = time
    return np.concatenate([sim.qvel, sim.act - state[2]]) / sim.timestep


def _jacobian(sim: Simulation, state: State, ctrl: Array, held: NDArray[np.bool_]) -> Array:
    """Derivatives of the residual by (dq, dw, du)."""
    nv = sim.model.nv
    put_state(sim, state)
    sim.ctrl[:] = ctrl
    A, B = sim.linearize()
    rows = np.hstack([A[nv:, :nv], A[nv:, 2 * nv :], B[nv:]])
    rows[nv:, nv : nv + len(state[2])] -= np.eye(len(state[2]))
    rows[:, :nv][:, held] = 0.0
    return rows / sim.timestep
