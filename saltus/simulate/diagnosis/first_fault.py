"""The fault of a state whose step or acceleration is not finite: the field, joint or actuator to name."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from saltus.integrate.status import LARGEST
from saltus.model.compile.drives.bristle_friction import bristle_joints
from saltus.model.model import Model
from saltus.model.tree.singular_inertia import Massless, described, massless_motions
from saltus.number.structs import Struct
from saltus.simulate.diagnosis.bad_numbers import first_bad
from saltus.simulate.laws.control import OF_JOINTS


def dof_of(model: Model, name: str, k: int, values: NDArray[np.floating]) -> int | None:
    """The degree of freedom that entry k of a field with these values acts on, if there is exactly one."""
    if name in ("qvel", "qfrc_applied", "qacc_warmstart"):
        return k
    if name == "qpos":
        j = int(np.searchsorted(model.jnt_qposadr, k, "right")) - 1
        return int(model.jnt_dofadr[j]) + min(k - int(model.jnt_qposadr[j]), 5)
    if name == "xfrc_applied":
        wrong = np.unique(np.flatnonzero(~np.isfinite(values)) // 6)
        moved = wrong[model.body_dofnum[wrong] > 0]
        return int(model.body_dofadr[moved[0]]) if moved.size else None
    if name == "ctrl":
        actuator = actuator_of(model, k)
        if model.actuator_trntype[actuator] in OF_JOINTS:
            return int(model.jnt_dofadr[model.actuator_trnid[actuator, 0]])
    return None


def actuator_of(model: Model, k: int) -> int:
    """The actuator that entry k of ctrl belongs to."""
    return int(np.searchsorted(np.cumsum(model.actuator_ctrlnum), k, "right"))


def label(model: Model, name: str, k: int) -> str:
    """Entry k of a field in words: "qpos[3]", "time", "ctrl[0] of actuator 'motor'"."""
    if name == "time":
        return name
    of = f" of actuator {model.names('actuator')[actuator_of(model, k)]!r}" if name == "ctrl" else ""
    return f"{name}[{k}]{of}"


def first_to_go(model: Model, bad: Mapping[str, NDArray[np.floating]]) -> tuple[int | None, str]:
    """The degree of freedom that diverged first, and a description of its fault.

    bad: qvel, qpos, act and time of the state that followed the last good one.
    """
    wrong = np.flatnonzero(~(np.abs(bad["qvel"]) < LARGEST))
    if wrong.size:
        i = int(wrong[0])
        return i, "velocity grew beyond 1e10" if np.isfinite(bad["qvel"][i]) else "velocity is not finite"
    found = first_bad(bad)
    if found is None:
        return (0 if model.nv else None), "no further step is possible"
    name, k = found
    if name == "act":
        return _bad_activation(model, k)
    what = "position is not finite" if name == "qpos" else f"{name} is not finite"
    return dof_of(model, name, k, bad[name]), what


def _bad_activation(model: Model, k: int) -> tuple[int | None, str]:
    """The degree of freedom of friction whose state is entry k of act, None for others, and a description."""
    for joint, actuator in bristle_joints(model.mj_model).items():
        if int(model.actuator_actadr[actuator]) == k:
            what = (
                f"bristles of {model.names('actuator')[actuator]!r} bent further than static friction bends them: the "
                "step is too long for their stiffness"
            )
            return int(model.jnt_dofadr[joint]), what
    return None, f"act[{k}] is not finite"


def infinite_control(m: Struct, model: Model, ctrl: NDArray[np.floating]) -> tuple[int | None, str] | None:
    """Degree of freedom and description of the first control that is infinite and that no range makes finite."""
    limited = m.views["actuator_ctrllimited"] != 0
    low, high = m.views["actuator_ctrlrange"].reshape(-1, 2).T
    acting = np.where(limited, np.clip(ctrl, low, high), ctrl)
    wrong = np.flatnonzero(np.isinf(acting))
    if not wrong.size:
        return None
    k = int(wrong[0])
    return dof_of(model, "ctrl", k, ctrl), f"{label(model, 'ctrl', k)} is infinite, and no ctrlrange limits it"


def singular_inertia(
    model: Model, qpos: NDArray[np.floating], free: NDArray[np.bool_] | None = None
) -> tuple[int, str] | None:
    """Degree of freedom and description of a motion that moves no mass at positions qpos [nq]; None if M is regular.

    free [nv]: mask of the dofs whose motion is not prescribed; None: all.
    """
    if not np.isfinite(qpos).all():
        return None
    found: list[Massless] = massless_motions(model.mj_model, np.asarray(qpos, float), free)
    if not found:
        return None
    return found[0].dofs[0], f"the inertia matrix is singular at this position: {described(model.mj_model, found)}"
