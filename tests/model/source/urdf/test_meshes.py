"""Meshes that MuJoCo does not read: COLLADA and STL as text.

Reference: the same shapes as OBJ, which MuJoCo reads itself, and transformations written down by hand.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.model.source.urdf.meshes import triangles

CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]  # outwards
HALVES = [half for a, b, c, d in SIDES for half in ((a, b, c), (a, c, d))]
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in HALVES)
STL = "solid box\n{}endsolid box\n".format(
    "".join(
        "facet normal 0 0 0\n outer loop\n"
        + "".join("  vertex {} {} {}\n".format(*CORNERS[k]) for k in half)
        + " endloop\nendfacet\n"
        for half in HALVES
    )
)
LINK = (
    '<robot name="r"><link name="base"/><link name="box"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    '<{0}><geometry><mesh filename="{1}" scale="2 1 1"/></geometry></{0}></link>'
    '<joint name="j" type="continuous"><parent link="base"/><child link="box"/></joint></robot>'
)


def collada(kind="polylist", node="", unit="", more=""):
    """The box, as quadrilaterals or triangles whose corners also have a normal."""
    faces = SIDES if kind != "triangles" else HALVES
    flat = [f"{0} {k}" for face in faces for k in face]
    counts = f"<vcount>{' '.join(str(len(face)) for face in faces)}</vcount>" if kind == "polylist" else ""
    lists = f"<p>{' '.join(flat)}</p>"
    if kind == "polygons":
        lists = "".join(f"<p>{' '.join(f'0 {k}' for k in face)}</p>" for face in faces)
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
      <asset>{unit}<up_axis>Y_UP</up_axis></asset>
      <library_geometries><geometry id="g"><mesh>
        <source id="p"><float_array id="a" count="24">{" ".join(str(x) for c in CORNERS for x in c)}</float_array>
          <technique_common><accessor source="#a" count="8" stride="3"/></technique_common></source>
        <source id="n"><float_array count="3">0 0 1</float_array></source>
        <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
        <{kind} count="{len(faces)}"><input semantic="NORMAL" source="#n" offset="0"/>
          <input semantic="VERTEX" source="#v" offset="1"/>{counts}{lists}</{kind}></mesh></geometry>
      </library_geometries>
      <library_nodes><node id="far"><translate>9 0 0</translate><instance_geometry url="#g"/></node></library_nodes>
      <library_visual_scenes><visual_scene id="s"><node>{node}<instance_geometry url="#g"/>{more}</node></visual_scene>
      </library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def points(path):
    vertices, faces = triangles(str(path))
    return vertices[faces]


@pytest.mark.parametrize("kind", ["polylist", "triangles", "polygons"])
def test_collada_and_text_are_what_obj_is(tmp_path, kind):
    """In MuJoCo's model: the same vertices, at a scale; the text that recordings keep holds them."""
    for name, content in (("box.obj", OBJ), ("box.dae", collada(kind)), ("box.stl", STL)):
        (tmp_path / name).write_text(content)
    found = {}
    for name in ("box.obj", "box.dae", "box.stl"):
        for tag in ("visual", "collision"):
            path = tmp_path / "r.urdf"
            path.write_text(LINK.format(tag, name))
            model = saltus.load(path, actuators="none", apart=name == "box.dae")
            m = model.mujoco
            corners = m.mesh_vert @ rotation(m.geom_quat[0]).T + m.geom_pos[0]
            found[name, tag] = np.array(sorted(np.round(corners, 5).tolist()))
            assert m.mesh_facenum[0] == 12
    assert_allclose(found["box.obj", "visual"].max(axis=0), [2, 2, 3], atol=1e-5)
    for corners in found.values():
        assert_allclose(corners, found["box.obj", "visual"], atol=2e-5)  # single precision
    again = saltus.load(model.xml)
    assert again.mujoco.mesh_facenum[0] == 12


def rotation(quat):
    w, x, y, z = quat
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def test_nodes_place_and_units_scale(tmp_path):
    """p' = 0.01 (T R S p): a quarter turn about z takes (x, y) to (-y, x); the up axis is left aside."""
    path = tmp_path / "box.dae"
    node = "<translate>5 0 0</translate><rotate>0 0 1 90</rotate><scale>2 1 1</scale>"
    path.write_text(collada(node=node, unit='<unit name="cm" meter="0.01"/>'))
    box = points(path).reshape(-1, 3)
    assert_allclose([box.min(axis=0), box.max(axis=0)], [[0.03, 0, 0], [0.05, 0.02, 0.03]], atol=1e-15)
    path.write_text(collada(node="<matrix>0 -1 0 5  2 0 0 0  0 0 1 0  0 0 0 1</matrix>"))
    box = points(path).reshape(-1, 3)
    assert_allclose([box.min(axis=0), box.max(axis=0)], [[3, 0, 0], [5, 2, 3]], atol=1e-15)
    path.write_text(collada(more='<instance_node url="#far"/>'))
    box = points(path).reshape(-1, 3)
    assert len(box) == 2 * 36 and box[:, 0].max() == 10


def test_volumes_are_those_of_the_box(tmp_path):
    """Triangles are oriented outwards: the divergence theorem gives the volume, 6."""
    for name, content in (("box.dae", collada()), ("box.stl", STL)):
        (tmp_path / name).write_text(content)
        a, b, c = points(tmp_path / name).transpose(1, 0, 2)
        assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(6.0, rel=1e-14)


@pytest.mark.parametrize(
    "content",
    ["", "<COLLADA>", collada().replace("<vcount>4", "<vcount>9"), collada().replace("0 7", "0 8"), "<x/>"]
    + [collada().replace('stride="3"', 'stride="0"'), collada().replace(" 3</float", " nan</float", 1)]
    + [
        collada(unit='<unit meter="x"/>'),
        collada(node="<matrix>1 2 3</matrix>"),
        collada(node="<scale>inf 1 1</scale>"),
    ]
    + [collada().replace('offset="1"', 'offset="-3"'), collada().replace("<vcount>4 4", "<vcount>9e18 9e18")]
    + [collada().replace('url="#g"', 'url="#h"'), collada().replace('source="#v"', 'source="#w"')]
    + [
        collada(more='<instance_node url="#self"/>')
        .replace('id="far"', 'id="self"')
        .replace("<node>", '<node id="self">')
    ],
)
def test_files_that_are_broken_are_named(tmp_path, content):
    path = tmp_path / "box.dae"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"box\.dae"):
        triangles(str(path))
    (tmp_path / "r.urdf").write_text(LINK.format("collision", "box.dae"))
    for apart in (False, True):
        with pytest.raises(saltus.ModelError, match=r"box\.dae.*link 'box'"):
            saltus.load(tmp_path / "r.urdf", apart=apart)


def test_files_that_mujoco_reads_are_left_to_it(tmp_path):
    (tmp_path / "box.stl").write_bytes(b"solid binary" + bytes(100))
    assert triangles(str(tmp_path / "box.stl")) is None and triangles("nowhere.obj") is None
