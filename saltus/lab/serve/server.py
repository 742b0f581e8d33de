"""The server: the page, the connections, one writer and any number of viewers.

The server runs in its own thread, listens only on the loopback interface, and never waits for a client: each has a task
that sends its pending messages (see `saltus.lab.serve.client`). The simulation continues whoever is connected.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from saltus.errors import OptionError
from saltus.lab.data.history import History
from saltus.lab.messages import protocol
from saltus.lab.messages.answers import DOWNLOADS, STATE, Door, Refused, answer, refusal
from saltus.lab.messages.outside import MOST_BYTES, Outside, Upload
from saltus.lab.messages.protocol import Command, Malformed, OutOfRange
from saltus.lab.serve.client import Client, Status
from saltus.version import __version__

if TYPE_CHECKING:
    from saltus.lab.serve.stage import Stage

HOST = "127.0.0.1"
MOST_CLIENTS = 256
MOST_UNHEARD = 50
MOST_SOCKETS = 2 * MOST_CLIENTS  # of those that have shown the token
MOST_STRANGERS = 256  # connections that have not shown it yet; more than the system hands over at once
PATIENCE = 2.0  # s for a connection to close
SILENCE = 5.0  # s for a connection to show the token

_quiet = logging.getLogger("saltus.lab.serve.server")  # malformed requests are not logged
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False


class Server:
    """The server of one lab; `url` is the page's address, token included."""

    def __init__(self, stage: Stage, port: int = 0):
        self._stage = stage
        self._door = Door(port, secrets.token_urlsafe(16))
        self._clients: dict[Client, None] = {}  # in the order of their connection
        self._writers: list[Client] = []  # clients that have had control, the latest last
        self.strangers: dict[_Socket, None] = {}  # open connections without the token, in the order of their beginning
        self.admitted: set[_Socket] = set()  # those that have shown it
        self._writer: Client | None = None
        self._scene: str | None = None
        self._boards: dict[str, tuple[int, str]] = {}
        self._histories: Sequence[History] = ()
        self._unheard: deque[str] = deque(maxlen=MOST_UNHEARD)  # notices issued while nobody was connected
        self._status: Status | None = None
        self._frame: tuple[int, bytes] | None = None
        self._drawings: str | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._begun = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="saltus lab server", daemon=True)

    @property
    def url(self) -> str:
        """Address of the page, with the access token."""
        return f"http://{HOST}:{self._door.port}/?token={self._door.token}"

    def start(self) -> None:
        """Start listening; raises OptionError if the port is not available."""
        self._thread.start()
        self._begun.wait()
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Close all connections and stop listening."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop has already stopped
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE + 5.0)

    # ------------------------------------------------------------ the server's thread

    def _run(self) -> None:
        try:
            asyncio.run(self._listen())
        except Exception as error:
            if self._begun.is_set():
                raise
            self._failure = error
        finally:
            self._begun.set()

    async def _listen(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        options: dict[str, Any] = dict(
            process_request=self._request,
            create_connection=lambda *a, **k: _Socket(self, *a, **k),
            compression=None,  # costs more than it saves on one machine
            max_size=protocol.MESSAGE_BYTES,
            write_limit=protocol.MESSAGE_BYTES,
            open_timeout=None,  # downloads may be slow; `_Socket` drops silent connections
            close_timeout=PATIENCE,
            server_header=None,
            logger=_quiet,
        )
        try:
            server = await serve(self._serve, HOST, self._door.port, **options)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OptionError(f"the lab cannot listen on port {self._door.port}: {reason}") from None
        async with server:
            self._door = Door(next(iter(server.sockets)).getsockname()[1], self._door.token)
            self._stage.listen(self._ring)
            self._begun.set()
            await self._stop.wait()
            self._stage.listen(None)

    def _ring(self) -> None:
        """Schedule the delivery of news; called by the stage's thread once until the news are taken."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        """Pass the news to every client."""
        news = self._stage.take_news()
        if news.scene is not None:
            self._scene, self._status, self._frame, self._drawings = news.scene, None, None, None
            self._boards, self._histories = {}, news.histories
        self._boards |= news.boards
        self._status, self._frame = news.status or self._status, news.frame or self._frame
        self._drawings = news.drawings or self._drawings
        if not self._clients:
            self._unheard.extend(news.notices)
        for client in self._clients:
            if news.others:
                client.greet(self._hello(client))
            if news.scene is not None:
                client.show(news.scene, news.histories)
            client.post(news.boards)
            if news.status is not None:
                client.tell(news.status)
            for notice in news.notices:
                client.note(notice)
            if news.frame is not None:
                client.draw(*news.frame, self._drawings)

    # ------------------------------------------------------------ requests

    async def _request(self, connection: _Socket, request: Request) -> Response | None:
        try:
            path = self._door.path(request)
            connection.admit()
            if path == "/ws":
                self._door.check_origin(request)
                return None
            if path == "/":
                return self._door.page()
            if path in DOWNLOADS:
                return await self._download(path)
            if path == STATE:
                return await self._state()
            raise Refused(HTTPStatus.NOT_FOUND, "The lab has no page at this address.")
        except Refused as refused:
            return refusal(refused)

    async def _download(self, path: str) -> Response:
        what, kind = DOWNLOADS[path]
        body = await asyncio.to_thread(self._stage.downloads.content, what)
        name = path.rpartition("/")[2]
        return answer(body, kind, {"Content-Disposition": f'attachment; filename="{name}"'})

    async def _state(self) -> Response:
        try:
            text = await asyncio.wait_for(asyncio.wrap_future(self._stage.state_text()), PATIENCE)
        except (TimeoutError, asyncio.CancelledError):
            raise Refused(HTTPStatus.CONFLICT, "The lab has no open scene, or is too busy to answer.") from None
        return answer(text.encode())

    # ------------------------------------------------------------ connections

    async def _serve(self, socket: ServerConnection) -> None:
        """Handle one connection from its start to its end."""
        if len(self._clients) >= MOST_CLIENTS:
            await socket.close(protocol.TOO_MANY_VIEWERS, f"too many viewers: {MOST_CLIENTS} are connected")
            return
        client = Client(socket)
        self._clients[client] = None
        self._admit(client)
        writing = asyncio.create_task(client.write())
        try:
            async for message in socket:
                if client.too_many():
                    limit = f"more than {protocol.MESSAGES_A_SECOND} within a second"
                    await socket.close(protocol.TOO_MANY_MESSAGES, f"too many messages: {limit}")
                    break
                try:
                    self._hear(client, protocol.parse(message))
                except OutOfRange as error:
                    client.note(protocol.encode(protocol.notice("error", str(error))))
        except Malformed as error:
            await socket.close(protocol.MALFORMED, protocol.reason(f"malformed message: {error}"))
        except ConnectionClosed:
            pass
        finally:
            del self._clients[client]
            self._part(client)
            writing.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
                await writing

    def _admit(self, client: Client) -> None:
        """Greet a new client, which becomes the writer if there is none, and send it the present scene."""
        if self._writer is None:
            self._give_controls(client)
        else:
            client.greet(self._hello(client))
        if self._scene is not None:
            client.show(self._scene, self._histories)
        client.post(self._boards)
        if self._status is not None:
            client.tell(self._status)
        if self._frame is not None:
            client.draw(*self._frame, self._drawings)
        while self._unheard:
            client.note(self._unheard.popleft())
        self._stage.watched_by(len(self._clients))

    def _part(self, client: Client) -> None:
        """Handle the end of a connection; the writer's keys and dragged bodies are released.

        Control returns to the connected client that had it last. If none ever had it, control is free for the next
        client, usually the same page after a reload, or for a viewer who takes it.
        """
        self._writers = [one for one in self._writers if one is not client]
        if client is self._writer:
            self._let_go()
            self._writer = None
            if self._writers:
                self._give_controls(self._writers[-1])
                text = "The page that had control is closed; you have control again."
                self._writers[-1].note(protocol.encode(protocol.notice("info", text)))
        self._stage.watched_by(len(self._clients))

    def _let_go(self) -> None:
        """Release the keys and bodies that the writer holds."""
        self._stage.command(Command("blur"))
        self._stage.command(Command("release"))

    def _give_controls(self, client: Client) -> None:
        """Make a client the writer and inform it."""
        self._writer, client.role = client, "writer"
        self._writers = [*(one for one in self._writers if one is not client), client]
        client.greet(self._hello(client))

    def _hello(self, client: Client) -> str:
        about = {"scenes": self._stage.scenes, "bounds": protocol.BOUNDS, "upload": MOST_BYTES}
        return protocol.encode({"type": "hello", "role": client.role, **about, "version": __version__})

    def _hear(self, client: Client, command: Command) -> None:
        if command.type == "ack":
            client.acknowledge(command.fields["frame"])
        elif command.type == "take":
            self._take(client)
        elif client is not self._writer:
            text = "You are watching; take over to control the simulation."
            client.note(protocol.encode(protocol.notice("warning", text)))
        elif command.type in ("upload", "model", "path"):
            self._bring(client, command)
        elif not self._stage.command(command):
            client.note(protocol.encode(protocol.notice("error", f"The lab is too busy for this: {command.type}.")))

    def _bring(self, client: Client, command: Command) -> None:
        """Handle the commands that open a model: pieces of files, their end, or a path; errors become notices."""
        try:
            if command.type == "upload":
                client.upload.add(command.fields["name"], command.fields["data"])
            elif command.type == "path":
                self._stage.bring(Outside.at(command.fields["path"]))
            elif not client.upload.refused:
                self._stage.bring(Outside.uploaded(client.upload))
        except OptionError as error:
            client.note(protocol.encode(protocol.notice("error", str(error))))
        if command.type == "model":
            client.upload = Upload()

    def _take(self, client: Client) -> None:
        """Make a viewer the writer."""
        before = self._writer
        if before is client:
            return
        if before is not None:
            before.role = "viewer"
            before.greet(self._hello(before))
            self._let_go()
        self._give_controls(client)


class _Socket(ServerConnection):
    """A connection, a stranger until it shows the token, for which it has SILENCE s.

    Where there are too many strangers the oldest is dropped, so that whoever has the token, and shows it at once, gets
    in however many others wait.
    """

    def __init__(self, lab: Server, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._lab = lab
        self._silence: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._lab.strangers[self] = None
        self._silence = asyncio.get_running_loop().call_later(SILENCE, transport.abort)
        if len(self._lab.strangers) > MOST_STRANGERS:
            next(iter(self._lab.strangers)).drop()

    def drop(self) -> None:
        """End the connection without a word."""
        self._forget()
        self.transport.abort()

    def admit(self) -> None:
        """Note that the connection has shown the token; there may be too many of those, too."""
        self._forget()
        self._lab.admitted.add(self)
        if len(self._lab.admitted) > MOST_SOCKETS:
            self.drop()

    def _forget(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
        self._lab.strangers.pop(self, None)
        self._lab.admitted.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)
