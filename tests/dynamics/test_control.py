"""The PID controller. Reference: its law by hand, with angles wrapped and integration held back in saturation."""

from types import SimpleNamespace

import numpy as np
import pytest

from saltus.dynamics.control import pid
from saltus.number.kernels import interpret

KP, KI, KD, PERIOD = 3.0, 2.0, 0.5, 6.0


def controlled(position, speed, integral, limit=0.0, on=1.0, ranged=False):
    """Control and rate of the integral, for a target of 1 and a gear of 2."""
    m = SimpleNamespace(nactuator=1, actuator_ctrlnum=[1], actuator_outadr=[0], actuator_ctrladr=[0])
    m.actuator_ctrllimited, m.actuator_ctrlrange = [ranged], np.array([[-0.5, 0.5]])
    prm = [KP, KI, KD, 1.0, limit, PERIOD, 0.5, on, 0.25]
    d = SimpleNamespace(control_prm=prm, actuator_length=[2 * position], actuator_velocity=[2 * speed], time=0.0)
    d.act, d.act_dot, d.ctrl = [integral], [9.0], [7.0]
    interpret(pid)(m, d, 0)
    return d.ctrl[0], d.act_dot[0]


@pytest.mark.parametrize("turns", [-2, 0, 3])
def test_the_law_and_its_limits(turns):
    error = 0.7
    u = KP * error + KI * 0.1 + KD * (0.25 - 0.4)
    position = 1.0 - error + turns * PERIOD  # whole turns make no difference
    assert controlled(position, 0.4, 0.1) == pytest.approx((u, error), rel=1e-13)
    assert controlled(position, 0.4, 0.1, limit=1.0) == pytest.approx((1.0, 0.0), abs=1e-13)
    assert controlled(position, 0.4, 0.1, ranged=True) == pytest.approx((0.5, 0.0), abs=1e-13)
    # saturated below by its integral: the error leads out
    assert controlled(position, 0.4, -9.0, limit=1.0) == pytest.approx((-1.0, error), rel=1e-13)
    assert controlled(position, 0.4, 0.1, on=0.0) == (7.0, 0.0)


def test_half_a_turn_is_positive():
    """Errors are wrapped into (-period/2, period/2]."""
    assert controlled(1.0 - PERIOD / 2, 0.0, 0.0)[1] == controlled(1.0 + PERIOD / 2, 0.0, 0.0)[1] == PERIOD / 2
