"""Deformable bodies that are moved by nodes, with others on them."""

SOLID = """<flexcomp name="solid" type="grid" dim="3" count="{count}" spacing=".1 .1 .1" dof="{dof}" cellcount="{cells}"
  pos="0 0 {z}" radius=".01" mass="3"><contact condim="{condim}" solref="0.01 1" selfcollide="none" margin="0.02"/>
  <elasticity young="3e4" poisson="0.2" damping=".001"/>{pin}</flexcomp>"""
BALL = '<body name="ball" pos=".03 .02 {z}"><freejoint/><geom size=".1" mass="1" condim="{condim}"/></body>'
ROD = """<body name="rod" pos="-.1 .05 .36"><freejoint/>
  <geom type="capsule" size=".05" fromto="-.2 0 0 .2 .1 0" mass="1"/></body>"""
CRATE = """<body pos=".1 .05 .26" euler="10 20 30"><freejoint/><geom type="box" size=".06 .05 .05" mass="1"/></body>
<body pos="-.1 -.05 .26" euler="80 20 30"><freejoint/><geom type="cylinder" size=".05 .06" mass="1"/></body>"""
FLOOR = '<geom name="floor" type="plane" size="2 2 .1"/>'
HINGED = """<body name="arm"><joint axis="0 1 0"/>
  <geom size=".05" pos="1 0 0" mass="1" contype="0" conaffinity="0"/>{}</body>"""


def solid(dof="trilinear", cells="2 1 1", condim=3, pin="", z=0.1, count="5 4 3"):
    return SOLID.format(dof=dof, cells=cells, condim=condim, pin=pin, z=z, count=count)


def ball(condim=3, z=0.28):
    return BALL.format(z=z, condim=condim)


MODELS = {
    "one cell": solid(cells="1 1 1") + ball(),
    "cells that elements straddle": solid(cells="3 2 3") + ball() + ROD,
    "quadratic": solid("quadratic", pin='<pin id="0 2"/>') + ball(),
    "quadratic, straddled": solid("quadratic", "3 1 1", 4) + ball(4) + ROD,
    "pinned to a body that turns": HINGED.format(solid(pin='<pin id="0 1"/>')) + ball(),
    "on the floor": solid(z=0.11) + FLOOR + ball(),
    "pyramids of six": solid("quadratic", "1 1 1", 6) + ball(6) + FLOOR,
}
