"""Skins with tactile sensors that lie in shapes of all kinds."""

import mujoco
import numpy as np

SHAPES = {
    "plane": 'type="plane" size="3 3 1" pos="0 0 .3" euler="4 -3 0"',
    "sphere": 'size=".3" pos=".05 0 0"',
    "capsule": 'type="capsule" size=".25 .1" pos="0 .05 .05"',
    "ellipsoid": 'type="ellipsoid" size=".25 .2 .3"',
    "cylinder": 'type="cylinder" size=".25 .3" pos=".05 0 0"',
    "box": 'type="box" size=".25 .2 .3"',
}
TEXT = """<mujoco><asset>
  <mesh name="plate" builtin="plate" params="7 5" scale=".3 .5 .2"/>
  <mesh name="wedge" builtin="wedge" params="7 6 45 45 0" scale=".3 .3 .3"/>
  <mesh name="wild" vertex="0 0 -.21  .1 0 -.2  0 .1 -.2  .1 .2 .05"/></asset><worldbody>
  <body name="other" pos="0 0 -.4" euler="10 20 30">{other}</body>
  <body name="arm" pos=".1 .05 .1" euler="5 7 11"><freejoint/>
    <body name="finger" pos="-.1 -.05 -.1" euler="3 2 1">
      <geom name="skin" type="box" size=".3 .5 .2" margin=".01" gap=".02"/>
      <geom name="pad" type="mesh" mesh="plate" mass="0" contype="0" conaffinity="0" pos="0.02 .01 .03" euler="0 10 0"/>
      <geom name="knob" size=".1" pos=".3 0 0"/></body></body>{more}
</worldbody><sensor><tactile name="pad" geom="pad" mesh="plate"/><tactile geom="skin" mesh="wedge"/>
  <tactile geom="skin" mesh="wild" cutoff=".05"/><framepos objtype="geom" objname="pad"/></sensor></mujoco>"""
AGAIN = '<body pos=".5 0 -.1"><freejoint/><geom size=".35"/><geom type="capsule" size=".1 .2" pos="-.3 .2 0"/></body>'


def all_shapes():
    """A skin in all shapes at once, as text."""
    apart = 'contype="0" conaffinity="1"'
    shapes = [geom for shape, geom in SHAPES.items() if shape != "plane"]
    bodies = "".join(f'<body pos="0 0 -.3"><freejoint/><geom {geom} {apart}/></body>' for geom in shapes)
    return TEXT.format(other=f"<geom {SHAPES['plane']} {apart}/>", more=bodies)


def states(m, count, seed=0, spread=0.04):
    """MuJoCo's data at random states about the model's own."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        d = mujoco.MjData(m)
        mujoco.mj_integratePos(m, d.qpos, spread * rng.normal(size=m.nv), 1.0)
        d.qvel[:] = rng.normal(size=m.nv)
        mujoco.mj_forward(m, d)
        yield d
