"""What is to be seen of a motion. Reference: a run of the same; the weight of a ball at rest for contact forces."""

import math

import numpy as np
import pytest
from helpers.lab import FRAME, pendulum, run, seen, session_of

import saltus


def test_what_is_shown_lies_between_two_steps():
    """With a step of three frames: positions and velocities on the straight line, energies of the step's end."""
    session = pendulum()
    whole = saltus.Simulation("pendulum", "velocity_verlet", timestep=0.05).run(2.0, sample=0.05)
    for k in range(1, 100):
        session.tick(FRAME)
        frame = seen(session)
        assert frame["time"] == pytest.approx(k * FRAME)
        angle, rate = (np.interp(k * FRAME, whole.time, x[:, 0]) for x in (whole.qpos, whole.qvel))
        np.testing.assert_allclose(frame["dofs"][0, 0], [angle, rate], atol=1e-6)
        end = math.ceil(k * FRAME / 0.05 - 1e-9)
        np.testing.assert_allclose(frame["energy"][0], whole.energy[end], rtol=1e-6, atol=1e-5)
        bob = frame["bodies"][0, 1]
        np.testing.assert_allclose(bob[3:], [np.cos(angle / 2), 0, -np.sin(angle / 2), 0], atol=1e-6)


@pytest.mark.slow
def test_a_ball_at_rest_carries_its_weight():
    session = session_of("bouncing_ball")
    run(session, 20.0)
    frame = seen(session)
    sim = session.sim
    weight = sim.model.body_subtreemass[1] * 9.81
    (contact,) = frame["contacts"]
    np.testing.assert_allclose(contact[3:6], [0, 0, weight], rtol=1e-3, atol=1e-3 * weight)
    assert contact[2] == pytest.approx(0.0, abs=0.05) and contact[6] < 0
