"""Faults that are planted to see that they are counted; no part of a soak unless they are named."""

import os
import random
import signal
import time
from pathlib import Path

from helpers.soaking.outcomes import Kind
from saltus.errors import OptionError


def accept(rng: random.Random, folder: Path) -> None:
    """Nothing is wrong."""


def refuse(rng: random.Random, folder: Path) -> None:
    """An error by name."""
    raise OptionError("planted")


def raw(rng: random.Random, folder: Path) -> None:
    """An error of Python's own."""
    raise ZeroDivisionError("planted")


def crash(rng: random.Random, folder: Path) -> None:
    """The end of the process by a signal."""
    os.kill(os.getpid(), signal.SIGABRT)


def hang(rng: random.Random, folder: Path) -> None:
    """Never an end."""
    while True:
        time.sleep(3600)


KINDS = tuple(Kind(f"planted-{act.__name__}", act) for act in (accept, refuse, raw, crash, hang))
