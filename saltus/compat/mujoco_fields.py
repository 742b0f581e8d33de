"""MuJoCo's state fields, the stages of mj_forward that compute the other fields, and fields of the model."""

import mujoco
import mujoco.batch
import numpy as np

from saltus.errors import OptionError, proposal
from saltus.model.vary.fields import CONSTANTS, MAY_VARY

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
FIXED = ("plugin_state", "plastic")  # components that steps do not read, but `plastic` of rods that twist

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

#: Fields of MjData that `bind` accepts, and fields of MjModel that `expand` accepts: all those of MuJoCo's own module.
DATA_FIELDS: frozenset[str] = mujoco.batch.DATA_FIELDS
MODEL_FIELDS: frozenset[str] = mujoco.batch.MODEL_FIELDS
#: Fields of MjData that Saltus does not keep: mj_forward computes them.
OF_MUJOCO = DATA_FIELDS - DERIVED - {*STATE_FIELDS}
#: Fields of these that the solver of constraints decides, after the stages of positions and velocities.
OF_SOLVER = frozenset(["solver_niter", "solver_nnz", "solver_fwdinv"])
#: Fields of these that steps of implicit integrators compute, and no stage of mj_forward.
OF_STEPS = frozenset(["qH", "qHDiagInv", "qLU", "qDeriv"])

#: Fields of MjModel that mj_setConst or the compiler of models derives from others, and that need no values of their
#: own.
FOLLOWS = {*CONSTANTS, "geom_rbound", "geom_aabb", "bvh_aabb", "dof_M0", "dof_length", "actuator_length0"}
FOLLOWS |= {"efm0_L", "body_simple", "dof_simplenum", "light_pos0", "light_poscom0", "light_dir0", "D_diag"}
FOLLOWS -= {*MAY_VARY}
# beginnings and ends of the names of fields that steps do not read, and ends of those that are structure
_LOOKS = ("key_", "mat_", "light_", "tex_", "skin_", "name", "cam_", "paths", "numeric_", "text_", "tuple_")
_LOOKS_LAST = ("_rgba", "_user", "_group", "_matid")
_STRUCTURE = ("adr", "num", "id", "type")


def is_read(name: str) -> bool:
    """Whether steps read a field of the model."""
    return name not in FOLLOWS and not name.startswith(_LOOKS) and not name.endswith(_LOOKS_LAST)


def is_structure(name: str, values: np.ndarray) -> bool:
    """Whether a field of the model holds addresses, counts, numbers of objects or types."""
    return values.dtype.kind in "iu" and name.endswith(_STRUCTURE) and not name.endswith("contype")


def no_data_field(data: mujoco.MjData, name: str) -> OptionError:
    """Error for a name that `bind` does not take; it says where the name belongs."""
    present = getattr(data, name, None)
    if isinstance(present, int):
        counts = sorted(count for count in DATA_FIELDS if isinstance(getattr(data, count), int))
        return OptionError(f"{name} is none of the scalars bind() accepts: {', '.join(counts)}")
    if isinstance(present, np.ndarray):
        return OptionError(f"{name} is in MjData's arena: its size changes from step to step, so it cannot be bound")
    return OptionError(f"{name} is no field of MjData that can be bound{belongs(name, DATA_FIELDS)}")


def no_model_field(m: mujoco.MjModel, name: str) -> OptionError:
    """Error for a name that `expand` does not take; it says where the name belongs."""
    if isinstance(getattr(m, name, None), np.ndarray):
        return OptionError(f"{name} is asset data, which all simulations share; it cannot be expanded")
    return OptionError(f"{name} is no field of MjModel that can be expanded{belongs(name, MODEL_FIELDS)}")


def belongs(name: str, known: frozenset[str]) -> str:
    """Say where a name belongs that is none of the `known` ones, or which of them is close; empty where none is."""
    if name not in known:
        for found in (name, f"opt.{name}"):
            if found in MODEL_FIELDS:
                return f"; it is a field of the model: use expand('{found}')"
        if name in DATA_FIELDS:
            return f"; it is a field of MjData: use bind('{name}')"
    return proposal(name, known)


NONE, POSITIONS, VELOCITIES, ACCELERATIONS = (
    int(getattr(mujoco.mjtStage, f"mjSTAGE_{stage}")) for stage in ("NONE", "POS", "VEL", "ACC")
)
