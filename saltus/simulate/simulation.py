"""One mechanism in motion."""

import copy
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.arguments import numbers, positive, whole_number
from saltus.contact.event.modes import UNDONE
from saltus.contact.mujoco.collision import attach
from saltus.contact.mujoco.rays import attach_sense
from saltus.dynamics.control import PID_PARAMETERS
from saltus.errors import OptionError
from saltus.integrate.adaptive.dopri5 import GOING
from saltus.integrate.event.event_driven import event_driven, step_word
from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import find_integrator
from saltus.model.compile.kernel_model import UserLaws
from saltus.model.layout import DATA, model_layout
from saltus.model.load import load
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.table.events import EVENT_DTYPE, event_table
from saltus.simulate import copying, divergence, loops, rows
from saltus.simulate.contact import Compliant, Law, find_contact_law, hard_numbers
from saltus.simulate.control import Controller, check_control, user_laws
from saltus.simulate.data import Data
from saltus.simulate.dynamics import Dynamics, equations_key, full_inertia
from saltus.simulate.events import Actuation, Event, UserEvents, start_values
from saltus.simulate.hybrid import EventReader, check_start
from saltus.simulate.sensing import BODY_FIELDS, compute_bodies, reading, sensordata
from saltus.simulate.snapshot import marked, unmarked
from saltus.simulate.start import check_discrete, check_sampling, start_state
from saltus.simulate.step_events import StepEventReader
from saltus.simulate.turn import Turn, in_turn
from saltus.solve.status import ENDED, EVENTS_FULL

if TYPE_CHECKING:
    from PIL.Image import Image

    from saltus.record.trajectory import Trajectory
    from saltus.simulate.impact_report import ImpactReport

_HAS_XFRC = DATA.slot["has_xfrc"]


def put(name: str, view: np.ndarray, value: Any) -> None:
    """Write into a field that users set; OptionError for what is no number or has another shape."""
    values = numbers(name, value)
    try:
        view[...] = values
    except ValueError:
        raise OptionError(f"{name} has shape {view.shape}, not {values.shape}") from None


def state_property(name: str, unit: str) -> Any:
    """A field of the state or the inputs as an attribute: reading gives a view, assigning writes into it."""

    def read(self: "Simulation") -> np.ndarray:
        return self._struct.views[name]

    @in_turn
    def write(self: "Simulation", value: Any) -> None:
        put(name, self._struct.views[name], value)

    return property(read, write, doc=f"{name} ({unit}): a view to read and write.")


def made_with(name: str, option: str, about: str) -> Any:
    """What a simulation is made with, by an option of its own, as an attribute that can be read alone."""

    def write(self: "Simulation", value: Any) -> None:
        if name in vars(self):
            raise OptionError(f"{name} cannot be changed; make another simulation: saltus.Simulation({option})")
        vars(self)[name] = value

    return property(lambda self: vars(self)[name], write, doc=about)


class Simulation:
    """A model, its state, and an integrator that moves it.

    `integrator`: a name (see `saltus.integrators`), an Integrator, a ButcherTableau, or None for what the model's file
    says. `timestep` (s): None for the file's. `contact`: the contact law, "soft", "hard", saltus.Soft(),
    saltus.Hard(...), or one's own, saltus.Compliant(force).
    `tolerance`: (relative, absolute) error per step of adaptive integrators. `control`: a controller in the time loop
    (`saltus.PID`, `saltus.controller`). `dynamics`: equations of motion in the place of the engine's (see
    `saltus.Dynamics`). `events`: functions of the state whose sign changes are located in time, and what happens there
    (`saltus.Event`), under hard contact or where nothing can touch. `actuation_states`: how many discrete states there
    are, or their first values; with `saltus.Actuation` as control they are its own.

    `time` (s), `qpos` [nq], `qvel` [nv], `act` [na and the controller's states], `ctrl` [nu], `qfrc_applied` [nv],
    `xfrc_applied` [nbody, 6], `mocap_pos` [nmocap, 3], `mocap_quat` [nmocap, 4], `userdata` [nuserdata] and
    `actuation_state` [n] are views to read and write; `data` holds what is computed from them.

    A simulation is for one thread at a time: while one is in a method, any other that calls one or assigns to the state
    gets a ConcurrencyError. Simulations of one model may run in many threads at once.
    """

    def __init__(
        self,
        model: Any,
        integrator: Any = None,
        contact: Any = "soft",
        timestep: float | None = None,
        *,
        tolerance: tuple[float, float] | None = None,
        control: Controller | None = None,
        dynamics: Dynamics | None = None,
        events: Sequence[Event] = (),
        actuation_states: int | Sequence[float] | None = None,
    ):
        self._turn = Turn("Simulation")
        check_control(control)
        self.model = load(model)
        self.user_events = UserEvents(events, control)
        self._start_values = start_values(actuation_states, control)
        discrete = bool(self.user_events.all or self._start_values)
        self.law = find_contact_law(contact, self.model if discrete else None)
        if integrator is None and self.law.name == "hard":
            integrator = "dopri5"  # what events are located with
        self.integrator = find_integrator(integrator, self.model.opt.integrator, tolerance)
        check_sampling(self.model, self.integrator)
        check_discrete(self.model, self.integrator, self.law.name == "hard")
        self._touch = self.law.feature_key if isinstance(self.law, Compliant) and self.model.struct().nconmax else ""
        self._hard = hard_numbers(self.model, self.law, self.integrator, self.user_events, self._start_values)
        self.timestep = self.model.opt.timestep if timestep is None else timestep
        self._made = dict(
            timestep=self.timestep, control=control, dynamics=dynamics, events=events, actuation_states=actuation_states
        )
        # steps of adaptive integrators are not what a soft constraint's time constant is measured against
        self._law_timestep = self.integrator.law_timestep(self.timestep)
        self._model = self.model.struct(timestep=self._law_timestep, laws=UserLaws(hard=self._hard, touch=self._touch))
        room = _room(self.model, control)
        self._located = self._hard is not None and self._hard.event  # whether events are located in time
        stepped = event_driven(self.integrator) if self._located else self.integrator
        self._struct = Struct(DATA, stepped.data_sizes(self._model.sizes, **room))
        self._struct.fill("timestep", self.timestep)
        attach(self.model, self._struct)
        if "sensor_delay" in self._model.layout.features:
            attach_sense(self.model, self._struct)  # steps look, too
        self._state = self._struct.real[self._struct.span("time", "xfrc_applied")]
        self._motion = self._rows_of("qpos", "qvel")  # places in the state
        self._loop = loops.advance(stepped)
        self._method = step_word(self.integrator) if self._located else ""
        self._stepping = self._hard is not None and not self._hard.event  # whether steps go over events
        self._events = EventReader(self) if self._located else StepEventReader(self) if self._stepping else None
        self.events = event_table(np.empty(0, EVENT_DTYPE))  # of steps since the last reset
        self._remembers = self._struct.views["memory"].size > 0
        self._no_forces = bytes(self._struct.views["xfrc_applied"].nbytes)
        self._computed: np.ndarray | None = None  # the state that computed quantities belong to
        self._left: np.ndarray | None = None  # the state that the last step left
        self._linearization: Any = None  # made when first needed
        self._about: dict[str, Any] | None = None  # what recordings say about it, made when first needed
        self._points: Any = None  # numbers of contact points, likewise
        self._mark: float | None = None  # what its snapshots end with, likewise
        self.unconverged = 0  # steps whose iteration did not reach its tolerance
        self._dynamics, self._equations = dynamics, equations_key(dynamics, self.model)
        self._control: Controller | None = None
        self.control = control
        self.reset()
        self._made_attributes = frozenset({*vars(self), "_made_attributes"})

    @in_turn
    def __reduce__(self) -> copying.Reduced:
        return copying.reduced_simulation(self)

    def __repr__(self) -> str:
        return f"Simulation({self.model.name!r}, {self.integrator.name}, h = {self.timestep:g} s, t = {self.time:g} s)"

    def _repr_html_(self) -> str:
        from saltus.simulate.notebook import simulation_html

        return simulation_html(self)

    model: Model = made_with("model", "model, ...", "The mechanism.")
    law: Law = made_with("law", "..., contact=saltus.Hard(...)", "The law of contact.")
    integrator: Integrator = made_with("integrator", "..., integrator=...", "What moves the state on.")

    @property
    def timestep(self) -> float:
        """Length of a step, s; adaptive methods take steps of their own up to the end of each."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._timestep = positive("timestep", value)

    # ------------------------------------------------------------ state

    @property
    def time(self) -> float:
        """Time in s."""
        return float(self._struct.views["time"])

    @time.setter
    @in_turn
    def time(self, value: float) -> None:
        put("time", self._struct.views["time"], value)

    qpos = state_property("qpos", "rad, m, quaternions")
    qvel = state_property("qvel", "rad/s, m/s")
    ctrl = state_property("ctrl", "actuator's unit")
    qfrc_applied = state_property("qfrc_applied", "N m, N")
    xfrc_applied = state_property("xfrc_applied", "force N, torque N m; world axes, at the centre of mass")

    mocap_pos = state_property("mocap_pos", "m")
    mocap_quat = state_property("mocap_quat", "quaternions")
    userdata = state_property("userdata", "whatever they mean to a controller")

    actuation_state = state_property("actuation_state", "discrete, changed by events")

    @property
    def act(self) -> np.ndarray:
        """States of actuators [na], then those of a controller: a view to read and write."""
        return self._struct.views["act"][: self._model.nact]

    @act.setter
    @in_turn
    def act(self, value: Any) -> None:
        put("act", self.act, value)

    @property
    def control_prm(self) -> np.ndarray:
        """Parameters of the controller, as its law reads them: a view to read and write while it runs."""
        return self._struct.views["control_prm"]

    @property
    def control(self) -> Controller | None:
        """The controller in the time loop; assigning one begins with its states as `act` has them, zero at first."""
        return self._control

    @control.setter
    @in_turn
    def control(self, control: Controller | None) -> None:
        check_control(control)
        if control is not None and not _fits(self._struct.sizes, _room(self.model, control)):
            raise OptionError("there is no room for this controller; give it to Simulation(..., control=...)")
        self._control, self._linearization = control, None
        if isinstance(control, Actuation) and control.events != self.user_events.all[: len(control.events)]:
            raise OptionError("this Actuation has events; give it to Simulation(..., control=...)")
        self._laws = user_laws(self.model, control, self._equations)._replace(hard=self._hard, touch=self._touch)
        self._model = self.model.struct(timestep=self._law_timestep, laws=self._laws)
        # what steps are compiled with and looking at a state is not
        words = {self.user_events.feature_key, self._method} - {""}
        self._stepped = copy.copy(self._model)
        self._stepped.layout = model_layout(self._model.layout.features | words)
        if control is not None:
            parameters = control.parameters(self.model)
            self._struct.views["control_prm"][: len(parameters)] = parameters
        self._computed = self._about = None
        self.data = Data(self.model, self._model, self._struct, self._refresh, self._turn)

    @property
    def contact(self) -> str:
        """The name of the contact law, "soft" or "hard"; `law` is the law itself."""
        return self.law.name

    @property
    def dynamics(self) -> Dynamics | None:
        """The equations of motion that were given; None: the engine's."""
        return self._dynamics

    @in_turn
    def reset(self, key: int | str | None = None) -> None:
        """Go to a keyframe by name or number, or to the model's start: its `initial_key`, or else qpos0 at rest."""
        self._place(key)
        self._computed = self._left = None
        self.unconverged = 0
        self.events = self.events[:0]

    def _place(self, key: int | str | None) -> None:
        """Put the state at a keyframe or the model's start."""
        parameters = self._struct.views["control_prm"].copy()
        self._state[:] = 0.0
        self._struct.views["control_prm"][:] = parameters
        for name, value in start_state(self.model, key, self.timestep).items():
            view = self._struct.views[name]
            (view[: len(value)] if view.ndim else view)[...] = value
        self.actuation_state[:] = self._start_values

    @in_turn
    def snapshot(self) -> np.ndarray:
        """A copy of the state and inputs, for `restore`."""
        self._prepare()
        return marked(self)

    @in_turn
    def restore(self, snapshot: np.ndarray) -> None:
        """Go back to a snapshot of this simulation or one of the same model, integrator and contact law.

        OptionError: it is another's.
        """
        self._state[:] = unmarked(self, snapshot)
        self._left = self._state.copy()
        self.events = self.events[self.events["time"] <= self.time]

    # ------------------------------------------------------------ motion

    @in_turn
    def forward(self) -> None:
        """Compute everything in `data` from the present state and inputs."""
        self._note_forces()
        before = self._state.copy()
        if self._located:
            self._settle()
        status = loops.forward(self._model, self._struct)
        if self._control is not None and not self._control.hold:
            rows = self._rows_of("ctrl")
            before[rows] = self._state[rows]
        # looking does not change where the constraint solver will begin
        self._state[:] = self._computed = before
        if status:
            divergence.handle(self, before, 0, status)

    def step(self, n: int = 1) -> None:
        """Take n steps with the present inputs, or fewer where an event ends the run.

        Raises DivergenceError, with the state left at the last good one, if a velocity is not a number or beyond 1e10.
        """
        n = whole_number("step: n", n)
        turn = self._turn  # as `in_turn` does, at a fifth of the cost
        if not turn.take(False):
            raise turn.refusal()
        try:
            before = self._state.copy()
            self._prepare()
            taken, status = self._advance(n, self.timestep)
            if status and status != ENDED:
                divergence.handle(self, before, taken, status)
            self._finish(before)
        finally:
            turn.leave()

    def _advance(self, n: int, h: float) -> tuple[int, int]:
        """n steps of h seconds; returns how many were taken, and a status."""
        self._computed = None
        if not self.integrator.adaptive:
            self._struct.views["timestep"][...] = h
        if self._events is not None:
            return self._advance_located(n, h)
        return self._loop(self._stepped, self._struct, n, h, *self.integrator.parameters)

    def _advance_located(self, n: int, h: float) -> tuple[int, int]:
        """The same with a log of events, which is read in between."""
        taken, status = 0, EVENTS_FULL
        self._struct.views["event_count"][UNDONE] = 0
        while status == EVENTS_FULL and taken < n:
            more, status = self._loop(self._stepped, self._struct, n - taken, h, *self.integrator.parameters)
            taken += more
            self._read_events()
        return taken, 0 if status == EVENTS_FULL else status

    def _read_events(self) -> np.ndarray:
        """Events since the last call; they are kept in `events` too."""
        new = self._events.read() if self._events is not None else self.events[:0]
        if len(new):
            self.events = np.concatenate([self.events, new]) if len(self.events) else new
        return new

    def _settle(self) -> None:
        """Find the modes of the present state to look at it, if they are not known; the next step finds them again."""
        if self._modes_are_known():
            return
        check_start(self)
        loops.settle(self._stepped, self._struct)
        if self._events is not None:
            self._events.read()  # that step's

    def _modes_are_known(self) -> bool:
        """Whether the modes belong to the state; forgets them if it was changed from outside."""
        known = self._struct.views["modes_known"]
        if self._was_moved():
            known[:] = 0.0
        return bool(known[0])

    def _was_moved(self) -> bool:
        """Whether positions or velocities are others than those that the last step left."""
        rows = self._motion
        return self._left is None or not np.array_equal(self._state[rows], self._left[rows])

    def _rows_of(self, name: str, last: str | None = None) -> slice:
        """Where a field lies in the state, with all fields up to the `last`."""
        rows, first = self._struct.span(name, last or name), self._struct.span("time", "time").start
        return slice(rows.start - first, rows.stop - first)

    def _note_forces(self) -> None:
        """Tell kernels whether there are Cartesian forces at all."""
        self._struct.ints[_HAS_XFRC] = self.xfrc_applied.tobytes() != self._no_forces

    def _prepare(self) -> None:
        """Before steps: an integrator forgets what it remembers if the state was changed from outside.

        An adaptive one forgets its slopes where an input was.
        """
        self._note_forces()
        if self._located and not self._modes_are_known():
            check_start(self)
        if self._stepping and self._was_moved():
            self._struct.views["past_known"][...] = 0.0
        if self._remembers:
            moved, memory = self._struct.span("time", "act"), self._struct.views["memory"]
            if self._left is None or not np.array_equal(self._state[moved], self._left[moved]):
                memory[:] = 0.0
            elif self.integrator.adaptive and not np.array_equal(self._state, self._left):
                memory[GOING] = 0.0

    @in_turn
    def begin(self) -> None:
        """Find the modes of the present state, where events are located in time; impacts there are in the log."""
        self._prepare()
        if not self._located or self._modes_are_known():
            return
        before = self._state.copy()
        status = loops.settle(self._stepped, self._struct)
        self._read_events()
        self._computed = None
        if status:
            divergence.handle(self, before, 0, status)
        self._left = self._state.copy()

    def _finish(self, before: np.ndarray) -> None:
        """After steps from the state `before`: keep that which they left, to see later whether it was changed."""
        if self._dynamics is not None:
            divergence.check_inertia(self, before)
        if self._remembers or self._events is not None:
            self._left = self._state.copy()

    @in_turn
    def run(
        self,
        duration: float,
        sample: float = 1 / 60,
        control: Any = None,
        progress: Any = None,
        *,
        certify: bool = False,
        save: str | os.PathLike[str] | None = None,
        ledger: bool = False,
    ) -> "Trajectory":
        """Simulate `duration` seconds from the present state and record every `sample` seconds.

        Samples are at exact times whatever the step: a sample inside a step is the state after a shorter step of the
        same method from that step's start, so that sampling does not change the motion. The last step is shortened to
        end at `duration`; where no sample lies there, the state at the end is `end` of the trajectory.

        `control`: a function f(sim) -> ctrl [nu], called at the start of each step (with dopri5, at every multiple of
        the timestep, which its steps pass over unless the function changes something there); an array [nu], held; an
        array [steps, nu], one row a step; or a controller in the time loop (`saltus.PID`, `saltus.controller`), whose
        states are the last of `act`. `progress`: True or False to show a bar or not (None: on long runs in a terminal),
        or a function of the fraction done. `certify`: repeat the run with half and a quarter of the step and put a
        statement of its accuracy into `certificate`.

        `save`: a Zarr store (.zarr) that does not exist yet, to which the run is recorded as it goes on, in memory that
        does not grow with it; the trajectory that is returned reads its columns from there when they are first looked
        at. A process that is killed leaves there what was committed, every two seconds, and `saltus.resume` goes on
        from it.

        `ledger`: keep an account of energy: what is held where, and the work of all kinds of forces, summed up over
        every step; `trajectory.energy_report()` is the balance. The motion is the same; the run takes longer, with
        methods of more than one stage several times as long.

        Ctrl-C ends the run early and returns what was recorded. DivergenceError carries what was recorded in
        `trajectory`.
        """
        from saltus.simulate.run import run

        return run(self, duration, sample, control, progress, certify=certify, save=save, ledger=ledger)

    @in_turn
    def picture(
        self, path: str | os.PathLike[str] | None = None, *, renderer: str = "saltus", text: str = "", **view: Any
    ) -> "Image":
        """Draw the present state: a Pillow image, which notebooks show; written to `path` too (.png, .jpg, .webp).

        `renderer`: "saltus", or "mujoco", MuJoCo's, where OpenGL works. `text`: written into the picture. `view`:
        width, height, camera, follow, contacts, com, ... of `saltus.draw.scene.view.View`; contacts are those of
        `data`.
        """
        from saltus.simulate.picture import picture

        return picture(self, path, renderer=renderer, text=text, **view)

    @in_turn
    def impact_report(self, within: float = 10.0) -> "ImpactReport":
        """What all laws and treatments make of the next impact, at most `within` s away: an `ImpactReport`.

        Its text says where Newton's and Poisson's law, and simultaneous, sequential and Moreau's treatment differ.
        The simulation stays where it is. OptionError if there is no impact, or events are not located in time.
        """
        from saltus.simulate.hybrid import report_of_next_impact

        return report_of_next_impact(self, positive("within", within))

    # ------------------------------------------------------------ quantities

    @in_turn
    def _refresh(self, name: str) -> np.ndarray | None:
        """Bring computed quantities up to the present state if they are not; returns the state they belong to."""
        if self._computed is None or not np.array_equal(self._computed, self._state):
            self.forward()
        if name == "qfrc_inverse":
            loops.inverse(self._model, self._struct)
        elif name in BODY_FIELDS:
            compute_bodies(self)
        return self._computed

    @property
    @in_turn
    def sensordata(self) -> np.ndarray:
        """Readings of all sensors [nsensordata] at the present state, in the order of the file; SI units, no noise."""
        return sensordata(self)

    @in_turn
    def sensor(self, name: str) -> np.ndarray:
        """Reading of the sensor with a name at the present state; an OptionError names the sensors there are."""
        return reading(self, name)

    @in_turn
    def energy(self) -> np.ndarray:
        """(potential, kinetic) energy in J at the present state.

        The potential is that of weights, of springs and of deformable bodies, stretch and bending included (which
        MuJoCo's own energy leaves out).
        """
        divergence.check_given(self)
        loops.energy(self._model, self._struct)
        self._computed = None
        return self._struct.views["energy"].copy()

    def _sample(self) -> tuple[np.ndarray, np.ndarray]:
        """Energy, and which pairs of geoms touch, at the present state."""
        loops.sample(self._model, self._struct)
        self._computed = None
        return self._struct.views["energy"].copy(), rows.closed_pairs(self._model, self._struct)

    @in_turn
    def full_M(self) -> np.ndarray:
        """The joint-space inertia matrix [nv, nv] (kg, kg m, kg m²) at the present state."""
        self._refresh("M")
        return full_inertia(self._model, self._struct.views["M"])

    @in_turn
    def jacobian(self, body: str | int, point: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Jacobians [3, nv] of a point fixed to a body (m, world axes; None: its centre of mass) and its turning."""
        from saltus.simulate.jacobian import jacobian

        return jacobian(self, body, point)

    @in_turn
    def linearize(self) -> tuple[np.ndarray, np.ndarray]:
        """Exact derivatives A [2 nv + na, 2 nv + na], B [2 nv + na, nu] of one step at the present state.

        In the tangent space, (dq, dv, dw)' = A (dq, dv, dw) + B du with w the states of actuators, and of a controller,
        as `mjd_transitionFD` defines them; by dual numbers. Hard contact has no derivatives: OptionError.
        """
        if self._hard is not None:
            raise OptionError("linearize: steps under the hard law of contact have no derivatives; use contact='soft'")
        divergence.check_given(self)
        if self._linearization is None:
            from saltus.simulate.linearize import Linearization

            self._linearization = Linearization(self)
        return self._linearization()


def _room(model: Model, control: Controller | None) -> dict[str, Any]:
    """Room that a Data keeps for a controller: that of a PID on every actuator, or more."""
    states, parameters = model.nu, PID_PARAMETERS * model.nactuator
    if control is not None:
        states = max(states, control.states_of(model))
        parameters = max(parameters, len(control.parameters(model)))
    return {"control_states": states, "control_prm": parameters}


def _fits(sizes: dict[str, int], room: dict[str, int]) -> bool:
    return sizes["nact"] + room["control_states"] <= sizes["nact_room"] and room["control_prm"] <= sizes["ncontrol_prm"]
