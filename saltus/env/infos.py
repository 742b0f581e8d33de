"""Infos of many environments, as Gymnasium's `SyncVectorEnv` gives them: arrays by name, each with a mask."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.env.episodes import Episodes
from saltus.env.loop import SAME_STEP


class Infos:
    """Makes them of what the loop has written."""

    def __init__(self, episodes: Episodes):
        self._episodes = episodes
        self.names = [name for name in episodes.spans if not name.startswith("_")]
        self.at_reset = tuple(episodes.environment.declared("reset_infos"))

    def of_reset(self) -> dict[str, Any]:
        """After a reset."""
        return self._arrays(self._episodes.values, self.at_reset, self._episodes.began)

    def of_step(self, mode: int, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """After a step, which may have begun episodes anew."""
        episodes = self._episodes
        began = episodes.began
        if not began.any():
            found = self._arrays(episodes.values, self.names, None)
            return found | self._diverged()
        found = self._arrays(episodes.values, self.names, ~began)
        for name in self.at_reset:  # of all, since those of a start are there, too
            found |= self._arrays(episodes.values, [name], None)
        if mode != SAME_STEP:
            return found | self._diverged()
        final = self._arrays(episodes.final_values, self.names, ended) | self._diverged()
        return final_observations(episodes, ended) | {"final_info": final, "_final_info": ended.copy()} | found

    def single(self, names: Any) -> dict[str, Any]:
        """Of one simulation: numbers and rows of numbers."""
        values, spans = self._episodes.values, self._episodes.spans
        found: dict[str, Any] = {}
        for name in names:
            value = values[spans[name], 0]
            found[name] = value.copy() if value.ndim else float(value)
        return found

    def _arrays(self, values: NDArray[Any], names: Any, mask: NDArray[np.bool_] | None) -> dict[str, Any]:
        """Values by names with their masks, zero where the mask is not; nothing where it is nowhere."""
        found: dict[str, Any] = {}
        if mask is not None and not mask.any():
            return found
        for name in names:
            rows = values[self._episodes.spans[name]]
            array = np.ascontiguousarray(rows.T) if rows.ndim > 1 else rows.copy()
            if mask is None:
                found[name], found[f"_{name}"] = array, np.ones(len(array), bool)
            else:
                array[~mask] = 0.0
                found[name], found[f"_{name}"] = array, mask.copy()
        return found

    def _diverged(self) -> dict[str, Any]:
        diverged = self._episodes.diverged
        return {"diverged": diverged.copy(), "_diverged": diverged.copy()} if diverged.any() else {}


def final_observations(episodes: Episodes, ended: NDArray[np.bool_]) -> dict[str, Any]:
    """The last observations of episodes that have ended: an array of objects, with its mask."""
    rows = np.full(len(ended), None, object)
    for i in np.flatnonzero(ended):
        rows[i] = episodes.final_observations[i].copy()
    return {"final_obs": rows, "_final_obs": ended.copy()}
