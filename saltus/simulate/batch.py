"""Batches: many simulations of one model at once, in the lanes of SIMD registers and on several threads."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, positive, thread_count, whole_number
from saltus.errors import DivergenceError, ModelError, OptionError, warn
from saltus.integrate.adaptive.memory import STUCK
from saltus.integrate.registry import IntegratorChoice, find_integrator
from saltus.integrate.status import LARGEST
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.number.kinds import LANES
from saltus.simulate.attributes import ArrayProperty
from saltus.simulate.diagnosis.bad_numbers import GIVEN, INPUTS, first_bad
from saltus.simulate.engine.initial_state import check_discrete, check_sampling, start_state
from saltus.simulate.engine.lanes import FIELDS, Lanes
from saltus.simulate.engine.turn import Turn, in_turn
from saltus.simulate.laws.contact import suits_soft
from saltus.simulate.laws.control import Controller, check_control, user_laws
from saltus.simulate.laws.dynamics import Dynamics, equations_key
from saltus.simulate.laws.events import Actuation
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED, STEP_TOO_SMALL
from saltus.terminal.display import count, notebook_html


def _field(name: str, unit: str) -> ArrayProperty[np.floating]:
    """A field of all simulations as an attribute: reading copies out, assigning sets."""

    def read(self: "Batch") -> NDArray[np.floating]:
        return self._read(name)

    def write(self: "Batch", values: ArrayLike) -> None:
        self._write(name, values)

    return ArrayProperty(read, write, doc=f"{name} of all simulations {unit}: a copy to read, an array to assign.")


class Batch:
    """n independent simulations of a model.

    `threads`: how many to use (None: all that this process may). `precision`: "float64" or "float32"; clocks are in
    float64 in either. `integrator` and `timestep` as in Simulation. A simulation's result does not depend on the
    others, on n or on threads, to the bit.

    `control`: a controller in the time loop (`saltus.PID`, `saltus.controller`), whose parameters `control_prm` [n, p]
    may differ from simulation to simulation. `dynamics`: equations of motion in place of the engine's (see
    `saltus.Dynamics`).

    `time` [n], `qpos` [n, nq], `qvel` [n, nv], `act` [n, na and the controller's states], `ctrl` [n, nu],
    `qfrc_applied` [n, nv], `xfrc_applied` [n, nbody, 6], `mocap_pos` [n, nmocap, 3], `mocap_quat` [n, nmocap, 4] and
    `userdata` [n, nuserdata]: reading gives a copy, assigning (an array, or one row for all) sets them.

    A batch has its own threads and may be used by one thread of the program at a time: while one is in a method, any
    other that calls a method, reads or assigns gets a ConcurrencyError.
    """

    def __init__(
        self,
        model: ModelSource,
        n: int,
        threads: int | None = None,
        precision: str = "float64",
        integrator: IntegratorChoice = None,
        timestep: float | None = None,
        *,
        control: Controller | None = None,
        dynamics: Dynamics | None = None,
    ):
        self._turn = Turn("Batch")
        check_control(control)
        self.model: Model = load(model)
        self.n = whole_number("a batch needs at least one simulation: n", n, 1)
        if not isinstance(precision, str) or precision not in LANES:
            raise OptionError.unknown("precision", precision, LANES)
        self.precision = precision
        self.threads = thread_count(threads)
        self.integrator = find_integrator(integrator, self.model.opt.integrator)
        check_sampling(self.model, self.integrator)
        check_discrete(self.model, self.integrator)
        if not suits_soft(self.integrator, self.model):
            raise OptionError(f"{self.integrator.name} is for hard contact, which batches do not support")
        if isinstance(control, Actuation):
            raise OptionError("an Actuation has events, which batches do not support; use saltus.Simulation")
        self.timestep = self.model.opt.timestep if timestep is None else timestep
        self._made = dict(timestep=self.timestep, control=control, dynamics=dynamics)
        laws = user_laws(self.model, control, equations_key(dynamics, self.model))
        self._parameters = np.zeros(0) if control is None else control.parameters(self.model)
        self.lanes = Lanes(
            self.model, self.n, self.threads, precision, self.integrator, self.timestep, laws, len(self._parameters)
        )
        delays = not {"delay", "sensor_delay"}.isdisjoint(self.lanes.m.layout.features)
        self._delays = delays and precision == "float32"  # whether times are compared that float32 may round
        self.unconverged = 0  # steps of a group of lanes in which some iteration did not reach its tolerance
        self.reset()
        self._made_attributes = frozenset({*vars(self), "_made_attributes"})

    @in_turn
    def __reduce__(self) -> tuple[Any, ...]:
        """How `copy` and `pickle` make it again, as `Simulation.__reduce__` does."""
        made = {name: getattr(self, name) for name in ("model", "n", "threads", "precision", "integrator")}
        kept = {name: getattr(self, name) for name in ("unconverged", "timestep")}
        lanes = {name: getattr(self.lanes, name).copy() for name in ("states", "clock", "flags")}
        lanes["forced"] = self.lanes.forced
        own = {name: value for name, value in vars(self).items() if name not in self._made_attributes}
        return _restored, (type(self), {**made, **self._made}, kept, lanes, own)

    def __repr__(self) -> str:
        how = f"{self.precision}, {count(self.threads, 'thread')}, {self.integrator.name}, h = {self.timestep:g} s"
        return f"Batch({self.model.name!r}, n = {self.n}, {how})"

    _repr_html_ = notebook_html

    def __len__(self) -> int:
        return self.n

    @property
    def timestep(self) -> float:
        """Length of a step, s; adaptive methods take steps of their own up to the end of each."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._timestep = positive("timestep", value)

    # ------------------------------------------------------------ state

    @in_turn
    def _read(self, field: str) -> NDArray[np.floating]:
        return self.lanes.read(field)

    @in_turn
    def _write(self, field: str, values: ArrayLike, ids: Any = slice(None)) -> None:
        try:
            self.lanes.write(field, numbers(field, values), np.arange(self.n)[ids])
        except ValueError:
            wanted = (self.n, *self.lanes.shape(field))
            raise OptionError(f"{field} has shape {wanted}, not {np.shape(values)}") from None

    time = _field("time", "[n] (s)")
    """Times [n] (s)."""
    qpos = _field("qpos", "[n, nq] (rad, m, quaternion parts)")
    """Positions [n, nq] (rad, m, quaternion parts)."""
    qvel = _field("qvel", "[n, nv] (rad/s, m/s)")
    """Velocities [n, nv] (rad/s, m/s; of free and ball joints in body axes)."""
    act = _field("act", "[n, na and the controller's states]")
    """States of actuators, then those of the controller [n, na + states]."""
    ctrl = _field("ctrl", "[n, nu] (actuator's unit)")
    """Controls [n, nu] (each in its actuator's unit)."""
    mocap_pos = _field("mocap_pos", "[n, nmocap, 3] (m)")
    """Places of mocap bodies [n, nmocap, 3] (m)."""
    mocap_quat = _field("mocap_quat", "[n, nmocap, 4] (quaternions)")
    """Orientations of mocap bodies [n, nmocap, 4] (quaternions w, x, y, z)."""
    userdata = _field("userdata", "[n, nuserdata] (whatever they mean to a controller)")
    """Numbers [n, nuserdata] that mean what a controller reads in them."""
    control_prm = _field("control_prm", "[n, p] (as the controller reads them)")
    """Parameters of the controller [n, p], as its law reads them."""
    qfrc_applied = _field("qfrc_applied", "[n, nv] (N m, N)")
    """Forces along the coordinates [n, nv] (N m, N)."""
    xfrc_applied = _field("xfrc_applied", "[n, nbody, 6] (force N, torque N m)")
    """Forces (N) at the centres of mass and torques (N m) [n, nbody, 6], world axes."""

    @property
    @in_turn
    def sensordata(self) -> NDArray[np.floating]:
        """Readings of all sensors of all simulations [n, nsensordata] at their present states; SI units, no noise."""
        return self.lanes.sensordata(None if self.integrator.adaptive else self.timestep)

    @property
    @in_turn
    def diverged(self) -> NDArray[np.bool_]:
        """Which simulations have diverged [n]; `reset` brings them back."""
        return self.lanes.diverged()

    @in_turn
    def reset(
        self, ids: int | Sequence[int] | NDArray[np.integer | np.bool_] | None = None, key: int | str | None = None
    ) -> None:
        """Bring all simulations, or those with the given ids or mask, to a keyframe or the model's start."""
        index = _indices(ids, self.n)
        if not len(index):
            return
        for field in FIELDS:
            self._write(field, self._parameters if field == "control_prm" else 0.0, index)
        for field, value in start_state(self.model, key, self.timestep).items():
            if field == "act":
                value = np.concatenate([value, np.zeros(self.lanes.shape("act")[0] - len(value))])
            self._write(field, value, index)
        self.lanes.flags.reshape(-1)[index] = False
        if ids is None:
            self.lanes.forget_forces()
            self.lanes.fill_spare_lanes()

    # ------------------------------------------------------------ motion

    @in_turn
    def step(self, n: int = 1) -> None:
        """Take n steps with the present inputs.

        Raises DivergenceError if simulations diverge; the others have taken their steps, `diverged` says which have
        not, and `reset(batch.diverged)` brings them back.
        """
        n = whole_number("step: n", n)
        if self._delays:
            self._check_clock(n)
        before = self.diverged if self.lanes.flags.any() else None
        status = self.lanes.advance(n, self.timestep)
        failed = self.lanes.take_unsolved()
        if failed:
            self._warn(f"the constraint solver did not reach its tolerance in {self.model.opt.iterations} iterations")
        if status == NOT_CONVERGED:
            self._warn("Newton's method did not converge")
            failed = 1
        self.unconverged += failed
        if status == CONTACTS_FULL:
            raise ModelError(f"more than {self.lanes.m.nconmax} contacts at once, which is the limit")
        if status >= STEP_TOO_SMALL:
            self.lanes.flag_stuck()
        if self.lanes.flags.any():
            self._report(before)

    def _check_clock(self, n: int) -> None:
        """OptionError where samples of delayed controls and sensors would be at times that are the same in float32."""
        latest = np.abs(self.lanes.clock).max() + n * self.timestep
        # what `saltus.dynamics.history.same_time` counts as the same
        if 4.0 * np.finfo(np.float32).eps * latest > 0.5 * self.timestep:
            raise OptionError(
                f"at t = {latest:.6g} s float32 cannot distinguish the times of delayed controls and sensors "
                f"(timestep {self.timestep:g} s); use precision='float64', or reset the simulations earlier"
            )

    def _warn(self, what: str) -> None:
        """Say once that steps were not what they should be; `unconverged` counts them."""
        if not self.unconverged:
            text = f"{self.integrator.name}: {what} in some simulations (timestep {self.timestep:g} s)"
            warn(text)

    def _report(self, before: np.ndarray | None) -> None:
        """Raise for simulations that have diverged since `before`."""
        self.lanes.flags.reshape(-1)[self.n :] = False
        new = self.diverged if before is None else self.diverged & ~before
        bad = np.flatnonzero(new)
        if bad.size:
            i = int(bad[0])
            where = f"in simulation {i} (and {bad.size - 1} more of {self.n})"
            dof, what = self._cause(i)
            raise DivergenceError(
                float(self.time[i]),
                dof=None if dof is None else self.model.dof_names()[dof],
                dof_index=dof,
                what=what.format(where),
                timestep=self.timestep,
            )

    def _cause(self, i: int) -> tuple[int | None, str]:
        """The first degree of freedom of simulation i that left the numbers, and what happened, {} being the place.

        What was given comes first, since it stays as it is; positions and velocities follow each other.
        """
        given = first_bad({name: getattr(self, name)[i] for name in ("time", *INPUTS)})
        wrong = np.flatnonzero(~(abs(self.qvel[i]) < LARGEST))
        if given is None and wrong.size:
            return int(wrong[0]), "diverged {}"
        found = given or first_bad({name: getattr(self, name)[i] for name in GIVEN})
        name, k = found or ("", 0)
        what = "; a number is not finite: " + (name if name == "time" else f"{name}[{k}]") if found else ""
        stuck = self.integrator.adaptive and self._read("memory")[i, STUCK] > 0.5
        return None, ("step-size control required too small steps {}" if stuck else "diverged {}") + what


def _restored(kind, made, kept, lanes, own) -> Batch:
    """A batch as `__reduce__` has described it."""
    batch = kind.__new__(kind)
    Batch.__init__(batch, **made)
    for name in ("states", "clock", "flags"):
        getattr(batch.lanes, name)[...] = lanes[name]
    batch.lanes.forced = lanes["forced"]
    for name, value in {**kept, **own}.items():
        setattr(batch, name, value)
    return batch


def _indices(ids: Any, n: int) -> np.ndarray:
    if ids is None:
        return np.arange(n)
    ids = np.atleast_1d(np.asarray(ids))
    if ids.dtype == bool:
        if ids.shape != (n,):
            raise OptionError(f"reset: the mask has shape {ids.shape}, expected ({n},)")
        return np.flatnonzero(ids)
    if ids.size and not (np.issubdtype(ids.dtype, np.integer) and ids.min() >= 0 and ids.max() < n):
        raise OptionError(f"reset: ids must be whole numbers from 0 to {n - 1}")
    return ids.astype(int)
