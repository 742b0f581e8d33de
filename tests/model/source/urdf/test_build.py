"""URDF as Saltus loads it: pictures, links, base, actuators, which links touch.

References: MuJoCo's compiler on the same file with `discardvisual` and `fusestatic` as it has them (masses, inertia
matrix), and closed forms: the motion of a free body, a servo's oscillator.
"""

import warnings

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.model.source.urdf import build

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
INERTIAL = (
    '<inertial><origin xyz="0 0 -.2"/><mass value="2"/>'
    '<inertia ixx=".02" iyy=".02" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
)
BOX = '<{0}><geometry><box size=".1 .1 .1"/></geometry></{0}>'
MESH = '<{0}><geometry><mesh filename="{1}"/></geometry></{0}>'


def robot(base="", upper="", tool="", limit='<limit lower="-1" upper="2" effort="30"/>', settings=""):
    """A base, an arm on a revolute joint, and a tool fixed to it, 0.5 m below."""
    return f"""<robot name="arm">{settings}
      <link name="base">{base}</link><link name="upper">{INERTIAL}{upper}</link><link name="tool">{tool}</link>
      <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
        {limit}</joint>
      <joint name="flange" type="fixed"><origin xyz="0 0 -.5"/><parent link="upper"/><child link="tool"/></joint>
    </robot>"""


def load(text, **choices):
    """The model, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return saltus.load(text, **{"actuators": "none", **choices})


def shown(model):
    """Whether each body has a geom in the groups that are drawn."""
    drawn = model.geom_bodyid[model.geom_group < 3]
    return [i in drawn for i in range(1, model.nbody)]


@pytest.mark.parametrize("apart", [False, True])
def test_links_with_only_a_picture_are_drawn(apart):
    visual, shape = BOX.format("visual"), BOX.format("collision")
    model = load(robot(base=shape, upper=visual + shape, tool=visual), apart=apart, self_collision="not overlapping")
    assert model.names("body") == ["world", "base", "upper", "tool"]
    assert shown(model) == [True, True, True]
    assert model.geom_group.tolist() == [0, 1, 3, 1]  # a shape with a picture is hidden
    assert model.geom_contype.tolist() == [1, 0, 1, 0]
    reference = mujoco.MjSpec.from_string(robot(base=shape, upper=visual + shape, tool=visual)).compile()
    assert model.body_mass[2] == reference.body_mass[1] == 2.0
    assert_allclose(model.body_inertia[2], reference.body_inertia[1], rtol=1e-15)


def test_the_motion_is_that_of_mujoco():
    """Bodies that are not fused, and pictures, leave inertia and acceleration as they are."""
    text = robot(base=BOX.format("visual"), tool=INERTIAL + BOX.format("visual"))
    sim = saltus.Simulation(load(text))
    sim.qpos[0], sim.qvel[0] = 0.3, 1.0
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[0], d.qvel[0] = 0.3, 1.0
    mujoco.mj_forward(m, d)
    sim.forward()
    assert_allclose(sim.data.qacc, d.qacc, rtol=1e-11)


def test_the_files_own_settings_hold():
    visual = BOX.format("visual")
    settings = '<mujoco><compiler discardvisual="true" fusestatic="true"/><option timestep=".01"/></mujoco>'
    model = load(robot(base=visual, settings=settings))
    assert (model.nbody, model.ngeom, model.opt.timestep) == (2, 0, 0.01)
    for settings in ("<mujoco/>", "<mujoco></mujoco>", '<mujoco><option timestep=".01"/></mujoco>'):
        assert load(robot(base=visual, settings=settings)).ngeom == 1


def test_meshes_of_one_name_are_two(tmp_path):
    """visual/part.obj and collision/part.obj, which MuJoCo takes for one mesh; and one file at two scales."""
    for folder, size in (("visual", 1), ("collision", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part.obj").write_text(TETRAHEDRON.replace("1 0 0", f"{size} 0 0", 1))
    scaled = MESH.format("visual", "visual/part.obj").replace("/></g", ' scale="2 2 2"/></g')
    parts = MESH.format("visual", "visual/part.obj") + MESH.format("collision", "collision/part.obj") + scaled
    path = tmp_path / "arm.urdf"
    path.write_text(robot(upper=parts))
    model = load(path)
    assert model.nmesh == 3 and len(set(model.mujoco.geom_dataid.tolist())) == 3
    sizes = [np.ptp(model.mujoco.mesh_vert[a : a + 4], axis=0).prod() for a in model.mujoco.mesh_vertadr]
    assert len({round(float(size), 6) for size in sizes}) == 3


def test_pictures_that_cannot_be_read_leave_the_model(tmp_path):
    """A format that is not read, a broken file, a flat one; as shapes they are errors."""
    contents = {
        "a.ply": "ply",
        "d.dae": "<COLLADA/>",
        "b.stl": "solid",
        "c.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    path = tmp_path / "arm.urdf"
    path.write_text(robot(upper="".join(MESH.format("visual", name) for name in contents) + BOX.format("visual")))
    for apart in (False, True):
        with pytest.warns(saltus.SaltusWarning, match="not drawn") as caught:
            model = saltus.load(path, actuators="none", apart=apart)
        assert model.ngeom == 1 and len(caught) == 1
        assert all(sign in str(caught[0].message) for sign in ("'.ply'", "d.dae", "b.stl", "vertices"))
    for name in contents:
        path.write_text(robot(upper=MESH.format("collision", name)))
        with pytest.raises(saltus.ModelError, match=name[0]):
            saltus.load(path, actuators="none")
    (tmp_path / "a.obj").write_text(TETRAHEDRON)  # beside a.ply
    path.write_text(robot(upper=MESH.format("collision", "a.ply")))
    assert load(path).nmesh == 1


def test_a_picture_without_a_known_shape():
    plane = "<visual><geometry><plane/></geometry></visual>"
    with pytest.warns(saltus.SaltusWarning, match="not drawn"):
        model = saltus.load(robot(upper=plane + BOX.format("collision")), actuators="none")
    assert model.geom_group.tolist() == [0]
    sphere = '<visual><geometry><sphere radius="0"/></geometry></visual>'
    with pytest.warns(saltus.SaltusWarning, match="not drawn: size 0 must be positive"):
        assert saltus.load(robot(upper=sphere), actuators="none").ngeom == 0
    with pytest.raises(saltus.ModelError, match=r"'upper'.*needs a mass"):  # the greater fault
        saltus.load(robot(upper=sphere).replace(INERTIAL, ""), actuators="none")


def test_a_shape_without_a_volume_on_a_link_with_a_mass(tmp_path, monkeypatch):
    """MuJoCo refuses the inertia of some open meshes, as in its words below, although the link's mass is given."""

    def refusing(spec):
        for mesh in spec.meshes:
            if mesh.inertia != mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL:
                raise ValueError(f"Error: mesh volume is too small: {mesh.name} .\nElement name '{mesh.name}', id 0")
        return spec.compile()

    monkeypatch.setattr(build, "compile_spec", refusing)
    (tmp_path / "open.obj").write_text(TETRAHEDRON)
    path = tmp_path / "arm.urdf"
    path.write_text(robot(upper=MESH.format("collision", "open.obj")))
    assert load(path).body_mass[2] == 2
    path.write_text(robot(tool=MESH.format("collision", "open.obj")))
    with pytest.raises(saltus.ModelError, match="volume is too small"):
        saltus.load(path, actuators="none")


def test_errors_name_the_line_of_the_file():
    with pytest.raises(saltus.ModelError) as caught:
        saltus.load(robot().replace('value="2"', 'valu="2"'))
    assert caught.value.line == 2


def test_macros_are_named_and_their_output_is_read():
    for limit in ('<limit lower="${-pi}" upper="1"/>', '<xacro:limits name="shoulder"/>'):
        with pytest.raises(saltus.ModelError, match="write `xacro") as caught:
            saltus.load(robot(limit=limit))
        assert caught.value.line == 4
    # xacro leaves its name space in what it writes
    load(robot().replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'))


def test_text_that_only_mujoco_takes_for_xml():
    """A line before the declaration, "--" in comments, "&" in names, text after the root; lines are kept."""
    odd = '\n<?xml version="1.0"?><!-- a -- b <robot> -->' + robot().replace("flange", "R&D") + "<!-- & --><junk/>"
    assert load(odd, actuators="torque").nu == 1
    with pytest.raises(saltus.ModelError) as caught:
        saltus.load(odd.replace('value="2"', 'valu="2"'))
    assert caught.value.line == 3
    for broken in ("<robot><unclosed></robot>", robot().replace('name="arm"', 'name="a<b"')):
        with pytest.raises(saltus.ModelError, match="line 1"):
            saltus.load(broken, actuators="torque")


# ------------------------------------------------------------ base


def test_a_floating_base_falls_freely():
    """Two links in free fall, at rest: each falls with g."""
    model = load(robot(base=INERTIAL), base="floating")
    assert model.names("joint") == ["base_free_joint", "shoulder"] and model.nv == 7
    sim = saltus.Simulation(model)
    sim.forward()
    assert_allclose(sim.data.qacc, [0, 0, -9.81, 0, 0, 0, 0], atol=1e-12)
    assert load(robot(base=INERTIAL)).nv == 1


def test_bases_that_cannot_float():
    world = robot().replace('"base"', '"world"')
    for text, reason in ((world, "'world'"), (robot(), "mass")):
        with pytest.raises(saltus.ModelError, match=reason):
            saltus.load(text, base="floating")
    two = robot(base=INERTIAL).replace("</robot>", '<link name="far"/></robot>')
    with pytest.raises(saltus.ModelError, match=r"several roots \(base, far\)"):
        saltus.load(two, base="floating")


# ------------------------------------------------------------ actuators


def test_a_model_without_actuators_says_so():
    with pytest.warns(saltus.SaltusWarning, match="no actuators: .*actuators='torque' or 'position'"):
        assert saltus.load(robot()).nu == 0
    load(robot(), actuators="none")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saltus.load('<robot name="table"><link name="top"/></robot>')  # nothing moves


def test_motors_have_the_joints_limits():
    model = load(robot(), actuators="torque")
    assert model.names("actuator") == ["shoulder"]
    assert model.actuator_ctrlrange.tolist() == model.actuator_forcerange.tolist() == [[-30.0, 30.0]]
    sim = saltus.Simulation(model)
    sim.ctrl[0] = 7.0
    sim.forward()
    assert_allclose(sim.data.qfrc_actuator, [7.0], rtol=1e-15)
    endless = load(robot(limit='<limit lower="-1" upper="2"/>'), actuators="torque")
    assert not endless.actuator_ctrllimited[0] and not endless.actuator_forcelimited[0]


@pytest.mark.parametrize("apart", [False, True])
def test_servos_are_critically_damped_oscillators(apart):
    """kp = I omega², kv = 2 I omega with omega of 5 Hz, I = .02 + 2 0.2² about the joint; six digits are kept."""
    model = load(robot(), actuators="position", apart=apart)
    omega, inertia = 2 * np.pi * 5, 0.02 + 2 * 0.2**2
    assert model.actuator_ctrlrange.tolist() == [[-1.0, 2.0]]
    assert model.actuator_forcerange.tolist() == [[-30.0, 30.0]]
    assert_allclose(model.actuator_gainprm[0, 0], inertia * omega**2, rtol=1e-5)
    assert_allclose(model.actuator_biasprm[0, :3], [0, -inertia * omega**2, -2 * inertia * omega], rtol=1e-5)
    assert model.opt.integrator == "implicitfast"
    again = saltus.load(model.xml)  # the text that recordings keep
    assert (again.actuator_biasprm == model.actuator_biasprm).all()
    assert load(robot(settings='<mujoco><option integrator="RK4"/></mujoco>'), actuators="position").opt.integrator == (
        "RK4"
    )


def test_a_servo_reaches_its_target():
    """To the sag of a pendulum: kp (target - q) = m g l sin(q), here solved by the model's own equilibrium."""
    sim = saltus.Simulation(load(robot(), actuators="position"))
    sim.ctrl[0] = 0.5
    sim.step(1000)
    kp = sim.model.actuator_gainprm[0, 0]
    assert_allclose(kp * (0.5 - sim.qpos[0]), 2 * 9.81 * 0.2 * np.sin(sim.qpos[0]), rtol=1e-6)
    assert abs(sim.qpos[0] - 0.5) < 0.05


def test_followers_and_passive_joints_have_none():
    joint = (
        '<joint name="{0}" type="{1}"><parent link="upper"/><child link="{0}"/>{2}</joint><link name="{0}">{3}</link>'
    )
    parts = joint.format("finger", "continuous", '<mimic joint="shoulder"/>', INERTIAL)
    parts += joint.format("wheel", "continuous", "", INERTIAL) + joint.format("ball", "spherical", "", INERTIAL)
    model = load(robot().replace("</robot>", parts + "</robot>"), actuators="torque")
    assert model.names("actuator") == ["shoulder", "wheel"] and model.neq == 1


# ------------------------------------------------------------ which links touch


SHAPE = BOX.format("collision")


def touching(model):
    """Names of the bodies in contact at the reference position, by MuJoCo."""
    m = model.mujoco
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    return {tuple(sorted(m.body(m.geom_bodyid[g]).name for g in contact.geom)) for contact in d.contact}


def test_neighbours_of_the_base_that_overlap_it_do_not_touch_it():
    """MuJoCo keeps neighbours apart unless one is fixed: there the joint would be locked."""
    text = robot(base=SHAPE, upper=SHAPE)
    assert mujoco.MjSpec.from_string(text).compile().nexclude == 0
    with pytest.warns(saltus.SaltusWarning, match=r"overlap the fixed base .'base and upper'"):
        model = saltus.load(text, actuators="none")
    assert touching(model) == set()
    # those that do not overlap may touch it: a block that slides onto its base
    apart = text.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 0 1"/><origin xyz="0 0 .3"/>').replace(
        "revolute", "prismatic"
    )
    assert load(apart).mujoco.nexclude == 0


@pytest.mark.parametrize("apart", [False, True])
def test_links_that_overlap(apart):
    """A tool in the place of the base, two joints away, touches it as in MuJoCo; three ways."""
    elbow = '<joint name="elbow" type="continuous"><parent link="upper"/><child link="tool"/></joint></robot>'
    text = robot(base=SHAPE, tool=INERTIAL + SHAPE)
    text = text[: text.index('<joint name="flange"')] + elbow
    with pytest.warns(saltus.SaltusWarning, match=r"overlap at .*'base and tool'.*self_collision="):
        model = saltus.load(text, actuators="none", apart=apart)
    assert touching(model) == {("base", "tool")}
    assert touching(load(text, self_collision="not overlapping", apart=apart)) == set()
    model = load(text, self_collision=False, apart=apart)
    assert touching(model) == set()
    assert model.geom_contype.tolist() == [1, 1] and model.geom_conaffinity.tolist() == [0, 0]  # touch what is added


# ------------------------------------------------------------ arguments


@pytest.mark.parametrize("wrong", [dict(actuators="motor"), dict(base="free"), dict(self_collision="some")])
def test_choices_that_there_are_not(wrong):
    with pytest.raises(saltus.OptionError, match=next(iter(wrong))):
        saltus.load(robot(), **wrong)


@pytest.mark.parametrize("choice", [dict(actuators="torque"), dict(base="floating"), dict(self_collision=False)])
def test_choices_are_for_urdf_only(choice, tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<mujoco/>")
    for source in ("pendulum", "n_link:2", "<mujoco/>", path, saltus.load("pendulum"), mujoco.MjSpec()):
        with pytest.raises(saltus.OptionError, match="for URDF only"):
            saltus.load(source, **choice)
