"""One connection, with at most the newest pending message of each kind.

A client that reads slowly, or not at all, does not delay others: unsent frames are replaced by newer ones, the status
is that at the time of sending, and the amount of data in transit is bounded.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from websockets.asyncio.server import ServerConnection

from saltus.lab.data.history import History, Place
from saltus.lab.messages import protocol
from saltus.lab.messages.outside import Upload

NOTICES = 50  # that wait at most; older ones make room
PIECE = 32768  # characters of a long text that are sent at once


Values = dict[str, float]  # of sliders, by id


class Status:
    """A full status message, and the shorter one that says what has changed since another."""

    def __init__(self, full: dict[str, Any]):
        self.full = full
        self._since: tuple[Values | None, str] | None = None

    @property
    def sliders(self) -> Values:
        """Values of all sliders."""
        return self.full["sliders"]

    def since(self, known: Values | None) -> str:
        """The message for a client that has these values; made once for all of them that have the same."""
        if self._since is None or self._since[0] is not known:
            changed = {id: value for id, value in self.sliders.items() if known is None or known.get(id) != value}
            self._since = known, protocol.encode({**self.full, "sliders": changed})
        return self._since[1]


class Client:
    """A connection with its role and what waits for it; all of it is used by the server's thread alone."""

    def __init__(self, socket: ServerConnection):
        self.socket = socket
        self.role = "viewer"
        self.upload = Upload()  # of a model's files
        self._wake = asyncio.Event()
        self._hello: str | None = None
        self._scene: str | None = None
        self._status: Status | None = None
        self._known: Values | None = None  # that it has
        self._notices: deque[str] = deque(maxlen=NOTICES)
        self._boards: dict[str, tuple[int, str]] = {}  # by kind, with their revisions
        self._history: History | None = None
        self._list = -1  # revision of the list of signals that it has
        self._place: Place | None = None  # of the sample that it gets next
        self._frame: tuple[int, bytes] | None = None
        self._drawings: str | None = None
        self._drawn: str | None = None  # drawings that it has
        self._sent: list[int] = []  # frames that it has not acknowledged
        self._times: deque[float] = deque(maxlen=protocol.MESSAGES_A_SECOND + 1)

    # ------------------------------------------------------------ what it is to get

    def greet(self, hello: str) -> None:
        """The first message, or one that tells of another role."""
        self._hello = hello
        self._wake.set()

    def show(self, scene: str, history: History | None) -> None:
        """Another scene, and the history of its signals; what belongs to the one before is no longer sent."""
        self._scene, self._frame, self._status, self._known = scene, None, None, None
        self._boards, self._history, self._list, self._place = {}, history, -1, None
        self._drawings = self._drawn = None
        self._wake.set()

    def post(self, boards: dict[str, tuple[int, str]]) -> None:
        """The newest of what is told whenever it has changed."""
        self._boards |= boards
        self._wake.set()

    def tell(self, status: Status) -> None:
        """The newest status."""
        self._status = status
        self._wake.set()

    def note(self, notice: str) -> None:
        """Something for the user."""
        self._notices.append(notice)
        self._wake.set()

    def draw(self, number: int, frame: bytes, drawings: str | None) -> None:
        """The newest frame, and what the user draws into it."""
        self._frame, self._drawings = (number, frame), drawings
        if len(self._sent) < protocol.UNACKNOWLEDGED:
            self._wake.set()

    # ------------------------------------------------------------ what it says

    def acknowledge(self, number: int) -> None:
        """It has drawn a frame, and with it those before."""
        if number in self._sent:
            self._sent = self._sent[self._sent.index(number) + 1 :]
            if self._frame is not None:
                self._wake.set()

    def too_many(self) -> bool:
        """Count a message; whether there were more within a second than allowed."""
        now = time.monotonic()
        self._times.append(now)
        return len(self._times) > protocol.MESSAGES_A_SECOND and now - self._times[0] < 1.0

    # ------------------------------------------------------------ sending

    async def write(self) -> None:
        """Send what waits, until the connection ends."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while (text := self._next_text()) is not None:
                await self.socket.send(text if len(text) <= PIECE else pieces(text))
            if self._frame is not None and len(self._sent) < protocol.UNACKNOWLEDGED:
                (number, frame), drawings = self._frame, self._drawings
                self._frame = None
                self._sent.append(number)
                if drawings is not None and drawings != self._drawn:
                    self._drawn = drawings
                    await self.socket.send(drawings if len(drawings) <= PIECE else pieces(drawings))
                await self._send_samples()
                await self.socket.send(frame)

    async def _send_samples(self) -> None:
        """What there is of the signals by now, and this client has not got."""
        if self._history is None:
            return
        history, until = self._history, self._history.end
        while history is self._history and (found := history.since(self._place, self._list, until)) is not None:
            message, self._place = found
            await self.socket.send(message)

    def _next_text(self) -> str | None:
        """The next of what waits: what the rest depends on goes first."""
        if self._hello is not None:
            text, self._hello = self._hello, None
        elif self._scene is not None:
            text, self._scene = self._scene, None
        elif self._boards:
            kind = next(iter(self._boards))
            revision, text = self._boards.pop(kind)
            if kind == "signals":
                self._list = revision
        elif self._status is not None:
            text, self._known = self._status.since(self._known), self._status.sliders
            self._status = None
        elif self._notices:
            text = self._notices.popleft()
        else:
            return None
        return text


def pieces(text: str) -> Iterator[str]:
    """A long text as fragments of one message, so that no more than one of them waits in memory for a slow client."""
    for first in range(0, len(text), PIECE):
        yield text[first : first + PIECE]
