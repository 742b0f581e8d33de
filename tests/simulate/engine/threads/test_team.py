"""Threads that share the steps of one simulation.

Reference: the same steps by one thread, to the last bit.
"""

import copy
import os
import pickle

import numpy as np
import pytest

import saltus
from saltus.contact.counts import NCON
from saltus.errors import OptionError, SaltusWarning
from saltus.model.compile.constraints import broad, constraints
from saltus.number.threads.team import HELPERS, TICKET

HEAP = "<mujoco><option {option}/>{asset}<worldbody><geom type='plane' size='5 5 1'/>{bodies}</worldbody></mujoco>"
SHAPES = (
    "type='box' size='.1 .08 .06'",
    "size='.1'",
    "type='capsule' size='.06 .08'",
    "type='mesh' mesh='stone'",
)
STONE = (
    "<asset><mesh name='stone' vertex='-.1 -.08 -.06 .1 -.07 -.05 0 .1 -.06 0 0 .09 .05 .05 .05 -.06 .05 .05'/></asset>"
)


@pytest.fixture(autouse=True)
def every_pair_is_found_by_threads(monkeypatch, by_trees):
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    monkeypatch.setattr(constraints, "SHARED", 1)


@pytest.fixture(autouse=True)
def enough_processors(monkeypatch):
    monkeypatch.setattr("saltus.simulate.engine.threads.team.usable_cores", lambda: 8)


def heap(n=24, option="", spacing=0.2):
    """Bodies of several shapes on top of each other, and two that fly."""
    r, bodies = np.random.default_rng(3), ""
    for i in range(n):
        x, y, z = np.array([i % 3, i // 3 % 3, i // 9]) * spacing + 0.02 * r.random(3) + [0, 0, 0.11 + 4 * (i >= n - 2)]
        bodies += f"<body pos='{x} {y} {z}' euler='{7 * i} 0 {3 * i}'><freejoint/><geom {SHAPES[i % 4]}/></body>"
    return saltus.load(HEAP.format(asset=STONE, option=option, bodies=bodies))


def moved(model, threads, steps=90, **options):
    sim = saltus.Simulation(model, threads=threads, **options)
    sim.step(steps)
    return sim


@pytest.mark.parametrize("option", ["", "cone='elliptic'", "integrator='implicitfast'"])
def test_the_number_of_threads_changes_no_bit(option):
    model = heap(32, option)
    one = moved(model, 1)
    assert one.engine.d.views["count"][NCON] > 20
    for threads in (2, 3):
        more = moved(model, threads)
        team = more.engine.d.views["team"]
        assert team[TICKET] > 40 and team[HELPERS] == 0  # tasks were shared; the helpers have gone
        for name in ("qpos", "qvel", "qacc", "qfrc_constraint"):
            assert getattr(more.data, name).tobytes() == getattr(one.data, name).tobytes(), name


def test_many_small_islands():
    """Pairs of boxes side by side, each an island, and single ones."""
    bodies = "".join(
        f"<body pos='{i % 7} {i // 7} {0.1 + 0.19 * k}'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
        for i in range(20)
        for k in range(1 + i % 2)
    )
    model = saltus.load(HEAP.format(asset=STONE, option="", bodies=bodies))
    one, two = moved(model, 1), moved(model, 2)
    assert two.qpos.tobytes() == one.qpos.tobytes() and two.engine.d.views["team"][TICKET] > 40


def test_what_is_computed_outside_steps_needs_no_helpers():
    model = heap()
    one, two = moved(model, 1, 10), moved(model, 2, 10)
    assert np.array_equal(two.energy(), one.energy()) and np.array_equal(two.data.qacc, one.data.qacc)
    trajectory = two.run(0.05)
    assert trajectory.qpos[-1].tobytes() == one.run(0.05).qpos[-1].tobytes()


def test_helpers_are_not_called_where_nothing_is_worth_it(monkeypatch):
    """A heap that falls has no pairs at first; it is one thread's until there was something to share."""
    monkeypatch.setattr(constraints, "SHARED", 30)
    model = heap()
    one, two = (saltus.Simulation(model, threads=n) for n in (1, 2))
    for sim in (one, two):
        sim.qpos[2::7] += 0.15 * np.arange(24)
    team, called = two.engine.d.views["team"], []
    for _ in range(50):
        before = int(team[TICKET])
        one.step(10)
        two.step(10)
        called.append(int(team[TICKET]) > before)
        assert two.qpos.tobytes() == one.qpos.tobytes()
    assert called[:3] == [True, False, False] and called[-2:] == [True, True]


def test_steps_of_adaptive_methods_are_shared_in_runs():
    model = heap(12)
    one, two = (saltus.Simulation(model, "dopri5", threads=n) for n in (1, 2))
    assert two.run(0.02).qpos.tobytes() == one.run(0.02).qpos.tobytes()
    assert two.engine.d.views["team"][TICKET] > 20


def test_copies_have_threads_of_their_own():
    sim = moved(heap(), 2, 10)
    others = copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))
    for each in (sim, *others):
        each.step(10)
        assert each.threads == 2 and each.qpos.tobytes() == sim.qpos.tobytes()


def test_an_error_sends_the_helpers_home():
    sim = moved(heap(), 2, 5)
    sim.qvel[0] = 1e12
    with pytest.raises(saltus.DivergenceError):
        sim.step(5)
    assert sim.engine.d.views["team"][HELPERS] == 0
    sim.reset()
    sim.step(5)
    assert sim.qpos.tobytes() == moved(heap(), 2, 5).qpos.tobytes()


def test_threads_that_cannot_help_are_told():
    with pytest.warns(SaltusWarning, match="steps of 'pendulum' have no work for several threads: one is used"):
        assert saltus.Simulation("pendulum", threads=2).threads == 1
    with pytest.warns(SaltusWarning, match="no work for several threads"):
        assert saltus.Simulation(heap(), contact="hard", threads=2).threads == 1
    with pytest.raises(OptionError, match="threads must be at least 1"):
        saltus.Simulation("pendulum", threads=0)


def test_more_threads_than_processors_are_told(monkeypatch):
    monkeypatch.setattr("saltus.simulate.engine.threads.team.usable_cores", lambda: 2)
    with pytest.warns(SaltusWarning, match="3 threads on 2 processors wait for each other"):
        assert saltus.Simulation(heap(), threads=3).threads == 3


def test_who_sleeps_is_left_out_alike():
    """A heap that comes to rest beside one that goes on falling: lists of what is awake are shared, too."""
    model = heap(option="sleep_tolerance='5'><flag sleep='enable'/></option><option")
    one, two = moved(model, 1, 30), moved(model, 2, 30)
    for _ in range(6):
        assert two.qpos.tobytes() == one.qpos.tobytes() and np.array_equal(two.tree_asleep, one.tree_asleep)
        one.step(30)
        two.step(30)
    assert 0 < np.count_nonzero(one.tree_asleep >= 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_threads_of_its_own():
    sim = moved(heap(), 2, 5)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        sim.step(5)
        os.write(writer, sim.qpos.tobytes())
        os._exit(0)  # the parent's tests are none of the child's
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        theirs = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    sim.step(5)
    assert theirs == sim.qpos.tobytes()
