"""Description of the machine of a measurement."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from saltus.arguments import usable_cores
from saltus.version import __version__


def description(threads: int) -> dict[str, Any]:
    """CPU, cores, threads of the measurement, system and versions."""
    from saltus.number.processor import register_bits

    return {
        "cpu": cpu(),
        "cores": usable_cores(),
        "simd_bits": register_bits(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "saltus": __version__,
        **{name: version(name) for name in ("mujoco", "numba", "numpy")},
    }


def cpu() -> str:
    """The CPU's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
