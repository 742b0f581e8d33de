"""Horizons: numbers of steps, or times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

WHOLE = 1e-6  # of a step


def steps_of(what: str, sim: Simulation, horizon: int | float) -> int:
    """Number of steps of a horizon: an int itself, or a time in s (float); OptionError for anything else."""
    if isinstance(horizon, bool) or not isinstance(horizon, (int, float, np.integer, np.floating)):
        raise OptionError(f"{what}: horizon must be a number of steps (int) or a time in s (float), got {horizon!r}")
    steps = float(horizon) if isinstance(horizon, (int, np.integer)) else float(horizon) / sim.timestep
    if not (np.isfinite(steps) and steps >= 1 and abs(steps - round(steps)) <= WHOLE * steps):
        raise OptionError(
            f"{what}: horizon must be a positive number of steps (int), or a time in s (float) of whole timesteps "
            f"({sim.timestep:g} s), got {horizon!r}"
        )
    return round(steps)
