"""Names and units of sensor readings, actuator outputs and other quantities that recordings and the lab show."""

import mujoco

from saltus.model.actuator_enums import TRN_JOINT, TRN_TENDON
from saltus.model.enums import HINGE, SLIDE
from saltus.model.model import Model
from saltus.model.sensor_enums import RANGEFINDER, RAY_DIST

FORCE_ALONG = {"m/s": "N", "rad/s": "N m"}  # unit of a generalised force, by the unit of its velocity
SENSOR_UNITS = {
    "m": "RANGEFINDER FRAMEPOS SUBTREECOM TENDONPOS GEOMDIST GEOMFROMTO TENDONLIMITPOS",
    "m/s": "VELOCIMETER FRAMELINVEL SUBTREELINVEL TENDONVEL TENDONLIMITVEL",
    "m/s²": "ACCELEROMETER FRAMELINACC",
    "rad/s": "GYRO FRAMEANGVEL BALLANGVEL",
    "rad/s²": "FRAMEANGACC",
    "N": "TOUCH FORCE TENDONACTFRC TENDONLIMITFRC",
    "N m": "TORQUE",
    "kg m²/s": "SUBTREEANGMOM",
    "J": "E_POTENTIAL E_KINETIC",
    "s": "CLOCK",
    "T": "MAGNETOMETER",
}
_OF_SENSOR = {
    int(getattr(mujoco.mjtSensor, f"mjSENS_{kind}")): unit
    for unit, kinds in SENSOR_UNITS.items()
    for kind in kinds.split()
}
# sensors of hinges and slides
_OF_JOINT = {
    int(getattr(mujoco.mjtSensor, f"mjSENS_{kind}")): units
    for kinds, units in (
        ("JOINTPOS JOINTLIMITPOS", {HINGE: "rad", SLIDE: "m"}),
        ("JOINTVEL JOINTLIMITVEL", {HINGE: "rad/s", SLIDE: "m/s"}),
        ("JOINTACTFRC JOINTLIMITFRC", {HINGE: "N m", SLIDE: "N"}),
    )
    for kind in kinds.split()
}


def sensor_labels(model: Model) -> tuple[list[str], list[str]]:
    """Names ("name", or "name[k]" where a sensor has several readings) and units of the sensor readings."""
    names, units = [""] * model.nsensordata, [""] * model.nsensordata
    for s, name in enumerate(model.names("sensor")):
        first, count = int(model.sensor_adr[s]), int(model.sensor_dim[s])
        for k in range(count):
            names[first + k] = name if count == 1 else f"{name}[{k}]"
            units[first + k] = _sensor_unit(model, s)
    return names, units


def _sensor_unit(model: Model, s: int) -> str:
    kind = int(model.sensor_type[s])
    if kind in _OF_JOINT:
        return _OF_JOINT[kind].get(int(model.jnt_type[model.sensor_objid[s]]), "")
    if kind == RANGEFINDER and int(model.mj_model.sensor_intprm[s, 0]) & ~RAY_DIST:
        return ""  # distances are not all that it reports
    return _OF_SENSOR.get(kind, "")


def output_labels(model: Model) -> tuple[list[str], list[str]]:
    """Names and units of actuator forces; an actuator may have several."""
    names, units = [], []
    for k, name in enumerate(model.names("actuator")):
        count = int(model.actuator_outnum[k])
        names += [name] if count == 1 else [f"{name}.{i}" for i in range(count)]
        units += [_actuator_unit(model, k)] * count
    return names, units


def _actuator_unit(model: Model, k: int) -> str:
    kind = int(model.actuator_trntype[k])
    if kind == TRN_JOINT:
        return {HINGE: "N m", SLIDE: "N"}.get(int(model.jnt_type[model.actuator_trnid[k, 0]]), "")
    return "N" if kind == TRN_TENDON else ""
