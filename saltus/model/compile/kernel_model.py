"""The kernels' Model: fields of MuJoCo's model, and quantities precomputed from them."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import mujoco
import numpy as np

from saltus.model.actuator_enums import TRN_JOINT, TRN_JOINTINPARENT
from saltus.model.compile.actuators import actuators
from saltus.model.compile.cameras_rays import sight
from saltus.model.compile.constraints import constraints
from saltus.model.compile.fluid import fluid_forces
from saltus.model.compile.hard import HardLaw, with_hard
from saltus.model.compile.hill import HillMuscle
from saltus.model.compile.sensors import sensors
from saltus.model.compile.tendons import inertia_parents, tendons
from saltus.model.enums import FREE, JOINT_DOFS
from saltus.model.fields.cone import cone_sizes
from saltus.model.fields.event import sizes_without_events
from saltus.model.flex.flexes import flexes
from saltus.model.layout import MODEL, model_layout
from saltus.model.tree.particles import particles, uncoupled
from saltus.number.functions import MINVAL
from saltus.number.structs import Struct

FLAGS = mujoco.mjtDisableBit
COUNTS = ("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite", "nmocap", "nuserdata")


class Part(Protocol):
    """What one subject adds to the kernels' Model."""

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
) -> Struct:
    """The kernels' Model of an MjModel, with numbers of a kind ("float64", "float32"). What flags switch off is zero.

    `timestep` (s): of the simulation; `left_out`: kinds of features that are ignored; `muscles`: laws that replace
    those of actuators.
    """
    poses = _attached_poses(m)
    parts: dict[str, Part] = {
        "constraints": constraints(m, left_out, timestep),
        "tendons": tendons(m, left_out),
        "actuators": actuators(m, muscles),
        "fluid": fluid_forces(m, poses, left_out),
        "flexes": flexes(m, left_out),
        "sensors": sensors(m),
        "sight": sight(m),
    }
    values = _copied(m) | _bodies(m, poses) | poses | _joints(m) | _dofs(m)
    values |= _coupled(uncoupled(m, inertia_parents(m, left_out)))
    values["opt_gravity"] = (np.zeros(3) if _off(m, FLAGS.mjDSBL_GRAVITY) else m.opt.gravity)[None]
    sizes = {name: int(getattr(m, name)) for name in COUNTS} | sizes_without_events() | cone_sizes(0, 0)
    for part in parts.values():
        values |= part.values
        sizes |= part.sizes
    counted = {"ntree_body": "tree_body", "nparticle": "particle_body", "ncoupled": "M_coupled", "nC": "M_colind"}
    sizes |= {size: len(values[name]) for size, name in counted.items()}
    sizes |= _options(m) | _switches(m, values) | {"keep_bodies": _keeps_bodies(parts)}
    struct = Struct(model_layout(_features(m, parts)), sizes, kind)
    for name, view in struct.views.items():
        if view.size:
            struct.fill(name, values[name])
    return struct


class UserLaws(NamedTuple):
    """What a kernels' Model knows of laws that users give; see `saltus.dynamics.user_laws`."""

    controller: str = ""  # its word
    states: int = 0  # of the controller
    equations: str = ""  # their word
    events: str = ""  # the word of functions and actions of events
    method: str = ""  # the word of a method of fixed steps with which events are located
    hard: HardLaw | None = None  # numbers of the hard law of contact
    touch: str = ""  # the word of a law of contact
    reads: frozenset[str] = frozenset()  # feature keys of what the controller reads beyond what steps compute


NO_LAWS = UserLaws()


def with_laws(base: Struct, laws: UserLaws) -> Struct:
    """A copy of the kernels' Model with the user's laws: their feature keys, and their states at the end of `act`."""
    if laws.hard is not None:
        base = with_hard(base, laws.hard)
    keys = {laws.controller, "actuation"} if laws.controller else set()
    keys |= {"act"} if laws.states else set()
    keys |= laws.reads | ({laws.equations, laws.events, laws.method, laws.touch} - {""})
    sizes = base.sizes | {"nact": base.sizes["nact"] + laws.states, "ncontrol_state": laws.states}
    if laws.touch:
        sizes |= {"ntouch": base.sizes["nconmax"], "nv_touch": base.sizes["nv"]}
    sizes["keep_bodies"] = max(sizes["keep_bodies"], int(bool(laws.reads)))
    struct = Struct(model_layout(base.layout.features | keys), sizes, base.kind)
    for name, view in struct.views.items():
        view[...] = base.views[name]
    return struct


def _off(m, flag) -> bool:
    """Whether a flag of the file switches something off."""
    return bool(m.opt.disableflags & flag.value)


# ---------------------------------------------------------------- sizes, switches, features


def _options(m) -> dict[str, int]:
    return {
        "opt_cone": int(m.opt.cone),
        "opt_iterations": int(m.opt.iterations),
        "opt_ls_iterations": int(m.opt.ls_iterations),
        "opt_refsafe": int(not _off(m, FLAGS.mjDSBL_REFSAFE)),
        "opt_warmstart": int(not _off(m, FLAGS.mjDSBL_WARMSTART)),
    }


def _switches(m, values) -> dict[str, int]:
    """Whether there is anything that a step need not look at otherwise."""
    damped = bool(np.any(values["dof_damping"]) or np.any(values["dof_dampingpoly"]))
    return {
        "implicit_damping": int(damped and not _off(m, FLAGS.mjDSBL_EULERDAMP)),
        "has_freebody": int(values["dof_freebody"].any()),
        "has_gravcomp": int(values["body_gravcomp"].any() and values["opt_gravity"].any()),
    }


def _keeps_bodies(parts) -> int:
    """Whether forces read orientations and velocities of all bodies, which steps else keep only where bodies need them.

    Equalities do, actuators between two places, tendons with inertia, fluid forces, and deformable bodies.
    """
    between = (parts["actuators"].values["out_obj2"] >= 0).any()
    armed, moved = "tendon_armature" in parts["tendons"].features, "fluid" in parts["fluid"].features
    soft = bool(parts["flexes"].features)
    return int(bool(parts["constraints"].sizes["neq"]) or bool(between) or armed or moved or soft)


def _features(m, parts) -> frozenset[str]:
    """Feature keys of what steps need compiled."""
    read = ["constraints", "tendons", "actuators", "fluid", "flexes"]
    if "sensor_delay" in parts["sight"].features:  # steps read such sensors
        read += ["sensors", "sight"]
    words = set().union(*[parts[name].features for name in read])
    return frozenset(words | {"mocap"} if m.nmocap else words)


# ---------------------------------------------------------------- values


def _copied(m) -> dict[str, Any]:
    """Fields that are MuJoCo's."""
    own = ("qpos0", "qpos_spring", "dof_bodyid", "dof_jntid", "dof_parentid")
    shared = [f for f in MODEL.fields if f.startswith(("body_", "jnt_", "geom_", "site_")) and hasattr(m, f)]
    return {f: getattr(m, f) for f in (*shared, *own)}


def _bodies(m, poses) -> dict[str, Any]:
    """Masses of bodies, their places in the tree, and how geoms and sites are turned in them."""
    previous = np.arange(m.nbody) - 1
    inertia = _body_inertia(m, poses["body_iquat"])
    forceless = _off(m, FLAGS.mjDSBL_SPRING) and _off(m, FLAGS.mjDSBL_DAMPER)
    alone = particles(m)
    return {
        "tree_body": np.setdiff1d(np.arange(m.nbody), alone),
        "particle_body": alone,
        "body_lastdof": _last_dofs(m),
        "body_treeend": [int(np.flatnonzero(m.body_rootid == m.body_rootid[b])[-1]) + 1 for b in range(m.nbody)],
        "body_chained": (previous == m.body_parentid) & (m.body_parentid > 0),
        "body_branches": np.isin(np.arange(m.nbody), m.body_parentid[1:][previous[1:] != m.body_parentid[1:]]),
        "body_turned": (m.body_quat != [1, 0, 0, 0]).any(axis=1),
        "body_inertia6": inertia,
        "body_diagonal": (inertia[:, 3:] == 0).all(axis=1),
        "body_inv_subtreemass": [1.0 / x if x > MINVAL else 0.0 for x in m.body_subtreemass],
        "body_gravcomp": m.body_gravcomp * (not forceless),
        "geom_turned": (poses["geom_quat"] != [1, 0, 0, 0]).any(axis=1),
        "geom_mat": _matrices(poses["geom_quat"]),
        "site_mat": _matrices(poses["site_quat"]),
    }


def _joints(m) -> dict[str, Any]:
    """Springs of joints, and whether their anchors are away from the bodies' origins."""
    spring = not _off(m, FLAGS.mjDSBL_SPRING)
    return {
        "jnt_stiffness": m.jnt_stiffness * spring,
        "jnt_stiffnesspoly": m.jnt_stiffnesspoly * spring,
        "jnt_spring": spring * ((m.jnt_stiffness != 0) | (m.jnt_stiffnesspoly != 0).any(axis=1)),
        "jnt_offset": (m.jnt_pos != 0).any(axis=1),
    }


def _dofs(m) -> dict[str, Any]:
    """Inertia and dampers of degrees of freedom, and how they belong together."""
    armature, damping, poly = _dof_parameters(m)
    damper = not _off(m, FLAGS.mjDSBL_DAMPER)
    return {
        "dof_freebody": _free_body_dofs(m),
        "dof_simple": m.dof_simplenum > 0,
        "dof_leads": _leading_dofs(m),
        "dof_armature": armature,
        "dof_damping": damping * damper,
        "dof_dampingpoly": poly * damper,
    }


def _coupled(parents):
    """M's rows: each dof's parents on the way to the root in ascending order, itself last; which have more."""
    rows: list[list[int]] = []
    for parent in parents:
        i = len(rows)
        rows.append(([] if parent < 0 else rows[parent]) + [i])
    count = np.array([len(r) for r in rows], int)
    start = np.concatenate([[0], np.cumsum(count)[:-1]]) if rows else count
    columns = np.array([j for r in rows for j in r], int)
    return {"M_rownnz": count, "M_rowadr": start, "M_colind": columns, "M_coupled": np.flatnonzero(count > 1)}


def _last_dofs(m):
    last = np.full(m.nbody, -1)
    for b in range(1, m.nbody):
        own = m.body_dofadr[b] + m.body_dofnum[b] - 1
        last[b] = own if m.body_dofnum[b] else last[m.body_parentid[b]]
    return last


def _attached_poses(m):
    """Poses in their bodies of inertial frames, geoms and sites.

    Frames that coincide to 1e-6 count as equal, as in MuJoCo: its compiler marks them, its kinematics copies the other.
    """
    inertial = _same_frames(m.body_ipos, m.body_iquat, m.body_sameframe, np.zeros((m.nbody, 3)), np.zeros((m.nbody, 4)))
    poses = {"body_ipos": inertial[0], "body_iquat": inertial[1]}
    for kind in ("geom", "site"):
        pos, quat, same, body = (getattr(m, f"{kind}_{f}") for f in ("pos", "quat", "sameframe", "bodyid"))
        pose = _same_frames(pos, quat, same, inertial[0][body], inertial[1][body])
        poses |= {f"{kind}_pos": pose[0], f"{kind}_quat": pose[1]}
    return poses


def _same_frames(pos, quat, same, inertial_pos, inertial_quat):
    """Positions and orientations with those marked as the body's or the inertial frame's replaced by these."""
    marks = mujoco.mjtSameFrame
    body, inertia = same == marks.mjSAMEFRAME_BODY, same == marks.mjSAMEFRAME_INERTIA
    body_turn, inertia_turn = same == marks.mjSAMEFRAME_BODYROT, same == marks.mjSAMEFRAME_INERTIAROT
    pos = np.where(body[:, None], 0.0, np.where(inertia[:, None], inertial_pos, pos))
    quat = np.where((body | body_turn)[:, None], [1.0, 0.0, 0.0, 0.0], quat)
    return pos, np.where((inertia | inertia_turn)[:, None], inertial_quat, quat)


def _matrices(quats):
    """Rotation matrices [n, 9] of quaternions [n, 4]."""
    out = np.zeros((len(quats), 9))
    for row, quat in zip(out, quats, strict=True):
        mujoco.mju_quat2Mat(row, quat)
    return out


def _body_inertia(m, quats):
    """Inertia about each centre of mass in body axes, as xx yy zz xy xz yz [nbody, 6], for principal axes `quats`."""
    out = np.zeros((m.nbody, 6))
    for b, r in enumerate(_matrices(quats).reshape(-1, 3, 3)):
        full = r @ np.diag(m.body_inertia[b]) @ r.T
        out[b] = full[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return out


def _free_body_dofs(m):
    """1 for the degrees of freedom of free bodies that nothing is attached to."""
    flag = np.zeros(m.nv, int)
    for b in range(1, m.nbody):
        alone = m.body_jntnum[b] == 1 and m.jnt_type[m.body_jntadr[b]] == FREE
        first = m.body_dofadr[b]
        if alone and m.body_subtreemass[b] == m.body_mass[b] and (m.dof_treeid == m.dof_treeid[first]).sum() == 6:
            flag[first : first + 6] = 1
    return flag


def _leading_dofs(m):
    """1 for the first of each set of degrees of freedom whose axes turn together: a hinge, a slide, three rotations."""
    leads = np.zeros(m.nv, int)
    for j in range(m.njnt):
        leads[m.jnt_dofadr[j]] = 1
        if m.jnt_type[j] == FREE:
            leads[m.jnt_dofadr[j] + 3] = 1
    return leads


def _dof_parameters(m):
    """Armature, damping and its polynomial of each dof, with what actuators add through their gear."""
    armature, damping, poly = m.dof_armature.copy(), m.dof_damping.copy(), m.dof_dampingpoly.copy()
    for k in range(m.nactuator):
        if m.actuator_trntype[k] in (TRN_JOINT, TRN_JOINTINPARENT):
            j = m.actuator_trnid[k, 0]
            ndof = JOINT_DOFS[m.jnt_type[j]]
            dofs = slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + ndof)
            square = m.actuator_gear[m.actuator_outadr[k], 0] ** 2
            armature[dofs] += m.actuator_armature[k] * square
            damping[dofs] += m.actuator_damping[k] * square
            poly[dofs] += m.actuator_dampingpoly[k] * square
    return armature, damping, poly
