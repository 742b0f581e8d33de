"""The state that simulations begin from."""

from typing import Any

import numpy as np

from saltus.dynamics.hill_start import initial_activations
from saltus.dynamics.history import initial_history
from saltus.errors import OptionError
from saltus.integrate.integrator import Integrator
from saltus.model.model import Model


def start_state(model: Model, key: int | str | None, timestep: float) -> dict[str, Any]:
    """State and inputs at a keyframe by name or number, or at the model's start: its `initial_key`, or qpos0 at rest.

    Fields of Data that begin otherwise than with zeros; `act` holds MuJoCo's activations, or with muscles all states of
    actuators, their fibres in balance. `timestep` (s): of the steps that delayed controls and sensors remember.
    """
    mocap = np.flatnonzero(model.body_mocapid >= 0)
    mocap = mocap[np.argsort(model.body_mocapid[mocap])]
    start = {"qpos": model.qpos0, "mocap_pos": model.body_pos[mocap], "mocap_quat": model.body_quat[mocap]}
    if key is None:
        key = model.initial_key
    if key is not None:
        k = key_index(model, key)
        start |= {name: getattr(model, f"key_{name}")[k] for name in ("time", "qpos", "qvel", "act", "ctrl")}
        start["mocap_pos"] = model.key_mpos[k].reshape(-1, 3)
        start["mocap_quat"] = model.key_mquat[k].reshape(-1, 4)
    if model.nhistory:
        start["history"] = initial_history(model, timestep)
    if model.muscles:
        start["act"] = initial_activations(model, start)
    return start


def key_index(model: Model, key: int | str) -> int:
    """The number of a keyframe."""
    if isinstance(key, str):
        names = model.names("key")
        if key not in names:
            raise OptionError.unknown("keyframe", key, names)
        return names.index(key)
    if not -model.nkey <= key < model.nkey:
        raise OptionError(f"there is no keyframe {key}; the model has {model.nkey}")
    return int(key) % model.nkey


def check_sampling(model: Model, integrator: Integrator) -> None:
    """Raise OptionError where sensors are sampled once a step, but steps have lengths of their own."""
    if integrator.adaptive and "sensor_delay" in model.struct().layout.features:
        raise OptionError(
            f"{integrator.name} chooses its own steps, but the model has sensors with a delay or an interval, which "
            "are sampled once a step; choose a fixed-step integrator"
        )
