"""Hard contact at rest in plain Python: forces that are not unique, overlaps at the start, and equalities too many.

Laws: statics (forces and moments balance), with the least forces that push; least motion in the metric of the inertia,
which moves what is in the way by its share of the inverse masses. Forces to the solver's 1e-9, times to 1e-9 s.
"""

import itertools
import math

import numpy as np
import pytest
from helpers import hard_models
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.model.event_enums import SHARED, UNIQUE
from saltus.solve.acceleration import acceleration
from saltus.solve.event.constraint_stabilization import project, project_near

G = hard_models.G
#: A box of 1 kg on its corners, on which a mass of 3 kg slides.
TABLE = """<body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .1 .1" mass="1"/><body>
<joint type="slide" axis="1 0 0"/><geom size=".02" pos="0 .06 0" mass="3" contype="0" conaffinity="0"/></body></body>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def least_forces(corners, load):
    """The shortest forces [n] >= 0 at corners [n, 2] that carry loads with moments [3]; by trying which are zero."""
    A, best = np.vstack([np.ones(len(corners)), corners.T]), np.full(len(corners), np.inf)
    for some in itertools.chain.from_iterable(itertools.combinations(range(len(corners)), n) for n in (2, 3, 4)):
        found = np.zeros(len(corners))
        found[[*some]] = np.linalg.lstsq(A[:, some], load)[0]
        if np.allclose(A @ found, load, atol=1e-9) and found.min() > -1e-9 and found @ found < best @ best:
            best = found
    return best


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_load_that_moves_over_a_table(friction):
    """The table stands, on the least forces that push, until the load is beyond its edge: x m = a (M + m)."""
    sim = saltus.Simulation(hard_models.floor(TABLE, friction=friction), contact="hard", timestep=0.02)
    sim.qpos[7], sim.qvel[6] = 0.06, 1.0
    sim.forward()
    assert sim.engine.d.views["event_count"][SHARED] == UNIQUE  # the forces of least norm push
    run = sim.run(0.2, sample=0.1)
    corners, kinds = run.contact_pos[0, :4, :2], []
    for k, x in enumerate(0.06 + run.time):
        wanted = least_forces(corners, G * np.array([4.0, 3.0 * x, 3.0 * 0.06]))
        np.testing.assert_allclose(run.contact_force[k, :4, 2], wanted, atol=2e-4 * G)
        np.testing.assert_allclose(run.contact_force[k, :4, :2], 0.0, atol=1e-6)
        kinds.append((wanted > 1e-6).sum())
    assert set(kinds) == {3, 4} and sim.engine.d.views["event_count"][SHARED] != UNIQUE
    np.testing.assert_allclose(sim.qpos, [0, 0, 0.1, 1, 0, 0, 0, 0.26], atol=1e-9)
    sim.step()
    np.testing.assert_allclose(sim.events["time"][-2:], 0.2 * 4 / 3 - 0.06, atol=1e-9)
    assert [*sim.events["kind"][-2:]] == ["liftoff"] * 2
    assert sim.qvel[4] > 1e-3 and abs(sim.qvel[3]) < 1e-7


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("place", [0.0, 0.06, 0.14, 0.22])
def test_a_load_on_a_table_in_time_steps(friction, place):
    """Statics; of least norm where these push, and otherwise forces that push."""
    sim = saltus.Simulation(hard_models.floor(TABLE, friction=friction), "moreau_jean", contact="hard", timestep=0.01)
    sim.qpos[7] = place
    sim.step(2)
    force, corners = sim.data.efc_force.reshape(4, -1), sim.data.contact["pos"][:, :2]
    load = G * np.array([4.0, 3.0 * place, 3.0 * 0.06])
    A = np.vstack([np.ones(4), corners.T])
    np.testing.assert_allclose(A @ force[:, 0], load, atol=1e-5 * G)
    np.testing.assert_allclose(force[:, 1:].sum(axis=0), 0.0, atol=1e-5 * G)
    assert (np.linalg.norm(force[:, 1:], axis=1) <= friction * force[:, 0] + 1e-6).all()
    least = np.linalg.pinv(A) @ load
    assert force[:, 0].min() >= 0.0 and (least.min() > 0.0) == (place < 0.2)
    if least.min() > 0.0:
        np.testing.assert_allclose(force[:, 0], least, atol=1e-5 * G)
        np.testing.assert_allclose(force[:, 1:], 0.0, atol=1e-5 * G)


def test_overlaps_are_parted_by_the_least_motion():
    """Two balls by their shares of the inverse masses, a block out of the floor, a joint back into its range."""
    bodies = """<body pos="0 0 2"><freejoint/><geom size=".1" mass="1"/></body>
    <body pos="0 .12 2.16"><freejoint/><geom size=".15" mass="3"/></body>
    <body pos="2 0 .07"><freejoint/><geom type="box" size=".2 .2 .1" mass="2"/></body>
    <body pos="4 0 1"><joint axis="0 1 0" limited="true" range="-1 .2" frictionloss="1"/>
    <geom size=".1" pos=".3 0 0" mass="1"/></body>"""
    sim = saltus.Simulation(hard_models.floor(bodies, friction=0.7), contact=saltus.Hard(overlap_depth=0.06))
    sim.qpos[21] = 0.25
    with pytest.warns(saltus.SaltusWarning, match="overlap|beyond"):
        sim.step()
    parted = sim.events[0]
    assert parted["kind"] == "separated" and parted["time"] == 0.0
    fall = 0.5 * G * sim.timestep**2
    way = 0.05 * np.array([0.0, 0.6, 0.8])
    np.testing.assert_allclose(sim.qpos[:3], [0, 0, 2 - fall] - 0.75 * way, atol=1e-9)
    np.testing.assert_allclose(sim.qpos[7:10], [0, 0.12, 2.16 - fall] + 0.25 * way, atol=1e-9)
    np.testing.assert_allclose(sim.qpos[14:17], [2, 0, 0.1], atol=1e-9)
    np.testing.assert_allclose(sim.qpos[21], 0.2, atol=1e-9)
    np.testing.assert_allclose(sim.data.qfrc_constraint[14], G * 2, rtol=1)


# ---------------------------------------------------------------- sliding


@pytest.mark.parametrize("integrator", [None, "rk4", "moreau_jean"])
def test_bodies_slide_each_in_its_direction(integrator):
    """Balls on slides decelerate by μ g against their own velocities, and one of them stops."""
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(f'<body pos="{k} 0 .1">{joints}<geom size=".1" mass="{k + 1}"/></body>' for k in range(3))
    sim = saltus.Simulation(hard_models.floor(bodies, friction=0.4), integrator, contact="hard", timestep=0.01)
    start = np.array([[1.0, 0.5, 0.0], [-0.3, 0.8, 0.0], [0.05, -0.12, 0.0]])
    sim.qvel[:] = start.ravel()
    sim.step(6)
    speed = np.linalg.norm(start, axis=1)
    left = np.maximum(1.0 - 0.4 * G * sim.time / speed, 0.0)
    np.testing.assert_allclose(sim.qvel.reshape(3, 3), start * left[:, None], atol=1e-8)
    gone = np.where(left > 0.0, sim.time * (1.0 + left) / 2, speed / (2 * 0.4 * G))
    close = 0.01 if integrator == "moreau_jean" else 1e-8  # which stops at the end of a step
    np.testing.assert_allclose(sim.qpos.reshape(3, 3)[:2], (start * gone[:, None])[:2], atol=1e-8)
    np.testing.assert_allclose(sim.qpos.reshape(3, 3)[2], start[2] * gone[2], atol=close * speed[2])


def test_recordings_of_time_steps_hold_friction():
    """Forces on a block that slides: μ m g against its velocity, and its weight."""
    block = '<body pos="0 0 .1"><freejoint/><geom type="box" size=".3 .3 .1" mass="2"/></body>'
    sim = saltus.Simulation(hard_models.floor(block, friction=0.4), "moreau_jean", contact="hard", timestep=0.01)
    sim.qvel[:2] = 1.2, -1.6
    force = sim.run(0.05, 0.01).contact_force[1:].sum(axis=1)
    np.testing.assert_allclose(force, np.tile(2 * G * np.array([-0.24, 0.32, 1.0]), (5, 1)), atol=1e-6 * G)


def rod(friction, angle=0.9, radius=0.02, inertia=0.05):
    """A rod of 1 kg in a plane on its tip, and the place of its contact below its centre of mass."""
    x, z = -0.5 * math.cos(angle), -0.5 * math.sin(angle)
    body = f"""<body pos="0 0 {radius - z}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <joint axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>
    <geom size="{radius}" pos="{x} 0 {z}"/></body>"""
    return hard_models.floor(body, friction=friction), x, z - radius


@pytest.mark.parametrize("part", [0.5, 0.9, 1.02])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_rod_on_its_tip_slides_or_jams(part, side):
    """Painlevé: f_N = g / (W_NN ± μ W_NT); pushed ahead no force holds it from μ = W_NN / W_NT on."""
    _, x, z = rod(0.0)
    across, along = 1.0 + x * x / 0.05, x * z / 0.05
    mu = part * across / along
    sim = saltus.Simulation(rod(mu)[0], contact="hard", timestep=1e-4)
    sim.qvel[0] = side
    if side < 0.0 and part > 1.0:
        with pytest.raises(saltus.EventError, match="Painlevé"):
            sim.step()
        return
    force = G / (across + side * mu * along)
    wanted = [-side * mu * force, force]
    np.testing.assert_allclose(sim.data.qfrc_constraint[:2], wanted, rtol=1e-8)
    np.testing.assert_allclose(sim.data.qfrc_constraint[2], z * wanted[0] - x * wanted[1], rtol=1e-8)


# ---------------------------------------------------------------- equalities


TIED = """<mujoco><option gravity="0 0 0"/><default><geom contype="0"/></default><worldbody>
<body><joint name="a" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
<body pos="0 1 0"><joint name="b" type="slide" axis="1 0 0"/><geom size=".1" mass="3"/></body></worldbody>
<equality><joint joint1="a" joint2="b"/></equality></mujoco>"""


@pytest.mark.parametrize("far", [0.0, 2e-11, 1e-6])
@pytest.mark.parametrize("fast", [0.0, 3e-11, 2e-6])
def test_drift_is_taken_out_by_the_least_motion(far, fast):
    """By the shares of the inverse masses; only what exceeds rounding changes accelerations, and is said."""
    for kernel in (project, project_near):
        sim = saltus.Simulation(TIED, contact="hard")
        sim.qpos[:], sim.qvel[:] = 0.3, 0.7
        sim.step()
        sim.qpos[0] += far
        sim.qvel[0] += fast
        place, speed = sim.qpos[1], sim.qvel[1]
        m, d = fields(sim.engine.step_m), fields(sim.engine.d)
        plain(acceleration)(m, d)
        said = plain(kernel)(m, d)
        np.testing.assert_allclose(sim.qpos, place + 0.25 * far, rtol=0, atol=3e-16)
        np.testing.assert_allclose(sim.qvel, speed + 0.25 * fast, rtol=0, atol=3e-16)
        assert bool(said) == (max(far, fast) > (1e-9 if kernel is project_near else 0.0))
