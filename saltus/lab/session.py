"""A model in motion, controlled by commands: what the lab shows, and what the page's buttons do.

A session is plain: commands go in, time goes by (`tick`), frames and a status come out; the stage gives it a thread.
Whatever needs another simulation (integrator, step, contact law, gravity, parameters, ghosts) is built beside the one
that runs, which goes on until the other is compiled; that then takes over its state.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.draw.scene.scene import not_drawn
from saltus.errors import DivergenceError, OptionError, SaltusError, SaltusWarning
from saltus.integrate.registry import find_integrator, integrators
from saltus.lab.controls.drag import Drag, grabbed, point_mass
from saltus.lab.controls.extras import Extras
from saltus.lab.controls.motors import motors
from saltus.lab.controls.parameters import marked
from saltus.lab.controls.sliders import Handle, Slider, control_sliders, joint_sliders, message, parameter_slider
from saltus.lab.data.ghost import Ghost
from saltus.lab.data.recording import Downloads, Recorder
from saltus.lab.data.signal_sources import preset_of, simulation_sources
from saltus.lab.data.signals import MOST_CHOSEN, Signals, Source
from saltus.lab.making.compiling import Making
from saltus.lab.making.judge import explained
from saltus.lab.making.setup import Built, Settings, Setup
from saltus.lab.making.stability import Stability
from saltus.lab.messages.ear import Ear
from saltus.lab.messages.job import Job
from saltus.lab.messages.protocol import Command, Frame
from saltus.lab.motion import Motion, kept
from saltus.lab.view.show import Show, stack
from saltus.lab.view.state_text import FIELDS, state_text
from saltus.simulate.analysis.current_contacts import touching_with_axes
from saltus.simulate.running.run_metadata import names_and_units
from saltus.simulate.transfer_state import carry

CONTACT_LAWS = ("soft", "hard")
COLORS = ("#d62728", "#9467bd", "#2ca02c", "#e0a400", "#17becf", "#e377c2", "#8c564b", "#7f7f7f")
LATE = 0.1  # of the time, by which the simulation may be late before the user is told
LATE_AFTER = 2.0  # s
LONGEST = 0.25  # s that may pass at once; of more, the rest is late


class LiveSession:
    """A model that is simulated while one looks."""

    kind = "live"

    def __init__(self, setup: Setup, downloads: Downloads):
        self.setup, self.downloads = setup, downloads
        self.notices: deque[tuple[str, str]] = deque(maxlen=100)
        self.ear = Ear(lambda text: self.notify("warning", text))
        sim = setup.simulation()
        self.show = Show(sim.model)
        if text := not_drawn(sim.model):
            self.notify("warning", text)
        self.motion = Motion(sim, self.notify)
        self.motors = motors(sim.model)
        hard: Any = setup.law("hard")
        numbers = {"restitution": hard.restitution, "friction": hard.friction}
        self.settings = self.wanted = Settings(sim.integrator, sim.timestep, sim.contact, **numbers)
        self.playing, self.speed = setup.playing, setup.speed
        self.follow: str | None = None
        self.ready = False
        self._steps = 0  # to be taken while paused
        self._late = [0.0, 0.0]  # seconds that were late, of seconds
        self._told_late = False
        self._changed = True
        self._job: Job[Built] | None = None
        self._making: Making | None = None
        self._asked: Settings | None = None
        self.handles: dict[str, Handle] = {h.slider.id: h for h in self.make_handles()}
        self._parameters = {p.key: parameter_slider(p) for p in marked(setup.model, setup.parameters)}
        self.stability = Stability(setup)
        self.extras: Extras | None = None
        self._extras_seen = 0  # their revision
        self._plotted = 0  # of the signals that they want plotted
        self.signals = self.motion.signals = Signals(self.own_sources(), self.preset())
        self._begin_building()

    # ------------------------------------------------------------ for those who look

    @property
    def sim(self) -> Any:
        """The simulation that runs now."""
        return self.motion.sim

    @property
    def idle(self) -> bool:
        """Whether nothing goes on by itself."""
        return not (self.playing or self._steps or self._changed) or not self.ready

    def notify(self, level: str, text: str) -> None:
        """Tell the user: level "info", "warning", "error" or "diverged"."""
        self.notices.append((level, text))

    def scene(self) -> dict[str, Any]:
        """The `scene` message."""
        setup, values = self.setup, self.slider_values()
        sliders: list[Slider] = [h.slider for h in self.handles.values()] + list(self._parameters.values())
        return self.show.message(
            setup.name,
            setup.title,
            self.kind,
            ghosts=[{"name": n, "color": COLORS[i % len(COLORS)]} for i, n in enumerate(setup.ghosts)],
            integrators=self.integrators(),
            contacts=list(CONTACT_LAWS),
            keys=setup.model.names("key"),
            sliders=message(sliders, values),
            keyboard=self.keyboard(),
            actions=self.actions(),
            motors=[m.message(setup.model, [dof["name"] for dof in self.show.dofs]) for m in self.motors],
        )

    def status(self) -> dict[str, Any]:
        """The full `status` message, but for the number of viewers."""
        sim, recorder = self.sim, self.motion.recorder
        return {
            "type": "status",
            **{"playing": self.playing, "speed": self.speed, "time": sim.time},
            **{"building": self._job is not None, "compiling": self.compiling()},
            "wanted": self.wanted.integrator.name,
            **{"integrator": self.integrator_name(), "timestep": sim.timestep, "contact": sim.contact},
            **{"restitution": self.settings.restitution, "friction": self.settings.friction},
            "gravity": [float(g) for g in sim.model.opt.gravity],
            "recording": recorder is not None,
            "recorded": self.downloads.seconds if recorder is None else sim.time - recorder.began,
            **{"servo": self.servo(), "hud": self.hud(), "sliders": self.slider_values()},
            **{"follow": self.follow, "ghosts": bool(self.motion.ghosts), "can_ghost": bool(self.setup.ghosts)},
            "video": self.downloads.video,
            "stability": None if self.stability.verdict is None else self.stability.verdict.message(),
        }

    def compiling(self) -> dict[str, Any] | None:
        """What is compiled, since when and about how long; None if nothing is."""
        progress = None if self._making is None or self._job is None else self._making.progress
        return None if progress is None or self._asked is None else progress.message(self._asked.integrator.name)

    def slider_values(self) -> dict[str, float]:
        """Values of all sliders by id."""
        values = {id: handle.read(self.sim) for id, handle in self.handles.items()}
        values |= {} if self.extras is None else self.extras.values()
        return values | {key: float(self.sim.model.value(key)) for key in self._parameters}

    def frame(self) -> Frame | None:
        """What is to be seen now; None if that is what was seen before."""
        if not self._changed:
            return None
        self._changed = False
        motion, sim, known = self.motion, self.sim, self.ready
        qpos = self.show.between(motion.before, sim.qpos, motion.fraction)
        qvel = motion.before_rate + motion.fraction * (sim.qvel - motion.before_rate)
        ghosts = [self._ghost(name) for name in self.setup.ghosts]
        contacts, axes = self._touching()
        return Frame(
            time=motion.shown,
            playing=self.playing,
            energy=sim.energy() if known else np.full(2, np.nan),
            dofs=self.show.coordinates(qpos, qvel),
            ghost_energy=stack([g[0] for g in ghosts], (2,)),
            ghost_bodies=stack([g[1] for g in ghosts], (sim.model.nbody, 7)),
            ghost_dofs=stack([g[2] for g in ghosts], (len(self.show.dofs), 2)),
            contacts=contacts,
            contact_axes=axes,
            motors=[(motor.torque(sim), self.desired(motor.actuator)) for motor in self.motors],
            **self.show.pose(qpos, sim.mocap_pos, sim.mocap_quat),
        )

    def state_text(self) -> str:
        """The present state as Python text."""
        sim = self.sim
        title = f"{self.setup.name} at t = {sim.time:.6g} s, {self.integrator_name()}, timestep {sim.timestep:g} s"
        return state_text(title, sim.time, {name: getattr(sim, name) for name in FIELDS})

    def _touching(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Contacts now and their axes, if they can be told."""
        if self.ready:
            # what cannot be computed here stops the next step, which tells why
            with suppress(SaltusError), warnings.catch_warnings():
                warnings.simplefilter("ignore", SaltusWarning)
                return touching_with_axes(self.sim.engine)
        return np.zeros((0, 8)), np.zeros((0, 6))

    def _ghost(self, name: str) -> tuple[Any, Any, Any]:
        """Energy, poses and coordinates of a ghost; nan where it is not there."""
        sim = self.sim
        ghost = next((g for g in self.motion.ghosts if g.name == name and g.alive), None)
        if ghost is None:
            return np.full(2, np.nan), np.full((sim.model.nbody, 7), np.nan), np.full((len(self.show.dofs), 2), np.nan)
        qpos = self.show.between(ghost.before, ghost.sim.qpos, self.motion.fraction)
        qvel = ghost.before_rate + self.motion.fraction * (ghost.sim.qvel - ghost.before_rate)
        bodies = self.show.pose(qpos, sim.mocap_pos, sim.mocap_quat)["bodies"]
        return ghost.sim.energy(), bodies, self.show.coordinates(qpos, qvel)

    def boards(self) -> list[Any]:
        """What the page is told whenever its `revision` changes."""
        return [self.signals] if self.extras is None else [self.signals, self.extras]

    def drawings(self) -> list[dict[str, Any]] | None:
        """What the user draws into the picture; None where nothing was ever to be drawn."""
        return self.extras.drawn(self.sim, self.notify) if self.extras is not None and self.ready else None

    # ------------------------------------------------------------ what users add

    def add(self, extras: Extras) -> None:
        """Have the user's sliders, buttons, plots and drawings too."""
        self.extras = extras
        extras.known = [signal.id for signal in self.signals.signals]

    def sources(self) -> list[Source]:
        """What can be plotted."""
        return self.own_sources() + ([] if self.extras is None else self.extras.sources(self.notify))

    def _take_extras(self) -> None:
        """See what was added, and call what is due."""
        extras = self.extras
        if extras is None:
            return
        if extras.revision != self._extras_seen:
            self._extras_seen, self._changed = extras.revision, True
            self.motion.before_step = self._before_step if extras.steps else None
            self.signals.change(self.sources())
            shown = extras.shown()
            if new := shown[self._plotted :]:
                self._plotted = len(shown)
                there = {signal.id for signal in self.signals.signals}
                self.signals.choose([id for id in [*self.signals.chosen, *new] if id in there][-MOST_CHOSEN:])
        if self.ready and extras.due:
            self._call(extras.call_due)

    def _call(self, call: Callable[[Any, Any], None]) -> None:
        """Call functions of the user's, which may put the simulation into another state."""
        sim = self.sim
        before = sim.time, sim.qpos.copy(), sim.qvel.copy()
        call(sim, self.notify)
        moved = zip(before, (sim.time, sim.qpos, sim.qvel), strict=True)
        if sim.time < before[0] and self.motion.recorder is not None:
            self._stop_recording()
            self.notify("info", "Recording stopped because time was set back.")
        if not all(np.array_equal(one, other) for one, other in moved):
            self.after_jump()
        self._changed = True

    def _before_step(self, sim: Any) -> None:
        if self.extras is not None:
            self.extras.call_before_step(sim, self.notify)

    # ------------------------------------------------------------ what kinds of sessions differ in

    def own_sources(self) -> list[Source]:
        """What can be plotted of the scene itself."""
        return simulation_sources(self.sim)

    def preset(self) -> list[str]:
        """What is plotted at first."""
        return list(self.setup.plots) or preset_of(self.sim.model, names_and_units(self.sim.engine)[0])

    def make_handles(self) -> list[Handle]:
        """Sliders of controls and joints."""
        return control_sliders(self.sim) + joint_sliders(self.sim.model)

    def integrators(self) -> list[str]:
        """Names to choose from."""
        names = [i.name for i in integrators().values()]
        own = self.settings.integrator.name
        return names if own in names else [own, *names]

    def integrator_name(self) -> str:
        """The name of the present one."""
        return self.sim.integrator.name

    def keyboard(self) -> list[str]:
        """Keys that mean something here."""
        return []

    def actions(self) -> list[dict[str, Any]]:
        """Buttons for those keys: [{group, key, label, hold, when}].

        `hold`: it acts while it is held. `when`: a field of the status and the value with which it is shown as pressed.
        """
        return []

    def key(self, key: str, down: bool) -> None:
        """A key was pressed or let go."""

    def release_keys(self) -> None:
        """All keys are up."""

    def before_steps(self, elapsed: float) -> None:
        """So many seconds have passed; steps follow."""

    def desired(self, actuator: int) -> float:
        """The angle (rad) that a motor is to bring its hinge to; nan where none is wanted."""
        return math.nan

    def servo(self) -> bool | None:
        """Whether the servo is on; None where there is none."""
        return None

    def feedback(self) -> bool:
        """Whether a controller acts, with which steps may be unstable."""
        return self.sim.control is not None and self.servo() is not False

    def hud(self) -> list[list[Any]]:
        """Blocks of text over the picture: [title, lines]."""
        sim = self.sim
        return [["System", [f"t = {sim.time:.2f} dt = {sim.timestep:.3g}", f"integrator = {self.integrator_name()}"]]]

    # ------------------------------------------------------------ time

    def tick(self, elapsed: float) -> None:
        """Let so many seconds of wall time pass."""
        self._collect()
        self._take_extras()
        if not self.ready:
            return
        self.stability.look(self.settings, self.sim.control_prm, self.feedback(), elapsed)
        self.signals.pace(self.sim.timestep, self.speed if self.playing else 0.0)
        lost, elapsed = max(0.0, elapsed - LONGEST), min(elapsed, LONGEST)
        try:
            self.before_steps(elapsed)
            if self.playing:
                self._told_if_late(lost + self.play(elapsed), lost + elapsed)
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
            self._stop_recording()

    def play(self, elapsed: float) -> float:
        """Steps for so many seconds of wall time; returns for how many of them there was no time."""
        self._changed = True
        return self.motion.run(elapsed * self.speed) / self.speed

    def _told_if_late(self, late: float, elapsed: float) -> None:
        """Say so, once, where the motion is slower than it should be."""
        self._late = [self._late[0] + late, self._late[1] + elapsed]
        if self._late[1] > LATE_AFTER:
            share, self._late = self._late[0] / self._late[1], [0.0, 0.0]
            if share > LATE and not self._told_late:
                pace = self.speed * (1.0 - min(share, 0.999))
                self.notify("warning", f"This computer reaches {pace:.2g} times real time here, not {self.speed:g}.")
            self._told_late = share > LATE

    # ------------------------------------------------------------ other simulations

    def want(self, **settings: Any) -> None:
        """Go on with other settings as soon as their simulation is ready; what was wanted before is given up."""
        self.wanted = replace(self.wanted, **settings)
        if self.wanted != (self.settings if self._job is None else self._asked):
            self._begin_building()

    def _begin_building(self) -> None:
        self._give_up()
        self._asked = self.wanted
        self._making = Making(self.setup, self.wanted)
        self._job = Job(self.ear.listening(self._making.run), "builder")

    def _give_up(self) -> None:
        """End what is being made, if anything is."""
        if self._making is not None:
            self._making.cancel()
        self._making = self._job = None

    def _collect(self) -> None:
        """Take over what was built, if it is done."""
        if self._job is None or not self._job.done:
            return
        job, self._job = self._job, None
        try:
            self._take_over(job.result())
        except SaltusError as error:
            self.notify("error", str(error))
            self.wanted = self.settings

    def _take_over(self, built: Built) -> None:
        old, before = self.sim, self.settings
        if self.motion.recorder is not None and built.sim.contact != old.contact:
            self._stop_recording()
            self.notify("info", "Recording stopped because the contact law changed.")
        lost = carry(old.engine, built.sim.engine)
        ghosts = [
            self._haunt(name, sim, built.sim) for name, sim in zip(built.settings.ghosts, built.ghosts, strict=True)
        ]
        shown, same = self.motion.shown, built.sim.timestep == old.timestep
        states = self.motion.before, self.motion.before_rate
        self.motion.use(built.sim, ghosts)
        if same:  # what is shown goes on between the same two states
            self.motion.shown, (self.motion.before, self.motion.before_rate) = shown, states
        first, self.ready = not self.ready, True
        self.settings, self._changed = built.settings, True
        self.signals.change(self.sources())
        if first:
            if self.extras is not None:
                self._call(self.extras.call_all_sliders)
            self.signals.begin(self.sim)
        if lost:
            self.notify("warning", f"Begun anew: {', '.join(lost)}.")
        if self.motion.recorder is not None and before != built.settings:
            self.motion.recorder.note(built.sim, _difference(before, built.settings))

    def _haunt(self, name: str, sim: Any, main: Any) -> Ghost:
        """A ghost that goes on where it was, or begins where the main simulation is."""
        before = kept(self.motion.ghosts, name)
        carry((main if before is None else before).engine, sim.engine)
        return Ghost(name, sim)

    # ------------------------------------------------------------ commands

    def handle(self, command: Command) -> None:
        """Do what a command says; what cannot be done is told in a notice."""
        act = getattr(self, f"do_{command.type}", None)
        try:
            if act is None:
                raise OptionError(f"{command.type} is not available in this scene")
            act(**command.fields)
        except (SaltusError, KeyError) as error:
            self.notify("error", str(error.args[0] if error.args else error))

    def do_play(self) -> None:
        self.playing, self._steps = True, 0

    def do_pause(self) -> None:
        self.playing, self._changed = False, True

    def do_toggle(self) -> None:
        self.do_pause() if self.playing else self.do_play()

    def do_step(self, n: int) -> None:
        self.playing = False
        self._steps += n

    def do_speed(self, value: float) -> None:
        self.speed = value

    def do_reset(self, key: str | None) -> None:
        if self.motion.recorder is not None:
            self._stop_recording()
            self.notify("info", "Recording stopped at the reset.")
        self.setup.reset(self.sim, self.setup.key if key is None else key)
        self._steps, self._changed = 0, True
        self.signals.history.clear()
        if self.extras is not None and self.ready:
            self.extras.call_all_sliders(self.sim, self.notify)
        self.after_jump()

    def after_jump(self, smooth: bool = False) -> None:
        """The state is another: ghosts begin anew from it, and nothing lies between it and the one before.

        `smooth`: curves go on to it all the same.
        """
        for ghost in self.motion.ghosts:
            carry(self.sim.engine, ghost.sim.engine)
            ghost.alive = True
        self.motion.snap()
        if self.ready:
            self.signals.sample(self.sim) if smooth else self.signals.jump(self.sim)
        self._changed = True

    def do_integrator(self, name: str) -> None:
        own = self.setup.integrator
        known = own if getattr(own, "name", None) == name else find_integrator(name, "")
        if self.setup.suited(known, self.wanted.contact) is not known:
            raise OptionError(f"{name} does not support {self.wanted.contact} contact")
        self.want(integrator=known)

    def do_timestep(self, value: float) -> None:
        self.want(timestep=value)

    def do_contact(self, name: str) -> None:
        if name not in CONTACT_LAWS:
            raise OptionError.unknown("contact law", name, CONTACT_LAWS)
        integrator = self.setup.suited(self.wanted.integrator, name)
        if integrator is not self.wanted.integrator:
            self.notify("info", f"{integrator.name} is used: {self.wanted.integrator.name} has no {name} contact.")
        self.want(contact=name, integrator=integrator)

    def do_restitution(self, value: float) -> None:
        self.want(restitution=value)

    def do_friction(self, value: float | None) -> None:
        self.want(friction=value)

    def do_gravity(self, value: tuple[float, float, float]) -> None:
        self.want(**self.wanted.with_changes({f"opt.gravity[{i}]": g for i, g in enumerate(value)}))

    def do_slider(self, id: str, value: float) -> None:
        if id in self._parameters:
            bounded = self._parameters[id].clipped(value)
            self.want(**self.wanted.with_changes({id: bounded}))
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

    def do_keydown(self, key: str) -> None:
        self.key(key, True)

    def do_keyup(self, key: str) -> None:
        self.key(key, False)

    def do_blur(self) -> None:
        self.release_keys()

    def do_drag(self, body: int, point: tuple[float, float, float], target: tuple[float, float, float]) -> None:
        m = self.sim.model
        if not self.ready:
            return
        if body >= m.nbody:
            raise OptionError(f"there is no body {body}; the model has {m.nbody}")
        if m.body_mocapid[body] >= 0:
            self._place(int(m.body_mocapid[body]), point, target)
            return
        drag = self.motion.drag
        if drag is not None and (drag.body, drag.point) == (body, point):
            drag.target = target
            return
        if point_mass(self.sim, grabbed(self.sim, body, point)[1]) is None:
            raise OptionError(f"this point of {m.names('body')[body]!r} cannot move")
        self.motion.drag = Drag(body, point, target)

    def _place(self, mocap: int, point: Any, target: Any) -> None:
        """A body that is moved from outside goes where it is pulled."""
        turned = np.zeros(3)
        mujoco.mju_rotVecQuat(turned, np.asarray(point, float), self.sim.mocap_quat[mocap])
        self.sim.mocap_pos[mocap] = np.asarray(target) - turned
        self._changed = True

    def do_release(self) -> None:
        self.motion.drag = None
        self.sim.xfrc_applied[:] = 0.0

    def do_ghosts(self, on: bool) -> None:
        if not self.setup.ghosts:
            raise OptionError("there are no ghosts in this scene")
        self.want(ghosts=self.setup.ghosts if on else ())

    def do_follow(self, body: str | None) -> None:
        if body is not None:
            self.sim.model.id("body", body)
        self.follow = body

    def do_plot(self, signals: list[str]) -> None:
        self.signals.choose(signals)
        self._changed = True

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
        elif not on and self.motion.recorder is not None:
            self._stop_recording()

    def _stop_recording(self) -> None:
        recorder, self.motion.recorder = self.motion.recorder, None
        if recorder is not None:
            self.downloads.keep(*recorder.finish(self.sim))

    def do_video(self) -> None:
        refused = self.downloads.make_video(follow=self.follow)
        if refused:
            raise OptionError(refused)

    def close(self) -> None:
        """Nothing is wanted any more; a recording that goes on is kept."""
        self._give_up()
        self._stop_recording()


def _difference(before: Settings, after: Settings) -> str:
    """What has changed, in words."""
    parts = []
    if after.integrator != before.integrator:
        parts.append(f"integrator {after.integrator.name}")
    if after.timestep != before.timestep:
        parts.append(f"timestep {after.timestep:g} s")
    if after.contact != before.contact:
        parts.append(f"contact {after.contact}")
    if after.restitution != before.restitution:
        parts.append(f"restitution {after.restitution:g}")
    if after.friction != before.friction:
        parts.append("the model's friction" if after.friction is None else f"friction {after.friction:g}")
    known = dict(before.changes)
    parts += [f"{key} = {value:g}" for key, value in after.changes if known.get(key) != value]
    return ", ".join(parts) or "ghosts"
