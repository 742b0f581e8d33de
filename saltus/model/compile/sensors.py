"""Sensors in the kernels' Model."""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.sensor_enums import (
    ACCELEROMETER,
    CAMPROJECTION,
    CONTACT,
    FORCE,
    FRAMEANGACC,
    FRAMEANGVEL,
    FRAMELINACC,
    FRAMELINVEL,
    FRAMEPOS,
    FRAMEZAXIS,
    GEOMDIST,
    GEOMFROMTO,
    GEOMNORMAL,
    GYRO,
    INSIDESITE,
    JOINTLIMITPOS,
    ON_CONTACTS,
    ON_FORCES,
    ON_FRAMES,
    ON_GEOMETRY,
    ON_JOINTS,
    ON_LIMITS,
    ON_MOTION,
    ON_NOTHING,
    ON_SUBTREES,
    ON_TOUCH,
    PLUGIN,
    RANGEFINDER,
    SUBTREEANGMOM,
    SUBTREELINVEL,
    TACTILE,
    TENDONLIMITFRC,
    TORQUE,
    TOUCH,
    USER,
    VELOCIMETER,
)

# the words for families whose kernels not every model needs compiled
WORDS = {
    ON_LIMITS: "sense_limit",
    ON_FRAMES: "sense_frame",
    ON_MOTION: "sense_motion",
    ON_FORCES: "sense_body",
    ON_SUBTREES: "sense_subtree",
    ON_TOUCH: "sense_touch",
    ON_GEOMETRY: "sense_geometry",
    ON_CONTACTS: "sense_contact",
}
_FAMILIES = {
    **dict.fromkeys(range(JOINTLIMITPOS, TENDONLIMITFRC + 1), ON_LIMITS),
    **dict.fromkeys(range(FRAMEPOS, FRAMEZAXIS + 1), ON_FRAMES),
    **dict.fromkeys((VELOCIMETER, GYRO, FRAMELINVEL, FRAMEANGVEL), ON_MOTION),
    **dict.fromkeys((ACCELEROMETER, FORCE, TORQUE, FRAMELINACC, FRAMEANGACC), ON_FORCES),
    **dict.fromkeys((SUBTREELINVEL, SUBTREEANGMOM), ON_SUBTREES),
    TOUCH: ON_TOUCH,
    **dict.fromkeys((RANGEFINDER, CAMPROJECTION, INSIDESITE, GEOMDIST, GEOMNORMAL, GEOMFROMTO), ON_GEOMETRY),
    **dict.fromkeys((CONTACT, TACTILE), ON_CONTACTS),
    **dict.fromkeys((PLUGIN, USER), ON_NOTHING),
}


class Sensors(NamedTuple):
    """Fields and sizes of the kernels' Model, and the features that reading the sensors needs compiled."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def sensors(m: mujoco.MjModel) -> Sensors:
    """Fields, sizes and features of the sensors; where they are disabled there are none, and their data are zeros."""
    off = bool(m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR.value)
    plain = "type datatype objtype objid reftype refid dim adr cutoff delay intprm historyadr"
    values = {f"sensor_{f}": getattr(m, f"sensor_{f}") for f in plain.split()}
    families = [_FAMILIES.get(int(kind), ON_JOINTS) for kind in m.sensor_type]
    values |= {
        "sensor_family": [ON_NOTHING] * m.nsensor if off else families,
        "sensor_nsample": m.sensor_history[:, 0],
        "sensor_interp": m.sensor_history[:, 1],
        "sensor_interval": np.asarray(m.sensor_interval).reshape(m.nsensor, -1)[:, 0] if m.nsensor else [],
        "opt_magnetic": m.opt.magnetic[None],
    }
    features = set() if off else {WORDS[family] for family in families if family in WORDS}
    sizes = {"nsensor": m.nsensor, "nsensordata": m.nsensordata, "nbody_sense": m.nbody}
    return Sensors(values, sizes, features)
