"""A body pulled by a spring, as one drags it with the mouse.

The spring goes from the grabbed point p of the body to the target p*, with critical damping:

    F = k (p* - p) - c v,    k = min(m g₀ / l, m_p / (2 τ)²),    c = 2 sqrt(k m_p)

applied at p. m is the mass of the whole tree that the body belongs to, l the smaller of the model's extent and 1 m and
g₀ = 100 m/s²: pulled a length l away, the tree feels ten times its weight, so that every model can be lifted and none
is torn apart. m_p is the mass that a push on the point moves, 1 / λ_max(J M⁻¹ Jᵀ) with J its Jacobian, in the direction
in which it is least: there the spring is critically damped, in the others less. The second bound keeps it stable with a
force that is held for τ seconds, a step or a few: sqrt(k / m_p) τ ≤ 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

PULL = 100.0  # m/s², of a tree that is pulled by the length l
HOLD = 0.002  # s that a force is held, or a step where that is longer


@dataclass
class Drag:
    """A body held by a point (m, in the body's frame) and pulled towards a target (m, world axes)."""

    body: int
    point: tuple[float, float, float]
    target: tuple[float, float, float]

    def steps(self, timestep: float) -> int:
        """How many steps a force is held for."""
        return max(1, int(HOLD / timestep))

    def apply(self, sim: Simulation) -> None:
        """Put the force of the present state into xfrc_applied, in place of what was there."""
        sim.xfrc_applied[:] = 0.0
        place, J = grabbed(sim, self.body, self.point)
        k, c = spring(sim, self.body, J, self.steps(sim.timestep) * sim.timestep)
        force = k * (np.asarray(self.target) - place) - c * (J @ sim.qvel)
        sim.xfrc_applied[self.body, :3] = force
        sim.xfrc_applied[self.body, 3:] = np.cross(place - sim.data.xipos[self.body], force)


def grabbed(sim: Simulation, body: int, point: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where a body's point is (m, world axes), and its Jacobian [3, nv]."""
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, np.asarray(point, float), sim.data.xquat[body])
    place = sim.data.xpos[body] + turned
    return place, sim.jacobian(body, place)[0]


def move_mocap(sim: Simulation, mocap: int, point: Any, target: Any) -> None:
    """Put a body that is moved from outside where its point (m, in its frame) is at the target (m, world axes)."""
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, np.asarray(point, float), sim.mocap_quat[mocap])
    sim.mocap_pos[mocap] = np.asarray(target) - turned


def spring(sim: Simulation, body: int, J: NDArray[Any], hold: float) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) of the spring; zero where nothing can move."""
    lightest = point_mass(sim, J)
    if lightest is None:
        return 0.0, 0.0
    m = sim.model
    tree = float(m.body_subtreemass[m.body_rootid[body]])
    k = min(tree * PULL / min(float(m.stat.extent), 1.0), lightest / (2.0 * hold) ** 2)
    return k, 2.0 * float(np.sqrt(k * lightest))


def point_mass(sim: Simulation, J: NDArray[Any]) -> float | None:
    """The mass (kg) that a push on a point with Jacobian J moves, where it is least; None where it does not move."""
    mobility = J @ np.linalg.solve(sim.full_M(), J.T)
    largest = float(np.linalg.eigvalsh(mobility)[-1])
    return 1.0 / largest if largest > 1e-12 else None
