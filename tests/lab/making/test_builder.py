"""What a session goes on with is built beside it, and of several wishes in a row the last counts."""

import threading

from saltus.lab.data.recording import Downloads
from saltus.lab.making.compiling import Cancelled
from saltus.lab.making.setup import Settings
from saltus.lab.messages.protocol import Command
from saltus.lab.scene.scenes import scenes
from saltus.lab.session import LiveSession


def test_the_newest_settings_win(monkeypatch):
    """A session asks for another integrator while one is being made: that one is cancelled at once."""
    asked = []

    class Slow:
        progress = None

        def __init__(self, setup, settings):
            self.settings, self.cancelled = settings, threading.Event()
            asked.append(self)

        def run(self):
            assert self.cancelled.wait(30)
            raise Cancelled

        def cancel(self):
            self.cancelled.set()

    monkeypatch.setattr("saltus.lab.making.builder.Making", Slow)
    session = scenes()["pendulum"].open(Downloads(), {})
    assert isinstance(session, LiveSession) and isinstance(asked[0].settings, Settings)
    session.handle(Command("integrator", {"name": "euler"}))
    session.handle(Command("integrator", {"name": "dopri5"}))
    assert [a.settings.integrator.name for a in asked[1:]] == ["euler", "dopri5"]
    assert [a.cancelled.is_set() for a in asked] == [True, True, False]
    session.close()
    assert asked[2].cancelled.is_set()
