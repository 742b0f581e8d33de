"""The engine: memory and compiled time loop of one simulation."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from saltus.arguments import positive
from saltus.contact.mujoco.collision import attach
from saltus.contact.mujoco.rays import attach_sense
from saltus.errors import OptionError
from saltus.integrate.adaptive.memory import GOING
from saltus.integrate.event.event_driven import event_driven, step_word
from saltus.integrate.registry import find_integrator
from saltus.model.compile.kernel_model import UserLaws
from saltus.model.event_enums import UNDONE, WORST
from saltus.model.layout import DATA, model_layout
from saltus.model.load import load
from saltus.model.model import Model
from saltus.number.cache.checked import CHECKED
from saltus.number.structs import Struct
from saltus.record.table.events import EVENT_DTYPE, EventTable, event_table
from saltus.simulate.engine import constraint_rows, loops
from saltus.simulate.engine.events.located import EventReader, warn_of_unproved
from saltus.simulate.engine.events.passed import PassedReader
from saltus.simulate.engine.events.start import check_start
from saltus.simulate.engine.events.stepped import StepEventReader
from saltus.simulate.engine.guidance import Guidance
from saltus.simulate.engine.initial_state import (
    check_discrete,
    check_sampling,
    check_size,
    check_sleep,
    start_asleep,
    start_state,
)
from saltus.simulate.engine.poison import poison
from saltus.simulate.engine.sensing import BODY_FIELDS, compute_bodies
from saltus.simulate.engine.switches import check_actions, check_switches
from saltus.simulate.engine.threads.team import Team, room, threads_for
from saltus.simulate.laws.contact import Compliant, find_contact_law, hard_numbers
from saltus.simulate.laws.control import Controller, check_control, fits, room_of, user_laws
from saltus.simulate.laws.dynamics import equations_key, full_inertia, inertia_places
from saltus.simulate.laws.events import Actuation, UserEvents, start_values
from saltus.simulate.laws.motions import MotionLaws, check_bases, check_motions
from saltus.simulate.laws.step_bounds import check_bounds, laws_of_time
from saltus.simulate.setup import Setup
from saltus.solve.status import DIVERGED, EVENTS_FULL

_HAS_XFRC = DATA.slot["has_xfrc"]
Loop = Callable[..., tuple[int, int]]  # of the number of steps, their length, and the integrator's parameters


class Engine:
    """A model, its state in memory, and an integrator, below `saltus.Simulation`.

    Steps return a status (`saltus.solve.status`), which `saltus.simulate.diagnosis.divergence.handle` turns into an
    error with an explanation.

    `setup`: its arguments, with the model, integrator and law that were found. m, d: Model and Data as kernels take
    them; `step_m` is the model with the features that only steps are compiled with. `state`: time, positions,
    velocities, inputs and the memory of integrator and solver, a view into d. `left`: the state that the last step
    left. `computed`: the state that computed quantities belong to. `memo`: results that other modules cache for this
    engine until its controller changes.
    """

    def __init__(self, setup: Setup, threads: int = 1):
        control, dynamics = setup.control, setup.dynamics
        check_control(control)
        self.model: Model = load(setup.model)
        self.user_events = UserEvents(setup.events, control)
        self.motions = MotionLaws(setup.motions, self.model)
        self.start_values = start_values(setup.actuation_states, control)
        discrete = bool(self.user_events.all or self.start_values)
        self.law = find_contact_law(setup.contact, self.model if discrete else None)
        integrator = setup.integrator
        if integrator is None and self.law.name == "hard":
            integrator = "dopri5"  # locates events
        self.integrator = find_integrator(integrator, self.model.opt.integrator, setup.tolerance)
        check_sampling(self.model, self.integrator)
        check_size(self.model, self.integrator, 0 if control is None else control.states_of(self.model))
        check_discrete(self.model, self.integrator, self.law.name == "hard")
        self.step_bounds = check_bounds(setup.max_step, setup.breaks, self.integrator)
        self._timestep = positive("timestep", self.model.opt.timestep if setup.timestep is None else setup.timestep)
        # time constants of soft constraints are not limited by the steps of adaptive integrators
        self.law_timestep = self.integrator.law_timestep(self.timestep)
        self.dynamics, self.equations = dynamics, equations_key(dynamics, self.model)
        self.hard = hard_numbers(self.model, self.law, self.integrator, self.user_events, self.start_values)
        self.locates_events = self.hard is not None and self.hard.event
        self.steps_over_events = self.hard is not None and not self.hard.event
        self.sleeps = check_sleep(self.model, self.law.name, self.integrator, dynamics)
        law = self.law if self.model.struct().nconmax else None
        self._touch = law.feature_key if isinstance(law, Compliant) else ""
        given = {"user-defined equations of motion (dynamics=...)": dynamics is not None and bool(self.motions.joints)}
        check_motions(self.motions, self.model, self.model.struct(), self.integrator, given, self.hard is not None)
        found: dict[str, Any] = {"model": self.model, "integrator": self.integrator, "contact": self.law}
        found |= {"timestep": self._timestep, "tolerance": None, "motions": self.motions.laws}
        self.setup = replace(setup, **found)
        self._allocate(control, threads)
        self.events: EventTable = event_table(np.empty(0, EVENT_DTYPE))  # of steps since the last reset
        self.unconverged = 0  # steps whose iteration did not reach its tolerance
        self.unproved = 0  # steps in which a contact may have been missed
        self.passed: list[str] = []  # pairs of geoms that passed each other within a step since the last reset
        self.in_control = False  # whether a run is calling its control function
        self.left: np.ndarray | None = None
        self.computed: np.ndarray | None = None
        self._computed_bits = b""  # of `computed`: they are compared faster than numbers
        self.memo: dict[str, Any] = {}
        # takes the steps in place of `loop`, if set
        self.other_loop: Callable[[Engine, int, float], tuple[int, int]] | None = None
        self.set_control(control)
        self.guidance.take_motions()
        self.reset(None)

    def _allocate(self, control: Controller | None, threads: int) -> None:
        """Allocate memory with room for the controller and for threads that share steps, and compile the loop."""
        laws = UserLaws(hard=self.hard, touch=self._touch, sleeps=self.sleeps, motions=self.motions.prescribed())
        self.m = self.model.struct(timestep=self.law_timestep, laws=laws)
        stepped = event_driven(self.integrator) if self.locates_events else self.integrator
        self.threads = threads_for(self.model, self.m, threads, hard=self.hard is not None)
        sizes = stepped.data_sizes(self.m.sizes, **room_of(self.model, control))
        self.d = Struct(DATA, room(sizes, self.threads) if self.threads > 1 else sizes)
        self.d.fill("timestep", self.timestep)
        self._timestep_place = self.d.span("timestep", "timestep").start
        attach(self.model, self.d)
        if "sensor_delay" in self.m.layout.features:
            attach_sense(self.model, self.d)  # steps of this model read sensors
        self.state = self.d.real[self.d.span("time", "xfrc_applied")]
        views = self.d.views
        self.qpos, self.qvel, self.ctrl = views["qpos"], views["qvel"], views["ctrl"]
        self.qfrc_applied, self.xfrc_applied = views["qfrc_applied"], views["xfrc_applied"]
        self.mocap_pos, self.mocap_quat = views["mocap_pos"], views["mocap_quat"]
        self.actuation_state, self.control_prm = views["actuation_state"], views["control_prm"]
        self.team = Team(self.model, self.m, self.d, self.threads) if self.threads > 1 else None
        self.loop = loops.advance(stepped)
        self._method = step_word(self.integrator) if self.locates_events else ""
        self._motion = self.rows_of("qpos", "eq_active")
        self.guidance = Guidance(self.model, self.motions, self.m, self.d, self.locates_events)
        self._switches = b""
        self.remembers = views["memory"].size > 0  # whether steps depend on the ones before them
        if self.sleeps:
            loops.whole(self.m, self.d)
        self._no_forces = bytes(views["xfrc_applied"].nbytes)
        self.event_reader: EventReader | StepEventReader | None = None
        if self.locates_events:
            self.event_reader = EventReader(self.model, self.m, self.d, self.user_events.names)
        elif self.steps_over_events:
            self.event_reader = StepEventReader(self.model, self.m, self.d)
        self.passed_reader: PassedReader | None = None
        if self.d.sizes["npassed"] and (self.locates_events or not self.integrator.adaptive):
            self.passed_reader = PassedReader(self.model, self.m, self.d, self.locates_events)

    def set_control(self, control: Controller | None) -> None:
        """Set the controller, with its states as `act` has them; OptionError if there is no room for it."""
        check_control(control)
        check_bases(control, self.motions, self.model)
        if control is not None and not fits(self.d.sizes, room_of(self.model, control)):
            raise OptionError("no room for this controller; pass it to Simulation(..., control=...)")
        if isinstance(control, Actuation) and control.events != self.user_events.all[: len(control.events)]:
            raise OptionError("this Actuation has events; pass it to Simulation(..., control=...)")
        self.control = control
        self._bound_steps()
        self.laws = user_laws(self.model, control, self.equations)._replace(
            hard=self.hard, touch=self._touch, sleeps=self.sleeps, motions=self.motions.prescribed()
        )
        self.m = self.model.struct(timestep=self.law_timestep, laws=self.laws)
        words = {self.user_events.feature_key, self._method} - {""}
        self.step_m = copy.copy(self.m)
        self.step_m.layout = model_layout(self.m.layout.features | words)
        if control is not None:
            parameters = control.parameters(self.model)
            self.control_prm[: len(parameters)] = parameters
        self._bound_loop: Loop | None = None  # made with the first step, since compiling takes a while
        self.computed = None
        self.memo.clear()
        self.guidance.m = self.m
        self.guidance.allow_warnings()
        located = self.locates_events or self.steps_over_events or self.integrator.adaptive
        guided = bool(self.motions.laws) or self.guidance.has_movers
        checked = CHECKED or self.dynamics is not None or self.model.inertia_may_be_singular or self.model.neq
        others = located or guided or checked or self.remembers or self.sleeps or self.team is not None
        self.unattended = not others  # between steps nothing but compiled code moves, remembers or checks anything

    def laws_of_time(self, control: Any = None) -> list[str]:
        """Names of the user's laws that read the time; `control`: a Controller to consider instead of the engine's."""
        own = control if isinstance(control, Controller) else self.control
        return laws_of_time(own, self.dynamics, self.user_events, self.law, self.motions)

    def longest_step(self, control: Any = None) -> float:
        """The longest step (s) of an adaptive integrator, otherwise infinite; `control` as in `laws_of_time`."""
        return (
            self.step_bounds.longest(self.timestep, self.laws_of_time(control)) if self.integrator.adaptive else np.inf
        )

    def _bound_steps(self) -> None:
        """Apply the given step bounds to an adaptive integrator, with those that time-dependent laws require."""
        if self.integrator.adaptive:
            self.integrator = self.step_bounds.of(self.integrator, self.timestep, self.laws_of_time())

    # ------------------------------------------------------------ state

    @property
    def timestep(self) -> float:
        """Length of a step (s); adaptive methods choose their own steps within each."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._timestep = value
        self._bound_steps()

    @property
    def time(self) -> float:
        """Time in s."""
        return float(self.d.views["time"])

    @property
    def act(self) -> np.ndarray:
        """States of actuators [na], then those of a controller: a view."""
        return self.d.views["act"][: self.m.nact]

    @property
    def tree_asleep(self) -> np.ndarray:
        """Sleep state of kinematic trees [ntree], MuJoCo's tree_asleep; [0] if no tree may sleep."""
        return self.d.views["tree_asleep"]

    def rows_of(self, name: str, last: str | None = None) -> slice:
        """Rows of the state that hold a field and all fields after it up to `last`."""
        rows, first = self.d.span(name, last or name), self.d.span("time", "time").start
        return slice(rows.start - first, rows.stop - first)

    def reset(self, key: int | str | None) -> None:
        """Go to a keyframe or the model's start, and discard everything remembered."""
        self.place(key)
        self.computed = self.left = None
        self.unconverged = self.unproved = 0
        self.passed, self.events = [], self.events[:0]
        if self.passed_reader is not None:
            self.passed_reader.forget()

    def place(self, key: int | str | None) -> None:
        """Put the state at a keyframe or the model's start."""
        parameters = self.control_prm.copy()
        self.state[:] = 0.0
        self.control_prm[:] = parameters
        for name, value in start_state(self.model, key, self.timestep).items():
            view = self.d.views[name]
            (view[: len(value)] if view.ndim else view)[...] = value
        self.actuation_state[:] = self.start_values
        if self.sleeps:
            for name, value in start_asleep(self.model).items():
                self.d.views[name][...] = value
        self.guidance.place()

    def was_moved(self) -> bool:
        """Whether positions, velocities or active equalities differ from those that the last step left."""
        return not self._is_left(self._motion)

    def _is_left(self, rows: slice) -> bool:
        return self.left is not None and np.array_equal(self.state[rows], self.left[rows])

    # ------------------------------------------------------------ motion

    def advance(self, n: int, h: float) -> tuple[int, int]:
        """Take n steps of h seconds; returns the number taken, and a status."""
        self.computed = None
        poison(self.d)
        if not self.integrator.adaptive:
            self.d.views["timestep"][...] = h
        if self.other_loop is not None:
            return self.other_loop(self, n, h)
        taken = self._take_steps(n, h) if self.event_reader is None else self._advance_logging(n, h)
        if self.passed_reader is not None:
            self.passed += self.passed_reader.read(h)
        return taken

    def advance_unattended(self, n: int, h: float) -> tuple[int, int]:
        """`note_forces` and `advance` of an engine that is `unattended`, at less cost."""
        self._note_cartesian_forces()
        if self.other_loop is not None:
            return self.advance(n, h)
        self.computed = None
        self.d.real[self._timestep_place] = h
        taken = (self._bound_loop or self._bind_loop())(n, h, *self.integrator.parameters)
        if self.passed_reader is not None:
            self.passed += self.passed_reader.read(h)
        return taken

    def _bind_loop(self) -> Loop:
        """Bind the loop to the structs, which `set_control` makes anew."""
        self._bound_loop = self.loop.bound(self.step_m, self.d)
        return self._bound_loop

    def stepping(self, h: float) -> Callable[[], int]:
        """A function that takes a step of h seconds and returns a status, at less cost a step than `advance`."""
        if self.other_loop is not None or self.event_reader is not None or self.sleeps or self.team or CHECKED:
            return lambda: self.advance(1, h)[1]
        step, numbers = self._bound_loop or self._bind_loop(), (1, h, *self.integrator.parameters)
        if not self.integrator.adaptive:
            self.d.views["timestep"][...] = h

        def take() -> int:
            self.computed = None
            status = step(*numbers)[1]
            if self.passed_reader is not None:
                self.passed += self.passed_reader.read(h)
            return status

        return take

    def _take_steps(self, n: int, h: float) -> tuple[int, int]:
        """Take n steps in one call of compiled code."""
        if self.sleeps:
            if not np.isfinite(self.state[self._motion]).all():
                return 0, DIVERGED
            loops.begin_sleeping(self.m, self.d)
        if self.team is None:
            return self.loop(self.step_m, self.d, n, h, *self.integrator.parameters)
        with self.helping(n):
            return self.loop(self.step_m, self.d, n, h, *self.integrator.parameters)

    def helping(self, steps: int | None = None) -> AbstractContextManager[None]:
        """Let the other threads, if any, share compiled steps within the block; `steps`: their number, if known."""
        return nullcontext() if self.team is None else self.team.helping(self.step_m, steps)

    def _advance_logging(self, n: int, h: float) -> tuple[int, int]:
        """Take n steps with a log of events, which is read whenever it is full."""
        taken, status, counts = 0, EVENTS_FULL, self.d.views["event_count"]
        counts[[UNDONE, WORST]] = 0
        while status == EVENTS_FULL and taken < n:
            more, status = self.loop(self.step_m, self.d, n - taken, h, *self.integrator.parameters)
            taken += more
            self.read_events()
        return taken, max(0 if status == EVENTS_FULL else status, int(counts[WORST]))

    def read_events(self) -> None:
        """Append new events to `events`; count steps in which contacts may be missing, and warn of them."""
        self.unproved += warn_of_unproved(self.d)
        if self.event_reader is None:
            return
        if self._switches:
            check_actions(self.model, np.frombuffer(self._switches), self.d.views["eq_active"])
        new = self.event_reader.read(len(self.events))
        if len(new):
            events = np.concatenate([self.events, new]) if len(self.events) else new
            self.events = events.view(EventTable)

    def prepare(self, duration: float = 0.0) -> None:
        """Prepare steps of `duration` s in all: integrators discard what they remember of a state changed since.

        Adaptive integrators also discard slopes if an input changed. Mocap bodies start to move to their new poses.
        """
        self.note_forces()
        self.guidance.prescribe(by_users=True)
        if self.locates_events and not self.modes_are_known():
            check_start(self.model, self.m, self.d, self.guidance.said, started=self.guidance.jumped)
        if self.guidance.has_movers:
            self.place_if_new()
            self.guidance.move_mocap(duration)
        if self.steps_over_events and self.was_moved():
            self.d.views["past_known"][...] = 0.0
        if self.remembers:
            moved, memory = self.d.span("time", "act"), self.d.views["memory"]
            if self.left is None or not np.array_equal(self.state[moved], self.left[moved]):
                memory[:] = 0.0
            elif self.integrator.adaptive and not np.array_equal(self.state, self.left):
                memory[GOING] = 0.0

    def place_if_new(self) -> None:
        """Move mocap bodies to their poses instantly, in a state that no step has left."""
        if self.guidance.has_movers and not self._is_left(self.rows_of("time", "qvel")):
            self.guidance.place_mocap()

    def place_mocap(self) -> None:
        """Move mocap bodies to their poses instantly, at the start of a run."""
        if self.guidance.place_mocap():
            self.d.views["modes_known"][:] = 0.0
            self.guidance.jumped = self.left is not None

    def keep_left(self) -> None:
        """Keep the state after steps, if changes from outside have to be noticed."""
        self.guidance.end_step()
        needed = self.remembers or self.event_reader is not None or self.guidance.has_movers
        if needed or self.model.inertia_may_be_singular:
            self.left = self.state.copy()

    def note_forces(self) -> None:
        """Tell kernels whether there are any Cartesian forces; check the switches of equalities."""
        if self.model.neq:
            self._switches = check_switches(self.model, self.m, self.d.views["eq_active"], self._switches)
        self._note_cartesian_forces()

    def _note_cartesian_forces(self) -> None:
        self.d.ints[_HAS_XFRC] = self.xfrc_applied.tobytes() != self._no_forces

    def modes_are_known(self) -> bool:
        """Whether the contact modes belong to the state; modes of a state changed from outside are discarded."""
        known = self.d.views["modes_known"]
        if self.was_moved():
            known[:] = 0.0
        return bool(known[0])

    def settle(self) -> np.ndarray:
        """Find unknown contact modes of the present state, to read it; the next step finds them again.

        Returns the kinds of the events there.
        """
        if self.modes_are_known():
            return np.empty(0, np.str_)
        check_start(self.model, self.m, self.d, self.guidance.said)
        loops.settle(self.step_m, self.d)
        if self.event_reader is None:
            return np.empty(0, np.str_)
        return self.event_reader.read(len(self.events))["kind"]

    # ------------------------------------------------------------ quantities

    def forward(self) -> int:
        """Compute everything from the present state and inputs; returns a status. The solver's warm start is kept."""
        self.note_forces()
        if not self.unattended:
            self.guidance.prescribe(by_users=True)
            self.place_if_new()
        before = self.state.copy()
        if self.locates_events:
            self.settle()
        poison(self.d)
        status = loops.forward(self.m, self.d)
        if self.control is not None and not self.control.hold:
            before[self.rows_of("ctrl")] = self.state[self.rows_of("ctrl")]
        self.state[:] = before
        self.computed, self._computed_bits = None if status == DIVERGED else before, before.tobytes()
        return status

    def is_computed(self) -> bool:
        """Whether computed quantities belong to the present state."""
        return self.computed is not None and self._computed_bits == self.state.tobytes()

    def compute_more(self, name: str) -> None:
        """Compute the quantities that `forward` leaves out, if the field is one of them."""
        if name == "qfrc_inverse":
            loops.inverse(self.m, self.d)
        elif name in BODY_FIELDS:
            compute_bodies(self.model, self.law_timestep, self.laws, self.d)

    def energy(self) -> np.ndarray:
        """(potential, kinetic) energy (J) of the present state."""
        self.place_if_new()
        loops.energy(self.m, self.d)
        self.computed = None
        return self.d.views["energy"].copy()

    def energy_and_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Energy of the present state, and mask of the pairs of geoms that touch in it."""
        loops.sample(self.m, self.d)
        self.computed = None
        return self.d.views["energy"].copy(), constraint_rows.closed_pairs(self.m, self.d)

    def inertia(self) -> np.ndarray:
        """The joint-space inertia matrix [nv, nv] of the last computed state."""
        if "inertia_places" not in self.memo:
            self.memo["inertia_places"] = inertia_places(self.m)
        return full_inertia(self.m, self.d.views["M"], self.memo["inertia_places"])
