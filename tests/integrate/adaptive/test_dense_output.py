"""Dense output of Dormand and Prince's method is the motion inside a step.

Law: it is of fourth order between the steps (Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I
(1993), II.6).

Tolerances: it is as good as the steps.
"""

import numpy as np
from helpers import oracle
from numpy.testing import assert_allclose

import saltus
from saltus.integrate.adaptive.memory import TAKEN


def test_dense_output_equals_steps():
    """Samples of a free run against a simulation that ends a step at each of them."""
    sim, other = (saltus.Simulation("chain", "dopri5", timestep=h) for h in (1.0, 0.1))
    trajectory = sim.run(2.0, sample=0.1)
    assert_allclose(trajectory.time, np.arange(21) * 0.1, rtol=0, atol=1e-15)
    for k in range(1, 21):
        other.step()
        assert_allclose(trajectory.qpos[k], other.qpos, rtol=0, atol=1e-7)
        assert_allclose(trajectory.qvel[k], other.qvel, rtol=0, atol=1e-6)


def test_dense_output_is_of_fourth_order():
    """On a ball joint: with one step over the whole time, the error at its middle falls like h⁵ or faster."""
    errors = []
    model = saltus.load("top")
    m = oracle.reference(model)
    for h in (4e-3, 2e-3, 1e-3):
        # a tolerance so wide that one step does
        sim = saltus.Simulation(model, "dopri5", timestep=h, tolerance=(0.9, 0.9))
        sim.engine.d.views["memory"][:2] = h, 1e-4
        sim.engine.left = sim.engine.state.copy()
        qpos, _ = oracle.exact(m, sim.qpos, sim.qvel, [0.37 * h])
        trajectory = sim.run(h, sample=0.37 * h)
        assert sim.engine.d.views["memory"][TAKEN] == 1
        errors.append(np.max(np.abs(oracle.difference(m, qpos[0], trajectory.qpos[1]))))
    slope = -np.diff(np.log2(errors))
    assert np.all(slope > 4.7), slope
