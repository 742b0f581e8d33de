"""Derivatives of sensor readings are exact.

Law: C = ∂y/∂(q, v, w), D = ∂y/∂u, P = ∂y/∂p of the readings y at one state, in the tangent space, as MuJoCo's
`mjd_transitionFD` defines C and D.

References: differences of sixth order of the readings, closed forms, MuJoCo's `mj_jacSite` and `mjd_transitionFD`.
Tolerances: differences over distances h truncate at h⁶ times the seventh derivative, far below rounding, which is
1e-15 of the readings over h: 1e-9 of the largest derivative of a type of sensor. Where contacts and limits let h be
only 1e-6, rounding of forces (1e-14 of their terms) leaves 1e-7. MuJoCo's differences of 1e-6 leave 1e-6.
"""

import copy

import mujoco
import numpy as np
import pytest
from helpers.reading_differences import differences
from helpers.sensors import compiled, every_sensor, put, states

import saltus
from saltus.errors import EventError, OptionError
from saltus.model.vary.columns import columns
from saltus.number.trigonometry import sincos

EXACT = 1e-9
TREE = """
<mujoco><option timestep="0.01" magnetic="0.1 -0.4 0.3"/><worldbody>
  <body name="arm"><joint name="j" axis="0 1 0" damping="0.2" stiffness="1"/>
    <inertial pos="0 0 -0.3" mass="1" diaginertia="0.05 0.05 0.01"/><site name="mount" pos="0 0 -.1" euler="10 20 30"/>
    <body name="hand" pos="0 0 -0.6"><joint name="ball" type="ball" damping="0.1" stiffness="0.5"/>
      <inertial pos="0 0.1 -0.2" mass="0.5" diaginertia="0.02 0.02 0.01"/>
      <body name="finger"><joint name="s" type="slide" axis="1 0 1" stiffness="20"/>
        <inertial pos=".1 0 0" mass="0.2" diaginertia="0.02 0.02 0.01"/><site name="tip" pos=".1 .2 0" euler="50 10 0"/>
      </body></body></body>
  <body name="drone" pos="1 0 0"><freejoint/><inertial pos="0.1 0 0" mass="1" diaginertia="0.02 0.03 0.04"/>
    <site name="drone" pos="0 .1 .2"/></body>
</worldbody><actuator><motor name="m" joint="j" gear="2"/>
  <general name="slow" joint="s" dyntype="filter" dynprm="0.1" gainprm="3"/></actuator>
<sensor><framepos name="place" objtype="site" objname="tip"/><framequat name="turn" objtype="site" objname="tip"/>
  <accelerometer name="acc" site="tip"/><gyro name="gyro" site="tip"/><force name="force" site="tip"/>
  <torque name="torque" site="mount"/><ballquat name="quat" joint="ball"/><actuatorfrc name="pull" actuator="slow"/>
  <framelinacc name="felt" objtype="site" objname="drone"/><subtreeangmom name="spin" body="arm"/>
  <magnetometer name="north" site="drone"/><e_potential/><e_kinetic/></sensor></mujoco>"""
PENDULUM = """
<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0"/>
  <inertial pos="0 0 -1" mass="2" diaginertia="1e-12 1e-12 1e-12"/><site name="mount"/><site name="bob" pos="0 0 -1"/>
  </body></worldbody><actuator><motor joint="j"/></actuator>
  <sensor><accelerometer name="acc" site="bob"/><force name="force" site="mount"/></sensor></mujoco>"""
GEOMETRY = """
<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/><geom type="sphere" size=".3" pos="1.2 .1 .5"/>
  <geom type="ellipsoid" size=".2 .3 .25" pos="-.1 1.3 .6"/><geom type="cylinder" size=".2 .3" pos="-1.2 0 .5"/>
  <body name="arm" pos="0 0 .8" euler="10 20 30"><joint type="ball"/>
    <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.3" mass="1"/>
    <camera name="eye" pos="0 0 -.1" euler="70 0 20" resolution="3 2"/>
    <body pos="0 0 -.3"><joint axis="0 1 0" damping=".1"/>
      <geom name="box" type="box" size=".05 .07 .1" pos="0 0 -.1" mass=".5"/>
      <site name="tip" pos="0.02 0.01 -.2" euler="10 190 0"/><site name="ahead" pos="0 0 -.1" euler="0 80 0"/>
      <site name="round" type="ellipsoid" size=".2 .3 .1"/></body></body>
  <body name="cart" pos=".3 -.6 .2"><freejoint/><geom name="cart" type="box" size=".1 .15 .1" mass="1"/>
    <site name="cart"/></body>
</worldbody><sensor><rangefinder site="tip"/><rangefinder site="ahead" data="dist dir origin point normal depth"/>
  <rangefinder camera="eye" data="dist point normal depth"/><camprojection site="cart" camera="eye"/>
  <insidesite site="round" objtype="site" objname="tip"/><distance geom1="box" geom2="cart" cutoff="3"/>
  <distance body1="arm" body2="cart" cutoff="3"/><distance name="far" geom1="box" geom2="cart" cutoff=".01"/>
  </sensor></mujoco>"""
DATA = "found force torque dist pos normal tangent linvel angvel"
CONTACTS = f"""
<mujoco><option cone="{{}}" timestep=".002" tolerance="1e-20" iterations="200"/>
<asset><mesh name="pad" vertex="-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 0 0 .1"/></asset><worldbody>
  <geom name="floor" type="plane" size="5 5 .1" condim="4" friction=".6 .02 .001"/>
  <body name="box" pos="0 0 .099" euler="1 .5 10"><freejoint/><geom name="box" type="box" size=".1 .15 .1" mass="1"/>
    <site name="zone" type="box" size=".3 .3 .3"/></body>
  <body name="ball" pos=".05 .02 .297"><freejoint/><geom name="ball" size=".1" mass=".5" condim="6"/><site name="c"/>
  </body></worldbody><sensor><touch site="zone"/><contact geom1="floor" geom2="box" data="{DATA}" num="4"/>
  <contact geom1="floor" geom2="box" data="force torque pos" num="1" reduce="netforce"/>
  <contact body1="box" body2="ball" data="{DATA}" num="1" reduce="maxforce"/>
  <contact subtree1="box" data="dist pos" num="2" reduce="mindist"/><accelerometer name="acc" site="c"/>
  <tactile geom="box" mesh="pad"/></sensor></mujoco>"""
REFUSED = {"user", "plugin", "geomnormal", "geomfromto"}


def assert_rows(model, found, wanted, tolerance):
    """Derivatives agree to a tolerance of the largest of each type of sensor, or of 1."""
    kinds = np.repeat(model.sensor_type, model.sensor_dim)
    for kind in np.unique(kinds):
        rows = kinds == kind
        scale = max(1.0, np.abs(wanted[rows]).max())
        assert np.abs(found[rows] - wanted[rows]).max() <= tolerance * scale, mujoco.mjtSensor(kind).name


def moving(source, seed=0, **options):
    """A simulation at a random state near the start, under random inputs."""
    sim, rng = saltus.Simulation(saltus.load(source), **options), np.random.default_rng(seed)
    mujoco.mj_integratePos(sim.model.mujoco, sim.qpos, 0.3 * rng.normal(size=sim.model.nv), 1.0)
    sim.qvel[:] = rng.normal(size=sim.model.nv)
    sim.act[:], sim.ctrl[:] = rng.normal(size=len(sim.act)), rng.normal(size=sim.model.nu)
    return sim


# ---------------------------------------------------------------- closed forms


def test_a_pendulums_accelerometer_and_mount():
    """A mass at the end of a rod: ω' = u/(m l²) - g sin q/l; the bob reads l ω' + g sin q and l ω² + g cos q.

    In the rod's axes x, z the mount carries m times that, upwards positive.
    """
    sim, m, g, q, w = saltus.Simulation(PENDULUM), 2.0, 9.81, 0.5, 0.7
    sim.qpos, sim.qvel, sim.ctrl = q, w, 0.3
    before = sim.snapshot()
    C, D = sim.linearize_sensors()
    np.testing.assert_array_equal(sim.snapshot(), before)
    # along the rod: w² + g cos q; across: -u/m, gravity's part being felt by the bob as its own acceleration
    expected = np.array([[0.0, 0.0], [0.0, 0.0], [-g * np.sin(q), 2 * w]])
    np.testing.assert_allclose(C, np.vstack([expected, m * expected]), rtol=0, atol=1e-10)
    np.testing.assert_allclose(D[:, 0], [-1 / m, 0, 0, -1, 0, 0], rtol=0, atol=1e-10)
    found = sim.linearize_sensors("acc", parameters=("opt.gravity[2]", "body_mass[b]"))
    np.testing.assert_allclose(found.P, [[0, 0.3 / m**2], [0, 0], [-np.cos(q), 0]], rtol=0, atol=1e-10)
    assert found.names == ("opt.gravity[2]", "body_mass[b]") and found.readings == ("acc[0]", "acc[1]", "acc[2]")


def test_places_have_the_jacobians_of_sites():
    sim = moving(TREE)
    C, D = sim.linearize_sensors("place")
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = sim.qpos
    mujoco.mj_forward(m, d)
    jacobian = np.zeros((3, m.nv))
    mujoco.mj_jacSite(m, d, jacobian, None, m.site("tip").id)
    np.testing.assert_allclose(C[:, : m.nv], jacobian, rtol=0, atol=1e-14)
    assert not C[:, m.nv :].any() and not D.any()


@pytest.mark.slow
def test_hard_contact_between_events(one_hard_layout):
    """A ball that slides, pushed by u: N = m g - u, friction -μ N along its way and across by the way's direction.

    Without an approach velocity, sliding stays sliding; the normal force is that of statics (Coulomb).
    """
    mu, m, v = 0.3, 2.0, 2.0
    ball = f"""<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1" friction="0.1"/>
    <body name="b" pos="0 0 .1"><freejoint name="f"/><geom name="g" size=".1" mass="{m}" friction="{mu}"/>
    <site name="s" type="sphere" size=".2"/></body></worldbody>
    <actuator><general joint="f" gear="0 0 1 0 0 0"/></actuator><sensor><touch name="t" site="s"/>
    <framelinacc name="a" objtype="site" objname="s"/></sensor></mujoco>"""
    sim = saltus.Simulation(saltus.load(ball), "dopri5", contact="hard")
    sim.qvel[0] = v
    found = sim.linearize_sensors(parameters=("opt.gravity[2]", "body_mass[b]", "geom_friction[g][0]"))
    # the normal force, then the acceleration along and across the way
    assert np.allclose(found.D[:3, 0], [-1.0, mu / m, 0.0], rtol=0, atol=1e-9)
    assert np.allclose(found.P[:2, :2], [[-m, 9.81], [mu, 0.0]], rtol=0, atol=1e-9)
    assert np.allclose(found.P[:3, 2], [0.0, -9.81, 0.0], rtol=0, atol=1e-9)
    assert np.allclose(found.C[:3, 7], [0.0, 0.0, -mu * 9.81 / v], rtol=0, atol=1e-7)


# ---------------------------------------------------------------- differences


@pytest.mark.parametrize("integrator", ["euler", "dopri5"])
def test_a_tree_with_all_joints(integrator):
    """Readings at an instant do not depend on the method of the steps."""
    sim = moving(TREE, integrator=integrator)
    C, D = sim.linearize_sensors()
    assert C.shape == (sim.model.nsensordata, 2 * sim.model.nv + 1) and D.shape == (sim.model.nsensordata, 2)
    assert_rows(sim.model, np.hstack([C, D]), differences(sim, 3e-3), EXACT)


@pytest.mark.slow
def test_parameters():
    names = ("body_mass[hand]", "body_ipos[hand][1]", "dof_damping[j]", "site_pos[tip][0]", "actuator_gear[m][0]")
    names += ("opt.gravity[0]", "opt.magnetic[1]", "jnt_stiffness[s]", "body_pos[hand][2]")
    sim = moving(TREE)
    found = sim.linearize_sensors(parameters=names)
    assert found.names == names and len(found.readings) == sim.model.nsensordata
    for k, name in enumerate(names):
        ends, h = [], 1e-3
        for distance in (-2, -1, 1, 2):
            other = saltus.Simulation(changed(sim.model, name, distance * h))
            other.qpos[:], other.qvel[:], other.act[:], other.ctrl[:] = sim.qpos, sim.qvel, sim.act, sim.ctrl
            ends.append(other.sensordata)
        wanted = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        np.testing.assert_allclose(found.P[:, k], wanted, rtol=0, atol=1e-8 * max(1.0, np.abs(wanted).max()))


def changed(model, name, by):
    """The model with a parameter changed by an amount, and MuJoCo's constants derived from it anew."""
    (column,) = columns(model, [name])
    m = copy.copy(model.mujoco)
    source = m.opt if column.field.startswith("opt.") else m
    np.reshape(getattr(source, column.field.removeprefix("opt.")), -1)[column.place] += by
    mujoco.mj_setConst(m, mujoco.MjData(m))
    return saltus.load(m)


@pytest.mark.slow
def test_rays_cameras_and_distances():
    sim = moving(GEOMETRY, seed=1)
    C, D = sim.linearize_sensors()
    assert_rows(sim.model, np.hstack([C, D]), differences(sim, 1e-3), EXACT)
    assert not C[-1].any()  # beyond the cutoff


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contacts_and_touch(cone):
    """A box on the floor with a ball on it, both a little in motion: forces of friction, taxels, contact points."""
    sim = saltus.Simulation(saltus.load(CONTACTS.format(cone)))
    sim.qvel[:] = 0.1 * np.random.default_rng(1).normal(size=sim.model.nv)
    C, _ = sim.linearize_sensors()
    assert sim.data.ncon == 3 and sim.sensordata[0] > 5.0
    assert_rows(sim.model, C, differences(sim, 1e-6), 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_every_sensor_in_the_laboratory(cone):
    """All types on all objects, with contacts, limits, equalities, tendons, mocap bodies."""
    m = compiled([element for element in every_sensor() if not element.startswith("<user")], cone)
    sim = saltus.Simulation(saltus.load(m))
    for d in states(m, 2, seed=3):
        put(sim, d)
        assert_rows(m, np.hstack(sim.linearize_sensors()), differences(sim, 1e-5), 1e-7)


def test_every_type_is_right_or_refused():
    """Each type of MuJoCo's sensors is in a test against differences, or among those refused."""
    covered = {
        int(saltus.load(source).sensor_type[s]) for source in (GEOMETRY, CONTACTS.format("elliptic")) for s in range(7)
    }
    covered |= set(compiled(every_sensor()).sensor_type.tolist())
    names = {mujoco.mjtSensor(kind).name.removeprefix("mjSENS_").lower() for kind in covered} | REFUSED
    assert names == {name.removeprefix("mjSENS_").lower() for name in mujoco.mjtSensor.__members__}


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_forces_of_constraint_rows_and_other_fields(cone):
    """Forces of rows, accelerations, energies and the wrenches of bodies, by state and by a mass."""
    fields = ("efc_force", "qacc", "qfrc_constraint", "energy", "xpos[ball]", "cfrc_ext[box]", "cacc[ball][4]")

    def read(sim):
        data = sim.data
        whole = data.efc_force, data.qacc, data.qfrc_constraint, sim.energy(), data.xpos[2], data.cfrc_ext[1]
        return np.concatenate([*(np.array(x) for x in whole), [data.cacc[2, 4]]])

    sim = saltus.Simulation(saltus.load(CONTACTS.format(cone)))
    sim.qvel[:] = 0.1 * np.random.default_rng(1).normal(size=sim.model.nv)
    found = sim.linearize_data(fields, parameters=("body_mass[box]", "geom_friction[floor][0]"))
    assert found.readings[0] == "efc_force[0]" and found.readings[-1] == "cacc[ball][4]"
    C = differences(sim, 1e-6, read)
    assert found.C.shape == C.shape and np.abs(found.C - C).max() <= 1e-7 * np.abs(C).max()
    np.testing.assert_array_equal(sim.linearize_data("qacc")[0], found.C[sim.data.nefc :][: sim.model.nv])
    for k, name in enumerate(found.names):
        ends = []
        for sign in (1, -1):
            other = saltus.Simulation(changed(sim.model, name, sign * 1e-5))
            other.qpos[:], other.qvel[:] = sim.qpos, sim.qvel
            ends.append(read(other))
        wanted = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(found.P[:, k], wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())


def test_energy_and_inertia_forces_in_closed_form():
    """E_pot = -m g l cos q, E_kin = m l² q'²/2."""
    sim = saltus.Simulation(PENDULUM)
    sim.qpos, sim.qvel = 0.5, 0.7
    C, D = sim.linearize_data("energy")
    np.testing.assert_allclose(C, [[2 * 9.81 * np.sin(0.5), 0], [0, 2 * 0.7]], rtol=0, atol=1e-10)
    assert not D.any()
    for field, words in {
        "efc_pos": "only efc_force has derivatives",
        "qLD": "qLD has no derivatives",
        "sensordata": "linearize_sensors",
        "nothing": "unknown quantity",
        "contact_force": "column of recordings",
    }.items():
        with pytest.raises(OptionError, match=words):
            sim.linearize_data(field)
    with pytest.raises(OptionError, match="at least one field"):
        sim.linearize_data([])


# ---------------------------------------------------------------- MuJoCo


def test_against_mujocos_own():
    sim = moving(TREE, seed=2)
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    for name in ("qpos", "qvel", "act", "ctrl"):
        getattr(d, name)[:] = getattr(sim, name)
    mujoco.mj_forward(m, d)
    C, D = np.zeros((m.nsensordata, 2 * m.nv + m.na)), np.zeros((m.nsensordata, m.nu))
    mujoco.mjd_transitionFD(m, d, 1e-6, True, None, None, C, D)
    C[-1, m.nv : 2 * m.nv] = sim.linearize_sensors()[0][
        -1, m.nv : 2 * m.nv
    ]  # kinetic energy: MuJoCo leaves velocity out
    assert_rows(m, np.hstack(sim.linearize_sensors()), np.hstack([C, D]), 1e-6)


# ---------------------------------------------------------------- where features meet


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_batches(precision):
    batch = saltus.Batch(PENDULUM, 2, precision=precision)
    batch.qpos, batch.qvel, batch.ctrl = [[0.5], [1.0]], [[0.25], [-1.0]], [[0.5], [0.25]]
    C, D, P = batch.linearize_sensors("acc", parameters="body_mass[b]")
    assert P.shape == (2, 3, 1)
    sim = saltus.Simulation(PENDULUM)
    sim.qpos, sim.qvel, sim.ctrl = 1.0, -1.0, 0.25
    for found, wanted in zip((C, D, P), sim.linearize_sensors("acc", parameters="body_mass[b]"), strict=True):
        np.testing.assert_array_equal(found[1], wanted)
    assert len(batch.linearize_sensors()) == 2


def test_a_controller_in_the_loop_replaces_controls():
    """Under ctrl = -3 q the bob feels -u/m: 3/m by the angle, and nothing by a control of the user's."""

    def law(m, d, z):
        d.ctrl[0] = -3.0 * d.qpos[0]

    sim = saltus.Simulation(PENDULUM, control=saltus.controller(law))
    sim.qpos = 0.5
    C, D = sim.linearize_sensors("acc")
    assert abs(C[0, 0] - 1.5) < 1e-10 and not D.any()


def inertia(m, d):
    d.M[0] = 2.0 + 0.5 * d.qpos[0] * d.qpos[0]


def bias(m, d):
    s, _ = sincos(d.qpos[0])
    d.qfrc_bias[0] = 19.62 * s + 0.5 * d.qpos[0] * d.qvel[0] * d.qvel[0]


DELAYED = PENDULUM.replace('<motor joint="j"/>', '<motor joint="j" delay=".004" nsample="3"/>')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "options"),
    [
        (PENDULUM, dict(control=saltus.PID(kp=3.0, kd=0.2, target=0.1))),
        (PENDULUM, dict(dynamics=saltus.Dynamics(inertia, bias))),
        (DELAYED, {}),
    ],
    ids=["PID", "user-defined equations", "delayed control"],
)
def test_laws_of_the_user_and_delayed_controls(source, options):
    sim = saltus.Simulation(saltus.load(source), **options)
    sim.qpos, sim.qvel, sim.ctrl = 0.5, 0.7, 0.3
    found = np.hstack(sim.linearize_sensors())
    assert_rows(sim.model, found, differences(sim, 1e-3), EXACT)
    assert not found[:, 2].any() or source is PENDULUM  # by a control that acts later


def test_a_cutoff_holds_the_reading():
    cut = PENDULUM.replace('name="acc"', 'name="acc" cutoff="5"')
    sim = saltus.Simulation(cut)
    C, _ = sim.linearize_sensors("acc")
    assert sim.sensor("acc")[2] == 5.0 and not C[2].any()


SEARCHED = """<mujoco><worldbody><body name="board"><joint axis="0 1 0" stiffness="200" damping="1"/>
  <geom name="board" type="box" size=".3 .2 .02"/></body><body pos=".05 0 .068"><freejoint/>
  <geom name="can" type="cylinder" size=".06 .049"/><site name="can"/></body></worldbody><sensor>
  <accelerometer name="acc" site="can"/><framepos name="place" objtype="site" objname="can"/></sensor></mujoco>"""


def test_searched_normals_are_refused_where_forces_are_read():
    sim = saltus.Simulation(saltus.load(SEARCHED))
    assert sim.data.ncon
    with pytest.raises(OptionError, match="normal of the contact of can and board, which is searched"):
        sim.linearize_sensors()
    assert sim.linearize_sensors("place")[0].shape == (3, 14)


def refused(sensor, more=""):
    return PENDULUM.replace("</sensor>", f"{sensor}</sensor>").replace("<worldbody>", f"{more}<worldbody>", 1)


MESH = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'
GEOMS = '<worldbody><geom name="one" size=".1"/><geom name="two" size=".1" pos="1 0 0" {}/>'


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (refused('<user name="own" dim="1"/>'), "'own' has no derivatives: sensors of users"),
        (refused('<jointpos name="late" joint="j" delay=".01" nsample="4"/>'), "'late' .* past steps"),
        (refused('<jointpos name="seldom" joint="j" interval=".01" nsample="4"/>'), "'seldom' .* past steps"),
        (
            refused('<normal name="n" geom1="one" geom2="two" cutoff="2"/>', GEOMS.format("") + "</worldbody>"),
            "searched",
        ),
        (
            refused('<fromto name="n" geom1="one" geom2="two" cutoff="2"/>', GEOMS.format("") + "</worldbody>"),
            "searched",
        ),
        (
            refused(
                '<rangefinder name="ray" site="bob"/>', MESH + GEOMS.format('type="mesh" mesh="m"') + "</worldbody>"
            ),
            "rays may meet meshes",
        ),
        (PENDULUM.split("<sensor>")[0] + "</mujoco>", "the model has no sensors"),
    ],
)
def test_sensors_without_derivatives_are_refused_by_name(source, words):
    sim = saltus.Simulation(saltus.load(source))
    with pytest.raises(OptionError, match=words):
        sim.linearize_sensors()
    if "no sensors" not in words:
        assert sim.linearize_sensors("acc")[0].shape == (3, 2)


def test_other_refusals():
    with pytest.raises(OptionError, match="no sensor 'x'"):
        saltus.Simulation(PENDULUM).linearize_sensors("x")
    with pytest.raises(OptionError, match="at least one sensor"):
        saltus.Simulation(PENDULUM).linearize_sensors([])
    moved = saltus.Simulation(PENDULUM, motions={"j": lambda t: t * t})
    with pytest.raises(OptionError, match="do not support prescribed motions"):
        moved.linearize_sensors()
    asleep = PENDULUM.replace("<worldbody>", '<option><flag sleep="enable"/></option><worldbody>')
    with pytest.raises(OptionError, match="bodies that sleep"):
        saltus.Simulation(asleep).linearize_sensors()
    stepping = CONTACTS.format("elliptic").split("<sensor>")[0] + '<sensor><touch site="zone"/></sensor></mujoco>'
    with pytest.raises(OptionError, match="moreau_jean are means over a step"):
        saltus.Simulation(stepping, "moreau_jean", contact="hard").linearize_sensors()
    noslip = saltus.load(CONTACTS.format("elliptic").replace("iterations=", 'noslip_iterations="3" iterations='))
    with pytest.raises(OptionError, match="noslip"):
        saltus.Simulation(noslip).linearize_sensors()


def test_a_kink_is_told():
    """The distance of two balls whose centres coincide has no direction in which it grows."""
    balls = (
        refused('<distance name="apart" geom1="one" geom2="two" cutoff="2"/>')
        .replace('<site name="bob"', '<geom name="one" size=".1" pos="0 0 -1"/><site name="bob"')
        .replace("<worldbody>", '<worldbody><geom name="two" size=".1" pos="0 0 -1.2"/>')
    )
    sim = saltus.Simulation(saltus.load(balls))
    with pytest.raises(EventError, match="the reading apart has no derivatives here"):
        sim.linearize_sensors("apart")
