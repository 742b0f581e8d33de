"""Modules that have moved are found by their old names, with a warning."""

import importlib
import pickle
import sys

import pytest

import saltus
from saltus.moved import MOVED


@pytest.mark.parametrize("name", MOVED)
def test_old_names_work(name):
    sys.modules.pop(name, None)
    with pytest.warns(DeprecationWarning, match=f"{name} is now {MOVED[name]}"):
        old = importlib.import_module(name)
    new = importlib.import_module(MOVED[name])
    assert old is new and new.__name__ == new.__spec__.name == MOVED[name]


def test_what_was_pickled_before_can_be_read():
    law = saltus.Hard(restitution=0.5)
    data = pickle.dumps(law, protocol=0).replace(b"saltus.simulate.laws.contact", b"saltus.simulate.contact")
    sys.modules.pop("saltus.simulate.contact", None)
    with pytest.warns(DeprecationWarning):
        assert pickle.loads(data) == law
