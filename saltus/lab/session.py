"""Live sessions of the lab: a simulated model controlled by the page's commands.

A session takes commands, advances time (`tick`) and produces frames and a status; the stage runs it in a thread.
A change that needs another simulation (integrator, step, contact law, gravity, parameters, ghosts) is built while the
present one continues to run; once compiled, the new one takes over its state.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from saltus.errors import DivergenceError, OptionError, SaltusError
from saltus.integrate.registry import find_integrator, integrators
from saltus.lab.base_session import Board
from saltus.lab.controls.extras import Extras
from saltus.lab.controls.link import Link
from saltus.lab.controls.motors import motors
from saltus.lab.controls.parameters import marked
from saltus.lab.controls.sliders import Handle, Slider, control_sliders, joint_sliders, message, parameter_slider
from saltus.lab.data.ghost import ghosts_message
from saltus.lab.data.recording import Downloads, Recorder
from saltus.lab.data.signal_sources import preset_of, simulation_sources
from saltus.lab.data.signals import Signals, Source
from saltus.lab.data.track import Track
from saltus.lab.lateness import Lateness
from saltus.lab.live_frame import live_frame
from saltus.lab.looking_back import LookingBack
from saltus.lab.making.builder import Builder
from saltus.lab.making.judge import explained
from saltus.lab.making.setup import Built, LabStart
from saltus.lab.making.stability import Stability
from saltus.lab.messages.protocol import Frame
from saltus.lab.motion import Motion
from saltus.lab.view.live_status import live_status
from saltus.lab.view.state_text import FIELDS, state_text
from saltus.simulate.running.run_metadata import names_and_units

CONTACT_LAWS = ("soft", "hard")
LONGEST = 0.25  # s of wall time simulated at once; the rest counts as late


class LiveSession(LookingBack):
    """A session that simulates a model while it is displayed."""

    kind = "live"
    where = "in this scene"

    def __init__(self, setup: LabStart, downloads: Downloads):
        sim = setup.simulation()
        super().__init__(sim.model, downloads, setup.speed, setup.playing)
        self.setup = setup
        self.motion = Motion(sim, self.notify)
        self.motors = motors(sim.model)
        self.ready = False
        self._steps = 0  # single steps still to take while paused
        self._lateness = Lateness()
        self.handles: dict[str, Handle] = {h.slider.id: h for h in self.make_handles()}
        self._parameters = {p.key: parameter_slider(p) for p in marked(setup.model, setup.parameters)}
        self.stability = Stability(setup)
        self.extras: Extras | None = None
        self.link: Link | None = None  # to be applied before the next step
        self.signals = self.motion.signals = Signals(self.own_sources(), self.preset())
        track = Track(self.show.coordinates, len(self.show.dofs), 1 + len(setup.ghosts))
        self.signals.follow(track, lambda: self.motion.runs(setup.ghosts))
        self.builder = Builder(setup, setup.settings(sim), self.ear)

    # ------------------------------------------------------------ display

    @property
    def sim(self) -> Any:
        """The running simulation."""
        return self.motion.sim

    @property
    def idle(self) -> bool:
        return not (self.playing or self._steps or self._changed) or not self.ready

    def scene(self) -> dict[str, Any]:
        setup = self.setup
        sliders: list[Slider] = [h.slider for h in self.handles.values()] + list(self._parameters.values())
        return self.show.message(
            setup.name,
            setup.title,
            self.kind,
            phase=setup.phase,
            ghosts=ghosts_message(setup.ghosts),
            integrators=self.integrators(),
            contacts=list(CONTACT_LAWS),
            keys=setup.model.names("key"),
            sliders=message(sliders, self.slider_values()),
            keyboard=self.keyboard(),
            actions=self.actions(),
            motors=[m.message(setup.model, [dof["name"] for dof in self.show.dofs]) for m in self.motors],
        )

    def status(self) -> dict[str, Any]:
        return live_status(self) | self.back_status()

    def slider_values(self) -> dict[str, float]:
        """Values of all sliders by id."""
        values = {id: handle.read(self.sim) for id, handle in self.handles.items()}
        values |= {} if self.extras is None else self.extras.values()
        return values | {key: float(self.sim.model.value(key)) for key in self._parameters}

    def now(self) -> Frame:
        return Frame(
            **live_frame(self.motion, self.show, self.setup.ghosts, self.ready),
            playing=self.playing,
            motors=[(motor.torque(self.sim), self.desired(motor.actuator)) for motor in self.motors],
        )

    def state_text(self) -> str:
        sim = self.sim
        title = f"{self.setup.name} at t = {sim.time:.6g} s, {self.integrator_name()}, timestep {sim.timestep:g} s"
        return state_text(title, sim.time, {name: getattr(sim, name) for name in FIELDS})

    def boards(self) -> list[Board]:
        return [self.signals] if self.extras is None else [self.signals, self.extras]

    def drawings(self) -> list[dict[str, Any]] | None:
        return self.extras.drawn(self.sim, self.notify) if self.extras is not None and self.ready else None

    @property
    def parameter_keys(self) -> list[str]:
        """Keys of the model's values that have sliders."""
        return list(self._parameters)

    # ------------------------------------------------------------ additions of the user

    def add(self, extras: Extras) -> None:
        """Add the user's sliders, buttons, plots and drawings."""
        self.extras = extras
        extras.known = [signal.id for signal in self.signals.signals]

    def sources(self) -> list[Source]:
        """Sources of all signals, the user's included."""
        return self.own_sources() + ([] if self.extras is None else self.extras.sources(self.notify))

    def _take_extras(self) -> None:
        """Take over new additions of the user and call the functions that are due."""
        extras = self.extras
        if extras is None:
            return
        if (new := extras.new_plots()) is not None:
            self._changed = True
            act = extras.call_before_step if extras.steps else None
            self.motion.before_step = None if act is None else lambda sim: act(sim, self.notify)
            self.signals.change(self.sources())
            if new:
                self.signals.choose_also(new)
        if self.ready and extras.due:
            self._call(extras.call_due)

    def _call(self, call: Callable[[Any, Any], None]) -> None:
        """Call functions of the user, which may change the state of the simulation."""
        before = self.sim.time
        if self.motion.moved_by(lambda sim: call(sim, self.notify)):
            if self.sim.time < before:
                self.past.clear()
                self.end_recording("Recording stopped because time was set back.")
            self.after_jump()
        self._changed = True

    # ------------------------------------------------------------ overridden by kinds of sessions

    def own_sources(self) -> list[Source]:
        """Sources of the scene's own signals."""
        return simulation_sources(self.sim)

    def preset(self) -> list[str]:
        """Ids of the signals plotted initially."""
        return list(self.setup.plots) or preset_of(self.sim.model, names_and_units(self.sim.engine)[0])

    def make_handles(self) -> list[Handle]:
        """Sliders of controls and joints."""
        return control_sliders(self.sim) + joint_sliders(self.sim.model)

    def integrators(self) -> list[str]:
        """Names of the integrators that can be chosen."""
        names = [i.name for i in integrators().values()]
        own = self.builder.settings.integrator.name
        return names if own in names else [own, *names]

    def integrator_name(self) -> str:
        """Name of the present integrator."""
        return self.sim.integrator.name

    def page_data(self) -> dict[str, Any]:
        """Data of this kind of session for a standalone page: `kind` and the fields that it needs."""
        return {"kind": "live"}

    def before_steps(self, elapsed: float) -> None:
        """Prepare the steps for `elapsed` seconds of wall time."""

    def desired(self, actuator: int) -> float:
        """Target angle of a motor's hinge (rad); nan if it has none."""
        return math.nan

    def servo(self) -> bool | None:
        """Whether the servo is on; None if there is no servo."""
        return None

    def feedback(self) -> bool:
        """Whether a controller is active, whose feedback may make steps unstable."""
        return self.sim.control is not None and self.servo() is not False

    def hud(self) -> list[list[Any]]:
        """Text blocks of the display: [title, lines]."""
        sim = self.sim
        return [["System", [f"t = {sim.time:.2f} dt = {sim.timestep:.3g}", f"integrator = {self.integrator_name()}"]]]

    # ------------------------------------------------------------ time

    def tick(self, elapsed: float) -> None:
        self._collect()
        self._take_extras()
        if not self.ready or (self.link is not None and self.builder.busy):
            return
        if self.link is not None:
            link, self.link = self.link, None
            link.begin()
        self.stability.look(self.builder.settings, self.sim.control_prm, self.feedback(), elapsed)
        self.signals.pace(self.sim.timestep, self.speed if self.playing else 0.0)
        lost, elapsed = max(0.0, elapsed - LONGEST), min(elapsed, LONGEST)
        try:
            self.before_steps(elapsed)
            if self.playing:
                late = lost + self.play(elapsed)
                if text := self._lateness.warning(late, lost + elapsed, self.speed):
                    self.notify("warning", text)
            elif self._steps:
                self._steps -= self.motion.advance(self._steps)
                self.motion.shown = self.sim.time
                self._changed = True
            elif self.motion.glide(elapsed):
                self._changed = True
        except SaltusError as error:
            self.playing, self._steps, self._changed = False, 0, True
            self.motion.snap()
            if isinstance(error, DivergenceError):
                self.stability.diverged(error)
                self.notify("diverged", explained(error))
            else:
                self.notify("error", str(error))
        if self.motion.recorder is not None and self.motion.recorder.stopped:
            self.end_recording()

    def play(self, elapsed: float) -> float:
        """Simulate `elapsed` seconds of wall time; return the part (s) for which the computer was too slow."""
        self._changed = True
        return self.motion.run(elapsed * self.speed) / self.speed

    # ------------------------------------------------------------ new simulations

    def _collect(self) -> None:
        """Continue with the next simulation if its build is done."""
        try:
            if (built := self.builder.take()) is not None:
                self._take_over(built)
        except SaltusError as error:
            self.notify("error", str(error))
            self.builder.wanted = self.builder.settings

    def _take_over(self, built: Built) -> None:
        before = self.builder.settings
        if built.sim.contact != self.sim.contact:
            self.end_recording("Recording stopped because the contact law changed.")
        lost = self.motion.take_over(built.sim, zip(built.settings.ghosts, built.ghosts, strict=True))
        first, self.ready = not self.ready, True
        self.builder.settings, self._changed = built.settings, True
        self.past.generation += 1
        self.signals.change(self.sources())
        if first:
            if self.extras is not None:
                self._call(self.extras.call_all_sliders)
            self.signals.begin(self.sim)
        if lost:
            self.notify("warning", f"Begun anew: {', '.join(lost)}.")
        if self.motion.recorder is not None and before != built.settings:
            self.motion.recorder.note(built.sim, built.settings.difference(before))

    # ------------------------------------------------------------ commands

    def do_play(self) -> None:
        self.playing, self._steps = True, 0

    def do_step(self, n: int) -> None:
        self.playing = False
        self._steps += n

    def do_reset(self, key: str | None) -> None:
        self.end_recording("Recording stopped at the reset.")
        self.reset_simulation(key)
        self.past.clear()
        self._steps, self._changed = 0, True
        self.signals.clear()
        if self.extras is not None and self.ready:
            self.extras.call_all_sliders(self.sim, self.notify)
        self.after_jump()

    def reset_simulation(self, key: str | None) -> None:
        """Reset the simulation to its initial state, or to a keyframe."""
        self.setup.reset(self.sim, self.setup.key if key is None else key)

    def after_jump(self, smooth: bool = False) -> None:
        """Adapt display, ghosts and plots to a jump of the state; `smooth`: the curves of plots stay connected."""
        self.motion.jump()
        if self.ready:
            self.signals.sample(self.sim) if smooth else self.signals.jump(self.sim)
        self._changed = True

    def do_link(self, settings: dict[str, str]) -> None:
        self.link = Link(self, settings)

    def do_integrator(self, name: str) -> None:
        own = self.setup.integrator
        known = own if getattr(own, "name", None) == name else find_integrator(name, "")
        if self.setup.suited(known, self.builder.wanted.contact) is not known:
            raise OptionError(f"{name} does not support {self.builder.wanted.contact} contact")
        self.builder.want(integrator=known)

    def do_timestep(self, value: float) -> None:
        self.builder.want(timestep=value)

    def do_contact(self, name: str) -> None:
        if name not in CONTACT_LAWS:
            raise OptionError.unknown("contact law", name, CONTACT_LAWS)
        before = self.builder.wanted.integrator
        integrator = self.setup.suited(before, name)
        if integrator is not before:
            self.notify("info", f"{integrator.name} is used: {before.name} has no {name} contact.")
        self.builder.want(contact=name, integrator=integrator)

    def do_restitution(self, value: float) -> None:
        self.builder.want(restitution=value)

    def do_friction(self, value: float | None) -> None:
        self.builder.want(friction=value)

    def do_gravity(self, value: tuple[float, float, float]) -> None:
        self.builder.want(**self.builder.wanted.with_changes({f"opt.gravity[{i}]": g for i, g in enumerate(value)}))

    def do_slider(self, id: str, value: float) -> None:
        if id in self._parameters:
            bounded = self._parameters[id].clipped(value)
            self.builder.want(**self.builder.wanted.with_changes({id: bounded}))
        elif id in self.handles:
            handle = self.handles[id]
            bounded = handle.slider.clipped(value)
            handle.write(self.sim, bounded)
            self._changed = True
            if handle.slider.group == "joint":
                self.after_jump()
        elif self.extras is not None and (moved := self.extras.move(id, value)) is not None:
            bounded = moved
        else:
            raise OptionError.unknown("slider", id, self.slider_values())
        if bounded != value:
            self.notify("warning", f"{id} was set to its bound, {bounded:g}.")

    def do_drag(self, body: int, point: tuple[float, float, float], target: tuple[float, float, float]) -> None:
        if self.ready:
            self._changed |= self.motion.pull(body, point, target)

    def do_release(self) -> None:
        self.motion.let_go()

    def do_ghosts(self, on: bool) -> None:
        if not self.setup.ghosts:
            raise OptionError("there are no ghosts in this scene")
        self.builder.want(ghosts=self.setup.ghosts if on else ())

    def do_button(self, id: str) -> None:
        if self.extras is None:
            raise OptionError(f"there is no button {id!r}")
        self.extras.press(id)

    def do_record(self, on: bool) -> None:
        if on and self.motion.recorder is None:
            if not self.ready:
                raise OptionError("still compiling; try again when it is running")
            self.motion.recorder = recorder = Recorder(self.sim, self.motion.ghosts)
            self.notify("info", f"Recording; at most {recorder.limit / 60:.3g} min of simulated time.")
        elif not on:
            self.end_recording()

    def end_recording(self, why: str = "") -> None:
        """End the recording in progress, if there is one, keep it and notify the user of the reason."""
        recorder, self.motion.recorder = self.motion.recorder, None
        if recorder is not None:
            self.downloads.keep(*recorder.finish(self.sim))
            if why:
                self.notify("info", why)

    def close(self) -> None:
        """Abandon the build in progress and keep a recording in progress."""
        self.builder.give_up()
        self.end_recording()
