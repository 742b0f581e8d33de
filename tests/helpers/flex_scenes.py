"""Deformable bodies near geoms, near each other, and near themselves."""

import mujoco
import numpy as np

FLEX = '<flexcomp name="{}" type="grid" count="{}" dim="{}" spacing=".1 .1 .1" radius=".01" mass="1" {}>{}</flexcomp>'
DAMPER = '<edge damping="1"/>'
ALONE = DAMPER + '<contact selfcollide="none" contype="{0}" conaffinity="{0}"/>'
SCENES = {
    "sheet": FLEX.format("sheet", "8 7 1", 2, "", ALONE.format(1)),
    "solid": FLEX.format("solid", "4 3 3", 3, "", ALONE.format(1)),
    "rope": FLEX.format("rope", "9 1 1", 1, "", ALONE.format(1)),
    "crossed": FLEX.format("a", "6 6 1", 2, "", ALONE.format(1))
    + FLEX.format("b", "5 5 1", 2, 'pos=".02 0 .04" euler="80 10 0"', ALONE.format(1)),
    "itself": FLEX.format("sheet", "8 7 1", 2, 'pos="0 0 .03"', DAMPER + "<pin id='0 1'/>"),
    "rigid": '<geom type="plane" size="1 1 .1" euler="3 2 0"/><geom size=".1"/><body name="base" pos="0 0 .03">'
    + '<freejoint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>'
    + FLEX.format("rigid", "10 9 1", 2, 'rigid="true"', ALONE.format(1).replace(DAMPER, ""))
    + "</body>",
    "both": FLEX.format("a", "4 3 3", 3, "", DAMPER) + FLEX.format("b", "6 6 1", 2, 'pos="0 0 .15"', DAMPER),
}
GEOMS = {
    "sheet": [("cylinder", [0.1, 0.08], {"margin": 0.01}), ("ellipsoid", [0.1, 0.05, 0.15], {"gap": 0.01})],
    "solid": [("box", [0.1, 0.07, 0.05], {}), ("cylinder", [0.05, 0.1], {}), ("sphere", [0.05], {})],
    "rigid": [("sphere", [0.2], {}), ("box", [0.1, 0.2, 0.1], {})],
    "rope": [("cylinder", [0.1, 0.08], {}), ("ellipsoid", [0.1, 0.05, 0.15], {}), ("capsule", [0.05, 0.1], {})],
}
ROPE = """<mujoco><worldbody><flexcomp type="grid" count="14 1 1" spacing=".1 .1 .1" radius=".02" mass="1" name="rope"
dim="1"><contact selfcollide="none"/><edge damping="1"/></flexcomp></worldbody></mujoco>"""
SHEETS = """<mujoco><worldbody><geom type="plane" size="1 1 .1" euler="5 3 0" margin=".01"/>
<geom size=".1" pos="0 .1 .08"/>
<flexcomp type="grid" count="12 9 1" spacing=".1 .1 .1" radius=".01" mass="1" name="first" dim="2">
<contact selfcollide="none" margin=".01" gap=".01" contype="1" conaffinity="0"/><edge damping="1"/><pin id="0 40 50"/>
</flexcomp>
<flexcomp type="box" count="3 4 3" spacing=".1 .1 .1" pos="0 0 .1" radius=".015" mass="1" name="second" dim="3">
<contact selfcollide="none" contype="2" conaffinity="0"/><edge damping="1"/></flexcomp>
</worldbody></mujoco>"""
ALONE_FLEX = (
    '<flexcomp name="{}" type="grid" count="{}" dim="{}" spacing=".1 .1 .1" radius=".004" mass="1" pos="0 0 1">'
)
LAYERS = '<edge damping="1"/><contact activelayers="{}"/>{}</flexcomp>'
BODIES = {
    "sheet": ALONE_FLEX.format("sheet", "9 8 1", 2) + LAYERS.format(1, "<pin id='0 1'/>"),
    "solid": ALONE_FLEX.format("solid", "4 4 3", 3) + LAYERS.format(3, ""),
    "rope": ALONE_FLEX.format("rope", "30 1 1", 1) + LAYERS.format(1, ""),
}
SIZES = {"sheet": 0.1, "solid": 0.03, "rope": 0.1}  # of displacements (m)


def body(name):
    """One of `BODIES` as a compiled model."""
    return mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{BODIES[name]}</worldbody></mujoco>")


def at(m, displacements):
    """MuJoCo's data with vertices displaced from where they rest (m), each body's three slides in a row."""
    d = mujoco.MjData(m)
    d.qpos[:] = displacements.ravel()
    mujoco.mj_fwdPosition(m, d)
    return d


def crumpled(m, rng, size):
    """Smooth random displacements of vertices, some cm to each other where they are side by side."""
    x = mujoco.MjData(m)
    mujoco.mj_kinematics(m, x)
    places = x.xpos[m.nbody - m.nv // 3 :]
    waves = rng.normal(size=(6, 3)) * 8.0
    return sum(size * rng.normal(size=3) * np.sin(places @ w + rng.uniform(0, 6))[:, None] for w in waves)
