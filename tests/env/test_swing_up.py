"""The environments for teaching are what their descriptions say.

Reference: `saltus.Simulation` of the same models under the same controls, with the rewards and ends written out. Equal
but for the rounding of some steps of a smooth motion, 1e-12.
"""

import numpy as np
import pytest

import saltus
import saltus.env

TIGHT = dict(rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["CartPoleBalance", "CartPoleSwingUp"])
def test_carts(name):
    env = saltus.env.make(name)
    env.reset(seed=2)
    sim = saltus.Simulation("cart_pole", "euler")
    sim.qpos, sim.qvel = env.read("qpos"), env.read("qvel")
    rng, ended = np.random.default_rng(0), False
    upright = name == "CartPoleBalance"
    assert abs(sim.qpos[1] - (0.0 if upright else np.pi)) < 0.1
    for _ in range(300):
        action = rng.uniform(0.2, 1.0, 1)  # to the end of the rail
        seen, reward, ended, truncated, info = env.step(action)
        sim.ctrl = 15.0 * action
        sim.step()
        x, theta = sim.qpos
        np.testing.assert_allclose(seen, [x, np.sin(theta), np.cos(theta), *sim.qvel], **TIGHT)
        np.testing.assert_allclose(info["height"], 0.5 * (1.0 + np.cos(theta)), **TIGHT)
        np.testing.assert_allclose(reward, info["height"] - 0.01 * action[0] ** 2, **TIGHT)
        assert ended == (abs(x) > 2.4 or (upright and abs(theta) > 0.2)) and not truncated
        if ended:
            break
    assert ended


def test_pendulum():
    env = saltus.env.make("PendulumSwingUp")
    env.reset(seed=2)
    sim = saltus.Simulation("pendulum", "rk4")
    sim.qpos, sim.qvel = env.read("qpos"), env.read("qvel")
    weight = 2.0 * 9.81 * 2.0  # m g l (N m)
    assert env.parameters["largest_torque"][0] / weight == pytest.approx(0.25, abs=0.01)
    for k in range(200):
        action = np.array([np.sign(sim.qvel[0])])
        seen, reward, ended, truncated, _ = env.step(action)
        sim.ctrl = 10.0 * action
        sim.step()
        (theta,) = sim.qpos
        np.testing.assert_allclose(seen, [np.sin(theta), np.cos(theta), *sim.qvel], rtol=1e-9, atol=1e-9)
        assert reward == pytest.approx(0.5 * (1.0 - np.cos(theta)) - 0.01 * action[0] ** 2)
        assert not ended and truncated == (k == 199)
    assert abs(theta) > np.pi, "a torque along the velocity swings it up and over"


def test_pendularm():
    """Heights and static torques written out from masses and lengths."""
    env = saltus.env.make("PendularmSwingUp")
    env.reset(seed=3)
    sim = saltus.Simulation("double_pendulum", "rk4")
    sim.qpos, sim.qvel = env.read("qpos"), env.read("qvel")
    assert (np.abs(sim.qpos) < 0.1).all() and (np.abs(sim.qvel) < 0.05).all()
    mass, length = 2.0, 2.0
    weight = mass * 9.81 * length * np.array([3.0, 1.0])  # torques that hold both links out level (N m)
    limits = env.parameters["largest_torque"][0]
    np.testing.assert_allclose(limits / weight, 0.5, atol=0.01)
    highest = 0.0
    for k in range(400):
        action = np.sign(sim.qvel)
        seen, reward, ended, truncated, info = env.step(action)
        sim.ctrl = limits * action
        sim.step()
        one, two = sim.qpos
        tip = -length * (np.cos(one) + np.cos(one + two))
        close = dict(rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(seen, [np.sin(one), np.cos(one), np.sin(two), np.cos(two), *sim.qvel], **close)
        np.testing.assert_allclose(info["height"], (tip + 2.0 * length) / (4.0 * length), **close)
        rates = sim.qvel[0], sim.qvel.sum()  # of the links, against the world
        costs = 0.01 * (action**2).sum() + 0.005 * np.square(rates).sum()
        np.testing.assert_allclose(reward, info["height"] - costs, **close)
        assert not ended and truncated == (k == 399)
        highest = max(highest, info["height"])
    assert highest > 0.9, "torques along the velocities swing it up"
