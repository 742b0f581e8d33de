"""Recordings: tables, files, figures, films, reports and error estimates of runs."""

from importlib import import_module
from typing import TYPE_CHECKING

# name -> module that holds it; loaded on first use, so that a program that reads events alone draws no tables
_HOME = {
    "EVENT_DTYPE": "saltus.record.table.events",
    "Certificate": "saltus.record.table.certificate",
    "Trajectory": "saltus.record.trajectory",
    "TrajectoryBuilder": "saltus.record.recorder",
    "certify_from_runs": "saltus.record.table.certificate",
    "energy_drift": "saltus.record.table.certificate",
}

__all__ = ["EVENT_DTYPE", "Certificate", "Trajectory", "TrajectoryBuilder", "certify_from_runs", "energy_drift"]

if TYPE_CHECKING:
    from saltus.record.recorder import TrajectoryBuilder
    from saltus.record.table.certificate import Certificate, certify_from_runs, energy_drift
    from saltus.record.table.events import EVENT_DTYPE
    from saltus.record.trajectory import Trajectory


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'saltus.record' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
