"""Threads that share collisions and constraint rows, in plain Python.

Law: the bits of one thread alone, in any order of the threads, without a race; a full list loses contacts, and counts
them.
"""

import numpy as np
import pytest
from helpers.scheduled import Scheduled, share_everything

import saltus
from saltus.contact.counts import NBLOCK, NCON, NFILL, NLOST, NROW
from saltus.contact.tasks import COLLIDE, FIND_PAIRS, WRITE_ROWS

SCENE = """<mujoco><option cone="elliptic" iterations="3"/><worldbody>
<geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>"""
SHAPES = "type='box' size='.1 .08 .06'", "size='.1'", "type='capsule' size='.06 .08'"
COUNTS = NCON, NBLOCK, NROW, NFILL, NLOST


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    share_everything(monkeypatch)


def row(condim=4, more=""):
    """Four bodies on a floor, each beside the next."""
    bodies = "".join(
        f"<body pos='{0.17 * i} 0 {0.06 + 0.01 * i}' euler='{7 * i} 0 {3 * i}'><freejoint/>"
        f"<geom {SHAPES[i % 3]} condim='{condim}' {more}/></body>"
        for i in range(4)
    )
    return saltus.load(SCENE.format(bodies=bodies))


@pytest.mark.parametrize(("threads", "more"), [(2, ""), (3, "margin='.02' gap='.02' adhesion='3'")])
def test_threads_share_collisions_and_rows(threads, more):
    state = Scheduled(row(more=more), threads, steps=0)
    expected = state.alone()
    counts = state.d.views["count"][[*COUNTS]].copy()
    blocks = state.d.views["contact_block"][: counts[0]].copy()
    rows = {name: state.d.views[name][: counts[2]].copy() for name in ("row_pos", "row_D", "row_aref", "row_velocity")}
    assert counts[0] > 5
    found, clocks = state.together(threads)
    assert clocks.tasks >= {FIND_PAIRS, COLLIDE, WRITE_ROWS}
    assert clocks.races == set() and found == expected
    np.testing.assert_array_equal(state.d.views["count"][[*COUNTS]], counts)
    np.testing.assert_array_equal(state.d.views["contact_block"][: counts[0]], blocks)
    for name, numbers in rows.items():
        np.testing.assert_array_equal(state.d.views[name][: counts[2]], numbers, err_msg=name)
