"""From one simulation to another: the state goes on where it was, under another integrator, step, law or weight."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

ALWAYS = (
    *("time", "qpos", "qvel", "qacc_warmstart", "mocap_pos", "mocap_quat", "userdata", "ctrl"),
    *("qfrc_applied", "xfrc_applied"),
)


def carry(source: "Simulation", target: "Simulation") -> list[str]:
    """Give `target` the state and the inputs of `source`, bit for bit; returns what had to begin anew, in words.

    Both are of the same mechanism; integrator, step, contact law and the values of the model may differ. What an
    integrator remembers of its last step goes along where the other is the same with the same step.
    """
    lost: list[str] = []
    here, there = source._struct.views, target._struct.views
    for name in ALWAYS:
        if here[name].shape == there[name].shape:
            there[name][...] = here[name]
        elif name != "qacc_warmstart":  # where the solver starts from, no part of the state
            lost.append(name)
    if source.act.shape == target.act.shape:
        target.act[:] = source.act
    elif source.act.size:
        lost.append("the states of actuators and controllers")
    if source.control is not None and source.control is target.control:
        target.control_prm[:] = source.control_prm
    if here["history"].size:
        if here["history"].shape == there["history"].shape and source.timestep == target.timestep:
            there["history"][:] = here["history"]
        else:
            lost.append("what delayed controls and sensors remember")
    same = source.integrator.name == target.integrator.name and source.timestep == target.timestep
    target._left = None
    if same and source._remembers and _untouched(source):
        there["memory"][:] = here["memory"]
        target._left = target._state.copy()
    target._computed = None
    return lost


def _untouched(sim: "Simulation") -> bool:
    """Whether the state is the one that the last step left."""
    moved = sim._struct.span("time", "act")
    return sim._left is not None and np.array_equal(sim._state[moved], sim._left[moved])
