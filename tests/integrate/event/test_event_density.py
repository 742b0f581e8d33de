"""Events that count as dense. Reference: the definitions, for all items and modes, written out in Python."""

from types import SimpleNamespace

import pytest
from helpers.plain_python import plain

from saltus.integrate.event import event_density
from saltus.model.event_enums import OPEN, SLIP, STICK


@pytest.mark.parametrize("mode", [OPEN, STICK, SLIP])
@pytest.mark.parametrize("elastic", [0, 1])
def test_only_impacts_of_limits_that_return_all_are_exempt(mode, elastic):
    """Items: three contact points, two limits with two sides each, dry friction; limits have laws of their own."""
    m = SimpleNamespace(nslot=3, nlimit=2, ncollision=0, limit_law=[1, 0], law_restitution=[0.0, 0.5])
    m.law_restitution[elastic] = 1.0
    d = SimpleNamespace(mode=[mode] * 8)
    for item in range(3, 8):
        limit = (item - 3) // 2 if item < 7 else None
        wanted = limit is not None and m.limit_law[limit] == elastic and mode == OPEN
        assert bool(plain(event_density.returns_all)(m, d, item)) == wanted, item
