"""Gradients by state, controls and many parameters from those by the accelerations of steps, without their directions.

A parameter of MuJoCo's model acts through fields of the kernels' Model. Gradients by these fields are added up over the
steps of a run (see `saltus.integrate.fixed.euler_adjoint.parameters`), and multiplied with the derivatives of the
fields by the parameters once, at its end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.contact.mujoco.collision import attach
from saltus.integrate.fixed.euler_adjoint.parameters import (
    ARMATURE,
    CHAIN,
    DOFS,
    FRICTIONS,
    LAWS,
    LIMITS,
    MOTORS,
    TENDONS,
)
from saltus.integrate.fixed.euler_adjoint.state import PLACE
from saltus.integrate.fixed.euler_tangents import SUPPORTED
from saltus.model.enums import BALL, FREE
from saltus.model.layout import DATA
from saltus.model.vary.columns import PARAMETERS
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.derivatives.closed_form import acts_in_joints
from saltus.simulate.derivatives.dual_model import DualModel
from saltus.simulate.derivatives.parameter_columns import step_columns
from saltus.simulate.derivatives.run_directions import places
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine

Array = NDArray[np.float64]
Turns = tuple[Array, Array, NDArray[np.int64]]
Entries = tuple[NDArray[np.int64], NDArray[np.int64], Array]
_INPUTS = ("eq_active", "history", "mocap_pos", "mocap_quat", "userdata", "qfrc_applied", "xfrc_applied")
_BODIES = ("body_mass", "body_ipos", "body_inertia6")
_FRAMES = ("body_pos", "body_quat", "jnt_pos", "jnt_axis")
#: Fields that no acceleration of a step depends on: reference points, bounds of searches, frames of sensors.
_UNREAD = {"chain_rotation", "law_reach", "body_iquat", "body_inv_subtreemass", "body_invweight0", "opt_magnetic"}
_UNREAD |= {"cam_pos0", "cam_poscom0", "cam_mat0", "site_mat"}


class StepAdjoint:
    """Gradients by state and controls, and by those of an engine's parameters `names` that need no directions.

    quick [columns]: whether the gradient by a number is found here; the others need directions. columns: the numbers;
    places: those of each name. whole: whether the gradients by state and controls are found here, too.
    """

    def __init__(self, engine: Engine, names: Sequence[str]):
        self._engine, self._model = engine, DualModel(engine, names)
        self.columns, self._m = self._model.columns, self._model.m
        self.places = places(names, {name: len(step_columns(engine, [name])) for name in names})
        entry = loops.run_adjoint(engine.integrator)
        may = entry is not None and self._may()
        if may and self._m.kind != "dual":
            self._m = DualModel(engine, ("opt.gravity",)).m
        self._fields = self._possible() if may else set[str]()
        self.quick = np.array([self._is_quick(k) for k in range(len(self.columns))], bool)
        self._frames = any(self.columns[k].field in _FRAMES for k in np.flatnonzero(self.quick))
        self.whole = may and self._is_whole()
        self._jacobian = self._derivatives_of_fields()
        self._entry, self._arrays = entry, tuple[Array, ...]()

    def _prepare(self) -> None:
        """Make the memory and the loop that goes back."""
        engine = self._engine
        assert self._entry is not None, "an integrator without adjoints has nothing to go back over"
        seeded = [_seeded(self._m, self._fields, group) for group in (0, 1)]
        placed = _placed(self._m)
        sizes, nv = engine.d.sizes, engine.model.nv
        room = {"control_states": sizes["nact_room"] - sizes["nact"], "control_prm": sizes["ncontrol_prm"]}
        self._d = Struct(DATA, engine.integrator.data_sizes(self._m.sizes, tangents=True, **room), "dual")
        attach(engine.model, self._d)
        nbody = engine.model.mj_model.nbody
        shapes = ((6, nbody, 6), (8, nbody, 6), (7, nv, 6), (2, nv), (engine.model.nu,), (nv,), (nv,))
        self._solved, self._arrays = np.zeros((4, nv)), tuple(np.zeros(shape) for shape in shapes)
        self._loop = self._entry.bound(engine.m, engine.d, *seeded, placed, self._d)
        spans = [engine.rows_of(name) for name in ("qpos", "qvel", "act", "ctrl")]
        self._spans = np.array([(x.start, x.stop) for x in spans])

    def goes_alone(self) -> bool:
        """Whether nothing needs directions, so that no matrices of steps are needed on the way back."""
        return self.whole and bool(self.quick.all())

    def begin(self) -> None:
        """Start sums at zero, with the inputs of the engine, which stay the same over the steps."""
        if not self._arrays:
            self._prepare()  # not before: the loop is compiled, which an estimate of costs does not need
        engine, m = self._engine, self._m
        n = {
            name: m.sizes.get(name, 0)
            for name in ("nbody", "nv", "nout", "nlaw", "nlimit", "nfriction", "nchain", "ntendon")
        }
        shapes = ((n["nbody"], 13), (3,), (n["nv"], 9), (n["nout"], 16), (n["nlaw"], 16), (n["nlaw"],))
        shapes += ((n["nlimit"], 4), (n["nfriction"], 2), (n["nchain"],), (1, 10))
        shapes += ((n["ntendon"], len(TENDONS)), (n["nbody"], 6), (engine.model.mj_model.njnt, 6))
        self._found = tuple(np.zeros(shape) for shape in shapes)
        self._d.ints[DATA.slot["has_xfrc"]] = engine.d.ints[DATA.slot["has_xfrc"]]
        self._d.fill("timestep", engine.timestep)
        for name in _INPUTS:
            self._d.fill(name, engine.d.views[name])

    def back(
        self, states: Array, span: tuple[int, int], state: Array, ctrl: Array, at_samples: Array, turns: Turns
    ) -> None:
        """Go back over steps numbered from span[0] up to span[1] (exclusive); gradients by parameters add up.

        states [T, rows]: `Engine.state` at the starts of steps. If `whole`, state [2 nv], the gradient by positions and
        velocities after the last of these steps, becomes that before the first, with at_samples [T, 2 nv] added at the
        starts of steps, and ctrl [nu] grows by that by controls; else both stay. turns: (Jᵀ, R) [T, rotations, 3, 3]
        and degrees of freedom [rotations, 3] of rotations (see `saltus.integrate.adjoints`). Leaves the engine
        elsewhere.
        """
        if not self._arrays:
            self.begin()
        engine = self._engine
        steps = states, self._spans, at_samples, span
        parts = int(self.quick.any()), int(self.whole), int(self._frames)
        rest = self._solved, self._found, self._arrays, parts, engine.timestep, *engine.integrator.parameters
        self._loop(steps, state, ctrl, turns, *rest)
        engine.computed = None

    def gradient(self) -> Array:
        """The gradient [columns], 0 where it is not found here.

        OptionError for a number without a derivative, on which the run depends.
        """
        out, count = np.zeros(len(self.columns)), len(self.columns)
        bars, read = self._by_field(), self._read()
        for name, (here, columns, tangent) in self._jacobian.items():
            bar = bars[name].reshape(-1)[here]
            terms = np.where(bar == 0.0, 0.0, bar * tangent)
            if name in read:
                terms[read[name].reshape(-1)[here] & np.isnan(tangent)] = np.nan
            out += np.bincount(columns, terms, count)
        out[~self.quick] = 0.0
        self._model.check(out[None])
        return out

    def _read(self) -> dict[str, NDArray[np.bool_]]:
        """Numbers that forces of contacts have read, also where a gradient by them is zero, by fields with kinks."""
        acted, dim = self._found[5] > 0.0, self._m.views["law_dim"]
        return {"law_mu": acted, "law_friction": acted[:, None] & (np.arange(5) < dim[:, None] - 1)}

    # ------------------------------------------------------------ which parameters

    def _may(self) -> bool:
        """Whether the engine's steps are such that adjoints know all that acts in them."""
        engine, there = self._engine, self._m.layout.features | self._engine.m.layout.features
        pairs = ("collision_geom1", "collision_geom2")
        alike = all(np.array_equal(self._m.views[name], engine.m.views[name]) for name in pairs)
        given = engine.control is not None or engine.dynamics is not None
        return alike and there <= SUPPORTED and not given and engine.hard is None

    def _possible(self) -> set[str]:
        """Fields of the kernels' Model by which gradients are found here."""
        m, there = self._m, self._m.layout.features | self._engine.m.layout.features
        fields = {name for group in LAWS for name, _ in group} | {name for name, _ in (*LIMITS, *FRICTIONS, *DOFS)}
        fields |= {"dof_armature"} | _UNREAD
        if not m.views["jnt_actgravcomp"].any():
            fields |= {"opt_gravity"} | (set() if m.nparticle else set(_BODIES))
        if "actuation" not in there:
            fields |= {"actuator_dynprm", "actuator_actrange", "actuator_lengthrange", "tendon_actfrcrange"}
            if not m.views["jnt_actfrclimited"].any():
                fields |= {name for group in MOTORS for name, _ in group} | {"jnt_actfrcrange"}
        fields |= {name for name, _ in TENDONS} | (set(_FRAMES) if self._is_whole() else set())
        return fields & set(m.layout.fields)

    def _is_whole(self) -> bool:
        """Whether gradients by state and controls are found here: joints with motors, limits, friction and contacts."""
        m, views = self._m, self._m.views
        own = self._engine.m.layout.features
        features = own | (m.layout.features - {"tendon_force"})  # without any force there is none by state
        limited = views["jnt_actfrclimited"].any() or views["dof_dampingpoly"].any()
        return not limited and acts_in_joints(features, m, self._engine.model)

    def _is_quick(self, k: int) -> bool:
        """Whether the Model depends on column k only through fields by which gradients are found."""
        if self.columns[k].field not in PARAMETERS:
            return False
        tangents, place = self._model.tangents[k // NTANGENT], k % NTANGENT
        if not self._fields:
            return False
        touched = {name for name, tangent in tangents.items() if (tangent[..., place] != 0.0).any()}
        if not touched <= self._fields:
            return False
        fixed = self._engine.m.views["body_lastdof"] < 0
        if any((tangents[name][fixed][..., place] != 0.0).any() for name in touched & set(_FRAMES[:2])):
            return False  # contacts with what is at rest are not moved
        if "qpos_spring" in touched:  # springs of balls have four numbers for three degrees of freedom
            return not (tangents["qpos_spring"][self._turning(), place] != 0.0).any()
        return True

    def _derivatives_of_fields(self) -> dict[str, Entries]:
        """Derivatives of fields by quick columns, where they are not zero: places in the field, columns, values."""
        parts: dict[str, list[Entries]] = {}
        for group, tangents in enumerate(self._model.tangents):
            for name in tangents.keys() & (self._fields - _UNREAD):
                flat = tangents[name].reshape(-1, tangents[name].shape[-1])
                here, columns = np.nonzero(flat * self.quick[NTANGENT * group :][: flat.shape[1]])
                parts.setdefault(name, []).append((here, NTANGENT * group + columns, flat[here, columns]))
        whole: dict[str, Entries] = {}
        for name, entries in parts.items():
            here, columns, values = (np.concatenate(x) for x in zip(*entries, strict=True))
            whole[name] = here, columns, values
        return whole

    def _turning(self) -> NDArray[np.int64]:
        """Places in qpos of free and ball joints with springs."""
        views = self._m.views
        sizes = {FREE: 7, BALL: 4}
        of = zip(views["jnt_type"].tolist(), views["jnt_qposadr"].tolist(), views["jnt_spring"].tolist(), strict=True)
        return np.array([a + k for kind, a, spring in of if spring for k in range(sizes.get(kind, 0))], int)

    # ------------------------------------------------------------ from sums to fields

    def _by_field(self) -> dict[str, Array]:
        """Gradients by fields of the kernels' Model, in their shapes."""
        bodies, gravity, dofs, outputs, laws, _, limits, frictions, chains, _, tendons, places, joints = self._found
        views = self._m.views
        out: dict[str, Array] = {name: np.zeros(views[name].shape[:-2]) for name in self._fields if name not in _UNREAD}
        tables = [(table, NTANGENT * g, laws) for g, table in enumerate(LAWS)]
        tables += [(table, NTANGENT * g, outputs) for g, table in enumerate(MOTORS)]
        tables += [(LIMITS, 0, limits), (FRICTIONS, 0, frictions), (TENDONS, 0, tendons)]
        for table, first, sums in tables:
            for k, (name, place) in enumerate(table):
                if name in out and len(sums) and np.ndim(out[name]) and len(out[name]) == len(sums):
                    out[name].reshape(len(sums), -1)[:, place] += sums[:, first + k]
        out["opt_impratio"] = np.array(laws[:, NTANGENT + LAWS[1].index(("opt_impratio", 0))].sum())
        out["chain_translation"] = chains
        joint = views["dof_jntid"]
        for k, (name, place) in enumerate(DOFS):
            if name == "qpos_spring":
                single = np.isin(views["jnt_type"], (FREE, BALL), invert=True)
                out[name][views["jnt_qposadr"][single]] = dofs[views["jnt_dofadr"][single], k]
            elif name.startswith("jnt"):
                np.add.at(out[name].reshape(len(views["jnt_type"]), -1)[:, place], joint, dofs[:, k])
            else:
                out[name].reshape(len(dofs), -1)[:, place] = dofs[:, k]
        out["dof_armature"] = dofs[:, ARMATURE]
        out["opt_gravity"] = gravity[None]
        out |= dict(zip(_FRAMES, self._of_frames(places, joints), strict=True))
        return out | dict(zip(_BODIES, self._of_bodies(bodies), strict=True))

    def _of_frames(self, places: Array, joints: Array) -> tuple[Array, Array, Array, Array]:
        """Gradients by places and quaternions of bodies, and by places and axes of joints.

        A rotation ε in turned axes changes a quaternion q by q (0, ε/2), and an axis s by ε × s.
        """
        quat, axis = (self._m.views[name][..., 0, 0] for name in ("body_quat", "jnt_axis"))
        w, vector, by_turn = quat[:, :1], quat[:, 1:], places[:, 3:]
        by_vector = w * by_turn + np.cross(vector, by_turn)
        by_quat = 2.0 * np.concatenate([-(vector * by_turn).sum(axis=1, keepdims=True), by_vector], axis=1)
        by_axis: Array = np.asarray(np.cross(joints[:, 3:], axis), float)
        return places[:, :3], by_quat, joints[:, :3], by_axis

    def _of_bodies(self, sums: Array) -> tuple[Array, Array, Array]:
        """Gradients by masses, centres of mass and inertias about these, from those about the origins of frames.

        With the mass m and the centre of mass c, h = m c and I about the origin = I about c + m (c·c 1 - c cᵀ).
        """
        mass, c = (self._m.views[name][..., 0, 0] for name in ("body_mass", "body_ipos"))
        x, y, z = c.T
        of_mass, of_moment = sums[:, 0], sums[:, 1:4]
        xx, xy, yy, xz, yz, zz = sums[:, 4:10].T
        by_mass = of_mass + (of_moment * c).sum(axis=1)
        by_mass += (
            xx * (y * y + z * z) + yy * (x * x + z * z) + zz * (x * x + y * y) - xy * x * y - xz * x * z - yz * y * z
        )
        of_c = np.stack(
            [
                2 * x * (yy + zz) - xy * y - xz * z,
                2 * y * (xx + zz) - xy * x - yz * z,
                2 * z * (xx + yy) - xz * x - yz * y,
            ],
            axis=1,
        )
        return by_mass, mass[:, None] * (of_moment + of_c) + sums[:, 10:], np.stack([xx, yy, zz, xy, xz, yz], axis=1)


def _placed(m: Struct) -> Struct:
    """The Model with tangents along the places of limits and springs."""
    out, single = m.duplicate(), np.isin(m.views["jnt_type"], (FREE, BALL), invert=True)
    out.views["qpos_spring"][m.views["jnt_qposadr"][single], 1, PLACE] = 1.0
    out.views["limit_margin"][:, 1, PLACE] = 1.0
    return out


def _seeded(m: Struct, fields: set[str], group: int) -> Struct:
    """The Model with tangents along a group of directions, each of which many numbers share."""
    out, turning = m.duplicate(), np.isin(m.views["jnt_type"], (FREE, BALL))
    tables = [LAWS[group], MOTORS[group], *([DOFS] if group == 0 else [LIMITS, FRICTIONS, TENDONS])]
    for table in tables:
        for k, (name, place) in enumerate(table):
            view = out.views[name]
            if name not in fields or not view.size:
                continue
            if name == "qpos_spring":
                view[m.views["jnt_qposadr"][~turning], 1, k] = 1.0
            else:
                rows = view.shape[0] if view.ndim > 2 else 1
                view.reshape(rows, -1, 2, NTANGENT)[:, place, 1, k] = 1.0
    return out


assert LAWS[1][CHAIN][0] == "chain_translation"
