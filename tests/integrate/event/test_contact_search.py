"""Search of steps for contacts: closed forms of impacts that a few looks at a step would miss, and bounds that hold."""

import numpy as np
import pytest

import saltus
from saltus.model.event_enums import LINEAR_ACCELERATION, LINEAR_SPEED, TURNING_ACCELERATION, TURNING_SPEED

pytestmark = pytest.mark.usefixtures("one_hard_layout")

TABLE = """<mujoco><worldbody><geom name="table" type="box" size=".5 .5 .1" pos="0 0 -.1"/>
<body name="ball" pos="0 0 {z}"><freejoint/><geom name="ball" size=".05" mass="1"/></body></worldbody></mujoco>"""
WALL = """<mujoco><option timestep="{h}" gravity="0 0 0"/><default><geom friction="0 0 0"/></default><worldbody>
<geom type="box" size="{t} 5 5" pos="{x} 0 0"/><body><freejoint/><geom size=".05" mass="1"/></body></worldbody>
</mujoco>"""
SPRING = """<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody><body>
<joint type="slide" stiffness="1" range="-2 {limit}" limited="true"/>
<geom size=".1" mass="1" contype="0"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("duration", [1, 10])
def test_a_ball_comes_to_rest_on_a_table(duration):
    """Height at rest is the radius; the first impact is after √(2 h / g), the height of the drop being h."""
    for z in (0.3, 0.7, 1.5):
        sim = saltus.Simulation(TABLE.format(z=z), contact=saltus.Hard(restitution=0.3))
        trajectory = sim.run(duration)
        assert trajectory.events["time"][0] == pytest.approx(np.sqrt(2 * (z - 0.05) / 9.81), rel=1e-9)
        if duration == 10:
            assert sim.qpos[2] == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize(("integrator", "speed"), [("dopri5", 100.0), ("rk4", 100.0), ("rk4", 7.0)])
def test_a_ball_does_not_pass_a_thin_wall(integrator, speed):
    """An elastic ball is back where a flight without loss brings it: x = 2 X - v t, X the place of the impact."""
    for thickness in (1e-3, 1e-2, 1.0):
        model = WALL.format(h=0.01, t=thickness / 2, x=2 + thickness / 2)
        sim = saltus.Simulation(model, integrator, contact=saltus.Hard(restitution=1))
        sim.qvel[0] = speed
        sim.run(3 / speed)
        assert sim.qpos[0] == pytest.approx(2 * 1.95 - 3, abs=1e-9)
        assert sim.qvel[0] == pytest.approx(-speed, rel=1e-12)


def test_a_limit_that_is_passed_for_a_moment_is_met():
    """A spring's swing sin t meets a limit just below its amplitude at t = arcsin of it, and turns back there.

    An error of the position, 1e-8 of a step's tolerance, shifts that time by itself over the speed √(1 - limit²).
    """
    for limit in (0.9999, 0.999999):
        sim = saltus.Simulation(SPRING.format(limit=limit), contact=saltus.Hard(limits=1.0))
        sim.qvel[0] = 1.0
        events = sim.run(3.0).events
        assert events["time"][0] == pytest.approx(np.arcsin(limit), abs=3e-8 / np.sqrt(1 - limit**2))


def room(thickness):
    """A closed room of 1 m with walls of a thickness."""
    far, size = 0.5 + thickness / 2, 0.5 + thickness
    walls = ""
    for axis in range(3):
        for side in (-1, 1):
            pos = [side * far * (k == axis) for k in range(3)]
            half = [thickness / 2 if k == axis else size for k in range(3)]
            walls += f'<geom type="box" pos="{pos[0]} {pos[1]} {pos[2]}" size="{half[0]} {half[1]} {half[2]}"/>'
    return walls


@pytest.mark.slow
@pytest.mark.parametrize("shape", ['type="box" size=".06 .05 .04"', 'type="capsule" size=".03 .05"'])
def test_nothing_leaves_a_room(shape):
    """Thrown and spinning bodies stay inside, and without loss they keep their kinetic energy."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        xml = f"""<mujoco><option gravity="0 0 0"/><default><geom friction="0 0 0"/></default><worldbody>
        {room(10.0 ** rng.uniform(-3, 0))}<body><freejoint/><geom {shape} mass="1"/></body></worldbody></mujoco>"""
        sim = saltus.Simulation(xml, contact=saltus.Hard(restitution=1))
        sim.qvel = rng.normal(size=6) * [10, 10, 10, 30, 30, 30]
        before = sim.energy().sum()
        events = sim.run(1.0).events
        assert len(events) > 5
        assert np.abs(sim.qpos[:3]).max() < 0.5
        assert sim.energy().sum() == pytest.approx(before, rel=1e-7)


CHAIN = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 1" pos="0 0 -9"/><body>
<joint axis="0 1 0" pos=".1 0 .05"/><geom size=".05" pos=".2 0 0" mass="1"/><body pos=".4 0 0">
<joint type="slide" axis="1 0 0"/><joint axis="1 0 0"/><geom size=".05" pos="0 .2 0" mass="1"/><body pos="0 .3 0">
<joint type="ball" pos="0 0 .1"/><geom size=".05" pos=".1 0 .1" mass="1"/></body></body></body></worldbody></mujoco>"""


def test_bodies_keep_within_the_bounds_of_their_motion():
    """Mean velocities over a step, and turning at both of its ends, are within the bounds."""
    sim = saltus.Simulation(CHAIN, "rk4", contact="hard")
    rng = np.random.default_rng(1)
    for _ in range(20):
        sim.qvel = 5 * rng.normal(size=sim.model.nv)
        places, turns = [], []
        for _ in range(2):
            sim.forward()
            places.append(sim.data.xpos.copy())
            turns.append(sim.data.cvel[:, :3].copy())
            if len(places) == 1:
                sim.step(1)
        bound = sim.engine.d.views["body_bound"]
        mean_speed = np.linalg.norm(places[1] - places[0], axis=1) / 0.005
        assert (mean_speed[1:] <= bound[1:, LINEAR_SPEED]).all()
        assert (np.linalg.norm(turns[0], axis=1)[1:] <= bound[1:, TURNING_SPEED] + 1e-9).all()
        assert (np.linalg.norm(turns[1], axis=1)[1:] <= bound[1:, TURNING_SPEED] + 1e-9).all()


SHAKER = """<mujoco><option timestep="{h}"/><worldbody>
<body name="shaker" mocap="true"><geom type="box" size=".2 .2 .02"/></body>
<body pos="0 0 3"><freejoint/><geom size=".05" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("h", [0.05, 0.005])
def test_a_shaken_body_keeps_within_bounds_that_are_close(h):
    """x = a sin ω t along an axis, and an angle of b sin ω t about another: speeds and accelerations of closed form.

    Bounds hold everywhere in the step, and exceed the largest value by what may lie between samples, at most twice
    the acceleration and by a part of it the speed.
    """
    a, b, w, t0 = 0.3, 0.4, 11.0, 0.2

    def motion(t):
        half = b * np.sin(w * t) / 2
        return (a * np.sin(w * t), 0.0, 0.0), (np.cos(half), 0.0, np.sin(half), 0.0)

    sim = saltus.Simulation(SHAKER.format(h=h), "rk4", contact="hard", motions={"shaker": motion})
    sim.time = t0
    sim.step()
    bound = sim.engine.d.views["body_bound"][1]
    times = np.linspace(t0, t0 + h, 1001)
    speeds, accelerations = np.abs(w * np.cos(w * times)), np.abs(w**2 * np.sin(w * times))
    for place, size, values in (
        (LINEAR_SPEED, a, speeds),
        (TURNING_SPEED, b, speeds),
        (LINEAR_ACCELERATION, a, accelerations),
        (TURNING_ACCELERATION, b, accelerations),
    ):
        most = size * values.max()
        room = most if values is accelerations else 2 * size * accelerations.max() * h
        assert most * (1 - 1e-6) <= bound[place] <= most + room * (1 + 1e-6), place
