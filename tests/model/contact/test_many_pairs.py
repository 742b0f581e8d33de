"""Filters as data: as many pairs as the list has, and the same first one."""

import mujoco
import numpy as np
import pytest

from saltus.model.contact.collisions import pairs
from saltus.model.contact.many_pairs import Kinds, count_pairs, filters, first_pair, passes

FLAGS = ("", '<option><flag filterparent="disable"/></option>')


def world(seed, flag=""):
    """A random forest of bodies, some welded to their parents, with masks, exclusions and named pairs."""
    r = np.random.default_rng(seed)
    geom = lambda k: (  # noqa: E731
        f'<geom name="g{k}" type="{r.choice(["sphere", "box", "capsule"])}" size=".1 .1 .1" '
        f'contype="{r.integers(0, 4)}" conaffinity="{r.integers(0, 4)}"/>'
    )
    number = iter(range(1000))

    def body(depth):
        name, joint = next(number), r.choice(["<freejoint/>" if depth == 0 else "<joint/>", "", "<joint/>"])
        own = "".join(geom(next(number)) for _ in range(r.integers(0, 3)))
        children = "".join(body(depth + 1) for _ in range(r.integers(0, 3) if depth < 3 else 0))
        return f'<body name="b{name}">{joint}<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{own}{children}</body>'

    bodies = "".join(body(0) for _ in range(5))
    static = '<geom name="floor" type="plane" size="1 1 1"/><geom name="wall" type="plane" size="1 1 1"/>' + geom(999)
    found = mujoco.MjModel.from_xml_string(f"<mujoco>{flag}<worldbody>{static}{bodies}</worldbody></mujoco>")
    names = [
        [mujoco.mj_id2name(found, kind, i) for i in range(1, n)] for kind, n in ((1, found.nbody), (5, found.ngeom))
    ]
    rules = [f'<exclude body1="{a}" body2="{b}"/>' for a, b in (r.choice(names[0], 2, replace=False) for _ in range(4))]
    rules += [f'<pair geom1="{a}" geom2="{b}"/>' for a, b in (r.choice(names[1], 2, replace=False) for _ in range(4))]
    contact = f"<contact>{''.join(dict.fromkeys(rules))}{rules[-1]}</contact>"  # one pair twice
    return mujoco.MjModel.from_xml_string(f"<mujoco>{flag}<worldbody>{static}{bodies}</worldbody>{contact}</mujoco>")


@pytest.mark.parametrize("seed", range(8))
def test_there_are_as_many_as_in_the_list_and_the_first_is_the_same(seed):
    m = world(seed, FLAGS[seed % 2])
    listed = pairs(m)
    assert len(listed) > 10
    assert count_pairs(m) == len(listed)
    found = first_pair(m)
    assert (found.geom1, found.geom2) == (listed[0].geom1, listed[0].geom2)


@pytest.mark.parametrize("seed", range(4))
def test_the_filters_let_through_what_the_list_has_but_for_named_pairs(seed):
    m = world(seed, FLAGS[seed % 2])
    f = filters(m)
    kinds = Kinds(m, f)
    through = {(a, b) for b in range(m.ngeom) for a in range(b) if passes(m, f, kinds, a, b)}
    listed = {tuple(sorted((p.geom1, p.geom2))): p.explicit for p in pairs(m)}
    assert through <= listed.keys()
    assert all(listed[pair] >= 0 for pair in listed.keys() - through)


def test_a_number_that_is_enough_is_found_without_the_rest():
    m = world(0)
    assert count_pairs(m, enough=10**6) >= len(pairs(m))
    assert count_pairs(m, enough=10) == len(pairs(m))
