"""Room for recordings in memory: how much a recording takes, and whether that is too much."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from saltus.errors import OptionError
from saltus.record.table.columns import dtype_of

SHARE = 0.5  # of the free memory that a recording may take
COPIES = 2  # samples are copied once, into a recording of their own, when a run ends
LIMITS = (  # files of memory limits of containers, and of what is used there (Linux)
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_memory() -> int | None:
    """Bytes of memory that are free for this process, within the limit of its container; None if not known."""
    free = [amount for amount in (_of_system(), *(_of_container(*files) for files in LIMITS)) if amount is not None]
    return min(free, default=None)


def sample_size(shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Bytes of one sample whose columns have these shapes."""
    return sum(math.prod(shape) * np.dtype(dtype_of(name)).itemsize for name, shape in shapes.items())


SMALL = 50e6  # bytes that are not worth a look at the memory


def check_room(size: int, samples: int, sample: float, remedy: str) -> None:
    """Raise OptionError if a recording is too large for memory.

    `size`: of one sample, bytes; `samples`: number of samples, `sample` s apart; `remedy`: another one than to record
    less often, in words.
    """
    free = free_memory()
    needed = COPIES * size * samples
    if free is None or needed <= SHARE * free:
        return
    longer = _rounded_up(sample * needed / max(SHARE * free, 1.0))
    raise OptionError(
        f"the recording would take {_amount(needed)} of memory ({samples:,} samples of {size:,} bytes, twice while it "
        f"is made); at most {100 * SHARE:.0f} % of the free {_amount(free)} may be used. Record less often, with "
        f"sample={longer:g} or more (--sample {longer:g}){remedy}"
    )


def check_arrays(size: int, what: str, fewer: str) -> None:
    """Raise OptionError if arrays of so many bytes, for `what`, are too large for memory; `fewer`: what to reduce."""
    free = free_memory() if size > SMALL else None
    if free is not None and size > SHARE * free:
        raise OptionError(
            f"{what} would take {_amount(size)} of memory; at most {100 * SHARE:.0f} % of the free {_amount(free)} may "
            f"be used. Record fewer fields, or take fewer simulations or {fewer} at a time"
        )


def _of_system() -> int | None:
    if sys.platform == "win32":
        return _of_windows()
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = next((line for line in lines if line.startswith("MemAvailable:")), "")
        return int(found.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    try:  # elsewhere: half of what is installed
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _of_windows() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "pages", "page", "virtual", "here", "more")),
        )

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (there on Windows alone)
    return int(status.free) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _of_container(limit: str, used: str) -> int | None:
    try:
        return max(int(Path(limit).read_text("ascii")) - int(Path(used).read_text("ascii")), 0)
    except (OSError, ValueError):  # no container, or "max"
        return None


def _amount(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def _rounded_up(value: float) -> float:
    """Round a positive number up to two digits."""
    power = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / power * (1 - 1e-12)) * power:.2g}")
