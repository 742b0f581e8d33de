"""Threads under seeded schedules: teams in a step, and several that step one simulation or batch.

Reference: the bits of one thread alone, for any order, and vector clocks of all accesses to shared memory.
"""

import pytest
from helpers.data_races import Clocks, WatchedStruct, watched
from helpers.schedules import Schedule

import saltus
from saltus.contact.counts import NCON
from saltus.contact.tasks import COLLIDE, FIND_PAIRS, SOLVE_ISLAND, SOLVE_ISLANDS, WRITE_ROWS
from saltus.model.compile.constraints import broad, constraints, many_trees
from saltus.number.kernels import kernel
from saltus.number.threads.team import HELPERS, STOP
from saltus.simulate import batch, simulation
from saltus.simulate.engine.threads import turn
from saltus.simulate.engine.threads.team import dismiss, help_out, helpers_of
from saltus.solve import acceleration
from saltus.solve.soft.trees import tree_blocks

SCENE = "<mujoco><option {option}/><worldbody><geom type='plane' size='5 5 1'/>{bodies}</worldbody></mujoco>"
SHAPES = "type='box' size='.1 .08 .06'", "size='.1'", "type='capsule' size='.06 .08'"
RESULTS = "qacc", "qfrc_constraint"
CONTACTS = "contact_dist", "contact_pos", "contact_frame"


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch, by_trees):
    monkeypatch.setattr(many_trees, "FEWEST_DOFS", 60)
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    monkeypatch.setattr(constraints, "SHARED", 1)
    monkeypatch.setattr("saltus.simulate.engine.threads.team.usable_cores", lambda: 8)


def heap(option, spacing):
    """18 bodies in two layers: one island, which is cut, where they are close, and several where they are not."""
    bodies = "".join(
        f"<body pos='{i % 3 * spacing} {i // 3 % 3 * spacing} {0.09 + 0.15 * (i // 9)}' euler='{7 * i} 0 {3 * i}'>"
        f"<freejoint/><geom {SHAPES[i % 3]}/></body>"
        for i in range(18)
    )
    return saltus.load(SCENE.format(option=option, bodies=bodies))


class Scheduled:
    """A state of a simulation whose accelerations several threads compute, again and again."""

    def __init__(self, model, threads, steps=3):
        sim = saltus.Simulation(model, threads=threads)
        sim.step(steps)
        self.m, self.d, self.threads = sim.engine.m, sim.engine.d, threads
        self._sim, self._start = sim, (self.d.real.copy(), self.d.ints.copy())

    def alone(self):
        """What the leader finds without helpers."""
        return self._found(lambda: watched(Schedule(0))(acceleration.forward)(self.m, self.d))

    def together(self, seed):
        """What a team finds in the order of a seed, and the clocks that have watched it."""
        schedule = Schedule(seed)
        clocks, plain = Clocks(schedule, self.threads), watched(schedule)
        run, send_home, help_ = plain(acceleration.forward), plain(dismiss), plain(help_out)
        leader, *helpers = (
            WatchedStruct(d, clocks) for d in (self.d, *helpers_of(self.d, self.m, self.threads))
        )  # the helpers' memory is made anew: nothing of an earlier order is left in it

        def lead():
            run(self.m, leader)
            send_home(self.m, leader)

        def work():
            self.d.views["team"][HELPERS] = len(helpers)
            schedule.run([lead, *(lambda d=d: help_(self.m, d) for d in helpers)])

        return self._found(work), clocks

    def _found(self, work):
        self.d.real[...], self.d.ints[...] = self._start
        work()
        views, contacts = self.d.views, self.d.views["count"][NCON]
        found = {name: views[name].tobytes() for name in RESULTS}
        return found | {name: views[name][:contacts].tobytes() for name in CONTACTS}


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
