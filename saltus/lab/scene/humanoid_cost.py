"""Costs of a humanoid that stands, gets up and walks, for planning by sampling.

They are terms of the published tasks "humanoid stand" and "humanoid walk" of MuJoCo MPC (Howell, Gileadi,
Tunyasuvunakool, Zakka, Erez & Tassa, Predictive sampling: real-time behaviour synthesis with MuJoCo (2022)): the
heights of head and pelvis, the capture point over the feet, trunk and soles upright, velocities, posture. Walking has
a speed, a direction, and soles that swing one after the other. Nothing says how to balance, where to step or how to get
up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.simulate.batches.rollout import Rollout

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]

#: Fields of a rollout that the cost reads.
RECORD = ("time", "qpos", "qvel", "subtree_com", "xpos", "xmat")
BODIES = ("head", "chest", "pelvis", "left_foot", "right_foot")
HEAD, PELVIS = 1.46, 0.97  # m: heights in which he stands, a little below those of straight legs
SOLE = np.array([0.06, 0.0, -0.06])  # m: centre of a sole in the frame of its foot
STANCE = 0.19  # m between the soles, to the side
PERIOD, SWING = 1.0, 0.08  # s of two steps, and m by which soles swing
DOWN, UP = 0.8, 1.3  # m: heights of the head up to which it is no matter where the soles are, and from which it is
LOWEST = 0.1  # m, of the centre of mass: lower, its pendulum is not shorter
FASTEST = 10.0  # rad/s: a joint's velocity costs no more than this one
WIDTHS = {"height": 0.1, "balance": 0.05, "swing": 0.02}  # m within which a distance costs its square
WEIGHTS = {
    "head": 10.0,
    "pelvis": 5.0,
    "balance": 5.0,
    "upright": 3.0,
    "soles": 1.0,
    "facing": 3.0,
    "velocity": 1.0,
    "rates": 0.002,
    "posture": 0.1,
    "arms": 0.2,
    "swing": 3.0,
    "stance": 10.0,
}
WALKING = {"balance": 3.0, "velocity": 6.0, "swing": 10.0}  # in place of those above


@dataclass
class Goal:
    """A humanoid's goal: `speed` (m/s), 0 to stand, and `heading` (rad), the direction to face and walk in, from x."""

    speed: float = 0.0
    heading: float = 0.0

    @property
    def direction(self) -> Array:
        """Unit vector [2] of the heading."""
        return np.array([np.cos(self.heading), np.sin(self.heading)])


def smooth_abs(x: ArrayLike, width: float) -> Array:
    """|x| rounded within `width` of 0: sqrt(x² + width²) - width, which is x² / (2 width) near 0.

    Source: Tassa, Erez & Todorov, Synthesis and stabilization of complex behaviors through online trajectory
    optimization (2012).
    """
    return np.sqrt(np.square(x) + width**2) - width


def capture_point(com: Array, velocity: Array, gravity: float) -> Array:
    """Capture points [..., 2] (m): where on the floor a body must set its foot to come to rest above it.

    `com` [..., 3] (m) and `velocity` [..., 3] (m/s) of the centre of mass; `gravity` (m/s²). An inverted pendulum of
    constant height z has ξ = x + x' sqrt(z / g).

    Source: Pratt, Carff, Drakunov & Goswami, Capture point: a step toward humanoid push recovery (2006).
    """
    height = np.maximum(com[..., 2:], LOWEST)
    return com[..., :2] + velocity[..., :2] * np.sqrt(height / gravity)


def swing_heights(time: ArrayLike, period: float = PERIOD, height: float = SWING) -> Array:
    """Heights [..., 2] (m) of the left and right sole at times (s): half sines, one foot and then the other."""
    wave = height * np.sin(2.0 * np.pi * np.asarray(time) / period)
    return np.stack([np.maximum(wave, 0.0), np.maximum(-wave, 0.0)], axis=-1)


class HumanoidCost:
    """Costs [samples, T] of rollouts of the humanoid towards a goal, which may change between plans.

    Attributes:
        goal: what it is to do.
    """

    def __init__(self, model: Model, goal: Goal, timestep: float):
        """`model`: with BODIES, or OptionError. `timestep`: of the rollouts (s)."""
        names = model.names("body")
        if missing := [name for name in BODIES if name not in names]:
            raise OptionError(f"the cost of a humanoid needs bodies named {', '.join(missing)}")
        self.goal, self._timestep = goal, timestep
        self._head, self._chest, self._pelvis, *self._feet = (names.index(name) for name in BODIES)
        self._arms = [7 + k for k, name in enumerate(model.names("joint")[1:]) if "shoulder" in name or "elbow" in name]
        self._gravity = float(np.linalg.norm(model.opt.gravity))

    def __call__(self, rollout: Rollout) -> Array:
        """The weighted sum of all terms."""
        weights = WEIGHTS | WALKING if self.goal.speed else WEIGHTS
        found = self.terms(rollout)
        total: Array = np.zeros(found["head"].shape)
        for name, weight in weights.items():
            if weight:
                total += weight * found[name]
        return total

    def terms(self, rollout: Rollout) -> dict[str, NDArray[np.floating]]:
        """Each term [samples, T] by its name in WEIGHTS, without its weight."""
        forward, q = self.goal.direction, rollout.qpos
        com = np.asarray(rollout.subtree_com[:, :, 0], float)
        velocity = np.gradient(com, self._timestep, axis=1) if com.shape[1] > 1 else np.zeros_like(com)
        velocity[..., :2] -= self.goal.speed * forward
        frames = rollout.xmat.reshape(*com.shape[:2], -1, 3, 3)
        feet = frames[:, :, self._feet]
        soles = rollout.xpos[:, :, self._feet] + feet @ SOLE
        off = capture_point(com, velocity, self._gravity) - soles[..., :2].mean(axis=2)
        lifted = soles[..., 2] - (swing_heights(rollout.time) if self.goal.speed else 0.0)
        apart = (soles[:, :, 0, :2] - soles[:, :, 1, :2]) @ [-forward[1], forward[0]]
        head = rollout.xpos[:, :, self._head, 2].astype(float)
        up = np.clip((head - DOWN) / (UP - DOWN), 0.0, 1.0)
        return {
            "head": smooth_abs(head - HEAD, WIDTHS["height"]),
            "pelvis": smooth_abs(rollout.xpos[:, :, self._pelvis, 2] - PELVIS, WIDTHS["height"]),
            "balance": smooth_abs(np.linalg.norm(off, axis=-1), WIDTHS["balance"]),
            "upright": 1.0 - frames[:, :, self._chest, 2, 2],
            "soles": (1.0 - feet[..., 2, 2]).sum(axis=-1),
            "facing": 1.0 - frames[:, :, self._pelvis, :2, 0] @ forward,
            "velocity": (velocity[..., :2] ** 2).sum(axis=-1),
            "rates": np.minimum(np.square(rollout.qvel[..., 6:]), FASTEST**2).sum(axis=-1),
            "posture": (q[..., 7:] ** 2).sum(axis=-1),
            "arms": (q[..., self._arms] ** 2).sum(axis=-1),
            "swing": up * smooth_abs(lifted, WIDTHS["swing"]).sum(axis=-1),
            "stance": up * (apart - STANCE) ** 2,
        }


def joint_noise(names: Sequence[str], noise: dict[str, float]) -> Array:
    """Standard deviations [n] (rad) of servos' targets by their names: of the first part in `noise` that is in a name.

    OptionError: a name has none.
    """
    found = []
    for name in names:
        part = next((part for part in noise if part in name), None)
        if part is None:
            raise OptionError(f"there is no noise for {name}")
        found.append(noise[part])
    return np.array(found)
