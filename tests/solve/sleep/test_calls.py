"""Steps of what is awake: they are those that would be taken if nothing slept, and cost nothing for what sleeps.

References: the same world without the flag; the same steps in one call; the state itself.
"""

import time

import numpy as np
import pytest
from helpers import sleepers
from helpers.sleepers import free, world

import saltus

ASLEEP = 'sleep="init"'


def room(number, flag="enable"):
    """Spheres, boxes and capsules at rest in rows, and a ball that rolls away from them."""
    shapes = '<geom size=".1"/>', sleepers.BOX, '<geom type="capsule" size=".05 .05"/>'
    side = int(np.ceil(number**0.5))
    rest = [free(f"{1 + k // side * 0.5} {k % side * 0.5} .1", shapes[k % 3], ASLEEP) for k in range(number)]
    text = world("".join(rest) + free("-1 0 .1", shapes[0]))
    return text if flag == "enable" else text.replace('sleep="enable"', "").replace(ASLEEP, "")


def rolling(xml, **options):
    """A simulation whose last body rolls at 0.3 m/s."""
    sim = saltus.Simulation(saltus.load(xml), **options)
    sim.qvel[-6:] = [-0.3, 0, 0, 0, -3.0, 0]
    return sim


@pytest.mark.parametrize("integrator", ["euler", "RK4", "implicitfast"])
def test_what_is_awake_moves_as_if_nothing_slept(integrator):
    """The solver's answer is exact to rounding in both, and contacts do not amplify it: 1e-11 after a second."""
    asleep, awake = rolling(room(8), integrator=integrator), rolling(room(8, "off"), integrator=integrator)
    asleep.step(500), awake.step(500)
    assert (asleep.tree_asleep[:-1] >= 0).all() and asleep.tree_asleep[-1] < 0 and awake.tree_asleep.shape == (0,)
    np.testing.assert_allclose(asleep.qpos[-7:], awake.qpos[-7:], rtol=0, atol=1e-11)
    assert asleep.qpos[-7] < -1.1


def test_in_a_world_of_many_trees_its_bits_are_the_same():
    """Nothing couples islands, which are solved one by one."""
    asleep, awake = rolling(room(60)), rolling(room(60, "off"))
    asleep.step(200), awake.step(200)
    np.testing.assert_array_equal(asleep.qpos[-7:], awake.qpos[-7:])


@pytest.mark.parametrize("integrator", ["euler", "RK4", pytest.param("implicit", marks=pytest.mark.slow)])
def test_steps_are_the_same_in_one_call_or_many_and_looked_at_or_not(integrator):
    """Boxes fall asleep in a stack, and what falls on them later wakes them; between stages, too."""
    sims = [saltus.Simulation(saltus.load(sleepers.STACK), integrator=integrator) for _ in range(3)]
    sims[0].step(900)
    for k in range(900):
        sims[1].step()
        sims[2].step()
        if k % 7 == 0:
            sims[2].forward()
            assert sims[2].data.energy.shape == (2,) and np.isfinite(sims[2].energy()).all()
    for sim in sims[1:]:
        np.testing.assert_array_equal(sim.qpos, sims[0].qpos)
        np.testing.assert_array_equal(sim.tree_asleep, sims[0].tree_asleep)


def test_a_state_is_looked_at_as_a_whole():
    """Poses of what sleeps are those of its positions; it has neither velocities, accelerations nor forces."""
    sim = saltus.Simulation(saltus.load(sleepers.INITIAL))
    sim.step(5)
    assert (sim.tree_asleep >= 0).sum() == 3
    np.testing.assert_array_equal(sim.data.xpos[1:4], sim.qpos.reshape(-1, 7)[:3, :3])
    assert not sim.data.qacc[:18].any() and not sim.data.qfrc_constraint[:18].any() and sim.data.qacc[20] < -9.0
    np.testing.assert_allclose(sim.data.crb[:4, 9], [0.0, 8.0, 8.0, 8.0])  # mass: 1000 kg/m³


def test_a_state_of_before_is_gone_back_to():
    """A snapshot knows who slept where, whatever has happened since."""
    sim = saltus.Simulation(saltus.load(sleepers.INITIAL))
    sim.step(150)
    start, asleep = sim.snapshot(), sim.tree_asleep
    sim.step(700)
    end = sim.qpos.copy()
    sim.reset()
    sim.step(3)
    sim.restore(start)
    np.testing.assert_array_equal(sim.tree_asleep, asleep)
    sim.step(700)
    np.testing.assert_array_equal(sim.qpos, end)


def test_what_is_moved_back_stays_awake_until_it_has_been_slow():
    """It wakes with the first step after a change, and may sleep again after ten slow steps."""
    arm = '<body pos="0 0 1"><joint damping="1"/><geom size=".1" pos=".1 0 0"/></body>'
    sim = saltus.Simulation(saltus.load(world(arm, flag='gravity="disable"')))
    sim.step(20)
    assert sim.tree_asleep.tolist() == [0]
    sim.qpos[0] = 0.2
    sim.step()
    assert sim.tree_asleep.tolist() == [-10] and sim.qpos[0] == 0.2
    sim.step(8)
    assert sim.tree_asleep.tolist() == [-2]
    sim.step()
    assert sim.tree_asleep.tolist() == [0]


def test_with_rk4_they_stay_asleep():
    """MuJoCo wakes them in the next step, since the last stage of RK4 is elsewhere; here they sleep on."""
    sim = saltus.Simulation(saltus.load(sleepers.STACK), integrator="RK4")
    sim.step(2500)
    assert (sim.tree_asleep >= 0).all() and not sim.qvel.any()
    where = sim.qpos.copy()
    sim.step(100)
    np.testing.assert_array_equal(sim.qpos, where)
    sim.qvel[20] = -0.3  # the ball
    sim.step(50)
    assert sim.tree_asleep[3] < 0 and (np.delete(sim.tree_asleep, 3) >= 0).all()


def test_a_state_that_is_none_is_an_error_that_names_it():
    sim = saltus.Simulation(saltus.load(sleepers.INITIAL))
    sim.step(2)
    sim.qvel[3] = np.nan
    with pytest.raises(saltus.DivergenceError, match="dof 3"):
        sim.step(10)


@pytest.mark.slow
def test_what_sleeps_costs_nothing():
    """A room of 1000 bodies asleep with one that rolls costs less than twice the one that rolls, alone."""
    sims = [rolling(room(1000)), rolling(room(0))]
    times = np.full((2, 30), np.inf)
    for sim in sims:
        sim.step(100)
    for k in range(30):
        for i, sim in enumerate(sims):
            began = time.process_time()
            sim.step(1000)
            times[i, k] = time.process_time() - began
    assert (sims[0].tree_asleep >= 0).sum() == 1000
    assert times[0].min() < 2.0 * times[1].min()


@pytest.mark.slow
def test_a_wall_of_510_bricks_stands_and_sleeps():
    """It settles, sleeps as one island once all of it is slower than MuJoCo's tolerance of 1 mm/s, and is then at rest.

    Settling: a contact of two bricks of mass m at rest with force f is r = f (1 - d) 2/m / (d² k) deep, by MuJoCo's
    law with d = 0.95, k = 2770 1/s². With a corner's share of twenty bricks, f = 5 m g, that is 2 mm; no course gives
    by more. Sideways nobody crosses the joint of 4 mm to the next brick.
    """
    from saltus.bench.worlds.scenes import wall

    text = wall(25, 20).xml
    text = text[: text.index('<body name="ball"')] + "</worldbody></mujoco>"
    text = text.replace('timestep="0.002"/>', 'timestep="0.002"><flag sleep="enable"/></option>')
    sim = saltus.Simulation(saltus.load(text))
    start = sim.qpos.reshape(-1, 7)[:, :3].copy()
    while (sim.tree_asleep < 0).any() and sim.time < 6.0:
        sim.step(50)
    order, place = [], 0
    for _ in range(len(start)):
        order.append(place)
        place = int(sim.tree_asleep[place])
    assert place == 0 and sorted(order) == list(range(510))  # one cycle
    settled = sim.qpos.copy()
    moved = settled.reshape(-1, 7)[:, :3] - start
    courses = np.round((start[:, 2] - start[0, 2]) / 0.15) + 1
    assert (moved[:, 2] <= 0.0).all() and (-moved[:, 2] < 2e-3 * courses).all()
    assert abs(moved[:, :2]).max() < 4e-3
    sim.step(10_000)
    assert sim.time > 20.0 and (sim.qvel == 0.0).all()
    np.testing.assert_array_equal(sim.qpos, settled)
