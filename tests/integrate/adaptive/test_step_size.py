"""The step-size controller takes as many steps as the tolerance requires, and counts those that it rejects.

Law: the error of a step of order five grows like h⁵ (Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations
I (1993), II.4).

Tolerances: the number of steps follows that power up to the whole steps in a run.
"""

import numpy as np

import saltus
from saltus.integrate.adaptive.memory import REJECTED, TAKEN


def test_tighter_tolerances_take_more_steps():
    taken = []
    for tolerance in (1e-5, 1e-7, 1e-9):
        sim = saltus.Simulation("chain", "dopri5", timestep=1.0, tolerance=(tolerance, tolerance))
        sim.step()
        taken.append(sim.engine.d.views["memory"][TAKEN])
    # steps grow like the fifth root of the tolerance
    ratios = np.array(taken[1:]) / taken[:-1]
    assert np.all((1.8 < ratios) & (ratios < 3.5))


def test_rejected_steps_are_counted():
    """A spring that hardens suddenly makes the step before too long."""
    model = """
    <mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint type="slide" axis="1 0 0" stiffness="1 0 1e6"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    </worldbody></mujoco>"""
    sim = saltus.Simulation(model, "dopri5", timestep=5.0)
    sim.qpos[0] = 1.0
    sim.step()
    memory = sim.engine.d.views["memory"]
    assert memory[TAKEN] > 100 and 0 < memory[REJECTED] < memory[TAKEN]
    smooth = saltus.Simulation("chain", "dopri5", timestep=1.0)
    smooth.step()
    assert smooth.engine.d.views["memory"][REJECTED] <= 0.2 * smooth.engine.d.views["memory"][TAKEN]
