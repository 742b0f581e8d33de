"""Memory and compiled loops for the algorithms of one model in one thread."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from saltus.algorithms import loops
from saltus.errors import OptionError
from saltus.model.layout import DATA, data_sizes
from saltus.model.model import Model
from saltus.number.structs import Struct

if TYPE_CHECKING:
    from saltus.number.symbols import SymbolicStruct

KEPT = 32  # models of a thread whose memory is kept


class Loop(NamedTuple):
    """An algorithm for one model: of one state, and of rows of states."""

    one: Callable[..., None]
    rows: Callable[..., None]


class Workspace:
    """A model with memory of its own, and the loops that run on it."""

    def __init__(self, model: Model):
        self.model = model  # which keeps its id from being another's
        m = model.struct()
        d = new_data(model, m)
        self.nq, self.nv, self.nbody = int(model.nq), int(model.nv), int(model.nbody)
        for name, (one, rows) in loops.ALL.items():
            setattr(self, name, Loop(one.bound(m, d), rows.bound(m, d)))


def new_data(model: Model, m: Struct) -> Struct:
    """Memory for the kernels' Model `m` of a model, with mocap bodies where the model puts them."""
    d = Struct(DATA, data_sizes(m.sizes))
    put_mocap(model, d)
    return d


def put_mocap(model: Model, d: "Struct | SymbolicStruct") -> None:
    """Put the mocap bodies where the model has them."""
    mocap = np.flatnonzero(model.body_mocapid >= 0)
    mocap = mocap[np.argsort(model.body_mocapid[mocap])]
    d.fill("mocap_pos", model.body_pos[mocap])
    d.fill("mocap_quat", model.body_quat[mocap])


class _Mine(threading.local):
    def __init__(self) -> None:
        self.workspaces: dict[int, Workspace] = {}


_mine = _Mine()


def workspace(model: Any) -> Workspace:
    """The calling thread's workspace of a model."""
    found = _mine.workspaces.get(id(model))
    if found is None:
        if not isinstance(model, Model):
            raise OptionError(f"algorithms take a model as saltus.load gives it, got {type(model).__name__}")
        while len(_mine.workspaces) >= KEPT:
            del _mine.workspaces[next(iter(_mine.workspaces))]
        found = _mine.workspaces[id(model)] = Workspace(model)
    return found
