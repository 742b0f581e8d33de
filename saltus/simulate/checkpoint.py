"""All that a run needs in order to go on bit for bit: what of a simulation is not computed anew by its next step."""

from typing import TYPE_CHECKING

import numpy as np

from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation


def take(sim: "Simulation") -> dict[str, np.ndarray]:
    """State and inputs, what the integrator and the constraint solver remember, and what the last step left."""
    fields = {"state": sim._state.copy()}
    if sim._left is not None:
        fields["left"] = sim._left.copy()
    return fields


def put(sim: "Simulation", fields: dict[str, np.ndarray]) -> None:
    """Bring a simulation of the same model, integrator and controller to where another was."""
    if fields["state"].shape != sim._state.shape:
        raise OptionError(f"the checkpoint holds {fields['state'].size} numbers, this state {sim._state.size}")
    sim._state[:] = fields["state"]
    sim._left = fields["left"].copy() if "left" in fields else None
    sim._computed = None
