"""What a run leaves behind: its table, its file, its plot and the statement of its accuracy."""

from saltus.record.certificate import Certificate, certify_from_runs, energy_drift
from saltus.record.events import EVENT_DTYPE
from saltus.record.recorder import TrajectoryBuilder
from saltus.record.trajectory import Trajectory

__all__ = ["EVENT_DTYPE", "Certificate", "Trajectory", "TrajectoryBuilder", "certify_from_runs", "energy_drift"]
