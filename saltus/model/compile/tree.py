"""Bodies, joints and degrees of freedom in the kernels' Model, and frames attached to bodies.

Real fields of `m` may have a leading axis of simulations, and so have quantities derived from them. They may be
complex, for derivatives by complex steps (see `saltus.model.vary.tangents`).
"""

from typing import Any

import mujoco
import numpy as np

from saltus.model.actuator_enums import TRN_JOINT, TRN_JOINTINPARENT
from saltus.model.compile.leading_axes import widened
from saltus.model.enums import FREE, JOINT_DOFS
from saltus.model.tree.body_inertia import PRODUCTS
from saltus.model.tree.particles import particles
from saltus.number.functions import MINVAL

FLAGS = mujoco.mjtDisableBit


def off(m: Any, flag: mujoco.mjtDisableBit) -> bool:
    """Whether a flag of the file disables something."""
    return bool(m.opt.disableflags & flag.value)


def bodies(m, poses) -> dict[str, Any]:
    """Numbering of bodies in the tree, gravity compensation, and flags of bodies and geoms."""
    previous = np.arange(m.nbody) - 1
    inertia = _body_inertia(m, poses["body_iquat"])
    forceless = off(m, FLAGS.mjDSBL_SPRING) and off(m, FLAGS.mjDSBL_DAMPER)
    alone = particles(m)
    return {
        "tree_body": np.setdiff1d(np.arange(m.nbody), alone),
        "particle_body": alone,
        "body_lastdof": _last_dofs(m),
        "body_treeend": [int(np.flatnonzero(m.body_rootid == m.body_rootid[b])[-1]) + 1 for b in range(m.nbody)],
        "body_chained": (previous == m.body_parentid) & (m.body_parentid > 0),
        "body_branches": np.isin(np.arange(m.nbody), m.body_parentid[1:][previous[1:] != m.body_parentid[1:]]),
        "body_turned": (m.body_quat != [1, 0, 0, 0]).any(axis=1),
        "body_diagonal": (inertia[:, 3:] == 0).all(axis=1),
        "body_gravcomp": m.body_gravcomp * (not forceless),
        "geom_turned": (poses["geom_quat"] != [1, 0, 0, 0]).any(axis=1),
    }


def tree_values(m: Any, poses: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inertia of bodies, attached frames, springs and dampers of joints: values that may vary in batches."""
    spring, damper = not off(m, FLAGS.mjDSBL_SPRING), not off(m, FLAGS.mjDSBL_DAMPER)
    armature, damping, poly = dof_parameters(m)
    massive = m.body_subtreemass > MINVAL
    return {
        **poses,
        "body_inertia6": _body_inertia(m, poses["body_iquat"]),
        "body_inv_subtreemass": np.where(massive, 1.0 / np.where(massive, m.body_subtreemass, 1.0), 0.0),
        "geom_mat": rotation_matrices(poses["geom_quat"]),
        "site_mat": rotation_matrices(poses["site_quat"]),
        "jnt_stiffness": m.jnt_stiffness * spring,
        "jnt_stiffnesspoly": m.jnt_stiffnesspoly * spring,
        "dof_armature": armature,
        "dof_damping": damping * damper,
        "dof_dampingpoly": poly * damper,
    }


def joints(m) -> dict[str, Any]:
    """Whether joints have springs, and anchors away from the bodies' origins."""
    spring = not off(m, FLAGS.mjDSBL_SPRING)
    return {
        "jnt_spring": spring * ((m.jnt_stiffness != 0) | (m.jnt_stiffnesspoly != 0).any(axis=1)),
        "jnt_offset": (m.jnt_pos != 0).any(axis=1),
    }


def dofs(m) -> dict[str, Any]:
    """Flags of degrees of freedom: of free bodies, diagonal in M, first of a set that rotates together."""
    return {
        "dof_freebody": _free_body_dofs(m),
        "dof_simple": m.dof_simplenum > 0,
        "dof_leads": _leading_dofs(m),
    }


def _last_dofs(m):
    last = np.full(m.nbody, -1)
    for b in range(1, m.nbody):
        own = m.body_dofadr[b] + m.body_dofnum[b] - 1
        last[b] = own if m.body_dofnum[b] else last[m.body_parentid[b]]
    return last


def attached_poses(m):
    """Poses of inertial frames, geoms and sites in their bodies.

    Frames that coincide to 1e-6 count as equal, as in MuJoCo: its compiler marks them, its kinematics copies the other.
    """
    inertial = _same_frames(m.body_ipos, m.body_iquat, m.body_sameframe, np.zeros((m.nbody, 3)), np.zeros((m.nbody, 4)))
    poses = {"body_ipos": inertial[0], "body_iquat": inertial[1]}
    for kind in ("geom", "site"):
        pos, quat, same, body = (getattr(m, f"{kind}_{f}") for f in ("pos", "quat", "sameframe", "bodyid"))
        pose = _same_frames(pos, quat, same, inertial[0][..., body, :], inertial[1][..., body, :])
        poses |= {f"{kind}_pos": pose[0], f"{kind}_quat": pose[1]}
    return poses


def _same_frames(pos, quat, same, inertial_pos, inertial_quat):
    """Positions and orientations, with frames marked as the body's or the inertial frame replaced by these."""
    marks = mujoco.mjtSameFrame
    body, inertia = same == marks.mjSAMEFRAME_BODY, same == marks.mjSAMEFRAME_INERTIA
    body_turn, inertia_turn = same == marks.mjSAMEFRAME_BODYROT, same == marks.mjSAMEFRAME_INERTIAROT
    pos = np.where(body[..., None], 0.0, np.where(inertia[..., None], inertial_pos, pos))
    quat = np.where((body | body_turn)[..., None], [1.0, 0.0, 0.0, 0.0], quat)
    return pos, np.where((inertia | inertia_turn)[..., None], inertial_quat, quat)


def rotation_matrices(quats: np.ndarray) -> np.ndarray:
    """Rotation matrices [..., 9], row by row, of quaternions [..., 4], which may be complex."""
    if np.iscomplexobj(quats):
        w, x, y, z = np.moveaxis(quats, -1, 0)
        rows = (
            *(w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
            *(2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
            *(2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
        )
        return np.stack(rows, axis=-1)
    out = np.zeros((*quats.shape[:-1], 9))
    for row, quat in zip(out.reshape(-1, 9), quats.reshape(-1, 4), strict=True):
        mujoco.mju_quat2Mat(row, quat)
    return out


def _body_inertia(m, quats):
    """Inertia about each centre of mass in body axes, xx yy zz xy xz yz [..., nbody, 6], for principal axes `quats`."""
    return inertia_matrices(m, quats)[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def inertia_matrices(m, quats):
    """Inertia about each centre of mass in body axes [..., nbody, 3, 3] (kg m²), for principal axes `quats`."""
    r = rotation_matrices(quats).reshape(*quats.shape[:-1], 3, 3)
    full = (r * m.body_inertia[..., None, :]) @ np.swapaxes(r, -1, -2)
    products = getattr(m, PRODUCTS, None)
    if products is not None:
        for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
            one = r[..., :, i, None] * r[..., None, :, j]
            full = full + products[..., k, None, None] * (one + np.swapaxes(one, -1, -2))
    return full


def _free_body_dofs(m):
    """1 for the degrees of freedom of free bodies without children."""
    flag = np.zeros(m.nv, int)
    for b in range(1, m.nbody):
        alone = m.body_jntnum[b] == 1 and m.jnt_type[m.body_jntadr[b]] == FREE
        first = m.body_dofadr[b]
        if alone and m.body_subtreemass[b] == m.body_mass[b] and (m.dof_treeid == m.dof_treeid[first]).sum() == 6:
            flag[first : first + 6] = 1
    return flag


def _leading_dofs(m):
    """1 for the first of each set of degrees of freedom with common rotation: a hinge, a slide, three rotations."""
    leads = np.zeros(m.nv, int)
    for j in range(m.njnt):
        leads[m.jnt_dofadr[j]] = 1
        if m.jnt_type[j] == FREE:
            leads[m.jnt_dofadr[j] + 3] = 1
    return leads


def dof_parameters(m: Any) -> list[np.ndarray]:
    """Armature, damping and damping polynomial of each dof, including actuators' through their gear."""
    square = m.actuator_gear[..., m.actuator_outadr, 0] ** 2
    added = m.actuator_armature * square, m.actuator_damping * square, m.actuator_dampingpoly * square[..., None]
    own = m.dof_armature, m.dof_damping, m.dof_dampingpoly
    out = [widened(x, axes, y, axes) for x, y, axes in zip(own, added, (1, 1, 2), strict=True)]
    for k in range(m.nactuator):
        if m.actuator_trntype[k] in (TRN_JOINT, TRN_JOINTINPARENT):
            j = m.actuator_trnid[k, 0]
            first = m.jnt_dofadr[j]
            for i in range(first, first + JOINT_DOFS[m.jnt_type[j]]):
                out[0][..., i] += added[0][..., k]
                out[1][..., i] += added[1][..., k]
                out[2][..., i, :] += added[2][..., k, :]
    return out
