"""Cameras, rays, distances, contacts and histories of sensors in the kernels' Model."""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from saltus.model.sensor_enums import (
    CAMERA,
    CAMPROJECTION,
    CONTACT,
    GEOMDIST,
    GEOMFROMTO,
    GEOMNORMAL,
    INSIDESITE,
    ORTHOGRAPHIC,
    RANGEFINDER,
)

GEOMETRY = (RANGEFINDER, CAMPROJECTION, INSIDESITE, GEOMDIST, GEOMNORMAL, GEOMFROMTO)
DISTANCES = (GEOMDIST, GEOMNORMAL, GEOMFROMTO)
RAY_KINDS = (PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX)  # types of geom with ray kernels here


class Sight(NamedTuple):
    """Fields and sizes of the kernels' Model, and the features that they need compiled."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def sight(m: mujoco.MjModel) -> Sight:
    """Fields, sizes and features of cameras, rays, distances, contact sensors and delayed sensors."""
    plain = "mode bodyid targetbodyid projection resolution pos pos0 poscom0 mat0"
    values: dict[str, Any] = {f"cam_{f}": getattr(m, f"cam_{f}") for f in plain.split()}
    mats = np.zeros((m.ncam, 9))
    for mat, quat in zip(mats, m.cam_quat, strict=True):
        mujoco.mju_quat2Mat(mat, quat)
    lenses = [_lens(m, c) for c in range(m.ncam)]
    values |= {
        "cam_mat": mats,
        "cam_quat": m.cam_quat,
        "cam_focal": [lens[:2] for lens in lenses],
        "cam_lens": [lens[2:] for lens in lenses],
        "geom_visible": visible(m),
    }
    return Sight(values, {"ncam": m.ncam}, _features(m))


def visible(m: mujoco.MjModel) -> np.ndarray:
    """Mask of geoms that rays can meet: those with a colour, or material, that is not wholly transparent."""
    colour, material = m.geom_rgba[:, 3] != 0, m.geom_matid
    if m.nmat == 0:
        return colour
    return np.where(material < 0, colour, m.mat_rgba[np.maximum(material, 0), 3] != 0)


def _lens(m, c) -> list[float]:
    """Focal lengths of camera c for projections (pixels) and rays (pixels, or pixels per m), and the rays' centre."""
    width, height = (float(n) for n in m.cam_resolution[c])
    sensor, intrinsic, pixels = m.cam_sensorsize[c], m.cam_intrinsic[c], np.float32(m.cam_resolution[c])
    if sensor.all():  # in single precision, as in MuJoCo
        focal = [float(f) for f in intrinsic[:2] / sensor * pixels]
        centre = [float(f) for f in intrinsic[2:] / sensor * pixels]
    else:
        focal = [0.5 / np.tan(m.cam_fovy[c] * np.pi / 360.0) * height] * 2
        centre = [width / 2.0, height / 2.0]
    if m.cam_projection[c] == ORTHOGRAPHIC:
        extent = float(m.cam_fovy[c])  # height (m) and width of the image; pixels are square only in square images
        return [*focal, width / extent, height / extent, width / 2.0, height / 2.0]
    return [*focal, *focal, *centre]


def _features(m) -> set[str]:
    """Feature keys of the kernels that the model's sensors need."""
    if m.nsensor == 0 or m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR.value:
        return set()
    kinds, features = set(m.sensor_type.tolist()), set()
    if kinds & set(GEOMETRY):
        features.add("sense_geometry")
    if RANGEFINDER in kinds:
        features.add("rangefinder")
        if (visible(m) & ~np.isin(m.geom_type, RAY_KINDS)).any():
            features.add("foreign_ray")
    if kinds & set(DISTANCES):
        features.add("distance")
    if CONTACT in kinds:
        features.add("sense_contact")
    if CAMPROJECTION in kinds or CAMERA in {*m.sensor_objtype, *m.sensor_reftype}:
        features.add("camera")
    if m.sensor_history[:, 0].any():
        features.add("sensor_delay")
    return features
