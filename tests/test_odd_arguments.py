"""Every public callable with odd arguments: it works, or raises an error of Saltus that says what is expected.

Law: no error of Python's own comes out from inside, whichever argument of whichever function, method or attribute of
`saltus.__all__` is odd. What is walked is found by looking; `helpers.odd_arguments` names what is not, with its reason.
"""

import os
import warnings

import numpy as np
import pytest
from helpers.odd_arguments import (
    ATTRIBUTES,
    CALLS,
    EXEMPT,
    GOOD,
    OBJECTS,
    ODD,
    PAIRS,
    called,
    instead_of_compiling,
    odd_values,
)

import saltus
from saltus.errors import SaltusError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files of odd names go where they do no harm, and nobody waits until a page is compiled, which takes seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("saltus.lab.standalone.page.program", instead_of_compiling)


def ends_well(do):
    """None where it works or raises an error of Saltus; else what it raised."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            do()
        except SaltusError as error:
            return None if str(error) else "an error that says nothing"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameter"), PAIRS, ids=lambda x: x)
def test_an_odd_argument_works_or_is_refused(name, parameter):
    found = {}
    for odd, value in odd_values(name, parameter).items():
        arguments = {**GOOD.get(name, {}), parameter: value}
        if ended := ends_well(lambda arguments=arguments: called(name, arguments)):
            found[odd] = ended
    assert not found


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_odd_value_of_an_attribute_is_set_or_refused(name):
    make, member = ATTRIBUTES[name]
    found = {}
    for odd, value in ODD.items():
        if ended := ends_well(lambda value=value: setattr(make(), member, value)):
            found[odd] = ended
    assert not found


def test_what_is_exempt_exists():
    """Nothing is exempt that is walked."""
    for name in EXEMPT:
        kind, _, member = name.partition(".")
        assert hasattr(getattr(saltus, kind), member) if member else hasattr(saltus, kind), name
        assert name not in CALLS


def test_each_method_has_an_object_to_be_called_on():
    """The walk of a method's arguments begins with its object."""
    assert {name.partition(".")[0] for name, _ in PAIRS if "." in name} <= {*OBJECTS}


def test_each_good_call_is_one():
    """The walk of a call's arguments begins with a call that works."""
    for name in ("load", "n_link", "Simulation", "Batch", "sweep", "simulate", "Simulation.run", "friction_contact"):
        called(name, GOOD[name])
    for name in ("page", "Model.page", "Simulation.page"):
        with pytest.raises(SaltusError, match="would be compiled"):
            called(name, GOOD[name])
    assert os.listdir() == []
