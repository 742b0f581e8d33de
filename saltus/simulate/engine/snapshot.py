"""Copies of an engine's state, to return to it.

A snapshot is an array: the numbers of the state, then marks, which are hashes of the model, the integrator, the contact
law and its numbers. Snapshots can be stored in any array file of float64, and one of another model is detected. A
checkpoint holds all that further steps depend on, for engines that are known to be of one kind.
"""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager

import numpy as np

from saltus.contact.counts import NUNSOLVED
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.simulate.engine.engine import Engine

LAWS = ("impact_law", "impact_treatment")  # of hard contact; tolerances and dense events are matters of accuracy
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


def peeking(engine: Engine) -> AbstractContextManager[None]:
    """Restore the state, the log of events and the count of failed solves after a block that may change them."""
    return _Peek(engine)


class _Peek:
    """The context of `peeking`: a class, since one of a generator costs more than a small model's step."""

    __slots__ = ("_engine", "_kept")

    def __init__(self, engine: Engine):
        self._engine = engine

    def __enter__(self) -> None:
        engine = self._engine
        self._kept = engine.state.copy(), engine.left, engine.events, int(engine.d.views["count"][NUNSOLVED])

    def __exit__(self, *error: object) -> None:
        engine = self._engine
        engine.state[:], engine.left, engine.events, engine.d.views["count"][NUNSOLVED] = self._kept
        engine.computed = None


def marked(engine: Engine) -> np.ndarray:
    """A copy of the present state, with its marks."""
    return np.append(engine.state, [*marks(engine).values()])


def unmarked(engine: Engine, snapshot: np.ndarray) -> np.ndarray:
    """The state of a snapshot of this engine or one of the same kind; OptionError for any other array."""
    given, expected = np.asarray(snapshot), marks(engine)
    wanted = engine.state.size + len(expected)
    if given.shape != (wanted,):
        raise OptionError(f"the snapshot has {given.size} numbers; this simulation needs {wanted}")
    found, whole = given[-len(expected) :], np.array([*expected.values()])
    rounded = given.dtype == np.float64 and (found == whole.astype(np.float32)).all() and (found != whole).any()
    if rounded or given.dtype != np.float64:
        kept = np.dtype(np.float32) if rounded else given.dtype
        raise OptionError(f"the snapshot was stored in {kept}, which rounds the state; keep its float64")
    different = [what for what, mark, own in zip(expected, found, whole, strict=True) if mark != own]
    if different:
        raise OptionError(
            f"the snapshot is of another {' and '.join(different)} than this simulation; to copy only the state, "
            "assign time, qpos, qvel, act, ..."
        )
    return given[: -len(expected)]


def marks(engine: Engine) -> dict[str, float]:
    """The marks at the end of this engine's snapshots, by what they are of."""
    if "marks" not in engine.memo:
        hard = engine.hard
        found: dict[str, object] = {
            "integrator": engine.integrator.name if engine.remembers else "",
            "contact law": "" if hard is None else engine.law.name,
            "restitution": hard and (hard.restitution, hard.tangential_restitution, hard.limit_restitution),
            "friction of hard contact": hard and hard.friction,
            "law of impacts": hard and [getattr(hard, name) for name in LAWS],
        }
        of_model = {"model": mark_of(engine.model, ())}
        engine.memo["marks"] = of_model | {what: _number(repr(value).encode()) for what, value in found.items()}
    return engine.memo["marks"]


def mark_of(model: Model, remembered: tuple[object, ...]) -> float:
    """A hash of a model and of what else snapshots of a kind must have in common."""
    digest, struct = hashlib.sha256(), model.struct()
    for buffer in (struct.real, struct.ints):
        digest.update(buffer.tobytes())
    for kind in ("joint", "actuator"):
        digest.update(repr(model.names(kind)).encode())
    digest.update(repr((sorted(struct.layout.features), remembered)).encode())
    return _number(digest.digest())


def _number(content: bytes) -> float:
    """A hash that a float64 holds exactly."""
    return float(int.from_bytes(hashlib.sha256(content).digest()[:8], "little") >> (64 - WHOLE))
