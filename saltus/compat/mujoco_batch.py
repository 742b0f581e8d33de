"""The names of MuJoCo 4.0's module `mujoco.batch`, over `saltus.Batch`.

A program that uses `mujoco.batch` runs on Saltus's engine with one import changed:

    from saltus.compat import mujoco_batch as batch     # from mujoco import batch

State fields from `bind` are views of `state`, whose rows are MuJoCo's state vectors (mjSTATE_INTEGRATION): values
written there take effect at the next call. Derived fields are refreshed by every call, and as in MuJoCo describe the
state before the last substep. `qacc_warmstart` is where Saltus's solver begins. `expand` gives a real field of the
model values of its own in each simulation; values that mj_setConst derives always follow, so that `set_const` only
updates them at once. `ray` is not available. A simulation that diverges is an error, where MuJoCo resets it and counts
a warning.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Never

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, whole_number
from saltus.compat.mujoco_fields import (
    ACCELERATIONS,
    DATA_FIELDS,
    DERIVED,
    FIXED,
    MIXED,
    MODEL_FIELDS,
    NONE,
    OF_POSITIONS,
    OF_VELOCITIES,
    POSITIONS,
    STATE_FIELDS,
    VELOCITIES,
)
from saltus.compat.mujoco_models import differences, expandable, moving_dofs, put_into
from saltus.compat.mujoco_named import NamedAccess
from saltus.errors import DivergenceError, OptionError, SaltusError
from saltus.model.named_places import Places
from saltus.offered import offered

__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]


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
    """

    def __init__(self, model: mujoco.MjModel, nsim: int, nthread: int = 0, persistent: bool = False):
        self.model, self._persistent = model, bool(persistent)
        self._expanded: dict[str, NDArray[np.float64]] = {}
        self._models: mujoco.MjModel | tuple[mujoco.MjModel, ...] | None = None
        self._make_batch(nsim, whole_number("nthread", nthread) or None)
        self._data = mujoco.MjData(model)  # used for shapes, and states at the start
        self.places = Places(model, self._data)
        sizes = {name: mujoco.mj_stateSize(model, bit) for name, bit in STATE_FIELDS.items()}
        ends = np.cumsum([*sizes.values()]).tolist()
        self._spans = {name: slice(end - sizes[name], end) for name, end in zip(sizes, ends, strict=True)}
        self._bound: dict[str, np.ndarray] = {}
        self._errors: dict[int, str] = {}
        self.state: NDArray[np.float64] = np.zeros((nsim, ends[-1]))
        self.state[:] = self._start(-1)
        warm = self._batch.read("qacc_warmstart").shape[1] > 0  # empty where there are no constraints
        self._moving = [name for name in STATE_FIELDS if name not in FIXED and (warm or name != "qacc_warmstart")]
        self._fixed = {name: self.state[0, self._spans[name]].copy() for name in FIXED}

    @property
    def nsim(self) -> int:
        """Number of simulations."""
        return len(self.state)

    @property
    def nthread(self) -> int:
        """Number of threads."""
        return self._batch.threads

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
        """Status of each simulation's last call [nsim]: 1 if it failed, else 0."""
        return np.isin(np.arange(self.nsim), [*self._errors]).astype(np.int32)

    def error(self, sim: int) -> str:
        """Error message of a simulation's last call, or ""."""
        return self._errors.get(sim, "")

    # ------------------------------------------------------------ fields

    def bind(self, name: str) -> NDArray[np.float64]:
        """Live array [nsim, ...] of a field of MjData: a view of the state's rows, or a derived field, read-only."""
        if name in STATE_FIELDS:
            view = self.state[:, self._spans[name]]
            shape = () if name == "time" else getattr(self._data, name).shape
            return view[:, 0] if name == "time" else view.reshape(self.nsim, *shape)
        if name not in DERIVED:
            raise OptionError.unknown("field", name, DATA_FIELDS)
        if name not in self._bound:
            self._bound[name] = np.zeros((self.nsim, *getattr(self._data, name).shape))
        out = self._bound[name].view()
        out.flags.writeable = False  # the next call would overwrite it
        return out

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        if name in DATA_FIELDS:
            return self.bind(name)
        raise AttributeError(f"Batch has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in DATA_FIELDS:
            object.__setattr__(self, name, value)
        elif name in DERIVED:
            raise OptionError(
                f"{name} is computed and cannot be set; set fields of the state: {', '.join(STATE_FIELDS)}"
            )
        else:
            self.bind(name)[...] = value

    # ------------------------------------------------------------ motion

    def step(self, ids: ArrayLike | None = None, nstep: int = 1, stage: int = NONE) -> None:
        """Take `nstep` steps, then compute the stages of mj_forward up to `stage` (mjtStage) at the new state.

        The other derived fields are those of the state before the last step.
        """
        chosen, nstep = self._ids(ids), whole_number("nstep", nstep)
        self._push()
        failed = self._advance(chosen, nstep - 1 if self._bound else nstep) if nstep else {}
        if nstep and self._bound:
            self._refresh(chosen, ACCELERATIONS)
            failed |= self._advance(chosen, 1)
        whole = np.setdiff1d(chosen, [*failed])
        self._pull(whole)
        if stage != NONE:
            self._refresh(whole, int(stage))
        self._report(chosen, failed)

    def forward(self, ids: ArrayLike | None = None, stage: int = ACCELERATIONS) -> None:
        """Compute the derived fields that are bound, up to `stage` of mj_forward, at the present states."""
        self._push()
        chosen = self._ids(ids)
        self._refresh(chosen, int(stage))
        self._report(chosen, {})

    def reset(self, ids: ArrayLike | None = None, keyframe: ArrayLike = -1, stage: int = ACCELERATIONS) -> None:
        """Go to the model's start (-1) or to keyframes, one for all or one each, then compute stages up to `stage`."""
        chosen = self._ids(ids)
        keys = np.broadcast_to(numbers("keyframe", keyframe, int), len(chosen))
        for key in np.unique(keys):
            if not -1 <= key < self.model.nkey:
                raise OptionError(f"keyframe must be from -1 to {self.model.nkey - 1}, got {key}")
            self.state[chosen[keys == key]] = self._start(int(key))
        self.forward(chosen, stage)

    def rollout(
        self,
        nstep: int,
        control: ArrayLike | None = None,
        control_spec: int = int(mujoco.mjtState.mjSTATE_CTRL),
        record: Sequence[str | int | mujoco.mjtState] = ("qpos",),
        ids: ArrayLike | None = None,
        out: dict[str | int | mujoco.mjtState, NDArray[np.float64]] | None = None,
    ) -> dict[str | int | mujoco.mjtState, NDArray[np.float64]]:
        """Take `nstep` steps and record after each: fields by name, or parts of the state by bits of mjtState.

        `control`: [n, nstep, ...] values of the components of `control_spec`, set before each step. Returns a
        dictionary of arrays [n, nstep, ...], those of `out` where they are given.
        """
        chosen, nstep = self._ids(ids), whole_number("nstep", nstep)
        columns, found = self._columns(int(control_spec)), dict(out or {})
        values = None
        if control is not None:
            values = np.broadcast_to(numbers("control", control), (len(chosen), nstep, len(columns)))
        fields = {item: self.bind(item) for item in record if isinstance(item, str)}
        parts = {item: self._columns(int(item)) for item in record if not isinstance(item, str)}
        shapes = {item: seen.shape[1:] for item, seen in fields.items()} | {k: part.shape for k, part in parts.items()}
        for item, shape in shapes.items():
            wanted = (len(chosen), nstep, *shape)
            if found.setdefault(item, np.zeros(wanted)).shape != wanted:
                raise OptionError(f"out[{item!r}] must have shape {wanted}, not {found[item].shape}")
        for k in range(nstep):
            if values is not None:
                self.state[np.ix_(chosen, columns)] = values[:, k]
            self.step(chosen)
            for item, seen in fields.items():
                found[item][:, k] = seen[chosen]
            for item, part in parts.items():
                found[item][:, k] = self.state[np.ix_(chosen, part)]
        return found

    # ------------------------------------------------------------ one simulation, and points of bodies

    def get_model(self, sim: int, model: mujoco.MjModel | None = None) -> mujoco.MjModel:
        """Return the model of a simulation: a copy of the batch's, with the simulation's own values."""
        if model is not None:
            raise OptionError("get_model cannot write into a model; leave the argument out and use the returned model")
        return put_into(copy.copy(self.model), self._expanded, self._sim(sim))

    def get_data(self, sim: int, data: mujoco.MjData | None = None) -> mujoco.MjData:
        """Return the state of a simulation in an MjData; run mujoco.mj_forward for derived fields."""
        data = mujoco.MjData(self.model) if data is None else data
        mujoco.mj_setState(self.model, data, self.state[self._sim(sim)], int(mujoco.mjtState.mjSTATE_INTEGRATION))
        return data

    def jac(
        self, body: ArrayLike, point: ArrayLike, ids: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute Jacobians [n, 3, nv] of translation and rotation of points (m, world axes) that move with bodies."""
        chosen, m = self._ids(ids), self.model
        bodies = np.broadcast_to(numbers("body", body, int), len(chosen))
        points = np.broadcast_to(numbers("point", point), (len(chosen), 3))
        self._push()
        cdof, com = (values[chosen] for values in self._batch.read(("cdof", "subtree_com")))
        turning, moving = cdof[:, :, :3], cdof[:, :, 3:]
        arm = points - com[np.arange(len(chosen)), m.body_rootid[bodies]]
        acts = np.array([moving_dofs(m, b) for b in range(m.nbody)]).reshape(m.nbody, m.nv)[bodies][:, :, None]
        translation = acts * (moving + np.cross(turning, arm[:, None]))
        return translation.transpose(0, 2, 1), (acts * turning).transpose(0, 2, 1)

    # ------------------------------------------------------------ models of their own

    def expand(self, name: str) -> NDArray[np.float64]:
        """Return a live array [nsim, ...] of a model field ("body_mass", "opt.gravity", ...), values per simulation.

        Values written there, and those that mj_setConst derives from them, take effect at the next call.
        """
        if self._models is not None:
            raise OptionError("expand: the simulations have models of the caller (set_models)")
        if name not in self._expanded:
            values = expandable(self.model, name)
            self._expanded[name] = np.broadcast_to(values, (self.nsim, *values.shape)).copy()
            self._make_batch(self.nsim, self.nthread)
        return self._expanded[name]

    def expanded(self, name: str) -> NDArray[np.float64] | None:
        """Values [nsim, ...] of a field of the model, read-only, or None where they are the same in all simulations."""
        if name not in self._expanded:
            expandable(self.model, name)
            return None
        out = self._expanded[name].view()
        out.flags.writeable = False
        return out

    def set_const(self, ids: ArrayLike | None = None) -> None:
        """Let values written into model fields take effect at once, with those that mj_setConst derives."""
        if self._models is not None:
            raise OptionError("set_const: the simulations have models of the caller (set_models)")
        self._ids(ids)
        self._push_models()

    def set_models(self, models: Sequence[mujoco.MjModel] | mujoco.MjModel | None) -> None:
        """Give simulation i the values of models[i], or all simulations those of one model; None: of the batch's model.

        The models may differ from the batch's in the fields that `expand` takes, and in fields that steps do not read.
        """
        if self._models is None and self._expanded:
            raise OptionError(f"set_models: {', '.join(self._expanded)} have been expanded")
        if models is None or isinstance(models, mujoco.MjModel):
            each = (models or self.model,) * self.nsim
        else:
            models = each = tuple(models)
            if len(each) != self.nsim:
                raise OptionError(f"set_models: {self.nsim} models are needed, not {len(each)}")
        self._expanded = differences(self.model, each)
        self._models = models
        self._make_batch(self.nsim, self.nthread)
        self._push_models()

    @property
    def models(self) -> mujoco.MjModel | tuple[mujoco.MjModel, ...] | None:
        """Argument of the last `set_models`; None: all simulations have the batch's model."""
        return self._models

    # ------------------------------------------------------------ not available

    def ray(self, pnt: ArrayLike, vec: ArrayLike) -> Never:
        """Not available: raises OptionError; use mujoco.mj_ray with `get_data`."""
        raise OptionError("ray is not available here; call mujoco.mj_ray with get_model(i) and get_data(i)")

    # ------------------------------------------------------------ within

    def _make_batch(self, nsim: int, threads: int | None) -> None:
        """Make the engine, in which the expanded fields vary; its states are set at the next call."""
        self._batch = offered("batch")(self.model, nsim, threads, vary=tuple(self._expanded))

    def _push_models(self) -> None:
        """Write the expanded fields into the engine's models."""
        for name, values in self._expanded.items():
            setattr(self._batch.model.opt if "." in name else self._batch.model, name.rpartition(".")[2], values)
        if self._expanded:
            self._batch.model_of(0)  # lets it take effect

    def _sim(self, sim: int) -> int:
        if not 0 <= sim < self.nsim:
            raise OptionError(f"sim must be from 0 to {self.nsim - 1}, got {sim}")
        return int(sim)

    def _ids(self, ids: ArrayLike | None) -> NDArray[np.int64]:
        """Numbers of simulations from ascending numbers or a mask."""
        if ids is None:
            return np.arange(self.nsim)
        given = np.asarray(ids)
        if given.dtype == bool and given.shape == (self.nsim,):
            return np.flatnonzero(given)
        fits = given.ndim == 1 and (given.size == 0 or np.issubdtype(given.dtype, np.integer))
        if not fits or np.any(np.diff(given) <= 0) or np.any((given < 0) | (given >= self.nsim)):
            raise OptionError(f"ids must be ascending whole numbers from 0 to {self.nsim - 1}, or a mask [{self.nsim}]")
        return given.astype(np.int64)

    def _columns(self, spec: int) -> NDArray[np.int64]:
        """Columns of `state` that belong to bits of mjtState."""
        spans = [self._spans[name] for name, bit in STATE_FIELDS.items() if int(bit) & spec]
        return np.concatenate([np.zeros(0, np.int64), *(np.arange(s.start, s.stop) for s in spans)])

    def _start(self, key: int) -> NDArray[np.float64]:
        """State at a keyframe, or at the model's start."""
        if key < 0:
            mujoco.mj_resetData(self.model, self._data)
        else:
            mujoco.mj_resetDataKeyframe(self.model, self._data, key)
        bits = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        row = np.zeros(mujoco.mj_stateSize(self.model, bits))
        mujoco.mj_getState(self.model, self._data, row, bits)
        return row

    def _push(self) -> None:
        """Write the rows, and the expanded fields, into the engine's states and models."""
        self._push_models()
        self._batch.reset(self._batch.diverged)
        for name, values in self._fixed.items():
            if np.any(self.state[:, self._spans[name]] != values):
                raise OptionError(f"{name} cannot be changed here")
        # last the solver's initial guess, which is forgotten when positions are written
        for name in sorted(self._moving, key="qacc_warmstart".__eq__):
            self._batch.write(name, self.bind(name))

    def _pull(self, chosen: NDArray[np.int64]) -> None:
        """Read the engine's states into the rows of some simulations."""
        for name, values in zip(self._moving, self._batch.read(self._moving), strict=True):
            self.state[chosen, self._spans[name]] = values[chosen].reshape(self.state[chosen, self._spans[name]].shape)

    def _advance(self, chosen: NDArray[np.int64], nstep: int) -> dict[int, str]:
        """Take steps; return messages of the simulations that have diverged."""
        before = self._batch.diverged
        try:
            self._batch.step(nstep, None if len(chosen) == self.nsim else chosen)
        except DivergenceError as error:
            new = np.flatnonzero(self._batch.diverged & ~before)
            return {int(i): str(error) for i in np.intersect1d(new, chosen)}
        return {}

    def _refresh(self, chosen: NDArray[np.int64], stage: int) -> None:
        """Refresh the bound derived fields of some simulations from the engine's states, up to a stage."""
        known = [frozenset(), OF_POSITIONS, OF_POSITIONS | OF_VELOCITIES, DERIVED][min(stage, ACCELERATIONS)]
        names = [name for name in self._bound if name in known or (name in MIXED and stage > NONE)]
        for name, values in zip(names, self._batch.read(names), strict=True):
            part = values[chosen]
            if name in MIXED:
                late = self._stages(name) > stage
                part[:, late] = self._bound[name][chosen][:, late]
            self._bound[name][chosen] = part

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
            raise SimulationError(ids, f"{len(ids)} of {len(chosen)} simulations failed: {failed[int(ids[0])]}")
