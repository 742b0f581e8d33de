"""One connection, with at most the newest pending message of each kind.

A client that reads slowly, or not at all, does not delay others: unsent frames are replaced by newer ones, the status
is the one at the time of sending, and the amount of data in transit is bounded.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from websockets.asyncio.server import ServerConnection

from saltus.lab.data.history import History, Place
from saltus.lab.messages import protocol
from saltus.lab.messages.outside import Upload

NOTICES = 50  # most pending notices; the oldest are dropped
PIECE = 32768  # characters of a fragment of a long text


Values = dict[str, float]  # of sliders, by id


class Status:
    """A full status message, from which shorter ones with changed slider values are made."""

    def __init__(self, full: dict[str, Any]):
        self.full = full
        self._since: tuple[Values | None, str] | None = None

    @property
    def sliders(self) -> Values:
        """Values of all sliders."""
        return self.full["sliders"]

    def since(self, known: Values | None) -> str:
        """The message for a client that knows these values; cached for all clients with the same values."""
        if self._since is None or self._since[0] is not known:
            changed = {id: value for id, value in self.sliders.items() if known is None or known.get(id) != value}
            self._since = known, protocol.encode({**self.full, "sliders": changed})
        return self._since[1]


class Client:
    """A connection with its role and its pending messages; used by the server's thread only."""

    def __init__(self, socket: ServerConnection):
        self.socket = socket
        self.role = "viewer"
        self.upload = Upload()  # of a model's files
        self._wake = asyncio.Event()
        self._hello: str | None = None
        self._scene: str | None = None
        self._status: Status | None = None
        self._known: Values | None = None  # slider values that the client has
        self._notices: deque[str] = deque(maxlen=NOTICES)
        self._boards: dict[str, tuple[int, str]] = {}  # by kind, with their revisions
        self._histories: Sequence[History] = ()
        self._list = -1  # revision of the list of signals that the client has
        self._places: dict[int, Place] = {}  # of the next sample to send, by history
        self._frame: tuple[int, bytes] | None = None
        self._drawings: str | None = None
        self._drawn: str | None = None  # drawings that the client has
        self._sent: list[int] = []  # frames not acknowledged yet
        self._times: deque[float] = deque(maxlen=protocol.MESSAGES_A_SECOND + 1)

    # ------------------------------------------------------------ pending messages

    def greet(self, hello: str) -> None:
        """Queue the `hello` message: the first one, or a new role or list of scenes."""
        self._hello = hello
        self._wake.set()

    def show(self, scene: str, histories: Sequence[History]) -> None:
        """Queue another scene and the histories of its signals and course; drop pending messages of the last one."""
        self._scene, self._frame, self._status, self._known = scene, None, None, None
        self._boards, self._histories, self._list, self._places = {}, histories, -1, {}
        self._drawings = self._drawn = None
        self._wake.set()

    def post(self, boards: dict[str, tuple[int, str]]) -> None:
        """Queue the newest messages of boards (signals, extras)."""
        self._boards |= boards
        self._wake.set()

    def tell(self, status: Status) -> None:
        """Queue the newest status."""
        self._status = status
        self._wake.set()

    def note(self, notice: str) -> None:
        """Queue a notice for the user."""
        self._notices.append(notice)
        self._wake.set()

    def draw(self, number: int, frame: bytes, drawings: str | None) -> None:
        """Queue the newest frame and the user's drawings for it."""
        self._frame, self._drawings = (number, frame), drawings
        if len(self._sent) < protocol.UNACKNOWLEDGED:
            self._wake.set()

    # ------------------------------------------------------------ received messages

    def acknowledge(self, number: int) -> None:
        """Note that the client has drawn a frame, and thereby all earlier ones."""
        if number in self._sent:
            self._sent = self._sent[self._sent.index(number) + 1 :]
            if self._frame is not None:
                self._wake.set()

    def too_many(self) -> bool:
        """Count a message and return whether there were more within a second than allowed."""
        now = time.monotonic()
        self._times.append(now)
        return len(self._times) > protocol.MESSAGES_A_SECOND and now - self._times[0] < 1.0

    # ------------------------------------------------------------ sending

    async def write(self) -> None:
        """Send pending messages until the connection ends."""
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
        """Send the samples that the client lacks, up to the present end of the history."""
        histories = self._histories
        for k, history in enumerate(histories):
            until = history.end
            while histories is self._histories:
                known = self._list if k == 0 else history.revision
                if (found := history.since(self._places.get(k), known, until)) is None:
                    break
                message, self._places[k] = found
                await self.socket.send(message)

    def _next_text(self) -> str | None:
        """The next pending text, in the order of their dependences; None if there is none."""
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
    """Fragments of a long text, sent as one message, so that only one of them waits in memory for a slow client."""
    for first in range(0, len(text), PIECE):
        yield text[first : first + PIECE]
