"""Threads inside one call of compiled code.

Reference: what one thread computes alone, to the last bit, and counting in Python.
"""

import threading

import numpy as np
import pytest

from saltus.number.kernels import entry, kernel
from saltus.number.structs import Layout, Struct, ints, reals
from saltus.number.threads.atomics import yield_address
from saltus.number.threads.team import (
    HELPERS,
    STOP,
    begin,
    done,
    finish,
    meet,
    next_task,
    next_turn,
    places,
    report,
    reported,
    share,
    share_of,
)

SQUARE, SHIFT, TURNS = 1, 2, 3
FIELDS = {
    **ints("part", "team_yield", "n"),
    **ints("team", shape=("nteam",)),
    **ints("acting", shape=(1,)),
    **ints("taken", shape=("n",)),
    **reals("x", "y", shape=("n",)),
}
BOARD = Layout("Board", FIELDS)
SHARED, PLAIN = Layout("SharedModel", {}, features=frozenset({"threads"})), Layout("PlainModel", {})


@kernel
def do(m, d, task, n):
    first, last = share(m, d, n)
    if task == SQUARE:
        for i in range(first, last):
            d.x[i] = d.x[i] * d.x[i]
    elif task == SHIFT:
        # what a neighbour, perhaps another thread's, has written before the meeting
        for turn in range(50):
            for i in range(first, last):
                d.y[i] = d.x[i] + turn
            meet(m, d)
            for i in range(first, last):
                d.x[i] = d.y[(i + 1) % n]
            meet(m, d)
    else:
        i = next_turn(m, d)
        while i < n:
            d.taken[i] = d.taken[i] + 1
            i = next_turn(m, d)
    report(m, d, 0, last - first)


@entry
def lead(m, d, task, n):
    begin(m, d, task, n, True)
    do(m, d, task, n)
    finish(m, d)


@entry
def help_out(m, d):
    task, n = next_task(d)
    while task != STOP:
        do(m, d, task, n)
        done(d)
        task, n = next_task(d)
    done(d)


@entry
def dismiss(m, d):
    begin(m, d, STOP, 0, True)
    finish(m, d)


@entry
def parts(m, d, part):
    return reported(m, d, part, 0)


@entry
def part_of(m, d, first, last):
    return share_of(m, d, (first, last))


def board(n, threads):
    d = Struct(BOARD, {"n": n, "nteam": places(threads), "team_yield": yield_address()})
    d.views["x"][:] = np.arange(n)
    return d


def run(task, n, threads):
    """The Board after a task of so many threads."""
    m, d = Struct(SHARED, {}), board(n, threads)
    helpers = [d.sharing(("acting",), {"part": part}) for part in range(1, threads)]
    workers = [threading.Thread(target=help_out, args=(m, helper)) for helper in helpers]
    for worker in workers:
        worker.start()
    d.views["team"][HELPERS] = threads - 1
    lead(m, d, task, n)
    dismiss(m, d)
    for worker in workers:
        worker.join(30)
        assert not worker.is_alive()
    return d


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_are_all_of_it(threads):
    d = run(SQUARE, 101, threads)
    assert np.array_equal(d.views["x"], np.arange(101.0) ** 2)
    sizes = [parts(Struct(SHARED, {}), d, part) for part in range(threads)]
    assert sum(sizes) == 101 and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_meetings_order_what_is_read_and_written(threads):
    """Each turn shifts by one place and adds its number: in the end by 50 places, and the sum of 0 to 49."""
    x = run(SHIFT, 37, threads).views["x"]
    assert np.array_equal(x, (np.arange(37) + 50) % 37 + 49 * 50 / 2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_turn_is_taken_once(threads):
    assert np.array_equal(run(TURNS, 1000, threads).views["taken"], np.ones(1000))


def test_without_the_feature_one_thread_does_all():
    m, d = Struct(PLAIN, {}), board(5, 1)
    d.views["team"][HELPERS] = 7  # is not asked for
    lead(m, d, SQUARE, 5)
    assert np.array_equal(d.views["x"], [0, 1, 4, 9, 16]) and not d.views["team"][1:].any()
    assert part_of(m, d, 3, 8) == (3, 8)


def test_ranges_are_cut_where_parts_meet():
    m, d = Struct(SHARED, {}), board(5, 4)
    d.views["acting"][0] = 4
    ranges = [part_of(m, d.sharing(("acting",), {"part": part}), 10, 20) for part in range(4)]
    assert ranges == [(10, 20)] * 4  # each is alone: what is its own was copied empty
    for part in range(4):
        own = d.sharing(("acting",), {"part": part})
        own.views["acting"][0] = 4
        ranges[part] = part_of(m, own, 10, 20)
    assert ranges == [(10, 12), (12, 15), (15, 17), (17, 20)]
