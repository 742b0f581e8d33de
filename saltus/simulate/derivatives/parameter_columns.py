"""Parameters by which a step can be differentiated: those of the model and of the controller, and those refused."""

from collections.abc import Iterable

import mujoco

from saltus.contact.counts import NCON
from saltus.contact.pairs import contact_pairs
from saltus.errors import OptionError
from saltus.model.actuator_enums import (
    DYN_DCMOTOR,
    DYN_PID,
    PID_KD,
    PID_KI,
    PID_KP,
    PID_LIMIT,
    PID_ON,
    PID_PARAMETERS,
    PID_RATE,
    PID_TARGET,
    TRN_TENDON,
)
from saltus.model.compile.tendons import parameters
from saltus.model.contact.pair_table import PAIRS, pair_types
from saltus.model.enums import HFIELD, MESH, PLANE, SDF
from saltus.model.features import name_of
from saltus.model.vary.columns import PARAMETERS, Column, columns, parsed
from saltus.model.vary.fields import needs_constants
from saltus.number.structs import Struct
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.coefficients import OF_EACH
from saltus.simulate.laws.control import PID

CONTROL = "control_prm"
LAW = "Hard."  # prefix of coefficients of the hard contact law
_PID = {"kp": PID_KP, "ki": PID_KI, "kd": PID_KD, "target": PID_TARGET, "limit": PID_LIMIT, "target_rate": PID_RATE}
#: Kernels whose contacts have no derivatives by the sizes of the geoms, and a normal that counts as constant.
_SEARCHED = {"convex_pair", "field_pair", "foreign"}
CONSTANT = (
    "the normal of the contact of {}, which is searched, counts as constant; build one of them of spheres, capsules, "
    "ellipsoids or boxes"
)
GEOMETRY = {"body_pos", "body_quat", "jnt_pos", "jnt_axis", "geom_pos", "geom_quat"}  # fields that turn normals
_POWER, _SOLIMP = 4, 5  # place of the power among the numbers of solimp, and their number


def step_columns(engine: Engine, names: Iterable[str]) -> list[Column]:
    """The single numbers that the names mean, in order: of the model, or of the controller in field `CONTROL`.

    Raises:
        OptionError: there is no such parameter, or a step has no derivative by it.
    """
    names = list(names)
    if names and engine.dynamics is not None:
        raise OptionError("parameters: user-defined equations of motion hold the model's numbers as constants")
    found = []
    for name in names:
        field = name.partition("[")[0] if name.startswith(("PID.", LAW)) else parsed(name)[0]
        if field == CONTROL or field.startswith("PID."):
            found += _of_control(engine, name)
        elif field.startswith(LAW):
            found.append(_of_law(engine, name))
        elif field in PARAMETERS:
            found += columns(engine.model, [name])
        elif field.endswith("static_friction"):
            raise OptionError(
                f"{name}: no derivatives are taken by static friction, a number of <custom>; run again with "
                "saltus.static_friction(model, geom, ...) of another coefficient, and divide the difference"
            )
        else:
            there = [] if engine.control is None else [CONTROL]
            there += [f"PID.{gain}" for gain in _PID] if isinstance(engine.control, PID) else []
            there += [f"{LAW}{name}" for name in OF_EACH] if engine.law.name == "hard" else []
            raise OptionError.unknown("parameter", field, [*PARAMETERS, *there])
    _check_model(engine, [column for column in found if column.field in PARAMETERS])
    return found


# ------------------------------------------------------------ controllers


def _of_control(engine: Engine, name: str) -> list[Column]:
    """Parameters of the controller: "PID.kp", "PID.kp[actuator]", "control_prm", "control_prm[3]"."""
    if engine.control is None:
        raise OptionError(f"{name}: the simulation has no controller")
    if not name.startswith("PID."):
        count, (_, places) = len(engine.control.parameters(engine.model)), parsed(name)
        if places and not (len(places) == 1 and places[0].isdigit() and int(places[0]) < count):
            raise OptionError(f"{name}: the controller has {count} parameters")
        return [Column(f"{CONTROL}[{k}]", CONTROL, k) for k in (map(int, places) if places else range(count))]
    field, places = parsed(name.removeprefix("PID."))
    if not isinstance(engine.control, PID):
        raise OptionError(f"{name}: the controller is no saltus.PID; its parameters are {CONTROL}")
    if field not in _PID:
        raise OptionError.unknown("parameter of PID", field, _PID)
    own = engine.control_prm.reshape(-1, PID_PARAMETERS)
    actuators = engine.model.names("actuator")
    there = {actuators[k]: k for k in range(len(actuators)) if own[k, PID_ON] > 0.5}
    for place in places:
        if place not in there or len(places) > 1:
            raise OptionError.unknown(f"controlled actuator in {name}:", place, there)
    chosen = places or list(there)
    if field == "limit" and not all(own[there[x], PID_LIMIT] for x in chosen):
        raise OptionError(f"{name}: there is no limit, and none has a derivative that begins")
    return [Column(f"PID.{field}[{x}]", CONTROL, PID_PARAMETERS * there[x] + _PID[field]) for x in chosen]


# ------------------------------------------------------------ the hard contact law


def _of_law(engine: Engine, name: str) -> Column:
    """A coefficient of `Hard`, for all pairs and limits that have none of their own: "Hard.restitution"."""
    if engine.law.name != "hard":
        raise OptionError(f"{name}: the contact law is {engine.law.name!r}, which has no such number")
    field = name.removeprefix(LAW)
    if field not in OF_EACH:
        raise OptionError.unknown("parameter of Hard", field, list(OF_EACH))
    value = getattr(engine.law, field)
    if value is None:
        raise OptionError(f"{name}: contacts have the friction of the model; its parameter is geom_friction")
    if value == 0.0:
        raise OptionError(f"{name} has no derivative at 0, where its effect would begin with a kink")
    return Column(name, name, 0)


# ------------------------------------------------------------ parameters without derivatives


def _check_model(engine: Engine, chosen: list[Column]) -> None:
    """Raise OptionError if steps have no derivative by any of these numbers, with the reason."""
    struct = engine.model.struct(
        timestep=engine.law_timestep, vary=frozenset(x for column in chosen for x in column.stored_in)
    )
    for column in chosen:
        reason = (
            _without_rows(engine.model.mj_model, column)
            or _of_bodies(engine, struct, column)
            or _of_shapes(engine.model.mj_model, struct, column)
        )
        if reason:
            raise OptionError(f"{column.name} has no derivative here: {reason}")


def _without_rows(m: mujoco.MjModel, column: Column) -> str:
    """Why a number decides on the form of the equations, not on their values; "" if it does not."""
    field, place = column.field, column.place
    if "solimp" in field and place % _SOLIMP == _POWER:
        return "the power of the impedance selects its formula"
    if field.endswith("_frictionloss") and not getattr(m, field)[place]:
        return "without dry friction in the file there is none, and its effect would begin with a kink"
    if _leaves_out(m, field, place):
        return "zero leaves a part of the motor or servo out"
    of_tendon = field == "actuator_armature" and m.actuator_trntype[place] == TRN_TENDON
    if of_tendon and not parameters(m)["tendon_armature"][m.actuator_trnid[place, 0]]:
        return "inertia of a tendon without any would couple joints that are not coupled"
    return ""


def _leaves_out(m: mujoco.MjModel, field: str, place: int) -> bool:
    """Whether a number is zero by which a motor or servo lacks a part, such as its inductance."""
    if field not in ("actuator_dynprm", "actuator_gainprm", "actuator_biasprm"):
        return False
    k = place // getattr(m, field).shape[1]
    return m.actuator_dyntype[k] in (DYN_DCMOTOR, DYN_PID) and getattr(m, field).reshape(-1)[place] == 0


def _of_bodies(engine: Engine, struct: Struct, column: Column) -> str:
    """Why media, deformable bodies or muscles keep a number from being varied; "" if they do not."""
    field, m = column.field, engine.model.mj_model
    features = struct.layout.features
    formed = needs_constants([field])
    if "fluid" in features and (formed and field.startswith(("body", "geom"))):
        return "the shape on which the medium acts is made of it, as a constant"
    if m.nflex and (formed or field.startswith("geom_")):
        return "deformable bodies take it as a constant"
    if engine.model.muscles and field.startswith("actuator_"):
        return "laws of muscles replace those of actuators"
    return ""


def _of_shapes(m: mujoco.MjModel, struct: Struct, column: Column) -> str:
    """Why contacts have no derivative by a geom's size; "" if they have one, or it is no size."""
    if column.field != "geom_size":
        return ""
    geom = column.place // 3
    if m.geom_type[geom] in (MESH, HFIELD, SDF):
        return "its shape is not made from its size"
    first, second, kinds = (struct.views[f"collision_{x}"] for x in ("geom1", "geom2", "kind"))
    for a, b, kind in zip(first.tolist(), second.tolist(), kinds.tolist(), strict=True):
        if geom in (a, b) and PAIRS[pair_types(kind)].kernel in _SEARCHED:
            return (
                f"contacts with {name_of(m, 'GEOM', b if a == geom else a)} are searched, without derivatives by sizes"
            )
    return ""


def constant_normal(name: str, geoms: str) -> OptionError:
    """The error for a parameter that turns a normal which counts as constant; `geoms`: their names."""
    return OptionError(
        f"{name} has no derivative here: the normal of the contact of {geoms}, which is searched, counts as constant"
    )


def touching(m: Struct, d: Struct) -> list[tuple[int, int]]:
    """The geoms of the present contacts; -1 for a deformable body."""
    if not m.nconmax or not d.views["count"][NCON]:
        return []
    sides = contact_pairs(m, d)
    return list(zip(sides.geom1.tolist(), sides.geom2.tolist(), strict=True))


def constant_normals(model: mujoco.MjModel, pairs: Iterable[tuple[int, int]]) -> str:
    """Names of the first pair of geoms whose normal counts as constant in derivatives; "" without one."""
    for geoms in pairs:
        if min(geoms) < 0:
            continue
        first, second = sorted(int(model.geom_type[g]) for g in geoms)
        if PAIRS[first, second].kernel in _SEARCHED and first != PLANE:
            return " and ".join(name_of(model, "GEOM", g) for g in geoms)
    return ""
