"""Mocap bodies under hard contact: they carry, hit and rub with the velocity with which they go from pose to pose.

Laws: Newton's law of impact against a surface of velocity v, so that a body at rest leaves at (1 + e) v; Coulomb's
friction, which takes a body at rest on a belt of speed v after v²/(2 μ g); rigid motion of what is welded to a body or
sticks on it. Tolerances: motion between located events is integrated to 1e-8 a step, so that positions and velocities
are met to 1e-8; under `moreau_jean` to the order one of its impacts and of its friction, h v² and h times the
acceleration; samples 2 ms apart miss a summit by at most g (1 ms)²/2.
"""

import copy
import warnings

import numpy as np
import pytest
from helpers.hard_layout import share_layout

import saltus
from saltus.errors import OptionError

H, G = 0.001, 9.81
TABLE = '<geom type="box" size="2 2 .1" pos="0 0 -.1"/>'
PADDLE = '<geom type="box" size=".1 .5 .5"/>'
BAT = '<body><geom type="box" size="1 .02 .3"/></body>'  # a child's geom
BOX = '<body pos="{} 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
BALL = '<body name="ball" pos="{}"><freejoint/><geom size=".1" mass="1"/></body>'
NO_GRAVITY = ' gravity="0 0 0"'
LAWS = ("dopri5", pytest.param("rk4", marks=pytest.mark.slow), "moreau_jean")


@pytest.fixture(autouse=True)
def one_layout(monkeypatch):
    """Balls and boxes on movers need the same kernels."""
    share_layout(monkeypatch)


def world(mover, bodies, option="", more=""):
    return f"""<mujoco><option timestep="{H}"{option}/><worldbody><body name="mover" mocap="true">{mover}</body>{bodies}
      </worldbody>{more}</mujoco>"""


def simulation(source, integrator, **law):
    return saltus.Simulation(source, integrator, contact=saltus.Hard(**law))


def error(integrator, first_order):
    return first_order if integrator == "moreau_jean" else 1e-8


@pytest.mark.parametrize("integrator", LAWS)
def test_a_table_throws_what_it_has_lifted(integrator):
    """It rises at 2 m/s for 0.2 s and stops: the ball leaves it there, 0.4 m up, and comes to rest on it."""

    def lift(sim):
        sim.mocap_pos[0, 2] = 2 * min(sim.time, 0.2)

    sim = simulation(world(TABLE, BALL.format("0 0 .1")), integrator)
    trajectory = sim.run(1.2, sample=2 * H, control=lift)
    summit = 0.1 + 0.4 + 2**2 / (2 * G)
    assert trajectory.qpos[:, 2].max() == pytest.approx(summit, abs=G * H**2 / 2 + error(integrator, 4 * H))
    assert sim.qpos[2] == pytest.approx(0.5, abs=error(integrator, 2e-6))
    risen = trajectory.mocap_pos[(0.05 < trajectory.time) & (trajectory.time < 0.2), 0, 2]
    np.testing.assert_allclose(np.diff(risen), 2 * 2 * H, atol=1e-12)
    assert sim.mocap_vel[0, 2] == 0.0 and sim.mocap_pos[0, 2] == 0.4


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("integrator", LAWS)
def test_a_paddle_hits_with_its_velocity(integrator, e):
    sim = simulation(world(PADDLE, BALL.format(".3 0 0"), NO_GRAVITY), integrator, restitution=e)

    def swing(sim):
        sim.mocap_pos[0, 0] = sim.time

    sim.run(0.5, control=swing)
    assert sim.qvel[0] == pytest.approx(1 + e, abs=1e-8)
    # by steps from outside, and by a velocity that is given
    sim.reset()
    for _ in range(500):
        sim.mocap_pos[0, 0] = sim.time
        sim.step()
    assert sim.qvel[0] == pytest.approx(1 + e, abs=1e-8)
    sim.reset()
    sim.mocap_vel[0, 0] = 1.0
    other = copy.deepcopy(sim)
    sim.step(500)
    other.run(0.5)
    for each in (sim, other):
        assert each.qvel[0] == pytest.approx(1 + e, abs=1e-8)
        assert each.mocap_pos[0, 0] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("integrator", LAWS)
def test_a_bat_hits_with_the_speed_at_the_point_that_hits(integrator):
    """It turns at 1 rad/s about z; without friction a ball leaves along its face's normal at 2 ω x, x along the bat."""
    sim = simulation(world(BAT, BALL.format(".8 .3 0"), NO_GRAVITY), integrator, restitution=1.0, friction=0.0)
    sim.mocap_vel[0, 5] = 1.0
    sim.run(0.5)
    # the ball's centre is 0.12 m from the bat's middle plane when they touch, x along it
    along = np.sqrt(0.8**2 + 0.3**2 - 0.12**2)
    turned = np.arctan2(0.3, 0.8) - np.arctan2(0.12, along)
    expected = 2 * along * np.array([-np.sin(turned), np.cos(turned)])
    np.testing.assert_allclose(sim.qvel[:2], expected, atol=error(integrator, 2 * H))


@pytest.mark.parametrize("integrator", LAWS)
def test_a_belt_takes_a_box_along(integrator):
    """It slips for v/(μ g) s and then sticks, v²/(2 μ g) m behind."""
    sim = simulation(world(TABLE, BOX.format(0)), integrator, friction=0.5)
    sim.mocap_vel[0, 0] = 1.0
    sim.run(0.5)
    behind = 1 / (2 * 0.5 * G)
    np.testing.assert_allclose(sim.qvel, [1, 0, 0, 0, 0, 0], atol=1e-8)
    np.testing.assert_allclose(sim.qpos[:3], [0.5 - behind, 0, 0.1], atol=error(integrator, H))


@pytest.mark.parametrize("integrator", LAWS)
def test_a_turntable_carries_a_box_round(integrator):
    """Sticking contacts follow the surface, whose motion enters their accelerations: a circle of radius 0.5 m."""
    sim = simulation(world(TABLE, BOX.format(0.5)), integrator, friction=1.0)
    sim.mocap_vel[0, 5], sim.qvel[:] = 2.0, [0, 1, 0, 0, 0, 2]
    sim.run(1.0)
    circle = 0.5 * np.array([np.cos(2), np.sin(2)])
    np.testing.assert_allclose(sim.qpos[:2], circle, atol=error(integrator, 2 * H))
    np.testing.assert_allclose(sim.qpos[3:], [np.cos(1), 0, 0, np.sin(1)], atol=1e-8)
    assert np.hypot(*sim.qvel[:2]) == pytest.approx(1.0, abs=error(integrator, 3 * H))


@pytest.mark.parametrize("integrator", LAWS)
def test_a_plate_welded_to_a_mover_throws_what_it_has_lifted(integrator):
    """It stops with the mover; the ball on it goes on, v²/2g high, and comes to rest on it."""
    plate = '<body name="plate" pos="0 0 -.1"><freejoint/><geom type="box" size="1 1 .1" mass="10"/></body>'
    weld = '<equality><weld body1="mover" body2="plate"/></equality>'
    sim = simulation(world("", plate + BALL.format("0 0 .1"), more=weld), integrator)

    def lift(sim):
        sim.mocap_pos[0, 2] = 2 * min(sim.time, 0.2)

    trajectory = sim.run(1.2, sample=2 * H, control=lift)
    summit = 0.1 + 0.4 + 2**2 / (2 * G)
    assert trajectory.qpos[:, 9].max() == pytest.approx(summit, abs=G * H**2 / 2 + error(integrator, 4 * H))
    assert sim.qpos[9] == pytest.approx(0.5, abs=error(integrator, 2e-6))
    assert sim.qpos[2] == pytest.approx(0.3, abs=error(integrator, 2e-6))


@pytest.mark.parametrize("kind", ["weld", "connect"])
@pytest.mark.parametrize("integrator", LAWS)
def test_what_is_fixed_to_a_mover_has_its_velocity(integrator, kind):
    """In a straight line, then also turning about z at 1 rad/s; a body on a point keeps its own orientation."""
    anchor = ' anchor=".5 0 .5"' if kind == "connect" else ""
    more = f'<equality><{kind} body1="mover" body2="ball"{anchor}/></equality>'
    mover = '<geom size=".05" contype="0" conaffinity="0"/>'
    sim = simulation(world(mover, BALL.format(".5 0 .5"), NO_GRAVITY, more), integrator)
    for k in range(200):
        turn = 0.5 * max(0, k - 100) * H
        sim.mocap_pos[0], sim.mocap_quat[0] = [k * H, 0, 0], [np.cos(turn), 0, 0, np.sin(turn)]
        sim.step()
        if k == 100:
            np.testing.assert_allclose(sim.qvel, [1, 0, 0, 0, 0, 0], atol=1e-8)
    angle, spin = 99 * H, float(kind == "weld")
    place = [199 * H + 0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.5]
    np.testing.assert_allclose(sim.qpos[:3], place, atol=error(integrator, H**2))
    expected = [1 - 0.5 * np.sin(angle), 0.5 * np.cos(angle), 0, 0, 0, spin]
    np.testing.assert_allclose(sim.qvel, expected, atol=error(integrator, H))
    sim.step(2)
    np.testing.assert_allclose(sim.qvel, 0, atol=1e-8)


def test_simulations_of_a_batch_have_the_bits_of_single_ones():
    source = world(TABLE, BALL.format("0 0 .1"))
    sim, batch = simulation(source, "dopri5"), saltus.Batch(source, 2, integrator="dopri5", contact=saltus.Hard())
    for k in range(20):
        sim.mocap_pos[0, 2] = k * H
        batch.mocap_pos = np.array([[[0, 0, k * H]], [[0, 0, 0]]])
        sim.step()
        batch.step()
    np.testing.assert_array_equal(batch.qpos[0], sim.qpos)
    np.testing.assert_array_equal(batch.qvel[0], sim.qvel)
    np.testing.assert_array_equal(batch.mocap_vel[0], sim.mocap_vel)
    assert sim.qvel[2] == pytest.approx(1.0) and not batch.qvel[1].any()


def test_poses_before_the_first_step_and_before_a_run_are_there_at_once():
    sim = simulation(world(TABLE, BALL.format("0 0 2")), "dopri5")
    sim.mocap_pos[0, 2] = 0.5
    assert sim.data.xpos[1, 2] == 0.5
    sim.step()
    assert sim.data.xpos[1, 2] == 0.5 and not sim.mocap_vel.any()
    sim.mocap_pos[0, 2] = 1.0
    trajectory = sim.run(0.01, sample=0.002)
    assert (trajectory.mocap_pos[:, 0, 2] == 1.0).all()
    sim.step(600)
    assert sim.qpos[2] == pytest.approx(1.1, abs=1e-8)


def test_a_body_that_is_put_into_another_is_named():
    sim = simulation(world(TABLE, BALL.format("0 0 .1")), "dopri5")
    sim.step(5)
    sim.mocap_pos[0, 2] = 0.05
    with pytest.warns(saltus.SaltusWarning, match=r"overlap by 0\.05 m, since a mocap body was put there at once"):
        sim.run(0.01)


def test_what_has_no_velocity_says_so():
    jointed = '<body name="arm"><joint/><geom size=".1" mass="1"/></body>'
    sim = simulation(world(TABLE + jointed, BALL.format("0 0 .5")), "moreau_jean")
    sim.step()
    sim.mocap_pos[0, 0] = 0.1
    with pytest.warns(saltus.SaltusWarning, match="not on the joints of body 'arm'"):
        sim.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.mocap_pos[0, 0] = 0.2
        sim.step()
    with pytest.raises(OptionError, match="soft contact takes mocap bodies for bodies at rest"):
        saltus.Simulation(world(TABLE, BALL.format("0 0 1"))).mocap_vel = 1.0
