"""Fields that a batch can read and write: their names, places in memory, and the stage that computes them."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.layout import DATA
from saltus.model.model import Model
from saltus.model.sensor_enums import (
    ACTUATORPOS,
    ACTUATORVEL,
    BALLANGVEL,
    BALLQUAT,
    CAMPROJECTION,
    CLOCK,
    INSIDESITE,
    JOINTPOS,
    JOINTVEL,
    MAGNETOMETER,
    ON_FRAMES,
    ON_MOTION,
    ON_NOTHING,
    ON_SUBTREES,
    RANGEFINDER,
    SUBTREECOM,
    TENDONPOS,
    TENDONVEL,
)
from saltus.number.structs import Struct
from saltus.simulate.engine.batch.states import FIELDS
from saltus.simulate.engine.data import CONSTRAINTS, SHOWN, sparse_rows
from saltus.simulate.engine.sensing import BODY_FIELDS

# stages to compute before a field is read; each includes the ones before it, except that SENSORS do not need BODIES,
# and that sensors of motion need positions and velocities alone
STATE, POSITIONS, SMOOTH, FORWARD, BODIES, SENSORS, INVERSE, MOTION_SENSORS = range(8)

STATES = (*FIELDS, "qacc_warmstart")  # fields that can also be written
OF_POSITIONS = (
    *("xpos", "xipos", "subtree_com", "xquat", "xmat", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat"),
    *("site_xpos", "site_xmat", "cinert", "cdof", "ten_length", "ten_J", "actuator_moment"),
    "flexvert_xpos",
)
OF_CONSTRAINTS = ("qacc", "qfrc_constraint")

COMPUTED = frozenset([*SHOWN.split(), "actuator_moment", "sensordata"]) - {*STATES}
READABLE = frozenset([*STATES, *COMPUTED])


def check_name(name: object) -> str:
    """The name of a field that can be read."""
    if isinstance(name, str) and name in CONSTRAINTS:
        raise OptionError(f"{name} differs in size from simulation to simulation; see Batch.contacts for contacts")
    return _among("field", name, READABLE)


def check_state(name: object) -> str:
    """The name of a field of the state or the inputs."""
    return _among("field of the state or the inputs", name, STATES)


def _among(what: str, name: object, known: Collection[str]) -> str:
    if not isinstance(name, str) or name not in known:
        raise OptionError.unknown(what, name, known)
    return name


def stage_of(name: str, m: Struct) -> int:
    """Stage of computation that a field needs before it is read."""
    if name in STATES:
        return STATE
    if name == "sensordata":
        return SENSORS
    if name in BODY_FIELDS:
        return BODIES
    if name == "qfrc_inverse":
        return INVERSE
    gripping = "adhere" in m.layout.features  # moment arms of adhesion are those of contacts
    if name in OF_POSITIONS:
        return FORWARD if gripping and name == "actuator_moment" else POSITIONS
    return FORWARD if gripping or "adhesive" in m.layout.features or name in OF_CONSTRAINTS else SMOOTH


#: Families of sensors, and types of others, that read no forces, accelerations, energies or contacts.
OF_MOTION = frozenset({ON_NOTHING, ON_FRAMES, ON_MOTION, ON_SUBTREES})
JOINTS_AND_RAYS = frozenset(
    (JOINTPOS, JOINTVEL, TENDONPOS, TENDONVEL, ACTUATORPOS, ACTUATORVEL, BALLQUAT, BALLANGVEL, SUBTREECOM)
    + (MAGNETOMETER, CLOCK, RANGEFINDER, CAMPROJECTION, INSIDESITE)
)
#: Features with which forward dynamics changes positions, velocities or what acts before it computes them.
ENTANGLED = frozenset({"adhere", "adhesive", "event", "stepping", "sleep", "prescribed"})


def senses_motion(m: Struct) -> bool:
    """Whether all sensors of a model read positions and velocities alone, so that none needs forward dynamics."""
    sensors = zip(m.views["sensor_family"].tolist(), m.views["sensor_type"].tolist(), strict=True)
    return not (ENTANGLED & m.layout.features) and all(
        family in OF_MOTION or kind in JOINTS_AND_RAYS for family, kind in sensors
    )


class Place(NamedTuple):
    """Place of a field: its rows in the state or in a workspace, and the shape for one simulation."""

    rows: NDArray[np.int64]
    shape: tuple[int, ...]


def place_of(name: str, model: Model, m: Struct, workspace: Struct) -> Place:
    """The rows of a field in a workspace, which begins with those of the state, and the field's MuJoCo shape."""
    if name == "actuator_moment":
        name = "moment"  # nonzero entries; see `dense_moment`
    span = workspace.span(name, name)
    rows, shape = np.arange(span.start, span.stop), DATA.shape(name, workspace.sizes)
    if name == "act_dot":
        rows, shape = rows[: m.nact], (m.nact,)
    if name == "flexvert_xpos":  # without nodes
        rows, shape = rows[: 3 * model.nflexvert], (model.nflexvert, 3)
    if name in ("M", "qLD") and not np.array_equal(model.M_colind, m.M_colind):
        rows = rows[sparse_rows(model, m)]
        shape = rows.shape
    return Place(rows, shape)


def passes(names: Sequence[str], m: Struct) -> list[tuple[int, list[int]]]:
    """Groups of names, by their numbers, that are read together, each after a stage.

    Inverse dynamics and forces of bodies overwrite quantities of forward dynamics, so they form groups of their own.
    Sensors of positions and velocities are read without forward dynamics, if nothing else needs it.
    """
    stages = [stage_of(name, m) for name in names]
    last = max(stages, default=STATE)
    alone: dict[int, list[int]] = {}
    together = []
    for k, (name, stage) in enumerate(zip(names, stages, strict=True)):
        if stage == INVERSE or (name == "cfrc_body" and last >= BODIES):
            alone.setdefault(stage, []).append(k)
        else:
            together.append(k)
    found = {stages[k] for k in together}
    common = max(found, default=STATE)
    if common == SENSORS and found <= {STATE, POSITIONS, SENSORS} and senses_motion(m):
        common = MOTION_SENSORS
    return [(common, together)] * bool(together) + list(alone.items())
