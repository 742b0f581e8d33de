"""Features and flags of the kernels' Model for fields that differ between simulations."""

import re
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.compile.tree import FLAGS, off

# fields that determine the parameters of soft constraints
OF_CONTACTS = re.compile(
    r"(geom|pair)_(friction|solmix|margin|gap)$|opt\.impratio$|\w+_sol(ref|imp|reffriction)(_\w+)?$"
)


class GeneralCase(NamedTuple):
    """Flags of the kernels' Model that allow for all values that the fields may take."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: frozenset[str]


def general_case(m: mujoco.MjModel, vary: frozenset[str], values: dict[str, Any], sizes: dict[str, int]) -> GeneralCase:
    """Flags for varying fields, without shortcuts for values that are zero, or the identity, in the model itself."""
    own: dict[str, Any] = {}
    if vary & {"body_inertia", "body_iquat"}:
        own["body_diagonal"] = np.zeros(m.nbody, int)
    if "body_quat" in vary:
        own["body_turned"] = np.ones(m.nbody, int)
    if "geom_quat" in vary:
        own["geom_turned"] = np.ones(m.ngeom, int)
    if "jnt_pos" in vary:
        own["jnt_offset"] = np.ones(m.njnt, int)
    if vary & {"jnt_stiffness", "jnt_stiffnesspoly"} and not off(m, FLAGS.mjDSBL_SPRING):
        own["jnt_spring"] = np.ones(m.njnt, int)
    switches: dict[str, int] = {}
    dampers = {"dof_damping", "dof_dampingpoly", "actuator_damping", "actuator_dampingpoly"}
    if vary & dampers and not (off(m, FLAGS.mjDSBL_EULERDAMP) or off(m, FLAGS.mjDSBL_DAMPER)):
        switches["implicit_damping"] = 1
    if "opt.gravity" in vary:
        switches["has_gravcomp"] = int(np.any(values["body_gravcomp"]))
    features = {"vary"}
    if m.ntendon and any(name.startswith(("tendon_stiff", "tendon_damp", "actuator_damp")) for name in vary):
        features.add("tendon_force")
    return GeneralCase(own, switches, frozenset(features))
