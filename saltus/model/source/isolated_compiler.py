"""MuJoCo's compiler in a separate process, for untrusted text on which it may abort or never return.

The helper process is reused for the next text, and replaced when it has died or was stopped. Helpers are fresh Python
processes that import only MuJoCo, so scripts need no `if __name__ == "__main__"`; a model takes some milliseconds more
than in this process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import mujoco

from saltus.errors import ModelError, OptionError
from saltus.model.source.isolated_compiler_worker import read_message, write_message
from saltus.model.source.urdf.build import as_json
from saltus.model.source.urdf.plan import Plan
from saltus.model.source.urdf.remarks import Remark

TIMEOUT = 30.0  # s
LARGEST = 2**30  # largest size of a compiled model (bytes)
KEPT = 2  # number of idle helpers that are kept
START = "import sys; sys.path[:] = {path!r}; from saltus.model.source.isolated_compiler_worker import serve; serve()"
FILE = "model.mjb"


class Compiled(NamedTuple):
    """Result of compiling a text or a file: MuJoCo's model, the model's own name ("" for none), MJCF text."""

    model: mujoco.MjModel
    name: str
    xml: str


def compile_apart(
    source: str | os.PathLike[str],
    assets: Mapping[str, bytes] | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
) -> Compiled:
    """Compile MJCF or URDF, text (a str) or a file (a Path), in another process.

    `assets`: the files that a text names, by name. `folder`: the folder of these files otherwise, by default the
    working directory. `timeout` (s): time limit of the compiler; None for `TIMEOUT`.

    Raises:
        CompilerMessage: the compiler refuses it, or the compiled model is larger than `LARGEST`.
        ModelError: the compiler stopped, or took too long.
        OptionError: `timeout` is not a positive number.
    """
    request = {
        "path": None if isinstance(source, str) else os.fspath(Path(source).resolve()),
        "text": source if isinstance(source, str) else None,
        "assets": {name: bytes(content).hex() for name, content in (assets or {}).items()},
        "folder": None if folder is None else os.fspath(folder),
        "urdf": None,
    }
    answer, model = _compiled(request, timeout, None if isinstance(source, str) else os.fspath(source))
    return Compiled(model, answer["name"], source if isinstance(source, str) else answer["xml"])


def compile_urdf_apart(
    plan: Plan, file: str | os.PathLike[str] | None, *, timeout: float | None = None
) -> tuple[Compiled, list[Remark]]:
    """Compile the plan for a URDF file in another process, with remarks; errors and `timeout` as above.

    `file`: its name in errors.
    """
    request = {"path": None, "text": None, "assets": {}, "folder": None, "urdf": as_json(plan)}
    answer, model = _compiled(request, timeout, None if file is None else os.fspath(file))
    remarks = [Remark(kind, tuple(names), meaning, read) for kind, names, meaning, read in answer["remarks"]]
    return Compiled(model, answer["name"], answer["xml"]), remarks


def _compiled(
    request: dict[str, Any], timeout: float | None, file: str | None
) -> tuple[dict[str, Any], mujoco.MjModel]:
    """A helper's answer to a request, and the model."""
    seconds = _seconds(TIMEOUT if timeout is None else timeout)
    answer, image = _asked({**request, "timeout": seconds, "largest": LARGEST}, seconds, file)
    model: Any = mujoco.MjModel
    return answer, model.from_binary_path(FILE, {FILE: image})


class CompilerMessage(Exception):
    """The message of MuJoCo's compiler for a model that it refuses."""


def _seconds(timeout: Any) -> float:
    try:
        seconds = float(timeout)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise OptionError(f"the time limit must be a positive number of seconds, got {timeout!r}")
    return seconds


def _asked(request: dict[str, Any], timeout: float, file: str | None) -> tuple[dict[str, Any], bytes]:
    """A helper's answer; helpers that do not answer are not used again."""
    helper = _take()
    try:
        found = helper.ask(request, timeout)
    except BaseException:  # also Ctrl-C: the helper may still be working
        helper.end()
        raise
    if found is None:
        late = helper.end() is None
        raise ModelError(
            f"MuJoCo's compiler took longer than {timeout:g} s and was stopped"
            if late
            else f"MuJoCo's compiler crashed ({helper.how()}) on this model",
            file=file,
        )
    _give_back(helper)
    if "error" in found[0]:
        raise CompilerMessage(found[0]["error"])
    return found


# ------------------------------------------------------------ the helpers


class _Helper:
    """A process that compiles one model after another."""

    def __init__(self) -> None:
        self.parent = os.getpid()
        command = [sys.executable, "-c", START.format(path=sys.path)]
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._code: int | None = None

    @property
    def usable(self) -> bool:
        """Whether the helper runs and belongs to this process, not to the parent of a fork."""
        return self.parent == os.getpid() and self._process.poll() is None

    def ask(self, request: dict[str, Any], timeout: float) -> tuple[dict[str, Any], bytes] | None:
        """Return the helper's answer to a request; None after the time limit, or if the helper died."""
        found: list[tuple[dict[str, Any], bytes] | None] = []
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None

        def exchange() -> None:
            with contextlib.suppress(OSError, ValueError):
                write_message(stdin, request)
                found.append(read_message(stdout))

        thread = threading.Thread(target=exchange, daemon=True)
        thread.start()
        thread.join(timeout)
        return found[0] if found else None

    def end(self) -> int | None:
        """Stop the helper and close its pipes; returns the exit code if it had ended by itself, otherwise None."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._code = self._process.wait(0.2)  # the exit of a process takes a moment to become visible
        if self._code is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        return self._code

    def how(self) -> str:
        """Description of the way in which the helper ended by itself."""
        code = self._code or 0
        if code >= 0:
            return f"with code {code}"
        with contextlib.suppress(ValueError):
            return f"signal {-code}, {signal.Signals(-code).name}"
        return f"signal {-code}"


_idle: list[_Helper] = []
_lock = threading.Lock()


def _take() -> _Helper:
    with _lock:
        while _idle:
            helper = _idle.pop()
            if helper.usable:
                return helper
    return _Helper()


def _give_back(helper: _Helper) -> None:
    with _lock:
        if len(_idle) < KEPT:
            _idle.append(helper)
            return
    helper.end()


@atexit.register
def _end_all() -> None:
    with _lock:
        while _idle:
            helper = _idle.pop()
            if helper.parent == os.getpid():
                helper.end()
