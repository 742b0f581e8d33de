"""Measurements in processes of their own, in which nothing is warm, and which can be ended when they take too long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]  # the process imports saltus from here


@dataclass(frozen=True)
class Outcome:
    """Result of a process: its last message of each name, its stderr, and its failure.

    `late`: ended at the time limit. `error`: the last line of its stderr if it failed otherwise, or the signal that
    ended it.
    """

    facts: dict[str, Any]
    stderr: str
    late: bool = False
    error: str | None = None


def run_fresh(
    module: str,
    argument: Any,
    *,
    limit: float,
    hear: Callable[[dict[str, Any]], None] = lambda facts: None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run `python -m module` with an argument as JSON; its stdout must be lines of JSON, objects.

    The process is ended after `limit` seconds; `hear` is called with each line's object as it comes; `environment` adds
    to that of this process.
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {**os.environ, **(environment or {}), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-X", "utf8", "-P", "-m", module, json.dumps(argument)]
    facts: dict[str, Any] = {}
    late = threading.Event()
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", env=variables) as process,
    ):

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit, end)
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if not line.endswith("\n"):
                    break  # the process was ended in the middle of a line
                said = json.loads(line)
                facts |= said
                hear(said)
            process.wait()
        finally:
            timer.cancel()
            process.kill()  # after an interrupt; a process that has ended is left alone
        errors.seek(0)
        stderr = errors.read()
    if process.returncode == 0:
        return Outcome(facts, stderr)
    if late.is_set():
        return Outcome(facts, stderr, late=True)
    return Outcome(facts, stderr, error=_reason(process.returncode, stderr))


def _reason(code: int, stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip()]
    if code < 0:
        return f"ended by signal {-code}"
    return lines[-1].strip() if lines else f"exit code {code}"
