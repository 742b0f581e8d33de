"""Peak memory of a process, where the system reports it (Linux)."""

from __future__ import annotations

from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
FORGET_PEAK = "5"  # resets the peak (proc_pid_clear_refs(5))


class PeakMemory:
    """Peak growth of the process's resident memory (bytes) since `begin`; nan where it is not known."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start measuring from here."""
        try:
            CLEAR.write_text(FORGET_PEAK)
        except OSError:
            self.first = float("nan")
        else:
            self.first = _resident("VmRSS")

    def growth(self) -> float:
        """Peak memory since `begin`, minus the memory at that time (bytes)."""
        return _resident("VmHWM") - self.first


def _resident(name: str) -> float:
    """A line of the process's status, in bytes."""
    try:
        lines = STATUS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return float("nan")
    found = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return 1024.0 * float(found[0]) if found else float("nan")
