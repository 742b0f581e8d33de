"""Boxes about geoms tell which are apart.

Law: two boxes are disjoint if and only if they are so along one of fifteen axes (Gottschalk, Lin, Manocha, OBBTree
(1996)); MuJoCo's mj_geomDistance says whether they are. Geoms within reach of each other are never said to be apart.
"""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from saltus.contact.convex.bounding_boxes import boxes_near
from saltus.model.contact.hulls import boxes
from saltus.number.kernels import interpret

SHAPES = {
    "sphere": 'type="sphere" size=".3"',
    "capsule": 'type="capsule" size=".1 .3"',
    "ellipsoid": 'type="ellipsoid" size=".1 .2 .4"',
    "cylinder": 'type="cylinder" size=".2 .3"',
    "box": 'type="box" size=".1 .2 .4"',
    "mesh": 'type="mesh" mesh="wedge" pos=".1 0 0"',
}
HILLS = '<hfield name="hills" nrow="3" ncol="3" size=".5 .4 .2 .1" elevation="0 1 0 0 .5 .2 1 0 .3"/>'
WEDGE = '<mesh name="wedge" vertex="0 0 0  .6 0 0  0 .3 0  0 0 .2  .6 .3 .1"/>'


def world(one, other):
    """Two geoms of two free bodies."""
    bodies = "".join(f"<body><freejoint/><geom {shape} mass='1'/></body>" for shape in (one, other))
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{HILLS}{WEDGE}</asset><worldbody>{bodies}</worldbody></mujoco>"
    )


def poses(m, n, spread=0.5):
    """n MjDatas with the two bodies about the origin, turned at random."""
    rng, d = np.random.default_rng(5), mujoco.MjData(m)
    for _ in range(n):
        d.qpos[:] = rng.normal(size=m.nq)
        d.qpos[[0, 1, 2, 7, 8, 9]] *= 0.5 * spread
        mujoco.mj_kinematics(m, d)
        yield d


def said_near(m, d, reach, g1=0, g2=1):
    """What the kernel says, uncompiled."""
    rows = lambda a: [tuple(map(float, row)) for row in a]  # noqa: E731
    model = SimpleNamespace(geom_type=m.geom_type, geom_size=m.geom_size, geom_aabb=boxes(m))
    data = SimpleNamespace(geom_xpos=rows(d.geom_xpos), geom_xmat=rows(d.geom_xmat), time=0.0)
    return interpret(boxes_near)(model, data, g1, g2, reach) > 0.5


def test_boxes_are_apart_where_they_are_disjoint():
    m = world(SHAPES["box"], 'type="box" size=".3 .05 .2"')
    apart = 0
    for d in poses(m, 200):
        distance = mujoco.mj_geomDistance(m, d, 0, 1, 10.0, None)
        assert said_near(m, d, 0.0) == (distance <= 0.0), distance
        apart += distance > 0.0
    assert 50 < apart < 150


@pytest.mark.parametrize("reach", [0.0, 0.05])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_within_reach_is_apart(shape, reach):
    """The distance of what the boxes contain is at least theirs, and most of what is far is said to be apart."""
    m = world(SHAPES[shape], SHAPES["mesh"])
    seen = []
    for d in poses(m, 150):
        distance = mujoco.mj_geomDistance(m, d, 0, 1, 10.0, None)
        near = said_near(m, d, reach)
        assert near or distance > reach - 1e-6
        seen.append((near, distance <= reach))
    near, touching = np.array(seen).T
    assert 10 < touching.sum() <= near.sum() < 0.5 * (touching.sum() + len(near))


GROUNDS = {
    "height field": '<geom type="hfield" hfield="hills"/>',
    "low height field": '<geom type="hfield" hfield="hills"/>',
    "plane": '<geom type="plane" size="1 1 1" euler="20 30 0" pos="0 0 .1"/>',
}


@pytest.mark.parametrize("ground", GROUNDS)
def test_grounds(ground):
    """What touches a height field or a plane is never said to be apart from it, and much of what does not touch is."""
    m = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset>{HILLS}{WEDGE}</asset><worldbody>{GROUNDS[ground]}
        <body><freejoint/><geom type="mesh" mesh="wedge"/></body></worldbody></mujoco>"""
    )
    if ground == "low height field":
        m.hfield_data *= 0.2
        assert boxes(m)[0, 2] + boxes(m)[0, 5] == pytest.approx(0.2 * 0.2)  # the highest point, m
    d, rng, found = mujoco.MjData(m), np.random.default_rng(1), []
    for _ in range(150):
        d.qpos[:] = rng.normal(size=7) * 0.4
        mujoco.mj_forward(m, d)
        found.append((said_near(m, d, 0.0), d.ncon > 0))
        assert found[-1] != (False, True)
    near, touching = np.array(found).T
    assert 20 < touching.sum() <= near.sum() < 130
