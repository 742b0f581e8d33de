"""Poses far from those where contacts jump, by what the reference itself does; contacts in any order."""

import numpy as np

from helpers.contacts import mujocos, of_pair


def arranged(found, expected):
    """The expected contacts [n states][...], each list in the order of those found, by what is nearest."""
    out = []
    for mine, theirs in zip(found, expected, strict=True):
        rest, order = list(theirs), []
        for c in mine[: len(theirs)]:
            order.append(rest.pop(int(np.argmin([np.abs(c.numbers - e.numbers).max() for e in rest]))))
        out.append(order + rest)
    return out


def steady(model, name, qpos, expected, change, at_most):
    """Mask [n] of poses about which a pair's contacts by MuJoCo stay as they are.

    That is where all numbers change by less than `at_most` as all of qpos changes by up to `change`, three times.
    """
    rng = np.random.default_rng(0)
    keep = np.ones(len(qpos), bool)
    before = of_pair(model, name, expected)
    for _ in range(3):
        moved = of_pair(model, name, mujocos(model, qpos + rng.uniform(-change, change, qpos.shape)))
        for k, (a, b) in enumerate(zip(before, arranged(before, moved), strict=True)):
            same = len(a) == len(b)
            keep[k] &= same and all(np.abs(x.numbers - y.numbers).max() < at_most for x, y in zip(a, b, strict=True))
    return keep
