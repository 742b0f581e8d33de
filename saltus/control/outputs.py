"""Outputs of a linear system about a state: positions and velocities by name, and readings of sensors.

y = C x + D u,   with x = (dq, dv, dw)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import words
from saltus.control.tangent_states import state_names
from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]


def output_matrices(
    who: str, sim: Simulation, outputs: Sequence[str] | str | None, size: int
) -> tuple[Array, Array, list[str]]:
    """C [m, size], D [m, nu] and the names of outputs: degrees of freedom, components of the state, sensors.

    A degree of freedom stands for its position; None: positions of all.

    Raises:
        OptionError: no such output, or a sensor without derivatives.
        EventError: a reading has a kink at the present state.
    """
    model = sim.model
    states, dofs, sensors = state_names(model, size), model.dof_names(), model.names("sensor")
    chosen = list(dofs) if outputs is None else words("outputs", outputs)
    C, D, names = [], [], []
    for name in chosen:
        place = states.index(name) if name in states else dofs.index(name) if name in dofs else None
        if place is not None:
            C.append(np.eye(size)[[place]])
            D.append(np.zeros((1, model.nu)))
            names.append(states[place])
        elif name in sensors:
            found = sim.linearize_sensors([name], parameters=())
            C.append(found.C)
            D.append(found.D)
            names += found.readings
        else:
            raise OptionError.unknown(f"{who}: output", name, [*dofs, *states, *(x for x in sensors if x)])
    if not C:
        raise OptionError(f"{who}: no outputs; name degrees of freedom or sensors")
    return np.vstack(C), np.vstack(D), names
