"""States in Saltus's own memory: a simulation, or lanes with a state each."""

import numpy as np

from saltus.model.layout import DATA, data_sizes
from saltus.number.structs import Struct
from saltus.simulate.engine.initial_state import start_state


def put(sim, state):
    """Write a state and inputs, a dict of arrays, into a simulation."""
    for name, value in state.items():
        getattr(sim, name)[:] = value


def lanes(model, states, **needs):
    """A Data in float64 lanes, `states[k]` in lane k; `needs` as in `data_sizes`."""
    data = Struct(DATA, data_sizes(model.sizes(), **needs), "lane64")
    start = start_state(model, None, model.opt.timestep)
    for name in {"mocap_pos", "mocap_quat"} & start.keys():
        data.fill(name, start[name])
    data.ints[DATA.slot["has_xfrc"]] = any(np.any(s.get("xfrc_applied", 0)) for s in states)
    for lane, state in enumerate(states):
        for name, value in state.items():
            data.views[name][..., lane] = value
    return data


def dense(model, entries):
    """The symmetric matrix [nv, nv] of entries along each dof's ancestors, as kernels keep M."""
    kernel_model = model.struct()
    rows = np.repeat(np.arange(model.nv), kernel_model.M_rownnz)
    full = np.zeros((model.nv, model.nv))
    full[rows, kernel_model.M_colind] = full[kernel_model.M_colind, rows] = entries
    return full
