"""Kernels of time steps over dense events in plain Python: samples inside them, short steps, lifts without energy.

Laws: straight lines from a step's start to its end, and impulses that act from its start on; Moreau & Jean's step of a
ball in one dimension; s² = 1 - ΔE/T of the trees that were moved, with MuJoCo's energies. Formulas, to rounding.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.integrate.event import dense_events, energy_kept, shallow_steps
from saltus.model.event_enums import COLLIDED
from saltus.solve.status import OK

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
