"""Neighbours of geoms: which pairs are flush, by construction of the scenes."""

import saltus
from saltus.model.contact.seams import flush_pairs

SCENE = """<mujoco><worldbody>
<geom name="a" type="box" size=".5 .5 .1" pos="-.5 0 -.1"/>
<geom name="b" type="box" size=".5 .5 .1" pos=".5 0 -.1"/>
<geom name="stand" type="box" size=".1 .1 .1" pos="-.5 0 .1"/>
<body pos="-1.5 0 -.1"><geom name="welded" type="box" size=".5 .5 .1"/></body>
<body mocap="true" pos="1.5 0 -.1"><geom name="mocap" type="box" size=".5 .5 .1"/></body>
<geom name="ghost" type="box" size=".5 .5 .1" pos=".5 1 -.1" contype="0" conaffinity="0"/>
<geom name="lower" type="box" size=".5 .5 .1" pos="-.5 1 -.11"/>
<body pos="0 0 1"><freejoint/><geom name="ball" size=".1"/></body></worldbody></mujoco>"""


def test_flush_are_touching_geoms_that_are_welded_and_have_a_face_in_one_plane():
    model = saltus.load(SCENE)
    names = model.names("geom")
    found = {tuple(sorted((names[a], names[b]))) for a, b in flush_pairs(model.struct())}
    # a lower box has its sides in the planes of its neighbour's
    assert found == {("a", "b"), ("a", "welded"), ("a", "lower")}


def test_hard_contact_alone_has_seams():
    assert "seams" in saltus.Simulation(SCENE, contact="hard").engine.m.layout.features
    assert "seams" in saltus.Simulation(SCENE, "moreau_jean", contact="hard").engine.m.layout.features
    assert "seams" not in saltus.Simulation(SCENE).engine.m.layout.features
