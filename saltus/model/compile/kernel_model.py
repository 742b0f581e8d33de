"""The kernels' Model: fields of MuJoCo's model, and quantities precomputed from them."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import mujoco
import numpy as np

from saltus.model.compile.actuators import actuators
from saltus.model.compile.cameras_rays import sight
from saltus.model.compile.constraints.constraints import constraints
from saltus.model.compile.constraints.hard import HardLaw, with_hard
from saltus.model.compile.constraints.passing import passing
from saltus.model.compile.drives.capstans import FEATURE as CAPSTAN
from saltus.model.compile.drives.capstans import capstan_values
from saltus.model.compile.fluid import fluid_forces
from saltus.model.compile.hill import HillMuscle
from saltus.model.compile.prescribed import NO_MOTIONS, PrescribedMotions, carriers, prescribed, without_idle
from saltus.model.compile.sensors import sensors
from saltus.model.compile.sleep import NO_SLEEP, sleep
from saltus.model.compile.tendons import inertia_parents, tendons
from saltus.model.compile.tree import FLAGS, attached_poses, bodies, dofs, joints, off, tree_values
from saltus.model.compile.varied import OF_CONTACTS, general_case
from saltus.model.fields.constraint.cone import cone_sizes
from saltus.model.fields.constraint.event import sizes_without_events
from saltus.model.flex.flexes import flexes
from saltus.model.layout import MODEL, model_layout
from saltus.model.semantics.releases import older_features
from saltus.model.tree.particles import uncoupled
from saltus.number.structs import Struct

COUNTS = ("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite", "nmocap", "nuserdata")


class Part(Protocol):
    """One subject's part of the kernels' Model."""

    @property
    def values(self) -> dict[str, Any]: ...

    @property
    def sizes(self) -> dict[str, int]: ...

    @property
    def features(self) -> set[str]: ...


def kernel_model(
    m: mujoco.MjModel,
    timestep: float,
    left_out: frozenset[str],
    muscles: Mapping[int, HillMuscle],
    kind: str,
    vary: frozenset[str] = frozenset(),
    *,
    listed: bool = True,
    sleeps: bool = False,
) -> Struct:
    """The kernels' Model of an MjModel with numbers of a kind, "float64", "float32" or "dual".

    Disabled features are zero.

    `timestep` (s): of the simulation; `left_out`: kinds of features that are ignored; `muscles`: laws that replace
    those of actuators; `vary`: fields that will differ from lane to lane, or by which duals will have tangents (see
    `saltus.model.vary`). `listed`: pairs of geoms that may touch are listed, not found at run time (see
    `saltus.model.compile.constraints.broad`). `sleeps`: trees may fall asleep.
    """
    poses = attached_poses(m)
    own_laws = any(OF_CONTACTS.match(name) for name in vary)
    constrained = constraints(m, left_out, timestep, own_laws=own_laws, listed=listed)
    parts: dict[str, Part] = {
        "constraints": constrained,
        "passing": passing(m, constrained),
        "tendons": tendons(m, left_out),
        "actuators": actuators(m, muscles),
        "fluid": fluid_forces(m, poses, left_out),
        "flexes": flexes(m, left_out),
        "sensors": sensors(m, left_out),
        "sight": sight(m),
    }
    values = _copied(m) | bodies(m, poses) | joints(m) | dofs(m) | tree_values(m, poses)
    values |= _coupled(uncoupled(m, inertia_parents(m, left_out)))
    values["opt_gravity"] = (np.zeros(3) if off(m, FLAGS.mjDSBL_GRAVITY) else m.opt.gravity)[None]
    sizes = {name: int(getattr(m, name)) for name in COUNTS} | sizes_without_events() | cone_sizes(0, 0) | NO_SLEEP
    sizes |= NO_MOTIONS | {"nslip": 0, "nslipJ": 0}
    for part in parts.values():
        values |= part.values
        sizes |= part.sizes
    capstans, slips = capstan_values(m)
    values, sizes = values | capstans, sizes | slips
    counted = {"ntree_body": "tree_body", "nparticle": "particle_body", "ncoupled": "M_coupled", "nC": "M_colind"}
    sizes |= {size: len(values[name]) for size, name in counted.items()}
    sizes |= _options(m) | _switches(m, values) | {"keep_bodies": _keeps_bodies(parts)}
    features = _features(m, parts) | ({CAPSTAN} if capstans else set())
    if sleeps:
        trees = sleep(m, values, sizes)
        values, sizes, features = values | trees.values, sizes | trees.sizes, features | trees.features
    if vary:
        general = general_case(m, vary, values, sizes)
        values, sizes, features = values | general.values, sizes | general.sizes, features | general.features
    if kind == "dual":
        features -= {"vary"}  # whose fields are lanes
    struct = Struct(model_layout(features), sizes, kind)
    for name, view in struct.views.items():
        if view.size:
            struct.fill(name, values[name])
    return struct


class UserLaws(NamedTuple):
    """User-defined laws in the form of the kernels' Model; see `saltus.dynamics.user_laws`."""

    controller: str = ""  # feature key of the controller
    states: int = 0  # number of the controller's states
    equations: str = ""  # feature key of equations of motion
    events: str = ""  # feature key of functions and actions of events
    motions: PrescribedMotions = PrescribedMotions()
    method: str = ""  # feature key of a fixed-step method that locates events
    hard: HardLaw | None = None  # numbers of the hard contact law
    touch: str = ""  # feature key of a contact law
    sleeps: bool = False  # whether trees may fall asleep
    reads: frozenset[str] = frozenset()  # feature keys of fields that the controller reads and steps do not compute


NO_LAWS = UserLaws()


def why_all_pairs(laws: UserLaws, vary: frozenset[str]) -> str:
    """Reason why a simulation needs a list of all pairs of geoms that may touch; "" if it does not."""
    if laws.hard is not None:
        return "hard contact"
    if laws.motions.carriers:
        return "a prescribed motion of a mocap body"
    return "a user-defined contact law" if laws.touch else "fields that vary" if vary else ""


def with_laws(base: Struct, laws: UserLaws) -> Struct:
    """A copy of the kernels' Model with user-defined laws: feature keys, and states at the end of `act`."""
    if laws.hard is not None:
        law = laws.hard._replace(loops=laws.hard.loops and not laws.equations)
        base = with_hard(*without_idle(base, laws.motions, law))
    keys = {laws.controller, "actuation"} if laws.controller else set()
    keys |= {"act"} if laws.states else set()
    keys |= laws.reads | ({laws.equations, laws.events, laws.method, laws.touch} - {""})
    sizes = base.sizes | {"nact": base.sizes["nact"] + laws.states, "ncontrol_state": laws.states}
    if laws.touch:
        sizes |= {"ntouch": base.sizes["nconmax"], "nv_touch": base.sizes["nv"]}
    sizes["keep_bodies"] = max(sizes["keep_bodies"], int(bool(laws.reads)))
    values = dict(base.views)
    for of_motions in (prescribed(base, laws.motions), carriers(base, laws.motions)):
        values, sizes, keys = values | of_motions[0], sizes | of_motions[1], keys | of_motions[2]
    struct = Struct(model_layout(base.layout.features | keys), sizes, base.kind)
    for name, view in struct.views.items():
        if view.size:
            view[...] = values[name]
    return struct


# ---------------------------------------------------------------- sizes, switches, features


def _options(m) -> dict[str, int]:
    return {
        "opt_cone": int(m.opt.cone),
        "opt_iterations": int(m.opt.iterations),
        "opt_ls_iterations": int(m.opt.ls_iterations),
        "opt_refsafe": int(not off(m, FLAGS.mjDSBL_REFSAFE)),
        "opt_multiccd": int(not off(m, FLAGS.mjDSBL_MULTICCD)),
        "opt_warmstart": int(not off(m, FLAGS.mjDSBL_WARMSTART)),
        # as in MuJoCo, which disables all passive forces if springs and dampers are both disabled
        "opt_adhesion": int(not (off(m, FLAGS.mjDSBL_SPRING) and off(m, FLAGS.mjDSBL_DAMPER))),
    }


def _switches(m, values) -> dict[str, int]:
    """Switches that tell whether a step needs to consider a feature at all."""
    own, whole = np.asarray(m.dof_damping), values["dof_damping"]  # without and with that of actuators
    # as in MuJoCo: a joint's negative damping alone stays explicit
    linear = np.any(np.where(whole == own, own > 0, whole != 0))
    damped = bool(linear or np.any(values["dof_dampingpoly"]))
    return {
        "implicit_damping": int(damped and not off(m, FLAGS.mjDSBL_EULERDAMP)),
        "has_freebody": int(values["dof_freebody"].any()),
        "has_gravcomp": int(values["body_gravcomp"].any() and values["opt_gravity"].any()),
    }


def _keeps_bodies(parts) -> int:
    """Whether forces read orientations and velocities of all bodies; else steps keep them only if bodies need them.

    Equalities, actuators between two sites, tendons with inertia, fluid forces, and deformable bodies do.
    """
    between = (parts["actuators"].values["out_obj2"] >= 0).any()
    armed, moved = "tendon_armature" in parts["tendons"].features, "fluid" in parts["fluid"].features
    soft = bool(parts["flexes"].features)
    return int(bool(parts["constraints"].sizes["neq"]) or bool(between) or armed or moved or soft)


def _features(m, parts) -> frozenset[str]:
    """Feature keys that steps need compiled."""
    read = ["constraints", "passing", "tendons", "actuators", "fluid", "flexes"]
    if "sensor_delay" in parts["sight"].features:  # steps read delayed sensors
        read += ["sensors", "sight"]
    words = set().union(*[parts[name].features for name in read])
    words |= older_features(m)
    words |= {"mocap"} if m.nmocap else set()
    return frozenset(words | {"threads"} if words & {"broad", "many_trees"} else words)


# ---------------------------------------------------------------- values


def _copied(m) -> dict[str, Any]:
    """Fields that are copied from MuJoCo."""
    own = ("qpos0", "qpos_spring", "dof_bodyid", "dof_jntid", "dof_parentid")
    shared = [f for f in MODEL.fields if f.startswith(("body_", "jnt_", "geom_", "site_")) and hasattr(m, f)]
    return {f: getattr(m, f) for f in (*shared, *own)}


def _coupled(parents):
    """Rows of M: each dof's ancestors in ascending order, itself last; and rows with more than the diagonal."""
    rows: list[list[int]] = []
    for parent in parents:
        i = len(rows)
        rows.append(([] if parent < 0 else rows[parent]) + [i])
    count = np.array([len(r) for r in rows], int)
    start = np.concatenate([[0], np.cumsum(count)[:-1]]) if rows else count
    columns = np.array([j for r in rows for j in r], int)
    return {"M_rownnz": count, "M_rowadr": start, "M_colind": columns, "M_coupled": np.flatnonzero(count > 1)}
