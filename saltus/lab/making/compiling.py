"""Building simulations: missing kernels are compiled in a separate process, which can be stopped at any time.

Numba compiles under one lock, and nothing interrupts it. So kernels that are not in the cache are compiled by another
process (`main`), whose result is read from the cache; if it is no longer needed, that process is killed and delays
nothing.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from saltus.lab.making.setup import Built, Settings, Setup, build
from saltus.number.cache.storage import cache_directory, cache_key
from saltus.number.compile.progress import expected_seconds, remember
from saltus.terminal.compiling import compile_progress

_listening = threading.Lock()  # of all who listen to the compiler, only the last is told


class Cancelled(Exception):
    """What was being made is not wanted any more."""


class _Missing(Exception):
    """A kernel that is not in the cache; its name."""


@dataclass(frozen=True)
class Progress:
    """What is compiled. kernel: its name. since: when it all began (time.monotonic). about: what it took before (s)."""

    kernel: str
    since: float
    about: float | None

    def message(self, integrator: str) -> dict[str, Any]:
        """As the `status` message has it."""
        seconds = math.floor(time.monotonic() - self.since)
        return {"kernel": self.kernel, "integrator": integrator, "seconds": seconds, "about": self.about}


class Making:
    """Simulations that follow from settings in the making; `run` makes them, `cancel` ends that from another thread."""

    def __init__(self, setup: Setup, settings: Settings):
        self.progress: Progress | None = None
        self._setup, self._settings = setup, settings
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Nobody wants it any more."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.kill()

    def run(self) -> Built:
        """The simulations, once all that they need is compiled; raises Cancelled."""
        shared = cache_directory().name == cache_key()  # another process has the same one
        if shared and (missing := self._missing()) is not None:
            self._compile_elsewhere(missing)
        if self._cancelled:
            raise Cancelled
        with _listening, compile_progress(self._tell):  # what another process could not compile for this one
            return build(self._setup, self._settings)

    def _missing(self) -> str | None:
        """The first kernel that would have to be compiled; None if there is none."""
        mine = threading.get_ident()

        def refuse(kernel: str | None, depth: int, about: float | None) -> None:
            if kernel is not None and threading.get_ident() == mine:
                raise _Missing(kernel)

        try:
            with _listening, compile_progress(refuse):
                build(self._setup, self._settings)
        except _Missing as missing:
            return str(missing)
        return None

    def _tell(self, kernel: str | None, depth: int, about: float | None = None) -> None:
        if kernel is not None and depth == 1:
            since = time.monotonic() if self.progress is None else self.progress.since
            about = about if self.progress is None else self.progress.about
            self.progress = Progress(kernel.replace("_", " "), since, about)

    def _compile_elsewhere(self, missing: str) -> None:
        """Have another process compile, and listen to what it says; if it cannot, this one will have to."""
        began, what = time.monotonic(), f"lab_{missing}"
        self.progress = Progress(missing.replace("_", " "), began, expected_seconds(what, _words(self._settings)))
        try:
            work = pickle.dumps((replace(self._setup, start=None, source=None), self._settings))
            process = self._start()
        except (pickle.PicklingError, AttributeError, TypeError, OSError):
            return
        with process:
            assert process.stdin is not None and process.stdout is not None
            with suppress(OSError):
                process.stdin.write(work)
                process.stdin.flush()
            for line in process.stdout:
                self._tell(line.decode().strip(), 1)
        if process.returncode == 0:
            remember(what, _words(self._settings), time.monotonic() - began)

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._cancelled:
                raise Cancelled
            path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "saltus.lab.making.compiling"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **path},
            )
            return self._process


def _words(settings: Settings) -> list[str]:
    """The settings that decide what is compiled."""
    return [settings.integrator.name, settings.contact, *settings.ghosts]


# ---------------------------------------------------------------- the other process


def main() -> None:
    """Compile what the setup and settings need that come as a pickle, and say each kernel in a line of its own."""
    setup, settings = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_lab, daemon=True).start()

    def tell(kernel: str | None, depth: int, about: float | None) -> None:
        if kernel is not None and depth == 1:
            print(kernel, flush=True)

    with compile_progress(tell):
        build(setup, settings)
    sys.stdout.flush()
    os._exit(0)  # the thread still listens


def _end_with_the_lab() -> None:
    sys.stdin.buffer.read()  # ends when the lab does
    os._exit(1)


if __name__ == "__main__":
    main()
