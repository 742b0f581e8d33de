"""`saltus.Simulation`: one mechanism, its state, and an integrator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import positive, whole_number, words
from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import IntegratorChoice, Tolerance
from saltus.model.load import ModelSource
from saltus.model.model import Model
from saltus.offered import offered
from saltus.record.table.events import EventTable
from saltus.simulate import stepping
from saltus.simulate.attributes import StateAttributes, belongs_elsewhere, made_with
from saltus.simulate.engine.data import Data
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import checkpoint, go_to, marked, unmarked
from saltus.simulate.engine.threads.turn import Turn, in_turn
from saltus.simulate.laws.contact import ContactChoice, Law
from saltus.simulate.laws.control import Controller
from saltus.simulate.laws.dynamics import Dynamics
from saltus.simulate.laws.events import Actuation, Event, UserEvents
from saltus.simulate.laws.motions import Motions, no_motions
from saltus.simulate.named import NamedParts
from saltus.simulate.quantities import Quantities
from saltus.simulate.setup import Setup
from saltus.terminal.display import notebook_html
from saltus.terminal.inline_page import Page
from saltus.terminal.progress import ProgressChoice

if TYPE_CHECKING:
    from PIL.Image import Image

    from saltus.draw.scene.view import ViewOptions
    from saltus.record.table.certificate import Certificate
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.analysis.impact_report import ImpactReport

#: Controls of a run: a function of the simulation, numbers [nu] or [steps, nu], or a Controller.
RunControl: TypeAlias = Callable[["Simulation"], ArrayLike | None] | ArrayLike | Controller | None


class Simulation(StateAttributes, NamedParts, Quantities):
    """A model, its state, and an integrator that moves it.

    `integrator`: a name (see `saltus.integrators`), an Integrator, a ButcherTableau, or None for the integrator of the
    model's file. `timestep` (s): None for the file's. `contact`: the contact law: "soft", "hard", saltus.Soft(),
    saltus.Hard(...), or a user-defined law, saltus.Compliant(force). `tolerance`: (relative, absolute) error per step
    of adaptive integrators; a number is the relative one, with a hundredth of it as absolute one. `control`: a
    controller in the time loop (`saltus.PID`, `saltus.controller`). `dynamics`: equations of motion in place of the
    engine's (see `saltus.Dynamics`). `events`: functions of the state whose sign
    changes are located in time, with actions (`saltus.Event`), under hard contact or if nothing can touch.
    `actuation_states`: number of discrete states, or their initial values; `saltus.Actuation` as control has its own.
    `max_step` (s): the longest step of an adaptive integrator; None: the timestep if a user-defined law reads `d.time`,
    otherwise unlimited. `breaks` (s): times at which such laws may jump, where steps end. `motions`: prescribed motions
    by the names of hinges, slides and mocap bodies, `{"crank": lambda t: 0.3 * math.sin(5 * t)}`: functions of time (s)
    that return the position (rad, m; of a mocap body (x, y, z), or this and a quaternion), whose exact derivatives are
    velocity and acceleration; `data.qfrc_prescribed` are the required forces. `threads`: number of threads that share
    the work of each step, for worlds of hundreds of bodies; results are equal to the last bit.

    `time` (s), `qpos` [nq], `qvel` [nv], `act` [na and the controller's states], `ctrl` [nu], `qfrc_applied` [nv],
    `xfrc_applied` [nbody, 6], `mocap_pos` [nmocap, 3], `mocap_quat` [nmocap, 4], `mocap_vel` [nmocap, 6], `userdata`
    [nuserdata] and `actuation_state` [n] are views to read and write; `data` holds quantities computed from them.

    Use a simulation in one thread at a time: while a thread is in a method, others that call a method or assign to the
    state get a ConcurrencyError. Simulations of one model may run in many threads at once.
    """

    def __init__(
        self,
        model: ModelSource,
        integrator: IntegratorChoice = None,
        contact: ContactChoice = "soft",
        timestep: float | None = None,
        *,
        tolerance: Tolerance | None = None,
        control: Controller | None = None,
        dynamics: Dynamics | None = None,
        events: Sequence[Event] = (),
        actuation_states: int | Sequence[float] | None = None,
        max_step: float | None = None,
        breaks: Sequence[float] = (),
        motions: Motions | None = None,
        threads: int = 1,
    ):
        self._turn = Turn("Simulation")
        laws = control, dynamics, events, actuation_states, max_step, breaks, motions
        self.engine = Engine(
            Setup(model, integrator, contact, timestep, tolerance, *laws), whole_number("threads", threads, 1)
        )
        self.data = Data(self.engine, self._refresh, self._turn)
        self._made()

    @in_turn
    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor and arguments for `copy` and `pickle`.

        Memory itself cannot be copied: it is aligned for compiled code, and holds addresses of objects.
        """
        made = self.engine.setup.arguments() | {"threads": self.engine.threads}
        kept = {"timestep": self.timestep, "unconverged": self.unconverged, "events": self.events.copy()}
        step = float(self.engine.d.views["timestep"])
        own = self._own_attributes()
        return _restored, (type(self), made, kept, checkpoint(self.engine), self.control, step, own)

    def _why_not(self, name: str) -> str:
        known = hasattr(type(self), name)
        return "" if known else belongs_elsewhere(name, self.model, dir(self.data), "sim.data.{name}")

    def __repr__(self) -> str:
        return f"Simulation({self.model.name!r}, {self.integrator.name}, h = {self.timestep:g} s, t = {self.time:g} s)"

    _repr_html_ = notebook_html
    _chosen = frozenset({"engine", "data"})

    model: Model = made_with("model", "model, ...", "The mechanism.")
    law: Law = made_with("law", "..., contact=saltus.Hard(...)", "The contact law.")
    integrator: Integrator = made_with("integrator", "..., integrator=...", "The integrator.")

    @property
    def timestep(self) -> float:
        """Length of a step (s); adaptive methods choose their own steps within each."""
        return self.engine.timestep

    @timestep.setter
    @in_turn
    def timestep(self, value: float) -> None:
        self.engine.timestep = positive("timestep", value)

    @property
    def threads(self) -> int:
        """The number of threads that share the work of each step."""
        return self.engine.threads

    @property
    def user_events(self) -> UserEvents:
        """Events that users have defined, those of the controller among them."""
        return self.engine.user_events

    @property
    def events(self) -> EventTable:
        """The log of events of the steps since the last reset."""
        return self.engine.events

    @property
    def tree_asleep(self) -> NDArray[np.int32]:
        """Sleep state of kinematic trees [ntree], MuJoCo's tree_asleep; [0] if no tree may sleep.

        For a sleeping tree, the next of the trees that sleep together, in a cycle. For an awake tree, -1 minus the
        number of steps that it has to be slow before it may fall asleep with the next step.
        """
        return self.engine.tree_asleep.astype(np.int32)

    @property
    def unconverged(self) -> int:
        """Steps since the last reset in which an iteration did not reach its tolerance."""
        return self.engine.unconverged

    # ------------------------------------------------------------ state

    @property
    def control_prm(self) -> NDArray[np.float64]:
        """Parameters of the controller, in the order that its law reads: a view to read and write during a run."""
        return self.engine.control_prm

    @property
    def control(self) -> Controller | None:
        """The controller in the time loop; a new one starts with its states as `act` has them, initially zero."""
        return self.engine.control

    @control.setter
    @in_turn
    def control(self, control: Controller | None) -> None:
        self.engine.set_control(control)

    @property
    def contact(self) -> str:
        """The name of the contact law, "soft" or "hard"; `law` is the law itself."""
        return self.law.name

    @property
    def dynamics(self) -> Dynamics | None:
        """The user-defined equations of motion; None: the engine's."""
        return self.engine.dynamics

    @in_turn
    def reset(self, key: int | str | None = None) -> None:
        """Go to a keyframe by name or number, or to the model's start: its `initial_key`, or else qpos0 at rest."""
        stepping.refuse_in_control(self.engine, "reset")
        self.engine.reset(key)

    @in_turn
    def snapshot(self) -> NDArray[np.float64]:
        """A copy of the state and inputs, for `restore`."""
        self.engine.prepare()
        return marked(self.engine)

    @in_turn
    def restore(self, snapshot: NDArray[np.float64]) -> None:
        """Go back to a snapshot of this simulation or one of the same model, integrator and contact law.

        OptionError: the snapshot belongs to another kind of simulation, or was rounded; the message says what differs.
        """
        engine = self.engine
        stepping.refuse_in_control(engine, "restore")
        engine.state[:] = unmarked(engine, snapshot)
        engine.left = engine.state.copy()
        engine.events = engine.events[engine.events["time"] <= engine.time]

    # ------------------------------------------------------------ motion

    @in_turn
    def forward(self) -> None:
        """Compute everything in `data` from the present state and inputs."""
        stepping.forward(self.engine)

    def step(self, n: int = 1) -> None:
        """Take n steps with the present inputs, or fewer where an event ends the run.

        Raises DivergenceError, with the state left at the last good one, if a velocity is not a number or beyond 1e10.
        """
        n = whole_number("step: n", n)
        turn = self._turn  # as `in_turn` does, at a fifth of the cost
        if not turn.take(False):
            raise turn.refusal()
        try:
            stepping.take_steps(self.engine, n, self.engine.timestep)
        finally:
            turn.leave()

    @in_turn
    def begin(self) -> None:
        """Find the modes of the present state, where events are located in time; impacts there are in the log."""
        stepping.begin(self.engine)

    @in_turn
    def run(
        self,
        duration: float,
        sample: float = 1 / 60,
        control: RunControl = None,
        progress: ProgressChoice = None,
        *,
        certify: bool = False,
        save: str | os.PathLike[str] | None = None,
        ledger: bool = False,
        record: str | Iterable[str] = (),
        sensitivity: str | Sequence[str] = (),
    ) -> Trajectory:
        """Simulate `duration` seconds from the present state and record every `sample` seconds.

        Samples are at exact times whatever the step: a sample inside a step is the state after a shorter step of the
        same method from that step's start, so that sampling does not change the motion. The last step is shortened to
        end at `duration`; where no sample lies there, the state at the end is `end` of the trajectory.

        `control`: a function f(sim) -> ctrl [nu], called at the start of each step (with dopri5, at every multiple of
        the timestep, which its steps pass over unless the function changes something there), which must not step or
        reset the simulation itself; an array [nu], held; an array [steps, nu], one row a step; or a controller in the
        time loop (`saltus.PID`, `saltus.controller`), whose states are the last of `act`. `progress`: True or False to
        show a bar or not (None: on long runs in a terminal), or a function of the fraction done. `certify`: repeat the
        run in finer steps and put a statement of its accuracy into `certificate`: an estimate and a bound of its
        error, and its limitations.

        `save`: path of a new Zarr store (.zarr) to which the run is recorded while it advances, in memory that does not
        grow with it; the returned trajectory reads its columns from there on first access. If the process is killed,
        the store keeps the commits made every two seconds, and `saltus.resume` continues from the last one.

        `ledger`: keep an account of all kinds of energy, and of the work of all kinds of forces, summed over every
        step; `trajectory.energy_report()` is the balance. The motion is the same; the run takes longer, for methods of
        more than one stage several times as long.

        `record`: fields of `data` to record too, whole ("qfrc_actuator") or those of one object ("xpos[hand]",
        "site_xpos[tip]", "xpos[hand][2]"), at the states of the samples; `trajectory["xpos[hand]"]` is one. Sensor
        readings, `sensordata`, are in every recording of a model with sensors. OptionError lists what there is.

        `sensitivity`: what to differentiate the located events by, names as of `saltus.run_gradient`: "qpos", "qvel",
        "act" at the start, "ctrl", "body_mass[link]", "Hard.restitution". `trajectory.events.sensitivity["qvel"]` has
        the derivatives of each event's time, of the state at it and of its impulse, exact to rounding, from a second
        run with dual numbers. OptionError where events are not located, or a control is a function; EventError where an
        event has no derivatives: one that grazes, or several contacts that meet at once only here.

        Ctrl-C ends the run early and returns the recording up to there. DivergenceError has it as `trajectory`.
        """
        from saltus.simulate.running.run import run

        stepping.refuse_in_control(self.engine, "run")
        names, differentiated = words("sensitivity", sensitivity), None
        if names:
            from saltus.simulate.derivatives.event_derivatives import EventRun

            differentiated = EventRun(self.engine, names, duration, control)
        again = self._again
        how: dict[str, Any] = dict(certify=certify, save=save, ledger=ledger, record=record)
        trajectory = run(self.engine, self, again, duration, sample, control, progress, **how)
        if differentiated is not None and "interrupted_at" not in trajectory.attrs:
            differentiated.attach_to(trajectory)
        return trajectory

    @in_turn
    def certify(
        self,
        start: NDArray[np.float64],
        trajectory: Trajectory,
        duration: float,
        sample: float = 1 / 60,
        control: RunControl = None,
        progress: ProgressChoice = None,
    ) -> Certificate | None:
        """Accuracy of a run that began at the snapshot `start`, from repeating it with finer steps.

        `duration`, `sample`, `control`, `progress`: the arguments of `run`; `run(..., certify=True)` does both. The
        simulation's state does not change. Returns None if interrupted.
        """
        from saltus.simulate.running.certify import certify_run

        return certify_run(self.engine, self._again, start, trajectory, duration, sample, control, progress)

    def _again(self, **changes: Any) -> Simulation:
        """A copy of this simulation at its start, with some options changed."""
        states = None if isinstance(self.control, Actuation) else self.engine.start_values
        present = {"timestep": self.timestep, "control": self.control, "actuation_states": states}
        return Simulation(**(self.engine.setup.arguments() | present | changes))

    @in_turn
    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        renderer: str = "saltus",
        text: str = "",
        **view: Unpack[ViewOptions],
    ) -> Image:
        """Draw the present state: a Pillow image, which notebooks show; also written to `path` (.png, .jpg, .webp).

        `renderer`: "saltus", or "mujoco" for MuJoCo's, which needs OpenGL. `text`: written into the picture. `view`:
        width, height, camera, follow, contacts, com, ... of `saltus.draw.scene.view.View`; contacts are those of
        `data`.
        """
        from saltus.simulate.picture import picture

        return picture(self.engine, path, renderer=renderer, text=text, **view)

    def page(self, path: str | os.PathLike[str] | None = None, *, height: int = 520, **options: object) -> Page:
        """Return a page that simulates from the present state on in the reader's browser; see `Model.page`."""
        no_motions(self.engine.motions.laws, "a page")
        return offered("make_page")(self, path, height, options)

    @in_turn
    def impact_report(self, within: float = 10.0) -> ImpactReport:
        """Outcomes of the next impact, at most `within` s ahead, under all laws and treatments: an `ImpactReport`.

        The report's text tells where Newton's and Poisson's law, and simultaneous, sequential and Moreau's treatment
        differ. The simulation's state does not change. OptionError if there is no impact, or events are not located.
        """
        from saltus.simulate.analysis.next_impact import report_of_next_impact

        return report_of_next_impact(self.engine, positive("within", within))

    def _refresh(self, name: str) -> np.ndarray | None:
        turn = self._turn  # as in `step`
        if not turn.take(False):
            raise turn.refusal()
        try:
            return stepping.refresh(self.engine, name)
        finally:
            turn.leave()


def _restored(kind, made, kept, saved, control, step, own) -> Simulation:
    """Rebuild a simulation from what `Simulation.__reduce__` returned."""
    sim = kind.__new__(kind)
    Simulation.__init__(sim, **made)
    if control is not sim.control:
        sim.control = control
    go_to(sim.engine, saved)
    sim.engine.d.views["timestep"][...] = step
    for name, value in kept.items():
        setattr(sim.engine, name, value)
    for name, value in own.items():
        setattr(sim, name, value)
    return sim
