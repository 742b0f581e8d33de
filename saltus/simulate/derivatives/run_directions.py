"""Directions along which runs are differentiated: of the state at the start, of controls, and of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.simulate.derivatives.parameter_columns import step_columns
from saltus.simulate.derivatives.run_tangents import RunTangents
from saltus.simulate.engine.engine import Engine

STATE: tuple[str, ...] = ("qpos", "qvel", "act", "ctrl")  # in the order of directions
Places = dict[str, NDArray[np.int64]]


def direction_counts(engine: Engine) -> dict[str, int]:
    """Numbers of directions of the state and of controls."""
    nv = engine.model.nv
    return dict(zip(STATE, (nv, nv, engine.m.nact, engine.model.nu), strict=True))


def places(names: Sequence[str], counts: Mapping[str, int]) -> Places:
    """The places of each name's directions among all, one name after the other."""
    ends = np.cumsum([0, *(counts[name] for name in names)])
    return {name: np.arange(a, b) for name, a, b in zip(names, ends[:-1], ends[1:], strict=True)}


class Directions:
    """Directions of the names that were asked for, among those of `RunTangents`.

    wanted [K]: their numbers there, name after name. of_wrt: by name, places among these.
    """

    def __init__(self, engine: Engine, running: RunTangents, names: Sequence[str], parameters: Sequence[str]):
        counts = direction_counts(engine) | {name: len(step_columns(engine, [name])) for name in parameters}
        of_name = places(STATE, counts)
        of_parameter = places(parameters, counts)
        of_name |= {name: running.first_parameter + here for name, here in of_parameter.items()}
        self.wanted = np.concatenate([np.zeros(0, int), *(of_name[name] for name in names)]).astype(int)
        self.of_wrt = places(names, counts)
        self.of_parameters = np.concatenate([np.zeros(0, int), *(self.of_wrt[name] for name in parameters)])
