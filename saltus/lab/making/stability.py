"""Stability check of a session's integrator, timestep and gains, in the background after each change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, SaltusError
from saltus.lab.making.judge import Verdict, limit_found, verdict_on
from saltus.lab.making.setup import LabStart, Settings, simulation
from saltus.lab.messages.job import Job

PAUSE = 0.3  # s without a change before a check


class Stability:
    """Background checks of a session's stability; `verdict`: the last result, None if stable."""

    def __init__(self, setup: LabStart):
        self.verdict: Verdict | None = None
        self._setup = setup
        self._seen: Any = None  # the session's present choices
        self._known: Any = None  # the choices that the verdict is about
        self._still = 0.0  # s since the last change
        self._job: Job[Verdict | None] | None = None

    def look(self, settings: Settings, parameters: NDArray[Any], feedback: bool, elapsed: float) -> None:
        """Start a check of a session's present choices if they are new and have not changed for PAUSE s."""
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
        """After a divergence, propose a shorter timestep if it exceeded the stability limit."""
        self.verdict = self.verdict or limit_found(error)


def judge(setup: LabStart, settings: Settings, parameters: NDArray[Any], feedback: bool) -> Verdict | None:
    """Judge the stability of some settings with these parameters of the controller; None if stable or undecided.

    feedback: whether the controller is active.
    """
    try:
        sim = simulation(setup, settings, settings.integrator)
        setup.reset(sim, setup.key)
        sim.control_prm[:] = parameters
        return verdict_on(sim, feedback)
    except (SaltusError, ArithmeticError, np.linalg.LinAlgError):
        return None  # an error here recurs in the next step, which reports it
