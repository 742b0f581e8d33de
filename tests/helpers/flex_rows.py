"""Deformable bodies that touch: on balls, rods, boxes and the floor."""

LAW = '<contact condim="{}" solref="0.01 1" solimp=".95 .99 .0001" selfcollide="none" margin="0.02"/>'
SHEET = """<flexcomp name="sheet" type="grid" dim="2" count="6 6 1" spacing=".1 .1 .1"
  pos="0 0 {z}" radius=".01" mass="3">{law}<edge damping="1"/>
  <elasticity young="3e4" poisson="0.2" thickness="1e-2" elastic2d="both"/>{pin}</flexcomp>"""
SOLID = """<flexcomp name="solid" type="grid" dim="3" count="3 3 3" spacing=".1 .1 .1"
  pos="0 0 .1" radius=".01" mass="3">{law}<elasticity young="3e4" poisson="0.2"/></flexcomp>"""
BALL = '<body name="ball" pos=".03 .02 {z}"><freejoint/><geom size=".1" mass="1" {law}/></body>'
ROD = """<body name="rod" pos="-.1 .05 .05"><freejoint/>
  <geom type="capsule" size=".05" fromto="-.2 0 0 .2 .1 0" mass="1"/></body>"""
BOX = '<body name="crate" pos="-.1 .05 .05"><freejoint/><geom type="box" size=".1 .15 .05" mass="1" condim="1"/></body>'
FLOOR = '<geom name="floor" type="plane" size="2 2 .1"/>'
HINGED = """<body name="arm"><joint axis="0 1 0"/>
  <geom size=".05" pos="1 0 0" mass="1" contype="0" conaffinity="0"/>{}</body>"""


def sheet(condim=3, pin="", z=0.0):
    return SHEET.format(law=LAW.format(condim), pin=pin, z=z)


def ball(condim=3, z=0.08):
    return BALL.format(z=z, law=f'condim="{condim}"')


MODELS = {
    "ball": sheet() + ball(),
    "pyramids of six": sheet(6) + ball(),
    "without friction": sheet(1) + ball(1),
    "rod and box": sheet() + ROD + BOX,
    "vertices on the floor": sheet(z=0.01) + FLOOR,
    "pinned to a body that turns": HINGED.format(sheet(4, '<pin id="0 1 6 7"/>')) + ball(),
    "solid": SOLID.format(law=LAW.format(3)) + ball(z=0.28) + FLOOR,
}
