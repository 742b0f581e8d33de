"""Rauch-Tung-Striebel smoothing (`smooth`).

Reference: the posterior of all states of a linear system at once, by conditioning their joint Gaussian on all
measurements, without any recursion; that of a floating body is in `test_kalman`.
"""

import numpy as np
import pytest

import saltus

SPRING = """
<mujoco><option timestep="0.05" gravity="0 0 0"/><worldbody>
  <body><joint name="a" type="slide" axis="1 0 0" stiffness="20" damping=".3"/>
    <geom size=".1" mass="1" solref=".1 1"/></body>
  </worldbody><sensor><jointpos name="at" joint="a"/></sensor></mujoco>"""


@pytest.mark.parametrize("noise", [[1e-4, 1e-3], [0.0, 1e-3]], ids=["all", "velocities alone"])
def test_it_is_the_posterior_of_all_states_at_once(noise):
    sim = saltus.Simulation(SPRING, "euler")
    sim.qpos[0] = 0.3
    T, n, Q, P0, r = 8, 2, np.diag(noise), np.diag([0.1, 0.2]), 1e-2
    A, _ = sim.linearize()
    y = np.random.default_rng(0).normal(size=(T, 1))
    y[3] = np.nan
    # states are L w of the start's error and the noise of each step
    L = np.zeros((T * n, T * n))
    for k in range(T):
        for j in range(k + 1):
            L[k * n : k * n + n, j * n : j * n + n] = np.linalg.matrix_power(A, k - j)
    W = np.zeros((T * n, T * n))
    for k in range(T):
        W[k * n : k * n + n, k * n : k * n + n] = Q if k else P0
    prior = L @ W @ L.T
    mean = np.concatenate([np.linalg.matrix_power(A, k) @ [0.3, 0.0] for k in range(T)])
    there = [k for k in range(T) if k != 3]
    H = np.zeros((len(there), T * n))
    H[range(len(there)), [k * n for k in there]] = 1.0
    gain = prior @ H.T @ np.linalg.inv(H @ prior @ H.T + r * np.eye(len(there)))
    mean = mean + gain @ (y[there, 0] - H @ mean)
    posterior = prior - gain @ H @ prior
    found = saltus.smooth(saltus.kalman(sim, noise, r, covariance=P0).run(y))
    for k in range(T):
        block = slice(k * n, k * n + n)
        assert np.allclose([found.qpos[k, 0], found.qvel[k, 0]], mean[block], rtol=0, atol=1e-8)
        assert np.allclose(found.covariance[k], posterior[block, block], rtol=0, atol=1e-9)


def test_several_steps_between_measurements():
    """One measurement each four steps is the same as four steps of which three have none."""
    sim = saltus.Simulation(SPRING, "euler")
    sim.qpos[0] = 0.3
    y = np.random.default_rng(1).normal(size=(5, 1))
    sparse = np.full((17, 1), np.nan)
    sparse[::4] = y
    one = saltus.smooth(saltus.kalman(sim, 1e-4, 1e-2).run(y, steps=4))
    other = saltus.smooth(saltus.kalman(sim, 1e-4, 1e-2).run(sparse))
    assert np.allclose(one.covariance, other.covariance[::4], rtol=0, atol=1e-11)
    assert np.allclose(one.qpos, other.qpos[::4], rtol=0, atol=1e-10)
    assert np.array_equal(one.nis, other.nis[::4]) and np.allclose(one.time, other.time[::4])


def test_anything_else_is_refused():
    with pytest.raises(saltus.OptionError, match="smooth takes what"):
        saltus.smooth(saltus.Simulation(SPRING))
