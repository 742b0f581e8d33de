"""Joints with friction by bristles: dc motors without winding and controls, which exert friction alone.

    <dcmotor name="elbow_friction" joint="elbow" resistance="1" motorconst="0" input="none"
      lugre="stiffness damping coulomb static velocity"/>

The law is that of `saltus.dynamics.actuator.dc_motor`; MuJoCo has it, too.
"""

from typing import Any

import numpy as np

from saltus.model.actuator_enums import BIAS_DCMOTOR, TRN_JOINT, TRN_JOINTINPARENT

STIFFNESS, DAMPING = 5, 6  # places of σ₀ and σ₁ in actuator_dynprm
COULOMB, STATIC, VELOCITY = 3, 4, 5  # places of F_C, F_S and v_S in actuator_biasprm


def bristle_actuators(m: Any) -> np.ndarray:
    """Indices of the actuators that exert friction by bristles alone."""
    motors = (m.actuator_biastype == BIAS_DCMOTOR) & (m.actuator_ctrlnum == 0)
    return np.flatnonzero(motors & (m.actuator_gainprm[:, 1] == 0.0) & (m.actuator_dynprm[:, STIFFNESS] > 0.0))


def bristle_joints(m: Any) -> dict[int, int]:
    """Actuators that exert friction by bristles alone, by their joint."""
    on_joint = (TRN_JOINT, TRN_JOINTINPARENT)
    return {int(m.actuator_trnid[k, 0]): int(k) for k in bristle_actuators(m) if m.actuator_trntype[k] in on_joint}
