"""Snapshots: copies of an engine's state with an identification of model, integrator and contact law.

A snapshot is an array: the numbers of the state, then a mark, which is a hash of the model, integrator and contact law.
Snapshots can be stored in any array file, and a snapshot of another model is detected.
"""

from __future__ import annotations

import hashlib

import numpy as np

from saltus.errors import OptionError
from saltus.simulate.engine.engine import Engine

WHOLE = 52  # bits of an integer that a float64 holds exactly


def marked(engine: Engine) -> np.ndarray:
    """A copy of the present state, with its mark."""
    return np.append(engine.state, mark(engine))


def unmarked(engine: Engine, snapshot: np.ndarray) -> np.ndarray:
    """The state of a snapshot of this engine or one of the same kind; OptionError for any other array."""
    given, wanted = np.asarray(snapshot), engine.state.size + 1
    if given.shape != (wanted,):
        raise OptionError(f"the snapshot has {given.size} numbers; this simulation needs {wanted}")
    if given[-1] != mark(engine):
        raise OptionError(
            "the snapshot is of another model, integrator or contact law than this simulation; to copy only the "
            "state, assign time, qpos, qvel, act, ..."
        )
    return given[:-1]


def mark(engine: Engine) -> float:
    """The mark at the end of this engine's snapshots."""
    if "mark" not in engine.memo:
        digest, struct = hashlib.sha256(), engine.model.struct()
        for buffer in (struct.real, struct.ints):
            digest.update(buffer.tobytes())
        for kind in ("joint", "actuator"):
            digest.update(repr(engine.model.names(kind)).encode())
        remembered = (
            engine.integrator.name if engine.remembers else "",
            engine.law.name if engine.locates_events or engine.steps_over_events else "",
        )
        digest.update(repr((sorted(struct.layout.features), remembered)).encode())
        engine.memo["mark"] = float(int.from_bytes(digest.digest()[:8], "little") >> (64 - WHOLE))
    return engine.memo["mark"]
