"""An arm with seven hinges and real motors: rotors, dampers, dry friction and delays; its motion under feedback."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.model.model import Model

Array = NDArray[np.float64]
STEP = 0.01  # s
LENGTHS = (0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081)  # m
AXES = ("0 0 1", "0 1 0", "0 0 1", "0 -1 0", "0 0 1", "0 1 0", "0 0 1")
MASSES = (4.0, 4.0, 3.0, 2.7, 1.7, 1.8, 0.5)  # kg
ARMATURE = (0.3, 0.3, 0.2, 0.2, 0.05, 0.05, 0.03)  # kg m²
DAMPING = (2.0, 2.0, 1.5, 1.5, 0.4, 0.4, 0.2)  # N m s/rad
FRICTION = (2.0, 2.0, 1.5, 1.5, 0.5, 0.5, 0.3)  # N m
DELAY = 0.013  # s
STIFF = np.array([150.0, 300.0, 120.0, 150.0, 20.0, 20.0, 8.0])  # N m/rad, of the feedback
DAMPED = np.array([25.0, 40.0, 18.0, 20.0, 2.5, 2.5, 1.0])  # N m s/rad
REACH = np.array([1.0, 0.8, 1.0, 0.8, 1.2, 1.2, 1.5])[:, None]  # of the joints' motions, relative


def driven_arm() -> str:
    """MJCF of the arm, with links that are not symmetric."""
    random, bodies = np.random.default_rng(5), ""
    for k, (length, mass) in enumerate(zip(LENGTHS, MASSES, strict=True)):
        x, y, z = random.uniform(-0.04, 0.04, 3) + [0, 0, 0.05]
        a, b, c = 0.01 * mass * random.uniform(0.6, 1.0, 3)
        bodies += (
            f'<body name="link{k}" pos="0 0 {length}">'
            f'<inertial mass="{mass}" pos="{x} {y} {z}" diaginertia="{a} {b} {c}"/>'
            f'<joint name="joint{k}" axis="{AXES[k]}" armature="{ARMATURE[k]}" damping="{DAMPING[k]}" '
            f'frictionloss="{FRICTION[k]}"/>'
        )
    late = f'delay="{DELAY}" nsample="4" interp="linear"'
    motors = "".join(f'<motor name="motor{k}" joint="joint{k}" {late}/>' for k in range(len(LENGTHS)))
    return (
        f'<mujoco><option timestep="{STEP}" integrator="implicitfast"/><worldbody>{bodies}'
        f"{'</body>' * len(LENGTHS)}</worldbody><actuator>{motors}</actuator></mujoco>"
    )


def recorded(model: Model, duration: float, seed: int = 0, noise: float = 1e-3) -> dict[str, Array]:
    """Samples each step of the arm that follows sums of sines: time (s), qpos, qvel, ctrl (N m).

    noise: standard deviation of positions (rad), and a tenth of that of velocities (rad/s).
    """
    from saltus.simulate.simulation import Simulation

    random = np.random.default_rng(seed)
    w, phase = 2 * np.pi * random.uniform(0.1, 0.6, (7, 4)), random.uniform(0, 2 * np.pi, (7, 4))
    size = random.uniform(0.1, 0.35, (7, 4)) * REACH

    def torques(sim: Any) -> Array:
        wanted = (size * (np.sin(w * sim.time + phase) - np.sin(phase))).sum(axis=1)
        speed = (size * w * np.cos(w * sim.time + phase)).sum(axis=1)
        return STIFF * (wanted - sim.qpos) + DAMPED * (speed - sim.qvel)

    run = Simulation(model).run(duration, sample=STEP, control=torques, progress=False)
    found = {"time": np.array(run.time), "ctrl": np.array(run.ctrl)}
    for name, values, deviation in (("qpos", run.qpos, noise), ("qvel", run.qvel, 10 * noise)):
        found[name] = values + deviation * random.normal(size=values.shape)
    return found


def noisy(log: dict[str, Array], seed: int, noise: float = 1e-3) -> dict[str, Array]:
    """A recording with noise; `noise` as for `recorded`."""
    random = np.random.default_rng(seed)
    parts = {name: noise * scale * random.normal(size=log[name].shape) for name, scale in (("qpos", 1), ("qvel", 10))}
    return log | {name: log[name] + error for name, error in parts.items()}
