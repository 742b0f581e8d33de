"""Whether the computer keeps up with the speed that is wanted."""

from __future__ import annotations

LATE = 0.1  # of the time, by which the simulation may be late before the user is told
AFTER = 2.0  # s


class Lateness:
    """How much of the time a motion is late, and whether the user knows."""

    def __init__(self) -> None:
        self._late, self._elapsed = 0.0, 0.0  # s
        self._told = False

    def warning(self, late: float, elapsed: float, speed: float) -> str | None:
        """So many of the seconds that have passed were late: what to tell the user, once until the motion keeps up."""
        self._late, self._elapsed = self._late + late, self._elapsed + elapsed
        if self._elapsed <= AFTER:
            return None
        share, self._late, self._elapsed = self._late / self._elapsed, 0.0, 0.0
        told, self._told = self._told, share > LATE
        if told or not self._told:
            return None
        pace = speed * (1.0 - min(share, 0.999))
        return f"This computer manages {pace:.2g} times real time here, not {speed:g}."
