"""Reading a file in a separate process first, if it has no checksum.

A damaged structure can make a C library hang, crash or exhaust memory; in a separate process this does no harm, and
the file is refused.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from typing import Any

MEMORY = 2**29  # bytes beyond those of the process when it starts to read, and
COPIES = 4  # times the file's size
SECONDS, BYTES_PER_SECOND = 4.0, 2e7  # computing time: s, and bytes of the file per further second
START_SECONDS = 120.0  # s that the process may take to start, on a busy machine
START = "import sys; sys.path[:] = {path!r}; from saltus.record.io.isolated_reader import main; main()"


def check_readable(path: str) -> None:
    """Raise ValueError, and say why, unless the netCDF file at `path` can be read within limits of time and memory."""
    wall = START_SECONDS + 5.0 * _seconds(path)
    command = [sys.executable, "-c", START.format(path=sys.path), os.path.abspath(path)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=wall)
    except subprocess.TimeoutExpired:
        raise ValueError("reading it comes to no end") from None
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip()
        raise ValueError(said if done.returncode == 1 and said else _end(done.returncode))


def main() -> None:
    """Read the file named last in the arguments, in the other process. Print why and exit with 1 if that fails."""
    from saltus.record.files.atomic_write import reason_of
    from saltus.record.io.netcdf import read_dataset

    path = sys.argv[-1]
    _import_readers()
    _set_limits(path)
    try:
        with open(path, "rb") as file:
            read_dataset(file)
    except Exception as error:
        print(reason_of(error)[:1000], flush=True)
        os._exit(1)
    os._exit(0)


def _seconds(path: str) -> float:
    return SECONDS + os.path.getsize(path) / BYTES_PER_SECOND


def _import_readers() -> None:
    import h5netcdf
    import xarray

    assert h5netcdf and xarray


def _set_limits(path: str) -> None:
    try:
        import resource
    except ImportError:  # Windows: the wall clock alone
        return
    _limit(resource, "RLIMIT_CORE", 0)
    _limit(resource, "RLIMIT_CPU", int(time.process_time() + _seconds(path)) + 1)
    try:
        with open("/proc/self/statm") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # no Linux
        return
    memory = held + MEMORY + COPIES * os.path.getsize(path)
    _limit(resource, "RLIMIT_AS", memory)


def _limit(resource: Any, name: str, most: int) -> None:
    """Lower one of the system's limits for this process, where the system has it and it is not lower already."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _end(code: int) -> str:
    import signal

    limits = [getattr(signal, name, None) for name in ("SIGXCPU", "SIGKILL")]  # not on Windows
    if -code in limits:
        return "reading it comes to no end"
    return f"a process that reads it ends with status {code}"
