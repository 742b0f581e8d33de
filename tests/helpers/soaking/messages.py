"""Mutants of messages from the lab's page, to the protocol and to a session; and of uploads."""

import json
import random
from pathlib import Path

from helpers.lab import FRAME, MESSAGES, opened
from helpers.soaking.calls import described
from helpers.soaking.outcomes import Kind
from helpers.soaking.texts import mjcf, mutant
from helpers.soaking.values import TEXTS, changed_json_text
from saltus.errors import OptionError
from saltus.lab.messages.outside import Outside, Upload
from saltus.lab.messages.protocol import encode, parse

#: Messages that have something compiled, or write films: seconds each.
SLOW = ("integrator", "contact", "link", "ghosts", "video")
TETRAHEDRON = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
NAMES = (
    "a.xml",
    "b.xml",
    "robot.urdf",
    "part.obj",
    "meshes/part.obj",
    "../part.obj",
    "a.xml/part.obj",
    "é.obj",
    "a" * 300,
)


def try_message(rng: random.Random, folder: Path) -> None:
    """Parse a mutant of one message."""
    parse(changed_json_text(json.dumps(rng.choice(MESSAGES)), rng))


def try_session(rng: random.Random, folder: Path) -> None:
    """Let a session do what mutants of messages say, those that are understood; its frames must be sent."""
    session = opened("pendulum")
    quick = [message for message in MESSAGES if message["type"] not in SLOW]
    said = []
    for _ in range(rng.randint(1, 6)):
        message = rng.choice(quick)
        if rng.random() < 0.5:
            message = {
                key: rng.choice(TEXTS) if isinstance(value, str) and key != "type" else value
                for key, value in message.items()
            }
        text = json.dumps(message)
        said.append(text[:200])
        with described(f"messages {said}"):
            try:
                command = parse(text if rng.random() < 0.7 else changed_json_text(text, rng))
            except Exception as error:
                if type(error).__name__ not in ("Malformed", "OutOfRange"):
                    raise
                continue
            session.handle(command)
            session.tick(FRAME)
            encode(session.status())
            if (frame := session.frame()) is not None:
                frame.encode(1)
    if any(level == "error" for level, _ in session.notices):
        raise OptionError("; ".join(text for _, text in session.notices))


def try_upload(rng: random.Random, folder: Path) -> None:
    """Compile the model of an upload whose files and names are odd."""
    upload = Upload()
    for name in rng.sample(NAMES, rng.randint(1, 3)):
        content = mutant(mjcf(), rng).encode() if name.endswith((".xml", ".urdf")) else TETRAHEDRON
        upload.add(name, content[: rng.randrange(len(content) + 1)] if rng.random() < 0.2 else content)
    Outside.uploaded(upload).model()


KINDS = (
    Kind("message", try_message),
    Kind("session", try_session, lambda: opened("pendulum")),
    Kind("upload", try_upload, mjcf),
)
