"""Infos of many environments in the format of Gymnasium's `SyncVectorEnv`: arrays by name, each with a mask."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from saltus.env.environment import declared
from saltus.env.run.episodes import Episodes
from saltus.env.run.results import Results
from saltus.env.run.stages import SAME_STEP

#: Arrays by name, [n] or [n, ...], each with its mask [n] under "_name"; final infos are nested.
VectorInfos: TypeAlias = dict[str, "NDArray[np.generic] | VectorInfos"]
#: Numbers and rows of numbers by name.
SingleInfos: TypeAlias = dict[str, float | bool | NDArray[np.float64]]


class Infos:
    """Makes infos from the results of the loop."""

    def __init__(self, episodes: Episodes):
        self._episodes = episodes
        self._spans, self._results = episodes.declaration.spans, episodes.results
        self.names = [name for name in self._spans if not name.startswith("_")]
        self._places = {name: (span, f"_{name}") for name, span in self._spans.items()}  # with the names of masks
        self._everyone = np.ones(episodes.n, bool)
        self.at_reset = tuple(declared(episodes.environment, "reset_infos"))

    def __reduce__(self) -> tuple[object, ...]:
        return Infos, (self._episodes,)

    def of_reset(self) -> VectorInfos:
        """Infos after a reset."""
        return self._arrays(self._results.values, self.at_reset, self._results.began)

    def of_step(self, mode: int, ended: NDArray[np.bool_]) -> VectorInfos:
        """Infos after a step, in which new episodes may have begun."""
        results = self._results
        if not (results.some_began and results.began.any()):
            found = self._arrays(results.values, self.names, None)
            return found | self._diverged()
        began = results.began
        found = self._arrays(results.values, self.names, ~began)
        for name in self.at_reset:  # of all simulations, including those at the start of an episode
            found |= self._arrays(results.values, [name], None)
        if mode != SAME_STEP:
            return found | self._diverged()
        final = self._arrays(results.final_values, self.names, ended) | self._diverged()
        return final_observations(results, ended) | {"final_info": final, "_final_info": ended.copy()} | found

    def single(self, names: Iterable[str]) -> SingleInfos:
        """Infos of a single simulation: numbers and rows of numbers by name."""
        values, spans = self._results.values, self._spans
        found: SingleInfos = {}
        for name in names:
            value = values[spans[name], 0]
            found[name] = value.copy() if value.ndim else float(value)
        return found

    def _arrays(self, values: NDArray[np.float64], names: Iterable[str], mask: NDArray[np.bool_] | None) -> VectorInfos:
        """Values and masks by name, with zeros where the mask is False; {} if it is False everywhere.

        All masks are one new array, and the values are views of another.
        """
        found: VectorInfos = {}
        if mask is not None and not mask.any():
            return found
        copied, shown = values.copy(), (self._everyone if mask is None else mask).copy()
        if mask is not None:
            copied[:, ~mask] = 0.0
        for name in names:
            span, masked = self._places[name]
            found[name] = np.ascontiguousarray(copied[span].T) if isinstance(span, slice) else copied[span]
            found[masked] = shown
        return found

    def _diverged(self) -> VectorInfos:
        diverged = self._results.diverged
        if not (self._results.some_diverged and diverged.any()):
            return {}
        return {"diverged": diverged.copy(), "_diverged": diverged.copy()}


def final_observations(results: Results, ended: NDArray[np.bool_]) -> VectorInfos:
    """The last observations of ended episodes: an array of objects with its mask."""
    rows = np.full(len(ended), None, object)
    for i in np.flatnonzero(ended):
        rows[i] = results.final_observations[i].copy()
    return {"final_obs": rows, "_final_obs": ended.copy()}
