"""Prescribed motions under contact: tables that shake, plates that slide, a crank in a loop.

Laws: a ball at rest on a table z = A sin ωt takes off where its acceleration is -g, and flies from there; a block stays
on a plate while |x''| ≤ μ g, and slides then with μ g; an impact takes the table's velocity along; the loop of a
crank-rocker closes. Located events are exact to rounding of the time, positions between them to the tolerance of
dopri5's steps, so that 1e-8 is ample; soft contact agrees between a table on a joint and one that is a mocap body up to
the joint's inertia, 1e-6 of it. All tests under located hard contact share one world.
"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import saltus

G, RADIUS, MU = 9.81, 0.1, 0.3
CRANK, COUPLER, ROCKER, GROUND = 0.1, 0.3, 0.25, 0.3


def pair(number):
    return f'contype="{2**number}" conaffinity="{2**number}"'


WORLD = saltus.load(f"""<mujoco><option gravity="0 0 -{G}" timestep=".002"/><default>
<geom contype="0" conaffinity="0" friction="{MU}" condim="3"/></default><worldbody>
<body><joint name="lift" type="slide" axis="0 0 1"/>
<geom type="box" size="1 1 .1" pos="0 0 -.1" mass="5" {pair(1)}/></body>
<body pos="0 0 {RADIUS}"><joint name="on lift" type="slide" axis="0 0 1"/>
<geom size="{RADIUS}" mass="1" {pair(1)}/></body>
<body name="table" pos="5 0 0" mocap="true"><geom type="box" size="1 1 .1" pos="0 0 -.1" {pair(2)}/></body>
<body pos="5 0 {RADIUS}"><joint name="on table" type="slide" axis="0 0 1"/>
<geom size="{RADIUS}" mass="1" {pair(2)}/></body>
<body pos="10 0 0"><joint name="plate" type="slide" axis="1 0 0"/>
<geom type="box" size="1 1 .1" pos="0 0 -.1" mass="5" {pair(3)}/></body>
<body pos="10 0 {RADIUS}"><joint name="slider x" type="slide" axis="1 0 0"/>
<joint name="slider z" type="slide" axis="0 0 1"/><geom size="{RADIUS}" mass="1" {pair(3)}/></body>
<body pos="0 5 0"><joint name="crank" axis="0 -1 0"/><geom size=".01" mass="1"/>
<body pos="{CRANK} 0 0"><joint name="coupler" axis="0 -1 0"/>
<geom type="capsule" fromto="0 0 0 {COUPLER} 0 0" size=".01" mass="1"/><site name="tip" pos="{COUPLER} 0 0"/></body>
</body>
<body pos="{GROUND} 5 0"><joint name="rocker" axis="0 -1 0"/>
<geom type="capsule" fromto="0 0 0 {ROCKER} 0 0" size=".01" mass="1"/><site name="end" pos="{ROCKER} 0 0"/></body>
</worldbody><equality><connect site1="tip" site2="end"/></equality></mujoco>""")
A, W = 0.05, 20.0


def shake(t):
    return A * math.sin(W * t)


def shaken_table(t):
    return 5.0, 0.0, A * math.sin(W * t)


def spin(t):
    return 1.0 + 3.0 * t


def dof(name):
    return int(WORLD.jnt_dofadr[WORLD.id("joint", name)])


def closed(crank):
    """Angles of coupler (from the crank) and rocker at an angle of the crank, in the branch above (Freudenstein)."""
    x, z = CRANK * math.cos(crank), CRANK * math.sin(crank)
    far = math.hypot(GROUND - x, -z)
    toward = math.atan2(-z, GROUND - x)
    coupler = toward + math.acos((far**2 + COUPLER**2 - ROCKER**2) / (2 * far * COUPLER))
    tip = x + COUPLER * math.cos(coupler), z + COUPLER * math.sin(coupler)
    return coupler - crank, math.atan2(tip[1], tip[0] - GROUND)


def simulation(restitution=0.0, **options):
    motions = {"lift": shake, "table": shaken_table, "plate": shake, "crank": spin}
    sim = saltus.Simulation(WORLD, contact=saltus.Hard(restitution=restitution), motions=motions, **options)
    sim.qpos[[dof("coupler"), dof("rocker")]] = closed(spin(0.0))
    sim.qvel[[dof("on lift"), dof("on table"), dof("slider x")]] = A * W
    step = 1e-5
    rates = (np.array(closed(spin(step))) - np.array(closed(spin(-step)))) / (2 * step)
    sim.qvel[[dof("coupler"), dof("rocker")]] = rates
    return sim


@pytest.fixture(scope="module")
def run():
    return simulation().run(0.14, 0.005, progress=False, ledger=True)


@pytest.mark.parametrize("ball", ["on lift", "on table"])
def test_a_ball_takes_off_from_a_shaken_table(run, ball):
    leaves = math.asin(G / (A * W * W)) / W
    z, v = shake(leaves), A * W * math.cos(W * leaves)
    t = run.time
    height = np.where(t < leaves, A * np.sin(W * t), z + v * (t - leaves) - G / 2 * (t - leaves) ** 2)
    np.testing.assert_allclose(run.qpos[:, dof(ball)], height, atol=1e-8)
    lifts = run.events["time"][run.events["kind"] == "liftoff"]
    assert np.abs(lifts - leaves).min() < 1e-9


def test_a_block_slides_on_a_shaken_plate(run):
    """It slides from where the plate's deceleration is μ g, and is decelerated by μ g."""
    slips = math.asin(MU * G / (A * W * W)) / W
    x, v = shake(slips), A * W * math.cos(W * slips)
    t = run.time[run.time < 0.1]
    place = np.where(t < slips, A * np.sin(W * t), x + v * (t - slips) - MU * G / 2 * (t - slips) ** 2)
    np.testing.assert_allclose(run.qpos[: len(t), dof("slider x")], place, atol=1e-8)


def test_a_prescribed_crank_drives_its_rocker(run):
    angles = np.array([closed(spin(t)) for t in run.time])
    found = run.qpos[:, [dof("coupler"), dof("rocker")]]
    np.testing.assert_allclose(np.sin(found - angles), 0.0, atol=1e-8)
    np.testing.assert_allclose(run.qpos[:, dof("crank")], spin(run.time), rtol=1e-15)


def test_a_ball_that_drops_meets_the_table_where_it_is():
    sim = simulation(0.5)
    height = 0.3
    for ball in ("on lift", "on table"):
        sim.qpos[dof(ball)], sim.qvel[dof(ball)] = height, 0.0
    hits = brentq(lambda t: height - G / 2 * t * t - shake(t), 0.2, 0.28, xtol=1e-15)
    assert all(height - G / 2 * t * t > shake(t) for t in np.linspace(0, hits, 500)[:-1])
    run = sim.run(hits + 1e-3, 1.0, progress=False)
    impacts = run.events["time"][run.events["kind"] == "impact"]
    assert np.sort(impacts)[-2:] == pytest.approx([hits, hits], abs=1e-10)
    table = A * W * math.cos(W * hits)
    for ball in ("on lift", "on table"):
        after = table - 0.5 * (-G * hits - table)
        assert sim.qvel[dof(ball)] == pytest.approx(after - G * 1e-3, abs=1e-8)


def test_forces_of_prescriptions_carry_what_is_on_them():
    sim = simulation()
    sim.run(0.02, 0.01, progress=False)  # still in contact
    push = -A * W * W * math.sin(W * sim.time)
    assert sim.data.qfrc_prescribed[dof("lift")] == pytest.approx((5 + 1) * (G + push), abs=1e-8)


SMALL = """<mujoco><option gravity="0 0 -9.81" timestep=".001" cone="{cone}" solver="{solver}"/><worldbody>{table}
<body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
</worldbody></mujoco>"""
ON_JOINT = """<body><joint name="table" type="slide" axis="0 0 1"/>
<geom type="box" size="1 1 .1" pos="0 0 -.1" mass="1e8"/></body>"""
MOCAP = '<body name="table" mocap="true"><geom type="box" size="1 1 .1" pos="0 0 -.1"/></body>'


def slow(t):
    return 0.05 * math.sin(12 * t)


def slow_table(t):
    return 0, 0, 0.05 * math.sin(12 * t)


@pytest.mark.parametrize(
    ("integrator", "cone", "solver"),
    [("euler", "pyramidal", "Newton"), ("implicitfast", "elliptic", "Newton"), ("rk4", "elliptic", "CG")],
)
def test_soft_contact_feels_both_kinds_of_table_alike(integrator, cone, solver):
    runs = []
    for table, motion in ((ON_JOINT, slow), (MOCAP, slow_table)):
        source = SMALL.format(cone=cone, solver=solver, table=table)
        sim = saltus.Simulation(source, integrator, motions={"table": motion})
        sim.qvel[-2] = 0.6
        runs.append(sim.run(0.4, 0.02, progress=False))
    on_joint, mocap = runs
    np.testing.assert_allclose(on_joint.qpos[:, 1:], mocap.qpos, atol=1e-6)
    # the depth is that of the soft law under g + z'', at most 2 mm here
    np.testing.assert_allclose(mocap.qpos[5:, 0], 0.05 * np.sin(12 * mocap.time[5:]), atol=1e-3)
