"""The mechanism: everything that does not change while it moves."""

import copy
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import mujoco
import numpy as np

from saltus.model import features
from saltus.model.actuators import actuators
from saltus.model.constraints import Constraints, constraints
from saltus.model.hill import HillMuscle, count_states, find_muscles
from saltus.model.layout import MODEL, model_layout
from saltus.model.medium import medium
from saltus.model.sensors import sensors
from saltus.model.sight import sight
from saltus.model.tendons import inertia_parents, tendons
from saltus.number.functions import MINVAL
from saltus.number.structs import Struct

SEMANTICS = "mujoco-4.0"
INTEGRATORS = {0: "euler", 1: "RK4", 2: "implicit", 3: "implicitfast", 4: "discrete"}


class Options(SimpleNamespace):
    """Values of <option>: timestep (s), gravity (m/s²), integrator (a name), flags and the rest by MuJoCo's names."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Model is frozen: opt.{name} cannot be assigned")


class Model:
    """A mechanism, frozen. Its fields carry MuJoCo's names: `nq`, `body_mass`, `jnt_axis`, ... and cannot be written.

    `opt` holds the options, `ignored` what the user chose to leave out, `xml` the model as MJCF text (None if the
    source was an MjModel), `initial_key` the keyframe that simulations start from (None: qpos0 at rest), `muscles` the
    laws that replace those of actuators, `changes` the values that are not those of `xml` (see `changed`). Made by
    `saltus.load`.
    """

    def __init__(
        self,
        mj_model: mujoco.MjModel,
        *,
        name: str,
        xml: str | None = None,
        ignored: list[str] | None = None,
        initial_key: int | None = None,
        muscles: Mapping[str, HillMuscle] | None = None,
        changes: Mapping[str, Any] | None = None,
    ):
        self._mj = mj_model
        self._muscles = find_muscles(mj_model, muscles or {})
        self.muscles = MappingProxyType(dict(muscles or {}))
        self.changes = MappingProxyType(dict(changes or {}))
        self._structs: dict[tuple[str, float], Struct] = {}
        self._sensing: dict[Any, Struct] = {}
        self.name, self.xml, self.ignored = name, xml, tuple(ignored or ())
        self.semantics, self.initial_key = SEMANTICS, initial_key
        self.opt = _options(mj_model)

    def __getattr__(self, field: str) -> Any:
        if field.startswith("_"):
            raise AttributeError(field)
        try:
            value = getattr(self._mj, field)
        except AttributeError:
            raise AttributeError(f"Model has no field {field!r}") from None
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        self.__dict__[field] = value
        return value

    def __setattr__(self, field: str, value: Any) -> None:
        if "opt" in self.__dict__:
            raise AttributeError(f"Model is frozen: {field} cannot be assigned")
        super().__setattr__(field, value)

    def __repr__(self) -> str:
        m = self._mj
        left = f", ignoring {len(self.ignored)} features" if self.ignored else ""
        return f"Model({self.name!r}: {m.nbody - 1} bodies, {m.njnt} joints, nq {m.nq}, nv {m.nv}, nu {m.nu}{left})"

    def __reduce__(self):
        laws, changes = dict(self.muscles), dict(self.changes)
        return _rebuild, (self._mj, self.name, self.xml, list(self.ignored), self.initial_key, laws, changes)

    @property
    def na(self) -> int:
        """Number of states of actuators: MuJoCo's, then those of muscles beyond them."""
        return self._mj.na + count_states(self._mj, self._muscles)

    @property
    def mujoco(self) -> mujoco.MjModel:
        """A copy of the compiled MuJoCo model."""
        return copy.copy(self._mj)

    def changed(self, values: Mapping[str, Any]) -> "Model":
        """A copy with other values, {"body_mass[bob]": 3.0, "opt.gravity[2]": -1.62}; see `saltus.model.changed`."""
        from saltus.model.changed import changed

        return changed(self, values)

    def names(self, kind: str) -> list[str]:
        """Names of all objects of a kind ("joint", "body", "actuator", ...), "#i" for nameless ones."""
        count = {"joint": "njnt", "equality": "neq"}.get(kind, f"n{kind}")
        return [features.name_of(self._mj, kind.upper(), i) for i in range(getattr(self._mj, count))]

    def id(self, kind: str, name: str) -> int:
        """Index of the object of a kind with a name; KeyError names those there are."""
        names = self.names(kind)
        if name not in names:
            raise KeyError(f"no {kind} {name!r}; there are: {', '.join(names)}")
        return names.index(name)

    def qpos_names(self) -> list[str]:
        """One label for each of qpos: the joint's name, with .x .y .z .qw .qx .qy .qz where it has several."""
        return self._coordinate_names(("x", "y", "z", "qw", "qx", "qy", "qz"), ("qw", "qx", "qy", "qz"))

    def dof_names(self) -> list[str]:
        """One label for each degree of freedom: the joint's name, with .vx ... .wz where it has several."""
        return self._coordinate_names(("vx", "vy", "vz", "wx", "wy", "wz"), ("wx", "wy", "wz"))

    def _coordinate_names(self, free, ball):
        labels = []
        for name, kind in zip(self.names("joint"), self._mj.jnt_type, strict=True):
            parts = free if kind == 0 else ball if kind == 1 else ()
            labels += [f"{name}.{p}" for p in parts] or [name]
        return labels

    def coordinate_units(self) -> tuple[list[str], list[str]]:
        """SI units of qpos and of qvel."""
        qpos: list[str] = []
        qvel: list[str] = []
        for kind in self._mj.jnt_type:
            qpos += (["m"] * 3 + [""] * 4, [""] * 4, ["m"], ["rad"])[kind]
            qvel += (["m/s"] * 3 + ["rad/s"] * 3, ["rad/s"] * 3, ["m/s"], ["rad/s"])[kind]
        return qpos, qvel

    def sizes(self) -> dict[str, int]:
        """Sizes that fields are made from. nC counts every ancestor, which MuJoCo's leaves out for simple bodies."""
        return dict(self.struct().sizes)

    def struct(self, kind: str = "float64", timestep: float | None = None, control: Any = None) -> Struct:
        """The model as kernels see it, with numbers of a kind: "float64" or "float32".

        `timestep` (s): of the simulation, which bounds the time constants of soft constraints; None: the file's.
        `control`: the word and the number of states of a controller in the time loop (see `saltus.dynamics.control`).
        """
        if control is not None:
            return _controlled(self.struct(kind, timestep), *control)
        key = kind, float(self.opt.timestep if timestep is None else timestep)
        if key not in self._structs:
            constrained = constraints(self._mj, self.left_out, key[1])
            self._structs[key] = _make_struct(self._mj, constrained, self.left_out, self._muscles, kind)
        return self._structs[key]

    def sensing_struct(
        self,
        kind: str = "float64",
        timestep: float | None = None,
        control: Any = None,
        words: frozenset[str] | None = None,
    ) -> Struct:
        """What `struct` gives, with the features that reading the sensors needs and steps do not, or other `words`."""
        key = kind, timestep, control, words
        if key not in self._sensing:
            struct = copy.copy(self.struct(kind, timestep, control))
            if words is None:
                words = frozenset(sensors(self._mj).features | sight(self._mj).features)
            struct.layout = model_layout(struct.layout.features | words)
            self._sensing[key] = struct
        return self._sensing[key]

    @property
    def left_out(self) -> frozenset[str]:
        """Kinds of features that the user chose to leave out."""
        return frozenset(entry.split(":")[0] for entry in self.ignored)


def _rebuild(mj_model, name, xml, ignored, initial_key, muscles, changes):
    laws = dict(muscles=muscles, changes=changes)
    return Model(mj_model, name=name, xml=xml, ignored=ignored, initial_key=initial_key, **laws)


def _options(m: mujoco.MjModel) -> Options:
    values = {}
    for name in dir(m.opt):
        value = getattr(m.opt, name) if not name.startswith("_") else None
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        if isinstance(value, int | float | np.ndarray):
            values[name] = value
    values["integrator"] = INTEGRATORS[int(m.opt.integrator)]
    return Options(**values)


def _make_struct(
    m: mujoco.MjModel,
    constrained: Constraints,
    left_out: frozenset[str],
    muscles: Mapping[int, HillMuscle],
    kind: str,
) -> Struct:
    """Fill the kernels' Model. What flags switch off is zero here."""
    off = lambda bit: bool(m.opt.disableflags & bit.value)  # noqa: E731
    flags = mujoco.mjtDisableBit
    spring, damper = not off(flags.mjDSBL_SPRING), not off(flags.mjDSBL_DAMPER)
    gravity = np.zeros(3) if off(flags.mjDSBL_GRAVITY) else m.opt.gravity
    armature, damping, dampingpoly = _dof_parameters(m)
    gravcomp = m.body_gravcomp.copy() if spring or damper else np.zeros(m.nbody)
    previous = np.arange(m.nbody) - 1
    poses = _attached_poses(m)
    inertia = _body_inertia(m, poses["body_iquat"])
    tied, driven, around, sensed = tendons(m, left_out), actuators(m, muscles), medium(m, poses, left_out), sensors(m)
    seen = sight(m)
    values = {
        **{
            f: getattr(m, f)
            for f in MODEL.fields
            if f.startswith(("body_", "jnt_", "geom_", "site_")) and hasattr(m, f)
        },
        **{f: getattr(m, f) for f in ("qpos0", "qpos_spring", "dof_bodyid", "dof_jntid", "dof_parentid")},
        **_coupled(inertia_parents(m, left_out)),
        "body_lastdof": _last_dofs(m),
        "body_treeend": [int(np.flatnonzero(m.body_rootid == m.body_rootid[b])[-1]) + 1 for b in range(m.nbody)],
        "body_chained": (previous == m.body_parentid) & (m.body_parentid > 0),
        "body_branches": np.isin(np.arange(m.nbody), m.body_parentid[1:][previous[1:] != m.body_parentid[1:]]),
        "body_turned": (m.body_quat != [1, 0, 0, 0]).any(axis=1),
        **poses,
        "body_inertia6": inertia,
        "body_diagonal": (inertia[:, 3:] == 0).all(axis=1),
        "body_inv_subtreemass": [1.0 / x if x > MINVAL else 0.0 for x in m.body_subtreemass],
        "body_gravcomp": gravcomp,
        "jnt_stiffness": m.jnt_stiffness * spring,
        "jnt_stiffnesspoly": m.jnt_stiffnesspoly * spring,
        "jnt_spring": spring * ((m.jnt_stiffness != 0) | (m.jnt_stiffnesspoly != 0).any(axis=1)),
        "jnt_offset": (m.jnt_pos != 0).any(axis=1),
        "geom_turned": (poses["geom_quat"] != [1, 0, 0, 0]).any(axis=1),
        "geom_mat": _matrices(poses["geom_quat"]),
        "site_mat": _matrices(poses["site_quat"]),
        "dof_freebody": _free_body_dofs(m),
        "dof_simple": m.dof_simplenum > 0,
        "dof_leads": _leading_dofs(m),
        "dof_armature": armature,
        "dof_damping": damping * damper,
        "dof_dampingpoly": dampingpoly * damper,
        "opt_gravity": gravity[None],
        **constrained.values,
        **tied.values,
        **driven.values,
        **around.values,
        **sensed.values,
        **seen.values,
    }
    damped = damper and bool(damping.any() or dampingpoly.any())
    implicit = damped and not off(flags.mjDSBL_EULERDAMP)
    sizes = {
        **{s: int(getattr(m, s)) for s in ("nq", "nv", "nu", "na", "nactuator", "nbody", "njnt", "ngeom", "nsite")},
        **{s: int(getattr(m, s)) for s in ("nmocap", "nuserdata")},
        **constrained.sizes,
        **tied.sizes,
        **driven.sizes,
        **around.sizes,
        **sensed.sizes,
        **seen.sizes,
        "nC": len(values["M_colind"]),
        "keep_bodies": int(
            bool(
                constrained.sizes["neq"]
                or (driven.values["out_obj2"] >= 0).any()
                or "tendon_armature" in tied.features
                or "fluid" in around.features
            )
        ),
        "implicit_damping": int(implicit),
        "has_freebody": int(values["dof_freebody"].any()),
        "has_gravcomp": int(bool(gravcomp.any()) and bool(np.any(gravity))),
        "opt_cone": int(m.opt.cone),
        "opt_iterations": int(m.opt.iterations),
        "opt_ls_iterations": int(m.opt.ls_iterations),
        "opt_warmstart": int(not off(flags.mjDSBL_WARMSTART)),
    }
    needed = constrained.features | tied.features | driven.features | around.features
    if "sensor_delay" in seen.features:  # steps read such sensors
        needed = needed | sensed.features | seen.features
    if m.nmocap:
        needed = needed | {"mocap"}
    struct = Struct(model_layout(frozenset(needed)), sizes, kind)
    for name in struct.views:
        if struct.views[name].size:
            struct.fill(name, values[name])
    return struct


def _controlled(base: Struct, word: str, states: int) -> Struct:
    """A copy of the kernels' Model with a controller that has some states."""
    features = base.layout.features | {word, "actuation"} | ({"act"} if states else set())
    sizes = {
        "nact": base.sizes["nact"] + states,
        "ncontrol_state": states,
    }
    struct = Struct(model_layout(frozenset(features)), base.sizes | sizes, base.kind)
    for name, view in struct.views.items():
        view[...] = base.views[name]
    return struct


def _coupled(parents):
    """M's rows: each dof's parents on the way to the root in ascending order, itself last."""
    rows: list[list[int]] = []
    for parent in parents:
        i = len(rows)
        rows.append(([] if parent < 0 else rows[parent]) + [i])
    count = np.array([len(r) for r in rows], int)
    start = np.concatenate([[0], np.cumsum(count)[:-1]]) if rows else count
    return {"M_rownnz": count, "M_rowadr": start, "M_colind": np.array([j for r in rows for j in r], int)}


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
        alone = m.body_jntnum[b] == 1 and m.jnt_type[m.body_jntadr[b]] == 0
        first = m.body_dofadr[b]
        if alone and m.body_subtreemass[b] == m.body_mass[b] and (m.dof_treeid == m.dof_treeid[first]).sum() == 6:
            flag[first : first + 6] = 1
    return flag


def _leading_dofs(m):
    """1 for the first of each set of degrees of freedom whose axes turn together: a hinge, a slide, three rotations."""
    leads = np.zeros(m.nv, int)
    for j in range(m.njnt):
        leads[m.jnt_dofadr[j]] = 1
        if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE.value:
            leads[m.jnt_dofadr[j] + 3] = 1
    return leads


def _dof_parameters(m):
    """Armature, damping and its polynomial of each dof, with what actuators add through their gear."""
    armature, damping, poly = m.dof_armature.copy(), m.dof_damping.copy(), m.dof_dampingpoly.copy()
    joint = (mujoco.mjtTrn.mjTRN_JOINT.value, mujoco.mjtTrn.mjTRN_JOINTINPARENT.value)
    for k in range(m.nactuator):
        if m.actuator_trntype[k] in joint:
            j = m.actuator_trnid[k, 0]
            ndof = (6, 3, 1, 1)[m.jnt_type[j]]
            dofs = slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + ndof)
            square = m.actuator_gear[m.actuator_outadr[k], 0] ** 2
            armature[dofs] += m.actuator_armature[k] * square
            damping[dofs] += m.actuator_damping[k] * square
            poly[dofs] += m.actuator_dampingpoly[k] * square
    return armature, damping, poly
