"""Builds the next simulation while the present one runs; a new request replaces the one in progress."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from saltus.lab.making.compiling import Making
from saltus.lab.making.setup import Built, LabStart, Settings
from saltus.lab.messages.ear import Ear
from saltus.lab.messages.job import Job


class Builder:
    """Builds the next simulations of a session, starting with the first.

    settings: those of the running simulation. wanted: those of the simulation being built, or of the running one if
    none is. ear: receives the warnings issued meanwhile.
    """

    def __init__(self, setup: LabStart, settings: Settings, ear: Ear):
        self.settings = self.wanted = settings
        self._setup, self._ear = setup, ear
        self._making: Making | None = None
        self._job: Job[Built] | None = None
        self._begin()

    @property
    def busy(self) -> bool:
        """Whether a simulation is being built or waits to be taken."""
        return self._job is not None

    def want(self, **changes: Any) -> None:
        """Build for changed settings and abandon the build in progress."""
        before, self.wanted = self.wanted, replace(self.wanted, **changes)
        if self.wanted != before:
            self.give_up()
            self._begin()

    def _begin(self) -> None:
        self._making = Making(self._setup, self.wanted)
        self._job = Job(self._ear.listening(self._making.run), "builder")

    def give_up(self) -> None:
        """Abandon the build in progress, if there is one."""
        if self._making is not None:
            self._making.cancel()
        self._making = self._job = None

    def take(self) -> Built | None:
        """The finished simulations; None while they are being built. Raises the SaltusError of a failed build."""
        if self._job is None or not self._job.done:
            return None
        job, self._job = self._job, None
        return job.result()

    def compiling(self) -> dict[str, Any] | None:
        """Progress of the compilation for the `status` message; None if nothing is being compiled."""
        progress = None if self._making is None or self._job is None else self._making.progress
        return None if progress is None else progress.message(self.wanted.integrator.name)
