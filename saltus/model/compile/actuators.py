"""Actuators in the kernels' Model: force laws and parameters, transmissions and their degrees of freedom."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.compile.hill import HillMuscle, replace_laws
from saltus.model.tree.chains import ChainTable

# MuJoCo's types of activation dynamics, gains and biases
DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT, DYN_MUSCLE, DYN_DCMOTOR, DYN_PID = range(7)
GAIN_FIXED, GAIN_AFFINE, GAIN_MUSCLE, GAIN_DCMOTOR, GAIN_SO3, GAIN_PID = range(6)
BIAS_NONE, BIAS_AFFINE, BIAS_MUSCLE, BIAS_DCMOTOR, BIAS_SO3 = range(5)
# inputs of servos and motors, bits in the order of the controls; the chart of a quaternion target
INPUT_POS, INPUT_VEL, INPUT_FF, INPUT_VOLTAGE = 1, 2, 4, 8
CHART_QUAT = 2
# what an output of an actuator acts on: a hinge or slide; a ball or free joint, in its own or the parent's axes; ...
SCALAR, BALL, BALL_IN_PARENT, FREE, FREE_IN_PARENT, SLIDER_CRANK, TENDON, SITE, SITE_REFERENCE, BODY = range(10)
ROTATION_OF_BALL, ROTATION_OF_SITE = 10, 11
# places of an actuator's own states in actuator_slot
SLEW, INTEGRAL, TEMPERATURE, BRISTLE, CURRENT = range(5)

_TRN = mujoco.mjtTrn
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
    """Whether actuator k is simulated: all but plugins and laws that are callbacks of the user's."""
    callbacks = (
        (m.actuator_dyntype[k], mujoco.mjtDyn.mjDYN_USER),
        (m.actuator_gaintype[k], mujoco.mjtGain.mjGAIN_USER),
        (m.actuator_biastype[k], mujoco.mjtBias.mjBIAS_USER),
    )
    return m.actuator_plugin[k] < 0 and not any(kind == user.value for kind, user in callbacks)


def actuators(m: mujoco.MjModel, muscles: Mapping[int, HillMuscle] | None = None) -> Actuators:
    """Fields, sizes and features of the actuators; with actuation disabled none of them acts.

    `muscles`: those whose law is replaced.
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
        **{f"actuator_{f}": getattr(m, f"actuator_{f}") for f in ("gaintype", "biastype", "dynprm", "delay")},
        **{f"actuator_{f}": getattr(m, f"actuator_{f}") for f in ("forcerange", "actrange", "historyadr")},
        **{f"actuator_{f}": getattr(m, f"actuator_{f}") for f in ("gear", "acc0", "lengthrange")},
        "actuator_cranklength": np.repeat(m.actuator_cranklength, m.actuator_outnum),
        "actuator_gainprm": _affine(m.actuator_gaintype == GAIN_FIXED, m.actuator_gainprm, 1),
        "actuator_biasprm": _affine(m.actuator_biastype == BIAS_NONE, m.actuator_biasprm, 0),
        "actuator_enabled": ~np.array(off, bool) & acting & np.array(simulated, bool),
        "actuator_slot": [_slots(m, k) for k in range(m.nactuator)],
        "actuator_period": [_period(m, k) for k in range(m.nactuator)],
        "actuator_nsample": m.actuator_history[:, 0],
        "actuator_interp": m.actuator_history[:, 1],
        "actuator_ctrllimited": m.actuator_ctrllimited * clamp,
        "actuator_ctrlrange": m.actuator_ctrlrange,
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


def _affine(constant, prm, keep):
    """Parameters of an affine law, with those that a constant one does not read as zeros."""
    prm = prm.copy()
    prm[constant, keep:] = 0.0
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
    if kind in (_TRN.mjTRN_JOINT.value, _TRN.mjTRN_JOINTINPARENT.value) or (kind == _TRN.mjTRN_SO3.value and other < 0):
        joint, first = int(m.jnt_type[one]), int(m.jnt_dofadr[one])
        felt = list(range(first, first + (6, 3, 1, 1)[joint]))
        if kind == _TRN.mjTRN_SO3.value:
            return ROTATION_OF_BALL, felt
        return (FREE, BALL, SCALAR, SCALAR)[joint] + int(joint < 2 and kind == _TRN.mjTRN_JOINTINPARENT.value), felt
    if kind == _TRN.mjTRN_TENDON.value:
        first = m.ten_J_rowadr[one]
        return TENDON, m.ten_J_colind[first : first + m.ten_J_rownnz[one]].tolist()
    if kind == _TRN.mjTRN_BODY.value:
        return BODY, list(range(m.nv))
    moved = chains.ancestors(int(m.site_bodyid[one]))
    if kind == _TRN.mjTRN_SITE.value and other < 0:
        return SITE, sorted(moved)
    reference = chains.ancestors(int(m.site_bodyid[other]))
    if kind == _TRN.mjTRN_SLIDERCRANK.value:
        return SLIDER_CRANK, sorted(moved | reference)
    # what moves both does not count
    return (ROTATION_OF_SITE if kind == _TRN.mjTRN_SO3.value else SITE_REFERENCE), sorted(moved ^ reference)


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


def _period(m, k) -> float:
    """Period (rad times gear) of the setpoint of a servo on an angle without ends, 0 for others; as in MuJoCo."""
    one, other = m.actuator_trnid[k]
    fixed = m.actuator_gaintype[k] == GAIN_FIXED and m.actuator_biastype[k] == BIAS_AFFINE
    servo = fixed and m.actuator_gainprm[k, 0] == -m.actuator_biasprm[k, 1]
    servo = servo and m.actuator_dyntype[k] in (DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT)
    if not servo and m.actuator_gaintype[k] != GAIN_PID:
        return 0.0
    gear = m.actuator_gear[m.actuator_outadr[k]]
    kind = m.actuator_trntype[k]
    if kind == _TRN.mjTRN_SITE.value and other >= 0 and not gear[:3].any():
        return 2.0 * np.pi * float(np.linalg.norm(gear[3:]))
    joint = kind in (_TRN.mjTRN_JOINT.value, _TRN.mjTRN_JOINTINPARENT.value)
    if joint and m.jnt_type[one] == mujoco.mjtJoint.mjJNT_BALL.value:
        return 2.0 * np.pi * float(np.linalg.norm(gear[:3]))
    return 0.0
