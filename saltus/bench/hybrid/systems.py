"""The mechanisms of the hybrid benchmark: a ball, and a planar walker with spheres that touch the floor, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from saltus.bench.hybrid.with_scipy import Array, Parts

LEG = """
      <body name="{side}_thigh">
        <joint name="{side}_hip" springref="{hip}"/>
        <geom name="{side}_thigh" type="capsule" fromto="0 0 0 0 0 -0.42" size="0.045" mass="3"/>
        <body name="{side}_shank" pos="0 0 -0.42">
          <joint name="{side}_knee" springref="{knee}"/>
          <geom name="{side}_shank" type="capsule" fromto="0 0 0 0 0 -0.4" size="0.035" mass="1.8"/>
          <geom name="{side}_1" class="sole" pos="-0.08 0 -0.425"/>
          <geom name="{side}_2" class="sole" pos="-0.03 0 -0.435"/>
          <geom name="{side}_3" class="sole" pos="0.02 0 -0.438"/>
          <geom name="{side}_4" class="sole" pos="0.07 0 -0.435"/>
          <geom name="{side}_5" class="sole" pos="0.12 0 -0.425"/>
        </body>
      </body>"""

FRICTION = 0.4
# The walker falls on its soles at 0.9 m/s, slips, rolls over them, bounces from one foot to the other and stands, with
# one foot before the other; springs and dampers act in its joints.
WALKER = f"""<mujoco model="walker">
  <compiler angle="radian"/>
  <option timestep="0.001" gravity="0 0 -9.81"/>
  <default>
    <joint type="hinge" axis="0 1 0" stiffness="400" damping="8"/>
    <geom contype="0" conaffinity="0" rgba="0.55 0.6 0.65 1"/>
    <default class="free"><joint stiffness="0" damping="0"/></default>
    <default class="sole">
      <geom type="sphere" size="0.012" mass="0.02" contype="1" condim="3" friction="{FRICTION} 0 0"
            rgba="0.85 0.33 0.2 1"/>
    </default>
  </default>
  <worldbody>
    <light pos="0 -2 3"/>
    <geom name="floor" type="plane" size="4 1 0.1" conaffinity="1" friction="{FRICTION} 0 0" rgba="0.3 0.33 0.37 1"/>
    <body name="trunk" pos="0 0 0.9">
      <joint name="x" class="free" type="slide" axis="1 0 0"/>
      <joint name="z" class="free" type="slide" axis="0 0 1"/>
      <joint name="pitch" class="free"/>
      <geom name="trunk" type="capsule" fromto="0 0 0 0 0 0.45" size="0.07" mass="12"/>{
    LEG.format(side="left", hip=-0.7, knee=0.3)
}{LEG.format(side="right", hip=0.4, knee=0.3)}
    </body>
  </worldbody>
  <keyframe>
    <key name="falling" qpos="0 -0.049 0 -0.7 0.3 0.4 0.3" qvel="0.9 0 0 0 0 0 0"/>
  </keyframe>
</mujoco>"""


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
        self.above = np.zeros((m.nbody - 1, m.nv - 2))  # indices of the hinges that turn a body
        self.offset = np.zeros((m.nbody - 1 + len(spheres), m.nbody - 1), complex)  # offset of each point, in each body
        reach = np.zeros((m.nbody, m.nbody - 1), complex)  # offset of each body's origin
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
        """Terms of the equations of motion, from the points' velocities J v and accelerations J v̇ + bias."""
        bodies = len(self.mass)
        rate = self.above @ v[2:]
        turned = self.offset * np.exp(-1j * (self.above @ q[2:]))
        bias = turned @ -(rate * rate)
        J = np.empty((len(turned), len(q)), complex)
        J[:, 0], J[:, 1], J[:, 2:] = 1.0, 1j, (-1j * turned) @ self.above
        centre, touch = J[:bodies], J[bodies:]
        heavy = self.mass[:, None] * centre.conj()
        M = np.real(heavy.T @ centre) + self.armature
        force = -np.real(heavy.T @ (bias[:bodies] + 1j * self.gravity))
        force -= self.damping * v + self.stiffness * (q - self.rest)
        gap = np.imag(self.base + complex(q[0], q[1]) + turned[bodies:].sum(axis=1)) - self.radius
        tangent = np.real(touch).copy()
        tangent[:, 2:] += self.turning  # the lowest point of a sphere, not its centre
        return Parts(M, force, gap, np.imag(touch), tangent, np.imag(bias[bodies:]), np.real(bias[bodies:]))


def _place(vector: Any) -> complex:
    return complex(vector[0], vector[2])


def _about_y(quaternion: Any) -> Array:
    """Squares of the y components of the axes of a body's inertia: the share of each in the inertia about y."""
    w, x, y, z = quaternion
    return np.array([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]) ** 2
