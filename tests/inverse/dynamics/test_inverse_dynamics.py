"""Forces of recordings. References: closed forms, the forces that drove a simulation, MuJoCo's forces at points.

Quintic splines give accelerations to the order h⁴ of the interval, so that forces of exact recordings have that order.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.inverse.dynamics.inverse_dynamics import inverse_dynamics
from saltus.inverse.dynamics.wrenches import generalised

PENDULUM = """<mujoco><worldbody><body name="rod"><joint name="q" axis="0 1 0" damping=".1" armature=".02"
  range="-90 90" stiffness=".4"/>
  <inertial pos="0 0 -.5" mass="2" diaginertia=".1 .2 .1"/></body></worldbody></mujoco>"""
SLED = """<mujoco><option integrator="RK4" timestep=".0005" cone="elliptic"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="1" solref=".1 1"/>
  <body name="sled" pos="0 0 .1"><freejoint name="root"/>
    <geom type="box" size=".2 .2 .1" mass="20" friction="1" solref=".1 1"/>
    <body name="arm" pos="0 0 .1"><joint name="swing" axis=".3 1 .2" damping=".05"/>
      <geom type="capsule" fromto="0 0 0 .05 0 .3" size=".02" mass=".3" contype="0" conaffinity="0"/></body></body>
  </worldbody><actuator><motor joint="swing"/></actuator></mujoco>"""


WEIGHTLESS = '<option gravity="0 0 0"/><worldbody>'


def interior(rows):
    return rows[len(rows) // 5 : -(len(rows) // 5)]


def test_a_swinging_rod_in_closed_form():
    """(I + m l² + armature) q'' + b q' + k q + m g l sin q, of a sine, to h⁴; the limit is named."""
    errors = []
    for count in (51, 101, 201):
        t = np.linspace(0, 2, count)
        q, v, a = 0.7 * np.sin(4 * t), 2.8 * np.cos(4 * t), -11.2 * np.sin(4 * t)
        expected = (0.2 + 0.5 + 0.02) * a + 0.1 * v + 0.4 * q + 2 * 9.81 * 0.5 * np.sin(q)
        found = inverse_dynamics(PENDULUM, {"time": t, "qpos": q})
        errors.append(abs(interior(found.forces[:, 0] - expected)).max())
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4, abs=0.2)
    assert found.left_out == ("limit",) and found.names == ("q",) and found.residual == {}
    assert "with forces of: limit" in repr(found)


def test_noise_is_what_the_cutoff_takes_away():
    """White noise σ of positions, of which a filter keeps 2 f h: accelerations err by less than σ (2π f)² √(2 f h)."""
    t = np.arange(0, 4, 0.005)
    q, a = 0.5 * np.sin(3 * t), -4.5 * np.sin(3 * t)
    noisy = q + 1e-4 * np.random.default_rng(0).normal(size=len(t))
    free = PENDULUM.replace('damping=".1"', "").replace('stiffness=".4"', "").replace("<worldbody>", WEIGHTLESS)
    raw = inverse_dynamics(free, {"time": t, "qpos": noisy}).forces[:, 0] / 0.72 - a
    smooth = inverse_dynamics(free, {"time": t, "qpos": noisy}, cutoff=6.0).forces[:, 0] / 0.72 - a
    bound = 1e-4 * (2 * np.pi * 6) ** 2 * np.sqrt(2 * 6 * 0.005)
    assert interior(raw).std() > 1.0 > bound > interior(smooth).std() > 0.05 * bound


@pytest.fixture(scope="module")
def sliding():
    """A sled that slides on soft contacts while a motor swings its arm, recorded once the contacts are steady."""
    sim = saltus.Simulation(SLED, control=saltus.controller(drive))
    sim.run(0.3, sample=0.1, progress=False)
    return sim, sim.run(0.4, sample=0.005, progress=False)


def drive(m, d, z):
    d.ctrl[0] = 0.2 * d.time


def ground_forces(run, every):
    """Recorded forces of the four contacts as force, moment and point of application of the sled [n, 9]."""
    force, place = run.contact_force[::every], np.nan_to_num(run.contact_pos[::every])
    rows = np.zeros((len(force), 9))
    rows[:, 6:] = [0.3, -0.2, 0.0]
    rows[:, :3] = force.sum(axis=1)
    rows[:, 3:6] = np.cross(place - rows[:, None, 6:], force).sum(axis=1)
    return rows


def test_a_floating_base_with_measured_ground_forces_has_no_residual(sliding):
    """Forces of soft contacts as recorded explain the base's motion, and the motor's torque is what drove it.

    The forces of 200 N are right to the solver's tolerance of 1e-8, the torque has the order of the splines.
    """
    _, run = sliding
    errors = []
    for every in (4, 2):
        motion = {"time": run.time[::every], "qpos": run.qpos[::every]}
        found = inverse_dynamics(SLED, motion, wrenches={"sled": ground_forces(run, every)})
        errors.append(abs(interior(found.forces[:, 6] - 0.2 * found.time)).max())
    for name, residual in found.residual.items():
        assert abs(interior(residual)).max() < 2e-6, name
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.2) and errors[1] < 1e-7
    assert list(found.residual) == [f"root.{c}" for c in ("vx", "vy", "vz", "wx", "wy", "wz")]
    assert found.left_out == ("contact",)


def test_without_ground_forces_the_residual_is_the_floors(sliding):
    _, run = sliding
    found = inverse_dynamics(SLED, run)
    np.testing.assert_allclose(found.residual["root.vz"], run.contact_force[..., 2].sum(axis=1), rtol=1e-4)


def test_soft_contacts_of_the_model_take_the_place_of_measured_forces(sliding):
    """They answer to errors of accelerations with the masses of the contacts, which are of the order of the body's."""
    _, run = sliding
    found = inverse_dynamics(SLED, run, constraints=True)
    assert found.left_out == ()
    for name, residual in found.residual.items():
        assert abs(interior(residual)).max() < 1e-5, name


def test_wrenches_are_mujocos_generalised_forces():
    """mj_applyFT at the centre of mass and at another point, in a random pose. Tolerance: rounding."""
    model = saltus.load("humanoid")
    m, random = model.mujoco, np.random.default_rng(5)
    d = mujoco.MjData(m)
    mujoco.mj_integratePos(m, d.qpos, random.normal(size=m.nv), 1.0)
    mujoco.mj_forward(m, d)
    rows, body = random.normal(size=9), model.id("body", "right_foot")
    for given, point in ((rows[:6], d.xipos[body]), (rows, rows[6:])):
        expected = np.zeros(m.nv)
        mujoco.mj_applyFT(m, d, given[:3], given[3:6], point, body, expected)
        found = generalised(model, d.qpos[None], {"right_foot": given[None]})[0]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_trees_that_may_sleep_are_awake(sliding):
    """A sled at rest that a simulation would put to sleep: its weight is the residual."""
    option = '<option integrator="RK4" timestep=".0005" cone="elliptic"/>'
    sleepy = SLED.replace(option, '<option><flag sleep="enable"/></option>').replace(
        '<body name="sled"', '<body name="sled" sleep="init"'
    )
    time, qpos = np.linspace(0, 1, 11), np.tile(saltus.load(SLED).qpos0, (11, 1))
    found = inverse_dynamics(sleepy, {"time": time, "qpos": qpos})
    np.testing.assert_allclose(found.residual["root.vz"], 20.3 * 9.81, rtol=1e-12)


MOCAP = """<mujoco><worldbody>
  <body name="hand" mocap="true"><geom size=".1" contype="0" conaffinity="0"/>{joint}</body>
  <body name="ball"><freejoint/><geom size=".1"/></body></worldbody>{loop}</mujoco>"""
BELOW = '<body><joint name="q"/><geom size=".1"/></body>'
WELD = '<equality><weld body1="hand" body2="ball"/></equality>'


def test_what_motion_does_not_tell_is_refused():
    t = np.linspace(0, 1, 11)
    still = np.tile([0.0, 0, 0, 1, 0, 0, 0], (11, 1))
    log = {"time": t, "qpos": still}
    poses = {"mocap_pos": np.zeros((11, 1, 3)), "mocap_quat": np.tile([1.0, 0, 0, 0], (11, 1, 1))}
    with pytest.raises(OptionError, match="mocap bodies, whose mocap_pos"):
        inverse_dynamics(MOCAP.format(joint="", loop=""), log)
    with pytest.raises(OptionError, match="equality constraints"):
        inverse_dynamics(MOCAP.format(joint="", loop=WELD), log | poses)
    moving = poses | {"mocap_pos": poses["mocap_pos"] + t[:, None, None]}
    wide = {"time": t, "qpos": np.concatenate([np.zeros((11, 1)), still], axis=1)}
    with pytest.raises(OptionError, match="mocap body hand moves and carries joints"):
        inverse_dynamics(MOCAP.format(joint=BELOW, loop=""), wide | moving)
    inverse_dynamics(MOCAP.format(joint=BELOW, loop=""), wide | poses)
    for wrong, words in (
        ({"wrenches": {"no": np.zeros((11, 6))}}, "no body 'no'"),
        ({"wrenches": {"ball": np.zeros((10, 6))}}, "rows of force and moment"),
        ({"wrenches": {"ball": np.full((11, 9), np.nan)}}, "must be finite"),
        ({"cutoff": -1.0}, "cutoff must be a positive number of Hz"),
    ):
        with pytest.raises(OptionError, match=words):
            inverse_dynamics(MOCAP.format(joint="", loop=""), log | poses, **wrong)
    for wrong, words in (
        ({"time": t[::-1]}, "times that rise"),
        ({"qpos": still[:, :6]}, "qpos must have shape"),
        ({"qpos": np.where(np.eye(11, 7) > 0, np.nan, still)}, "qpos must be finite"),
        ({"qpos": None}, "no qpos"),
        ({"time": None}, "must have time and qpos"),
    ):
        with pytest.raises(OptionError, match=words):
            inverse_dynamics(MOCAP.format(joint="", loop=""), log | poses | wrong)


def test_a_weld_to_a_mocap_body_is_taken_from_the_soft_law():
    """A ball that stays where the weld holds it, with the weld's force against gravity: m a + m g = force."""
    t = np.linspace(0, 1, 11)
    model = saltus.load(MOCAP.format(joint="", loop=WELD))
    sim = saltus.Simulation(model, integrator="euler", timestep=0.002)
    sim.run(4.0, sample=1.0, progress=False)
    log = {"time": t, "qpos": np.tile(sim.qpos, (11, 1))}
    log |= {"mocap_pos": np.tile(sim.mocap_pos, (11, 1, 1)), "mocap_quat": np.tile(sim.mocap_quat, (11, 1, 1))}
    found = inverse_dynamics(model, log, constraints=True)
    weight = 9.81 * model.body_mass[2]
    for residual in found.residual.values():
        assert abs(residual).max() < 1e-6 * weight


def test_recordings_across_impacts_are_refused():
    run = saltus.Trajectory(
        time=np.linspace(0, 1, 11),
        qpos=np.zeros((11, 1)),
        qvel=np.zeros((11, 1)),
        events=np.array([(0.45, "impact")], dtype=[("time", "f8"), ("kind", "U16")]),
    )
    with pytest.raises(OptionError, match=r"jump at the impact at 0\.45 s"):
        inverse_dynamics(PENDULUM, run)
    own = saltus.Trajectory(run.time, run.qpos, run.qvel, attrs={"dynamics": "mine"})
    with pytest.raises(OptionError, match="equations of motion of its own"):
        inverse_dynamics(PENDULUM, own)
