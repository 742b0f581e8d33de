"""Readings of chosen sensors that have derivatives, and the sensors that have none."""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.compile.cameras_rays import sight
from saltus.model.model import Model
from saltus.model.sensor_enums import GEOMFROMTO, GEOMNORMAL, PLUGIN, RANGEFINDER, USER
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct


class Readings(NamedTuple):
    """Places [r] of readings in sensordata, and their labels; whether any depends on forces or contacts."""

    places: NDArray[np.int64]
    labels: tuple[str, ...]
    of_forces: bool
    reads_sensors: bool = True
    reads_bodies: bool = False

    def tangents(self, m: Struct, d: Struct) -> NDArray[np.float64]:
        """Tangents [r, NTANGENT] of the readings in a dual Data."""
        return d.views["sensordata"][self.places, 1, :NTANGENT]

    def names(self, m: Struct, d: Struct) -> tuple[str, ...]:
        """Names [r] of the readings."""
        return self.labels


def chosen_readings(model: Model, sensors: Sequence[str] | None) -> Readings:
    """The readings of sensors, by name; None: of all, in the order of the file.

    Raises:
        OptionError: a name is unknown, there are none, or a sensor's readings have no derivatives.
    """
    known = model.names("sensor")
    if not known:
        raise OptionError(
            "linearize_sensors: the model has no sensors; add some to the file, such as <jointpos joint=.../>"
        )
    numbers = list(range(len(known))) if sensors is None else [model.id("sensor", name) for name in sensors]
    if not numbers:
        raise OptionError("linearize_sensors: sensors must name at least one sensor")
    places, names = [], list[str]()
    for s in numbers:
        if reason := why_none(model, s):
            raise OptionError(f"linearize_sensors: sensor {known[s]!r} has no derivatives: {reason}")
        first, count = int(model.sensor_adr[s]), int(model.sensor_dim[s])
        places += range(first, first + count)
        names += [known[s]] if count == 1 else [f"{known[s]}[{i}]" for i in range(count)]
    stages = {int(model.sensor_needstage[s]) for s in numbers}
    return Readings(np.array(places, np.int64), tuple(names), mujoco.mjtStage.mjSTAGE_ACC.value in stages)


def why_none(model: Model, s: int) -> str:
    """Why the readings of sensor s have no derivatives by the present state; "" if they have."""
    kind = int(model.sensor_type[s])
    if model.sensor_delay[s] > 0 or np.any(np.asarray(model.sensor_interval[s]) > 0):
        return "it has a delay or an interval, and reads values of past steps; leave these out"
    if kind in (USER, PLUGIN):
        return "sensors of users and plugins are not simulated, and read zeros; name others in sensors="
    if kind in (GEOMNORMAL, GEOMFROMTO):
        return "nearest points are searched, and how they slide on surfaces is not known; use the distance alone"
    if kind == RANGEFINDER and "foreign_ray" in sight(model.mj_model).features:
        return "rays may meet meshes, height fields or distance fields, whose surfaces are searched"
    return ""
