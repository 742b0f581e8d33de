"""Cost of a run: seconds of compute and steps, without compiling and recording."""

import math
import time as clock
from statistics import median

import numpy as np

from saltus.simulate.engine import loops
from saltus.simulate.simulation import Simulation

REPEATS = 5  # timings after the first, which compiles
ATTEMPTS = 10**9  # limit of an adaptive integrator's steps
SHORTEST = 2e-3  # s that a timing lasts at least
LONG = 1.0  # s: runs longer than this are timed fewer times
SOFT = "soft"


def measured_cost(sim: Simulation, start: np.ndarray, duration: float) -> tuple[float, float]:
    """Seconds of compute for `duration` simulated seconds, the median of several repeats, and its steps."""
    first = _timed(sim, start, duration)
    calls = max(1, math.ceil(SHORTEST / max(first, 1e-7)))
    repeats = REPEATS if first < LONG else 3
    seconds = median(sum(_timed(sim, start, duration) for _ in range(calls)) / calls for _ in range(repeats))
    if sim.integrator.adaptive:
        if sim.contact != SOFT:
            return seconds, math.nan
        return seconds, float(sim.engine.d.views["memory"][2:4].sum())
    return seconds, max(1, round(duration / sim.timestep))


def _timed(sim: Simulation, start: np.ndarray, duration: float) -> float:
    """Seconds that the compiled loop takes from the snapshot `start`; a full run for laws other than the soft one."""
    sim.restore(start)
    sim.engine.prepare()
    if sim.contact != SOFT:
        # a hybrid run is more than the loop of steps
        begin = clock.perf_counter()
        sim.run(duration, duration, progress=False)
    elif sim.integrator.adaptive:
        rows = np.zeros((1, 1 + sim.model.nq + sim.model.nv))
        ends = np.array([sim.time + duration])
        begin = clock.perf_counter()
        loops.recorder(sim.integrator)(sim.engine.m, sim.engine.d, ends, 0, ATTEMPTS, *sim.integrator.parameters, rows)
    else:
        steps = max(1, round(duration / sim.timestep))
        begin = clock.perf_counter()
        sim.engine.advance(steps, sim.timestep)
    return clock.perf_counter() - begin
