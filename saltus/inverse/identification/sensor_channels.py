"""Readings of sensors as data of an identification, with their derivatives at one state.

A reading y(x, u, p) changes with parameters p by ∂y/∂x dx/dp + ∂y/∂p. The motion's part dx/dp is exact, and so are the
reading's own derivatives at each sample; where `Simulation.linearize_sensors` refuses them, they are central
differences, which need no further motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.control.tangent_states import State, central_differences, put_state
from saltus.errors import EventError, OptionError
from saltus.model.model import Model
from saltus.model.sensor_enums import CLOCK, CONTACT, INSIDESITE, QUATERNION
from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]


class SensorChannels(NamedTuple):
    """Columns [s] of sensordata that count, their labels, and the names of the sensors, in order."""

    columns: NDArray[np.int64]
    labels: tuple[str, ...]
    names: tuple[str, ...]


NONE = SensorChannels(np.zeros(0, np.int64), (), ())


def sensor_channels(model: Model, names: Sequence[str]) -> SensorChannels:
    """The columns of some sensors, by name.

    Raises:
        OptionError: a sensor has a delay or an interval, reads a quaternion, a time, or what only jumps.
    """
    columns, labels = [], []
    for name in names:
        k = model.id("sensor", name)
        reason = None
        if model.sensor_delay[k] > 0 or np.any(model.sensor_interval[k] > 0):
            reason = "has a delay or an interval"
        elif model.sensor_datatype[k] == QUATERNION:
            reason = "reads a quaternion, whose two signs mean the same; use the axes of the frame"
        elif model.sensor_type[k] in (CLOCK, CONTACT, INSIDESITE):
            reason = "does not change smoothly with the motion"
        if reason is not None:
            raise OptionError(f"identify: sensor {name} {reason}")
        first, count = int(model.sensor_adr[k]), int(model.sensor_dim[k])
        columns += range(first, first + count)
        labels += [f"sensor {name}[{i}]" if count > 1 else f"sensor {name}" for i in range(count)]
    return SensorChannels(np.array(columns, np.int64), tuple(labels), tuple(names))


def reading(sim: Simulation, columns: NDArray[np.int64], state: State, ctrl: Array) -> Array:
    """Readings [s] in a state under controls [nu], which the simulation then has."""
    put_state(sim, state)
    sim.ctrl[:] = ctrl
    return np.array(sim.sensordata)[columns]


def by_state(sim: Simulation, columns: NDArray[np.int64], state: State, ctrl: Array) -> Array:
    """Derivatives of readings [s, 2 nv + na] by the state, on the manifold of positions."""
    size = 2 * sim.model.nv + len(state[2])
    return central_differences(sim.model, state, size, lambda s: reading(sim, columns, s, ctrl))


def exact(sim: Simulation, sensors: SensorChannels, parameters: Sequence[str]) -> tuple[Array, Array] | None:
    """Derivatives of readings [s, 2 nv + na], [s, k] by state and parameters at the present state; None if refused."""
    try:
        found = sim.linearize_sensors(sensors.names, parameters=parameters)
    except (OptionError, EventError):
        return None
    return found.C, found.P
