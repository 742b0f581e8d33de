"""Singular inertia matrices: motions of the joints that move no mass, so that forces determine no acceleration.

Two hinges on one axis are an example, or a joint whose bodies have no mass. A position can be singular, too, as where
the first and the third of three hinges of one body come to lie on one axis. A part of M is regular at all positions if
its joints have armature, or each a body with mass of its own, which most models have.
"""

import os
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import ModelError, warn
from saltus.model.enums import BALL, FREE, HINGE, SLIDE
from saltus.model.tree.particles import particles

EPSILON = float(np.finfo(float).eps)
REGULAR = 1e-6  # least part of a dof's inertia at qpos0 that is surely regular; its square is above all tolerances
IN_MOTION = 1e-4  # least part of a dof in a motion without mass, far above errors of eigenvectors
POSES = 3  # random positions that are tried
ROUNDINGS = 30  # operations on a number of M on its way through poses, centres of mass and composite inertias


class Massless(NamedTuple):
    """A motion of some degrees of freedom together that moves no mass: their indices in qvel, ascending."""

    dofs: tuple[int, ...]


def may_be_singular(m: mujoco.MjModel) -> bool:
    """Whether the inertia matrix may be singular at some position; False only if it surely is at none."""
    return bool(_doubtful(m).any())


def massless_motions(
    m: mujoco.MjModel, qpos: NDArray[np.float64], free: NDArray[np.bool_] | None = None
) -> list[Massless]:
    """The motions that move no mass at positions qpos [nq]: null vectors of M to rounding, by the dofs in them.

    free [nv]: mask of dofs that forces move; None: all. The others, with prescribed motions, are left out of M.

    With H = D⁻¹ M D⁻¹ and D the roots of M's diagonal, Cholesky's method succeeds in floating-point arithmetic if H's
    least eigenvalue exceeds n γ, γ = (n + 1) eps (Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem
    10.7). M's own rounding errors are those of its terms, which may cancel, so that D is taken from their magnitudes.
    """
    trees = np.unique(m.dof_treeid[_doubtful(m)])
    if not len(trees):
        return []
    data = mujoco.MjData(m)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    mujoco.mj_tendon(m, data)
    mujoco.mj_makeM(m, data)
    found: list[Massless] = []
    for tree in trees:
        dofs = np.flatnonzero(m.dof_treeid == tree)
        kept = np.ones(len(dofs), bool) if free is None else free[dofs]
        block, magnitudes = _block(m, data, dofs), _magnitudes(m, data, dofs)
        found += _null_motions(block[np.ix_(kept, kept)], magnitudes[kept], dofs[kept])
    return found


def check_inertia(m: mujoco.MjModel, file: str | os.PathLike[str] | None = None) -> None:
    """Raise ModelError, with the joint's name, if M is singular at qpos0 and at random positions alike.

    A SaltusWarning if it is singular at qpos0 alone: simulations may start elsewhere.
    """
    if not may_be_singular(m):
        return
    at_start = massless_motions(m, m.qpos0)
    if not at_start:
        return
    random = np.random.default_rng(0)
    everywhere = at_start
    for _ in range(POSES):
        here = massless_motions(m, random_positions(m, random))
        if len(here) < len(everywhere):
            everywhere = here
    if everywhere:
        joint = int(m.dof_jntid[everywhere[0].dofs[0]])
        raise ModelError(
            f"{described(m, everywhere)}, so that the inertia matrix is singular: {REMEDY}",
            file=file,
            element="joint",
            name=joint_name(m, joint),
        )
    warn(
        f"the inertia matrix is singular at the reference position: {described(m, at_start)} there; start from other "
        "positions, or give the joints armature"
    )


REMEDY = "give a joint armature or its bodies mass, or remove a joint"


def described(m: mujoco.MjModel, motions: list[Massless]) -> str:
    """The motions without mass, in words, for errors: "joints 'a', 'b' can move together without moving any mass"."""
    names = [dict.fromkeys(repr(joint_name(m, int(m.dof_jntid[i]))) for i in motion.dofs) for motion in motions]
    first = ", ".join(names[0])
    how = f"joint {first} moves" if len(names[0]) == 1 else f"joints {first} together can move"
    more = "" if len(names) == 1 else f" (and {len(names) - 1} more motions like this)"
    return f"{how} without moving any mass{more}"


def joint_name(m: mujoco.MjModel, j: int) -> str:
    """Name of joint j, or "#j"."""
    return mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, j) or f"#{j}"


def random_positions(m: mujoco.MjModel, random: np.random.Generator) -> NDArray[np.float64]:
    """Positions [nq] within the joints' ranges; without ranges angles up to π, and offsets up to the model's extent."""
    qpos = m.qpos0.copy()
    for j in range(m.njnt):
        at, kind = int(m.jnt_qposadr[j]), int(m.jnt_type[j])
        if kind == FREE:
            qpos[at : at + 3] += m.stat.extent * random.uniform(-1, 1, 3)
        if kind in (FREE, BALL):
            turn = random.normal(size=4)
            at += 3 if kind == FREE else 0
            qpos[at : at + 4] = turn / np.linalg.norm(turn)
        elif m.jnt_limited[j]:
            qpos[at] = random.uniform(*m.jnt_range[j])
        else:
            qpos[at] += random.uniform(-1, 1) * (np.pi if kind == HINGE else m.stat.extent)
    return qpos


# ---------------------------------------------------------------- null vectors


def _block(m: mujoco.MjModel, data: mujoco.MjData, dofs: np.ndarray) -> np.ndarray:
    """M of some consecutive dofs that are a whole tree."""
    first = int(dofs[0])
    block = np.zeros((len(dofs), len(dofs)))
    for i in dofs:
        row = slice(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i])
        columns = m.M_colind[row] - first
        block[i - first, columns] = block[columns, i - first] = data.M[row]
    return block


def _magnitudes(m: mujoco.MjModel, data: mujoco.MjData, dofs: np.ndarray) -> np.ndarray:
    """Sums of the magnitudes of the terms of M's diagonal, |s|ᵀ |I| |s| + armature, with composite inertias I."""
    s, I = np.abs(data.cdof[dofs]), np.abs(data.crb[m.dof_bodyid[dofs]])  # noqa: E741
    turning = np.stack([I[:, [0, 3, 4]], I[:, [3, 1, 5]], I[:, [4, 5, 2]]], axis=1)
    spin, shift, moment, mass = s[:, :3], s[:, 3:], I[:, 6:9], I[:, 9]
    crossed = np.stack([spin[:, [1, 2, 0]] * shift[:, [2, 0, 1]], spin[:, [2, 0, 1]] * shift[:, [1, 2, 0]]]).sum(axis=0)
    rotational = np.einsum("ni,nij,nj->n", spin, turning, spin)
    return rotational + mass * (shift**2).sum(axis=1) + 2 * (moment * crossed).sum(axis=1) + m.dof_armature[dofs]


def _null_motions(M: np.ndarray, magnitudes: np.ndarray, dofs: np.ndarray) -> list[Massless]:
    """Groups of dofs that null vectors of M couple."""
    n = len(dofs)
    nothing = magnitudes == 0.0
    scale = 1.0 / np.sqrt(np.where(nothing, 1.0, magnitudes))
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    null = vectors[:, values <= n * (n + ROUNDINGS) * EPSILON]
    coupled = np.abs(null @ null.T) > IN_MOTION
    groups: list[Massless] = []
    left = {int(i) for i in np.flatnonzero(coupled.any(axis=1))}
    while left:
        group, new = set[int](), {min(left)}
        while new:
            group |= new
            new = {int(k) for i in new for k in np.flatnonzero(coupled[i])} - group
        left -= group
        groups.append(Massless(tuple(int(dofs[i]) for i in sorted(group))))
    return groups


# ---------------------------------------------------------------- what is surely regular


def _doubtful(m: mujoco.MjModel) -> NDArray[np.bool_]:
    """Mask of dofs [nv] whose part of M may be singular at some position.

    Eliminated from the tips to the base, a dof's pivot is the inertia that it moves if the dofs beyond follow freely:
    at least its armature, and at least the inertia of its own body that its body's later dofs leave.
    """
    least = np.maximum(REGULAR * m.dof_M0, 1e-200)
    doubtful = m.dof_armature < least
    light = np.setdiff1d(np.arange(m.nbody), [b for b in particles(m) if m.body_mass[b] > 0.0])
    doubtful &= np.isin(m.dof_bodyid, light)
    for b in np.unique(m.dof_bodyid[doubtful]):
        first, count = int(m.body_dofadr[b]), int(m.body_dofnum[b])
        own = np.flatnonzero(doubtful[first : first + count])
        if _rank_is_constant(m, int(b), own):
            pivots = _pivots(_own_inertia(m, int(b))[np.ix_(own, own)])
            doubtful[first + own] = pivots < least[first + own]
    return doubtful


def _rank_is_constant(m: mujoco.MjModel, b: int, own: np.ndarray) -> bool:
    """Whether these dofs of body b, relative to its parent, are as independent at qpos0 as at any position.

    So they are if not more than one joint with one axis, or with all of them, turns, and all others slide before it:
    slides keep their directions. Two joints keep their directions relative to each other.
    """
    joints = m.dof_jntid[m.body_dofadr[b] + own]
    kinds = m.jnt_type[np.unique(joints)]
    return len(kinds) <= 2 or bool((kinds[:-1] == SLIDE).all())


def _own_inertia(m: mujoco.MjModel, b: int) -> np.ndarray:
    """Part of M at qpos0 that the mass of body b has in its own dofs, [dofs, dofs], in its inertial axes."""
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, m.body_iquat[b])
    turns, shifts = [], []
    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
        kind = m.jnt_type[j]
        along = m.jnt_axis[j][None] if kind in (HINGE, SLIDE) else np.eye(3)
        if kind in (SLIDE, FREE):
            turns.append(np.zeros_like(along))
            shifts.append(along)
        if kind != SLIDE:
            centre = m.body_ipos[b] - (0.0 if kind == FREE else m.jnt_pos[j])
            turns.append(along)
            shifts.append(np.cross(along, centre))
    turn, shift = np.concatenate(turns) @ axes.reshape(3, 3), np.concatenate(shifts)
    return (turn * m.body_inertia[b]) @ turn.T + m.body_mass[b] * shift @ shift.T


def _pivots(A: np.ndarray) -> np.ndarray:
    """Pivots of a symmetric matrix whose rows and columns are eliminated from the last to the first."""
    A = A.copy()
    for i in range(len(A) - 1, 0, -1):
        if A[i, i] > 0.0:
            A[:i, :i] -= np.outer(A[:i, i], A[i, :i]) / A[i, i]
    return np.diag(A)
