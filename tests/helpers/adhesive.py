"""A world of geoms that stick, and sensors of their contacts."""

# on the floor, within a tree, between trees
WORLD = """<mujoco><option {option}/><default>
  <geom condim="{dim}" friction=".8 .05 .02" margin=".02" gap=".04" adhesion="2"/></default><worldbody>
  <geom name="floor" type="plane" size="9 9 .1" euler="5 3 0" adhesion=".7"/>
  <body pos="0 0 .17"><freejoint/><geom name="trunk" type="capsule" size=".1 .2" euler="0 90 0" adhesion="0"/>
    <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".06" fromto="0 0 0 .2 0 -.05"/>
      <body pos=".2 0 -.05"><joint type="ball"/><geom size=".1" pos="-.1 .05 .1"/></body></body>
    <body pos="-.2 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".09" pos="-.1 0 -.05"/>
      <body pos="0 .1 0"><joint axis="1 0 0"/><geom size=".1" pos=".15 .1 .05" adhesion="0"/></body></body></body>
  <body pos=".2 .1 .34"><freejoint/><geom size=".1" adhesion="5"/></body>
  <body pos="-.1 -.15 .27"><joint type="slide" axis="0 1 1"/><joint axis="1 0 0"/>
    <geom type="box" size=".1 .1 .1" adhesion="4" priority="1"/></body>
  <body pos="1 1 .09"><freejoint/><geom name="alone" size=".1"/></body>
</worldbody>{rest}</mujoco>"""


def sticky(dim, cone, option="", rest=""):
    """The world with contacts of some dimension, as text."""
    return WORLD.format(dim=dim, option=f'cone="{cone}" {option}', rest=rest)


SENSORS = """<sensor><contact geom1="floor" num="6" data="found force torque dist"/>
  <contact reduce="netforce" data="force torque"/><contact geom1="floor" reduce="maxforce" data="force"/>
  <touch site="here"/><force site="here"/><torque site="here"/><accelerometer site="here"/></sensor>"""
