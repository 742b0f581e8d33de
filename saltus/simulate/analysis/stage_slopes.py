"""The slopes k_i of the stages of the last step of a Runge-Kutta method."""

import numpy as np
from numpy.typing import NDArray

from saltus.simulate.engine.engine import Engine

SAME = 1e-9  # relative difference of velocities up to which slopes are those of the step that led to the state


def stage_slopes(engine: Engine) -> NDArray[np.float64] | None:
    """Slopes [stages, 2, nv] of the step that has led to the present state: rates of positions, and accelerations.

    rad/s, m/s; rad/s², m/s². Rates of rotations are those of the rotation vector from the step's start. None where no
    slopes are kept: at a start, after a change of velocities, after steps of methods that overwrite them (dopri5,
    implicit ones), and where events are located within steps.
    """
    table = engine.integrator.tableau
    if table is None or np.triu(table[:-1, 1:]).any() or engine.locates_events:
        return None
    views, nv = engine.d.views, engine.model.nv
    slopes = np.stack([views[name].reshape(-1, nv) for name in ("stage_qvel", "stage_qacc")], axis=1)
    # v' = v + h Σ b_i k_i holds for the step's own slopes alone
    gain = float(views["timestep"]) * (table[-1, 1:] @ slopes[:, 1])
    start, end = views["qvel_saved"], views["qvel"]
    scale = np.abs(gain).max(initial=0.0) + np.abs(end).max(initial=0.0)
    ours = gain.any() and bool((np.abs(start + gain - end) <= SAME * scale).all())
    return slopes.copy() if ours else None
