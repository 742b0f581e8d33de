"""Detection of a computer too slow for the chosen speed."""

from __future__ import annotations

LATE = 0.1  # fraction of the time that the simulation may be late before the user is warned
AFTER = 2.0  # s between two checks


class Lateness:
    """Fraction of the time that a motion is late, and whether the user was warned."""

    def __init__(self) -> None:
        self._late, self._elapsed = 0.0, 0.0  # s
        self._told = False

    def warning(self, late: float, elapsed: float, speed: float) -> str | None:
        """Add `late` of `elapsed` seconds; return a warning if one is due, once until the motion keeps up again."""
        self._late, self._elapsed = self._late + late, self._elapsed + elapsed
        if self._elapsed <= AFTER:
            return None
        share, self._late, self._elapsed = self._late / self._elapsed, 0.0, 0.0
        told, self._told = self._told, share > LATE
        if told or not self._told:
            return None
        pace = speed * (1.0 - min(share, 0.999))
        return f"This computer reaches {pace:.2g} times real time here, not {speed:g}."
