"""Gradients with respect to coordinates, of which quaternions have four for three degrees of freedom.

A small rotation ω along the axes of qvel changes a quaternion by ½ q ∘ (0, ω) (Solà, Quaternion kinematics for the
error-state Kalman filter (2017), section 4.4). Its matrix ½ R(q) [4, 3] has columns of length ½ at right angles, so
that the gradient along the sphere is 2 R(q) times the gradient by ω; no part of it points off the sphere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.enums import BALL, FREE
from saltus.model.model import Model

Array = NDArray[np.float64]


class Coordinates:
    """Places of a model's coordinates: quaternions, and the others, each of which has its own degree of freedom."""

    def __init__(self, model: Model):
        m = model.mj_model
        self.nq, self.nv = m.nq, m.nv
        self._names = model.qpos_names()
        plain: list[tuple[int, int]] = []
        turning: list[tuple[int, int]] = []
        for a, i, kind in zip(m.jnt_qposadr.tolist(), m.jnt_dofadr.tolist(), m.jnt_type.tolist(), strict=True):
            shift = 3 if kind == FREE else 0
            if kind in (FREE, BALL):
                plain += [(a + k, i + k) for k in range(shift)]
                turning.append((a + shift, i + shift))
            else:
                plain.append((a, i))
        self._plain_q, self._plain_v = (np.array([pair[k] for pair in plain], int) for k in (0, 1))
        self._quaternions = np.array([a for a, _ in turning], int)[:, None] + np.arange(4)
        self._rotations = np.array([i for _, i in turning], int)[:, None] + np.arange(3)

    def normalised(self, qpos: Array) -> Array:
        """Copy of qpos [..., nq] with quaternions of length 1; OptionError for those of length 0."""
        out = np.array(qpos, float)
        quaternions = out[..., self._quaternions]
        lengths = np.linalg.norm(quaternions, axis=-1, keepdims=True)
        if (lengths == 0.0).any():
            place = int(np.argwhere(lengths[..., 0] == 0.0)[0, -1])
            name = self._names[self._quaternions[place, 0]].removesuffix(".qw")
            raise OptionError(f"qpos: the quaternion of joint {name} is zero; it must have a length")
        out[..., self._quaternions] = quaternions / lengths
        return out

    def changes(self, qpos: Array, changes: Array) -> Array:
        """Changes of coordinates [nq, K] from those along the axes of qvel [nv, K], at positions of one state."""
        out = np.zeros((self.nq, changes.shape[1]))
        out[self._plain_q] = changes[self._plain_v]
        out[self._quaternions] = 0.5 * _rates(qpos[self._quaternions]) @ changes[self._rotations]
        return out

    def dof_of(self, a: int) -> int | None:
        """The degree of freedom that coordinate a is; None for those of quaternions."""
        found = self._plain_v[self._plain_q == a]
        return int(found[0]) if len(found) else None

    def rates(self, qpos: Array, a: int) -> Array:
        """Rates [..., nv] of coordinate a, of a quaternion, by those along the axes of qvel, at positions [..., nq]."""
        k, i = (int(place) for place in np.argwhere(self._quaternions == a)[0])
        out = np.zeros((*qpos.shape[:-1], self.nv))
        out[..., self._rotations[k]] = 0.5 * _rates(qpos[..., self._quaternions[k]])[..., i, :]
        return out

    def to_tangent(self, qpos: Array, gradient: Array) -> Array:
        """Gradient along the axes of qvel [..., nv] from that with respect to coordinates [..., nq]."""
        out = np.zeros((*gradient.shape[:-1], self.nv))
        out[..., self._plain_v] = gradient[..., self._plain_q]
        rates = _rates(qpos[..., self._quaternions])
        out[..., self._rotations] = 0.5 * np.einsum("...ij,...i->...j", rates, gradient[..., self._quaternions])
        return out

    def from_tangent(self, qpos: Array, gradient: Array) -> Array:
        """Gradient with respect to coordinates [..., nq] from that along the axes of qvel [..., nv].

        The function of qpos is meant with its quaternions normalised: its gradient has no part off the sphere, and is
        that on the sphere divided by the quaternion's length.
        """
        out = np.zeros((*gradient.shape[:-1], self.nq))
        out[..., self._plain_q] = gradient[..., self._plain_v]
        quaternions = qpos[..., self._quaternions]
        lengths = np.linalg.norm(quaternions, axis=-1, keepdims=True)
        along = np.einsum("...ij,...j->...i", _rates(quaternions / lengths), gradient[..., self._rotations])
        out[..., self._quaternions] = 2.0 * along / lengths
        return out


def _rates(quaternions: Array) -> Array:
    """The matrices R(q) [..., 4, 3] with q ∘ (0, ω) = R(q) ω."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = [np.stack(row, axis=-1) for row in ((-x, -y, -z), (w, -z, y), (z, w, -x), (-y, x, w))]
    return np.stack(rows, axis=-2)
