"""Stability check of a session's integrator, timestep and gains, in the background after each change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, SaltusError
from saltus.lab.making.judge import Verdict, limit_found, verdict_on
from saltus.lab.making.setup import Settings, Setup, simulation
from saltus.lab.messages.job import Job

PAUSE = 0.3  # s without a change, after which is judged


class Stability:
    """What is judged of a session, in a thread of its own; `verdict`: the last, None where all is well."""

    def __init__(self, setup: Setup):
        self.verdict: Verdict | None = None
        self._setup = setup
        self._seen: Any = None  # what the session has
        self._known: Any = None  # what the verdict is on
        self._still = 0.0  # s for which it has had that
        self._job: Job[Verdict | None] | None = None

    def look(self, settings: Settings, parameters: NDArray[Any], feedback: bool, elapsed: float) -> None:
        """Have judged what a session has now, if that is new and stays for a moment."""
        if self._job is not None:
            if not self._job.done:
                return
            job, self._job = self._job, None
            self.verdict = job.result()
        seen = settings, parameters.tobytes(), feedback
        self._still = self._still + elapsed if seen == self._seen else 0.0
        self._seen = seen
        if seen != self._known and self._still >= PAUSE:
            self._known, copied = seen, parameters.copy()
            self._job = Job(lambda: judge(self._setup, settings, copied, feedback), "stability")

    def diverged(self, error: DivergenceError) -> None:
        """A motion has ended; where its step was beyond the limit, a shorter one is proposed."""
        self.verdict = self.verdict or limit_found(error)


def judge(setup: Setup, settings: Settings, parameters: NDArray[Any], feedback: bool) -> Verdict | None:
    """The verdict on the simulation of some settings, with such parameters of its controller.

    feedback: whether that acts.
    """
    try:
        sim = simulation(setup, settings, settings.integrator)
        setup.reset(sim, setup.key)
        sim.control_prm[:] = parameters
        return verdict_on(sim, feedback)
    except (SaltusError, ArithmeticError, np.linalg.LinAlgError):
        return None  # what cannot be computed here stops the next step, which tells why
