"""Motors with an arrow for the torque and a mark for the target angle in the view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.lab.controls.sliders import control_range, gear, is_plain
from saltus.model.enums import HINGE

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

MOST = 6  # motors; arrows of more would hide the mechanism


@dataclass(frozen=True)
class Motor:
    """A motor on the only joint of a body, a hinge.

    actuator, control, dof, joint: indices of the motor and its hinge. full: torque of an arrow of full length (N m).
    """

    actuator: int
    control: int
    dof: int
    joint: int
    full: float

    def torque(self, sim: Simulation) -> float:
        """Torque about the hinge (N m): the motor's plus the applied force."""
        model, control = sim.model, float(sim.ctrl[self.control])
        if model.actuator_ctrllimited[self.control]:
            control = float(np.clip(control, *model.actuator_ctrlrange[self.control]))
        signed = float(model.actuator_gear[model.actuator_outadr[self.actuator], 0])
        force = float(model.actuator_gainprm[self.actuator, 0]) * signed * control
        return force + float(sim.qfrc_applied[self.dof])

    def place(self, model: Model) -> dict[str, Any]:
        """Indices, control range and torque per unit of control (N m), for the page's own computation of the torque."""
        limited = bool(model.actuator_ctrllimited[self.control])
        signed = float(model.actuator_gear[model.actuator_outadr[self.actuator], 0])
        return {
            **{"actuator": self.actuator, "control": self.control, "dof": self.dof},
            "range": [float(x) for x in model.actuator_ctrlrange[self.control]] if limited else None,
            "factor": float(model.actuator_gainprm[self.actuator, 0]) * signed,
        }

    def message(self, model: Model, names: list[str]) -> dict[str, Any]:
        """The motor's entry of the `scene` message; `names`: names of the coordinates."""
        return {
            **{"body": int(model.jnt_bodyid[self.joint]), "dof": names.index(model.names("joint")[self.joint])},
            "anchor": [float(x) for x in model.jnt_pos[self.joint]],
            "axis": [float(x) for x in model.jnt_axis[self.joint]],
            "full": self.full,
        }


def motors(model: Model) -> list[Motor]:
    """The motors of a model; an empty list if there are too many to tell apart."""
    found = []
    for k in range(model.nactuator):
        joint, control = int(model.actuator_trnid[k, 0]), int(model.actuator_ctrladr[k])
        if is_plain(model, k) and model.jnt_type[joint] == HINGE and model.body_jntnum[model.jnt_bodyid[joint]] == 1:
            full = control_range(model, k, control)[1] * gear(model, k)
            found.append(Motor(k, control, int(model.jnt_dofadr[joint]), joint, full))
    return found if len(found) <= MOST else []
