"""MuJoCo's state fields, the stages of mj_forward that compute the other fields, and fields of the model."""

import mujoco

from saltus.model.vary.fields import MAY_VARY

#: Components of a row of `state`, in their order: mjtState's names for fields of MjData.
STATE_FIELDS = {
    "time": mujoco.mjtState.mjSTATE_TIME,
    "qpos": mujoco.mjtState.mjSTATE_QPOS,
    "qvel": mujoco.mjtState.mjSTATE_QVEL,
    "act": mujoco.mjtState.mjSTATE_ACT,
    "history": mujoco.mjtState.mjSTATE_HISTORY,
    "qacc_warmstart": mujoco.mjtState.mjSTATE_WARMSTART,
    "ctrl": mujoco.mjtState.mjSTATE_CTRL,
    "qfrc_applied": mujoco.mjtState.mjSTATE_QFRC_APPLIED,
    "xfrc_applied": mujoco.mjtState.mjSTATE_XFRC_APPLIED,
    "eq_active": mujoco.mjtState.mjSTATE_EQ_ACTIVE,
    "mocap_pos": mujoco.mjtState.mjSTATE_MOCAP_POS,
    "mocap_quat": mujoco.mjtState.mjSTATE_MOCAP_QUAT,
    "userdata": mujoco.mjtState.mjSTATE_USERDATA,
    "plugin_state": mujoco.mjtState.mjSTATE_PLUGIN,
    "plastic": mujoco.mjtState.mjSTATE_PLASTIC,
}
FIXED = ("plugin_state", "plastic")  # components that steps do not read

# derived fields by the stage of mj_forward that computes them
OF_POSITIONS = frozenset(
    [
        *("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat", "site_xpos"),
        *("site_xmat", "subtree_com", "cinert", "cdof", "crb", "M", "qLD", "qLDiagInv", "ten_length", "ten_J"),
        *("actuator_length", "flexvert_xpos"),
    ]
)
OF_VELOCITIES = frozenset(
    [
        *("cvel", "cdof_dot", "ten_velocity", "actuator_velocity", "qfrc_bias", "qfrc_passive", "qfrc_spring"),
        *("qfrc_damper", "qfrc_gravcomp", "qfrc_fluid", "qfrc_adhesion", "subtree_linvel", "subtree_angmom"),
    ]
)
OF_ACCELERATIONS = frozenset(
    [
        *("act_dot", "actuator_force", "qfrc_actuator", "qfrc_smooth", "qacc_smooth", "qacc", "qfrc_constraint"),
        *("qfrc_inverse", "cacc", "cfrc_ext", "cfrc_int"),
    ]
)
MIXED = frozenset(["energy", "sensordata"])  # fields whose columns belong to several stages
DERIVED = OF_POSITIONS | OF_VELOCITIES | OF_ACCELERATIONS | MIXED

#: Fields of MjData that `bind` accepts, and fields of MjModel that `expand` accepts.
DATA_FIELDS: frozenset[str] = DERIVED | {*STATE_FIELDS}
MODEL_FIELDS: frozenset[str] = frozenset(MAY_VARY)

NONE, POSITIONS, VELOCITIES, ACCELERATIONS = (
    int(getattr(mujoco.mjtStage, f"mjSTAGE_{stage}")) for stage in ("NONE", "POS", "VEL", "ACC")
)
