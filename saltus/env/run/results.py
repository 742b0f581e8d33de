"""The arrays that a step of environments fills, a row for each simulation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.env.run.loop import SOME_BEGAN, SOME_DIVERGED, STATUS
from saltus.env.run.stages import ENDED, NFLAG, RESETTING, TERMINATED, TRUNCATED


class Results:
    """Results of the loop for n simulations, and for the spare lanes beyond them.

    Attributes:
        rewards: [n].
        terminated, truncated, diverged: [n] booleans.
        resetting: [n] whether an episode begins in the next call.
        began: [n] whether an episode began in the last call.
        ended: [n] whether the episode has ended.
        some_began, some_diverged: whether any episode began or any simulation diverged in the last call, spare ones
            included.
        observations: [n, nobservation] in the precision of the simulations.
        values: [nvalue, n] rewards and infos.
        final_observations, final_values: the last observations and values of ended episodes.
    """

    def __init__(self, n: int, lanes: int, nobservation: int, nvalue: int, dtype: np.dtype[np.floating]):
        rewards: NDArray[np.float64] = np.zeros(lanes)
        flags: NDArray[np.bool_] = np.zeros((NFLAG, lanes), bool)
        #: Arguments of the loop: rewards, and rows of flags.
        self.arrays = (rewards, flags)
        self.rewards = rewards[:n]
        self.terminated, self.truncated, self.diverged, self.ended, self.resetting, _, self.began = flags[:, :n]
        self._ends = flags[: ENDED + 1, :n]
        self.some_began = self.some_diverged = False
        seen: NDArray[np.floating] = np.zeros((2, lanes, nobservation), dtype)
        values: NDArray[np.float64] = np.zeros((2, nvalue, lanes))
        #: Arguments of the loop: observations and values, the present and the final ones.
        self.shown = (seen, values)
        self.observations, self.final_observations = seen[:, :n]
        self.values, self.final_values = values[:, :, :n]

    def by_lane(self) -> list[NDArray[Any]]:
        """Views of all arrays, a row for each simulation, spare ones included."""
        rewards, flags = self.arrays
        seen, values = self.shown
        return [rewards, flags.T, seen.swapaxes(0, 1), np.moveaxis(values, 2, 0)]

    def ends(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks [n] of terminated, truncated and ended episodes, rows of a new array."""
        copied = self._ends.copy()
        return copied[TERMINATED], copied[TRUNCATED], copied[ENDED]

    def said(self, found: Sequence[int]) -> int:
        """Take over the result of the loop in each thread; return the worst status."""
        status = words = 0
        for word in found:
            status, words = max(status, word & STATUS), words | word
        self.some_began, self.some_diverged = words & SOME_BEGAN != 0, words & SOME_DIVERGED != 0
        return status

    def begin(self, chosen: NDArray[np.bool_] | None) -> None:
        """Request new episodes in all simulations, or in the chosen ones [n]; spare lanes always get new ones."""
        rewards, flags = self.arrays
        resetting = flags[RESETTING]
        resetting[:] = True
        if chosen is not None:
            self.resetting[:] = chosen
        rewards[resetting] = 0.0
        flags[:RESETTING, resetting] = False
