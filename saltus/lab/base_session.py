"""What goes on on a stage of the lab: what every kind of session is asked for, and the commands that all of them know.

Commands come in, time goes by (`tick`), frames and a status come out; the stage gives it a thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, ClassVar, Protocol

from saltus.draw.scene.scene import not_drawn
from saltus.errors import OptionError, SaltusError
from saltus.lab.data.recording import Downloads
from saltus.lab.data.signals import Signals
from saltus.lab.messages.ear import Ear
from saltus.lab.messages.protocol import Command, Frame
from saltus.lab.view.show import Show

if TYPE_CHECKING:
    from saltus.model.model import Model


class Board(Protocol):
    """Something that pages are told whenever its revision has changed: `kind` is the type of the message."""

    kind: str
    revision: int

    def message(self) -> dict[str, object]:
        """What they are told."""
        ...


# commands that the page sends whatever is shown, also where they mean nothing
MAY_BE_IGNORED = ("keydown", "keyup", "blur", "release")


class Session(ABC):
    """A model that is looked at; `playing`: whether time goes by. See `LiveSession` and `Player`.

    A command of type "x" is done by the method `do_x`, with the command's fields as arguments.
    """

    kind: ClassVar[str]  # "live" or "replay"
    where: ClassVar[str]  # "in this scene", for notices
    signals: Signals

    def __init__(self, model: Model, downloads: Downloads, speed: float, playing: bool):
        self.downloads = downloads
        self.notices: deque[tuple[str, str]] = deque(maxlen=100)
        self.ear = Ear(lambda text: self.notify("warning", text))  # for warnings, which become notices
        self.show = Show(model)
        if text := not_drawn(model):
            self.notify("warning", text)
        self.playing, self.speed = playing, speed
        self.follow: str | None = None
        self._changed = True  # since the last frame

    def notify(self, level: str, text: str) -> None:
        """Tell the user: level "info", "warning", "error" or "diverged"."""
        self.notices.append((level, text))

    # ------------------------------------------------------------ for the stage

    @property
    @abstractmethod
    def idle(self) -> bool:
        """Whether nothing goes on by itself."""

    @abstractmethod
    def scene(self) -> dict[str, object]:
        """The `scene` message."""

    @abstractmethod
    def status(self) -> dict[str, object]:
        """The full `status` message, but for the number of viewers."""

    @abstractmethod
    def tick(self, elapsed: float) -> None:
        """Let so many seconds of wall time pass."""

    def frame(self) -> Frame | None:
        """What is to be seen now; None if that is what was seen before."""
        if not self._changed:
            return None
        self._changed = False
        return self.present_frame()

    @abstractmethod
    def present_frame(self) -> Frame:
        """What is to be seen now."""

    @abstractmethod
    def state_text(self) -> str:
        """The state that is shown as Python text."""

    def boards(self) -> list[Board]:
        """What pages are told whenever it has changed."""
        return [self.signals]

    def drawings(self) -> list[dict[str, object]] | None:
        """What the user draws into that frame; None where nothing was ever to be drawn."""
        return None

    @abstractmethod
    def close(self) -> None:
        """The end."""

    # ------------------------------------------------------------ commands

    def handle(self, command: Command) -> None:
        """Do what a command says; what cannot be done is told in a notice."""
        act = getattr(self, f"do_{command.type}", None)
        if act is None and command.type in MAY_BE_IGNORED:
            return
        try:
            if act is None:
                raise OptionError(f"{command.type} is not available {self.where}")
            act(**command.fields)
        except (SaltusError, KeyError) as error:
            self.notify("error", str(error.args[0] if error.args else error))

    def do_play(self) -> None:
        self.playing = True

    def do_pause(self) -> None:
        self.playing, self._changed = False, True

    def do_toggle(self) -> None:
        self.do_pause() if self.playing else self.do_play()

    def do_speed(self, value: float) -> None:
        self.speed = value

    def do_follow(self, body: str | None) -> None:
        if body is not None:
            self.show.model.id("body", body)
        self.follow = body

    def do_plot(self, signals: list[str]) -> None:
        self.signals.choose(signals)
        self._changed = True

    def do_video(self) -> None:
        refused = self.downloads.make_video(follow=self.follow)
        if refused:
            raise OptionError(refused)
