"""Worlds for MuJoCo's integrator `discrete`, and steps beside its own."""

import mujoco
import numpy as np

import saltus

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
YOUNG = 'young="1e6" poisson="0.3"'
GRID = 'type="grid" dim="2" count="5 4 1"'


def flex(inside, kind=GRID, outside="", contact=ALONE):
    return f"""<mujoco>{outside}<worldbody><flexcomp name="soft" {kind} spacing=".1 .1 .1" mass="1.5" radius=".01"
      pos="0 0 1">{contact}{inside}</flexcomp></worldbody></mujoco>"""


ARM = """<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="3 3 1"/>
  <body pos="0 0 .095"><joint type="slide" axis="0 0 1" damping="50" stiffness="1e4"/>
    <joint axis="0 1 0" damping="5" stiffness="500 100 30" range="-1 -.01" frictionloss=".2" {limit}/>
    <geom type="box" size=".3 .2 .1" mass="2" {law}/>
    <body pos=".3 0 0"><joint type="ball" damping="1" stiffness="100"/>
      <geom type="capsule" fromto="0 0 0 .5 0 0.1" size=".05" mass="1" contype="0" conaffinity="0"/></body></body>
  <body pos="2 0 .045"><freejoint/><geom type="box" size=".1 .2 .05" mass="1" {law}/></body>
  <body pos="2 0 1"><freejoint/><geom type="box" size=".1 .2 .05" mass="1"/></body>
  </worldbody></mujoco>"""
HELD = """<mujoco><worldbody>
  <body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .05" mass="1"/></body>
  <body name="b" pos=".5 0 1"><joint type="ball" damping=".5"/><geom type="box" size=".1 .2 .05" mass="1"/></body>
  </worldbody><equality>{}</equality></mujoco>"""
STIFF = 'solref="0.001 0.8"'  # which 2 ms do not resolve
RIGID = {
    "soft": ARM.format(cone="pyramidal", limit="", law='solref="0.02 1"'),
    "stiff": ARM.format(cone="pyramidal", limit='limited="true" solreflimit="0.001 1"', law=STIFF),
    "stiff cones": ARM.format(cone="elliptic", limit='limited="true"', law=STIFF),
    "stiffness itself": ARM.format(cone="pyramidal", limit="", law='solref="-1e7 -100"'),
    "the largest impedance": ARM.format(cone="elliptic", limit="", law=f'{STIFF} solimp="0.99 0.9998 0.001"'),
    "connected": HELD.format('<connect body1="a" body2="b" anchor=".2 0 0"/>'),
    "welded": HELD.format('<weld body1="a" body2="b"/>'),
}
SOFT = {
    "sheet": flex(f'<elasticity {YOUNG} thickness="0.01" elastic2d="both" damping="0.01"/><pin id="0 3"/>'),
    "curved": flex(f'<elasticity {YOUNG} thickness="0.02"/>', 'type="ellipsoid" dim="2" count="4 4 4"'),
    "solid": flex(f'<elasticity {YOUNG} damping="0.01"/>', 'type="grid" dim="3" count="3 3 3"'),
    "edges": flex(f'<elasticity {YOUNG} thickness="0.01" elastic2d="bend"/><edge equality="true"/><pin id="0 3"/>'),
    "on a body that turns": f"""<mujoco><worldbody><body name="arm" quat="1 0.2 0.3 0"><geom size="0.1" mass="1"/>
      <joint axis="0 1 0.5" damping="0.2" stiffness="20"/><flexcomp name="soft" {GRID} spacing=".1 .1 .1" mass="1.5"
      radius=".01">{ALONE}<elasticity {YOUNG} thickness="0.01" elastic2d="both"/><pin id="0 1 2"/></flexcomp></body>
      </worldbody></mujoco>""",
}


def assert_same_steps(xml, steps=4, timestep=0.002, tolerance=1e-10, deformation=0.01):
    """Each step from MuJoCo's state; returns how many rows and contacts there were at most."""
    m = mujoco.MjModel.from_xml_string(xml)
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_DISCRETE, timestep
    m.opt.tolerance, m.opt.iterations = 1e-14, 500
    d = mujoco.MjData(m)
    rng = np.random.default_rng(0)
    mujoco.mj_integratePos(m, d.qpos, deformation * rng.standard_normal(m.nv), 1.0)
    d.qvel[:] = 0.3 * rng.standard_normal(m.nv)
    sim = saltus.Simulation(saltus.load(m))
    assert sim.integrator.name == "discrete"
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    most = [0, 0]
    for _ in range(steps):
        before = d.qvel.copy()
        mujoco.mj_step(m, d)
        sim.step()
        change = abs(d.qvel - before).max()
        np.testing.assert_allclose(sim.qvel, d.qvel, rtol=0, atol=tolerance * change)
        sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
        most = np.maximum(most, (d.nefc, d.ncon))
    assert sim.unconverged == 0
    return most
