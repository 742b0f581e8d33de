"""Teams of threads in plain Python under seeded schedules: what is written in any order, and races that are found.

Reference: the numbers in any order of threads, and teams whose race is planted.
"""

import pytest
from helpers.data_races import Clocks, WatchedStruct, watched
from helpers.schedules import Schedule, ScheduledLock
from number.threads.test_team import SHARED, board

from saltus.number.kernels import kernel
from saltus.number.structs import Struct
from saltus.number.threads.team import HELPERS, STOP, begin, done, finish, meet, next_task, next_turn

N = 7


@kernel
def ordered(m, d):
    d.y[d.part] = 1.0 + d.part
    meet(m, d)
    d.x[d.part] = d.y[(d.part + 1) % 3]


@kernel
def without_meeting(m, d):
    d.y[d.part] = 1.0 + d.part
    d.x[d.part] = d.y[(d.part + 1) % 3]


@kernel
def taken_in_turn(m, d):
    n = next_turn(m, d)
    while n < N:
        d.taken[n] = d.taken[n] + 1
        n = next_turn(m, d)


@kernel
def one_for_all(m, d):
    d.taken[0] = d.taken[0] + 1


def run(work, seed, leader_waits=True):
    """A Board after work that three threads shared in the order of a seed, and the clocks that have watched them."""

    @kernel
    def lead(m, d):
        begin(m, d, 1, N, True)
        work(m, d)
        if leader_waits:
            finish(m, d)
        d.x[5] = d.x[1]
        begin(m, d, STOP, 0, True)
        finish(m, d)

    @kernel
    def help_out(m, d):
        task, _ = next_task(d)
        while task != STOP:
            work(m, d)
            done(d)
            task, _ = next_task(d)
        done(d)

    schedule = Schedule(seed)
    clocks, plain = Clocks(schedule, 3), watched(schedule)
    m, d = Struct(SHARED, {}), board(N, 3)
    d.views["team"][HELPERS] = 2
    members = [WatchedStruct(each, clocks) for each in (d, *(d.sharing(("acting",), {"part": k}) for k in (1, 2)))]
    kernels = plain(lead), plain(help_out), plain(help_out)
    schedule.run([lambda f=f, each=each: f(m, each) for f, each in zip(kernels, members, strict=True)])
    return d, clocks.races


@pytest.mark.parametrize("seed", range(20))
def test_meetings_and_turns_order_what_is_written(seed):
    d, races = run(ordered, seed)
    assert d.views["x"][:3].tolist() == [2.0, 3.0, 1.0] and d.views["x"][5] == 3.0 and races == set()
    d, races = run(taken_in_turn, seed)
    assert d.views["taken"].tolist() == [1] * N and races == set()


@pytest.mark.parametrize(
    ("work", "waits", "fields"),
    [(without_meeting, True, {"y"}), (one_for_all, True, {"taken"}), (ordered, False, {"x"})],
)
def test_planted_races_are_found_in_any_order(work, waits, fields):
    """No meeting between writing and reading; one number that all write; a leader that does not wait for the end."""
    for seed in range(10):
        found = run(work, seed, waits)[1]
        assert {race.field for race in found} == fields, seed
        assert all(race.threads[0] != race.threads[1] for race in found)


def test_a_seed_repeats_its_order():
    def order(seed):
        schedule, seen = Schedule(seed), []

        def work():
            for _ in range(20):
                seen.append(schedule.thread)
                schedule.switch()

        schedule.run([work] * 3)
        return seen

    assert order(1) == order(1) != order(2) and sorted(order(3)) == sorted([0, 1, 2] * 20)


def test_threads_that_wait_for_each_other_are_told():
    schedule = Schedule(0, most=10_000)
    first, second = ScheduledLock(schedule), ScheduledLock(schedule)

    def work(one, other):
        with one:
            for _ in range(20):
                schedule.switch()
            with other:
                pass

    with pytest.raises(AssertionError, match="wait for each other without end"):
        schedule.run([lambda: work(first, second), lambda: work(second, first)])
