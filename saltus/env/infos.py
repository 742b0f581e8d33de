"""Infos of many environments, as Gymnasium's `SyncVectorEnv` gives them: arrays by name, each with a mask."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from saltus.env.environment import declared
from saltus.env.episodes import Episodes
from saltus.env.loop import SAME_STEP
from saltus.env.results import Results

#: Arrays by name, [n] or [n, ...], each with its mask [n] under the name with an underscore; final ones in their own.
VectorInfos: TypeAlias = dict[str, "NDArray[np.generic] | VectorInfos"]
#: Numbers and rows of numbers by name.
SingleInfos: TypeAlias = dict[str, float | bool | NDArray[np.float64]]


class Infos:
    """Makes them of what the loop has written."""

    def __init__(self, episodes: Episodes):
        self._spans, self._results = episodes.declaration.spans, episodes.results
        self.names = [name for name in self._spans if not name.startswith("_")]
        self.at_reset = tuple(declared(episodes.environment, "reset_infos"))

    def of_reset(self) -> VectorInfos:
        """After a reset."""
        return self._arrays(self._results.values, self.at_reset, self._results.began)

    def of_step(self, mode: int, ended: NDArray[np.bool_]) -> VectorInfos:
        """After a step, which may have begun episodes anew."""
        results = self._results
        began = results.began
        if not began.any():
            found = self._arrays(results.values, self.names, None)
            return found | self._diverged()
        found = self._arrays(results.values, self.names, ~began)
        for name in self.at_reset:  # of all, since those of a start are there, too
            found |= self._arrays(results.values, [name], None)
        if mode != SAME_STEP:
            return found | self._diverged()
        final = self._arrays(results.final_values, self.names, ended) | self._diverged()
        return final_observations(results, ended) | {"final_info": final, "_final_info": ended.copy()} | found

    def single(self, names: Iterable[str]) -> SingleInfos:
        """Of one simulation: numbers and rows of numbers."""
        values, spans = self._results.values, self._spans
        found: SingleInfos = {}
        for name in names:
            value = values[spans[name], 0]
            found[name] = value.copy() if value.ndim else float(value)
        return found

    def _arrays(self, values: NDArray[np.float64], names: Iterable[str], mask: NDArray[np.bool_] | None) -> VectorInfos:
        """Values by names with their masks, zero where the mask is not; nothing where it is nowhere."""
        found: VectorInfos = {}
        if mask is not None and not mask.any():
            return found
        for name in names:
            rows = values[self._spans[name]]
            array = np.ascontiguousarray(rows.T) if rows.ndim > 1 else rows.copy()
            if mask is None:
                found[name], found[f"_{name}"] = array, np.ones(len(array), bool)
            else:
                array[~mask] = 0.0
                found[name], found[f"_{name}"] = array, mask.copy()
        return found

    def _diverged(self) -> VectorInfos:
        diverged = self._results.diverged
        return {"diverged": diverged.copy(), "_diverged": diverged.copy()} if diverged.any() else {}


def final_observations(results: Results, ended: NDArray[np.bool_]) -> VectorInfos:
    """The last observations of episodes that have ended: an array of objects, with its mask."""
    rows = np.full(len(ended), None, object)
    for i in np.flatnonzero(ended):
        rows[i] = results.final_observations[i].copy()
    return {"final_obs": rows, "_final_obs": ended.copy()}
