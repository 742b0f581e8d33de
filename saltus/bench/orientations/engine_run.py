"""Time of the n-link pendulum in the numeric engine, whose compiled code serves every model."""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco
import numpy as np

from saltus.bench.harness.timing import Contender, in_turn
from saltus.bench.orientations.case import TIMESTEP, Answer, Case, Way, inputs
from saltus.model.source.n_link import n_link
from saltus.simulate.simulation import Simulation

REPEATS, LEAST = 7, 0.02  # repeats of the timed steps, and the least seconds of each


def measure(case: Case, tell: Callable[..., None]) -> Answer:
    """Measure the case in this process."""
    began = time.perf_counter()
    sim = Simulation(pushed(case), "euler")
    loaded = time.perf_counter()
    sim.step(1)  # kernels are compiled, or read from the cache
    ready = time.perf_counter()
    tell(modelling=ready - began)

    def work() -> None:
        sim.reset()
        for strength in inputs(case.steps):
            sim.ctrl[-1] = strength
            sim.step(1)

    found = in_turn([Contender("engine", lambda: None, work, 1.0)], repeats=REPEATS, least=LEAST)["engine"]
    angles, rates = (np.cumsum(x).tolist() for x in (sim.qpos, sim.qvel))
    modelling = {"model": loaded - began, "kernels": ready - loaded}
    return Answer(modelling, [Way("kernels", {}, found.median, REPEATS, angles, rates)])


def pushed(case: Case) -> mujoco.MjSpec:
    """The pendulum; its last actuator is the motor of its last joint or, in option A, the force on its end."""
    spec = mujoco.MjSpec.from_string(n_link(case.links, timestep=TIMESTEP))
    if case.option == "A":
        spec.worldbody.add_site(name="world")
        site = mujoco.mjtTrn.mjTRN_SITE
        spec.add_actuator(name="push", trntype=site, target="tip", refsite="world", gear=[1, 0, 0, 0, 0, 0])
    return spec
