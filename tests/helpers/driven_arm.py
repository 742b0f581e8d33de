"""An arm with seven hinges and real motors: rotors, dampers, dry friction and delays; its motion under feedback."""

import numpy as np

import saltus
from helpers.seven_joints import LENGTHS, SEVEN_JOINTS

STEP = 0.01  # s
MASSES = (4.0, 4.0, 3.0, 2.7, 1.7, 1.8, 0.5)  # kg
ARMATURE = (0.3, 0.3, 0.2, 0.2, 0.05, 0.05, 0.03)  # kg m²
DAMPING = (2.0, 2.0, 1.5, 1.5, 0.4, 0.4, 0.2)  # N m s/rad
FRICTION = (2.0, 2.0, 1.5, 1.5, 0.5, 0.5, 0.3)  # N m
STIFF = np.array([150.0, 300.0, 120.0, 150.0, 20.0, 20.0, 8.0])  # N m/rad
DAMPED = np.array([25.0, 40.0, 18.0, 20.0, 2.5, 2.5, 1.0])  # N m s/rad


def driven_arm(delay=0.013):
    """MJCF of the arm, with links that are not symmetric."""
    text, random = SEVEN_JOINTS, np.random.default_rng(5)
    for k, (length, mass) in enumerate(zip(LENGTHS, MASSES, strict=True)):
        x, y, z = random.uniform(-0.04, 0.04, 3) + [0, 0, 0.05]
        a, b, c = 0.01 * mass * random.uniform(0.6, 1.0, 3)
        text = text.replace(
            f'name="link{k}" pos="0 0 {length}">',
            f'name="link{k}" pos="0 0 {length}"><inertial mass="{mass}" pos="{x} {y} {z}" diaginertia="{a} {b} {c}"/>',
        )
        text = text.replace(
            f'name="joint{k}"',
            f'name="joint{k}" armature="{ARMATURE[k]}" damping="{DAMPING[k]}" frictionloss="{FRICTION[k]}"',
        )
    late = f'delay="{delay}" nsample="4" interp="linear"'
    motors = "".join(f'<motor name="motor{k}" joint="joint{k}" {late}/>' for k in range(len(LENGTHS)))
    text = text.replace("<mujoco>", f'<mujoco><option timestep="{STEP}" integrator="implicitfast"/>')
    return text.replace("</mujoco>", f"<actuator>{motors}</actuator></mujoco>")


def recorded(model, duration, seed=0, noise=1e-3):
    """Samples each step of the arm that follows sums of sines; normal noise in rad, and ten times as much in rad/s."""
    random = np.random.default_rng(seed)
    w, phase = 2 * np.pi * random.uniform(0.1, 0.6, (7, 4)), random.uniform(0, 2 * np.pi, (7, 4))
    size = random.uniform(0.1, 0.35, (7, 4)) * np.array([1, 0.8, 1, 0.8, 1.2, 1.2, 1.5])[:, None]

    def torques(sim):
        wanted = (size * (np.sin(w * sim.time + phase) - np.sin(phase))).sum(axis=1)
        speed = (size * w * np.cos(w * sim.time + phase)).sum(axis=1)
        return STIFF * (wanted - sim.qpos) + DAMPED * (speed - sim.qvel)

    run = saltus.Simulation(model).run(duration, sample=STEP, control=torques, progress=False)
    qpos = run.qpos + noise * random.normal(size=run.qpos.shape)
    qvel = run.qvel + 10 * noise * random.normal(size=run.qvel.shape)
    return {"time": run.time, "qpos": qpos, "qvel": qvel, "ctrl": run.ctrl}
