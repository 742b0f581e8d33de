"""Scenes in which all acts that derivatives in closed form know, at once."""

import numpy as np

import saltus

SOFT = 'solref=".03 1" solimp=".5 .9 .05"'
WORLD = """<mujoco><option timestep=".004" tolerance="1e-15" iterations="200" cone="{cone}" impratio="2"/>
  <default><geom {soft} friction=".4 .02 .01" condim="{condim}"/>
  <joint solreflimit=".03 1" solimplimit=".5 .9 .1 .4 3" solreffriction=".05 1"/></default>
  <worldbody><geom type="plane" size="5 5 .1"/><geom type="box" size=".1 .3 .05" pos=".45 0 0"/>
  <body name="trunk" pos="0 0 .05"><freejoint/><geom type="box" size=".15 .1 .06" mass="2"/>
    <body name="arm" pos=".15 .05 .05">
      <joint name="lift" type="slide" axis="0 .2 1" range="-.1 .001" limited="true" damping="3 .5 .2" stiffness="20"/>
      <joint name="turn" axis="1 .3 0" damping=".1 .2 .1" frictionloss=".2" springref="20" stiffness=".5"
        actuatorfrcrange="-.5 .5"/>
      <geom type="capsule" fromto="0 0 0 .3 0 -.04" size=".04" mass=".4"/>
      <body name="hand" pos=".3 0 -.04"><joint name="wrist" type="ball" damping=".05"/>
        <geom type="capsule" fromto="0 0 0 .1 .05 .02" size=".03" mass=".2"/></body></body>
    <body name="tail" pos="-.2 0 .02"><joint name="wag" axis="0 1 .2" range="-40 2" limited="true" armature=".01"/>
      <geom type="sphere" pos="-.03 0 0" size=".05" mass=".3"/></body>
    <body name="flap" pos="-.2 .06 .06"><joint name="flap" axis="1 0 .1" damping=".05"/>
      <geom type="sphere" pos="-.03 .03 0" size=".05" mass=".2"/></body></body>
  <body name="rider" pos="-.02 .01 .165"><freejoint/><geom type="sphere" size=".06" mass=".5"/></body>
  <body name="pole" pos="-.34 0 .3"><joint name="swing" axis="0 1 0" damping=".1" frictionloss=".05"/>
    <joint name="nod" axis="1 0 .3"/><geom type="capsule" fromto="0 0 0 0 0 -.22" size=".05" mass=".3"/></body>
  </worldbody>
  <contact><exclude body1="trunk" body2="arm"/></contact>
  <tendon><fixed name="both" limited="true" range="-.05 .05" frictionloss=".1" solreflimit=".03 1"
    solimplimit=".5 .9 .1"><joint joint="swing" coef="1"/><joint joint="wag" coef="-.7"/></fixed></tendon>
  <actuator><motor joint="lift" gear="2"/><position joint="turn" kp="6" forcerange="-9 9"/>
    <motor joint="turn" gear=".3"/><general joint="wag" gainprm="1 .4 -.3" gaintype="affine" biastype="affine"
    biasprm=".1 -.5 -.2" ctrlrange="-.3 .3" ctrllimited="true"/><motor joint="swing" forcerange="-.1 .1"/></actuator>
</mujoco>"""


def world(cone="pyramidal", condim=3):
    """XML of a scene with contacts of all sorts of two bodies, limits, dry friction, motors, dampers and springs."""
    return WORLD.format(cone=cone, condim=condim, soft=SOFT)


def pushed(xml, steps=40):
    """A simulation of it on its way, with forces on joints and bodies, and controls in and out of their ranges."""
    sim = saltus.Simulation(xml, "euler")
    rng = np.random.default_rng(5)
    sim.ctrl[:] = rng.uniform(-0.6, 0.6, sim.model.nu)
    sim.qvel[:] = rng.normal(0.0, 0.3, sim.model.nv)
    sim.qfrc_applied[:] = rng.normal(0.0, 0.05, sim.model.nv)
    sim.step(steps)
    sim.xfrc_applied[2] = rng.normal(0.0, 0.5, 6)
    return sim
