"""Kernels of time steps over dense events in plain Python: samples inside them, short steps, lifts without energy.

Laws: straight lines from a step's start to its end, and impulses that act from its start on; Moreau & Jean's step of a
ball in one dimension; s² = 1 - ΔE/T of the trees that were moved, with MuJoCo's energies. Formulas, to rounding.
"""

import math

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.contact.event.gap_functions import gaps
from saltus.dynamics.smooth import position_stage
from saltus.integrate.event import dense_events, energy_kept, shallow_steps
from saltus.model.event_enums import BEGAN, COLLIDED, ENERGY, LEFT, LENGTH, LOGGED, OPEN, OVER, SIZE
from saltus.solve.status import CHATTER, CROWDED, DIVERGED, JAMMED, OK, TOO_DENSE, UNRESOLVED

G = 9.81
TREES = """<mujoco><option timestep=".01"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
<geom type="plane" size="9 9 1" contype="1" conaffinity="1"/>
<body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3" mass="2"/>
<body pos=".3 0 0"><joint axis="0 1 0"/><geom size=".1" pos=".2 0 .1" mass="1"/></body></body>
<body pos="2 0 1"><joint name="z" type="slide" axis="0 0 1" stiffness="3"/>
<geom size=".1" mass="1.5" contype="1" conaffinity="1"/></body>
</worldbody><actuator><general joint="z" dyntype="filter" dynprm=".3" gainprm="0"/></actuator></mujoco>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def called(kernel, sim, *arguments):
    return plain(kernel)(fields(sim.engine.step_m), fields(sim.engine.d), *arguments)


def moved(m, q, by):
    out = q.copy()
    mujoco.mj_integratePos(m, out, by, 1.0)
    return out


@pytest.mark.parametrize("collided", [0.0, 2.0])
@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_samples_inside_a_time_step(collided, part):
    """Positions by the mean velocity of both ends; velocities have the jump of impacts from the start on."""
    sim, h, rng = saltus.Simulation(TREES, contact="hard"), 0.02, np.random.default_rng(0)
    m, d = sim.model.mujoco, sim.engine.d.views
    before, after, jump = rng.normal(size=(3, m.nv))
    start = moved(m, m.qpos0, 0.3 * rng.normal(size=m.nv))
    d["qpos_saved"][:], d["qvel_saved"][:], d["act_saved"][:] = start, before, 0.2
    sim.qpos[:], sim.qvel[:], sim.act[:] = moved(m, start, 0.5 * h * (before + after)), after, 0.7
    d["dense"][COLLIDED], d["qvel_jump"][:] = collided, jump
    end = sim.qpos.copy()
    called(dense_events.keep_end, sim)
    called(dense_events.state_inside, sim, h, np.float64(part))
    jumped = (jump if part > 0.0 else 0.0 * jump) if collided else part * jump
    np.testing.assert_allclose(sim.qvel, before + part * (after - before - jump) + jumped, rtol=1e-13)
    np.testing.assert_allclose(sim.qpos, moved(m, start, part * 0.5 * h * (before + after)), rtol=1e-13)
    np.testing.assert_allclose(sim.act, 0.2 + 0.5 * part, rtol=1e-13)
    called(dense_events.back_to_end, sim)
    for found, wanted in ((sim.qpos, end), (sim.qvel, after), (sim.act, [0.7])):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("part", "taken"), [(0.2, 0.2), (0.9, 0.5), (-0.1, 0.0)])
@pytest.mark.parametrize("tree", [0, 1])
def test_a_lift_takes_what_it_gains_from_what_it_moves(tree, part, taken):
    """At most half of the kinetic energy of the tree that was moved, and nothing where energy is lost."""
    sim, rng = saltus.Simulation(TREES, contact="hard"), np.random.default_rng(1)
    d = mujoco.MjData(m := oracle.reference(sim.model))
    d.qpos[:], d.qvel[:] = moved(m, m.qpos0, 0.3 * rng.normal(size=m.nv)), rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    own = np.arange(m.nv) == 7 if tree else np.arange(m.nv) < 7
    kinetic = 0.5 * (own * d.qvel) @ oracle.full_inertia(m, d) @ d.qvel
    np.testing.assert_allclose(called(energy_kept.total_energy, sim), d.energy.sum(), rtol=1e-12)
    sim.engine.d.views["qstep"][:] = np.arange(m.nv) == (7 if tree else 6)
    called(energy_kept.take_gain, sim, np.float64(d.energy.sum() - part * kinetic))
    np.testing.assert_allclose(sim.qvel, np.where(own, np.sqrt(1.0 - taken), 1.0) * d.qvel, rtol=1e-11)


def ball(gap, speed, h):
    """Position, velocity and length of the first step of Moreau & Jean's that is at most 1e-4 deep, or the fourth."""
    for again in range(4):
        middle = gap + 0.5 * h * speed
        after = max(speed - h * G, min(-middle / h, 0.0))
        end = middle + 0.5 * h * after
        depth = -end - max(-gap, 0.0)
        if again == 3 or depth <= 1e-4:
            return end, after, h
        h *= max(0.1, 0.8e-4 / depth)
    raise AssertionError


@pytest.mark.parametrize("gap", [2e-3, 4e-4, 2e-5, -3e-3, 0.02])
@pytest.mark.parametrize("speed", [-1.0, -3.0])
def test_steps_are_as_short_as_depths_need(gap, speed):
    sim = saltus.Simulation(TREES.replace('stiffness="3"', ""), contact="hard")
    sim.qpos[-1], sim.qvel[-1], sim.act[0], sim.ctrl[0] = gap - 0.9, speed, 0.4, 1.0
    d = sim.engine.d.views
    d["qpos_saved"][:], d["qvel_saved"][:], d["act_saved"][:] = sim.qpos, sim.qvel, sim.act
    status, h = called(shallow_steps.shallow_step, sim, np.float64(0.004))
    end, after, wanted = ball(gap, speed, 0.004)
    assert status == OK
    np.testing.assert_allclose([h, sim.time], wanted, rtol=1e-9)
    np.testing.assert_allclose([sim.qpos[-1] + 0.9, sim.qvel[-1]], [end, after], atol=1e-9)
    np.testing.assert_allclose(sim.act[0], 0.4 + h * 0.6 / 0.3, rtol=1e-12)
    np.testing.assert_allclose(sim.qvel[2], -h * G, rtol=1e-9)


@pytest.mark.parametrize("gravity", [(0.0, 3.0, -9.0), (-4.0, 0.0, -8.0), (2.0, 3.0, -6.0)])
@pytest.mark.parametrize(("faster", "returned"), [(1.02, 0.5), (0.98, 0.0)])
def test_only_what_is_faster_than_four_steps_of_free_fall_bounces(gravity, faster, returned):
    """In any direction of gravity: the law of time steps at rest, `RESTING` |g| h; and free fall is |g| h."""
    h, fall = 0.004, 0.004 * np.linalg.norm(gravity)
    text = TREES.replace("<option ", f'<option gravity="{" ".join(map(str, gravity))}" ').replace('stiffness="3"', "")
    sim = saltus.Simulation(text, "moreau_jean", contact=saltus.Hard(restitution=0.5), timestep=h)
    speed = 4.0 * fall * faster
    sim.qpos[-1], sim.qvel[-1] = -0.9 + 0.25 * h * speed, -speed
    np.testing.assert_allclose(plain(dense_events.free_fall)(fields(sim.engine.step_m), h), fall, rtol=1e-12)
    sim.step()
    np.testing.assert_allclose(sim.qvel[-1], returned * speed, atol=1e-9)


def moving_up(t):
    return 0.3 * t, 0.0, 1.0 + 0.5 * math.sin(3 * t)


@pytest.mark.parametrize("part", [0.0, 0.4, 1.0])
def test_given_motions_inside_a_time_step(part):
    xml = """<mujoco><worldbody><body name="table" mocap="true"><geom size=".1"/></body><body pos="0 0 9">
    <freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    sim, h = saltus.Simulation(xml, contact="hard", motions={"table": moving_up}), 0.02
    sim.time = 0.5
    sim.forward()
    called(dense_events.keep_end, sim)
    called(dense_events.state_inside, sim, h, np.float64(part))
    assert sim.time == 0.5
    np.testing.assert_allclose(sim.engine.d.views["mocap_pos"][0], moving_up(0.5 - (1 - part) * h), rtol=1e-12)


PHASE = saltus.Hard(dense_events=5, dense_time=0.02, dense_step=4e-4)


def test_phases_of_time_steps_grow_while_they_follow_each_other():
    """Four steps at first, twice as many soon after the last phase, at most 256; of twice the size in a crowd."""
    sim = saltus.Simulation(TREES, contact=PHASE)
    sim.qpos[-1] = -0.4
    sim.forward()
    d, dense = sim.engine.d, sim.engine.d.views["dense"]
    dense[LENGTH], dense[OVER], wanted = 0.0, 0.0, []
    for k, status in enumerate([TOO_DENSE, CROWDED, UNRESOLVED, CHATTER, JAMMED, TOO_DENSE, TOO_DENSE, TOO_DENSE]):
        sim.time = 1.0 + 0.05 * k
        logged = d.views["event_count"][LOGGED]
        assert called(dense_events.go_over, sim, status) == OK
        wanted.append(min(4 * 2**k, 256))
        assert dense[LEFT] == dense[LENGTH] == wanted[-1] and dense[BEGAN] == sim.time
        assert dense[SIZE] == (8e-4 if status == CROWDED else 4e-4)
        np.testing.assert_allclose(dense[ENERGY], sim.energy().sum(), rtol=1e-12)
        assert (d.views["mode"] == OPEN).all() and d.views["event_count"][LOGGED] - logged == (status == JAMMED)
        dense[OVER] = sim.time + 0.01
    for gap, length in ((0.19, 256), (0.21, 4)):
        dense[LENGTH], dense[OVER], sim.time = 200.0, 5.0, 5.0 + gap
        called(dense_events.go_over, sim, TOO_DENSE)
        assert dense[LEFT] == length
    dense[LEFT] = 7.0
    assert called(dense_events.go_over, sim, DIVERGED) == DIVERGED and dense[LEFT] == 7.0
    located = saltus.Simulation(TREES, contact=saltus.Hard(dense="locate"))
    assert called(dense_events.go_over, located, TOO_DENSE) == TOO_DENSE


@pytest.mark.parametrize("gap", [0.03, 0.2, 3.0])
@pytest.mark.parametrize("speeds", [(5.0, 0.0), (3.0, -2.0), (-5.0, 0.0), (0.1, 0.0)])
def test_no_geom_passes_through_another_in_a_time_step(gap, speeds):
    """Relative motion of at most a quarter of the smaller radius, if it may close the distance in the step."""
    xml = f"""<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="slide" axis="1 0 0"/>
    <geom size=".1" mass="1"/></body><body pos="{gap + 0.4} 0 0"><joint type="slide" axis="1 0 0"/>
    <geom size=".3" mass="1"/></body></worldbody>
    </mujoco>"""
    sim, h = saltus.Simulation(xml, contact="hard"), 0.1
    sim.forward()
    sim.qvel[:] = speeds
    sim.engine.d.views["dense"][SIZE] = h
    speed = abs(speeds[0] - speeds[1])
    near = speed * h > 0.25 * 0.1 and gap < speed * h
    found = called(dense_events.short_enough, sim)
    np.testing.assert_allclose(found, 0.25 * 0.1 / speed if near else h, rtol=1e-12)


def test_contacts_that_part_but_overlap_are_lifted_out():
    """To a gap of zero, with the modes that they had; joints, speeds and other bodies stay."""
    sim = saltus.Simulation(TREES, contact="hard")
    sim.forward()
    sim.qpos[-1] = -0.9 - 2e-4
    before, d = sim.qpos.copy(), sim.engine.d.views
    called(dense_events.open_all, sim)
    called(position_stage, sim, 0)
    called(gaps, sim)
    assert (d["gap"][: sim.engine.step_m.nslot] < -1e-4).sum() == 1
    called(dense_events.lift_out, sim)
    np.testing.assert_allclose(sim.qpos[-1], -0.9, atol=1e-9)
    np.testing.assert_allclose(sim.qpos[:-1], before[:-1], atol=1e-12)
    assert (d["mode"] == OPEN).all()


def test_time_steps_that_diverge_are_told():
    sim = saltus.Simulation(TREES, contact=PHASE)
    sim.forward()
    called(dense_events.go_over, sim, TOO_DENSE)
    assert called(dense_events.step_over, sim, np.float64(1.0)) == OK
    left = sim.engine.d.views["dense"][LEFT]
    assert left == 3.0 and sim.time == pytest.approx(4e-4)
    sim.qfrc_applied[-1] = 1e16
    assert called(dense_events.step_over, sim, np.float64(1.0)) == DIVERGED


@pytest.mark.parametrize("speed", [0.0, -0.05])
def test_overlaps_are_corrected_in_time_steps_without_a_gain_of_energy(speed):
    """A ball that is too deep is lifted within a few steps, and no further; what lifts it takes from its speed."""
    sim, mass = saltus.Simulation(TREES.replace('stiffness="3"', ""), contact=PHASE), 1.5
    sim.forward()
    called(dense_events.go_over, sim, TOO_DENSE)
    sim.qpos[-1], sim.qvel[-1] = -0.9 - 1e-3, speed
    height = []
    for _ in range(4):
        assert called(dense_events.step_over, sim, np.float64(1.0)) == OK
        height.append(sim.qpos[-1] + 0.9)
        assert 0.5 * mass * sim.qvel[-1] ** 2 <= 0.5 * mass * speed**2 + 1e-12
    assert height[0] > -1e-3 + 1e-5 and (np.diff(height) >= -1e-12).all() and abs(height[-1]) < 1e-6
