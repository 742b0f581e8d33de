"""Which simulation comes next: it is built beside the one that runs, and of several wishes in a row the last counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from saltus.lab.making.compiling import Making
from saltus.lab.making.setup import Built, Settings, Setup
from saltus.lab.messages.ear import Ear
from saltus.lab.messages.job import Job


class Builder:
    """Builds the simulations that a session goes on with, the first at once.

    settings: of the simulation that runs. wanted: of the one that is being built; those of the one that runs where
    nothing is. ear: hears what is warned of meanwhile.
    """

    def __init__(self, setup: Setup, settings: Settings, ear: Ear):
        self.settings = self.wanted = settings
        self._setup, self._ear = setup, ear
        self._making: Making | None = None
        self._job: Job[Built] | None = None
        self._begin()

    @property
    def busy(self) -> bool:
        """Whether something is being built, or waits to be taken."""
        return self._job is not None

    def want(self, **changes: Any) -> None:
        """Build for other settings; what was being built before is given up."""
        before, self.wanted = self.wanted, replace(self.wanted, **changes)
        if self.wanted != before:
            self.give_up()
            self._begin()

    def _begin(self) -> None:
        self._making = Making(self._setup, self.wanted)
        self._job = Job(self._ear.listening(self._making.run), "builder")

    def give_up(self) -> None:
        """End what is being built, if anything is."""
        if self._making is not None:
            self._making.cancel()
        self._making = self._job = None

    def take(self) -> Built | None:
        """What was built, once it is done; raises the SaltusError of what cannot be built."""
        if self._job is None or not self._job.done:
            return None
        job, self._job = self._job, None
        return job.result()

    def compiling(self) -> dict[str, Any] | None:
        """What is compiled, since when and about how long, as the `status` message has it; None if nothing is."""
        progress = None if self._making is None or self._job is None else self._making.progress
        return None if progress is None else progress.message(self.wanted.integrator.name)
