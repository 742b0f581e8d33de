"""The names of MuJoCo 4.0's module `mujoco.batch`, over `saltus.Batch`.

A program that uses `mujoco.batch` runs on Saltus's engine with one import changed:

    from saltus.compat import mujoco_batch as batch     # from mujoco import batch

State fields from `bind` are views of `state`, whose rows are MuJoCo's state vectors (mjSTATE_INTEGRATION): values
written there take effect at the next call. Derived fields are refreshed by every call, and as in MuJoCo describe the
state before the last substep. `qacc_warmstart` is where Saltus's solver begins.

`expand` gives any field of the model values of its own in each simulation. Simulations that differ in no more than the
fields of `saltus.Batch(vary=...)` move together; those that differ in others, such as `geom_contype` or
`opt.iterations`, are in a batch of their own for each set of values. Values that mj_setConst derives always follow, so
that `set_const` only updates them at once; they are read-only.

Fields that Saltus does not keep, such as `ncon`, `solver_niter` or `geom_xquat`, and `ray` are computed by functions of
MuJoCo at the states of the simulations, one after the other: at MuJoCo's speed, and with the counts of its solver. A
simulation whose state is not finite or beyond 1e10, or that diverges, is counted in `warning` and begins anew, as in
MuJoCo; where the model disables `autoreset`, it is an error. Functions that are installed as MuJoCo's callbacks are
refused.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, whole_number
from saltus.compat import mujoco_forward
from saltus.compat.mujoco_arguments import chosen_simulations, whole_numbers
from saltus.compat.mujoco_engines import Engines
from saltus.compat.mujoco_fields import (
    ACCELERATIONS,
    DATA_FIELDS,
    DERIVED,
    FIXED,
    FOLLOWS,
    MIXED,
    MODEL_FIELDS,
    NONE,
    OF_MUJOCO,
    OF_POSITIONS,
    OF_VELOCITIES,
    POSITIONS,
    STATE_FIELDS,
    VELOCITIES,
    belongs,
    no_data_field,
    no_model_field,
)
from saltus.compat.mujoco_models import (
    CallerModelsError,
    check_structure,
    copy_into,
    differences,
    expandable,
    moving_dofs,
    put,
    put_into,
)
from saltus.compat.mujoco_named import NamedAccess
from saltus.errors import OptionError, SaltusError, warn
from saltus.model.named_places import Places
from saltus.model.vary.fields import value_of

__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]

Item = str | int | mujoco.mjtState
BAD = {"qpos": int(mujoco.mjtWarning.mjWARN_BADQPOS), "qvel": int(mujoco.mjtWarning.mjWARN_BADQVEL)}
BAD_QACC = int(mujoco.mjtWarning.mjWARN_BADQACC)
# fields of the model that a reset reads, besides keyframes
RESETS = {"qpos0", "eq_active0", "body_pos", "body_quat"}


class SimulationError(SaltusError, RuntimeError):
    """Some simulations of a call failed; they keep the state they had before it, the others have run.

    Attributes:
        ids: numbers of the simulations that failed.
    """

    def __init__(self, ids: NDArray[np.int64], message: str):
        self.ids = ids
        super().__init__(message)


class Batch(NamedAccess):
    """`nsim` simulations of a model on `nthread` threads (0: all CPUs), by the names of mujoco.batch.Batch.

    `persistent` makes no difference here: derived fields always are the simulation's own.

    Attributes:
        state [nsim, nstate]: rows of MuJoCo's state vectors.
        warning [nsim, mjNWARNING, 2]: last information and number of MuJoCo's warnings since the last reset.
    """

    def __init__(self, model: mujoco.MjModel, nsim: int, nthread: int = 0, persistent: bool = False):
        _refuse_callbacks()
        self.model, self._persistent = model, bool(persistent)
        self._expanded: dict[str, NDArray[Any]] = {}
        self._derived: dict[str, NDArray[Any]] = {}
        self._constants_set = False
        self._models: mujoco.MjModel | tuple[mujoco.MjModel, ...] | None = None
        self._data = mujoco.MjData(model)  # used for shapes, and states at the start
        self._own: tuple[mujoco.MjModel, mujoco.MjData] | None = None
        self._engines = Engines(model, nsim, whole_number("nthread", nthread) or None, self._expanded)
        self.places = Places(model, self._data)
        sizes = {name: mujoco.mj_stateSize(model, bit) for name, bit in STATE_FIELDS.items()}
        ends = np.cumsum([*sizes.values()]).tolist()
        self._spans = {name: slice(end - sizes[name], end) for name, end in zip(sizes, ends, strict=True)}
        self._bound: dict[str, NDArray[Any]] = {}
        self._errors: dict[int, str] = {}
        self.state: NDArray[np.float64] = np.zeros((nsim, ends[-1]))
        self.state[:] = self._start(-1, 0)
        self.warning: NDArray[np.int32] = np.zeros((nsim, int(mujoco.mjtWarning.mjNWARNING), 2), np.int32)
        warm = self._engines.has("qacc_warmstart")  # not where there are no constraints
        fixed = [name for name in FIXED if name != "plastic" or not self._engines.has("plastic")]  # frames of rods move
        self._moving = [name for name in STATE_FIELDS if name not in fixed and (warm or name != "qacc_warmstart")]
        self._fixed = {name: self.state[0, self._spans[name]].copy() for name in fixed}

    @property
    def nsim(self) -> int:
        """Number of simulations."""
        return len(self.state)

    @property
    def nthread(self) -> int:
        """Number of threads."""
        return self._engines.threads

    @property
    def persistent(self) -> bool:
        """The argument with which the batch was made."""
        return self._persistent

    @property
    def nstate(self) -> int:
        """Length of a row of `state`."""
        return self.state.shape[1]

    @property
    def status(self) -> NDArray[np.int32]:
        """Status of each simulation's last call [nsim], read-only: 1 if it failed, else 0."""
        found = np.isin(np.arange(self.nsim), [*self._errors]).astype(np.int32)
        found.flags.writeable = False
        return found

    def error(self, sim: int) -> str:
        """Error message of a simulation's last call, or ""."""
        return self._errors.get(sim, "")

    # ------------------------------------------------------------ fields

    def bind(self, name: str) -> NDArray[Any]:
        """Live array [nsim, ...] of a field of MjData: a view of the state's rows, or a derived field, read-only."""
        if name in STATE_FIELDS:
            view = self.state[:, self._spans[name]]
            shape = () if name == "time" else getattr(self._data, name).shape
            return view[:, 0] if name == "time" else view.reshape(self.nsim, *shape)
        if name not in DATA_FIELDS:
            raise no_data_field(self._data, name)
        if name not in self._bound:
            example = mujoco_forward.template(self._data, name)
            self._bound[name] = np.zeros((self.nsim, *example.shape), example.dtype)
        return _read_only(self._bound[name])  # the next call would overwrite it

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name in DATA_FIELDS:
            return self.bind(name)
        raise AttributeError(f"Batch has no attribute {name!r}{'' if name[0] == '_' else belongs(name, DATA_FIELDS)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in DATA_FIELDS:
            object.__setattr__(self, name, value)
        elif name in STATE_FIELDS:
            self.bind(name)[...] = value
        else:
            raise OptionError(
                f"{name} is computed by every call and cannot be written; set fields of the state: "
                f"{', '.join(STATE_FIELDS)}"
            )

    # ------------------------------------------------------------ motion

    def step(self, ids: ArrayLike | None = None, nstep: int = 1, stage: int = NONE) -> None:
        """Take `nstep` steps, then compute the stages of mj_forward up to `stage` (mjtStage) at the new state.

        The other derived fields are those of the state before the last step.
        """
        chosen, nstep = chosen_simulations(ids, self.nsim), whole_number("nstep", nstep)
        before, failed = self.state.copy(), {}
        if nstep:
            self._reset_bad(chosen)
        self._push()
        if nstep and self._bound:
            failed = self._advance(chosen, nstep - 1)
            self._refresh(np.setdiff1d(chosen, [*failed]), ACCELERATIONS, stepping=True)
            nstep = 1
        failed |= self._advance(np.setdiff1d(chosen, [*failed]), nstep)
        self.state[[*failed]] = before[[*failed]]
        if stage != NONE:
            self._refresh(np.setdiff1d(chosen, [*failed]), int(stage))
        self._report(chosen, failed)

    def forward(self, ids: ArrayLike | None = None, stage: int = ACCELERATIONS) -> None:
        """Compute the derived fields that are bound, up to `stage` of mj_forward, at the present states."""
        chosen = chosen_simulations(ids, self.nsim)
        self._push()
        failed = {int(i): self._engines.unusable[i] for i in chosen.tolist() if i in self._engines.unusable}
        self._refresh(np.setdiff1d(chosen, [*failed]), int(stage))
        self._report(chosen, failed)

    def reset(self, ids: ArrayLike | None = None, keyframe: ArrayLike = -1, stage: int = ACCELERATIONS) -> None:
        """Go to the model's start (-1) or to keyframes, one for all or one each, then compute stages up to `stage`."""
        chosen = chosen_simulations(ids, self.nsim)
        for i, key in zip(chosen, whole_numbers("keyframe", keyframe, chosen.shape, -1, self.model.nkey), strict=True):
            self.state[i] = self._start(int(key), int(i))
        self.warning[chosen] = 0
        self.forward(chosen, stage)

    def rollout(
        self,
        nstep: int,
        control: ArrayLike | None = None,
        control_spec: int = int(mujoco.mjtState.mjSTATE_CTRL),
        record: Sequence[Item] = ("qpos",),
        ids: ArrayLike | None = None,
        out: dict[Item, NDArray[Any]] | None = None,
    ) -> dict[Item, NDArray[Any]]:
        """Take `nstep` steps and record after each: fields by name, or parts of the state by bits of mjtState.

        `control`: [n, nstep, ...] values of the components of `control_spec`, set before each step. Returns a
        dictionary of arrays [n, nstep, ...], those of `out` where they are given. A simulation that is counted in
        `warning` stops, and its last record is repeated.
        """
        chosen, nstep = chosen_simulations(ids, self.nsim), whole_number("nstep", nstep)
        columns, found = self._columns(int(control_spec)), dict(out or {})
        values = None
        if control is not None:
            values = np.broadcast_to(numbers("control", control), (len(chosen), nstep, len(columns)))
        seen = {item: self._recorded(item) for item in record}
        for item, (shape, dtype, _) in seen.items():
            wanted = (len(chosen), nstep, *shape)
            given = found.setdefault(item, np.zeros(wanted, dtype))
            if given.shape != wanted or given.dtype != dtype:
                raise OptionError(f"out[{item!r}] must be {dtype} with shape {wanted}, not {given.dtype} {given.shape}")
        moving, counted = np.ones(len(chosen), bool), self.warning[chosen, :, 1].copy()
        for k in range(nstep):
            if values is not None:
                self.state[np.ix_(chosen[moving], columns)] = values[moving, k]
            self.step(chosen[moving])
            for item, (_, _, read) in seen.items():
                found[item][:, k] = read()[chosen]
            moving = (self.warning[chosen, :, 1] == counted).all(1)
        return found

    def _recorded(self, item: Item) -> tuple[tuple[int, ...], np.dtype[Any], Any]:
        """Shape and type of what a rollout records of one simulation, and a function that reads all [nsim, ...]."""
        if not isinstance(item, str):
            part = self._columns(int(item))
            return part.shape, np.dtype(float), lambda: self.state[:, part]
        bound = self.bind(item)
        return bound.shape[1:], mujoco_forward.template(self._data, item).dtype, lambda: bound

    # ------------------------------------------------------------ one simulation, points of bodies, rays

    def get_model(self, sim: int, model: mujoco.MjModel | None = None) -> mujoco.MjModel:
        """Return the model of a simulation with its own values: a copy, or the given one of these sizes."""
        i = self._sim(sim)
        own = copy.copy(self.model if self._models is None else self._models_of_each()[i])
        if self._models is None and self._expanded:
            own = put_into(own, self._expanded, i)
        return own if model is None else copy_into(model, own)

    def get_data(self, sim: int, data: mujoco.MjData | None = None) -> mujoco.MjData:
        """Return the state of a simulation in an MjData; run mujoco.mj_forward for derived fields."""
        data = mujoco.MjData(self.model) if data is None else data
        mujoco.mj_setState(self.model, data, self.state[self._sim(sim)], mujoco_forward.STATE)
        return data

    def jac(
        self, body: ArrayLike, point: ArrayLike, ids: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute Jacobians [n, 3, nv] of translation and rotation of points (m, world axes) that move with bodies."""
        chosen, m = chosen_simulations(ids, self.nsim), self.model
        bodies = whole_numbers("body", body, chosen.shape, 0, m.nbody)
        points = np.broadcast_to(numbers("point", point), (len(chosen), 3))
        self._push()
        cdof, com = (np.asarray(x[chosen], float) for x in self._engines.read(("cdof", "subtree_com")))
        turning, moving = cdof[:, :, :3], cdof[:, :, 3:]
        arm = points - com[np.arange(len(chosen)), m.body_rootid[bodies]]
        acts = np.array([moving_dofs(m, b) for b in range(m.nbody)], float).reshape(m.nbody, m.nv)[bodies][:, :, None]
        translation = acts * (moving + np.cross(turning, arm[:, None]))
        return translation.transpose(0, 2, 1), (acts * turning).transpose(0, 2, 1)

    def ray(
        self,
        pnt: ArrayLike,
        vec: ArrayLike,
        geomgroup: ArrayLike | None = None,
        flg_static: bool = True,
        bodyexclude: ArrayLike = -1,
        ids: ArrayLike | None = None,
        normal: bool = False,
    ) -> tuple[NDArray[Any], ...]:
        """Distances and geoms [n, nray] at which rays meet geoms, as mj_ray; -1 for none.

        `pnt` and `vec`: one ray [3], rays that are alike in all simulations [nray, 3], or [n, nray, 3]. `bodyexclude`:
        bodies whose geoms rays pass, or -1. With `normal` also the surfaces' normals [n, nray, 3].
        """
        chosen = chosen_simulations(ids, self.nsim)
        start, along = (np.atleast_2d(numbers(name, x)) for name, x in (("pnt", pnt), ("vec", vec)))
        try:
            count = np.broadcast_shapes(start.shape[:-1], along.shape[:-1])[-1]
            start, along = (np.broadcast_to(x, (len(chosen), count, 3)) for x in (start, along))
        except ValueError:
            raise OptionError(
                f"ray: pnt {start.shape} and vec {along.shape} are no rays of {len(chosen)} simulations"
            ) from None
        exclude = whole_numbers("bodyexclude", bodyexclude, (len(chosen), count), -1, self.model.nbody)
        group = None if geomgroup is None else np.asarray(geomgroup, np.uint8)
        distance, normals = np.zeros((len(chosen), count)), np.zeros((len(chosen), count, 3))
        geoms = np.zeros((len(chosen), count), np.int32)
        for k, i in enumerate(chosen.tolist()):
            rays, hits = (start[k], along[k], exclude[k]), (distance[k], geoms[k], normals[k])
            mujoco_forward.cast(self._model_at(i), self._data, self.state[i], rays, group, bool(flg_static), hits)
        return (distance, geoms, normals) if normal else (distance, geoms)

    # ------------------------------------------------------------ models of their own

    def expand(self, name: str) -> NDArray[Any]:
        """Return a live array [nsim, ...] of a model field ("body_mass", "opt.gravity", ...), values per simulation.

        Values written there take effect at the next call. Fields that mj_setConst derives are read-only.
        """
        if self._models is not None:
            raise CallerModelsError("expand: the simulations have models of the caller (set_models)")
        values = expandable(self.model, name)
        if name in FOLLOWS:
            if name not in self._derived:
                self._derived[name] = np.broadcast_to(values, (self.nsim, *values.shape)).copy()
                self._derive()
            return _read_only(self._derived[name])
        if name not in self._expanded:
            self._expanded[name] = np.broadcast_to(values, (self.nsim, *values.shape)).copy()
        return self._expanded[name]

    def expanded(self, name: str) -> NDArray[Any] | None:
        """Values [nsim, ...] of a field of the model, read-only, or None where they are the same in all simulations."""
        if name not in MODEL_FIELDS:
            raise no_model_field(self.model, name)
        if name in FOLLOWS and self._models is None and (self._constants_set or name in self._derived):
            return self.expand(name)
        return _read_only(self._expanded[name]) if name in self._expanded else None

    def set_const(self, ids: ArrayLike | None = None) -> None:
        """Let values written into model fields take effect at once, with those that mj_setConst derives."""
        if self._models is not None:
            raise CallerModelsError("set_const: the simulations have models of the caller (set_models)")
        chosen = chosen_simulations(ids, self.nsim)
        try:
            self._push_models()
        except OptionError:
            failed = self._without_constants(chosen)
            if not failed:
                raise
            self._report(chosen, failed)
        self._constants_set = True
        self._derive()

    def set_models(self, models: Sequence[mujoco.MjModel] | mujoco.MjModel | None) -> None:
        """Give simulation i the values of models[i], or all simulations those of one model; None: of the batch's model.

        The models must have the sizes, and the structure of addresses and numbers, of the batch's.
        """
        if self._models is None and self._expanded:
            raise CallerModelsError(f"set_models: {', '.join(self._expanded)} have per-simulation values (expand)")
        if models is None or isinstance(models, mujoco.MjModel):
            each = (models or self.model,) * self.nsim
        else:
            models = each = tuple(models)
            if len(each) != self.nsim:
                raise OptionError(f"set_models: one model per simulation is needed, {self.nsim}, not {len(each)}")
        self._expanded = differences(self.model, each)
        self._models = models
        self._push_models()

    @property
    def models(self) -> mujoco.MjModel | tuple[mujoco.MjModel, ...] | None:
        """Argument of the last `set_models`; None: all simulations have the batch's model."""
        return self._models

    # ------------------------------------------------------------ within: models

    def _models_of_each(self) -> tuple[mujoco.MjModel, ...]:
        return self._models if isinstance(self._models, tuple) else (self._models or self.model,) * self.nsim

    def _model_at(self, i: int) -> mujoco.MjModel:
        """The model of a simulation, to be used before the next call of this function."""
        if self._models is not None:
            return self._models_of_each()[i]
        if not self._expanded:
            return self.model
        if self._own is None:
            own = copy.copy(self.model)
            self._own = own, mujoco.MjData(own)
        for name, values in self._expanded.items():
            put(self._own[0], name, values[i])
        mujoco.mj_setConst(*self._own)
        return self._own[0]

    def _derive(self) -> None:
        """Compute the values that mj_setConst derives of those that were asked for."""
        if not self._derived or not self._expanded:
            return
        for i in range(self.nsim):
            own = self._model_at(i)
            for name, values in self._derived.items():
                values[i] = np.asarray(value_of(own, name))[: len(values[i])]

    def _without_constants(self, chosen: NDArray[np.int64]) -> dict[int, str]:
        """Messages of simulations for whose values mj_setConst raises an error."""
        failed = {}
        for i in chosen.tolist():
            try:
                self._model_at(i)
            except mujoco.FatalError as error:
                failed[i] = str(error)
        return failed

    def _push_models(self) -> None:
        """Give the engine the expanded values: in other batches, where those differ that a batch shares."""
        for name, values in self._expanded.items():
            check_structure(name, np.asarray(value_of(self.model, name)), values)
        if not self._engines.hold(self._expanded):
            self._engines = Engines(self.model, self.nsim, self.nthread, self._expanded)
        if self._engines.push_models():
            self._derive()

    # ------------------------------------------------------------ within: states

    def _sim(self, sim: int) -> int:
        if not 0 <= sim < self.nsim:
            raise OptionError(f"sim must be from 0 to {self.nsim - 1}, got {sim}")
        return int(sim)

    def _columns(self, spec: int) -> NDArray[np.int64]:
        """Columns of `state` that belong to bits of mjtState."""
        spans = [self._spans[name] for name, bit in STATE_FIELDS.items() if int(bit) & spec]
        return np.concatenate([np.zeros(0, np.int64), *(np.arange(s.start, s.stop) for s in spans)])

    def _start(self, key: int, sim: int) -> NDArray[np.float64]:
        """State of a simulation at a keyframe, or at its model's start."""
        own = self._models is not None or any(name in RESETS or name.startswith("key_") for name in self._expanded)
        m = self._model_at(sim) if own else self.model
        if key < 0:
            mujoco.mj_resetData(m, self._data)
        else:
            mujoco.mj_resetDataKeyframe(m, self._data, key)
        row = np.zeros(mujoco.mj_stateSize(m, mujoco_forward.STATE))
        mujoco.mj_getState(m, self._data, row, mujoco_forward.STATE)
        return row

    def _push(self) -> None:
        """Write the rows, and the expanded fields, into the engine's states and models."""
        _refuse_callbacks()
        self._push_models()
        self._push_states()

    def _push_states(self) -> None:
        self._engines.restart_failed()
        for name, values in self._fixed.items():
            if np.any(self.state[:, self._spans[name]] != values):
                raise OptionError(f"{name} cannot be changed here")
        # last the solver's initial guess, which is forgotten when positions are written
        for name in sorted(self._moving, key="qacc_warmstart".__eq__):
            self._engines.write(name, self.bind(name))

    def _pull(self, chosen: NDArray[np.int64]) -> None:
        """Read the engine's states into the rows of some simulations."""
        for name, values in zip(self._moving, self._engines.read(self._moving), strict=True):
            self.state[chosen, self._spans[name]] = values[chosen].reshape(self.state[chosen, self._spans[name]].shape)

    def _advance(self, chosen: NDArray[np.int64], nstep: int) -> dict[int, str]:
        """Take steps, also into the rows; return messages of the simulations that failed."""
        if not nstep or not chosen.size:
            return {}
        begun = self.bind("time").copy()
        failed = self._engines.step(nstep, chosen)
        self._pull(np.setdiff1d(chosen, [*failed]))
        if not self._begins_anew:
            return failed
        for i in sorted(failed.keys() - self._engines.unusable.keys()):
            # the step that failed is taken from the start, and so are those that are left
            steps = round((self._engines.read(("time",))[0][i] - begun[i]) / self._model_at(i).opt.timestep)
            self._begin_anew(i, BAD_QACC, 0)
            self._push_states()
            if not self._engines.step(nstep - steps, np.array([i])):
                self._pull(np.array([i]))
                del failed[i]
        return failed

    @property
    def _begins_anew(self) -> bool:
        return not self.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)

    def _reset_bad(self, chosen: NDArray[np.int64]) -> None:
        """Let simulations begin anew whose positions or velocities are not finite or too large, as mj_step does."""
        for name, warning in BAD.items() if self._begins_anew else ():
            bad = ~(abs(self.bind(name)[chosen]) <= mujoco.mjMAXVAL)
            for i in np.flatnonzero(bad.any(1)):
                self._begin_anew(int(chosen[i]), warning, int(bad[i].argmax()))

    def _begin_anew(self, i: int, warning: int, place: int) -> None:
        self.state[i] = self._start(-1, i)
        self.warning[i, warning] = place, self.warning[i, warning, 1] + 1
        warn(f"simulation {i} begins anew ({mujoco.mjtWarning(warning).name} {place}); `warning` counts it")

    def _refresh(self, chosen: NDArray[np.int64], stage: int, stepping: bool = False) -> None:
        """Refresh the bound derived fields of some simulations, up to a stage; `stepping`: as the next step does."""
        known = [frozenset(), OF_POSITIONS, OF_POSITIONS | OF_VELOCITIES, DERIVED][min(stage, ACCELERATIONS)]
        names = [name for name, bound in self._bound.items() if bound.size and name not in OF_MUJOCO]
        names = [name for name in names if name in known or (name in MIXED and stage > NONE)]
        for name, values in zip(names, self._engines.read(names), strict=True):
            part = values[chosen]
            if name in MIXED:
                late = self._stages(name) > stage
                part[:, late] = self._bound[name][chosen][:, late]
            self._bound[name][chosen] = part
        others = {name: bound for name, bound in self._bound.items() if bound.size and name in OF_MUJOCO}
        mujoco_forward.fill(others, chosen.tolist(), stage, self._model_at, self._data, self.state, stepping)

    def _stages(self, name: str) -> NDArray[np.integer]:
        """Stage of each column of a field: potential and kinetic energy, or readings of sensors."""
        if name == "energy":
            return np.array([POSITIONS, VELOCITIES])
        return np.repeat(self.model.sensor_needstage, self.model.sensor_dim)

    def _report(self, chosen: NDArray[np.int64], failed: dict[int, str]) -> None:
        """Keep the messages of simulations that failed, and raise SimulationError for them."""
        for i in chosen:
            self._errors.pop(int(i), None)
        self._errors |= failed
        if failed:
            ids = np.array(sorted(failed))
            named = ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
            first = int(ids[0])
            what = f"{len(ids)} of {len(chosen)} simulations ({named})"
            raise SimulationError(ids, f"failed: {what}; simulation {first}: {failed[first]}")


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    out = values.view()
    out.flags.writeable = False
    return out


def _refuse_callbacks() -> None:
    if names := mujoco_forward.installed_callbacks():
        raise OptionError(
            f"{', '.join(names)} of MuJoCo is installed, and Saltus's engine does not call it; write `ctrl` or "
            "`qfrc_applied` between steps, or give saltus.Batch a controller"
        )
