"""Rotors of elastic gears: closed forms of two masses with a spring and a gap, MuJoCo's motion, what moves where."""

import mujoco
import numpy as np
import pytest
from helpers.plain_python import plain_python
from scipy.integrate import quad

import saltus

INERTIA, RATIO, ROTOR, STIFFNESS, PLAY = 0.5, 10.0, 0.002, 80.0, 0.02  # kg m², 1, kg m², N m/rad, rad
REDUCED = 1.0 / (1.0 / INERTIA + 1.0 / (RATIO**2 * ROTOR))  # kg m², of link and rotor about the joint
LINK = f"""<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><body>
  <joint name="x" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 {INERTIA}"/></body></worldbody>
  <actuator><motor joint="x"/></actuator></mujoco>"""
ELASTIC = saltus.Gear(RATIO, stiffness=STIFFNESS, rotor_inertia=ROTOR)
TIGHT = (1e-11, 1e-11)
ARM = """<mujoco><compiler angle="{angle}"/><default><joint damping="3" frictionloss=".1" stiffness="4"/>
  <tendon damping="2" frictionloss="1"/></default>
  <worldbody><body pos="0 0 1"><joint name="hip" axis="0 1 0"/><geom size=".1"/><body pos="0 0 1">
  <joint name="knee" axis="0 1 0" ref="{ref}" armature=".5" actuatorfrcrange="-40 30"/><geom size=".1" pos=".2 0 0"/>
  </body></body><body pos="3 0 0"><freejoint name="root"/><geom size=".1"/></body></worldbody>
  <actuator><motor name="hip" joint="hip"/><position name="knee" joint="knee" kp="2" gear="9"/></actuator>
  <sensor><jointactuatorfrc joint="knee"/><jointpos joint="knee"/></sensor>
  <keyframe><key name="bent" qpos="0 .3 0 0 0 1 0 0 0" qvel="0 2 0 0 0 0 0 0"/><key name="start"/></keyframe>
  </mujoco>"""


@pytest.fixture
def plain():
    """Kernels run in plain Python."""
    with plain_python():
        yield


def moved(gear, qpos, qvel, duration, contact="hard", motor=None):
    """Link and rotor after a run, and the run."""
    model = saltus.drive(LINK, "x", gear)
    if motor is not None:
        model = saltus.drive(model, "x_rotor", friction=motor)
    sim = saltus.Simulation(model, "dopri5", contact=contact, tolerance=TIGHT)
    sim.qpos[:], sim.qvel[:] = qpos, qvel
    return sim, sim.run(duration)


def test_two_masses_swing_by_their_natural_frequency(plain):
    """ω² = k (1/I + 1/(N² J)) while the motor is free: after a period, all is where it began."""
    period = 2.0 * np.pi / np.sqrt(STIFFNESS / REDUCED)
    sim, _ = moved(ELASTIC, [0.01, 0.0], [0.0, 0.0], period)
    assert np.allclose(sim.qpos, [0.01, 0.0], atol=1e-10) and np.allclose(sim.qvel, 0.0, atol=1e-9)


def test_the_link_swings_by_its_own_frequency_while_the_motor_is_held(plain):
    """ω² = k / I where dry friction of the motor holds the rotor."""
    period = 2.0 * np.pi / np.sqrt(STIFFNESS / INERTIA)
    sim, _ = moved(ELASTIC, [0.01, 0.0], [0.0, 0.0], period, motor=saltus.Stribeck(1e3, 1e3, 1.0))
    assert np.allclose(sim.qpos[0], 0.01, atol=1e-10) and sim.qvel[1] == 0.0


def test_hardening_shortens_the_period_as_the_integral_of_energy_says(plain):
    """T = 4 ∫ dφ / √(2 (V(A) - V(φ)) / μ), V = k φ²/2 + k₃ φ⁴/4, with φ = A sin s."""
    top, cubic = 0.3, 2000.0
    share = lambda s: STIFFNESS + 0.5 * cubic * top**2 * (1.0 + np.sin(s) ** 2)  # noqa: E731
    period = 4.0 * quad(lambda s: np.sqrt(REDUCED / share(s)), 0.0, np.pi / 2, epsabs=1e-13)[0]
    gear = saltus.Gear(RATIO, stiffness=STIFFNESS, hardening=cubic, rotor_inertia=ROTOR)
    sim, _ = moved(gear, [-top, 0.0], [0.0, 0.0], period)
    assert np.allclose(sim.qpos, [-top, 0.0], atol=1e-9)


def test_the_gap_is_crossed_freely_and_its_sides_are_springs(plain):
    """Twist of relative speed u, gap b: a period is 2 (b / u + π √(μ / k)), and energy stays."""
    speed = 0.5
    period = 2.0 * (PLAY / speed + np.pi * np.sqrt(REDUCED / STIFFNESS))
    gear = saltus.Gear(RATIO, stiffness=STIFFNESS, backlash=PLAY, rotor_inertia=ROTOR)
    sim, track = moved(gear, [0.0, 0.0], [speed, 0.0], period)
    twist, rate = sim.qpos[1] / RATIO - sim.qpos[0], sim.qvel[1] / RATIO - sim.qvel[0]
    assert abs(twist) < 1e-9 and abs(rate + speed) < 1e-8
    assert np.ptp(track.energy[:, :2].sum(axis=1)) < 1e-9


def test_a_gap_without_springs_has_impacts_at_the_times_of_the_closed_form(plain):
    """Each crossing of the gap b at the speed u eⁿ takes b / (u eⁿ); angular momentum I q' + N J θ' stays.

    Limits touch at gaps below 1e-10 rad, which the slowest crossing, of 0.125 rad/s, takes 8e-10 s.
    """
    speed, restitution = 0.5, 0.5
    gear = saltus.Gear(RATIO, backlash=PLAY, rotor_inertia=ROTOR)
    sim, track = moved(gear, [0.0, 0.0], [speed, 0.0], 0.5, contact=saltus.Hard(limits=restitution))
    times = 0.5 * PLAY / speed + np.cumsum([0.0] + [PLAY / (speed * restitution**n) for n in (1, 2)])
    assert np.allclose(track.events["time"], times, rtol=0, atol=3e-9)
    assert np.isclose(INERTIA * sim.qvel[0] + RATIO * ROTOR * sim.qvel[1], INERTIA * speed, rtol=1e-12)


def test_a_load_winds_the_spring_up_by_its_torque_beyond_the_gap(plain):
    """Motor held, 4 N m at the link, damped: q = τ / k + b / 2."""
    gear = saltus.Gear(RATIO, stiffness=STIFFNESS, damping=8.0, backlash=PLAY, rotor_inertia=ROTOR)
    model = saltus.drive(saltus.drive(LINK, "x", gear), "x_rotor", friction=saltus.Stribeck(1e3, 1e3, 1.0))
    sim = saltus.Simulation(model, "dopri5", contact="hard", tolerance=TIGHT)
    sim.qfrc_applied[0] = 4.0
    sim.run(5.0)
    assert np.isclose(sim.qpos[0], 4.0 / STIFFNESS + 0.5 * PLAY, rtol=1e-8)
    assert abs(sim.qpos[1]) < 1e-15 and sim.qvel[1] == 0.0


def test_motion_is_that_of_mujoco(plain):
    """An elastic gear with a gap and hardening is made of MuJoCo's own elements."""
    gear = saltus.Gear(9.0, stiffness=60.0, hardening=300.0, damping=0.4, backlash=0.01)
    model = saltus.drive(ARM.format(angle="radian", ref=0.2), "knee", gear)
    sim = saltus.Simulation(model, "euler")
    data = mujoco.MjData(model.mujoco)
    sim.reset("bent")
    mujoco.mj_resetDataKeyframe(model.mujoco, data, 0)
    sim.ctrl[:] = data.ctrl[:] = [0.5, 4.0]
    sim.step(40)
    mujoco.mj_step(model.mujoco, data, 40)
    sim.forward()
    mujoco.mj_forward(model.mujoco, data)
    assert abs(data.ten_length[0]) > 0.006  # in the spring
    assert np.allclose(sim.qpos, data.qpos, rtol=1e-7, atol=1e-9)
    assert np.allclose(sim.sensordata, data.sensordata, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("angle", "ref"), [("radian", 0.2), ("degree", 20.0)])
def test_objects_keep_their_places_and_the_gear_begins_without_twist(angle, ref):
    model = saltus.load(ARM.format(angle=angle, ref=ref))
    geared = saltus.drive(model, "knee", saltus.Gear(9.0, stiffness=60.0))
    assert geared.names("joint") == [*model.names("joint"), "knee_rotor"]
    assert geared.names("body") == [*model.names("body"), "knee_rotor"]
    assert np.array_equal(geared.qpos0[:-1], model.qpos0) and geared.nv == model.nv + 1
    assert np.allclose(geared.tendon_length0, 0.0, atol=1e-15)
    assert np.isclose(geared.key_qpos[0, -1], 9.0 * 0.3) and np.isclose(geared.key_qvel[0, -1], 18.0)
    assert np.isclose(geared.key_qpos[1, -1], 9.0 * model.qpos0[1])


def test_armature_torque_range_actuators_and_their_sensor_move_to_the_rotor_and_no_default_does():
    geared = saltus.drive(ARM.format(angle="radian", ref=0.0), "knee", saltus.Gear(9.0, stiffness=60.0))
    rotor = geared.id("joint", "knee_rotor")
    assert geared.dof_armature[1] == 0.0 and np.isclose(geared.dof_M0[-1], 0.5 / 81.0)
    assert np.allclose(geared.jnt_actfrcrange[rotor], [-40.0 / 9.0, 30.0 / 9.0])
    assert geared.actuator_trnid[:, 0].tolist() == [0, rotor] and geared.actuator_gear[:, 0].tolist() == [1.0, 1.0]
    assert geared.sensor_objid.tolist() == [rotor, 1]
    assert geared.dof_damping[-1] == geared.dof_frictionloss[-1] == geared.jnt_stiffness[rotor] == 0.0
    assert geared.tendon_damping[0] == geared.tendon_frictionloss[0] == 0.0


def test_damping_and_stiffness_of_higher_order_in_defaults_stay_out_of_the_gear():
    text = ARM.format(angle="radian", ref=0.0).replace('damping="3"', 'damping="3 4 5"')
    text = text.replace('stiffness="4"', 'stiffness="4 5 6"').replace('damping="2"', 'damping="2 3 4"')
    geared = saltus.drive(text, "knee", saltus.Gear(9.0, stiffness=60.0, damping=0.5))
    rotor = geared.id("joint", "knee_rotor")
    assert not geared.dof_dampingpoly[-1].any() and not geared.jnt_stiffnesspoly[rotor].any()
    assert geared.tendon_damping[0] == 0.5 and not geared.tendon_dampingpoly[0].any()


def test_without_a_ratio_the_rotor_turns_as_the_joint_and_actuators_keep_their_gear():
    geared = saltus.drive(ARM.format(angle="radian", ref=0.0), "knee", saltus.Gear(backlash=0.02))
    assert geared.actuator_gear[1, 0] == 9.0 and np.isclose(geared.dof_M0[-1], 0.5)
    assert geared.tendon_range[0].tolist() == [-0.01, 0.01] and geared.tendon_stiffness[0] == 0.0


def test_a_negative_ratio_turns_the_rotor_the_other_way(plain):
    """A motor's torque reaches the link with the opposite sign, and so does the range of torques."""
    model = saltus.drive(LINK, "x", saltus.Gear(-RATIO, stiffness=STIFFNESS, rotor_inertia=ROTOR))
    sim = saltus.Simulation(model, "rk4")
    sim.ctrl[0] = 1.0
    sim.step(50)
    assert sim.qpos[0] < 0.0 < sim.qpos[1]
    geared = saltus.drive(ARM.format(angle="radian", ref=0.0), "knee", saltus.Gear(-9.0, stiffness=60.0))
    assert np.allclose(geared.jnt_actfrcrange[-1], [-30.0 / 9.0, 40.0 / 9.0])


def test_accelerations_are_those_of_spong(plain):
    """I q'' = k (θ/N - q), J θ'' = u - k (θ/N - q) / N (Spong 1987)."""
    sim = saltus.Simulation(saltus.drive(LINK, "x", ELASTIC))
    sim.qpos[:], sim.qvel[:], sim.ctrl[:] = [0.02, 0.7], [0.3, -1.0], [0.4]
    sim.forward()
    twist = STIFFNESS * (0.7 / RATIO - 0.02)
    assert np.allclose(sim.data.qacc, [twist / INERTIA, (0.4 - twist / RATIO) / ROTOR], rtol=1e-9)


def test_equations_in_symbols_refuse_the_gears_spring_by_name():
    with pytest.raises(saltus.ModelError, match=r"x_gear.*leave it out with ignore"):
        saltus.derive(saltus.drive(LINK, "x", ELASTIC))


def test_efficiencies_are_written_for_the_tendon_and_friction_of_the_motor_replaces_the_least():
    gear = saltus.Gear(RATIO, 0.4, -0.3, stiffness=STIFFNESS, rotor_inertia=ROTOR)
    geared = saltus.drive(LINK, "x", gear)
    assert dict(zip(geared.names("tuple"), geared.tuple_objprm.tolist(), strict=True)) == {
        "drive_gear_efficiency": 0.4,
        "drive_gear_back_efficiency": -0.3,
    }
    assert 0.0 < geared.dof_frictionloss[1] < 1e-8 and geared.dof_frictionloss[0] == 0.0
    rubbing = saltus.drive(geared, "x_rotor", friction=saltus.Stribeck(0.01, 0.02, 1.0))
    assert rubbing.dof_frictionloss[1] == 0.01
    assert rubbing.struct().views["friction_tendon"].ravel().tolist() == [0]


def test_simulations_of_a_batch_equal_single_ones_and_may_have_other_springs():
    model = saltus.drive(LINK, "x", saltus.Gear(RATIO, stiffness=STIFFNESS, backlash=PLAY, rotor_inertia=ROTOR))
    batch = saltus.Batch(model, 3, vary=("tendon_stiffness",))
    stiffness = np.array([40.0, 80.0, 160.0])
    batch.model.tendon_stiffness[:, 0] = stiffness
    batch.qvel[:, 0] = 0.5
    batch.step(100)
    for k in range(3):
        sim = saltus.Simulation(model.changed({"tendon_stiffness[x_gear]": stiffness[k]}))
        sim.qvel[0] = 0.5
        sim.step(100)
        assert np.array_equal(batch.qpos[k], sim.qpos)


@pytest.mark.slow
def test_stiffness_and_inertia_of_the_motor_are_identified_from_a_motion():
    """Of the joint, its motor and the torque, without noise: both to the fit's rounding."""
    model = saltus.drive(LINK, "x", saltus.Gear(RATIO, stiffness=STIFFNESS, damping=0.2, rotor_inertia=ROTOR))
    torques = lambda sim: [np.sin(12.0 * sim.time) + 0.5 * np.sin(31.0 * sim.time)]  # noqa: E731
    sim = saltus.Simulation(model.changed({"tendon_stiffness[x_gear]": 95.0, "dof_armature[x_rotor]": 3e-3}))
    run = sim.run(1.0, sample=0.001, control=torques, progress=False)
    bounds = {"tendon_stiffness[x_gear]": (20.0, 300.0), "dof_armature[x_rotor]": (1e-3, 5e-3)}
    found = saltus.identify(model, run, bounds).values
    assert np.allclose([found[name] for name in bounds], [95.0, 3e-3], rtol=1e-6)


@pytest.mark.slow
def test_backlash_is_identified_from_a_motion():
    """Both ends of the gap, two and a half times as wide as assumed, and the stiffness: to the fit's rounding."""
    gear = dict(ratio=RATIO, damping=0.2, rotor_inertia=ROTOR)
    model = saltus.drive(LINK, "x", saltus.Gear(stiffness=STIFFNESS, backlash=PLAY, **gear))
    worn = saltus.drive(LINK, "x", saltus.Gear(stiffness=95.0, backlash=0.05, **gear))
    torques = lambda sim: [2.0 * np.sin(12.0 * sim.time) + np.sin(31.0 * sim.time)]  # noqa: E731
    run = saltus.Simulation(worn).run(1.0, sample=0.001, control=torques, progress=False)
    gap = {"tendon_lengthspring[x_gear][0]": (-0.06, -0.002), "tendon_lengthspring[x_gear][1]": (0.002, 0.06)}
    fit = saltus.identify(model, run, {"tendon_stiffness[x_gear]": (20.0, 300.0), **gap})
    assert np.allclose([*fit.values.values()], [95.0, -0.025, 0.025], rtol=1e-6) and not fit.unidentified


def test_recordings_keep_rotors(tmp_path):
    sim = saltus.Simulation(saltus.drive(LINK, "x", ELASTIC))
    sim.run(0.01).save(tmp_path / "run.nc")
    assert saltus.Trajectory.load(tmp_path / "run.nc").model.names("tendon") == ["x_gear"]


TWICE = saltus.drive(LINK, "x", ELASTIC)
CHANGED = saltus.load(ARM.format(angle="radian", ref=0.0)).changed({"dof_armature[knee]": 0.3})
HEAVY = LINK.replace("<worldbody>", '<compiler boundinertia="1e-3"/><worldbody>')


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: saltus.drive(LINK, "x", saltus.Gear(10, stiffness=5.0)), "expected rotor_inertia"),
        (lambda: saltus.drive(TWICE, "x", ELASTIC), "there is body 'x_rotor' and joint 'x_rotor' and tendon 'x_gear'"),
        (lambda: saltus.drive(TWICE, "x", saltus.Gear(efficiency=0.5)), "already; a joint has one gear"),
        (lambda: saltus.drive(CHANGED, "knee", ELASTIC), "armature cannot be written"),
        (lambda: saltus.drive(HEAVY, "x", ELASTIC), "inertia of the rotor cannot be written"),
    ],
)
def test_errors_name_the_joint_and_the_remedy(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()


def test_numbers_may_be_numpys():
    gear = saltus.Gear(np.float64(10.0), stiffness=np.float64(5.0), rotor_inertia=np.float64(1e-3))
    assert saltus.drive(LINK, "x", gear).names("joint") == ["x", "x_rotor"]
