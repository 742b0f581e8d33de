"""Threads under seeded schedules: teams in a step, and several that step one simulation or batch.

Reference: the bits of one thread alone, for any order, and vector clocks of all accesses to shared memory.
"""

import pytest
from helpers.scheduled import Scheduled, share_everything
from helpers.schedules import Schedule

import saltus
from saltus.contact.counts import NCON
from saltus.contact.tasks import COLLIDE, FIND_PAIRS, SOLVE_ISLAND, SOLVE_ISLANDS, WRITE_ROWS
from saltus.number.kernels import kernel
from saltus.number.threads.team import STOP
from saltus.simulate import batch, simulation
from saltus.simulate.engine.threads import turn
from saltus.solve.soft.trees import tree_blocks

SCENE = "<mujoco><option {option}/><worldbody><geom type='plane' size='5 5 1'/>{bodies}</worldbody></mujoco>"
SHAPES = "type='box' size='.1 .08 .06'", "size='.1'", "type='capsule' size='.06 .08'"


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch, by_trees):
    share_everything(monkeypatch)


def heap(option, spacing):
    """18 bodies in two layers: one island, which is cut, where they are close, and several where they are not."""
    bodies = "".join(
        f"<body pos='{i % 3 * spacing} {i // 3 % 3 * spacing} {0.09 + 0.15 * (i // 9)}' euler='{7 * i} 0 {3 * i}'>"
        f"<freejoint/><geom {SHAPES[i % 3]}/></body>"
        for i in range(18)
    )
    return saltus.load(SCENE.format(option=option, bodies=bodies))


@pytest.mark.parametrize(("option", "spacing", "threads"), [("", 0.18, 3), ("cone='elliptic'", 0.18, 2), ("", 0.5, 3)])
def test_any_order_gives_the_bits_of_one_thread_without_a_race(option, spacing, threads):
    state = Scheduled(heap(option, spacing), threads)
    expected = state.alone()
    assert state.d.views["count"][NCON] >= 6
    for seed in range(2):
        found, clocks = state.together(seed)
        assert clocks.tasks >= {FIND_PAIRS, COLLIDE, WRITE_ROWS, SOLVE_ISLAND if spacing < 0.3 else SOLVE_ISLANDS, STOP}
        assert clocks.races == set() and found == expected, seed


def test_a_meeting_that_is_left_out_is_found(monkeypatch):
    state = Scheduled(heap("", 0.18), 2)
    monkeypatch.setattr(tree_blocks, "meet", goes_on)
    assert state.together(1)[1].races


@kernel
def goes_on(m, d):
    pass


@pytest.mark.parametrize("seed", range(5))
def test_runs_of_several_threads_are_whole_or_refused(seed):
    """Each thread has a control of its own: the accepted runs, one after the other, give the same bits."""
    schedule = Schedule(seed, often=0.05, traced=(turn, simulation))
    asked, accepted, refused = [], [], []
    sim, alone = (saltus.Simulation("cart_pole", "euler") for _ in range(2))

    def push(_):
        asked.append(schedule.thread)
        return [0.3 * (1.0 + schedule.thread)]

    def work():
        for _ in range(8):
            try:
                sim.run(3 * sim.timestep, control=push)
                accepted.append(schedule.thread)
            except saltus.ConcurrencyError:
                refused.append(schedule.thread)

    schedule.run([work] * 3)
    assert len(accepted) + len(refused) == 24 and refused and accepted
    order = iter(asked)
    for _ in accepted:
        alone.run(3 * sim.timestep, control=lambda _: [0.3 * (1.0 + next(order))])
    assert next(order, None) is None and sim.snapshot().tobytes() == alone.snapshot().tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_a_batch_of_several_threads_loses_no_step(seed):
    schedule = Schedule(seed, often=0.1, traced=(turn, batch))
    accepted = []
    many = saltus.Batch("cart_pole", 3, "euler")
    many.qpos[:, 1] = 0.1, 0.2, 0.3

    def work():
        for _ in range(8):
            try:
                many.step()
                accepted.append(schedule.thread)
            except saltus.ConcurrencyError:
                pass

    schedule.run([work] * 3)
    alone = saltus.Batch("cart_pole", 3, "euler")
    alone.qpos[:, 1] = 0.1, 0.2, 0.3
    alone.step(len(accepted))
    assert 3 < len(accepted) < 24 and many.qpos.tobytes() == alone.qpos.tobytes()
