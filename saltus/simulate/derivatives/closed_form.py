"""Models whose steps have derivatives without directions: joints with motors, limits, dry friction and contacts."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.integrate.fixed.euler_tangents import SUPPORTED
from saltus.model.enums import BALL, FREE
from saltus.model.model import Model
from saltus.number.structs import Struct

#: Features of models whose derivatives by state and controls need no directions.
FEATURES = frozenset(
    ("constraint", "contact", "tendon", "thin", "matrix_in_lanes", "cylinder", "box", "boxes", "ellipsoid")
) | {word for word in SUPPORTED if word.startswith("sense_")}


def acts_in_joints(features: frozenset[str], m: Struct, model: Model) -> bool:
    """Whether all that acts, but for contacts, does so in single joints, or through constant moment arms.

    `features`: of the kernels' Model `m` that count.
    """
    mj = model.mj_model
    turning = np.isin(mj.jnt_type, (FREE, BALL))
    return bool(
        features <= FEATURES
        and not (m.has_gravcomp or m.nparticle or m.neq)
        and not (mj.jnt_stiffness[turning].any() or mj.jnt_stiffnesspoly[turning].any())
        and not (mj.jnt_limited.astype(bool) & (mj.jnt_type == BALL)).any()
        and (mj.wrap_type == mujoco.mjtWrap.mjWRAP_JOINT.value).all()
    )


def has_closed_form(m: Struct, model: Model) -> bool:
    """Whether derivatives of steps of a model, with the kernels' Model `m`, are found in closed form."""
    return acts_in_joints(m.layout.features, m, model) and not m.views["collision_moves"].any()


def work_arrays(m: Struct) -> tuple[NDArray[np.float64], ...]:
    """Memory of `saltus.integrate.fixed.euler_jacobian.jacobian`: motions, axes, wrenches, matrices, pair,
    grounds, columns."""
    nbody, nv, nu = m.sizes["nbody"], m.sizes["nv"], m.sizes["nu"]
    columns = -(-(2 * nv + nu) // 8) * 8
    shapes = ((4, nbody, 6), (6, nv, 6), (2, nbody, 6), (nbody, 6, 6), (5, 6, 6), (4, nbody, 6, 6), (2, nv, columns))
    return tuple(np.zeros(shape) for shape in shapes)
