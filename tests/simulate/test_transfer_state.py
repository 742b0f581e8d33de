"""The state goes on under another engine. Reference: a run that was never interrupted, to the bit."""

import numpy as np
import pytest

import saltus
from saltus.simulate.transfer_state import carry


@pytest.mark.parametrize("integrator", ["euler", "verlet"])
def test_the_same_integrator_goes_on_as_if_nothing_had_been(integrator):
    """Also one that remembers its last step, unless the state was changed since."""
    whole, first, second = (saltus.Simulation("pendulum", integrator) for _ in range(3))
    whole.step(20)
    first.step(10)
    assert carry(first.engine, second.engine) == []
    second.step(10)
    np.testing.assert_array_equal(second.engine.state, whole.engine.state)


def test_inputs_come_along_and_the_time():
    first, second = saltus.Simulation("pendulum", "euler"), saltus.Simulation("pendulum", "verlet", timestep=0.01)
    first.qpos[:], first.qvel[:], first.ctrl[:], first.time = 0.1, 0.2, 0.3, 0.4
    first.qfrc_applied[:], first.xfrc_applied[1] = 0.5, np.arange(6.0)
    carry(first.engine, second.engine)
    for name in ("qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied", "time"):
        np.testing.assert_array_equal(getattr(second, name), getattr(first, name))
    second.step()
    assert first.qpos[0] == 0.1  # neither feels the other


@pytest.mark.parametrize("integrator", ["dopri5", "radau"])
def test_a_run_of_an_adaptive_integrator_goes_on_as_if_nothing_had_been(integrator):
    """Its slopes are found anew, as they may be those of other values of the model: none would be an error."""
    first, second = saltus.Simulation("pendulum", integrator), saltus.Simulation("pendulum", integrator)
    first.qpos[0] = 1.0
    first.run(0.2, sample=0.1)
    carry(first.engine, second.engine)
    one, other = first.run(0.2, sample=0.1), second.run(0.2, sample=0.1)
    np.testing.assert_array_equal(one.qpos, other.qpos)
    np.testing.assert_array_equal(one.qvel, other.qvel)
