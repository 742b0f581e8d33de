"""The names of MuJoCo 4.0's module `mujoco.rollout`, over `saltus.Batch`.

A program that uses `mujoco.rollout` runs on Saltus's engine with one import changed:

    from saltus.compat import mujoco_rollout as rollout     # from mujoco import rollout

As there, states are after each step, and sensors those that the step has computed, at the state before it. Rows of
`state` are MuJoCo's state vectors (mjSTATE_FULLPHYSICS). Of `data` only the number counts, as that of threads: nothing
is written there. Rows of a simulation that diverges are nan from the failed step on, and a warning tells, where MuJoCo
repeats the last state. Controls other than `ctrl`, and models that differ, are for `saltus.compat.mujoco_batch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import flag, numbers, whole_number
from saltus.compat.mujoco_fields import STATE_FIELDS
from saltus.errors import OptionError, warn
from saltus.offered import offered

__all__ = ["Rollout", "rollout", "shutdown_persistent_pool"]

CTRL, FULL = int(mujoco.mjtState.mjSTATE_CTRL), int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]

_persistent: list[Rollout] = []  # of `rollout(..., persistent_pool=True)`, one at most


class Rollout:
    """Rollouts on `nthread` threads (0: this one alone), by the names of mujoco.rollout.Rollout.

    Simulations of a model are made once for each number of them, and again after a value of the MjModel has changed.
    """

    def __init__(self, *, nthread: int | None = None):
        self.nthread = 0 if nthread is None else whole_number("nthread", nthread)
        self._made: tuple[NDArray[np.uint8], Any] | None = None  # the model's bytes, and its simulations
        self._closed = False

    def __enter__(self) -> Rollout:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give memory and threads back; later rollouts raise RuntimeError, as in MuJoCo."""
        self._made, self._closed = None, True

    def rollout(
        self,
        model: mujoco.MjModel | Sequence[mujoco.MjModel],
        data: mujoco.MjData | Sequence[mujoco.MjData] | None,
        initial_state: ArrayLike,
        control: ArrayLike | None = None,
        *,
        control_spec: int = CTRL,
        skip_checks: bool = False,
        nstep: int | None = None,
        initial_warmstart: ArrayLike | None = None,
        state: NDArray[np.float64] | None = None,
        sensordata: NDArray[np.float64] | None = None,
        chunk_size: int | None = None,
    ) -> Arrays:
        """State [nbatch, nstep, nstate] and sensordata [nbatch, nstep, nsensordata] under controls.

        `initial_state` [nbatch or 1, nstate], `control` [nbatch or 1, nstep or 1, nu] (None: zero, for `nstep` steps),
        `initial_warmstart` [nbatch or 1, nv]. `state`, `sensordata`: arrays to write into. `data`, `chunk_size` and
        `skip_checks` make no difference.

        Raises:
            OptionError: shapes do not fit, or what only `saltus.compat.mujoco_batch` can do.
            RuntimeError: after `close`.
        """
        if self._closed:
            raise RuntimeError("rollout requested after thread pool shutdown")
        flag("skip_checks", skip_checks)
        m = _one_model(model)
        if int(control_spec) != CTRL:
            raise OptionError(
                "control_spec must be mjSTATE_CTRL; saltus.compat.mujoco_batch takes others in its rollout"
            )
        start, warm = _rows("initial_state", initial_state, 2), _rows("initial_warmstart", initial_warmstart, 2)
        given = {"initial_state": start, "initial_warmstart": warm, "control": _rows("control", control, 3)}
        given |= {"state": state, "sensordata": sensordata}
        present = {name: array for name, array in given.items() if array is not None}
        n = _common("simulations", {name: array.shape[0] for name, array in present.items()})
        counts = {name: array.shape[1] for name, array in present.items() if array.ndim == 3}
        steps = _common("steps", counts | ({} if nstep is None else {"nstep": whole_number("nstep", nstep)}))
        widths = {"initial_state": mujoco.mj_stateSize(m, FULL), "initial_warmstart": m.nv, "control": m.nu}
        for name, width in (widths | {"state": widths["initial_state"], "sensordata": m.nsensordata}).items():
            if name in present and present[name].shape[-1] != width:
                raise OptionError(f"{name} must have {width} columns, not {present[name].shape[-1]}")
        out = [
            np.empty((n, steps, width)) if array is None else array
            for array, width in ((state, widths["initial_state"]), (sensordata, m.nsensordata))
        ]
        controls = np.zeros((1, 1, m.nu)) if given["control"] is None else given["control"]
        assert start is not None
        if steps:
            self._run(m, start, warm, np.broadcast_to(controls, (n, steps, m.nu)), out)
        return out[0], out[1]

    def _run(
        self,
        m: mujoco.MjModel,
        start: NDArray[np.float64],
        warm: NDArray[np.float64] | None,
        controls: NDArray[np.float64],
        out: list[NDArray[np.float64]],
    ) -> None:
        """Roll out and write state and sensordata into `out`."""
        n, spans = len(controls), _spans(m)
        batch = self._batch(m, n)
        batch.reset()
        fields = {name: np.broadcast_to(start[:, span], (n, span.stop - span.start)) for name, span in spans.items()}
        fields["time"] = fields["time"][:, 0]
        if warm is not None and batch.read("qacc_warmstart").size:
            fields["qacc_warmstart"] = np.broadcast_to(warm, (n, m.nv))  # last: other fields void it
        record = [*spans, *(["sensordata"] if m.nsensordata else [])]
        found = batch.rollout(controls, record, start=fields, computed="before", on_divergence="flag")
        for name, span in spans.items():
            out[0][:, :, span] = found[name].reshape(*controls.shape[:2], -1)
        if m.nsensordata:
            out[1][...] = found["sensordata"]
        if found.diverged.any():
            warn(f"{int(found.diverged.sum())} of {n} simulations diverged: their rows are nan from the failed step on")

    def _batch(self, m: mujoco.MjModel, n: int) -> Any:
        """The simulations of a model, made on first use."""
        content = np.zeros(mujoco.mj_sizeModel(m), np.uint8)
        mujoco.mj_saveModel(m, None, content)
        if self._made is None or self._made[1].n != n or not np.array_equal(self._made[0], content):
            self._made = content, offered("batch")(m, n, max(1, self.nthread))
        return self._made[1]


def rollout(
    model: mujoco.MjModel | Sequence[mujoco.MjModel],
    data: mujoco.MjData | Sequence[mujoco.MjData] | None,
    initial_state: ArrayLike,
    control: ArrayLike | None = None,
    *,
    control_spec: int = CTRL,
    skip_checks: bool = False,
    nstep: int | None = None,
    initial_warmstart: ArrayLike | None = None,
    state: NDArray[np.float64] | None = None,
    sensordata: NDArray[np.float64] | None = None,
    chunk_size: int | None = None,
    persistent_pool: bool = False,
) -> Arrays:
    """State and sensordata under controls, as `Rollout.rollout`, on as many threads as there are `data`.

    `persistent_pool`: keep threads and simulations for the next call.
    """
    count = len(data) if isinstance(data, list | tuple) and len(data) > 1 else 0
    if flag("persistent_pool", persistent_pool):
        if not _persistent or _persistent[0].nthread != count:
            shutdown_persistent_pool()
            _persistent.append(Rollout(nthread=count))
        runner = _persistent[0]
    else:
        runner = Rollout(nthread=count)
    return runner.rollout(
        model,
        data,
        initial_state,
        control,
        control_spec=control_spec,
        skip_checks=skip_checks,
        nstep=nstep,
        initial_warmstart=initial_warmstart,
        state=state,
        sensordata=sensordata,
        chunk_size=chunk_size,
    )


def shutdown_persistent_pool() -> None:
    """Give back what `rollout(..., persistent_pool=True)` keeps."""
    for runner in _persistent:
        runner.close()
    _persistent.clear()


def _one_model(model: mujoco.MjModel | Sequence[mujoco.MjModel]) -> mujoco.MjModel:
    """The model of all simulations."""
    models = [model] if isinstance(model, mujoco.MjModel) else list(model)
    if not models or not isinstance(models[0], mujoco.MjModel):
        raise OptionError("model must be a mujoco.MjModel")
    if any(each is not models[0] for each in models):
        raise OptionError("the models differ: saltus.compat.mujoco_batch takes them (set_models)")
    return models[0]


def _rows(name: str, value: ArrayLike | None, axes: int) -> NDArray[np.float64] | None:
    """An array with so many axes, of which the first ones may be left out."""
    if value is None:
        return None
    array = numbers(name, value)
    if array.ndim > axes:
        raise OptionError(f"{name} has at most {axes} axes, not {array.ndim}")
    return array.reshape((1,) * (axes - array.ndim) + array.shape)


def _common(what: str, counts: dict[str, int]) -> int:
    """The number that all counts agree on but those that are 1."""
    found = {count for count in counts.values() if count != 1} or {1}
    if len(found) > 1:
        raise OptionError(f"numbers of {what} differ: {', '.join(f'{k} has {v}' for k, v in counts.items())}")
    return found.pop()


def _spans(m: mujoco.MjModel) -> dict[str, slice]:
    """Columns of mjSTATE_FULLPHYSICS by field, without fields that the model does not have."""
    spans, first = {}, 0
    for name, bit in sorted(STATE_FIELDS.items(), key=lambda pair: int(pair[1])):
        if int(bit) & FULL:
            last = first + mujoco.mj_stateSize(m, int(bit))
            spans |= {name: slice(first, last)} if last > first else {}
            first = last
    return spans
