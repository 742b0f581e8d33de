"""Actuators in the kernels' Model: force laws and parameters, transmissions and their degrees of freedom."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model import enums
from saltus.model.actuator_enums import (
    BALL,
    BALL_IN_PARENT,
    BIAS_AFFINE,
    BIAS_DCMOTOR,
    BIAS_MUSCLE,
    BIAS_NONE,
    BIAS_USER,
    BODY,
    DYN_DCMOTOR,
    DYN_FILTER,
    DYN_FILTEREXACT,
    DYN_INTEGRATOR,
    DYN_MUSCLE,
    DYN_NONE,
    DYN_PID,
    DYN_USER,
    FREE,
    FREE_IN_PARENT,
    GAIN_DCMOTOR,
    GAIN_FIXED,
    GAIN_MUSCLE,
    GAIN_PID,
    GAIN_SO3,
    GAIN_USER,
    ROTATION_OF_BALL,
    ROTATION_OF_SITE,
    SCALAR,
    SITE,
    SITE_REFERENCE,
    SLIDER_CRANK,
    TENDON,
    TRN_BODY,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_SITE,
    TRN_SLIDERCRANK,
    TRN_SO3,
    TRN_TENDON,
)
from saltus.model.compile.drives import current_limits, torque_curves
from saltus.model.compile.hill import HillMuscle, replace_laws
from saltus.model.tree.chains import ChainTable

_LAWS = {  # the types that need a law's kernels
    "muscle": {"dyntype": DYN_MUSCLE, "gaintype": GAIN_MUSCLE, "biastype": BIAS_MUSCLE},
    "dcmotor": {"gaintype": GAIN_DCMOTOR, "biastype": BIAS_DCMOTOR},
    "so3": {"gaintype": GAIN_SO3},
    "servo": {"gaintype": GAIN_PID},
}


class Actuators(NamedTuple):
    """Fields and sizes of the kernels' Model, and the features that they need compiled."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def supported_actuator(m: mujoco.MjModel, k: int) -> bool:
    """Whether actuator k is simulated: not with plugins or user callbacks."""
    callbacks = (
        (m.actuator_dyntype[k], DYN_USER),
        (m.actuator_gaintype[k], GAIN_USER),
        (m.actuator_biastype[k], BIAS_USER),
    )
    return m.actuator_plugin[k] < 0 and not any(kind == user for kind, user in callbacks)


def actuators(m: mujoco.MjModel, muscles: Mapping[int, HillMuscle] | None = None) -> Actuators:
    """Fields, sizes and features of the actuators; none acts if actuation is disabled.

    `muscles`: actuators whose law is replaced.
    """
    flags = mujoco.mjtDisableBit
    clamp = not m.opt.disableflags & flags.mjDSBL_CLAMPCTRL.value
    acting = m.nactuator > 0 and not m.opt.disableflags & flags.mjDSBL_ACTUATION.value
    off = [bool(m.opt.disableactuator >> int(g) & 1) if 0 <= g < 31 else False for g in m.actuator_group]
    simulated = [supported_actuator(m, k) for k in range(m.nactuator)]
    kinds, dofs = _outputs(m)
    count = np.array([len(d) for d in dofs], int)
    objects = np.repeat(m.actuator_trnid, m.actuator_outnum, axis=0).reshape(-1, 2)
    plain = "dyntype ctrladr ctrlnum ctrlspec actadr actnum outadr outnum actearly actlimited forcelimited"
    values = {
        **{f"actuator_{f}": getattr(m, f"actuator_{f}") for f in plain.split()},
        **{f"actuator_{f}": getattr(m, f"actuator_{f}") for f in ("gaintype", "biastype", "delay", "historyadr")},
        **actuator_values(m),
        "actuator_cranklength": np.repeat(m.actuator_cranklength, m.actuator_outnum),
        "actuator_enabled": ~np.array(off, bool) & acting & np.array(simulated, bool),
        "actuator_slot": [_slots(m, k) for k in range(m.nactuator)],
        "actuator_period": setpoint_periods(m),
        "actuator_nsample": m.actuator_history[:, 0],
        "actuator_interp": m.actuator_history[:, 1],
        "actuator_ctrllimited": m.actuator_ctrllimited * clamp,
        "out_kind": kinds,
        "out_obj1": objects[:, 0],
        "out_obj2": objects[:, 1],
        "out_axis": [axis for n in m.actuator_outnum for axis in range(n)],
        "moment_adr": np.cumsum(count) - count,
        "moment_num": count,
        "moment_dof": [i for out in dofs for i in out],
    }
    sizes = {"nout": m.nout, "nmoment": int(count.sum()), "nact": m.na, "nhistory": m.nhistory}
    if muscles:
        replace_laws(m, muscles, values, sizes)
    features = {
        law for law, types in _LAWS.items() if any((values[f"actuator_{f}"] == t).any() for f, t in types.items())
    }
    if muscles:
        features.add("hill")
    curves, points = torque_curves.curve_values(m)
    limits = current_limits.limit_values(m)
    values |= curves | limits
    sizes |= points
    if curves:
        features.add(torque_curves.FEATURE)
    if limits:
        features.add(current_limits.FEATURE)
    if any(kind != SCALAR for kind in kinds):
        features.add("transmission")
    if sizes["nact"]:
        features.add("act")
    if m.actuator_delay.any():
        features.add("delay")
    if BODY in kinds and acting:
        features.add("adhere")
    if features or (m.nactuator and (m.actuator_ctrlnum != 1).any()):
        features.add("actuation")
    return Actuators(values, sizes | {"has_actuation": int(acting)}, features)


def actuator_values(m: Any) -> dict[str, np.ndarray]:
    """Parameters and limits of actuators, with a leading axis of simulations if the fields of `m` have one."""
    names = "dynprm forcerange actrange ctrlrange gear acc0 lengthrange"
    return {
        **{f"actuator_{name}": getattr(m, f"actuator_{name}") for name in names.split()},
        "actuator_gainprm": _affine(m.actuator_gaintype == GAIN_FIXED, m.actuator_gainprm, 1),
        "actuator_biasprm": _affine(m.actuator_biastype == BIAS_NONE, m.actuator_biasprm, 0),
    }


def _affine(constant, prm, keep):
    """Parameters of an affine law; those that a constant law does not read are zero."""
    prm = prm.copy()
    prm[..., constant, keep:] = 0.0
    return prm


def _outputs(m) -> tuple[list[int], list[list[int]]]:
    """Kind of each output, and the degrees of freedom that change its length."""
    kinds: list[int] = []
    dofs: list[list[int]] = []
    for k in range(m.nactuator):
        kind, felt = _transmission(m, k)
        kinds += [kind] * m.actuator_outnum[k]
        # the three outputs of a servo on a ball joint are its three axes
        dofs += [[i] for i in felt] if kind == ROTATION_OF_BALL else [felt] * m.actuator_outnum[k]
    return kinds, dofs


def _transmission(m, k) -> tuple[int, list[int]]:
    """Kind of transmission of actuator k, and the degrees of freedom that it feels."""
    kind, (one, other) = m.actuator_trntype[k], m.actuator_trnid[k]
    chains = ChainTable(m)
    if kind in (TRN_JOINT, TRN_JOINTINPARENT) or (kind == TRN_SO3 and other < 0):
        joint, first = int(m.jnt_type[one]), int(m.jnt_dofadr[one])
        felt = list(range(first, first + enums.JOINT_DOFS[joint]))
        if kind == TRN_SO3:
            return ROTATION_OF_BALL, felt
        axes = {enums.FREE: (FREE, FREE_IN_PARENT), enums.BALL: (BALL, BALL_IN_PARENT)}.get(joint, (SCALAR, SCALAR))
        return axes[int(kind == TRN_JOINTINPARENT)], felt
    if kind == TRN_TENDON:
        first = m.ten_J_rowadr[one]
        return TENDON, m.ten_J_colind[first : first + m.ten_J_rownnz[one]].tolist()
    if kind == TRN_BODY:
        return BODY, list(range(m.nv))
    moved = chains.ancestors(int(m.site_bodyid[one]))
    if kind == TRN_SITE and other < 0:
        return SITE, sorted(moved)
    reference = chains.ancestors(int(m.site_bodyid[other]))
    if kind == TRN_SLIDERCRANK:
        return SLIDER_CRANK, sorted(moved | reference)
    # degrees of freedom that move both have no effect
    return (ROTATION_OF_SITE if kind == TRN_SO3 else SITE_REFERENCE), sorted(moved ^ reference)


def _slots(m, k) -> list[int]:
    """Places of the states of a motor or servo in act, in the order slew, integral, temperature, bristle, current."""
    dynprm, gainprm = m.actuator_dynprm[k], m.actuator_gainprm[k]
    present = [False] * 5
    if m.actuator_dyntype[k] == DYN_DCMOTOR:
        present = [dynprm[7] > 0, gainprm[5] > 0, dynprm[2] > 0, dynprm[5] > 0, dynprm[0] > 0]
    elif m.actuator_dyntype[k] == DYN_PID:
        present = [dynprm[1] > 0, gainprm[0] > 0, False, False, False]
    place, slots = int(m.actuator_actadr[k]), []
    for there in present:
        slots.append(place if there else -1)
        place += int(there)
    return slots


def setpoint_periods(m: Any) -> np.ndarray:
    """Periods (rad times gear) [..., nactuator] of angular setpoints of servos without limits, 0 for others.

    MuJoCo's rules decide which setpoints are periodic.
    """
    gear = m.actuator_gear[..., m.actuator_outadr, :]
    turned = np.where(_turns_about_site(m, gear), _length(gear[..., 3:]), 0.0)
    of_ball = [
        m.actuator_trntype[k] in (TRN_JOINT, TRN_JOINTINPARENT) and m.jnt_type[m.actuator_trnid[k, 0]] == enums.BALL
        for k in range(m.nactuator)
    ]
    turned = np.where(np.array(of_ball, bool), _length(gear[..., :3]), turned)
    return 2.0 * np.pi * turned * _has_setpoint(m)


def _length(x: np.ndarray) -> np.ndarray:
    """Euclidean lengths of vectors on the last axis, which may be complex."""
    return np.sqrt((x * x).sum(axis=-1)) if np.iscomplexobj(x) else np.linalg.norm(x, axis=-1)


def _has_setpoint(m) -> np.ndarray:
    """Whether actuators are position servos [..., nactuator]."""
    fixed = (m.actuator_gaintype == GAIN_FIXED) & (m.actuator_biastype == BIAS_AFFINE)
    plain = np.isin(m.actuator_dyntype, (DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT))
    opposite = np.real(m.actuator_gainprm[..., 0]) == -np.real(m.actuator_biasprm[..., 1])
    return (fixed & plain & opposite) | (m.actuator_gaintype == GAIN_PID)


def _turns_about_site(m, gear) -> np.ndarray:
    """Whether actuators turn a site with a reference without moving it [..., nactuator]."""
    referred = (m.actuator_trntype == TRN_SITE) & (m.actuator_trnid[:, 1] >= 0)
    return referred & ~np.real(gear[..., :3]).any(axis=-1)
