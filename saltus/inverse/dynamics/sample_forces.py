"""Inverse dynamics of the samples of a motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.inverse.dynamics.differentiation import Motion
from saltus.inverse.dynamics.recording import Recording
from saltus.inverse.dynamics.unconstrained import carried_by_mocap
from saltus.model.model import Model

Array = NDArray[np.float64]


def refuse_moving_carriers(model: Model, recording: Recording) -> None:
    """OptionError where bodies hang on a mocap body that moves, whose acceleration nothing says."""
    for name in carried_by_mocap(model):
        k = int(model.body_mocapid[model.id("body", name)])
        for poses in (recording.mocap_pos[:, k], recording.mocap_quat[:, k]):
            if np.ptp(poses, axis=0).max() > 0:
                raise OptionError(
                    f"mocap body {name} moves and carries joints, and its acceleration is not part "
                    "of the equations; give it a free joint and put its poses into qpos"
                )


def forces_of(model: Model, motion: Motion, recording: Recording) -> Array:
    """Forces [n, nv] (N, N m) by the equations of motion of each sample."""
    from saltus.simulate.analysis.inverse_forces import inverse_of_samples
    from saltus.simulate.simulation import Simulation

    samples = {"qpos": motion.qpos, "qvel": motion.qvel, "qacc": motion.qacc}
    if model.nmocap:
        samples |= {"mocap_pos": recording.mocap_pos, "mocap_quat": recording.mocap_quat}
    return inverse_of_samples(Simulation(model, contact="soft").engine, samples)
