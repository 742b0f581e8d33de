"""The states that muscles with an elastic tendon begin from."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from saltus.dynamics.actuator.hill_muscle import settle_fibres
from saltus.dynamics.actuator.transmission import output
from saltus.dynamics.smooth import position_stage
from saltus.model.layout import DATA, data_sizes
from saltus.model.model import Model
from saltus.number.kernels import Entry, kernel
from saltus.number.structs import Struct


@kernel
def settle(m, d):
    """Fibres ← their lengths at rest, for the present positions and activations; the rest of the state stays."""
    position_stage(m, d, 0)
    for o in range(m.nout):
        output(m, d, o)
    settle_fibres(m, d)


SETTLE = Entry("settle", "", "settle(m, d)", settle=settle)


def initial_activations(model: Model, start: Mapping[str, Any]) -> np.ndarray:
    """States of actuators [na] at a start: those given, with the fibres of muscles in balance with their tendons.

    `start`: fields of Data by name, qpos among them; its `act` may hold MuJoCo's states alone, others begin at 0.
    """
    data = Struct(DATA, data_sizes(model.sizes()))
    for name, value in start.items():
        view = data.views[name]
        (view[: len(value)] if view.ndim else view)[...] = value
    SETTLE(model.struct(), data)
    return data.views["act"][: model.na].copy()
