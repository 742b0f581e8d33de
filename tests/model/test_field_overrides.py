"""Models with other values.

Reference: MuJoCo's compiler, given the same text with the changed value in it. The compiled models are then equal in
every number, those that are derived included (weights of subtrees, inverse weights, lengths), to rounding.
"""

import pickle

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.model.field_overrides import value_of

TEXT = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.01" gravity="0 0 {gravity}" density="{density}"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1" friction="{friction} .005 .0001"/>
    <body name="trunk" pos="0 0 1">
      <freejoint name="free"/>
      <inertial pos="0 0 .1" mass="{mass}" diaginertia="{inertia}"/>
      <geom size=".1"/>
      <body name="arm" pos="{place} 0 0">
        <joint name="hinge" axis="0 1 0" damping="{damping}" stiffness="{stiffness}" range="-1 {top}" limited="true"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass=".5"/>
        <body name="hand" pos=".3 0 0">
          <joint name="ball" type="ball" armature=".02"/>
          <geom size=".03" mass=".1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="cord" stiffness="{cord}"><joint joint="hinge" coef="1"/></fixed></tendon>
  <actuator><motor name="motor" joint="hinge" gear="{gear}"/></actuator>
</mujoco>
"""
VALUES = dict(
    *[dict(gravity=-9.81, density=0, friction=1, mass=2, inertia=".1 .2 .25", place=0.1, damping=0.1, stiffness=1)],
    top=1,
    cord=3,
    gear=2,
)


def text(**values):
    return TEXT.format(**{**VALUES, **values})


def assert_same(found, expected):
    """Every number of two compiled models; trees of boxes, whose order may differ, by geoms and roots."""
    trees = []
    for m in (found, expected):
        leaves = np.argsort(m.bvh_nodeid)[np.sum(m.bvh_nodeid < 0) :]
        trees.append(np.concatenate([m.bvh_aabb[leaves], m.bvh_aabb[m.body_bvhadr[m.body_bvhnum > 0]]]))
    np.testing.assert_allclose(*trees, rtol=1e-12, atol=1e-14)
    for name in set(dir(expected)) - {"bvh_aabb"}:
        value = getattr(expected, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not name.startswith(("light", "cam")):
            np.testing.assert_allclose(getattr(found, name), value, rtol=1e-12, atol=1e-14, err_msg=name)
    for name in ("gravity", "density", "timestep"):
        np.testing.assert_array_equal(getattr(found.opt, name), getattr(expected.opt, name), err_msg=name)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("body_mass[trunk]", 3.0, dict(mass=3)),
        ("body_scale_mass[trunk]", 3.0, dict(mass=3, inertia=".15 .3 .375")),
        ("body_inertia[trunk]", [0.3, 0.2, 0.4], dict(inertia=".3 .2 .4")),
        ("body_pos[arm][0]", 0.25, dict(place=0.25)),
        ("dof_damping[hinge]", 0.7, dict(damping=0.7)),
        ("jnt_stiffness[hinge]", 9.0, dict(stiffness=9)),
        ("jnt_range[hinge][1]", 0.5, dict(top=0.5)),
        ("geom_friction[floor][0]", 0.3, dict(friction=0.3)),
        ("tendon_stiffness[cord]", 8.0, dict(cord=8)),
        ("actuator_gear[motor][0]", 5.0, dict(gear=5)),
        ("opt.gravity[2]", -1.62, dict(gravity=-1.62)),
        ("opt.density", 1.2, dict(density=1.2)),
    ],
)
def test_equals_the_model_of_the_changed_text(key, value, words):
    model = saltus.load(text())
    before = model.value(key)
    changed = model.changed({key: value})
    assert_same(changed.mj_model, mujoco.MjModel.from_xml_string(text(**words)))
    np.testing.assert_array_equal(changed.value(key), value)
    np.testing.assert_array_equal(model.value(key), before)  # which is as it was
    assert_same(model.mj_model, mujoco.MjModel.from_xml_string(text()))


SHAPES = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="arm" pos="0 0 1">
      <joint name="hinge" axis="{axis}" pos="{anchor}"/>
      <inertial pos="{centre}" quat="{frame}" mass="2" diaginertia=".1 .2 .25"/>
      <geom name="box" type="box" size="{box}" pos="{place} 0 0" quat="{turn}"/>
      <geom name="rod" type="capsule" size="{rod}" pos="0 0 .4" quat=".8 0 .6 0"/>
      <geom name="can" type="cylinder" size="{can}" pos="0 .6 0"/>
      <site name="tip" pos="{tip}" quat="1 0 0 0"/>
      <body pos="0 0 .5" name="hand">
        <joint name="ball" type="ball"/>
        <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>
        <geom name="egg" type="ellipsoid" size="{egg}"/>
        <geom name="marble" size="{marble}" pos=".3 .1 0"/>
        <geom name="fin" type="ellipsoid" size=".1 .2 .3" fluidshape="ellipsoid" contype="0" conaffinity="0"/>
      </body>
    </body>
    <body name="puck" pos="1 0 1"><freejoint name="free"/><geom size=".1"/></body>
  </worldbody>
  <contact><pair name="own" geom1="floor" geom2="egg" friction="{pair} .7 .005 .0001 .0001"/></contact>
</mujoco>
"""
OWN = dict(
    axis="0 1 0", anchor="0 0 0", centre=".1 0 0", frame="1 0 0 0", place=".2", turn="1 0 0 0", tip="0 0 .1", pair=1
)
OWN |= dict(box=".1 .2 .3", rod=".1 .3", can=".1 .2", egg=".2 .3 .1", marble=".1")


def shapes(**values):
    return SHAPES.format(**{**OWN, **values})


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("geom_size[box]", [0.3, 0.1, 0.2], dict(box=".3 .1 .2")),
        ("geom_size[rod][1]", 0.5, dict(rod=".1 .5")),
        ("geom_size[can][0]", 0.4, dict(can=".4 .2")),
        ("geom_size[egg][2]", 0.5, dict(egg=".2 .3 .5")),
        ("geom_size[marble][0]", 0.25, dict(marble=".25")),
        ("geom_pos[box][0]", -0.3, dict(place="-.3")),
        ("geom_quat[box]", [0.6, 0.8, 0, 0], dict(turn=".6 .8 0 0")),
        ("site_pos[tip]", [0.1, 0.2, 0.3], dict(tip=".1 .2 .3")),
        ("jnt_pos[hinge][2]", 0.2, dict(anchor="0 0 .2")),
        ("jnt_axis[hinge]", [0.6, 0, 0.8], dict(axis=".6 0 .8")),
        ("body_ipos[arm][1]", 0.3, dict(centre=".1 .3 0")),
        ("body_iquat[arm]", [0.6, 0, 0.8, 0], dict(frame=".6 0 .8 0")),
        ("pair_friction[own][0]", 0.2, dict(pair=0.2)),
    ],
)
def test_geometry_with_the_bounds_of_the_compiler(key, value, words):
    """Bounding spheres, boxes and the trees of boxes of bodies, too."""
    changed = saltus.load(shapes()).changed({key: value})
    assert_same(changed.mj_model, mujoco.MjModel.from_xml_string(shapes(**words)))
    np.testing.assert_array_equal(changed.value(key), value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("geom_size[box][0]", 0.0, r"geom_size\[box\]\[0\] must be positive"),
        ("geom_size[marble][1]", 0.1, r"has no effect: the shape has 1 sizes"),
        ("geom_size[floor][0]", 2.0, "not made from its size"),
        ("geom_size[fin][0]", 0.2, "coefficients in a fluid"),
        ("geom_quat[box]", [1.0, 1.0, 0.0, 0.0], "must have length 1, not 1.41421"),
        ("body_quat[hand]", [2.0, 0.0, 0.0, 0.0], "must have length 1, not 2"),
        ("jnt_axis[hinge][0]", 1.0, "must have length 1"),
        ("jnt_axis[ball]", [0.0, 1.0, 0.0], "turn about every axis"),
        ("jnt_pos[free][0]", 1.0, "a free joint has no anchor"),
        ("body_ipos[puck][0]", 0.1, 'set simple="false"'),
    ],
)
def test_geometry_without_effect_or_meaning_is_refused(key, value, message):
    with pytest.raises(OptionError, match=message):
        saltus.load(shapes()).changed({key: value})


def test_a_ball_that_has_grown_touches_the_floor():
    """Its contact, 0.25 m deep, lies halfway between the plane and its lowest point."""
    xml = """<mujoco><worldbody><geom type="plane" size="5 5 1"/><body name="ball" pos="0 0 .35"><freejoint/>
        <geom name="round" size=".1"/></body></worldbody></mujoco>"""
    model = saltus.load(xml)
    sim = saltus.Simulation(model.changed({"geom_size[round][0]": 0.6}))
    sim.forward()
    (contact,) = sim.data.contact
    np.testing.assert_allclose((contact["dist"], contact["pos"][2]), (-0.25, -0.125), rtol=1e-12)
    assert not saltus.Simulation(model).data.ncon


def test_several_at_once_and_again():
    """A mass given with an inertia leaves the inertia as given, in any order; changes add up."""
    model = saltus.load(text())
    for mass in ("body_mass[trunk]", "body_scale_mass[trunk]"):
        for keys in ([mass, "body_inertia[trunk]"], ["body_inertia[trunk]", mass]):
            values = {mass: 4.0, "body_inertia[trunk]": [0.3, 0.2, 0.4]}
            changed = model.changed({key: values[key] for key in keys})
            assert_same(changed.mj_model, mujoco.MjModel.from_xml_string(text(mass=4, inertia=".3 .2 .4")))
    again = changed.changed({"opt.gravity[2]": 0.0, mass: 8.0})
    assert_same(again.mj_model, mujoco.MjModel.from_xml_string(text(mass=8, inertia=".6 .4 .8", gravity=0)))
    assert again.changes == {"body_inertia[trunk]": [0.3, 0.2, 0.4], mass: 8.0, "opt.gravity[2]": 0.0}
    assert pickle.loads(pickle.dumps(again)).changes == again.changes


def test_coordinates_by_label_and_elements_by_number():
    model = saltus.load(text())
    changed = model.changed({"dof_damping[ball.wy]": 0.5, "dof_damping[free.vz]": 2.0, "body_mass[#2]": 1.0})
    damping = np.zeros(model.nv)
    damping[[2, 6, 8]] = 2.0, 0.1, 0.5
    np.testing.assert_array_equal(changed.dof_damping, damping)
    assert changed.body_mass[2] == 1.0
    np.testing.assert_array_equal(model.changed({"dof_damping[ball]": [1, 2, 3]}).dof_damping[7:], [1, 2, 3])
    assert model.changed({"qpos_spring[hinge]": 0.4}).qpos_spring[7] == 0.4
    assert model.changed({"dof_damping[ball][2]": 3.0}).dof_damping[9] == 3.0


def test_what_was_left_out_stays_left_out():
    model = saltus.load(text(), ignore=["contact", "limit"])
    assert model.changed({"body_mass[trunk]": 3.0}).ignored == model.ignored


def test_features_that_appear_are_simulated():
    model = saltus.load(text())
    assert "fluid" not in model.struct().layout.features
    assert "fluid" in model.changed({"opt.viscosity": 0.1}).struct().layout.features


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("body_mas[trunk]", 1.0, "did you mean 'body_mass'"),
        ("body_mass[tronk]", 1.0, "did you mean 'trunk'"),
        ("body_mass[#7]", 1.0, "unknown body"),
        ("body_mass", 1.0, "which body"),
        ("body_mass[trunk]", -1.0, "must not be negative"),
        ("body_mass[trunk]", 0.0, "must be positive"),
        ("body_mass[world]", 1.0, "has no mass"),
        ("body_scale_mass[world]", 1.0, "has no mass"),
        ("body_scale_mass[trunk]", 0.0, "must be positive"),
        ("body_inertial[trunk][0]", -1.0, "the mass of a body must be positive"),
        ("body_inertial[trunk][4]", 9.0, "no rigid body has principal inertias"),
        ("body_inertial[world]", [0.0] * 10, "has no mass"),
        ("body_inertial[trunk][10]", 1.0, r"index \[10\] is out of range; it has 10"),
        ("body_pseudo_inertia[trunk]", 1.0, "takes 10 numbers"),
        ("body_mass[trunk]", float("nan"), "must be finite"),
        ("body_mass[trunk]", "heavy", "must be a number"),
        ("body_mass[trunk]", [1.0, 2.0], "takes one number, not 2"),
        ("body_mass[trunk][0]", 1.0, r"index \[0\] is out of range; it is a single number"),
        ("body_inertia[trunk]", [1.0, 1.0, 3.0], "no rigid body has principal inertias"),
        ("body_pos[trunk][0]", 1.0, "is set by its qpos"),
        (
            "geom_friction[floor]",
            1.0,
            r"geom_friction\[floor\] takes 3 numbers, as .*, not one; geom_friction\[floor\]\[0\] is one of them",
        ),
        ("geom_friction[floor][3]", 1.0, r"index \[3\] is out of range; it has 3"),
        ("dof_damping[hing]", 1.0, "did you mean 'hinge'"),
        ("opt.gravty[2]", 1.0, "did you mean 'gravity'"),
        ("opt.timestep", 0.0, "must be positive"),
        ("jnt_type[hinge]", 3.0, "unknown field"),
        ("body mass", 1.0, "is not a value"),
        ("", 1.0, "is not a value"),
        (3, 1.0, "is not a value"),
    ],
)
def test_errors_name_what_is_wrong(key, value, message):
    with pytest.raises(OptionError, match=message):
        saltus.load(text()).changed({key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [("actuator_dynprm[dc][5]", 0.0), ("actuator_dynprm[dc][0]", 0.01), ("actuator_gainprm[pid][0]", 0.0)],
)
def test_states_of_motors_neither_begin_nor_cease(key, value):
    """MuJoCo's compiler counts them: `na` is that of the file."""
    text = """<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><actuator>
      <dcmotor name="dc" joint="j" resistance="1" motorconst=".1" lugre="9 0 1 1 1"/>
      <pid name="pid" joint="j" kp="1" ki="2"/></actuator></mujoco>"""
    model = saltus.load(text)
    assert model.na == 2 and model.changed({"actuator_dynprm[dc][5]": 7.0}).actuator_dynprm[0, 5] == 7.0
    with pytest.raises(OptionError, match=r"cannot begin or cease"):
        model.changed({key: value})


def test_mass_distributions():
    """exp(2 α) is the mass, with which all moments scale."""
    model = saltus.load(text())
    key = "body_pseudo_inertia[trunk]"
    alpha = float(np.log(model.body_mass[model.id("body", "trunk")])) / 2
    heavier = model.changed({f"{key}[0]": alpha + 0.5 * np.log(3.0)})
    scaled = model.changed({"body_scale_mass[trunk]": 3.0 * model.body_mass[model.id("body", "trunk")]})
    for name in ("body_mass", "body_inertia", "body_ipos", "body_iquat", "body_subtreemass", "dof_invweight0"):
        np.testing.assert_allclose(
            getattr(heavier.mj_model, name), getattr(scaled.mj_model, name), rtol=1e-12, err_msg=name
        )
    for other in ("body_mass[trunk]", "body_inertial[trunk][0]", "body_ipos[trunk][0]"):
        with pytest.raises(OptionError, match="numbers of one mass distribution; give one"):
            model.changed({f"{key}[0]": 0.1, other: 2.0})
    assert model.changed({f"{key}[0]": 0.1, "body_mass[arm]": 2.0}).body_mass[model.id("body", "arm")] == 2.0
    assert heavier.changes == {f"{key}[0]": alpha + 0.5 * np.log(3.0)}
    values = value_of(heavier.mj_model, "body_inertial[trunk]", {})
    again = model.changed({f"body_inertial[trunk][{k}]": value for k, value in enumerate(values)})
    np.testing.assert_allclose(again.body_inertia, heavier.body_inertia, rtol=1e-12)


def test_a_changed_pendulum_swings_as_it_should():
    """Small swings of a point mass on a rod: the period is 2π sqrt(l/g), whatever the mass; on the moon 2.46 times."""
    model = saltus.load("pendulum")
    moon = model.changed({"opt.gravity[2]": -1.62, "body_mass[pendulum]": 7.0})
    sim = saltus.Simulation(moon, "rk4", timestep=0.01)
    sim.qpos[:] = 1e-3
    quarter = 0.5 * np.pi * np.sqrt(2.0 / 1.62)
    run = sim.run(quarter, sample=quarter)
    assert abs(run.qpos[-1, 0]) < 1e-8
    assert moon.struct().layout.name == model.struct().layout.name  # so that compiled code serves both
