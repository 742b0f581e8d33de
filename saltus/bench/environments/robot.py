"""A robot from a model file: an environment of `saltus.env`, and its twin by `mujoco.batch` and NumPy.

The robot starts at the model's first keyframe, if it has one, is rewarded for its velocity along x, and begins anew
when its height has halved. Each simulation may have masses, frictions and actuator gains of its own.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.bench.environments.mujoco_tasks import MujocoTask, Reals
from saltus.env.environment import Environment
from saltus.env.interfaces.vector import VectorEnvironment
from saltus.env.random import uniform
from saltus.env.terms import term
from saltus.model.load import load
from saltus.model.model import Model

VARIED = ("body_mass", "geom_friction", "actuator_gainprm", "actuator_biasprm")
SUBSTEPS = 10
NOISE = 0.1  # spread of the first velocities (m/s, rad/s)
EFFORT = 0.01


@term
def speed(m, d, e):
    """Velocity of the first degree of freedom, x of a free body."""
    return d.qvel[0]


@term
def effort(m, d, e):
    """Cost of the controls, not positive."""
    total = 0.0 * e.steps
    for k in range(m.nu):
        total = total + d.ctrl[k] * d.ctrl[k]
    return -0.01 * total


@term
def low(m, d, e):
    """Whether the body has fallen."""
    return d.qpos[2] < e.lowest


@term
def stirred(m, d, e):
    """Velocities with a small random offset each."""
    for k in range(m.nv):
        d.qvel[k] = d.qvel[k] + uniform(e, -0.1, 0.1)


class Robot(Environment):
    """The environment of a robot; `model` is the user's."""

    frame_skip = SUBSTEPS
    max_episode_steps = 1000
    rewards = {"speed": speed, "effort": effort}
    reset = stirred
    parameters = {"lowest": 0.0}


class FallingRobot(Robot):
    """A robot that is free to fall."""

    terminated = low


def made(source: Any) -> tuple[Model, type[Robot], dict[str, Any]]:
    """The model of a source, the environment's class, and the model's changes."""
    model = load(source)
    changes: dict[str, Any] = {"model": model, "key": 0 if model.nkey else None}
    if not free(model.mujoco):
        return model, Robot, changes
    height = float((model.key_qpos[0] if model.nkey else model.qpos0)[2])
    return model, FallingRobot, changes | {"lowest": 0.5 * height}


def free(model: mujoco.MjModel) -> bool:
    """Whether the first joint is free."""
    return bool(model.njnt) and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE.value


class MujocoRobot(MujocoTask):
    """The robot's environment by `mujoco.batch` and NumPy."""

    frame_skip = SUBSTEPS

    def bind(self) -> None:
        if self.model.nkey:
            self.first = np.array(self.model.key_qpos[0]), np.array(self.model.key_qvel[0])
        self.lowest = 0.5 * self.first[0][2] if free(self.model) else -np.inf

    def starts(self, count: int) -> tuple[Reals, Reals]:
        qpos, qvel = self.first
        moves = self.rng.uniform(-NOISE, NOISE, (count, len(qvel)))
        return np.tile(qpos, (count, 1)), qvel + moves

    def reward(self, before: None, actions: Reals) -> Reals:
        return self.qvel[:, 0] - EFFORT * np.square(actions).sum(axis=1)

    def terminated(self) -> NDArray[np.bool_]:
        return self.qpos[:, 2] < self.lowest if np.isfinite(self.lowest) else super().terminated()


def controls(model: Model, n: int, rng: np.random.Generator) -> Reals:
    """Controls [n, nu] about those of the start, within a tenth of their ranges."""
    middle = model.key_ctrl[0] if model.nkey else np.zeros(model.nu)
    lowest, highest = np.asarray(model.actuator_ctrlrange).T
    limited = np.asarray(model.actuator_ctrllimited, bool)
    width = np.where(limited, 0.1 * (highest - lowest), 0.1)
    found = middle + width * rng.uniform(-1.0, 1.0, (n, model.nu))
    return np.where(limited, np.clip(found, lowest, highest), found)


def own_values(model: Model, n: int, rng: np.random.Generator) -> dict[str, Reals]:
    """Values of the varied fields, random factors times the model's, a row for each of n simulations."""
    mass = rng.uniform(0.8, 1.2, (n, model.nbody))
    friction = rng.uniform(0.5, 1.5, (n, model.ngeom, 1))
    gain = rng.uniform(0.9, 1.1, (n, model.nu, 1))
    factors = {"body_mass": mass, "geom_friction": friction, "actuator_gainprm": gain, "actuator_biasprm": gain}
    return {name: np.asarray(getattr(model, name)) * factors[name] for name in varied(model)}


def varied(model: Model) -> list[str]:
    """Names of the varied fields that the model has."""
    return [name for name in VARIED if np.size(getattr(model, name))]


def give_values(side: VectorEnvironment | MujocoTask, values: dict[str, Reals]) -> None:
    """Give each simulation of both sides its own values."""
    if isinstance(side, MujocoTask):
        for name, value in values.items():
            side.batch.expand(name)[:] = value
        side.batch.set_const()
    else:
        for name, value in values.items():
            getattr(side.model, name)[:] = value
