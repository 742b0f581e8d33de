"""Models and parameters of each simulation's next episode, drawn and derived before it begins.

The compiled reset takes them over, so that the first observation of an episode already belongs to them. What they are
depends on the seed of the simulation, the number of the episode and the place of the `Randomize` in its list alone.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.env.disturb.randomize import Randomize, check_bounds, count_of, lookup_of, targets
from saltus.env.random import EPISODE, probabilities
from saltus.model.model import Model
from saltus.simulate.engine.varied_model import VariedModel

AT_START = 1 << 30  # added to the numbers of the streams of what is drawn once


class NextEpisodes:
    """What n simulations take over when their next episodes begin.

    Attributes:
        rows: the kernels' fields of the models, as those of `VariedModel` [groups, numbers, width].
        own: the parameters that are drawn [groups, numbers, width].
        places: where each of these lies in the kept part of an episode [numbers].
        active: whether anything is drawn at all.
    """

    def __init__(
        self,
        given: Sequence[Randomize],
        model: Model,
        varied: VariedModel | None,
        parameters: Mapping[str, NDArray[np.float64]],
        n: int,
        rows: NDArray[np.floating],
    ):
        self._given, self._varied, self.active = tuple(given), varied, bool(given)
        self.n = n
        groups, _, self._width = rows.shape
        for one in given:
            check_bounds(one, given, parameters)
        self._targets = [targets(one, model, parameters) for one in given]
        self._counts = [count_of(one, where) for one, where in zip(given, self._targets, strict=True)]
        drawn = dict.fromkeys(target.name for where in self._targets for target in where)
        self._parameters = [name for name in drawn if name in parameters]
        self._fields = [name for name in drawn if name not in parameters]
        self.rows = rows.copy() if self._fields else rows
        self._bounds = {name for one in given for name in one.distribution.parameters()}
        spread = {name: np.broadcast_to(value, (n, *value.shape)) for name, value in parameters.items()}
        #: Parameters as they were assigned [n, size].
        self.nominal = {name: value.reshape(n, -1).copy() for name, value in spread.items()}
        if varied is not None:
            varied.nominal = {name: varied.fields[name].copy() for name in self._fields}
        self._values = {name: varied.fields[name].copy() for name in self._fields} if varied is not None else {}
        self._drawn_at_start = {k: np.ones((n, self._counts[k])) for k, one in enumerate(given) if one.on == "start"}
        self._undrawn = np.ones(n, bool)  # what is drawn once
        self._ready = np.zeros(n, bool)
        self._again = any(one.on == "reset" for one in given)
        sizes = [parameters[name].size for name in self._parameters]
        self.own = np.zeros((groups, sum(sizes), self._width), rows.dtype)

    def lay_out(self, starts: Mapping[str, int]) -> None:
        """Learn where the parameters lie in the kept part of an episode."""
        spans = [starts[name] + np.arange(self.nominal[name].shape[1]) for name in self._parameters]
        self.places = np.concatenate([np.zeros(0, np.int64), *spans]).astype(np.int64)

    # ------------------------------------------------------------ what makes it void

    def seeded(self, index: NDArray[np.int64]) -> None:
        """Simulations with these numbers have new seeds."""
        self._undrawn[index] = True
        self._ready[index] = False

    def assigned(self, name: str, values: NDArray[np.float64]) -> None:
        """A parameter has been assigned [n, size]."""
        self.nominal[name][:] = values
        if name in self._parameters or name in self._bounds:
            self._ready[:] = False

    def written(self, index: NDArray[np.int64]) -> None:
        """Fields of the models of simulations with these numbers have been assigned."""
        self._ready[index] = False

    def begun(self, began: NDArray[np.bool_]) -> None:
        """Episodes have begun in some simulations [n]: their models are the present ones now."""
        index = np.flatnonzero(began)
        if not len(index):
            return
        if self._varied is not None:
            self._varied.replace(index, {name: values[index] for name, values in self._values.items()})
        if self._again:
            self._ready[index] = False

    # ------------------------------------------------------------ drawing

    def prepare(self, wanted: NDArray[np.bool_] | None, random: NDArray[np.int64]) -> None:
        """Have the next episodes ready, of all simulations or of those that are wanted [n].

        `random`: the rows of random numbers of all simulations [n, NRANDOM]. OptionError where something is drawn that
        cannot be.
        """
        missing = ~self._ready if wanted is None else ~self._ready & wanted
        index = np.flatnonzero(missing)
        if not len(index):
            return
        self._draw_at_start(index[self._undrawn[index]], random)
        fields = {} if self._varied is None else {name: self._varied.nominal[name][index] for name in self._fields}
        values = fields | {name: self.nominal[name][index] for name in self._parameters}
        for k, one in enumerate(self._given):
            drawn = self._drawn_at_start[k][index] if one.on == "start" else self._draw(k, index, random)
            for target in self._targets[k]:
                flat = values[target.name].reshape(len(index), -1)
                each = np.repeat(drawn, len(target.places) // drawn.shape[1], axis=1)
                flat[:, target.places] = one.apply(flat[:, target.places], each)
        if self._varied is not None and self._fields:
            self._varied.prepare(self.rows, index, fields)
        for name, value in fields.items():
            self._values[name][index] = value
        if self._parameters:
            flat = np.concatenate([values[name] for name in self._parameters], axis=1)
            self.own[index // self._width, :, index % self._width] = flat
        self._ready[index] = True

    def _draw_at_start(self, index: NDArray[np.int64], random: NDArray[np.int64]) -> None:
        if not len(index):
            return
        for k, kept in self._drawn_at_start.items():
            kept[index] = self._draw(k, index, random)
        self._undrawn[index] = False

    def _draw(self, k: int, index: NDArray[np.int64], random: NDArray[np.int64]) -> NDArray[np.float64]:
        """Numbers [simulations, count] of a `Randomize`."""
        one = self._given[k]
        once = one.on == "start"
        episodes = np.zeros(len(index), np.int64) if once else random[index, EPISODE] + 1
        u = probabilities(random[index], k + AT_START * once, episodes, self._counts[k])
        return one.distribution.draw(one.label, u, lookup_of(index, self.nominal))
