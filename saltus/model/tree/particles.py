"""Particles: bodies with three orthogonal slides relative to a fixed body, and without children.

Deformable bodies have many of them. A particle does not rotate, and its rows of the inertia matrix are diagonal, so
loops over the tree can skip it.
"""

import mujoco
import numpy as np

from saltus.model.enums import SLIDE

ORTHOGONAL = 1e-12  # largest cosine of angles between axes


def particles(m: mujoco.MjModel) -> np.ndarray:
    """Numbers of the bodies that are particles, ascending."""
    if not m.nflex:
        return np.zeros(0, int)
    joints = np.minimum(m.body_jntadr[:, None] + np.arange(3), max(m.njnt - 1, 0))
    slides = (
        (m.body_jntnum == 3) & (m.jnt_type[joints] == SLIDE).all(axis=1) & (m.jnt_pos[joints] == 0).all(axis=(1, 2))
    )
    axes = m.jnt_axis[joints]
    cosines = np.abs(axes @ axes.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    bare = ~np.isin(np.arange(m.nbody), m.body_parentid[1:])
    return np.flatnonzero(slides & (cosines < ORTHOGONAL) & bare & _on_what_stands_still(m))


def _on_what_stands_still(m) -> np.ndarray:
    """For each body, whether its parent is fixed: moved neither by joints nor from outside."""
    moved = m.body_weldid > 0
    for b in range(1, m.nbody):
        moved[b] |= m.body_mocapid[b] >= 0 or moved[m.body_parentid[b]]
    still = ~moved[m.body_parentid]
    still[0] = False
    return still


def uncoupled(m: mujoco.MjModel, parents: np.ndarray) -> np.ndarray:
    """For each degree of freedom the last earlier one that M couples it with, if `parents` are those in the tree."""
    out = np.array(parents)
    for b in particles(m):
        first = int(m.body_dofadr[b])
        own = range(first, first + 3)
        out[list(own)] = [p if p not in own else -1 for p in out[list(own)]]
    return out
