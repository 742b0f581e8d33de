"""Geoms, surfaces and tendons that move under located hard contact in plain Python, against closed forms.

Laws: Newton's and Coulomb's on tables whose motion is given, dry friction of tendons, restitution of limits, conveyor
belts. Tolerances: located events are exact to 1e-10 m, and positions follow dopri5's steps to 1e-8; a soft table on a
joint of 1e8 kg is a given one to 1e-6.
"""

import math

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.plain_python import plain_python

import saltus
from saltus.contact.counts import NCYCLED, NITER
from saltus.solve.stepping.nonlinear_gauss_seidel import PATIENCE

G, MU = 9.81, 0.3


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


# ---------------------------------------------------------------- motions that are given

ON_TABLE = """<mujoco><option timestep=".005" cone="{cone}"/><default><geom friction="{mu}"/></default>
<worldbody>{table}
<body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
</worldbody></mujoco>"""
BOX = '<geom type="box" size="1 1 .1" pos="0 0 -.1" mass="1e8"/></body>'
ON_JOINT = '<body><joint name="table" type="slide" axis="0 0 1"/>' + BOX
MOCAP = '<body name="table" mocap="true">' + BOX
WELDED = """<mujoco><option timestep=".005" gravity="0 0 {g}"/><worldbody><body name="table" mocap="true"/>
<body name="plate"><freejoint/><geom type="box" size=".2 .1 .05" mass="1" contype="0"/></body>
</worldbody><equality><weld body1="{first}" body2="{second}"/></equality></mujoco>"""


def lift(t):
    return 0.05 * math.sin(12 * t)


def table(t):
    return 0.0, 0.0, 0.05 * math.sin(12 * t)


def turning(t):
    return (0.3 * t, 0.1 * math.sin(3 * t), 0.0), (math.cos(2 * t), 0.0, 0.6 * math.sin(2 * t), 0.8 * math.sin(2 * t))


def steady(t):
    return (0.3 * t, 0.0, -0.2 * t), (math.cos(t), math.sin(t), 0.0, 0.0)


@pytest.mark.parametrize(("body", "motion"), [(MOCAP, table), (ON_JOINT, lift)], ids=["body", "joint"])
def test_a_slider_on_a_shaken_table(body, motion):
    """Friction is μ m (g + z''): v = v0 - μ (g t + z'(t) - z'(0)) while it slides."""
    xml = ON_TABLE.format(cone="elliptic", mu=MU, table=body)
    sim = saltus.Simulation(xml, contact="hard", motions={"table": motion})
    sim.qvel[-2:] = 0.6, 1.5
    sim.step(12)
    t = sim.time
    rate, push = 0.6 * math.cos(12 * t), G - 7.2 * math.sin(12 * t)
    np.testing.assert_allclose(sim.qpos[-2], 0.05 * math.sin(12 * t), atol=1e-8)
    np.testing.assert_allclose(sim.qvel[-2:], [rate, 1.5 - MU * (G * t + rate - 0.6)], atol=1e-8)
    np.testing.assert_allclose(sim.data.qfrc_constraint[-2:], [push, -MU * push], atol=1e-7)


@pytest.mark.parametrize(("integrator", "cone"), [("euler", "pyramidal"), ("implicitfast", "elliptic")])
def test_a_soft_table_is_felt_alike(integrator, cone):
    """On a joint of a large mass, and as a mocap body."""
    ends = []
    for body, motion in ((ON_JOINT, lift), (MOCAP, table)):
        sim = saltus.Simulation(ON_TABLE.format(cone=cone, mu=1.0, table=body), integrator, motions={"table": motion})
        sim.qvel[-2:] = 0.6, 0.4
        sim.step(8)
        ends.append([*sim.qpos[-2:], *sim.qvel[-2:]])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize(("first", "second"), [("plate", "table"), ("table", "plate")])
def test_a_plate_welded_to_what_moves(first, second):
    """Held by hard constraints it has the pose of what it is welded to, while this turns and is accelerated."""
    xml = WELDED.format(g=-G, first=first, second=second)
    sim = saltus.Simulation(xml, contact="hard", motions={"table": turning})
    sim.qvel[:] = 0.3, 0.3, 0.0, 0.0, 2.4, 3.2
    sim.step(8)
    pos, quat = turning(sim.time)
    np.testing.assert_allclose(sim.qpos, [*pos, *quat], atol=1e-7)
    accel = np.array([0.0, -0.9 * math.sin(3 * sim.time), 0.0])
    np.testing.assert_allclose(sim.data.qfrc_constraint[:3], accel + [0, 0, G], atol=1e-5)


@pytest.mark.parametrize(("first", "second"), [("plate", "table"), ("table", "plate")])
def test_a_soft_weld_to_what_moves_steadily(first, second):
    """Without weight and forces a plate that begins with the motion keeps it: a sphere's turns are free of torque."""
    xml = WELDED.format(g=0, first=first, second=second).replace('type="box" size=".2 .1 .05"', 'size=".1"')
    sim = saltus.Simulation(xml, "rk4", motions={"table": steady})
    sim.qvel[:] = 0.3, 0.0, -0.2, 2.0, 0.0, 0.0
    sim.step(6)
    pos, quat = steady(sim.time)
    np.testing.assert_allclose(sim.qpos, [*pos, *quat], atol=1e-10)


TIED = """<mujoco><option timestep=".005"/><worldbody><body name="table" mocap="true"/><body name="plate">
<freejoint/><geom type="box" size=".2 .1 .05" mass="1" contype="0"/></body></worldbody><equality>
<weld body1="{0}" body2="{1}" anchor=".1 .2 .3" relpose=".1 0 .2 .8 0 .6 0" torquescale=".4"/>
<connect body1="{0}" body2="{1}" anchor=".3 -.1 .2"/></equality></mujoco>"""


@pytest.mark.parametrize(("first", "second"), [("plate", "table"), ("table", "plate")])
def test_rates_of_ties_to_what_moves(first, second):
    """Velocities of rows are the derivatives of their violations in time, by central differences."""
    sim = saltus.Simulation(TIED.format(first, second), "euler", motions={"table": turning})
    rng, t, eps = np.random.default_rng(0), 0.3, 1e-5
    q, v = rng.normal(size=7), rng.normal(size=6)
    q[3:] /= np.linalg.norm(q[3:])

    def rows(shift):
        sim.time, sim.qpos[:], sim.qvel[:] = t + shift, q, v
        mujoco.mj_integratePos(sim.model.mujoco, sim.qpos, v, shift)
        sim.forward()
        return sim.engine.d.row_pos[:9].copy(), sim.engine.d.row_velocity[:9].copy()

    slope = (rows(eps)[0] - rows(-eps)[0]) / (2 * eps)
    found = rows(0.0)[1]
    assert np.abs(found).min() > 1e-3
    np.testing.assert_allclose(found, slope, rtol=0, atol=1e-8)


CHAIN = """<mujoco><option timestep=".01"/><default><geom contype="0" size=".05" mass="1"/></default><worldbody>
<body><joint axis="0 1 0" damping=".3"/><geom pos=".3 0 .1"/><body pos=".4 0 0"><joint name="driven" axis="0 1 0.3"/>
<geom pos=".2 0 -.1"/><body pos=".3 .1 0"><joint axis="1 1 0" damping=".2"/><geom pos=".1 .3 0"/></body></body></body>
</worldbody></mujoco>"""
CART = """<mujoco><option timestep=".01"/><worldbody><body><joint name="cart" type="slide" axis="1 0 0"/>
<geom size=".1" mass="1"/><body><joint axis="0 -1 0"/><inertial pos="0 0 -.5" mass="2" diaginertia="1e-9 1e-9 1e-9"/>
</body></body></worldbody></mujoco>"""


def swing(t):
    return 0.7 * math.sin(3 * t + 0.5)


def driven(integrator):
    """A simulation of `CHAIN` in motion, MuJoCo's data at its state, and the acceleration of the driven joint."""
    sim = saltus.Simulation(CHAIN, integrator, motions={"driven": swing})
    sim.qpos[[0, 2]], sim.qvel[[0, 2]] = [0.4, -0.8], [1.5, -2.0]
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = [0.4, swing(0.0), -0.8]
    d.qvel[:] = [1.5, 2.1 * math.cos(0.5), -2.0]
    return sim, m, d, -6.3 * math.sin(0.5)


def test_a_driven_joint_needs_the_force_of_inverse_dynamics():
    """And the others need none."""
    sim, m, d, wanted = driven("rk4")
    sim.forward()
    d.qacc[:] = sim.data.qacc
    mujoco.mj_inverse(m, d)
    np.testing.assert_allclose(sim.data.qacc[1], wanted, rtol=1e-12)
    np.testing.assert_allclose(d.qfrc_inverse, [0.0, sim.data.qfrc_prescribed[1], 0.0], atol=1e-11)
    assert not sim.data.qfrc_prescribed[[0, 2]].any() and abs(d.qfrc_inverse[1]) > 1.0


def test_a_driven_joint_in_an_implicit_step():
    """(M - h df/dv) a = f in the rows of the others, with the slopes as differences of what is of second degree."""
    sim, m, d, given = driven("implicit")

    def force(qvel):
        d.qvel[:] = qvel
        mujoco.mj_forward(m, d)
        return d.qfrc_passive - d.qfrc_bias

    start, h, free = d.qvel.copy(), 0.01, [0, 2]
    A = -h * np.transpose([0.5 * (force(start + e) - force(start - e)) for e in np.eye(3)])
    f = force(start)
    A += oracle.full_inertia(m, d)
    a = np.linalg.solve(A[np.ix_(free, free)], f[free] - A[free, 1] * given)
    sim.step()
    np.testing.assert_allclose(sim.qvel[free], start[free] + h * a, rtol=1e-11)
    np.testing.assert_allclose([sim.qpos[1], sim.qvel[1]], [swing(h), 2.1 * math.cos(3 * h + 0.5)], rtol=1e-12)


def test_a_pendulum_on_a_driven_cart_in_time_steps():
    """Moreau & Jean's step at the middle, with the mean acceleration of the cart."""
    sim = saltus.Simulation(CART, "moreau_jean", motions={"cart": swing})
    angle, rate, h, long = 0.8, 1.2, 0.01, 0.5
    sim.qpos[1], sim.qvel[1] = angle, rate
    for k in range(2):
        change = 2.1 * (math.cos(3 * h * (k + 1) + 0.5) - math.cos(3 * h * k + 0.5)) / h
        angle += 0.5 * h * rate
        rate -= h * (G * math.sin(angle) + math.cos(angle) * change) / long
        angle += 0.5 * h * rate
        sim.step()
        np.testing.assert_allclose([sim.qpos[1], sim.qvel[1]], [angle, rate], rtol=1e-7)


TORN = """<mujoco><option gravity="0 0 0" timestep=".01"/><default><geom contype="0"/></default><worldbody>
<body name="p" mocap="true"/><body name="q" mocap="true"/>
<body name="a"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody>
<equality><connect body1="a" body2="p" anchor="0 0 0"/><connect body1="a" body2="q" anchor="0 0 0"/></equality></mujoco>
"""


def one_way(t):
    return 0.0, 0.0, t


def another(t):
    return 0.0, 0.0, 1.000001 * t


def test_equalities_that_contradict_each_other_end_in_a_cycle():
    """A body held by two that part: it goes with one of them, with forces that add up to nothing, after few sweeps."""
    sim = saltus.Simulation(TORN, "moreau_jean", contact="hard", motions={"p": one_way, "q": another})
    sim.qvel[:] = 1.0
    for k in range(2):
        sim.step()
        views = sim.engine.d.views
        assert views["count"][NCYCLED] == 1 and PATIENCE < views["count"][NITER] <= PATIENCE + 20
        assert 1.0 - 1e-12 <= sim.qvel[0] <= 1.000001 + 1e-12
        np.testing.assert_allclose(sim.qpos[0], 0.01 * (k + 1), atol=2e-8)
        forces = views["row_force"][[2, 5]]
        np.testing.assert_allclose(forces.sum(), 0.0, atol=1e-9)
        assert (np.abs(forces) <= 1e-3).all() and (forces != 0.0).all()
    assert sim.unconverged == 0


# ---------------------------------------------------------------- surfaces

BELT = """<mujoco><option timestep=".02"/><worldbody>
<geom name="belt" type="{kind}" size="5 5 .1" pos="0 0 {z}" euler="0 0 90" surfacevel="0 -1 0 0 0 0" friction=".3"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".3"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("kind", "z"), [("plane", 0.0), ("box", -0.1)])
def test_a_belt_takes_a_box_along(kind, z):
    """With μ g up to the belt's 1 m/s along x, after 1/(μ g) = 0.34 s."""
    sim = saltus.Simulation(BELT.format(kind=kind, z=z), contact="hard")
    sim.step(5)
    np.testing.assert_allclose(sim.qvel[:3], [MU * G * 0.1, 0, 0], atol=1e-8)
    sim.step(15)
    np.testing.assert_allclose(sim.qvel[:3], [1.0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(sim.qpos[0], 0.4 - 0.5 / (MU * G), atol=1e-7)


def test_a_box_slides_on_a_box():
    """With -μ g until it rests; its front edge is beyond that of the box below, the pressure is not."""
    xml = BELT.format(kind="box", z=-0.1).replace('surfacevel="0 -1 0 0 0 0"', "").replace("5 5 .1", "5 .5 .1")
    sim = saltus.Simulation(xml, contact="hard")
    sim.qpos[0], sim.qvel[0] = 0.3, 0.9
    sim.step(20)
    np.testing.assert_allclose(sim.qpos[:3], [0.3 + 0.81 / (2 * MU * G), 0, 0.1], atol=1e-8)
    np.testing.assert_allclose(sim.qvel, 0.0, atol=1e-8)


# ---------------------------------------------------------------- tendons and joints

SLIDES = """<mujoco><compiler autolimits="true"/><option timestep=".02" gravity="0 0 0"/><default>
<geom contype="0" size=".1"/></default><worldbody><body><joint name="a" type="slide"/><geom mass="2"/></body>
<body pos="0 1 0"><joint name="b" type="slide"/><geom mass="3"/></body></worldbody><tendon>{tendon}</tendon></mujoco>"""
PAIR = '<joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed>'
PENDULUM = """<mujoco><compiler angle="radian"/><option timestep=".02" gravity="0 0 0"/><worldbody><body>
<joint type="ball" range="0 .3" limited="true"/><geom size=".2" mass="1" contype="0"/></body></worldbody></mujoco>"""


def test_dry_friction_of_a_tendon():
    """F along a - b/2: accelerations -F/2 and +F/6 until the tendon's rate a' - b'/2 is zero."""
    sim = saltus.Simulation(SLIDES.format(tendon='<fixed frictionloss=".4">' + PAIR), contact="hard")
    sim.qvel[:] = 1.0, 1.2
    sim.step(10)
    np.testing.assert_allclose(sim.qvel, [1.0 - 0.04, 1.2 + 0.4 * 0.5 / 3 * 0.2], atol=1e-9)
    sim.step(90)
    stops = 0.4 / (0.4 / 2 + 0.4 * 0.25 / 3)
    np.testing.assert_allclose(sim.qvel, [1.0 - 0.2 * stops, 1.2 + 0.2 / 3 * stops], atol=1e-8)


@pytest.mark.parametrize("side", [1, -1])
def test_limits_of_a_tendon(side):
    """Its rate turns to -e of itself by an impulse along it; at rest at the limit it carries what pushes."""
    tendon = f'<fixed range="{"-9 .2" if side > 0 else "-.2 9"}">' + PAIR
    sim = saltus.Simulation(SLIDES.format(tendon=tendon), contact=saltus.Hard(limits=0.5))
    sim.qvel[:] = side * 1.0, 0.0
    sim.step(15)
    impulse = 1.5 / (1 / 2 + 0.25 / 3)
    np.testing.assert_allclose(sim.events["time"][0], 0.2, atol=1e-9)
    np.testing.assert_allclose(sim.qvel, [side * (1 - impulse / 2), side * impulse / 6], atol=1e-9)
    still = saltus.Simulation(SLIDES.format(tendon=tendon), contact="hard")
    still.qpos[0] = side * 0.2
    still.qfrc_applied[0] = side * 3.0
    still.step(5)
    # accelerations are equal along the tendon: a = b/2 = (3 - λ)/2 = λ/12
    force = 18 / 7
    np.testing.assert_allclose(still.data.qfrc_constraint, [-side * force, side * force / 2], atol=1e-8)
    np.testing.assert_allclose(still.qvel, 0.1 * side * np.array([(3 - force) / 2, force / 6]), atol=1e-8)


def test_the_limit_of_a_ball_joint():
    """A sphere turns at 2 rad/s up to 0.3 rad, back with half of that, and at rest carries a torque."""
    axis = np.array([0.6, 0.0, 0.8])
    sim = saltus.Simulation(PENDULUM, contact=saltus.Hard(limits=0.5))
    sim.qvel[:] = 2.0 * axis
    sim.step(10)
    np.testing.assert_allclose(sim.events["time"], [0.15], atol=1e-9)
    np.testing.assert_allclose(sim.qvel, -axis, atol=1e-9)
    still = saltus.Simulation(PENDULUM, contact="hard")
    still.qpos[:] = math.cos(0.15), *(math.sin(0.15) * axis)
    still.qfrc_applied[:] = 0.7 * axis
    still.step(3)
    np.testing.assert_allclose(still.data.qfrc_constraint, -0.7 * axis, atol=1e-7)
    np.testing.assert_allclose(still.qpos, [math.cos(0.15), *(math.sin(0.15) * axis)], atol=1e-9)


def sway(t):
    return 0.05 * math.sin(12 * t)


@pytest.mark.parametrize("integrator", ["rk4", "euler", "dopri5"])
def test_a_slide_of_a_particle_that_is_given(integrator):
    """It has its motion's acceleration; the others fall as fast as armatures let them, along turned axes."""
    slides = "".join(
        f'<joint name="{name}" type="slide" axis="{axis}" armature="{armature}"/>'
        for name, axis, armature in (("x", "1 0 0", 0.5), ("y", "0 1 0", 0.3), ("z", "0 0 1", 0.0))
    )
    xml = f"""<mujoco><option gravity="1 2 -9" timestep=".01"/><worldbody><body euler="40 0 20">{slides}
    <geom size=".1" mass=".2"/></body><body pos="2 0 0"><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body>
    <flexcomp name="far" type="grid" dim="2" count="2 2 1" spacing=".1 .1 .1" pos="9 0 0" mass="1" radius=".01">
    <edge damping=".1"/><contact selfcollide="none" contype="0" conaffinity="0"/></flexcomp></worldbody></mujoco>"""
    sim = saltus.Simulation(xml, integrator, motions={"y": sway})
    assert sim.engine.m.nparticle == 5  # a deformable body's, too
    sim.step(3)
    sim.forward()
    t, down = sim.time, sim.data.xmat[1].reshape(3, 3).T @ [1.0, 2.0, -9.0]
    fall = 0.2 * down / (0.2 + np.array([0.5, 0.3, 0.0]))
    np.testing.assert_allclose(sim.data.qacc[:3], [fall[0], -7.2 * math.sin(12 * t), fall[2]], rtol=1e-10)
    np.testing.assert_allclose([sim.qpos[1], sim.qvel[1]], [sway(t), 0.6 * math.cos(12 * t)], atol=1e-10)
    late = 1.0 if integrator != "euler" else 4 / 3  # sum of k h² over three steps
    np.testing.assert_allclose(sim.qpos[[0, 2]], late * fall[[0, 2]] * t * t / 2, rtol=1e-9)
