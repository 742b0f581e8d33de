"""Users' functions compiled for derivatives, batches in both precisions, events, contact laws, environments.

Reference: a simulation of one pendulum or ball under the same law written without branches, or central differences.
"""

import numpy as np

import saltus
import saltus.env
from saltus.env import Environment, term


def pump(m, d, z):
    total = 0.0
    for k in range(m.nv):
        total += d.qvel[k] ** 2
    d.ctrl[0] = 0.0
    if total > 0.01 and d.qpos[0] * d.qvel[0] < 0:
        d.ctrl[0] = 0.3 * total if total < 1 else -0.2 * np.sqrt(total)


def test_single_precision_goes_the_ways_of_double():
    starts = np.linspace(-2.0, 2.0, 5)
    batches = [
        saltus.Batch("pendulum", 5, integrator="euler", control=saltus.controller(pump), precision=p)
        for p in ("float64", "float32")
    ]
    for batch in batches:
        batch.qpos = starts[:, None]
        batch.step(50)
    assert np.allclose(batches[0].qpos, batches[1].qpos, atol=1e-4)


def test_derivatives_of_a_step_with_branches():
    """B and A's row of the velocity against central differences of steps."""
    simulation = saltus.Simulation("pendulum", integrator="euler", control=saltus.controller(pump))

    def after(q, v):
        simulation.reset()
        simulation.qpos[0], simulation.qvel[0] = q, v
        simulation.step()
        return np.array([simulation.qpos[0], simulation.qvel[0]])

    q, v, h = -0.5, 0.6, 1e-6
    expected = np.transpose(
        [(after(q + h, v) - after(q - h, v)) / (2 * h), (after(q, v + h) - after(q, v - h)) / (2 * h)]
    )
    simulation.reset()
    simulation.qpos[0], simulation.qvel[0] = q, v
    assert np.allclose(simulation.linearize()[0][:2, :2], expected, atol=1e-7)


def test_environments_end_by_branches():
    """Each simulation of an environment ends where its own state says so."""

    @term
    def far(m, d, e):
        if d.qpos[0] > 1:
            return True
        return abs(d.qpos[0]) > 2 and not d.qvel[0] > 0

    @term
    def effort(m, d, e):
        return d.qpos[0] ** 2 if d.qpos[0] > 0 else np.cos(d.qpos[0])

    fields = dict(model="cart_pole", max_episode_steps=5, observation=("qpos",), rewards={"r": effort}, terminated=far)
    env = saltus.env.make_vec(type("Ends", (Environment,), fields), 2)
    env.reset(seed=0)
    seen, reward, ended, _, _ = env.step(np.array([[0.5], [-0.5]]))
    expected = [x**2 if x > 0 else np.cos(x) for x in np.asarray(seen)[:, 0].tolist()]
    assert np.allclose(reward, expected, atol=1e-6) and not ended.any()
