"""Base class of sessions of the lab: their interface to the stage, and the commands that all of them share.

A session takes commands, advances time (`tick`) and produces frames and a status; the stage runs it in a thread.
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
    """A source of messages of type `kind`, sent to pages whenever its revision has changed."""

    kind: str
    revision: int

    def message(self) -> dict[str, object]:
        """The message for the pages."""
        ...


# commands that the page sends in every session, also where they have no effect
MAY_BE_IGNORED = ("keydown", "keyup", "blur", "release")


class Session(ABC):
    """A model on display; `playing`: whether time advances. See `LiveSession` and `Player`.

    The method `do_x` executes a command of type "x", with the command's fields as arguments.
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
        """Queue a notice for the user; level is "info", "warning", "error" or "diverged"."""
        self.notices.append((level, text))

    # ------------------------------------------------------------ for the stage

    @property
    @abstractmethod
    def idle(self) -> bool:
        """Whether nothing changes without a command."""

    @abstractmethod
    def scene(self) -> dict[str, object]:
        """The `scene` message."""

    @abstractmethod
    def status(self) -> dict[str, object]:
        """The complete `status` message except the number of viewers."""

    @abstractmethod
    def tick(self, elapsed: float) -> None:
        """Advance by `elapsed` seconds of wall time."""

    def frame(self) -> Frame | None:
        """The present frame; None if nothing has changed since the last one."""
        if not self._changed:
            return None
        self._changed = False
        return self.present_frame()

    @abstractmethod
    def present_frame(self) -> Frame:
        """The present frame, changed or not."""

    @abstractmethod
    def state_text(self) -> str:
        """The displayed state as Python text."""

    def keyboard(self) -> list[str]:
        """Keys that the session reacts to."""
        return []

    def actions(self) -> list[dict[str, object]]:
        """Buttons for the keys of `keyboard`: [{group, key, label, hold, when}].

        hold: whether it acts while held. when: a field of the status and the value at which it is shown as pressed.
        """
        return []

    def boards(self) -> list[Board]:
        """Sources of messages that pages receive whenever they have changed."""
        return [self.signals]

    def drawings(self) -> list[dict[str, object]] | None:
        """The user's drawings for the present frame; None if no drawing function was ever added."""
        return None

    @abstractmethod
    def close(self) -> None:
        """End the session and free what it holds."""

    # ------------------------------------------------------------ commands

    def handle(self, command: Command) -> None:
        """Execute a command; a failure becomes a notice."""
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
