"""Constants that MuJoCo derives from a model at its reference positions, as smooth functions of the model's fields.

MuJoCo's `mj_setConst` computes them in its own memory, in real numbers. Here they are formulas in NumPy, whose fields
may have leading axes and complex values, for derivatives by complex steps.
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.actuator_enums import BIAS_MUSCLE, GAIN_MUSCLE, TRN_JOINT, TRN_JOINTINPARENT, TRN_TENDON
from saltus.model.compile.tendons import parameters, path_elements
from saltus.model.compile.tree import dof_parameters, inertia_matrices, rotation_matrices
from saltus.model.enums import (
    BALL,
    CONNECT,
    FREE,
    HINGE,
    SLIDE,
    WELD,
    WRAP_CYLINDER,
    WRAP_JOINT,
    WRAP_SITE,
    WRAP_SPHERE,
)
from saltus.number.functions import MINVAL

_POINTS = 2  # MuJoCo's `body_simple` of bodies that only slide, along their own axes
# of a weld, in eq_data: the relative quaternion, and whether it follows from the reference positions
_QUATERNION, _FOLLOWS = slice(6, 10), 11


class Reference(NamedTuple):
    """A model at its reference positions, in world axes: frames of bodies, and motions of degrees of freedom.

    The point p of a body moves with turn x p + shift for a unit velocity of a degree of freedom that moves the body.
    """

    xpos: np.ndarray  # [..., nbody, 3] m
    xquat: np.ndarray  # [..., nbody, 4]
    xmat: np.ndarray  # [..., nbody, 3, 3]
    xipos: np.ndarray  # [..., nbody, 3] m, centres of mass
    turn: np.ndarray  # [..., nv, 3]
    shift: np.ndarray  # [..., nv, 3]
    moves: np.ndarray  # [nbody, nv] whether a degree of freedom moves a body


def reference_constants(m: Any) -> dict[str, np.ndarray]:
    """Constants that `mj_setConst` derives and steps read, by name, with the leading axes of the fields of `m`.

    `m`: MuJoCo's model, or one with leading axes (`saltus.model.vary.stack.Stack`). Derivatives that no formula here
    gives are NaN: by geometry, of tendons that wrap; of muscles that act on anything but hinges, slides and tendons.
    """
    at = reference(m)
    lengths, jacobian = _tendons(m, at)
    inverse = _inverse_inertia(m, at, jacobian)
    return {
        "body_subtreemass": _subtree_masses(m),
        "body_invweight0": _body_weights(m, at, inverse),
        "dof_invweight0": _dof_weights(m, inverse),
        "tendon_length0": lengths,
        "tendon_invweight0": _squares(jacobian, inverse),
        "actuator_acc0": _accelerations(m, inverse, jacobian),
        "eq_data": _equality_data(m, at),
    }


def reference(m: Any) -> Reference:
    """Frames and motions at qpos0, where hinges and slides are undisplaced (Featherstone 2008, section 4.4)."""
    before = np.broadcast_shapes(
        *(x.shape[:-2] for x in (m.body_pos, m.body_quat, m.body_ipos, m.jnt_pos, m.jnt_axis) if x.size)
    )
    kind = np.result_type(m.body_pos, m.body_quat, m.body_ipos, m.jnt_pos, m.jnt_axis)
    xpos, xquat = np.zeros((*before, m.nbody, 3), kind), np.zeros((*before, m.nbody, 4), kind)
    turn, shift = (np.zeros((*before, m.nv, 3), kind) for _ in range(2))
    moves = np.zeros((m.nbody, m.nv), bool)
    xquat[..., 0, 0] = 1.0
    for b in range(1, m.nbody):
        parent = int(m.body_parentid[b])
        pos = xpos[..., parent, :] + _turned(xquat[..., parent, :], m.body_pos[..., b, :])
        quat = _product(xquat[..., parent, :], m.body_quat[..., b, :])
        moves[b] = moves[parent]
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            pos, quat = _move(m, j, pos, quat, turn, shift)
            moves[b, m.jnt_dofadr[j] : m.jnt_dofadr[j] + _DOFS[int(m.jnt_type[j])]] = True
        xpos[..., b, :], xquat[..., b, :] = pos, quat
    xmat = _square(rotation_matrices(xquat))
    return Reference(xpos, xquat, xmat, xpos + _times(xmat, m.body_ipos), turn, shift, moves)


_DOFS = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}


def _move(m, j, pos, quat, turn, shift) -> tuple[np.ndarray, np.ndarray]:
    """The pose after joint j at its reference position; writes the motions of its degrees of freedom."""
    kind, i, q = int(m.jnt_type[j]), int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
    if kind == FREE:
        pos, quat = m.qpos0[q : q + 3] + 0.0 * pos, m.qpos0[q + 3 : q + 7] + 0.0 * quat
        shift[..., i : i + 3, :] = np.eye(3)
        i, anchor = i + 3, pos
    else:
        anchor = pos + _turned(quat, m.jnt_pos[..., j, :])
    axis = _turned(quat, m.jnt_axis[..., j, :])
    if kind == BALL:
        quat = _product(quat, m.qpos0[q : q + 4])
        pos = anchor - _turned(quat, m.jnt_pos[..., j, :])
    if kind == SLIDE:
        shift[..., i, :] = axis
    else:
        axes = axis[..., None, :] if kind == HINGE else np.swapaxes(_square(rotation_matrices(quat)), -1, -2)
        turn[..., i : i + axes.shape[-2], :] = axes
        shift[..., i : i + axes.shape[-2], :] = -np.cross(axes, anchor[..., None, :])
    return pos, quat


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of quaternions [..., 4]."""
    w1, v1, w2, v2 = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    vector = w1 * v2 + w2 * v1 + np.cross(v1, v2)
    scalar = w1 * w2 - (v1 * v2).sum(axis=-1, keepdims=True)
    return np.concatenate([scalar, vector], axis=-1)


def _turned(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vectors [..., 3] rotated by quaternions [..., 4]."""
    return _times(_square(rotation_matrices(quat)), vector)


def _square(mats: np.ndarray) -> np.ndarray:
    """Matrices [..., 3, 3] of their numbers row by row [..., 9]."""
    return mats.reshape(*mats.shape[:-1], 3, 3)


def _times(mat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Products of matrices [..., 3, 3] and vectors [..., 3]."""
    return (mat @ vector[..., None])[..., 0]


def _jacobian(at: Reference, body: int, point: np.ndarray) -> np.ndarray:
    """Translation [..., 3, nv] of a body's point [..., 3] (m, world axes) by the degrees of freedom."""
    rows = (np.cross(at.turn, point[..., None, :]) + at.shift) * at.moves[body][:, None]
    return np.swapaxes(rows, -1, -2)


def _rotation(at: Reference, body: int) -> np.ndarray:
    """Rotation [..., 3, nv] of a body by the degrees of freedom."""
    return np.swapaxes(at.turn * at.moves[body][:, None], -1, -2)


# ------------------------------------------------------------ inertia


def _inverse_inertia(m: Any, at: Reference, tendons: np.ndarray) -> np.ndarray:
    """The inverse [..., nv, nv] of the joint-space inertia: of bodies, and the armature of joints and tendons."""
    inertia = dof_parameters(m)[0][..., None] * np.eye(m.nv)
    bodies = inertia_matrices(m, m.body_iquat)
    for b in range(1, m.nbody):
        if at.moves[b].any():
            along, about = _jacobian(at, b, at.xipos[..., b, :]), _rotation(at, b)
            about = np.swapaxes(at.xmat[..., b, :, :], -1, -2) @ about  # in the body's axes
            inertia = inertia + m.body_mass[..., b, None, None] * (np.swapaxes(along, -1, -2) @ along)
            inertia = inertia + np.swapaxes(about, -1, -2) @ bodies[..., b, :, :] @ about
    armature = parameters(m)["tendon_armature"]
    for t in np.flatnonzero((armature != 0).any(axis=tuple(range(armature.ndim - 1)))):
        row = tendons[..., t, :]
        inertia = inertia + armature[..., t, None, None] * row[..., :, None] * row[..., None, :]
    return np.linalg.inv(inertia)


def _squares(rows: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Inverse inertias J M⁻¹ Jᵀ [..., n] of rows J [..., n, nv]."""
    return ((rows @ inverse) * rows).sum(axis=-1)


def _subtree_masses(m: Any) -> np.ndarray:
    masses = m.body_mass.copy()
    for b in range(m.nbody - 1, 0, -1):
        masses[..., m.body_parentid[b]] += masses[..., b]
    return masses


def _body_weights(m: Any, at: Reference, inverse: np.ndarray) -> np.ndarray:
    """Mean inverse inertias of translation and rotation of bodies at their centres of mass [..., nbody, 2]."""
    found = []
    for b in range(m.nbody):
        if m.body_weldid[b] == 0:
            pair = [np.zeros(inverse.shape[:-2])] * 2
        elif m.body_simple[b] == _POINTS:
            pair = [1.0 / np.maximum(MINVAL, m.body_mass[..., b]), np.zeros(inverse.shape[:-2])]
        else:
            rows = _jacobian(at, b, at.xipos[..., b, :]), _rotation(at, b)
            pair = [_squares(x, inverse).sum(axis=-1) / 3.0 for x in rows]
        found.append(np.stack(np.broadcast_arrays(*pair), axis=-1))
    return np.stack(np.broadcast_arrays(*found), axis=-2)


def _dof_weights(m: Any, inverse: np.ndarray) -> np.ndarray:
    """Inverse inertias of degrees of freedom [..., nv], means over the rotations and the translations of a joint."""
    out = np.diagonal(inverse, axis1=-2, axis2=-1).copy()
    for j in range(m.njnt):
        first, kind = int(m.jnt_dofadr[j]), int(m.jnt_type[j])
        if m.body_simple[m.jnt_bodyid[j]] == _POINTS:
            out[..., first] = 1.0 / np.maximum(MINVAL, m.body_mass[..., m.jnt_bodyid[j]])
        elif kind in (FREE, BALL):
            for k in range(first, first + _DOFS[kind], 3):
                out[..., k : k + 3] = out[..., k : k + 3].mean(axis=-1, keepdims=True)
    return out


# ------------------------------------------------------------ tendons and actuators


def _tendons(m: Any, at: Reference) -> tuple[np.ndarray, np.ndarray]:
    """Lengths [..., ntendon] (m, rad) and Jacobians [..., ntendon, nv] of tendons."""
    pairs = [_tendon(m, at, t) for t in range(m.ntendon)]
    if not pairs:
        return np.zeros(0), np.zeros((0, m.nv))
    lengths, rows = zip(*pairs, strict=True)
    return np.stack(np.broadcast_arrays(*lengths), axis=-1), np.stack(np.broadcast_arrays(*rows), axis=-2)


def _tendon(m: Any, at: Reference, t: int) -> tuple[np.ndarray, np.ndarray]:
    """Length and Jacobian of tendon t."""
    length, row = np.zeros(()), np.zeros(m.nv)
    for kind, first, second, *_, factor in path_elements(m, t):
        if kind == WRAP_JOINT:
            length = length + factor * m.qpos0[m.jnt_qposadr[first]]
            row = row + factor * (np.arange(m.nv) == m.jnt_dofadr[first])
        elif kind == WRAP_SITE:
            (start, of_start), (end, of_end) = (_site(m, at, s) for s in (first, second))
            span = end - start
            part = np.sqrt((span * span).sum(axis=-1))
            direction = span / np.where(np.real(part) > MINVAL, part, 1.0)[..., None]
            length = length + factor * part
            row = row + factor * (direction[..., None, :] @ (of_end - of_start))[..., 0, :]
        else:
            return _wrapped(m, at, t)
    return length, row


def _site(m: Any, at: Reference, s: int) -> tuple[np.ndarray, np.ndarray]:
    """Position of a site (m, world axes), and its Jacobian."""
    b = int(m.site_bodyid[s])
    pos = at.xpos[..., b, :] + _times(at.xmat[..., b, :, :], m.site_pos[..., s, :])
    return pos, _jacobian(at, b, pos)


def _wrapped(m: Any, at: Reference, t: int) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's own length and Jacobian of a tendon that wraps, without derivatives by its geometry: NaN."""
    plain = m.plain if hasattr(m, "plain") else m
    data = mujoco.MjData(plain)
    data.qpos[:] = plain.qpos0
    mujoco.mj_kinematics(plain, data)
    mujoco.mj_comPos(plain, data)
    mujoco.mj_tendon(plain, data)
    first, row = int(m.ten_J_rowadr[t]), np.zeros(m.nv)
    entries = slice(first, first + int(m.ten_J_rownnz[t]))
    row[m.ten_J_colind[entries]] = data.ten_J[entries]
    unknown = _moved(m, at, t)
    blank = 1j * np.where(unknown, np.nan, 0.0) if np.any(unknown) else np.zeros(np.shape(unknown))
    return data.ten_length[t] + blank, row + blank[..., None]


def _moved(m: Any, at: Reference, t: int) -> np.ndarray:
    """Whether anything on which the path of tendon t depends has an imaginary part [...]."""
    path = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
    sites = [int(m.wrap_objid[w]) for w in path if m.wrap_type[w] == WRAP_SITE]
    geoms = [int(m.wrap_objid[w]) for w in path if m.wrap_type[w] in (WRAP_SPHERE, WRAP_CYLINDER)]
    bodies = [*m.site_bodyid[sites], *m.geom_bodyid[geoms]]
    dofs = np.flatnonzero(at.moves[bodies].any(axis=0))
    parts = [at.xpos[..., bodies, :], at.xquat[..., bodies, :], at.turn[..., dofs, :], at.shift[..., dofs, :]]
    parts += [m.site_pos[..., sites, :], *(getattr(m, f"geom_{x}")[..., geoms, :] for x in ("pos", "quat", "size"))]
    found = np.zeros((), bool)
    for part in parts:
        found = found | (np.imag(part) != 0).any(axis=(-1, -2))
    return found


def _accelerations(m: Any, inverse: np.ndarray, tendons: np.ndarray) -> np.ndarray:
    """Accelerations of a unit force [..., nout] of muscles, |M⁻¹ moment|; of others, which are not read, MuJoCo's."""
    before = np.broadcast_shapes(*(x.shape[:-2] for x in (inverse, m.actuator_gear, tendons)))
    out = np.zeros((*before, m.nout), np.result_type(inverse, m.actuator_gear, tendons)) + m.actuator_acc0
    for k in np.flatnonzero((m.actuator_gaintype == GAIN_MUSCLE) | (m.actuator_biastype == BIAS_MUSCLE)):
        o, kind, target = int(m.actuator_outadr[k]), m.actuator_trntype[k], int(m.actuator_trnid[k, 0])
        if kind == TRN_TENDON:
            row = tendons[..., target, :]
        elif kind in (TRN_JOINT, TRN_JOINTINPARENT) and m.jnt_type[target] in (HINGE, SLIDE):
            row = 1.0 * (np.arange(m.nv) == m.jnt_dofadr[target])
        else:
            out[..., o] += np.where(np.imag(inverse).any(axis=(-1, -2)), 1j * np.nan, 0.0) if before else 0.0
            continue
        acceleration = _times(inverse, m.actuator_gear[..., o, :1] * row)
        out[..., o] = np.sqrt((acceleration * acceleration).sum(axis=-1))
    return out


# ------------------------------------------------------------ equalities


def _equality_data(m: Any, at: Reference) -> np.ndarray:
    """Data of equalities [..., neq, 12]: the anchor of a connect on its second body, relative poses of welds."""
    before = np.broadcast_shapes(m.eq_data.shape[:-2], at.xpos.shape[:-2])
    out = np.zeros((*before, *m.eq_data.shape[-2:]), np.result_type(m.eq_data, at.xpos)) + m.eq_data
    for i in range(m.neq):
        if m.eq_objtype[i] != mujoco.mjtObj.mjOBJ_BODY.value:
            continue
        first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        if m.eq_type[i] == CONNECT:
            anchor = at.xpos[..., first, :] + _times(at.xmat[..., first, :, :], m.eq_data[..., i, :3])
            turned = np.swapaxes(at.xmat[..., second, :, :], -1, -2)
            out[..., i, 3:6] = _times(turned, anchor - at.xpos[..., second, :])
        elif m.eq_type[i] == WELD and np.real(out[..., i, _FOLLOWS]).any():
            anchor = at.xpos[..., second, :] + _times(at.xmat[..., second, :, :], m.eq_data[..., i, :3])
            turned = np.swapaxes(at.xmat[..., first, :, :], -1, -2)
            out[..., i, 3:6] = _times(turned, anchor - at.xpos[..., first, :])
            back = at.xquat[..., first, :] * np.array([1.0, -1.0, -1.0, -1.0])
            out[..., i, _QUATERNION] = _product(back, at.xquat[..., second, :])
    return out
