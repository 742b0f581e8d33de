"""Building simulations: missing kernels are compiled in a separate process, which can be stopped at any time.

Numba compiles under one lock and cannot be interrupted. Kernels that are not in the cache are therefore compiled by
another process (`main`) and then read from the cache; if they are no longer needed, that process is killed and delays
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

from saltus.lab.making.setup import Built, LabStart, Settings, build
from saltus.number.cache.storage import cache_directory, cache_key
from saltus.number.compile.progress import expected_seconds, remember
from saltus.terminal.compiling import compile_progress, purpose

_listening = threading.Lock()  # the compiler reports to its last listener only


class Cancelled(Exception):
    """The build in progress was cancelled."""


class _Missing(Exception):
    """A kernel is not in the cache; the argument is its name."""


@dataclass(frozen=True)
class Progress:
    """A compilation in progress. kernel: its purpose. since: start (time.monotonic). about: past duration (s)."""

    kernel: str
    since: float
    about: float | None

    def message(self, integrator: str) -> dict[str, Any]:
        """The `compiling` entry of the `status` message."""
        seconds = math.floor(time.monotonic() - self.since)
        return {"kernel": self.kernel, "integrator": integrator, "seconds": seconds, "about": self.about}


class Making:
    """Builds the simulations of some settings: `run` builds them, `cancel` stops that from another thread."""

    def __init__(self, setup: LabStart, settings: Settings):
        self.progress: Progress | None = None
        self._setup, self._settings = setup, settings
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Stop the build and kill the compiling process; called from any thread."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.kill()

    def run(self) -> Built:
        """Compile what the simulations need and return them; raises Cancelled."""
        shared = cache_directory().name == cache_key()  # another process uses the same cache
        if shared and (missing := self._missing()) is not None:
            self._compile_elsewhere(missing)
        if self._cancelled:
            raise Cancelled
        with _listening, compile_progress(self._tell):  # compiles what the other process could not
            return build(self._setup, self._settings)

    def _missing(self) -> str | None:
        """The first kernel that needs compiling; None if all are in the cache."""
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
            self.progress = Progress(purpose(kernel), since, about)

    def _compile_elsewhere(self, missing: str) -> None:
        """Compile in another process and report its progress; on failure, the kernels are left to this process."""
        began, what = time.monotonic(), f"lab_{missing}"
        self.progress = Progress(purpose(missing), began, expected_seconds(what, _words(self._settings)))
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
    """The settings that determine which kernels are compiled."""
    return [settings.integrator.name, settings.contact, *settings.ghosts]


# ---------------------------------------------------------------- the other process


def main() -> None:
    """Compile the kernels for a pickled (setup, settings) on stdin and print the name of each on a line."""
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
