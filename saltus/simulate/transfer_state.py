"""Transfer of the state between engines with different integrator, timestep, contact law or model values."""

import numpy as np

from saltus.integrate.adaptive.memory import GOING
from saltus.simulate.engine.engine import Engine

ALWAYS = (
    *("time", "qpos", "qvel", "eq_active", "qacc_warmstart", "mocap_pos", "mocap_quat", "userdata", "ctrl"),
    *("qfrc_applied", "xfrc_applied"),
)
ASLEEP = ("tree_asleep", "qpos_asleep", "carried_pos", "carried_quat")  # fields of models whose trees may sleep


def carry(source: Engine, target: Engine) -> list[str]:
    """Copy state and inputs of `source` to `target`, bit for bit; returns names of what could not be copied.

    Both are of the same mechanism; integrator, step, contact law and the values of the model may differ. The memory of
    an integrator is copied if the other one is of the same kind with the same step.
    """
    lost: list[str] = []
    here, there = source.d.views, target.d.views
    for name in ALWAYS:
        if here[name].shape == there[name].shape:
            there[name][...] = here[name]
        elif name != "qacc_warmstart":  # the solver's warm start, not part of the state
            lost.append(name)
    if source.sleeps and target.sleeps:
        for name in ASLEEP:
            there[name][...] = here[name]
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
            lost.append("the histories of delayed controls and sensors")
    if here["plastic"].shape == there["plastic"].shape:
        there["plastic"][:] = here["plastic"]
    same = source.integrator.name == target.integrator.name and source.timestep == target.timestep
    target.left = None
    if same and source.remembers and _untouched(source):
        there["memory"][:] = here["memory"]
        if source.integrator.adaptive:  # slopes are not copied, and those of other values of the model would be wrong
            there["memory"][GOING] = 0.0
        for name in ("slope_matrix", "stage_past"):  # of which a step's result depends within its tolerance
            if here[name].shape == there[name].shape:
                there[name][:] = here[name]
        target.left = target.state.copy()
    target.computed = None
    return lost


def _untouched(engine: Engine) -> bool:
    """Whether the state is the one that the last step left."""
    moved = engine.d.span("time", "act")
    return engine.left is not None and np.array_equal(engine.state[moved], engine.left[moved])
