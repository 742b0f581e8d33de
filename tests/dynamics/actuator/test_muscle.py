"""MuJoCo's muscle. Reference: MuJoCo's mju_muscleGain, mju_muscleBias and mju_muscleDynamics."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from saltus.dynamics.actuator import muscle
from saltus.number.kernels import interpret

PRM = np.array([0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2, 0.0])
RANGE, ACC0 = np.array([0.3, 0.9]), 2.5


@pytest.mark.parametrize("force", [-1.0, 40.0])
def test_forces_are_mujocos(force):
    prm = PRM.copy()
    prm[2] = force  # negative: found from the scale
    m = SimpleNamespace(actuator_gainprm=[prm], actuator_biasprm=[prm], actuator_lengthrange=[RANGE])
    m.actuator_acc0, m.layout = [ACC0], SimpleNamespace(features={"muscle"})
    rng = np.random.default_rng(0)
    for length, velocity in zip(rng.uniform(-0.5, 2.0, 200), rng.uniform(-4.0, 4.0, 200), strict=True):
        gain = mujoco.mju_muscleGain(length, velocity, RANGE, ACC0, prm[:9])
        bias = mujoco.mju_muscleBias(length, RANGE, ACC0, prm[:9])
        assert interpret(muscle.muscle_gain)(m, 0, 0, length, velocity) == pytest.approx(gain, rel=1e-12, abs=1e-12)
        assert interpret(muscle.muscle_bias)(m, 0, 0, length) == pytest.approx(bias, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("width", [0.0, 0.3])
def test_activation_is_mujocos(width):
    prm, rng = np.array([0.01, 0.04, width]), np.random.default_rng(1)
    m = SimpleNamespace(actuator_dynprm=[prm])
    for u, act in rng.uniform(-0.2, 1.2, (200, 2)):
        expected = mujoco.mju_muscleDynamics(u, act, prm)
        assert interpret(muscle.first_order_activation)(m, 0, u, act) == pytest.approx(expected, rel=1e-12, abs=1e-12)
