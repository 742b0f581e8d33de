"""Looking back in a live run: earlier frames on the page, and going on from one of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from saltus.errors import OptionError
from saltus.lab.base_session import Session
from saltus.lab.data.past import Past
from saltus.lab.data.recording import Downloads
from saltus.lab.messages.protocol import Command, Frame
from saltus.lab.motion import Motion

if TYPE_CHECKING:
    from saltus.model.model import Model

LEAVING = frozenset(("play", "toggle", "step", "reset", "slider", "button", "keydown", "drag"))  # act on the present


class LookingBack(Session):
    """A session whose last minutes can be seen again; while it looks back, the run waits."""

    motion: Motion
    ready: bool

    def __init__(self, model: Model, downloads: Downloads, speed: float, playing: bool):
        super().__init__(model, downloads, speed, playing)
        self.past = Past()

    @abstractmethod
    def now(self) -> Frame:
        """The frame of the present state."""

    @abstractmethod
    def end_recording(self, why: str = "") -> None:
        """End the recording in progress, if there is one, and say why."""

    def handle(self, command: Command) -> None:
        """Execute a command; one that acts on the present shows it again."""
        if command.type in LEAVING:
            self.past.leave()
        super().handle(command)

    def present_frame(self) -> Frame:
        """The frame that is looked at, or that of the present state, which is kept."""
        if self.past.at is not None:
            return self.past.at.frame
        frame = self.now()
        if self.ready:
            self.past.keep(frame, self.motion.sim)
        return frame

    def back_status(self) -> dict[str, Any]:
        """Fields of the `status` message: times of the first and last frame, the time looked at, and its readings."""
        if self.past.at is None:
            return {"past": self.past.span, "looking": None}
        time = self.past.at.frame.time
        hud = [["Looking back", [f"t = {time:.2f}", f"now = {self.motion.shown:.2f}"]]]
        return {"past": self.past.span, "looking": time, "hud": hud}

    def do_seek(self, time: float) -> None:
        """Pause, and look at the frame of a time (s); after the last one, at the present."""
        self.playing, self._changed = False, True
        self.past.look(time)

    def do_from_here(self) -> None:
        """Let the run go on from the frame that is looked at; what came after it is forgotten."""
        if self.past.at is None:
            raise OptionError("the run is at its present; look back first, with the slider below the view")
        if self.motion.pilot is not None and not self.motion.pilot.resumable:
            raise OptionError("an environment keeps no memory of earlier times to go on from; reset it instead")
        self.end_recording("Recording stopped because time was set back.")
        self.past.go_back(self.motion.sim)
        self.motion.jump()
        self.signals.cut(self.motion.sim)
        self.playing = self._changed = True
