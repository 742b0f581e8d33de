"""The log of a batch: rows of each simulation in the order of its time, from its last reset on."""

import numpy as np
from numpy.testing import assert_array_equal

from saltus.simulate.engine.batch.log import COLUMNS, BatchLog


def block(*rows):
    """Rows (simulation, time)."""
    out = np.zeros((len(rows), COLUMNS))
    out[:, :2] = np.reshape(rows, (-1, 2))
    return out


def seen(log):
    return [tuple(row) for row in log.rows()[:, :2]]


def test_blocks_of_threads_become_one_log():
    log = BatchLog(4)
    log.add(block((2, 0.1), (2, 0.4), (3, 0.2)))
    log.add(block((0, 0.3)))
    log.add(block())
    log.add(block((0, 0.5), (2, 0.6)))
    expected = [(0, 0.3), (0, 0.5), (2, 0.1), (2, 0.4), (2, 0.6), (3, 0.2)]
    assert seen(log) == expected == seen(log)
    assert_array_equal(log.of(2)[:, 1], [0.1, 0.4, 0.6])
    assert not len(log.of(1))


def test_what_is_forgotten_does_not_come_back():
    log = BatchLog(3)
    log.add(block((0, 0.1), (1, 0.1)))
    log.forget(np.array([0, 2]))
    log.add(block((0, 0.2), (2, 0.3)))
    assert seen(log) == [(0, 0.2), (1, 0.1), (2, 0.3)]
    log.forget(np.array([1]))
    log.forget(np.array([1, 2]))
    assert seen(log) == [(0, 0.2)]


def test_the_first_events_of_each_are_kept():
    log = BatchLog(2, most=2)
    for time in (0.1, 0.2):
        log.add(block((0, time), (1, time), (1, time)))
    assert seen(log) == [(0, 0.1), (0, 0.2), (1, 0.1), (1, 0.1)]


def test_memory_of_what_is_forgotten_is_given_back():
    """Episodes without end, of which nobody reads the log: it holds a hundred thousand rows beside those that count."""
    log = BatchLog(2)
    rows = block(*[(0, 0.0)] * 1000)
    for _ in range(500):
        log.add(rows.copy())
        log.forget(np.array([0]))
    assert sum(map(len, log._blocks)) <= 102_000
    assert not len(log.rows())
