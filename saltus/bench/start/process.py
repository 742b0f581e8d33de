"""One start in a process of its own: from nothing to the first motion, and the seconds of compiling by phase.

`python -m saltus.bench.start.process '{"what": "run", "arguments": ["pendulum"]}'` prints a line of JSON: the seconds
of each phase.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import struct
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

SAMPLES = 128  # first byte of messages that are no frames
WATCHED = ("typing", "lowering", "linking", "optimising", "machine code", "cache")


class Clock:
    """Seconds by phase, each without those inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside = [0.0]

    @contextlib.contextmanager
    def of(self, phase: str) -> Iterator[None]:
        """Count the time of the block as a phase."""
        begun = time.perf_counter()
        self._inside.append(0.0)
        try:
            yield
        finally:
            whole = time.perf_counter() - begun
            self.seconds[phase] += whole - self._inside.pop()
            self._inside[-1] += whole

    def watch(self, owner: Any, name: str, phase: str) -> None:
        """Count all calls of a method as a phase."""
        method: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            with self.of(phase):
                return method(*arguments, **options)

        setattr(owner, name, timed)


def watch_compiler(clock: Clock) -> None:
    """Count the compiler's phases, by Numba's passes and the later work of the package's libraries."""
    from saltus.number.compile import units
    from saltus.number.compile.function_cache import _Files
    from saltus.number.compile.parts import PartLibrary
    from saltus.number.internals import CPUCodeLibrary, passes_of_the_compiler

    for one, lowers in passes_of_the_compiler():
        clock.watch(one, "run_pass", "lowering" if lowers else "typing")
    clock.watch(PartLibrary, "finalize", "linking")
    clock.watch(units.EntryLibrary, "finalize", "linking")
    clock.watch(units, "optimise", "optimising")
    clock.watch(units.EntryLibrary, "_finalize_final_module", "machine code")
    clock.watch(units, "load", "machine code")
    clock.watch(CPUCodeLibrary, "_finalize_final_module", "machine code")
    clock.watch(_Files, "load", "cache")
    clock.watch(_Files, "save", "cache")


def run(arguments: list[str]) -> None:
    """Run `saltus run` with these arguments; the output is discarded."""
    sys.argv = ["saltus", "run", *arguments]
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_module("saltus", run_name="__main__")


def batch(arguments: list[str]) -> None:
    """Take the first step of a batch of a model."""
    from saltus.simulate.batch import Batch

    Batch(arguments[0], 32).step()


def scene(arguments: list[str]) -> None:
    """Run a scene of the lab until it moves."""
    from websockets.sync.client import connect

    from saltus import lab

    with lab.open(arguments[0], browser=False) as opened:
        base, _, token = opened.url.partition("/?")
        with connect(f"{base.replace('http', 'ws')}/ws?{token}", origin=base, max_size=None) as page:  # type: ignore
            while True:
                message = page.recv()
                if not isinstance(message, bytes) or message[0] == SAMPLES:
                    continue
                _, _, _, number, moment = struct.unpack_from("<BBHId", message)  # see `saltus.lab.messages.protocol`
                if moment > 0.0:
                    return
                page.send(json.dumps({"type": "ack", "frame": number}))


KINDS = {"run": run, "batch": batch, "scene": scene}


def main() -> None:
    """Run the start that the argument describes, and print the seconds of each phase."""
    given = json.loads(sys.argv[1])
    clock = Clock()
    if given["phases"]:
        watch_compiler(clock)
    try:
        KINDS[given["what"]](given["arguments"])
    except SystemExit as end:  # commands end like this
        if end.code:
            raise
    print(json.dumps({"phases": {phase: clock.seconds[phase] for phase in WATCHED}}), flush=True)


if __name__ == "__main__":
    main()
