"""The balance of a run. Reference: a damped slide in closed form, v = v0 e^(-b t/m): its damper takes what it loses."""

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.record import Trajectory
from saltus.record.table.energy_balance import EnergyBalance
from saltus.record.table.ledger import ACCOUNTS

M, B, V = 2.0, 3.0, 4.0


def slide(made=0.0):
    """The slide; `made`: energy (J) that an integrator has made from nothing, growing evenly."""
    t = np.linspace(0.0, 1.0, 21)
    v = V * np.exp(-B * t / M)
    ledger = np.zeros((21, len(ACCOUNTS)))
    ledger[:, ACCOUNTS.index("kinetic")] = 0.5 * M * v**2 + made * t
    ledger[:, ACCOUNTS.index("dampers")] = -0.5 * M * V**2 * (1.0 - np.exp(-2 * B * t / M))
    return Trajectory(t, v[:, None], v[:, None], ledger=ledger)


def test_what_is_lost_is_work():
    balance = EnergyBalance(slide())
    np.testing.assert_allclose(balance.residual, 0.0, atol=1e-14)  # rounding of 16 J
    assert balance.work[-1] == pytest.approx(-16.0 * (1 - np.exp(-3.0)), rel=1e-14)
    assert balance.used(ACCOUNTS) == ["kinetic", "dampers"]
    np.testing.assert_array_equal(balance["dampers"], balance.work)


def test_what_no_work_explains_is_the_residual():
    balance = EnergyBalance(slide(made=-0.25))
    np.testing.assert_allclose(balance.residual, -0.25 * balance.time, atol=1e-14)
    assert "-0.25" in str(balance)


def test_what_there_is_not():
    with pytest.raises(OptionError, match="has no ledger"):
        EnergyBalance(Trajectory([0.0], [[1.0]], [[2.0]]))
    with pytest.raises(OptionError, match="did you mean 'dampers'"):
        EnergyBalance(slide())["damper"]
