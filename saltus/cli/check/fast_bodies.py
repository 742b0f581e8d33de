"""Thin obstacles and fast bodies in `saltus check`: geoms that may pass through others within a fixed step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.contact.thickness import geom_motion, geom_pairs, thicknesses

if TYPE_CHECKING:
    from saltus.model.model import Model

MOST_GEOMS = 1000  # models with more geoms are not checked
SHOWN = 3  # moving geoms named for an obstacle


def warnings(model: Model) -> list[str]:
    """Warnings about obstacles that geoms may pass in a step, at initial or keyframe speeds or after a fall from there.

    A geom passes another within a step if it moves by half of both thicknesses: it may be in front of it at the start
    of the step and beyond its middle at the end. Deformable bodies are not checked.
    """
    m = model.mj_model
    struct = model.struct()
    if len(struct.views["collider"]) > MOST_GEOMS:
        return ["there are too many geoms to say which may pass each other within a step, and steps do not warn of it"]
    pairs = geom_pairs(m, struct)
    thick = thicknesses(m)
    least = 0.5 * thick[pairs].sum(axis=1)
    known = np.isfinite(least)
    pairs, least = pairs[known], least[known]
    if not len(pairs):
        return []
    speeds = _speeds(model, pairs)
    limits = least / float(m.opt.timestep)
    fast = np.flatnonzero(speeds > limits)
    return [_text(model, thick, pairs[fast], limits[fast], speeds[fast], g) for g in _obstacles(thick, pairs[fast])]


def _obstacles(thick: NDArray[np.float64], pairs: NDArray[np.intp]) -> list[int]:
    """The thinner geom of each pair, each once."""
    return list(dict.fromkeys(_thinner(thick, pairs).tolist()))


def _thinner(thick: NDArray[np.float64], pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.where(thick[pairs[:, 0]] <= thick[pairs[:, 1]], pairs[:, 0], pairs[:, 1])


def _text(model: Model, thick, pairs, limits, speeds, obstacle: int) -> str:
    """The warning about an obstacle: the critical speed, the geoms that reach it, and a remedy."""
    names, h = model.names("geom"), float(model.opt.timestep)
    own = np.flatnonzero(_thinner(thick, pairs) == obstacle)
    others = pairs[own].sum(axis=1) - obstacle
    fastest = own[np.argmax(speeds[own] / limits[own])]
    who = ", ".join(names[g] for g in others[:SHOWN]) + (f" and {len(own) - SHOWN} more" if len(own) > SHOWN else "")
    return (
        f"{who}: faster than {limits[own].min():.3g} m/s passes {names[obstacle]!r} ({1e3 * thick[obstacle]:.3g} mm) "
        f"within a step of {1e3 * h:.3g} ms under fixed steps, and {speeds[fastest]:.3g} m/s is reached from the "
        "start, a keyframe, or by a fall from there; steps and runs warn when it happens (not batches in lanes, pages, "
        "and worlds with too many pairs to list); hard contact under dopri5 finds the contact"
    )


def _speeds(model: Model, pairs: NDArray[np.intp]) -> NDArray[np.float64]:
    """Largest relative speed of each pair (m/s): in the initial state, in keyframes, and after falls from there."""
    m = model.mj_model
    d = mujoco.MjData(m)
    most = np.zeros(len(pairs))
    gravity = np.array(m.opt.gravity) if not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY.value else None
    g = 0.0 if gravity is None else float(np.linalg.norm(gravity))
    moves = m.body_weldid[m.geom_bodyid] != 0
    for key in range(-1, m.nkey):
        mujoco.mj_resetData(m, d) if key < 0 else mujoco.mj_resetDataKeyframe(m, d, key)
        places, velocities = geom_motion(m, d)
        first, second = pairs.T
        speed = np.linalg.norm(velocities[second] - velocities[first], axis=1)
        if g > 0.0 and gravity is not None:
            height = -(places @ gravity) / g
            drop = height[second] - height[first]  # of the second geom, if it falls
            fall = np.maximum(np.where(moves[second], drop, 0.0), np.where(moves[first], -drop, 0.0))
            speed = np.sqrt(speed**2 + 2.0 * g * np.maximum(fall, 0.0))
        most = np.maximum(most, speed)
    return most
