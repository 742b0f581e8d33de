"""Jacobians by name. Reference: the one by number."""

import numpy as np
import pytest
from helpers.identities import Case

import saltus


def test_jacobian_by_name_and_of_nothing():
    case = Case(0)
    np.testing.assert_array_equal(case.sim.jacobian("b3")[0], case.sim.jacobian(case.model.id("body", "b3"))[0])
    with pytest.raises(saltus.OptionError, match="no body 99"):
        case.sim.jacobian(99)
    with pytest.raises(saltus.OptionError, match="shape"):
        case.sim.jacobian(1, [1.0, 2.0])
    with pytest.raises(KeyError, match="no body 'nothing'"):
        case.sim.jacobian("nothing")
