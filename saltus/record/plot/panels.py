"""Panels of a figure: columns grouped by unit, with a limited number of curves per panel."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.record.table.labels import readable, with_unit

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable

FULL = 7  # columns in one panel where a unit has several panels
ONE_PANEL = 12  # columns of a unit that fit in one panel
MOST = 84  # columns of a unit that get a name each; more share one panel, coloured in order

QUATERNION = re.compile(r"\.q[wxyz]$")
TITLES = {"qpos": "position", "qvel": "velocity", "ctrl": "control", "act": "state of actuators"}
KINDS = {"qpos": "joint", "qvel": "joint", "ctrl": "actuator", "act": "actuator"}


class Panel(NamedTuple):
    """Columns of a group that are drawn together; `title` gives their quantity and unit."""

    group: str
    title: str
    columns: NDArray[np.int64]
    names: list[str]


def panels(trajectory: TrajectoryTable, group: str) -> list[Panel]:
    """The panels of "qpos", "qvel", "ctrl" or "act"; columns of one joint stay together."""
    names = [readable(name, KINDS[group]) for name in trajectory.names[group]]
    found: dict[str, list[int]] = {}
    for k, (name, unit) in enumerate(zip(names, trajectory.units[group], strict=True)):
        quaternion = not unit and QUATERNION.search(name)
        found.setdefault("orientation (quaternion)" if quaternion else with_unit(TITLES[group], unit), []).append(k)
    split = [(title, part) for title, columns in found.items() for part in _parts(columns, names)]
    return [Panel(group, title, np.array(part, np.int64), [names[k] for k in part]) for title, part in split]


def _parts(columns: list[int], names: Sequence[str]) -> Iterator[list[int]]:
    """Panels of the columns of one unit."""
    if len(columns) <= ONE_PANEL or len(columns) > MOST:
        yield columns
        return
    part: list[int] = []
    even = math.ceil(len(columns) / math.ceil(len(columns) / FULL))
    for block in _blocks(columns, names):
        if part and len(part) + len(block) > even:
            yield part
            part = []
        part = part + block
    yield part


def _blocks(columns: list[int], names: Sequence[str]) -> Iterator[list[int]]:
    """Columns of the same joint, whose names differ after the last point."""
    block: list[int] = []
    for k in columns:
        if block and ("." not in names[k] or names[k].rpartition(".")[0] != names[block[0]].rpartition(".")[0]):
            yield block
            block = []
        block.append(k)
    yield block
