"""The arrays that a step of environments fills, a row for each simulation."""

import numpy as np
from numpy.typing import NDArray


class Results:
    """What the loop writes for n simulations, and for the spare lanes beyond them.

    Attributes:
        rewards: [n].
        terminated, truncated, diverged: [n] truths.
        resetting: [n] whose episode is to begin anew in the next call.
        began: [n] whose episode began in the last call.
        observations: [n, nobservation] in the precision of the simulations.
        values: [nvalue, n] rewards and infos.
        final_observations, final_values: the same before the start of the next episode took their place.
    """

    def __init__(self, n: int, lanes: int, nobservation: int, nvalue: int, dtype: np.dtype[np.floating]):
        rewards: NDArray[np.float64] = np.zeros(lanes)
        flags: list[NDArray[np.bool_]] = [np.zeros(lanes, bool) for _ in range(6)]
        #: As the loop takes them: rewards, terminated, truncated, diverged, resetting, chosen, began.
        self.arrays = (rewards, *flags)
        self.rewards = rewards[:n]
        self.terminated, self.truncated, self.diverged, self.resetting, _, self.began = (x[:n] for x in flags)
        seen: list[NDArray[np.floating]] = [np.zeros((lanes, nobservation), dtype) for _ in range(2)]
        values: list[NDArray[np.float64]] = [np.zeros((nvalue, lanes)) for _ in range(2)]
        #: As the loop takes them: observations and values, and the final ones.
        self.shown = (seen[0], values[0], seen[1], values[1])
        self.observations, self.final_observations = (x[:n] for x in seen)
        self.values, self.final_values = (x[:, :n] for x in values)

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Whose episode has ended [n], a new array."""
        return self.terminated | self.truncated

    def begin(self, chosen: NDArray[np.bool_] | None) -> None:
        """Have the episodes of all begin anew, or of the chosen [n]; those of the spare lanes do in any case."""
        rewards, terminated, truncated, diverged, resetting, *_ = self.arrays
        resetting[:] = True
        if chosen is not None:
            self.resetting[:] = chosen
        rewards[resetting] = 0.0
        for array in (terminated, truncated, diverged):
            array[resetting] = False
