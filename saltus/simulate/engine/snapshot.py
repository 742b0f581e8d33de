"""Copies of an engine's state, to return to it.

A snapshot is an array: the numbers of the state, then a mark, which is a hash of the model, integrator and contact law.
Snapshots can be stored in any array file, and a snapshot of another model is detected. A checkpoint holds all that
further steps depend on, for engines that are known to be of one kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from saltus.contact.counts import NUNSOLVED
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.simulate.engine.engine import Engine

WHOLE = 52  # bits of an integer that a float64 holds exactly


def checkpoint(engine: Engine) -> dict[str, np.ndarray]:
    """A copy of all that further steps depend on: state, inputs, memory of the methods, and the last step's end."""
    return {"state": engine.state.copy()} | ({} if engine.left is None else {"left": engine.left.copy()})


def go_to(engine: Engine, checkpoint: dict[str, np.ndarray]) -> None:
    """Go to a checkpoint of an engine with the same model, integrator and controller; later steps are identical."""
    state = checkpoint["state"]
    if state.shape != engine.state.shape:
        raise OptionError(f"the checkpoint has {state.size} numbers, this state has {engine.state.size}")
    engine.state[:] = state
    engine.left = checkpoint["left"].copy() if "left" in checkpoint else None
    engine.computed = None


@contextmanager
def peeking(engine: Engine) -> Iterator[None]:
    """Restore the state, the log of events and the count of failed solves after a block that may change them."""
    state, left, events = engine.state.copy(), engine.left, engine.events
    count = engine.d.views["count"]
    unsolved = int(count[NUNSOLVED])
    try:
        yield
    finally:
        engine.state[:], engine.left, engine.events = state, left, events
        count[NUNSOLVED] = unsolved
        engine.computed = None


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
        remembered = (
            engine.integrator.name if engine.remembers else "",
            engine.law.name if engine.locates_events or engine.steps_over_events else "",
        )
        engine.memo["mark"] = mark_of(engine.model, remembered)
    return engine.memo["mark"]


def mark_of(model: Model, remembered: tuple[object, ...]) -> float:
    """A hash of a model and of what else snapshots of a kind must have in common."""
    digest, struct = hashlib.sha256(), model.struct()
    for buffer in (struct.real, struct.ints):
        digest.update(buffer.tobytes())
    for kind in ("joint", "actuator"):
        digest.update(repr(model.names(kind)).encode())
    digest.update(repr((sorted(struct.layout.features), remembered)).encode())
    return float(int.from_bytes(digest.digest()[:8], "little") >> (64 - WHOLE))
