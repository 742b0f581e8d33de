"""A small model with a bit of everything that a batch shows, and batches beside single simulations of it."""

import numpy as np

import saltus

#: A pusher on a floor: joints of all kinds, contacts, tendons, a site's transmission, sensors, springs, a medium.
SCENE = """
<mujoco model="scene"><option timestep="0.004" density="1.2" viscosity="0.001" integrator="implicitfast"/>
<worldbody><geom name="floor" type="plane" size="3 3 .1"/>
  <body name="base" pos="0 0 0.5"><joint name="slide" type="slide" axis="1 0 0" damping="0.3"/>
    <geom name="box" type="box" size="0.1 0.1 0.05" mass="1"/><site name="here" pos="0 0 0.1"/>
    <body name="arm" gravcomp="0.5"><joint name="hinge" axis="0 1 0" stiffness="2" frictionloss="0.05"/>
      <geom name="link" type="capsule" fromto="0 0 0 0 0 -0.42" size="0.04" mass="0.4"/>
      <body name="wrist" pos="0 0 -0.42"><joint type="ball" damping="0.02"/>
        <geom name="hand" size="0.05" mass="0.2"/><site name="tip" pos="0 0 -0.05"/></body></body></body>
  <body name="ball" pos="0.6 0 0.095"><freejoint/><geom name="ball" size="0.1" mass="0.3"/></body>
  <body name="mark" mocap="true" pos="1 0 1"><geom size="0.02" contype="0" conaffinity="0"/></body>
</worldbody>
<tendon><fixed name="sum"><joint joint="slide" coef="0.5"/><joint joint="hinge" coef="-1"/></fixed>
  <spatial name="cord" stiffness="3" damping="0.1"><site site="here"/><site site="tip"/></spatial></tendon>
<actuator><motor joint="slide" gear="5"/><position joint="hinge" kp="4"/><motor tendon="cord"/>
  <general site="tip" gear="0 0 1 0 0 0" dyntype="filter" dynprm="0.05"/>{more}</actuator>
<sensor><framepos name="tip" objtype="site" objname="tip"/><accelerometer name="feel" site="tip"/>
  <jointpos name="angle" joint="hinge"/></sensor></mujoco>"""
ADHESION = '<adhesion body="ball" ctrlrange="0 5" gain="2"/>'


def scene(more: str = "") -> saltus.Model:
    return saltus.load(SCENE.format(more=more))


def moved(batch: saltus.Batch, steps: int = 40) -> saltus.Batch:
    """The batch after some steps from different velocities under different controls and forces."""
    rng = np.random.default_rng(2)
    n, model = batch.n, batch.model
    batch.qvel = 0.5 * rng.normal(size=(n, model.nv))
    batch.ctrl = rng.uniform(0.1, 0.6, size=(n, model.nu))
    force = np.zeros((n, model.nbody, 6))
    force[:, 1:] = 0.1 * rng.normal(size=(n, model.nbody - 1, 6))
    batch.xfrc_applied = force
    batch.step(steps)
    return batch


def singles(batch: saltus.Batch) -> list[saltus.Simulation]:
    """Single simulations at the batch's states, with all that they go on from."""
    fields = ("qpos", "qvel", "act", "ctrl", "xfrc_applied", "mocap_pos", "mocap_quat", "qacc_warmstart")
    values = {name: batch.read(name) for name in fields}
    found = []
    for i, time in enumerate(batch.time):
        sim = saltus.Simulation(batch.model, batch.integrator)
        for name in fields:
            sim.engine.d.views[name][: len(values[name][i])] = values[name][i]
        sim.time = time
        found.append(sim)
    return found
