"""Rods whose segments twist, near a floor, a ball, a capsule, a box and each other.

All scenes have the same kinds of objects, most of them far away, so that they need the same kernels.
"""

import numpy as np

AWAY = {"ball": "10 0 90", "capsule": "20 0 90", "crate": "30 0 90"}
SHAPES = {"ball": 'size=".1"', "capsule": 'type="capsule" size=".05 .2"', "crate": 'type="box" size=".1 .15 .05"'}
SPRINGS = '<edge stiffness="2000" damping="2"/>'  # MuJoCo has none under `discrete`
FIXED = '<edge equality="true"/>'
LAW = 'poisson=".3" damping=".02"'


def line(count, spacing=0.1):
    """Attributes of a straight rod along x with its middle at its place."""
    return f'type="grid" count="{count} 1 1" spacing="{spacing} .1 .1"'


def coil(turns, count, radius=0.2, rise=0.1):
    """Attributes of a rod that is coiled at rest, of so many turns around the vertical."""
    angle = np.linspace(0.0, 2 * np.pi * turns, count)
    places = np.stack([radius * np.cos(angle), radius * np.sin(angle), rise * angle / (2 * np.pi)], axis=1)
    points = " ".join(f"{x:.6f}" for x in places.ravel())
    pairs = " ".join(f"{i} {i + 1}" for i in range(count - 1))
    return f'type="direct" point="{points}" element="{pairs}"'


def rod(name, shape, place, inside="", condim=3, itself="none", margin=0.0, young=1e5, edge=SPRINGS, radius=0.02):
    """A rod at a place, with attributes `place` of its frame."""
    return f"""<flexcomp name="{name}" dim="1" {shape} radius="{radius}" mass=".5" {place}>
      <contact selfcollide="{itself}" condim="{condim}" friction=".8 .01 .002" solref=".01 1" margin="{margin}"/>{edge}
      <elasticity young="{young}" {LAW}/>{inside}</flexcomp>"""


def world(rods, floor=-80.0, option="", head="", geoms="", places=()):
    """A scene of rods over a floor at a height (m); `places` (m) of the other bodies that are not far away."""
    bodies = "".join(
        f'<body name="{name}" pos="{dict(places).get(name, AWAY[name])}"><freejoint/><geom {shape} mass=".5"/></body>'
        for name, shape in SHAPES.items()
    )
    return f"""<mujoco><option timestep=".002" {option}/>{head}<worldbody>
      <geom name="floor" type="plane" size="9 9 .1" pos="0 0 {floor}"/>{bodies}{geoms}{rods}</worldbody></mujoco>"""


def turning(inside):
    """Bodies in MJCF on a free body that turns."""
    return f"""<body name="arm" pos="0 0 .05"><freejoint/><geom size=".05" mass=".5" contype="0" conaffinity="0"/>
      {inside}</body>"""
