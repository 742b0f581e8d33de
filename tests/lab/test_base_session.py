"""Commands that all kinds of sessions know, and what becomes of others."""

import pytest
from helpers.lab import notices, pendulum

import saltus
from saltus.lab.data.recording import Downloads
from saltus.lab.messages.protocol import Command
from saltus.lab.player import Player


def player():
    return Player(saltus.Simulation("pendulum", "velocity_verlet", timestep=0.05).run(1.0), Downloads())


@pytest.mark.parametrize(("make", "where"), [(pendulum, "in this scene"), (player, "for a recording")])
def test_commands_that_all_know(make, where):
    session = make()
    for type in ("pause", "toggle", "toggle"):
        session.handle(Command(type))
    assert not session.playing
    session.handle(Command("speed", {"value": 2.0}))
    session.handle(Command("follow", {"body": "pendulum"}))
    assert (session.speed, session.follow) == (2.0, "pendulum")
    for type, fields in (("keydown", {"key": "q"}), ("keyup", {"key": "q"}), ("blur", {}), ("release", {})):
        session.handle(Command(type, fields))
    assert notices(session) == []
    session.handle(Command("dance"))
    assert notices(session) == [f"dance is not available {where}"]
