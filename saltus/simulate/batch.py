"""Batches: many simulations of one model at once, in the lanes of SIMD registers and on several threads.

Where events are located, as under hard contact, each simulation takes its own time between events; there they move one
by one on the threads, in the compiled loop of `saltus.Simulation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import flag, positive, thread_count, whole_number, words
from saltus.draw.scene.view import Camera, OtherViewOptions, View
from saltus.errors import DivergenceError, EventError, OptionError, warn
from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import IntegratorChoice, Tolerance, find_integrator
from saltus.model.load import ModelSource, load
from saltus.model.vary.fields import MAY_VARY, check_names
from saltus.number.kinds import LANES
from saltus.record.batch_recording import BatchRecording
from saltus.record.table.events import EventTable
from saltus.simulate.attributes import belongs_elsewhere
from saltus.simulate.batch_pictures import BatchPictures, of_their_own
from saltus.simulate.batches.arrays import SupportsDLPack
from saltus.simulate.batches.by_place import by_name
from saltus.simulate.batches.fields import READABLE
from saltus.simulate.batches.model import ModelsOfEach
from saltus.simulate.batches.reading import Reader, contacts_full
from saltus.simulate.batches.rollout import RECORDED, Plan, Rollout, plan_of, take_rollout
from saltus.simulate.batches.rollout_loop import AFTER, BEFORE
from saltus.simulate.batches.singly import SingleReader
from saltus.simulate.batches.start import INPUTS, Start, fields_of, start_fields
from saltus.simulate.batches.state import BatchState, Ids, indices, simulation_index
from saltus.simulate.batches.views import Views
from saltus.simulate.batches.writing import write
from saltus.simulate.derivatives.linearize_all import linearize_all, workers_for
from saltus.simulate.derivatives.linearize_each import KeptEngines, linearize_each, of_each
from saltus.simulate.derivatives.linearize_sensors import linearize_sensors
from saltus.simulate.diagnosis.batch_faults import Faults
from saltus.simulate.diagnosis.divergence import relaxed
from saltus.simulate.engine.batch.alone import go_on_in
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.batch.one_by_one import OneByOne
from saltus.simulate.engine.batch.states import FIELDS, BatchStates
from saltus.simulate.engine.batch.stepped_lanes import SteppedLanes, why_alone
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.initial_state import awake, check_discrete, check_sampling, check_size, start_state
from saltus.simulate.engine.threads.turn import Turn, in_turn
from saltus.simulate.laws.contact import Compliant, ContactChoice, Hard, Law, find_contact_law, hard_numbers, law_of
from saltus.simulate.laws.control import Controller, check_control, user_laws
from saltus.simulate.laws.dynamics import Dynamics, equations_key
from saltus.simulate.laws.events import Event, UserEvents, start_values
from saltus.simulate.laws.motions import Motions, no_motions
from saltus.simulate.laws.step_bounds import check_bounds, laws_of_time
from saltus.simulate.running.batch_run import run_batch
from saltus.simulate.setup import Setup
from saltus.simulate.simulation import Simulation
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED
from saltus.terminal.display import count, notebook_html
from saltus.terminal.progress import ProgressChoice


class Batch(BatchState, ModelsOfEach):
    """n independent simulations of a model.

    `threads`: number of threads (None: all that this process may use). `precision`: "float64" or "float32"; clocks are
    always in float64. `integrator`, `contact` and `timestep` as in Simulation, also by place: `Batch(model, n, "rk4")`;
    `given` may also be threads, precision, integrator and timestep: `Batch(model, n, 4)`. A simulation's result does
    not depend on the others, on n or on threads, to the bit.

    `control`: a controller in the time loop (`saltus.PID`, `saltus.controller`), whose parameters `control_prm` [n, p]
    may differ between simulations. `dynamics`: equations of motion in place of the engine's (see `saltus.Dynamics`).

    `contact`, `tolerance`, `events`, `actuation_states`, `max_step`, `breaks` and `saltus.Actuation` as `control` as in
    Simulation. Under hard contact, and with events, each simulation goes from event to event at its own times, with the
    bits of a single Simulation, in float64 only; `events` is the log of all. Restitution and friction of `saltus.Hard`
    may be arrays [n], one entry for each simulation. Under `moreau_jean` simulations step side by side where the model
    allows it (`saltus.simulate.engine.batch.stepped_lanes.why_alone`), like a single Simulation up to rounding.

    `vary`: names of MuJoCo's fields in which the simulations differ, such as "body_mass", "geom_friction",
    "actuator_gainprm", "opt.gravity" (all are in `saltus.model.vary.fields.MAY_VARY`). `model.body_mass` is then an
    array [n, nbody] to write into, `body("torso").mass` [n] a view of it; constants that MuJoCo derives are updated.

    `time` [n], `qpos` [n, nq], `qvel` [n, nv], `act` [n, na and the controller's states], `ctrl` [n, nu],
    `qfrc_applied` [n, nv], `xfrc_applied` [n, nbody, 6], `mocap_pos` [n, nmocap, 3], `mocap_quat` [n, nmocap, 4],
    `userdata` [n, nuserdata] and `actuation_state` [n, discrete states]: reading gives a copy, assigning to them or to
    a part (an array, or one row for all) sets them. `read` gives these and quantities computed from them, also into
    given arrays, `write` sets some simulations, and `view` shows the memory itself. `contacts`, `contact_force` and
    `sensor` read contacts and sensors.

    A batch has its own threads; use it in one thread of the program at a time: while a thread is in a method, others
    that call a method, read or assign get a ConcurrencyError.
    """

    def __init__(
        self,
        model: ModelSource,
        n: int,
        *given: IntegratorChoice | ContactChoice | float,
        threads: int | None = None,
        precision: str = "float64",
        integrator: IntegratorChoice = None,
        timestep: float | None = None,
        contact: ContactChoice = "soft",
        tolerance: Tolerance | None = None,
        control: Controller | None = None,
        dynamics: Dynamics | None = None,
        events: Sequence[Event] = (),
        actuation_states: int | Sequence[float] | None = None,
        max_step: float | None = None,
        breaks: Sequence[float] = (),
        motions: Motions | None = None,
        vary: Sequence[str] = (),
    ):
        self._turn = Turn("Batch")
        named = {"threads": (threads, None), "precision": (precision, "float64"), "integrator": (integrator, None)}
        named |= {"timestep": (timestep, None), "contact": (contact, "soft")}
        threads, precision, integrator, timestep, contact = by_name(given, named)
        no_motions(motions, "Batch")
        check_control(control)
        self.shared = awake(load(model), "batches")
        self._vary = check_names(self.shared.mj_model, words("vary", vary))
        self.n = whole_number("a batch needs at least one simulation: n", n, 1)
        if not isinstance(precision, str) or precision not in LANES:
            raise OptionError.unknown("precision", precision, LANES)
        self.precision = precision
        self.threads = thread_count(threads)
        self.timestep = self.shared.opt.timestep if timestep is None else timestep
        self._parameters = np.zeros(0) if control is None else control.parameters(self.shared)
        discrete = bool(UserEvents(events, control).all or start_values(actuation_states, control))
        self._law = find_contact_law(contact, self.shared if discrete else None)
        laws = control, dynamics, events, actuation_states, max_step, breaks
        self._setup = Setup(self.shared, integrator, self._law, self.timestep, tolerance, *laws)
        self.lanes, self._integrator = self._states(self._setup)
        self._step_bounds = check_bounds(max_step, breaks, self.integrator)
        if self._step_bounds.breaks and precision == "float32":
            raise OptionError("breaks: times have rounding errors in float32; use precision='float64'")
        self._timed = laws_of_time(control, dynamics, UserEvents(events, control), self._law)
        self._bound_steps()
        delays = not {"delay", "sensor_delay"}.isdisjoint(self.lanes.m.layout.features)
        lanes = self.lanes
        single = isinstance(lanes, OneByOne)
        self._reader = SingleReader(self.shared, lanes) if single else Reader(self.shared, lanes)
        self._views = Views(self.lanes)
        self._faults = Faults(self.shared, self.lanes, dynamics is not None)
        self._engines = KeptEngines()
        self._pictures = BatchPictures()
        self._delays = delays and precision == "float32"  # whether times that float32 may round are compared
        self.unconverged = 0  # steps of a group of lanes in which some iteration did not reach its tolerance
        self.reset()
        self._made()

    def _states(self, setup: Setup) -> tuple[BatchStates, Integrator]:
        """The states and their integrator: side by side in lanes, or one by one, as where events are located."""
        law, room = self._law, len(self._parameters)
        if isinstance(law, Hard):
            each = replace(setup, contact=law.of_first())
            first = Engine(each)
            if first.hard is not None:
                if self.precision != "float64":
                    raise OptionError("hard contact and events need precision='float64': they are located in time")
                if self._vary:
                    raise OptionError("vary: with hard contact and events only the numbers of saltus.Hard may differ")
                engines = [first, *(Engine(each) for _ in range(min(self.threads, self.n) - 1))]
                kind = OneByOne if why_alone(first) else SteppedLanes
                return kind(engines, self.n, law, room), first.integrator
            integrator = first.integrator
        else:
            integrator = find_integrator(setup.integrator, self.shared.opt.integrator, setup.tolerance)
            check_sampling(self.shared, integrator)
            check_discrete(self.shared, integrator)
            hard_numbers(self.shared, law, integrator, UserEvents((), None), ())
        check_size(self.shared, integrator, 0 if setup.control is None else setup.control.states_of(self.shared))
        if integrator.doubles_only and self.precision != "float64":
            raise OptionError(
                f"{integrator.name} needs precision='float64', as its derivatives are differences; choose this or "
                "another integrator, such as dopri5"
            )
        laws = user_laws(self.shared, setup.control, equations_key(setup.dynamics, self.shared))
        if isinstance(law, Compliant) and self.shared.struct().nconmax:
            laws = laws._replace(touch=law.feature_key)
        how = (self.threads, self.precision, integrator, self.timestep, laws, room)
        return Lanes(self.shared, self.n, *how, self._vary), integrator

    @in_turn
    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor and arguments for `copy` and `pickle`."""
        self._notice()
        made = {name: getattr(self, name) for name in ("n", "threads", "precision")}
        made |= self._present().arguments() | {"vary": self._vary}
        kept = {name: getattr(self, name) for name in ("unconverged", "timestep")}
        return _restored, (type(self), made, kept, self.lanes.kept(), self._own_attributes())

    def _why_not(self, name: str) -> str:
        if hasattr(type(self), name):
            return ""
        for field in (name, f"opt.{name}"):
            if field in MAY_VARY:
                what = f"batch.model.{field} [n, ...]" if field in self._vary else f"Batch(..., vary=['{field}'])"
                return f"{name} is the model's: {what} lets simulations differ in it"
        return belongs_elsewhere(name, self.shared, READABLE, "batch.read('{name}')")

    def _present(self) -> Setup:
        """The setup with the law that may have changed, and the integrator that its tolerance is in."""
        return replace(self._setup, contact=self._law, integrator=self.integrator, tolerance=None)

    def __repr__(self) -> str:
        how = f"{self.precision}, {count(self.threads, 'thread')}, {self.integrator.name}, h = {self.timestep:g} s"
        return f"Batch({self.shared.name!r}, n = {self.n}, {how})"

    _repr_html_ = notebook_html
    _chosen = frozenset({"shared", "n", "precision", "threads", "lanes"})

    def __len__(self) -> int:
        return self.n

    @property
    def integrator(self) -> Integrator:
        """The integrator, with its present step bounds."""
        return self._integrator

    @property
    def timestep(self) -> float:
        """Length of a step (s); adaptive methods choose their own steps within each."""
        return self._timestep

    @timestep.setter
    @in_turn
    def timestep(self, value: float) -> None:
        self._timestep = positive("timestep", value)
        if "lanes" in vars(self):
            self._bound_steps()

    def _bound_steps(self) -> None:
        """Apply the given step bounds to an adaptive integrator, with those that time-dependent laws require."""
        self._integrator = self._step_bounds.of(self.integrator, self.timestep, self._timed)
        self.lanes.take_integrator(self.integrator)

    @property
    def law(self) -> Law:
        """The contact law; assigning a `saltus.Hard` changes restitution and friction from the next step on."""
        return self._law

    @law.setter
    @in_turn
    def law(self, law: Law) -> None:
        self.lanes.set_law(law)
        self._law = law

    # ------------------------------------------------------------ state

    @property
    @in_turn
    def diverged(self) -> NDArray[np.bool_]:
        """Mask [n] of simulations that diverged, or met an event that could not be handled; `reset` restarts them."""
        return self.lanes.diverged()

    @property
    @in_turn
    def ended(self) -> NDArray[np.bool_]:
        """Mask [n] of simulations that a terminal event ended in the last `step`; the next `step` continues them."""
        return self.lanes.ended()

    @property
    @in_turn
    def events(self) -> EventTable:
        """The log of events since the last reset, as of `Simulation`, sorted by the field `simulation`.

        The log grows with every step; `forget_events` empties it.
        """
        return self.lanes.events()

    @in_turn
    def events_of(self, i: int) -> EventTable:
        """The log of events of simulation i, as its `Simulation.events` would be."""
        return self.lanes.events(simulation_index("events_of", i, self.n))

    @in_turn
    def forget_events(self, ids: Ids = None) -> None:
        """Empty the log of all simulations, or of those with the given ids or mask; the motion does not change."""
        self.lanes.forget_events(indices("forget_events", ids, self.n))

    @in_turn
    def reset(self, ids: Ids = None, key: int | str | None = None) -> None:
        """Bring all simulations, or those with the given ids or mask, to a keyframe or the model's start."""
        index = indices("reset", ids, self.n)
        if not len(index):
            return
        start = start_state(self.shared, key, self.timestep)
        if "act" in start:
            start["act"] = np.concatenate([start["act"], np.zeros(self.lanes.shape("act")[0] - len(start["act"]))])
        self._restart(index, {"control_prm": self._parameters} | start)

    def _restart(self, index: NDArray[np.int64], start: Mapping[str, ArrayLike]) -> None:
        """Let simulations begin with values of fields, one row for all; the other fields are zero."""
        self._views.notice()
        for field in FIELDS:
            if field in start or np.prod(self.lanes.shape(field)):
                write(self.lanes, field, start.get(field, 0.0), index)
        self.lanes.restart(index)
        self._faults.forget(index)
        self._views.keep()

    def _notice(self) -> None:
        super()._notice()
        self._notice_model()

    @in_turn
    def simulation(self, i: int) -> Simulation:
        """Simulation i by itself from its present state on; its further steps have the batch's bits.

        Steps run in the batch's compiled loop, on one lane of a register; quantities read between steps are computed
        as in any other Simulation.
        """
        self._notice()
        i = simulation_index("simulation", i, self.n)
        if not isinstance(self.lanes, Lanes):
            raise OptionError("simulation: not with hard contact or events; make a saltus.Simulation with that state")
        sim = Simulation(**replace(self._present(), model=self._model_of(i)).arguments())
        go_on_in(sim.engine, self.lanes.alone(i))
        return sim

    # ------------------------------------------------------------ motion

    @in_turn
    def step(self, n: int = 1, ids: Ids = None) -> None:
        """Take n steps with the present inputs: all simulations, or those with the given ids or mask.

        Raises DivergenceError if simulations diverge; the others have taken their steps. Those that diverged keep their
        last valid state and its time, `diverged` says which they are, and each further step that should move them
        raises the error again, until `reset(batch.diverged)` restarts them.
        """
        n = whole_number("step: n", n)
        chosen = None if ids is None else indices("step", ids, self.n)
        if self._delays:
            self._check_clock(n)
        before = self.lanes.diverged()
        self._notice()
        self._faults.stop_singular(chosen, self._model_of)
        status = self.lanes.advance(n, self.timestep, chosen)
        self._conclude(status)
        self._raise_failures(before, chosen, n)

    def _conclude(self, status: int) -> None:
        """Keep what steps have left, and tell what was wrong in them; ModelError if contacts did not fit."""
        self._faults.keep()
        self._views.keep()
        failed = self.lanes.take_unsolved()
        if failed:
            # iterations of the hard law depend on the number of contacts
            most = "" if isinstance(self._law, Hard) else f" in {self.shared.opt.iterations} iterations"
            self._warn(f"the constraint solver did not reach its tolerance{most}")
        if status == NOT_CONVERGED:
            self._warn(relaxed(self.integrator) if self.integrator.adaptive else "Newton's method did not converge")
            failed = 1
        self.unconverged += failed
        if status == CONTACTS_FULL:
            raise contacts_full(self.lanes.m)

    @in_turn
    def rollout(
        self,
        controls: ArrayLike | SupportsDLPack,
        record: Sequence[str] | str | None = None,
        *,
        start: Simulation | Start | None = None,
        computed: Literal["after", "before"] = "after",
        on_divergence: Literal["raise", "flag"] = "raise",
    ) -> Rollout:
        """Take T steps under controls [n, T, nu], or [T, nu] for all, in one compiled call; a `Rollout` of records.

        `record`: names of fields as of `read`, recorded after each step as [n, T, ...]: by default "time", "qpos",
        "qvel", "act" and, if there are sensors, "sensordata". Quantities other than those of the state cost about as
        much as the steps. `computed`: with "before" these quantities, such as sensordata and qacc, are those at the
        state before each step, under its controls, as MuJoCo's rollouts give them.

        The simulations are then where `step` would have left them, with the same bits, whatever is recorded and on any
        number of threads. Where they go from event to event, each step is a call of its own, and one that a terminal
        event ends stands there.

        `start`: where all begin, from the present states if None. A `saltus.Simulation`: with its state and inputs, as
        `set_from`. A mapping of fields such as {"qpos": [n, nq] or [nq], "qvel": ...}, or a recording (its end): what
        it leaves out of time, qpos, qvel and act is that of the model's start; inputs such as mocap poses and applied
        forces stay.

        Simulations that diverge keep their last valid state, and their rows from the failed step on are nan.
        `on_divergence`: with "raise" a DivergenceError or EventError, which has the result as `rollout`; with "flag"
        the `diverged` and `taken` of the result tell.

        Raises:
            OptionError: controls have the wrong shape, a field does not exist, or the start is of another mechanism.
            DivergenceError, EventError: as `step`, unless they are flagged.
        """
        _among("on_divergence", on_divergence, ("raise", "flag"))
        when = AFTER if _among("computed", computed, ("after", "before")) == "after" else BEFORE
        names = [name for name in RECORDED if name != "sensordata" or self.shared.nsensordata]
        plan = plan_of(self._reader, controls, names if record is None else record, when)
        if start is not None:
            self._begin(start)
        before = self.lanes.diverged()
        self._take(plan)
        found = Rollout(plan.arrays, plan.controls, plan.taken, self.lanes.diverged())
        if on_divergence == "raise":
            try:
                self._raise_failures(before, None, plan.controls.shape[1])
            except (DivergenceError, EventError) as error:
                error.rollout = found  # pyright: ignore[reportAttributeAccessIssue] (of many simulations)
                raise
        return found

    def _take(self, plan: Plan) -> None:
        """Take the steps of a rollout."""
        if self._delays:
            self._check_clock(plan.controls.shape[1])
        self._notice()
        self._faults.stop_singular(None, self._model_of)
        self._conclude(take_rollout(self._reader, plan, self.timestep))

    def _begin(self, start: Simulation | Start) -> None:
        """Bring all simulations to a start."""
        if isinstance(start, Simulation):
            self.set_from(start)
            return
        fields = start_fields(start, self.lanes)
        kept = dict(zip(INPUTS, self.read(INPUTS), strict=True))
        self.reset()
        for name, values in (kept | fields).items():
            self.write(name, values)

    @in_turn
    def set_from(self, sim: Simulation, ids: Ids = None) -> None:
        """Give all simulations, or those with the given ids or mask, state and inputs of a simulation.

        The simulation is of the same mechanism; integrator, timestep, contact law and values of the model may differ.
        Simulations that diverged are among those that continue.

        Raises:
            OptionError: the simulation is of another mechanism, or its controller has other states or parameters.
        """
        if not isinstance(sim, Simulation):
            raise OptionError(f"set_from takes a saltus.Simulation, not {type(sim).__name__}")
        fields = fields_of(sim.engine, self.lanes, "set_from")
        index = indices("set_from", ids, self.n)
        if not len(index):
            return
        warm = fields.pop("qacc_warmstart", None)
        self._restart(index, {name: values for name, values in fields.items() if values.size})
        if warm is not None and warm.size:  # last: the others void it
            write(self.lanes, "qacc_warmstart", warm, index)
            self._views.keep()

    def run(
        self,
        duration: float,
        sample: float | None = None,
        control: Callable[[Batch], ArrayLike | None] | None = None,
        progress: ProgressChoice = None,
        *,
        record: str | Iterable[str] = (),
    ) -> BatchRecording:
        """Simulate `duration` seconds and record all simulations [n, T, ...] every `sample` seconds (None: every step).

        Both are whole numbers of timesteps, or OptionError. `control`: f(batch) -> ctrl [n, nu] or None, at each step.
        `record`: further fields, as of `Simulation.run`. Rows after a terminal event are nan. A DivergenceError or
        EventError has the recording, in which others went on, as `trajectory`.
        """
        return run_batch(self, self.engine_of(0), duration, sample, control, progress, record)

    @in_turn
    def linearize(self, parameters: Sequence[str] | str | None = None) -> tuple[NDArray[np.float64], ...]:
        """A, B, with `parameters` also P [n, ...], of a step of each simulation: `Simulation.linearize`, in float64.

        On all threads for fixed steps, without parameters, of simulations that share their model; else one after the
        other.
        """
        names = None if parameters is None else words("parameters", parameters)
        self._check_times("linearize")
        own = self._vary or isinstance(self._law, Hard)
        fields = self._given_fields()
        if not own and names is None:
            found = linearize_all([*self._engines.of(self, workers_for(self.lanes))], self.lanes, fields)
            if found is not None:
                return found
        return linearize_each(self._engines.of(self, self.n if own else 1), fields, names)

    @in_turn
    def linearize_sensors(
        self, sensors: Sequence[str] | str | None = None, *, parameters: Sequence[str] | str | None = None
    ) -> tuple[NDArray[np.float64], ...]:
        """C, D, with `parameters` also P [n, ...], of readings: `Simulation.linearize_sensors`, in float64.

        One simulation after the other, each at its present state.
        """
        chosen = None if sensors is None else words("sensors", sensors)
        names = None if parameters is None else words("parameters", parameters)
        self._check_times("linearize_sensors")
        own = self._vary or isinstance(self._law, Hard)
        fields = self._given_fields()
        engines = self._engines.of(self, self.n if own else 1)
        return of_each(engines, fields, lambda engine: linearize_sensors(engine, chosen, names))

    @overload
    def render(
        self,
        width: int = ...,
        height: int = ...,
        camera: str | int | Camera | None = ...,
        *,
        depth: Literal[False] = ...,
        ids: Ids = ...,
        **view: Unpack[OtherViewOptions],
    ) -> NDArray[np.uint8]: ...

    @overload
    def render(
        self,
        width: int = ...,
        height: int = ...,
        camera: str | int | Camera | None = ...,
        *,
        depth: Literal[True],
        ids: Ids = ...,
        **view: Unpack[OtherViewOptions],
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]: ...

    @in_turn
    def render(
        self,
        width: int = 64,
        height: int = 64,
        camera: str | int | Camera | None = None,
        *,
        depth: bool = False,
        ids: Ids = None,
        **view: Unpack[OtherViewOptions],
    ) -> NDArray[np.uint8] | tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Pictures [n, height, width, 3] of the present states, from one camera in each simulation, on all threads.

        `depth`: also depths [n, height, width] along the camera's axis (m) of planes and opaque things, inf for the
        sky. `ids`: draw these simulations only. `view`: follow, shadow, sites, tendons and groups of
        `saltus.draw.scene.view.View`. OptionError where `vary` has sizes or places of geoms or sites.
        """
        seen = View.of(width=width, height=height, camera=camera, **view)
        if own := of_their_own(self._vary):
            raise OptionError(
                f"render: {own} may differ between the simulations, and their pictures share one scene; "
                "batch.simulation(i).picture() draws one with its own"
            )
        read = lambda names: self.read(tuple(names))  # noqa: E731
        images, depths = self._pictures.draw(self.shared, self.lanes, read, seen, flag("depth", depth), ids)
        return images if depths is None else (images, depths)

    def engine_of(self, i: int) -> Engine:
        """A new engine for simulation i by itself, at its start."""
        law = law_of(self._law, i) if isinstance(self._law, Hard) else self._law
        return Engine(replace(self._present(), contact=law, model=self._model_of(i) if self._vary else self.shared))

    def _given_fields(self) -> dict[str, NDArray[Any]]:
        """States and inputs of all simulations; DivergenceError if one is not finite."""
        fields = dict(zip(FIELDS, self.read(FIELDS), strict=True))
        self._faults.check_given(fields)
        return fields

    def _check_times(self, what: str) -> None:
        """OptionError where derivatives, in float64, would look up delayed values at times that are float32."""
        if self._delays:
            raise OptionError(
                f"{what}: float32 is too coarse for the times of delayed controls and sensors, so that others than "
                "those of the batch would act; use precision='float64'"
            )

    def _check_clock(self, n: int) -> None:
        """Raise OptionError if sample times of delayed controls and sensors would coincide in float32."""
        latest = np.abs(self.lanes.clock).max() + n * self.timestep
        # tolerance of `saltus.dynamics.history.same_time`
        if 4.0 * np.finfo(np.float32).eps * latest > 0.5 * self.timestep:
            raise OptionError(
                f"at t = {latest:.6g} s float32 cannot distinguish the times of delayed controls and sensors "
                f"(timestep {self.timestep:g} s); use precision='float64', or reset the simulations earlier"
            )

    def _warn(self, what: str) -> None:
        """Warn once that steps were inaccurate; `unconverged` counts them."""
        if not self.unconverged:
            warn(f"{self.integrator.name}: {what} in some simulations (timestep {self.timestep:g} s)")

    def _raise_failures(self, before: NDArray[np.bool_], chosen: NDArray[np.int64] | None, n: int) -> None:
        """Raise the error of the first simulation that n steps could not move; of those that fail first now, if any."""
        failed = self.lanes.diverged()
        if chosen is not None:
            failed &= np.isin(self.lanes.everyone, chosen)
        new = np.flatnonzero(failed & ~before)
        if new.size:
            raise self._faults.error(int(new[0]), new.size, self._model_of, self.timestep)
        old = np.flatnonzero(failed)
        if old.size and n:
            raise self._faults.error(int(old[0]), old.size, self._model_of, self.timestep, since=True)


def _among(name: str, value: str, choices: tuple[str, ...]) -> str:
    """A value of an option, which is one of few words."""
    if not isinstance(value, str) or value not in choices:
        raise OptionError.unknown(name, value, choices)
    return value


def _restored(kind, made, kept, lanes, own) -> Batch:
    """Rebuild a batch from what `Batch.__reduce__` returned."""
    batch = kind.__new__(kind)
    Batch.__init__(batch, **made)
    batch.lanes.go_to(lanes)
    for name, value in {**kept, **own}.items():
        setattr(batch, name, value)
    return batch
