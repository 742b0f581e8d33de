"""Processes that are killed while they write: what they left is whole, goes on, or is refused by name."""

import functools
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import saltus
from helpers import damage
from helpers.soaking.files import sweep, swept
from helpers.soaking.outcomes import Kind, Other
from saltus.errors import RecordError
from saltus.record import Trajectory
from saltus.record.io import stream

LONGEST = 0.5  # s until a process is killed
DURATION, SAMPLE, PAUSE = 5.0, 0.05, 0.0005  # s of a run, between its samples, and that it waits at each opportunity
INTEGRATORS = ("euler", "rk4", "dopri5")


def killed(act: Callable[[], object], delay: float) -> None:
    """Begin something in a child, and kill that after a delay (s), unless it has ended."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def simulation(integrator: str) -> saltus.Simulation:
    return saltus.Simulation("pendulum", integrator, timestep=0.01)


@functools.cache
def whole(integrator: str) -> Trajectory:
    """The recording of a run that nobody kills."""
    return simulation(integrator).run(DURATION, SAMPLE)


def record(integrator: str, path: Path) -> None:
    """A run that commits whenever it can."""
    stream.SECONDS, stream.CHUNK_BYTES = 0.0, 1
    simulation(integrator).run(DURATION, SAMPLE, progress=lambda done: time.sleep(PAUSE), save=path)


def try_stream(rng: random.Random, folder: Path) -> None:
    """A recording that was cut begins as the whole one, and goes on to its end, to the bit."""
    integrator, path, delay = rng.choice(INTEGRATORS), folder / "run.zarr", rng.uniform(0.0, LONGEST)
    killed(lambda: record(integrator, path), delay)
    cut, expected = Trajectory.load(path), whole(integrator)
    if not np.array_equal(cut.qpos, expected.qpos[: len(cut)]) or not np.array_equal(
        cut.time, expected.time[: len(cut)]
    ):
        raise Other("a recording that was cut has other samples")
    found = saltus.resume(path)
    found.attrs["created"] = expected.attrs["created"]  # each has its own time of day
    if not damage.same(found, expected):
        raise Other("a recording that went on ends otherwise")


def try_overwriting(rng: random.Random, folder: Path) -> None:
    """A recording that replaces another one is there whole, or the old one is."""
    old, new = whole("euler"), whole("rk4")
    path = folder / "run.nc"
    old.save(path)
    killed(lambda: new.save(path), rng.uniform(0.0, 0.02))
    found = Trajectory.load(path)
    if not any(damage.same(found, each) for each in (old, new)):
        raise Other("a recording that is neither the old nor the new one")


def try_sweep(rng: random.Random, folder: Path) -> None:
    """A sweep that begins anew with what it kept has the results of one that nobody killed."""
    store = folder / "sweep.zarr"
    killed(lambda: sweep(store), rng.uniform(0.0, LONGEST))
    sweep(store)
    for name in ("qpos", "time"):
        for found, expected in zip(*(sorted(each.rglob(f"{name}/c/*")) for each in (store, swept())), strict=True):
            if found.is_file() and found.read_bytes() != expected.read_bytes():
                raise Other("a sweep that was killed has other results")


def try_kill(rng: random.Random, folder: Path) -> None:
    """Kill a process that writes; what was not begun is refused by name."""
    try:
        rng.choice([try_stream, try_stream, try_overwriting, try_sweep])(rng, folder)
    except RecordError:
        if (folder / "run.nc").exists():
            raise Other("a recording that was there is refused") from None
        raise


def _first() -> None:
    for integrator in INTEGRATORS:
        whole(integrator)
    swept()


KINDS = (Kind("kill", try_kill, _first),)
