"""Initial states of muscles with an elastic tendon: static equilibrium of fibres and tendons."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from saltus.dynamics.actuator.hill_muscle import settle_fibres
from saltus.dynamics.actuator.transmission import output
from saltus.dynamics.smooth import position_stage
from saltus.model.layout import DATA, data_sizes
from saltus.model.model import Model
from saltus.number.kernels import entry
from saltus.number.structs import Struct


@entry
def settle(m, d):
    """Fibre lengths ← static equilibrium at the present positions and activations; all other states are kept."""
    position_stage(m, d, 0)
    for o in range(m.nout):
        output(m, d, o)
    settle_fibres(m, d)


def initial_activations(model: Model, start: Mapping[str, Any]) -> np.ndarray:
    """Initial actuator states [na]: the given ones, with muscle fibres in static equilibrium with their tendons.

    `start`: fields of Data by name, qpos among them; its `act` may hold only MuJoCo's states, others start at 0.
    """
    data = Struct(DATA, data_sizes(model.sizes()))
    for name, value in start.items():
        view = data.views[name]
        (view[: len(value)] if view.ndim else view)[...] = value
    settle(model.struct(), data)
    return data.views["act"][: model.na].copy()
