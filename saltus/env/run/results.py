"""The arrays that a step of environments fills, a row for each simulation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.env.run.loop import ENDED, NFLAG, RESETTING, SOME_BEGAN, SOME_DIVERGED, STATUS, TERMINATED, TRUNCATED


class Results:
    """What the loop writes for n simulations, and for the spare lanes beyond them.

    Attributes:
        rewards: [n].
        terminated, truncated, diverged: [n] truths.
        resetting: [n] whose episode is to begin anew in the next call.
        began: [n] whose episode began in the last call.
        ended: [n] whose episode has ended.
        some_began, some_diverged: whether any episode began, and any simulation diverged, in the last call; they may
            be spare ones.
        observations: [n, nobservation] in the precision of the simulations.
        values: [nvalue, n] rewards and infos.
        final_observations, final_values: the same before the start of the next episode took their place.
    """

    def __init__(self, n: int, lanes: int, nobservation: int, nvalue: int, dtype: np.dtype[np.floating]):
        rewards: NDArray[np.float64] = np.zeros(lanes)
        flags: NDArray[np.bool_] = np.zeros((NFLAG, lanes), bool)
        #: As the loop takes them: rewards, and rows of truths.
        self.arrays = (rewards, flags)
        self.rewards = rewards[:n]
        self.terminated, self.truncated, self.diverged, self.ended, self.resetting, _, self.began = flags[:, :n]
        self._ends = flags[: ENDED + 1, :n]
        self.some_began = self.some_diverged = False
        seen: NDArray[np.floating] = np.zeros((2, lanes, nobservation), dtype)
        values: NDArray[np.float64] = np.zeros((2, nvalue, lanes))
        #: As the loop takes them: observations and values, the present and the final ones.
        self.shown = (seen, values)
        self.observations, self.final_observations = seen[:, :n]
        self.values, self.final_values = values[:, :, :n]

    def ends(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Who has terminated, has been truncated, and has ended [n], rows of a new array."""
        copied = self._ends.copy()
        return copied[TERMINATED], copied[TRUNCATED], copied[ENDED]

    def said(self, found: Sequence[int]) -> int:
        """Take note of what the loop returned to each thread; the worst status."""
        status = words = 0
        for word in found:
            status, words = max(status, word & STATUS), words | word
        self.some_began, self.some_diverged = words & SOME_BEGAN != 0, words & SOME_DIVERGED != 0
        return status

    def begin(self, chosen: NDArray[np.bool_] | None) -> None:
        """Have the episodes of all begin anew, or of the chosen [n]; those of the spare lanes do in any case."""
        rewards, flags = self.arrays
        resetting = flags[RESETTING]
        resetting[:] = True
        if chosen is not None:
            self.resetting[:] = chosen
        rewards[resetting] = 0.0
        flags[:RESETTING, resetting] = False
