"""Sensor readings of one simulation and of a batch."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from typing import TYPE_CHECKING

import numpy as np

from saltus.contact.mujoco.rays import attach_sense
from saltus.model.compile.kernel_model import NO_LAWS, why_all_pairs
from saltus.number.kernels import entry
from saltus.number.structs import Struct
from saltus.sense.delay import delayed_readings
from saltus.sense.forces import body_forces
from saltus.sense.sensors import sense as read_sensors
from saltus.sense.subtree import subtree_momenta

if TYPE_CHECKING:
    from saltus.model.compile.kernel_model import UserLaws
    from saltus.model.model import Model

# quantities that MuJoCo computes only for its sensors, here without any
BODY_FIELDS = ("cacc", "cfrc_ext", "cfrc_int", "subtree_linvel", "subtree_angmom")


@entry
def sense(m, d):
    """Compute sensor readings, after `forward`."""
    read_sensors(m, d)
    delayed_readings(m, d)


@entry
def bodies(m, d):
    """Compute accelerations, forces and momenta of bodies, after `forward`."""
    body_forces(m, d)
    subtree_momenta(m, d)


def attach_sensing(model: "Model", struct: Struct) -> None:
    """Give a Data, once, the tables that sensors on meshes need."""
    if "foreign_sense_owner" not in vars(struct):
        attach_sense(model, struct)


def sensordata(model: "Model", timestep: float | None, laws: "UserLaws", struct: Struct) -> np.ndarray:
    """Readings of all sensors [nsensordata] (SI units), in the order of the file, from a Data after `forward`.

    `timestep` (s) limits the time constants of soft constraints.
    """
    attach_sensing(model, struct)
    sense(model.sensing_struct(timestep=timestep, laws=laws), struct)
    return struct.views["sensordata"].copy()


def compute_bodies(model: "Model", timestep: float | None, laws: "UserLaws", struct: Struct) -> None:
    """Accelerations, forces and momenta of all bodies, `BODY_FIELDS`, after `forward`."""
    words = frozenset({"sense_body", "sense_subtree"})
    listed = why_all_pairs(laws, frozenset())  # contacts are those that the Data holds
    contact = NO_LAWS._replace(hard=laws.hard, touch=laws.touch, sleeps=laws.sleeps)
    bodies(model.sensing_struct(timestep=timestep, laws=contact, words=words, listed=listed), struct)


def sensor_place(model: "Model", name: str) -> slice:
    """Slice of a sensor's readings in sensordata; OptionError lists the sensors if the name is unknown."""
    s = model.id("sensor", name)
    return slice(int(model.sensor_adr[s]), int(model.sensor_adr[s] + model.sensor_dim[s]))
