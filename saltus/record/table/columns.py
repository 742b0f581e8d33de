"""Columns of a recording: one table of their shapes, types, units, labels, and of how they are read between samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.event_enums import OPEN, SLIP, STICK
from saltus.record.table.ledger import ACCOUNTS

FIXED = {"energy_kind": 2, "axis": 3, "quaternion_part": 4}  # dimensions that have one size in all recordings
LINEAR, JOINTS, SLERP, HELD = "linear", "joints", "slerp", "held"  # ways of reading a column between samples


@dataclass(frozen=True, eq=False)
class Column:
    """A quantity of which a recording holds one row for each sample.

    Attributes:
        name: attribute of `Trajectory`, name in files, and argument of `SampleBuffer.append`.
        text: long name in files.
        dimensions: names of a row's dimensions in files.
        size: argument of `row_shapes` with the size of the first dimension, 0 where recordings lack the column; "" if
            all sizes are fixed.
        unit: of all numbers; None: without one.
        group: key of `Trajectory.names` with the labels of the first dimension; "" without labels of its own.
        units: `Trajectory.units` has a unit for each label of the group.
        labels: labels of the first dimension that are equal in all recordings.
        dtype: type of the numbers; floats are nan where nothing is known.
        between: way of reading between samples: LINEAR, JOINTS (as LINEAR, but for quaternions of joints), SLERP, HELD
            (the sample before); "" if the column is known at samples alone.
        at_end: part of the row at the run's end.
        always: part of a file even without entries.
        about: further attributes in files.
    """

    name: str
    text: str
    dimensions: tuple[str, ...] = ()
    size: str = ""
    unit: str | None = None
    group: str = ""
    units: bool = False
    labels: tuple[str, ...] = ()
    dtype: type = np.float64
    between: str = ""
    at_end: bool = True
    always: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)

    def shape(self, size: int) -> tuple[int, ...]:
        """Shape of a row whose first dimension has a size; ignored if that is fixed."""
        return tuple(FIXED.get(dimension, size) for dimension in self.dimensions)

    @property
    def missing(self) -> float:
        """Number in place of unknown ones."""
        return np.nan if self.dtype is np.float64 else 0


# the CF conventions give meanings of numbers in this form
_MODES = {"flag_values": np.array([OPEN, STICK, SLIP], np.int8), "flag_meanings": "open sticking slipping"}

_STATE = (
    Column("time", "time", unit="s", always=True),
    Column(
        "qpos", "generalized positions", ("qpos_name",), "nq", group="qpos", between=JOINTS, units=True, always=True
    ),
    Column(
        "qvel", "generalized velocities", ("qvel_name",), "nv", group="qvel", between=LINEAR, units=True, always=True
    ),
    Column("act", "actuator activations", ("act_name",), "na", group="act", between=LINEAR, units=True, always=True),
    Column("ctrl", "controls", ("ctrl_name",), "nu", group="ctrl", between=HELD, units=True, always=True),
    Column("energy", "energy", ("energy_kind",), unit="J", labels=("potential", "kinetic"), always=True),
    Column(
        "contact_state",
        "whether the contact is closed",
        ("contact_name",),
        "ncontact",
        group="contact",
        dtype=np.bool_,
        at_end=False,
        always=True,
    ),
)
_MOCAP = (
    Column(
        "mocap_pos",
        "positions of mocap bodies",
        ("mocap_name", "axis"),
        "nmocap",
        unit="m",
        group="mocap",
        between=LINEAR,
    ),
    Column(
        "mocap_quat",
        "orientations of mocap bodies",
        ("mocap_name", "quaternion_part"),
        "nmocap",
        unit="1",
        between=SLERP,
    ),
)
_CONTACT_POINTS = (
    Column("contact_mode", "mode of the contact point", ("contact_name",), "npoint", dtype=np.int8, about=_MODES),
    Column(
        "contact_force",
        "contact force on the second geom, in world axes",
        ("contact_name", "axis"),
        "npoint",
        unit="N",
    ),
    Column("contact_pos", "position of the contact point", ("contact_name", "axis"), "npoint", unit="m"),
)
_OF_FEATURES = (
    Column(
        "actuation_state",
        "discrete state of actuation",
        ("actuation_name",),
        "nactuation",
        unit="1",
        group="actuation",
    ),
    Column("ledger", "energies, and work since the start", ("account",), "nledger", unit="J", labels=ACCOUNTS),
    Column(
        "tree_asleep",
        "next of the trees that sleep together; below 0: awake",
        ("tree_name",),
        "ntree",
        group="tree",
        dtype=np.int32,
        between=HELD,
    ),
    Column(
        "prescribed_force",
        "force or torque that a prescribed motion needs",
        ("motion_name",),
        "nmotion",
        unit="N m or N",
        group="motion",
    ),
    Column(
        "restarts",
        "restarts of the integrator at events and breaks since the start, with its memory (warm) or without (cold)",
        ("restart_kind",),
        "nrestart",
        labels=("warm", "cold"),
        dtype=np.int32,
    ),
    Column(
        "solver_niter",
        "iterations of the constraint solver, its last ones before the sample",
        ("solver_name",),
        "nsolver",
        labels=("constraints",),
        dtype=np.int32,
    ),
    Column("sensordata", "sensor readings", ("sensor_name",), "nsensordata", group="sensor", units=True),
    Column("signals", "signals recorded on request", ("signal_name",), "nsignal", group="signal", units=True),
)

#: The columns of a recording by name. A new one needs a row here, its size (`saltus.simulate.running.run`) and its
#: value (`saltus.simulate.running.fixed_run.sample_row`).
COLUMNS = {column.name: column for column in (*_STATE, *_MOCAP, *_CONTACT_POINTS, *_OF_FEATURES)}

#: Attribute of a recording: shapes of the signals recorded on request, by name, in the order of their numbers.
SIGNALS = "signals"

#: The dimensions of a row of each column.
DIMENSIONS: dict[str, tuple[str, ...]] = {name: column.dimensions for name, column in COLUMNS.items()}

#: Columns of contact points; empty in recordings of pairs of geoms alone.
POINTS = ("contact_mode", "contact_force", "contact_pos")

#: The column whose first dimension the labels of each group describe.
GROUPS: dict[str, str] = {column.group: name for name, column in COLUMNS.items() if column.group}


def row_shapes(**sizes: int) -> dict[str, tuple[int, ...]]:
    """Shape of a sample in each column.

    Sizes, 0 if not given: `nq`, `nv`, `na`, `nu`; `ncontact`: contacts; `nmocap`: mocap bodies; `npoint`: contact
    points with a mode and a force: `ncontact`, or 0 where contacts are pairs of geoms; `nactuation`: discrete states of
    actuation; `nledger`: accounts of a ledger of energy, where one is kept; `ntree`: kinematic trees, where they may
    fall asleep; `nmotion`: joints with prescribed motions; `nrestart`: kinds of restarts, where events are located;
    `nsolver`: 1 where steps of one length solve for constraint forces by iteration; `nsensordata`: sensor readings;
    `nsignal`: numbers recorded on request.

    Raises:
        OptionError: an unknown size.
    """
    known = [*dict.fromkeys(column.size for column in COLUMNS.values() if column.size)]
    if unknown := sizes.keys() - set(known):
        raise OptionError.unknown("size of a recording", min(unknown), known)
    return {name: column.shape(sizes.get(column.size, 0)) for name, column in COLUMNS.items()}


def dtype_of(column: str) -> type:
    """Type of a column's numbers."""
    return COLUMNS[column].dtype


def tables(shapes: Mapping[str, tuple], room: int) -> dict[str, NDArray[Any]]:
    """Arrays for so many samples, by column."""
    return {name: np.empty((room, *shape), dtype=dtype_of(name)) for name, shape in shapes.items()}
