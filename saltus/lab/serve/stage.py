"""The stage of a lab: the thread that advances a session, sixty times a second.

Commands arrive through a bounded queue; new output is kept ready for the server, which is notified once and fetches it
when it can. Scenes are opened in the background while another is shown.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from saltus.errors import ModelError, SaltusError
from saltus.lab.base_session import Session
from saltus.lab.data.history import History
from saltus.lab.data.recording import Downloads
from saltus.lab.messages import protocol
from saltus.lab.messages.ear import Ear
from saltus.lab.messages.job import Job
from saltus.lab.messages.outside import Outside
from saltus.lab.messages.protocol import Command
from saltus.lab.serve.client import Status

PERIOD = 1.0 / protocol.FRAMES_A_SECOND
IDLE = 0.1  # s between turns of an idle session
STATUS_PERIOD = 0.1  # s
MOST_COMMANDS = 2000  # pending commands
MOST_NOTICES = 50


@dataclass
class News:
    """Messages that the server has not taken yet: all notices, and the newest of every other kind.

    boards: messages with their revisions, by kind. histories: samples of the scene's signals, and of its course.
    """

    scene: str | None = None
    boards: dict[str, tuple[int, str]] = field(default_factory=dict)
    histories: Sequence[History] = ()
    status: Status | None = None
    frame: tuple[int, bytes] | None = None
    drawings: str | None = None
    notices: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_NOTICES))
    others: bool = False  # whether the list of scenes has changed


class Stage:
    """The thread that runs a session and exchanges messages with the server.

    `open_scene`: a function (name, downloads) -> session, called in its own thread because it may be slow. `scenes`:
    the list of scenes, [{name, title, group}]. `take_in`: makes a scene of a user's model and returns its list entry.
    """

    def __init__(
        self,
        open_scene: Callable[[str, Downloads], Session],
        scenes: list[dict[str, str]],
        take_in: Callable[[Outside], dict[str, str]] | None = None,
    ):
        self.downloads = Downloads()
        self.scenes = scenes
        self._take_in = take_in
        self._brought: deque[Outside] = deque(maxlen=1)
        self._asked: deque[Future[str]] = deque()  # pending requests for the state as text
        self.session: Session | None = None
        self._open = open_scene
        self._commands: deque[Command] = deque()
        self._lock = threading.Lock()
        self._news = News()
        self._ring: Callable[[], None] | None = None
        self._rung = False
        self._viewers = 0
        self._begun = False  # True from the first viewer on
        self._number = 0
        self._told: dict[str, object] = {}
        self._told_at = 0.0
        self._posted: dict[str, int] = {}  # revisions of the published boards, by kind
        self._wake, self.closed = threading.Event(), threading.Event()
        self._opening: tuple[str, Job[Session]] | None = None
        self._dropped: list[Job[Session]] = []  # cancelled openings of scenes
        self._thread = threading.Thread(target=self._run, name="saltus lab stage", daemon=True)

    def start(self, first: str) -> None:
        """Open the first scene and start the thread; raises the errors of opening."""
        self._set_scene(self._heard(first))
        self._thread.start()

    def close(self) -> None:
        """End the thread, its session and the rendering of a video."""
        self.closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(3.0)
        self.downloads.close()

    # ------------------------------------------------------------ called from other threads

    def command(self, command: Command) -> bool:
        """Queue a command; return False if the queue is full."""
        if len(self._commands) >= MOST_COMMANDS:
            return False
        self._commands.append(command)
        self._wake.set()
        return True

    def bring(self, model: Outside) -> None:
        """Request that a user's model is opened; the last request counts."""
        self._brought.append(model)
        self._wake.set()

    def state_text(self) -> Future[str]:
        """Request the present state as Python text; the future is cancelled if there is no session."""
        wanted: Future[str] = Future()
        self._asked.append(wanted)
        self._wake.set()
        return wanted

    def listen(self, ring: Callable[[], None] | None) -> None:
        """Set the function to call when there is news, once until the news are taken."""
        with self._lock:
            self._ring, self._rung = ring, False

    def take_news(self) -> News:
        """Take the news since the last call."""
        with self._lock:
            news, self._news, self._rung = self._news, News(), False
        return news

    def watched_by(self, viewers: int) -> None:
        """Set the number of connected clients; time starts with the first."""
        self._viewers = viewers
        self._begun = self._begun or viewers > 0
        self._wake.set()

    # ------------------------------------------------------------ the stage's thread

    def _run(self) -> None:
        last = due = time.perf_counter()
        while not self.closed.is_set():
            now = time.perf_counter()
            elapsed, last = now - last, now
            try:
                self._turn(elapsed, now)
            except Exception:
                # an error in one scene does not end the lab: the user is told and can choose another scene
                self.say("error", f"This scene has stopped: {traceback.format_exc(limit=-2)}")
                self.session = None
            if self.session is None or self.session.idle:
                self._wake.wait(IDLE)
                self._wake.clear()
                due = time.perf_counter()
            else:
                due = max(due + PERIOD, time.perf_counter() - PERIOD)
                time.sleep(max(0.0, due - time.perf_counter()))
        if self.session is not None:
            self.session.close()
        for job in [*self._dropped, *([self._opening[1]] if self._opening else [])]:
            _drop(job)

    def _turn(self, elapsed: float, now: float) -> None:
        """Do one cycle: commands, motion, news."""
        self._change_scene()
        if self._brought:
            self._want_brought(self._brought.popleft())
        for _ in range(len(self._commands)):
            command = self._commands.popleft()
            if command.type == "scene":
                self._want_scene(command.fields["name"])
            elif self.session is not None:
                with self.session.ear:
                    self.session.handle(command)
        session = self.session
        while self._asked:
            wanted = self._asked.popleft()
            if session is None:
                wanted.cancel()
            elif wanted.set_running_or_notify_cancel():
                wanted.set_result(session.state_text())
        if session is None:
            return
        if self._begun:
            with session.ear:
                session.tick(elapsed)
        while session.notices:
            self.say(*session.notices.popleft())
        self._post(session)
        if self._viewers:
            self._show_frame(session)
        if now - self._told_at >= STATUS_PERIOD:
            self._tell_status(session, now)

    def _show_frame(self, session: Session) -> None:
        frame = session.frame()
        if frame is not None:
            self._number += 1
            drawn = session.drawings()
            text = None if drawn is None else protocol.encode({"type": "drawings", "objects": drawn})
            self._publish(frame=(self._number, frame.encode(self._number)), drawings=text)

    def _post(self, session: Session) -> None:
        """Publish the boards that have changed."""
        for board in session.boards():
            if self._posted.get(board.kind) != board.revision:
                self._posted[board.kind] = board.revision
                self._publish(board=(board.kind, board.revision, protocol.encode(board.message())))

    def _tell_status(self, session: Session, now: float) -> None:
        opening = None if self._opening is None else self._opening[0]
        status = {**session.status(), "viewers": self._viewers, "opening": opening}
        if status != self._told:
            self._told, self._told_at = status, now
            self._publish(status=Status(status))

    def say(self, level: str, text: str) -> None:
        """Send a notice to all clients, or the first to connect; from any thread."""
        self._publish(notice=protocol.encode(protocol.notice(level, text)))

    def _publish(
        self,
        scene: str | None = None,
        status: Status | None = None,
        frame: tuple[int, bytes] | None = None,
        drawings: str | None = None,
        notice: str | None = None,
        others: bool = False,
        board: tuple[str, int, str] | None = None,
        histories: Sequence[History] = (),
    ) -> None:
        with self._lock:
            news = self._news
            if scene is not None:
                news.scene, news.status, news.frame, news.boards, news.histories = scene, None, None, {}, histories
                news.drawings = None
            if board is not None:
                kind, revision, text = board
                news.boards[kind] = revision, text
            news.status, news.frame = status or news.status, frame or news.frame
            news.others |= others
            news.drawings = drawings or news.drawings
            if notice is not None:
                news.notices.append(notice)
            ring, self._rung = (None if self._rung else self._ring), self._rung or self._ring is not None
        if ring is not None:
            ring()

    # ------------------------------------------------------------ scenes

    def _want_scene(self, name: str) -> None:
        if name not in [scene["name"] for scene in self.scenes]:
            self.say("error", f"there is no scene {name!r}")
        else:
            self._open_beside(name, lambda: self._heard(name))

    def _want_brought(self, model: Outside) -> None:
        """Open a user's model as a scene; on failure, notify the user and keep the present scene."""
        if self._take_in is not None:
            take_in = self._take_in
            self._open_beside(model.name, lambda: self._taken_in(lambda: take_in(model)))

    def _open_beside(self, name: str, work: Callable[[], Session]) -> None:
        if self._opening is not None:
            self._dropped.append(self._opening[1])
        self._opening = name, Job(work, f"scene {name}")

    def _taken_in(self, take_in: Callable[[], dict[str, str]]) -> Session:
        try:
            warned: list[str] = []
            with Ear(warned.append):
                entry = take_in()
            session = self._heard(entry["name"])
        except SaltusError:
            raise
        except Exception as error:  # files of users may hold anything
            raise ModelError(f"this model cannot be shown: {type(error).__name__}: {error}") from error
        for text in warned:
            session.ear.hear(text)
        self.scenes = [*(scene for scene in self.scenes if scene["name"] != entry["name"]), entry]
        self._publish(others=True)
        return session

    def _heard(self, name: str) -> Session:
        """Open a scene's session; warnings issued meanwhile become its notices."""
        warned: list[str] = []
        with Ear(warned.append):
            session = self._open(name, self.downloads)
        for text in warned:
            session.ear.hear(text)
        return session

    def _change_scene(self) -> None:
        """Switch to the scene chosen last once it is open; close those chosen earlier once they are."""
        for job in [job for job in self._dropped if job.done]:
            self._dropped.remove(job)
            _drop(job)
        if self._opening is None or not self._opening[1].done:
            return
        (_, job), self._opening = self._opening, None
        try:
            session = job.result()
        except (SaltusError, OSError) as error:
            self.say("error", str(error))
            return
        self._set_scene(session)

    def _set_scene(self, session: Session) -> None:
        if self.session is not None:
            self.session.close()
        self.session, self._told, self._posted = session, {}, {}
        signals, track = session.signals, session.signals.track
        histories = [signals.history] if track is None else [signals.history, track.history]
        self._publish(scene=protocol.encode(session.scene()), histories=histories)
        self._post(session)
        self._tell_status(session, time.perf_counter())


def _drop(job: Job[Session]) -> None:
    """Close the session of a cancelled opening, if it is open."""
    if job.done:
        with suppress(SaltusError, OSError):
            job.result().close()
