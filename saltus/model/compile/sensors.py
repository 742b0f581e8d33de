"""Sensors in the kernels' Model."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.contact.collisions import Pair
from saltus.model.enums import HFIELD, MESH, SDF
from saltus.model.flex.contacts import FlexPair
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
    ON_TAXELS,
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

# feature keys of families whose kernels are compiled only if needed
WORDS = {
    ON_LIMITS: "sense_limit",
    ON_FRAMES: "sense_frame",
    ON_MOTION: "sense_motion",
    ON_FORCES: "sense_body",
    ON_SUBTREES: "sense_subtree",
    ON_TOUCH: "sense_touch",
    ON_GEOMETRY: "sense_geometry",
    ON_CONTACTS: "sense_contact",
    ON_TAXELS: "sense_tactile",
}
_FAMILIES = {
    **dict.fromkeys(range(JOINTLIMITPOS, TENDONLIMITFRC + 1), ON_LIMITS),
    **dict.fromkeys(range(FRAMEPOS, FRAMEZAXIS + 1), ON_FRAMES),
    **dict.fromkeys((VELOCIMETER, GYRO, FRAMELINVEL, FRAMEANGVEL), ON_MOTION),
    **dict.fromkeys((ACCELEROMETER, FORCE, TORQUE, FRAMELINACC, FRAMEANGACC), ON_FORCES),
    **dict.fromkeys((SUBTREELINVEL, SUBTREEANGMOM), ON_SUBTREES),
    TOUCH: ON_TOUCH,
    **dict.fromkeys((RANGEFINDER, CAMPROJECTION, INSIDESITE, GEOMDIST, GEOMNORMAL, GEOMFROMTO), ON_GEOMETRY),
    CONTACT: ON_CONTACTS,
    TACTILE: ON_TAXELS,
    **dict.fromkeys((PLUGIN, USER), ON_NOTHING),
}


class Sensors(NamedTuple):
    """Fields and sizes of the kernels' Model, and the features that reading the sensors needs compiled."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def sensors(m: mujoco.MjModel, left_out: frozenset[str] = frozenset()) -> Sensors:
    """Fields, sizes and features of the sensors; none if sensors are disabled, with zeros for their data.

    Tactile sensors read zeros if their kind of feature is left out.
    """
    off = bool(m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR.value)
    plain = "type datatype objtype objid reftype refid dim adr cutoff delay intprm historyadr"
    values = {f"sensor_{f}": getattr(m, f"sensor_{f}") for f in plain.split()}
    families = [_FAMILIES.get(int(kind), ON_JOINTS) for kind in m.sensor_type]
    if "tactile" in left_out:
        families = [ON_NOTHING if family == ON_TAXELS else family for family in families]
    values |= {
        "sensor_family": [ON_NOTHING] * m.nsensor if off else families,
        "sensor_nsample": m.sensor_history[:, 0],
        "sensor_interp": m.sensor_history[:, 1],
        "sensor_interval": np.asarray(m.sensor_interval).reshape(m.nsensor, -1)[:, 0] if m.nsensor else [],
        "opt_magnetic": m.opt.magnetic[None],
        **_taxels(m),
    }
    features = set() if off else {WORDS[family] for family in families if family in WORDS}
    sizes = {"nsensor": m.nsensor, "nsensordata": m.nsensordata, "nbody_sense": m.nbody}
    sizes["ntaxel"] = len(values["taxel_pos"])
    return Sensors(values, sizes, features)


# ---------------------------------------------------------------- tactile sensors


def _taxels(m) -> dict[str, Any]:
    """The vertices of the meshes of tactile sensors, and tangents there, which are zero where a mesh has none."""
    adr, count = np.zeros(m.nsensor, int), np.zeros(m.nsensor, int)
    pos, tangents = [np.zeros((0, 3))], [np.zeros((0, 6))]
    for s in np.flatnonzero(m.sensor_type == TACTILE):
        mesh = m.sensor_objid[s]
        n, normals = int(m.mesh_vertnum[mesh]), int(m.mesh_normalnum[mesh])
        adr[s], count[s] = sum(len(part) for part in pos), n
        pos.append(m.mesh_vert[m.mesh_vertadr[mesh] :][:n])
        frame = m.mesh_normal[m.mesh_normaladr[mesh] :][:normals]
        tangents.append(frame.reshape(n, 9)[:, 3:] if normals == 3 * n else np.zeros((n, 6)))
    return {
        "sensor_taxeladr": adr,
        "sensor_taxelnum": count,
        "taxel_pos": np.concatenate(pos),
        "taxel_tangents": np.concatenate(tangents),
    }


def unfelt(m: mujoco.MjModel, s: int, pairs: Sequence[Pair], flexible: Sequence[FlexPair]) -> str:
    """Description of an object that tactile sensor s may touch but cannot feel; "" if there is none.

    Meshes without a distance field are not felt, as in MuJoCo. `pairs`, `flexible`: pairs that may touch.
    """
    own = m.body_weldid[m.geom_bodyid] == m.body_weldid[m.geom_bodyid[m.sensor_refid[s]]]
    others = [b if own[a] else a for a, b in ((p.geom1, p.geom2) for p in pairs) if own[a] or own[b]]
    for g in others:
        kind, name = int(m.geom_type[g]), m.geom(g).name or f"#{g}"
        if kind == HFIELD:
            return f"the depth in the height field {name!r}"
        if kind == SDF or (kind == MESH and m.mesh_octadr[m.geom_dataid[g]] >= 0):
            return f"the depth in geom {name!r}, which has a distance field,"
    if any(pair.geom >= 0 and own[pair.geom] for pair in flexible):
        return "the depth in a deformable body"
    return ""
