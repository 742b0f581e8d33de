"""Fields of MjData that Saltus does not keep, and rays: computed by MuJoCo, one simulation after the other."""

from collections.abc import Callable, Iterable, Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.compat.mujoco_fields import ACCELERATIONS, NONE, OF_SOLVER, OF_STEPS, POSITIONS, VELOCITIES

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
CALLBACKS = ("control", "passive", "sensor", "act_dyn", "act_gain", "act_bias", "contactfilter")


def installed_callbacks() -> list[str]:
    """Names of MuJoCo's callbacks of physics that are installed."""
    return [f"mjcb_{name}" for name in CALLBACKS if getattr(mujoco, f"get_mjcb_{name}")() is not None]


def template(data: mujoco.MjData, name: str) -> NDArray[np.generic]:
    """A field of MjData as an array, which has no dimension for a count."""
    present = getattr(data, name)
    return np.asarray(present, np.int32) if isinstance(present, int) else np.asarray(present)


def fill(
    fields: Mapping[str, NDArray[np.generic]],
    sims: Iterable[int],
    stage: int,
    model_of: Callable[[int], mujoco.MjModel],
    data: mujoco.MjData,
    states: NDArray[np.float64],
    stepping: bool,
) -> None:
    """Write fields [nsim, ...] of simulations, computed at rows of `states`: by stages of mj_forward, or by mj_step."""
    present = [name for name in fields if stage >= ACCELERATIONS or name not in OF_SOLVER]
    present = [name for name in present if stepping or name not in OF_STEPS]
    if stage == NONE or not present:
        return
    for i in sims:
        m = model_of(i)
        mujoco.mj_setState(m, data, states[i], STATE)
        if stepping:
            mujoco.mj_step(m, data)
        elif stage >= ACCELERATIONS:
            mujoco.mj_forward(m, data)
        elif stage >= POSITIONS:
            mujoco.mj_fwdPosition(m, data)
            if stage >= VELOCITIES:
                mujoco.mj_fwdVelocity(m, data)
        for name in present:
            fields[name][i] = getattr(data, name)


def cast(
    m: mujoco.MjModel,
    data: mujoco.MjData,
    state: NDArray[np.float64],
    rays: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]],
    group: NDArray[np.uint8] | None,
    static: bool,
    hits: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]],
) -> None:
    """Write distances, geoms and normals of rays: origins, directions [nray, 3], excluded bodies [nray]; at a state."""
    mujoco.mj_setState(m, data, state, STATE)
    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    mujoco.mj_flex(m, data)
    distance, geoms, normals = hits
    for k, (origin, direction, exclude) in enumerate(zip(*rays, strict=True)):
        geom, normal = np.zeros(1, np.int32), np.zeros(3)
        distance[k] = mujoco.mj_ray(m, data, origin, direction, group, static, int(exclude), geom, normal)
        geoms[k], normals[k] = geom[0], normal
