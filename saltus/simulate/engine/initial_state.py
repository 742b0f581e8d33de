"""The initial state of simulations."""

from typing import Any

import mujoco
import numpy as np

from saltus.dynamics.fibre_equilibrium import initial_activations
from saltus.dynamics.history import initial_history
from saltus.errors import OptionError, warn
from saltus.integrate.integrator import Integrator
from saltus.model.load import load
from saltus.model.model import Model

IPC = 64  # MuJoCo's bit of the enable flag ipc


def start_state(model: Model, key: int | str | None, timestep: float) -> dict[str, Any]:
    """State and inputs at a keyframe by name or number, or at the model's start: its `initial_key`, or qpos0 at rest.

    Only fields of Data that do not start at zero; `act` holds MuJoCo's activations, or with muscles all states of
    actuators, with fibres in equilibrium. `timestep` (s): interval of the samples of delayed controls and sensors.
    """
    mocap = np.flatnonzero(model.body_mocapid >= 0)
    mocap = mocap[np.argsort(model.body_mocapid[mocap])]
    start: dict[str, Any] = {
        "qpos": model.qpos0,
        "mocap_pos": model.body_pos[mocap],
        "mocap_quat": model.body_quat[mocap],
    }
    start["eq_active"] = model.eq_active0
    if key is None:
        key = model.initial_key
    if key is not None:
        k = key_index(model, key)
        start |= {name: getattr(model, f"key_{name}")[k] for name in ("time", "qpos", "qvel", "act", "ctrl")}
        start["mocap_pos"] = model.key_mpos[k].reshape(-1, 3)
        start["mocap_quat"] = model.key_mquat[k].reshape(-1, 4)
        if model.struct().sizes["nplastic"]:
            start["plastic"] = model.key_plastic[k]
    if model.nhistory:
        start["history"] = initial_history(model, timestep)
    if model.muscles:
        start["act"] = initial_activations(model, start)
    return start


SLEEP_INTEGRATORS = ("euler", "implicit", "implicitfast", "RK4")


def check_sleep(model: Model, law: str, integrator: Integrator, dynamics: object) -> bool:
    """Whether trees may fall asleep; OptionError if the file asks for it but an option prevents it.

    `law`: name of the contact law; `dynamics`: user-defined equations of motion, or None.
    """
    if not model.may_sleep:
        return False
    what = ""
    if law != "soft":
        what = f"contact={law!r}"
    elif integrator.name.lower() not in [name.lower() for name in SLEEP_INTEGRATORS]:
        what = f"the integrator {integrator.name} (only with {', '.join(SLEEP_INTEGRATORS)})"
    elif dynamics is not None:
        what = "user-defined equations of motion (dynamics=...)"
    if what:
        raise OptionError(f"trees cannot sleep with {what}; load the model with ignore=['sleep']")
    return True


def awake(model: Model, who: str) -> Model:
    """The model with all trees awake, for uses that do not support sleep; gives a warning."""
    if not model.may_sleep:
        return model
    warn(f"{who} do not let trees sleep: all of them are awake, as with ignore=['sleep']")
    return load(model, ignore=["sleep"])


def start_asleep(model: Model) -> dict[str, np.ndarray]:
    """State of sleep at the start, by the policies of the file; MuJoCo finds the trees that sleep together."""
    asleep = mujoco.MjData(model.mj_model).tree_asleep
    carriers = model.body_rootid[model.tree_bodyadr]
    carriers = carriers[model.body_mocapid[carriers] >= 0]
    poses = {"carried_pos": model.body_pos[carriers], "carried_quat": model.body_quat[carriers]}
    return {"tree_asleep": np.array(asleep, float), "qpos_asleep": model.qpos0, **poses}


def key_index(model: Model, key: int | str) -> int:
    """The number of a keyframe."""
    if isinstance(key, str):
        names = model.names("key")
        if key not in names:
            raise OptionError.unknown("keyframe", key, names)
        return names.index(key)
    if not isinstance(key, int | np.integer):
        raise OptionError(f"a keyframe must be a name or a number, got {key!r}")
    if not -model.nkey <= key < model.nkey:
        raise OptionError(f"no keyframe {key}; the model has {model.nkey}")
    return int(key) % model.nkey


def check_sampling(model: Model, integrator: Integrator) -> None:
    """Raise OptionError if sensors are sampled or rods' frames followed once a step, but steps vary in length."""
    if integrator.adaptive and "sensor_delay" in model.struct().layout.features:
        raise OptionError(
            f"{integrator.name} chooses its own steps, but the model has sensors with a delay or an interval, which "
            "are sampled once a step; choose a fixed-step integrator"
        )
    if "rodtwist" in model.struct().layout.features and (integrator.adaptive or integrator.name == "energy_momentum"):
        raise OptionError(
            f"{integrator.name} does not support rods that twist, whose frames follow once a step of fixed length; "
            "choose another integrator, such as discrete, euler or rk4"
        )


LARGEST = 500  # degrees of freedom and actuator states of dense Newton matrices


def check_size(model: Model, integrator: Integrator, states: int) -> None:
    """Raise OptionError if a model, with its controller's `states`, is too large for dense Newton matrices."""
    size = model.nv + model.struct().sizes["nact"] + states
    if integrator.needs.get("collocates") and size > LARGEST:
        raise OptionError(
            f"{integrator.name} solves with dense matrices, for up to {LARGEST} degrees of freedom and actuator "
            f"states; {model.name!r} has {size}; choose another integrator, such as implicitfast or dopri5"
        )


def check_discrete(model: Model, integrator: Integrator, hard: bool = False) -> None:
    """Raise OptionError for features that the integrator `discrete` lacks; `hard`: the contact law is hard."""
    if integrator.name == "discrete":
        what = "hard contact" if hard else missing_in_discrete(model)
        if what:
            raise OptionError(f"discrete does not support {what}; choose another integrator, such as energy_momentum")


def missing_in_discrete(model: Model) -> str:
    """First feature of a model that `discrete` does not support here or MuJoCo's version refuses; "" if none."""
    m = model.struct()
    words = m.layout.features
    laws = np.any(m.actuator_gainprm[:, 1:]) or np.any(m.actuator_biasprm[:, 1:])
    missing = {
        "springs and dampers along the edges of deformable bodies": np.any(m.flexedge_stiffness)
        or np.any(m.flexedge_damping),
        "the flag ipc": model.mujoco.opt.enableflags & IPC,
        "noslip": m.opt_noslip_iterations > 0,
        "elastic bodies with the solver PGS": "pgs" in words and m.ntriangle + m.ntetrahedron + m.nbend > 0,
        "springs, dampers and inertia of tendons": words & {"tendon_force", "tendon_armature"},
        "actuators whose forces depend on positions or velocities": laws or words & {"actuation", "transmission"},
        "fluid forces": "fluid" in words,
        "moving surfaces (surfacevel)": np.any(m.collision_moves) or np.any(m.broad_moves),
    }
    return next((what for what, there in missing.items() if there), "")
