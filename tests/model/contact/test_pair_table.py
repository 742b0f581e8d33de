"""Table of pairs of geom types: it lists the pairs that MuJoCo collides, its kernels exist, its bounds hold.

Reference: MuJoCo 4.0's table of collision functions, and the contacts that it finds at random poses.
"""

import ctypes
import itertools
import re
from pathlib import Path

import mujoco
import numpy as np

from saltus.contact.collide import KERNELS
from saltus.contact.mujoco.collision import library
from saltus.model.contact import collisions
from saltus.model.contact.pair_table import FOREIGN, KINDS, PAIRS, kernel_kinds
from saltus.model.enums import HFIELD, NGEOMTYPE, PLANE, pair_kind
from saltus.model.feature_keys import FEATURES

TYPES = ["sphere", "capsule", "box", "cylinder", "ellipsoid"]
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "collision.md"


def test_mujoco_has_a_function_for_the_same_pairs():
    """Its table holds a function at the place that the kind names, and none for other pairs, the lower type first."""
    table = (ctypes.c_void_p * NGEOMTYPE**2).in_dll(library(), "mjCOLLISIONFUNC")
    theirs = {
        (a, b)
        for a, b in itertools.combinations_with_replacement(range(NGEOMTYPE), 2)
        if table[pair_kind.py_func(a, b)]
    }
    assert set(PAIRS) == theirs


def test_each_row_has_a_kernel_and_a_feature():
    kernels = {run.py_func.__name__ for run in KERNELS}
    assert kernels == {row.kernel for row in PAIRS.values()} - {FOREIGN}
    assert {row.feature for row in PAIRS.values()} - {""} <= set(FEATURES)


def test_each_pair_has_one_kernel():
    kinds = [kind for name in {row.kernel for row in PAIRS.values()} for kind in kernel_kinds(name)]
    assert sorted(kinds) == sorted(KINDS)


def test_the_page_shows_the_table():
    """Kernels on all lanes at once are "ours"; those that search lane by lane are "search"."""
    word = {"convex_pair": "search", "field_pair": "search", "foreign": "MuJoCo"}
    rows = re.findall(r"^\| \*\*(.+?)\*\* \|(.*)\|$", PAGE.read_text(), re.M)
    order = [PLANE, *range(HFIELD + 1, NGEOMTYPE - 1), HFIELD, NGEOMTYPE - 1]
    assert len(rows) == NGEOMTYPE
    for first, (_, cells) in zip(order, rows, strict=True):
        for second, cell in zip(order, cells.split("|"), strict=True):
            if cell.strip() in ("", "–"):
                continue
            row = PAIRS[min(first, second), max(first, second)]
            assert cell.strip() == word.get(row.kernel, "ours"), (first, second)


def test_most_contacts_hold_those_of_mujoco():
    """The most contacts of a pair are no fewer than MuJoCo's collision function finds, for all pairs of shapes."""
    rng = np.random.default_rng(0)
    for first in TYPES:
        for second in [*TYPES, "plane"]:
            size = 'size=".2 .25 .3"'
            world = f'<geom type="{second}" {size}/>'
            most = 0
            m = mujoco.MjModel.from_xml_string(
                f'<mujoco><worldbody>{world}<body><freejoint/><geom type="{first}" {size}/></body></worldbody></mujoco>'
            )
            d = mujoco.MjData(m)
            for k in range(50):
                turn = rng.normal(size=4) * (k % 2) + [1, 0, 0, 0]
                d.qpos[:] = *(rng.normal(size=3) * 0.2), *(turn / np.linalg.norm(turn))
                mujoco.mj_forward(m, d)
                most = max(most, d.ncon)
            (pair,) = collisions.pairs(m)
            types = int(m.geom_type[pair.geom1]), int(m.geom_type[pair.geom2])
            assert 0 < most <= PAIRS[types].most_contacts
