"""Sessions whose controls come from a Python function or planner, called beside the simulation.

The simulation waits for each answer, so that a live run is the run that `Simulation.run` makes; where planning takes
longer than the time that it is for, the readings tell the share of real time. c switches the planner on or off, p shows
and hides the planned motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saltus.control.mppi import SamplingPlanner
from saltus.errors import OptionError
from saltus.lab.controls.sliders import Handle, joint_sliders
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import Built, LabStart
from saltus.lab.planning.pilot import ControlFunction, PlanningPilot
from saltus.lab.planning.preview import Preview
from saltus.lab.scene.servo import action
from saltus.lab.session import LiveSession
from saltus.lab.view.drawings import messages

BEHIND = 0.1  # s that the simulation may be behind and catch up, since plans take longer than a frame
WINDOW = 1.0  # s of wall time over which the share of real time is measured


class PlannedSession(LiveSession):
    """A session under a control function f(sim) -> ctrl, such as a planner of `saltus.mppi`.

    `plan`: names of the sites and bodies whose planned paths are drawn; None: the ends of the chains.
    """

    def __init__(
        self, setup: LabStart, downloads: Downloads, control: ControlFunction, plan: Sequence[str] | None = None
    ):
        self._planner = control if isinstance(control, SamplingPlanner) else None
        if self._planner is None and plan is not None:
            raise OptionError("plan: only planners of saltus.mppi have plans to draw; draw others with Lab.draw")
        self._control = control
        preview = None if self._planner is None else Preview(setup.simulation(), plan)
        super().__init__(setup, downloads)
        self.pilot = self.motion.pilot = PlanningPilot(control, preview, self.ear)
        self.pilot.begin(self.sim)
        self.plan_shown = True
        self.share: float | None = None  # of the chosen speed, in the last second
        self._behind = self._wall = self._gone = 0.0  # s

    # ------------------------------------------------------------ display

    def make_handles(self) -> list[Handle]:
        return list(joint_sliders(self.sim.model))

    def status(self) -> dict[str, Any]:
        return super().status() | {"plan": self.plan_shown}

    def servo(self) -> bool:
        return self.pilot.on

    def feedback(self) -> bool:
        return self.sim.control is not None

    def drawings(self) -> list[dict[str, Any]] | None:
        own = super().drawings()
        if self._planner is None:
            return own
        path = self.pilot.path if self.plan_shown and self.pilot.on and self.past.at is None else None
        found = [] if path is None else messages(path.drawings(self.motion.shown), self.sim.model)
        return [*found, *(own or [])]

    def hud(self) -> list[list[Any]]:
        pilot, lines = self.pilot, []
        if self._planner is not None:
            steps, samples = len(self._planner.controls), len(self._planner.costs)
            lines.append(f"{samples} samples of {steps * self.sim.timestep:.2f} s")
        if pilot.plan_time is not None:
            what = "call" if self._planner is None else "plan"
            lines.append(f"one {what} takes {1e3 * pilot.plan_time:.3g} ms")
        elif pilot.ended:
            lines.append("first call, may compile")
        if self.share is not None:
            lines.append(f"{100 * self.share * self.speed:.0f} % of real time")
        title = f"{'Control' if self._planner is None else 'Planner'}: {'active' if pilot.on else 'disabled'}"
        keys = ["c - toggle planner", *(["p - show plan"] if self._planner is not None else [])]
        return [*super().hud(), [title, lines], ["Keys", keys]]

    def compile_control(self) -> None:
        """Compile what the control function calls, by calling it once."""
        self._control(self.setup.simulation())
        if self._planner is not None:
            self._planner.reset()

    # ------------------------------------------------------------ time

    def play(self, elapsed: float) -> float:
        before, wanted = self.motion.shown, elapsed + self._behind
        late = super().play(wanted)
        self._behind = min(late, BEHIND)
        self._wall, self._gone = self._wall + elapsed, self._gone + self.motion.shown - before
        if self._wall >= WINDOW:
            self.share, self._wall, self._gone = min(self._gone / (self._wall * self.speed), 1.0), 0.0, 0.0
        return late - self._behind

    def reset_simulation(self, key: str | None) -> None:
        super().reset_simulation(key)
        self.pilot.begin(self.sim)
        self._behind = 0.0

    def close(self) -> None:
        super().close()
        self.pilot.close()

    # ------------------------------------------------------------ keys

    def keyboard(self) -> list[str]:
        return ["c", *(["p"] if self._planner is not None else [])]

    def actions(self) -> list[dict[str, Any]]:
        made = [action("Planner", "c", "Planner", when=("servo", True))]
        shown = action("Planner", "p", "Plan", when=("plan", True))
        return [*made, *([shown] if self._planner is not None else [])]

    def do_keydown(self, key: str) -> None:
        if key.lower() == "c":
            self.pilot.on = not self.pilot.on
        elif key.lower() == "p":
            self.plan_shown = not self.plan_shown
        self._changed = True

    # ------------------------------------------------------------ another method

    def _refuse(self, what: str) -> None:
        if self._planner is not None:
            raise OptionError(
                f"{what} cannot be changed while a planner is followed, whose samples have the one that it was made "
                "with; open the lab with a planner of another simulation"
            )

    def do_integrator(self, name: str) -> None:
        self._refuse("the integrator")
        super().do_integrator(name)

    def do_timestep(self, value: float) -> None:
        self._refuse("the timestep")
        super().do_timestep(value)

    def do_contact(self, name: str) -> None:
        self._refuse("the contact law")
        super().do_contact(name)

    def do_restitution(self, value: float) -> None:
        self._refuse("restitution")
        super().do_restitution(value)

    def do_friction(self, value: float | None) -> None:
        self._refuse("friction")
        super().do_friction(value)

    def _take_over(self, built: Built) -> None:
        changed = self.ready and built.settings.changes != self.builder.settings.changes
        super()._take_over(built)
        if changed and self._planner is not None:
            self.ear.hear("The planner plans with the model that it was made for, without these changes.")
