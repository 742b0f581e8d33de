"""The mechanisms of the hybrid benchmark, in NumPy: a planar tree of hinges with spheres that touch the floor."""

from __future__ import annotations

from typing import Any

import numpy as np

from saltus.bench.hybrid_scipy import Array, Parts


class PlanarTree:
    """A base that slides along x and z, and hinges about y in a tree: qpos = (x, z, angles), SI units.

    A place in the plane is the complex number x + i z, and a turn by θ about y multiplies it by e^(-iθ); each point is
    x + i z of the base and a sum over bodies of their offsets, turned by their absolute angles, which `above` q gives.
    """

    def __init__(self, model: Any, friction: float, restitution: float) -> None:
        """Read masses, places, springs and dampers of a Saltus model; its spheres touch the floor z = 0."""
        m = model
        spheres = [g for g in range(m.ngeom) if m.geom_type[g] == 2 and m.geom_contype[g] and m.geom_bodyid[g]]
        bodies = range(1, m.nbody)
        self.above = np.zeros((m.nbody - 1, m.nv - 2))  # which hinges turn a body
        self.offset = np.zeros((m.nbody - 1 + len(spheres), m.nbody - 1), complex)  # of each point, in each body
        reach = np.zeros((m.nbody, m.nbody - 1), complex)  # of the body's origin
        for b in bodies:
            parent = m.body_parentid[b]
            if parent:
                self.above[b - 1] = self.above[parent - 1]
                reach[b] = reach[parent]
                reach[b, parent - 1] += _place(m.body_pos[b])
            dof = m.body_dofadr[b] + m.body_dofnum[b] - 1
            self.above[b - 1, dof - 2] = 1.0
            self.offset[b - 1] = reach[b]
            self.offset[b - 1, b - 1] += _place(m.body_ipos[b])
        for k, g in enumerate(spheres):
            b = m.geom_bodyid[g]
            self.offset[m.nbody - 1 + k] = reach[b]
            self.offset[m.nbody - 1 + k, b - 1] += _place(m.geom_pos[g])
        self.base = _place(m.body_pos[1])
        self.mass = np.array(m.body_mass[1:])
        self.inertia = np.array([_about_y(m.body_iquat[b]) @ np.array(m.body_inertia[b]) for b in bodies])
        self.radius = np.array([m.geom_size[g][0] for g in spheres])
        self.turning = -self.radius[:, None] * np.array([self.above[m.geom_bodyid[g] - 1] for g in spheres])
        self.gravity = -float(m.opt.gravity[2])
        self.stiffness, self.rest = np.array(m.jnt_stiffness), np.array(m.qpos_spring)
        self.damping = np.array(m.dof_damping)
        self.armature = np.diag(np.array(m.dof_armature)) + np.pad(self._turning_inertia(), ((2, 0), (2, 0)))
        self.friction = np.full(len(spheres), friction)
        self.restitution = np.full(len(spheres), restitution)

    def _turning_inertia(self) -> Array:
        return self.above.T @ (self.inertia[:, None] * self.above)

    def parts(self, q: Array, v: Array) -> Parts:
        """The terms of the equations of motion, from the points' velocities J v and accelerations J v̇ + bias."""
        bodies = len(self.mass)
        rate = self.above @ v[2:]
        turned = self.offset * np.exp(-1j * (self.above @ q[2:]))
        bias = turned @ -(rate * rate)
        J = np.empty((len(turned), len(q)), complex)
        J[:, 0], J[:, 1], J[:, 2:] = 1.0, 1j, (-1j * turned) @ self.above
        centre, touch = J[:bodies], J[bodies:]
        heavy = self.mass[:, None] * centre.conj()
        M = (heavy.T @ centre).real + self.armature
        force = -(heavy.T @ (bias[:bodies] + 1j * self.gravity)).real
        force -= self.damping * v + self.stiffness * (q - self.rest)
        gap = (self.base + complex(q[0], q[1]) + turned[bodies:].sum(axis=1)).imag - self.radius
        tangent = touch.real.copy()
        tangent[:, 2:] += self.turning  # the lowest point of a sphere, not its centre
        return Parts(M, force, gap, touch.imag, tangent, bias[bodies:].imag, bias[bodies:].real)


def _place(vector: Any) -> complex:
    return complex(vector[0], vector[2])


def _about_y(quaternion: Any) -> Array:
    """Squares of the y components of the axes of a body's inertia: what each adds to that about y."""
    w, x, y, z = quaternion
    return np.array([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]) ** 2
