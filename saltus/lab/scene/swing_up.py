"""The cart and pole, swung up and balanced by planning: model predictive path integral control at each step.

The cost of a state is the pole's height below its highest place, with a little for speeds, the cart's way from the
middle and the force; nothing says how to swing. A second of motion ahead is enough to find it (Williams et al. 2017,
see `saltus.mppi`, whose figure 1 is this task).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.control.mppi import SamplingPlanner, mppi
from saltus.lab.making.setup import LabStart
from saltus.lab.scene.planned import PlannedSession
from saltus.model.load import load

if TYPE_CHECKING:
    from saltus.lab.data.recording import Downloads
    from saltus.simulate.batch import Batch
    from saltus.simulate.simulation import Simulation

TITLE = "Cart and pole, planned ahead"
HORIZON, HELD, PERIOD = 1.0, 0.1, 0.04  # s: what is planned, how long a sample's forces are held, between plans
SAMPLES, FORCE, TEMPERATURE = 64, 6.0, 0.5  # number, standard deviation of their forces (N), unit of their cost
PLACE, SPEED, TURNING, EFFORT = 0.2, 0.02, 0.02, 5e-4  # 1/m², s²/m², s², 1/N²: weights of what else costs


def cost(batch: Batch) -> NDArray[np.float64]:
    """Cost [samples] of a step: 0 upright at rest in the middle of the rail, 2 hanging."""
    x, angle = batch.qpos[:, 0], batch.qpos[:, 1]
    rates = SPEED * batch.qvel[:, 0] ** 2 + TURNING * batch.qvel[:, 1] ** 2
    return 1.0 - np.cos(angle) + PLACE * x**2 + rates + EFFORT * batch.ctrl[:, 0] ** 2


def planner(sim: Simulation) -> SamplingPlanner:
    """The planner for a simulation of the cart and pole."""
    steps, hold, every = (max(round(time / sim.timestep), 1) for time in (HORIZON, HELD, PERIOD))
    return mppi(
        sim,
        cost,
        steps,
        noise=FORCE,
        temperature=TEMPERATURE,
        samples=SAMPLES,
        hold=hold,
        every=every,
        threads=1,  # another one shows the motion
    )


def swing_up(downloads: Downloads, options: Mapping[str, Any]) -> PlannedSession:
    """Open a session of the scene, with the pole hanging."""
    given = {"key": "hanging", "phase": "theta", "plots": ("qpos[theta]", "qpos[x]", "ctrl[force]")}
    setup = LabStart("swing_up", TITLE, load("cart_pole"), **{**given, **options})
    return PlannedSession(setup, downloads, planner(setup.simulation()), plan=("tip", "cart"))
