"""A recording as an xarray dataset: names as coordinates, units and long names as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.model.event_enums import OPEN, SLIP, STICK
from saltus.record.table.columns import DIMENSIONS, POINTS
from saltus.record.table.events import UNITS
from saltus.record.table.ledger import ACCOUNTS

if TYPE_CHECKING:
    import xarray

    from saltus.record.table.trajectory_table import TrajectoryTable

LONG_NAMES = {
    "time": "time",
    "qpos": "generalized positions",
    "qvel": "generalized velocities",
    "act": "actuator activations",
    "ctrl": "controls",
    "energy": "energy",
    "contact_state": "whether the contact is closed",
    "mocap_pos": "positions of mocap bodies",
    "mocap_quat": "orientations of mocap bodies",
    "contact_mode": "mode of the contact point",
    "contact_force": "contact force on the second geom, in world axes",
    "contact_pos": "position of the contact point",
    "actuation_state": "discrete state of actuation",
    "prescribed_force": "force or torque that a prescribed motion needs",
    "ledger": "energies, and work since the start",
    "tree_asleep": "next of the trees that sleep together; below 0: awake",
    "certificate_error": "estimated error of the generalized positions",
    "certificate_bound": "bound of the error of the generalized positions",
}

# written at a run's end even where they have no entries
_ALWAYS = ("time", "qpos", "qvel", "act", "ctrl", "energy")


def to_dataset(trajectory: TrajectoryTable) -> xarray.Dataset:
    """A recording as an xarray Dataset; see `Trajectory.to_xarray`."""
    import xarray

    variables: dict[str, Any] = {
        "energy": (("time", "energy_kind"), trajectory.energy, _about("energy", "J")),
        "contact_state": (("time", "contact_name"), trajectory.contact_state, _about("contact_state", None)),
    }
    coordinates: dict[str, Any] = {
        "time": ("time", trajectory.time, _about("time", "s")),
        "energy_kind": ("energy_kind", ["potential", "kinetic"]),
        "contact_name": ("contact_name", _text(trajectory.names["contact"])),
    }
    for group in ("qpos", "qvel", "act", "ctrl"):
        dimension, units = f"{group}_name", trajectory.units[group]
        variables[group] = (("time", dimension), getattr(trajectory, group), _about(group, _common_unit(units)))
        coordinates[dimension] = (dimension, _text(trajectory.names[group]))
        coordinates[f"{group}_unit"] = (dimension, _text(units))
    variables.update(_mocap_variables(trajectory, coordinates))
    variables.update(_hybrid_variables(trajectory, coordinates))
    variables.update(_end_variables(trajectory))
    variables.update(_event_variables(trajectory))
    attributes = dict(trajectory.attrs)
    if trajectory.certificate is not None:
        for name in ("error", "bound"):
            values = np.asarray(getattr(trajectory.certificate, name), dtype=np.float64)
            variables[f"certificate_{name}"] = ("time", values, _about(f"certificate_{name}", "rad, m"))
        attributes["certificate"] = str(trajectory.certificate)
    return xarray.Dataset(variables, coordinates, attributes)


def _about(variable: str, unit: str | None) -> dict[str, str]:
    about = {"long_name": LONG_NAMES[variable]}
    return about if unit is None else {**about, "units": unit}


def _common_unit(units: list[str]) -> str:
    """Unit of all columns, or the units that occur, "1" for pure numbers; a coordinate holds each column's unit."""
    return ", ".join(dict.fromkeys(unit or "1" for unit in units)) or "1"


def _text(labels: list[str]) -> np.ndarray:
    return np.array(labels, dtype=np.str_)


def _mocap_variables(trajectory: TrajectoryTable, coordinates: dict[str, Any]) -> dict[str, Any]:
    """Poses of bodies that are moved from outside, where there are any; their names become coordinates."""
    if not trajectory.names["mocap"]:
        return {}
    coordinates["mocap_name"] = ("mocap_name", _text(trajectory.names["mocap"]))
    units = {"mocap_pos": "m", "mocap_quat": "1"}
    return {
        name: (("time", *DIMENSIONS[name]), getattr(trajectory, name), _about(name, unit))
        for name, unit in units.items()
    }


def _hybrid_variables(trajectory: TrajectoryTable, coordinates: dict[str, Any]) -> dict[str, Any]:
    """Variables of contact points, discrete states of actuation, energy ledger and sleep, where there are any."""
    variables = {}
    if trajectory.contact_mode.shape[1]:
        # the CF conventions give meanings of numbers in this form
        flags = {
            "flag_values": np.array([OPEN, STICK, SLIP], np.int8),
            "flag_meanings": "open sticking slipping",
        }
        about = {
            "contact_mode": _about("contact_mode", None) | flags,
            "contact_force": _about("contact_force", "N"),
            "contact_pos": _about("contact_pos", "m"),
        }
        variables |= {name: (("time", *DIMENSIONS[name]), getattr(trajectory, name), about[name]) for name in POINTS}
    if trajectory.actuation_state.shape[1]:
        name = "actuation_state"
        variables[name] = (("time", *DIMENSIONS[name]), trajectory.actuation_state, _about(name, "1"))
        coordinates["actuation_name"] = ("actuation_name", _text(trajectory.names["actuation"]))
    if trajectory.ledger.shape[1]:
        variables["ledger"] = (("time", "account"), trajectory.ledger, _about("ledger", "J"))
        coordinates["account"] = ("account", _text(list(ACCOUNTS[: trajectory.ledger.shape[1]])))
    if trajectory.tree_asleep.shape[1]:
        variables["tree_asleep"] = (("time", "tree_name"), trajectory.tree_asleep, _about("tree_asleep", None))
        coordinates["tree_name"] = ("tree_name", _text(trajectory.names["tree"]))
    if trajectory.prescribed_force.shape[1]:
        about = _about("prescribed_force", "N m or N")
        variables["prescribed_force"] = (("time", "motion_name"), trajectory.prescribed_force, about)
        coordinates["motion_name"] = ("motion_name", _text(trajectory.names["motion"]))
    return variables


def _end_variables(trajectory: TrajectoryTable) -> dict[str, Any]:
    """The row at the run's end, where no sample lies there."""
    if trajectory.end is None:
        return {}
    return {
        f"end_{name}": (DIMENSIONS[name], value, {"long_name": f"{LONG_NAMES[name]} at the end"})
        for name, value in trajectory.end.items()
        if name in _ALWAYS or value.size
    }


def _event_variables(trajectory: TrajectoryTable) -> dict[str, Any]:
    """One variable per field of the events, along `event` and, for vectors, along dimensions of their own."""
    events = trajectory.events
    variables = {}
    for field in events.dtype.names or ():
        values = np.ascontiguousarray(events[field])
        extra = [f"event_{field}_{axis}" for axis in range(1, values.ndim)]
        about = {"long_name": f"{field} of the event", **({"units": UNITS[field]} if field in UNITS else {})}
        variables[f"event_{field}"] = (("event", *extra), values, about)
    return variables
