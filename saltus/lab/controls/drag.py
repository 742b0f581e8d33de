"""Dragging a body with the mouse by a spring.

The spring goes from the grabbed point p of the body to the target p*, with critical damping:

    F = k (p* - p) - c v,    k = min(m g₀ / l, m_p / (2 τ)²),    c = 2 sqrt(k m_p)

applied at p. m is the mass of the body's kinematic tree, l the smaller of the model's extent and 1 m, g₀ = 100 m/s²: at
a distance l the force is ten times the tree's weight, enough to lift every model without tearing it apart. m_p is the
smallest effective mass at the point over all directions, 1 / λ_max(J M⁻¹ Jᵀ) with J its Jacobian: in that direction
the spring is critically damped, in the others less. The second bound, sqrt(k / m_p) τ ≤ 1/2, keeps it stable although
the force is held constant for τ seconds, one step or a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

PULL = 100.0  # m/s², acceleration of a tree pulled from the distance l
HOLD = 0.002  # s that a force is held; one step if that is longer


@dataclass
class Drag:
    """A body held by a point (m, in the body's frame) and pulled towards a target (m, world axes)."""

    body: int
    point: tuple[float, float, float]
    target: tuple[float, float, float]

    def steps(self, timestep: float) -> int:
        """Number of steps during which a force is held constant."""
        return max(1, int(HOLD / timestep))

    def apply(self, sim: Simulation) -> None:
        """Overwrite xfrc_applied with the spring force at the present state."""
        sim.xfrc_applied[:] = 0.0
        place, J = grabbed(sim, self.body, self.point)
        k, c = spring(sim, self.body, J, self.steps(sim.timestep) * sim.timestep)
        force = k * (np.asarray(self.target) - place) - c * (J @ sim.qvel)
        sim.xfrc_applied[self.body, :3] = force
        sim.xfrc_applied[self.body, 3:] = np.cross(place - sim.data.xipos[self.body], force)


def grabbed(sim: Simulation, body: int, point: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Position of a body's point (m, world axes) and its Jacobian [3, nv]."""
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, np.asarray(point, float), sim.data.xquat[body])
    place = sim.data.xpos[body] + turned
    return place, sim.jacobian(body, place)[0]


def move_mocap(sim: Simulation, mocap: int, point: Any, target: Any) -> None:
    """Move a mocap body so that its point (m, in its frame) coincides with the target (m, world axes)."""
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, np.asarray(point, float), sim.mocap_quat[mocap])
    sim.mocap_pos[mocap] = np.asarray(target) - turned


def spring(sim: Simulation, body: int, J: NDArray[Any], hold: float) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) of the spring; zero if the point cannot move."""
    lightest = point_mass(sim, J)
    if lightest is None:
        return 0.0, 0.0
    m = sim.model
    tree = float(m.body_subtreemass[m.body_rootid[body]])
    k = min(tree * PULL / min(float(m.stat.extent), 1.0), lightest / (2.0 * hold) ** 2)
    return k, 2.0 * float(np.sqrt(k * lightest))


def point_mass(sim: Simulation, J: NDArray[Any]) -> float | None:
    """Smallest effective mass (kg) over all directions at a point with Jacobian J; None if it cannot move."""
    mobility = J @ np.linalg.solve(sim.full_M(), J.T)
    largest = float(np.linalg.eigvalsh(mobility)[-1])
    return 1.0 / largest if largest > 1e-12 else None
