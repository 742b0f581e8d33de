"""Small models in which every field that may vary has an effect, with their states.

`PARAMETRIC` (see `helpers.parametric`) has contacts, equalities and slipping dry friction; `BOUNDED` limits that act,
dry friction that holds, and forces, controls and activations at their bounds; `FREE` no constraints at all.
"""

import mujoco
import numpy as np

from helpers.parametric import PARAMETRIC, parametric_state

BOUNDED = """
<mujoco><option timestep="0.004" tolerance="0" iterations="100" ls_iterations="50"/>
<default><joint solreflimit="0.03 0.9" solimplimit="0.8 0.9 0.4 0.4 2" solreffriction="0.05 1"
                solimpfriction="0.7 0.9 0.01 0.4 2"/></default>
<worldbody>
  <site name="hook" pos="0.1 0 1.4"/>
  <body name="arm" pos="0 0 1" quat="0.9 0.1 0.2 0.1">
    <joint name="hip" axis="0.1 1 0" range="-20 10" margin="0.02" damping="0.2" stiffness="1" armature="0.01"/>
    <geom name="arm" type="capsule" fromto="0 0 0 0.02 0 -.35" size=".03" mass=".5" contype="0" conaffinity="0"/>
    <site name="knee" pos="0.02 0.03 -.2"/>
    <body name="hand" pos="0 0 -.4"><joint name="wrist" type="ball" damping="0.05" range="0 20" margin="0.01"/>
      <inertial pos="0.01 0.02 -.1" mass="0.4" diaginertia="0.01 0.012 0.008"/></body></body>
  <body name="cart" pos="1 0 1"><joint name="slide" type="slide" axis="0.1 0.2 1" range="-0.1 0.05"/>
    <inertial pos="0 0 0" mass="0.7" diaginertia="0.02 0.03 0.01"/>
    <body name="disc"><joint name="held" axis="0.2 0 1" frictionloss="9"/><joint name="turn" axis="1 0 0.2"
      actuatorfrcrange="-0.4 0.5"/><inertial pos=".05 0 .1" mass="0.3" diaginertia="0.02 0.03 0.01"/></body></body>
  <body name="bob" pos="0.4 0.3 0.8"><joint name="b1" axis="1 0 0"/><joint name="b2" axis="0 1 0" pos="0 0 0.3"/>
    <geom type="capsule" size="0.05 0.1" mass="0.7" pos="0 0.1 0" contype="0" conaffinity="0"/>
    <site name="bobsite" pos="0.05 0 0.03"/></body>
</worldbody>
<tendon>
  <fixed name="tied" frictionloss="7" solreffriction="0.06 1" solimpfriction="0.7 0.9 0.01 0.4 2"><joint joint="b1"
    coef="0.7"/><joint joint="b2" coef="-0.4"/></fixed>
  <spatial name="rope" range="0 0.3" margin="0.01" solreflimit="0.03 0.9" solimplimit="0.8 0.9 0.9 0.4 2">
    <site site="bobsite"/><site site="hook"/></spatial>
  <fixed name="pulled" actuatorfrcrange="-0.3 0.4"><joint joint="b2" coef="1"/></fixed>
</tendon>
<actuator>
  <position name="servo" joint="hip" kp="20" kv="1" forcerange="-3 2"/><motor name="strong" joint="turn" gear="2"/>
  <motor name="pull" tendon="pulled"/><motor name="bounded" joint="slide" ctrlrange="-0.1 0.2"/>
  <general name="full" joint="held" dyntype="filter" dynprm="0.1" gainprm="3" actrange="-1 0.8" actlimited="true"/>
</actuator></mujoco>"""


def bounded_state(m):
    """Positions, velocities, controls and activations of BOUNDED beyond its limits and at its bounds."""
    rng = np.random.default_rng(4)
    qpos, qvel = m.qpos0.copy(), 0.2 * rng.normal(size=m.nv)
    move = 0.05 * rng.normal(size=m.nv)
    move[m.jnt_dofadr[m.joint("hip").id]] = 0.3
    move[m.jnt_dofadr[m.joint("wrist").id]] = 0.5
    move[m.jnt_dofadr[m.joint("slide").id]] = 0.08
    mujoco.mj_integratePos(m, qpos, move, 1.0)
    return {"qpos": qpos, "qvel": qvel, "ctrl": np.array([1.0, 2.0, 2.0, 0.5, 3.0]), "act": np.array([0.79])}


FREE = """
<mujoco><compiler angle="radian"/><option timestep="0.004"/><worldbody><site name="hook" pos="0.1 0 1.4"/>
  <body name="trunk" pos="0 0 .5" quat="0.9 0.1 0.2 0.1"><freejoint/>
    <inertial pos="0.01 0.02 0.03" quat="0.9 0.1 -0.2 0.05" mass="3" diaginertia="0.03 0.04 0.05"/>
    <site name="top" pos="0.05 0.02 0.05"/>
    <body name="leg" pos=".1 0.02 0" quat="0.95 0.05 0.02 0.01">
      <joint name="hip" axis="0.1 1 0" damping=".2 .1 .05" pos="0.01 0.02 0.03" stiffness="1 .5 .2" springref="0.4"
             armature="0.01"/>
      <inertial pos="0 0.01 -0.2" mass=".5" diaginertia="0.01 0.012 0.004"/><site name="knee" pos="0.02 0.03 -.2"/>
      <body name="foot" pos="0 0 -.4"><joint name="ankle" type="ball" damping="0.05 .02" stiffness="0.5 .3"/>
        <inertial pos="0.01 0.02 -0.05" mass=".3" diaginertia="0.004 0.005 0.003"/>
        <site name="sole" pos="0.03 0.01 -0.1" quat="0.9 0.1 0.3 0.1"/></body></body>
    <body name="hand" pos="-.15 0 0.1"><joint name="slide" type="slide" axis="0.1 0.2 1" damping="0.3" stiffness="4"/>
      <joint name="turn" axis="1 0 0.2" damping="0.02"/>
      <inertial pos="0.02 0.05 -0.2" mass="0.4" diaginertia="0.01 0.012 0.004"/></body></body>
</worldbody>
<tendon>
  <fixed name="fix" stiffness="3 .5" damping="0.2 .1" springlength="0.02"><joint joint="hip" coef="0.7"/>
    <joint joint="turn" coef="-0.4"/></fixed>
  <spatial name="cord" stiffness="20 3" damping="0.5 .2" springlength="0.1 0.2">
    <site site="hook"/><site site="top"/><pulley divisor="2"/><site site="top"/><site site="knee"/></spatial>
</tendon>
<actuator>
  <position name="servo" joint="hip" kp="20" kv="1"/><motor name="pull" tendon="fix" gear="2"/>
  <muscle name="muscle" tendon="cord" lengthrange="0.5 1.5" scale="150"/>
  <general name="gen" joint="slide" dyntype="filter" dynprm="0.1" gainprm="3" biastype="affine" biasprm="0.3 -1 -0.4"/>
  <motor name="sitemotor" site="sole" gear="1 2 0 0.1 0.2 0"/>
  <general name="reference" site="sole" refsite="hook" gear="1 0.5 0 0.1 0 0.2" biastype="affine" biasprm="0 -2 -0.1"/>
  <motor name="damped" joint="turn" gear="2" armature="0.01" damping="0.2 .1"/>
  <motor joint="ankle" gear="0.2 0.3 0.1"/>
</actuator></mujoco>"""


def free_state(m):
    """Positions, velocities, controls and activations of FREE on its way."""
    rng = np.random.default_rng(6)
    qpos = m.qpos0.copy()
    mujoco.mj_integratePos(m, qpos, 0.2 * rng.normal(size=m.nv), 1.0)
    ctrl, act = 0.5 * rng.uniform(size=m.nu), 0.3 * rng.uniform(size=m.na)
    return {"qpos": qpos, "qvel": 0.5 * rng.normal(size=m.nv), "ctrl": ctrl, "act": act}


#: Models and functions of MuJoCo's model that give their states.
SCENES = {"parametric": (PARAMETRIC, parametric_state), "bounded": (BOUNDED, bounded_state), "free": (FREE, free_state)}
