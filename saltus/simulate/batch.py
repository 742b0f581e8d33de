"""Batches: many simulations of one model at once, in the lanes of SIMD registers and on several threads."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import positive, several, thread_count, whole_number
from saltus.errors import DivergenceError, OptionError, warn
from saltus.integrate.registry import IntegratorChoice, find_integrator
from saltus.integrate.status import LARGEST
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.model.vary.fields import check_names
from saltus.number.kinds import LANES
from saltus.simulate.attributes import ArrayProperty
from saltus.simulate.batches.arrays import SupportsDLPack, WritableArray
from saltus.simulate.batches.contacts import BatchContacts, contacts
from saltus.simulate.batches.fields import check_name
from saltus.simulate.batches.model import BatchModel, NamedFields
from saltus.simulate.batches.reading import Reader, contacts_full
from saltus.simulate.batches.views import Views
from saltus.simulate.batches.writing import write
from saltus.simulate.diagnosis.bad_numbers import GIVEN, INPUTS, first_bad
from saltus.simulate.engine.initial_state import check_discrete, check_sampling, start_state
from saltus.simulate.engine.lanes import FIELDS, REMEMBERED, Lanes
from saltus.simulate.engine.turn import Turn, in_turn
from saltus.simulate.laws.contact import suits_soft
from saltus.simulate.laws.control import Controller, check_control, user_laws
from saltus.simulate.laws.dynamics import Dynamics, equations_key
from saltus.simulate.laws.events import Actuation
from saltus.simulate.simulation import Simulation
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED, STEP_TOO_SMALL
from saltus.terminal.display import count, notebook_html

#: Which simulations of a batch: their numbers, or a mask [n]; None: all.
Ids: TypeAlias = int | Sequence[int] | NDArray[np.integer | np.bool_] | None


def _field(name: str, unit: str) -> ArrayProperty[np.floating]:
    """A field of all simulations as an attribute: reading copies out, assigning sets."""

    def read(self: "Batch") -> NDArray[np.floating]:
        return self.read(name)

    def write(self: "Batch", values: ArrayLike | SupportsDLPack) -> None:
        self.write(name, values)

    return ArrayProperty(read, write, doc=f"{name} of all simulations {unit}: a copy to read, an array to assign.")


class Batch:
    """n independent simulations of a model.

    `threads`: how many to use (None: all that this process may). `precision`: "float64" or "float32"; clocks are in
    float64 in either. `integrator` and `timestep` as in Simulation. A simulation's result does not depend on the
    others, on n or on threads, to the bit.

    `control`: a controller in the time loop (`saltus.PID`, `saltus.controller`), whose parameters `control_prm` [n, p]
    may differ from simulation to simulation. `dynamics`: equations of motion in place of the engine's (see
    `saltus.Dynamics`).

    `vary`: names of MuJoCo's fields in which the simulations differ, as "body_mass", "geom_friction",
    "actuator_gainprm", "opt.gravity" (`saltus.model.vary.fields.MAY_VARY` has all). `model.body_mass` is then an array
    [n, nbody] to write into, `body("torso").mass` [n] a view of it; what MuJoCo derives from such values follows.

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
        vary: Sequence[str] = (),
    ):
        self._turn = Turn("Batch")
        check_control(control)
        self._shared: Model = load(model)
        self.model: Any = self._shared
        self.n = whole_number("a batch needs at least one simulation: n", n, 1)
        if not isinstance(precision, str) or precision not in LANES:
            raise OptionError.unknown("precision", precision, LANES)
        self.precision = precision
        self.threads = thread_count(threads)
        self.integrator = find_integrator(integrator, self._shared.opt.integrator)
        check_sampling(self._shared, self.integrator)
        check_discrete(self._shared, self.integrator)
        if not suits_soft(self.integrator, self._shared):
            raise OptionError(f"{self.integrator.name} is for hard contact, which batches do not support")
        if isinstance(control, Actuation):
            raise OptionError("an Actuation has events, which batches do not support; use saltus.Simulation")
        self.timestep = self._shared.opt.timestep if timestep is None else timestep
        self._made = dict(timestep=self.timestep, control=control, dynamics=dynamics, vary=tuple(vary))
        laws = user_laws(self._shared, control, equations_key(dynamics, self._shared))
        self._parameters = np.zeros(0) if control is None else control.parameters(self._shared)
        names = check_names(self._shared.mj_model, [vary] if isinstance(vary, str) else several("vary", vary))
        room = len(self._parameters)
        self.lanes = Lanes(
            self._shared, self.n, self.threads, precision, self.integrator, self.timestep, laws, room, names
        )
        self._varied = self.lanes.varied_model
        if self._varied is not None:
            self.model = BatchModel(self._shared, self._varied)
        delays = not {"delay", "sensor_delay"}.isdisjoint(self.lanes.m.layout.features)
        self._reader, self._views = Reader(self._shared, self.lanes), Views(self.lanes)
        self._delays = delays and precision == "float32"  # whether times are compared that float32 may round
        self.unconverged = 0  # steps of a group of lanes in which some iteration did not reach its tolerance
        self.reset()
        self._made_attributes = frozenset({*vars(self), "_made_attributes"})

    @in_turn
    def __reduce__(self) -> tuple[Any, ...]:
        """How `copy` and `pickle` make it again, as `Simulation.__reduce__` does."""
        made = {name: getattr(self, name) for name in ("n", "threads", "precision", "integrator")}
        made["model"] = self._shared
        kept = {name: getattr(self, name) for name in ("unconverged", "timestep")}
        lanes = {name: getattr(self.lanes, name).copy() for name in ("states", "clock", "flags")}
        lanes["forced"] = self.lanes.forced
        lanes["fields"] = {} if self._varied is None else {k: v.copy() for k, v in self._varied.fields.items()}
        own = {name: value for name, value in vars(self).items() if name not in self._made_attributes}
        return _restored, (type(self), {**made, **self._made}, kept, lanes, own)

    def __repr__(self) -> str:
        how = f"{self.precision}, {count(self.threads, 'thread')}, {self.integrator.name}, h = {self.timestep:g} s"
        return f"Batch({self._shared.name!r}, n = {self.n}, {how})"

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

    # ------------------------------------------------------------ the model of each

    def body(self, name: str) -> NamedFields:
        """The fields of a body that vary, [n, ...] each: `batch.body("torso").mass`."""
        return self._named("body", name)

    def joint(self, name: str) -> NamedFields:
        """The fields of a joint and its degrees of freedom that vary: `batch.joint("knee").damping`."""
        return self._named("joint", name)

    def geom(self, name: str) -> NamedFields:
        """The fields of a geom that vary: `batch.geom("floor").friction`."""
        return self._named("geom", name)

    def site(self, name: str) -> NamedFields:
        """The fields of a site that vary."""
        return self._named("site", name)

    def tendon(self, name: str) -> NamedFields:
        """The fields of a tendon that vary."""
        return self._named("tendon", name)

    def actuator(self, name: str) -> NamedFields:
        """The fields of an actuator that vary: `batch.actuator("hip").gainprm`."""
        return self._named("actuator", name)

    def _named(self, kind: str, name: str) -> NamedFields:
        return NamedFields(self._shared, self._varied, kind, name)

    @in_turn
    def model_of(self, i: int) -> Model:
        """The model of simulation i by itself."""
        i = int(_indices("model_of", i, self.n)[0])
        return self._shared if self._varied is None else self._varied.changed_model(i)

    @in_turn
    def simulation(self, i: int) -> Simulation:
        """Simulation i by itself, from its present state on: it goes on with the bits that it has here.

        Its steps are those of the batch's compiled loop, on one lane of a register; what is looked at between them is
        computed as in any other Simulation.
        """
        self._notice()
        i = int(_indices("simulation", i, self.n)[0])
        sim = Simulation(
            self._shared if self._varied is None else self._varied.changed_model(i),
            self.integrator,
            timestep=self.timestep,
            control=self._made["control"],
            dynamics=self._made["dynamics"],
        )
        engine, lanes = sim.engine, self.lanes.alone(i)
        for name in (*FIELDS, *REMEMBERED):
            row = lanes.states[0, lanes.span(name), 0]
            engine.d.views[name].reshape(-1)[: len(row)] = row
        engine.d.views["time"][...] = lanes.clock[0, 0]
        engine.lanes = lanes
        engine.keep_left()
        return sim

    def _notice(self) -> None:
        """Let what was written into views and into the model take effect."""
        self._views.notice()
        if self._varied is not None:
            self._varied.update()

    # ------------------------------------------------------------ state

    @overload
    def read(self, name: str, out: WritableArray | None = None) -> NDArray[np.floating]: ...
    @overload
    def read(
        self, name: tuple[str, ...] | list[str], out: Sequence[WritableArray | None] | None = None
    ) -> tuple[NDArray[np.floating], ...]: ...
    @in_turn
    def read(
        self,
        name: str | tuple[str, ...] | list[str],
        out: WritableArray | Sequence[WritableArray | None] | None = None,
    ) -> NDArray[np.floating] | tuple[NDArray[np.floating], ...]:
        """A field of all simulations [n, ...], or several at once: what `Simulation.data` shows, and `sensordata`.

        Quantities are those of the present states, in MuJoCo's shapes (`xmat` [n, nbody, 9]); only what a field needs
        is computed, and once for all fields of a call. With several names the result is a tuple in their order.

        `out`: where to write, one array for each name: float64 or float32, with any strides, of NumPy or of whatever
        lends its memory by DLPack or the buffer protocol, as a tensor of PyTorch on the CPU. New arrays have the
        batch's precision; times are always float64.
        """
        names = [name] if isinstance(name, str) else several("name", name)
        for each in names:
            check_name(each)
        outs: list[Any] = [None] * len(names)
        if out is not None:
            outs = [out] if isinstance(name, str) else several("out", out)
        if len(outs) != len(names):
            raise OptionError(f"out must hold an array, or None, for each of {len(names)} names, not {len(outs)}")
        self._notice()
        found = self._reader.read(names, outs)
        return found[0] if isinstance(name, str) else tuple(found)

    @in_turn
    def write(self, name: str, values: ArrayLike | SupportsDLPack, ids: Ids = None) -> None:
        """Set a field of the state or the inputs, of all simulations or of those with the given ids or mask.

        `values`: [n, ...], with ids [len(ids), ...], or one row for all; arrays and tensors on the CPU (DLPack) of
        float64 or float32 are read as they lie in memory.
        """
        self._views.notice()
        write(self.lanes, name, values, None if ids is None else _indices("write", ids, self.n))
        self._views.keep()

    @in_turn
    def sensor(self, name: str, out: WritableArray | None = None) -> NDArray[np.floating]:
        """Readings [n, dim] of a sensor at the present states; SI units, no noise. `out` as in `read`."""
        self._notice()
        return self._reader.sensor(name, out)

    @in_turn
    def view(self, name: str) -> NDArray[np.floating]:
        """A field of the state or the inputs where it lies in memory, without a copy: [groups, width, ...].

        Simulation i is at [i // width, i % width], width being the number of lanes of a register; places beyond n
        are spare. The view is live: steps change it, and what is written into it counts from the next call on, as
        with `write`. Libraries that know strides take it by DLPack as it is, as `torch.from_dlpack` does.
        """
        return self._views.of(name)

    @in_turn
    def contacts(self) -> BatchContacts:
        """The contacts of all simulations at their present states, with forces: a `BatchContacts`."""
        self._notice()
        return contacts(self.lanes)

    @in_turn
    def contact_force(
        self,
        on: int | str | Sequence[int | str],
        by: int | str | Sequence[int | str] | None = None,
        *,
        kind: Literal["geom", "body"] = "geom",
    ) -> NDArray[np.floating]:
        """The sum of contact forces on a geom, or on all geoms of a body, in each simulation [n, 3] (N, world axes).

        `on`, `by`: names or numbers of geoms, or with kind="body" of bodies, one or several together; forces are those
        from `by`, or from all that touch. Contacts with deformable bodies are in `contacts` only.
        """
        if kind not in ("geom", "body"):
            raise OptionError.unknown("kind", kind, ("geom", "body"))
        owner = np.arange(self._shared.ngeom) if kind == "geom" else self._shared.geom_bodyid
        geoms = np.isin(owner, _numbers(self._shared, kind, on))
        others = np.ones(len(owner), bool) if by is None else np.isin(owner, _numbers(self._shared, kind, by))
        return self.contacts().force_on(geoms, others)

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
        return self.read("sensordata")

    @property
    @in_turn
    def diverged(self) -> NDArray[np.bool_]:
        """Which simulations have diverged [n]; `reset` brings them back."""
        return self.lanes.diverged()

    @in_turn
    def reset(self, ids: Ids = None, key: int | str | None = None) -> None:
        """Bring all simulations, or those with the given ids or mask, to a keyframe or the model's start."""
        index = _indices("reset", ids, self.n)
        if not len(index):
            return
        for field in FIELDS:
            write(self.lanes, field, self._parameters if field == "control_prm" else 0.0, index)
        for field, value in start_state(self._shared, key, self.timestep).items():
            if field == "act":
                value = np.concatenate([value, np.zeros(self.lanes.shape("act")[0] - len(value))])
            write(self.lanes, field, value, index)
        self.lanes.flags.reshape(-1)[index] = False
        self._views.keep()
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
        self._notice()
        status = self.lanes.advance(n, self.timestep)
        self._views.keep()
        failed = self.lanes.take_unsolved()
        if failed:
            self._warn(f"the constraint solver did not reach its tolerance in {self._shared.opt.iterations} iterations")
        if status == NOT_CONVERGED:
            self._warn("Newton's method did not converge")
            failed = 1
        self.unconverged += failed
        if status == CONTACTS_FULL:
            raise contacts_full(self.lanes.m)
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
                dof=None if dof is None else self._shared.dof_names()[dof],
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
        stuck = self.integrator.adaptive and self.lanes.stuck().reshape(-1)[i]
        return None, ("step-size control required too small steps {}" if stuck else "diverged {}") + what


def _restored(kind, made, kept, lanes, own) -> Batch:
    """A batch as `__reduce__` has described it."""
    batch = kind.__new__(kind)
    Batch.__init__(batch, **made)
    for name in ("states", "clock", "flags"):
        getattr(batch.lanes, name)[...] = lanes[name]
    batch.lanes.forced = lanes["forced"]
    for name, values in lanes["fields"].items():
        batch.lanes.varied_model.fields[name][...] = values
    for name, value in {**kept, **own}.items():
        setattr(batch, name, value)
    return batch


def _numbers(model: Model, kind: str, things: int | str | Sequence[int | str]) -> list[int]:
    """Numbers of geoms or bodies, from names or numbers."""
    found = []
    for thing in [things] if isinstance(things, str | int | np.integer) else several(f"each {kind}", things):
        k = model.id(kind, thing) if isinstance(thing, str) else whole_number(f"the number of a {kind}", thing)
        if k >= len(model.names(kind)):
            raise OptionError(f"no {kind} {k}; the model has {len(model.names(kind))}")
        found.append(k)
    return found


def _indices(what: str, ids: Ids, n: int) -> NDArray[np.int64]:
    """Numbers of simulations, from ids or a mask."""
    if ids is None:
        return np.arange(n)
    given = np.atleast_1d(np.asarray(ids))
    if given.dtype == bool:
        if given.shape != (n,):
            raise OptionError(f"{what}: the mask has shape {given.shape}, expected ({n},)")
        return np.flatnonzero(given)
    if given.size and not (np.issubdtype(given.dtype, np.integer) and given.min() >= 0 and given.max() < n):
        raise OptionError(f"{what}: ids must be whole numbers from 0 to {n - 1}")
    return given.astype(np.int64)
