"""States of a motor after a step. Reference: SciPy's solution of di/dt = (V/R - K ω/R - i)/te and of the bristles."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from saltus.dynamics.actuator import dc_motor
from saltus.model.actuator_enums import BRISTLE, CURRENT
from saltus.number.kernels import interpret


def motor(speed, act):
    slots = np.full((1, 16), -1)
    slots[0, CURRENT], slots[0, BRISTLE] = 0, 1
    m = SimpleNamespace(actuator_slot=slots, actuator_outadr=[0], layout=SimpleNamespace(features={"dcmotor"}))
    m.actuator_dynprm = np.array([[0.02, 0.0, 0.0, 0.0, 0.0, 300.0, 0.5, 0.0, 0.0, 0.0]])
    m.actuator_biasprm = np.array([[0.0, 0.0, 0.0, 1.0, 1.6, 0.1]])  # Fc, Fs, vs
    return m, SimpleNamespace(act=act, actuator_velocity=[speed])


@pytest.mark.parametrize("speed", [0.0, 1e-3, -0.08, 2.0])
def test_steps_are_exact_while_voltage_and_velocity_are_constant(speed):
    m, d = motor(speed, [0.7, 1e-3])
    te, strength = m.actuator_dynprm[0, 0], m.actuator_dynprm[0, 5]
    steady = 1.9  # the current at which it stays

    def rates(_, y):
        g = 1.0 + 0.6 * np.exp(-((speed / 0.1) ** 2))
        return [(steady - y[0]) / te, speed - strength * abs(speed) / g * y[1]]

    h = 0.03
    expected = solve_ivp(rates, (0.0, h), d.act, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
    step = interpret(dc_motor.next_motor_state)
    found = [step(m, d, 0, a, rates(0.0, d.act)[a], h) for a in (0, 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
