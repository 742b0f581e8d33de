"""Models and parameters of each simulation's next episode, drawn and derived before it begins.

The compiled reset takes them over, so that the first observation of an episode already belongs to them. The values
depend only on the seed of the simulation, the number of the episode and the index of the `Randomize` in its list.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.env.disturb.randomize import Randomize, check_bounds, count_of, lookup_of, targets
from saltus.env.random import EPISODE, probabilities
from saltus.model.model import Model
from saltus.simulate.engine.batch.varied_model import VariedModel

MOST_AHEAD, ROOM = 8, 1 << 26  # most episodes prepared ahead, and most bytes of their models
AT_START = 1 << 30  # offset of the streams of values that are drawn once


class NextEpisodes:
    """Models and parameters of the next episodes of n simulations.

    Several episodes may be prepared ahead, more of them the longer nothing invalidates them, since deriving many models
    together costs less.

    Attributes:
        rows: the kernels' fields of the models, as in `VariedModel`, by episodes [ahead, groups, numbers, width];
            no numbers if no field is drawn.
        own: the drawn parameters, laid out as `rows`.
        places: index of each number of `own` in the kept part of an episode [numbers].
        slots: index of the next episode [simulations], spare simulations included.
        active: whether anything is drawn.
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
        groups, _, self._width = rows.shape
        for one in given:
            check_bounds(one, given, parameters)
        self._targets = [targets(one, model, parameters) for one in given]
        self._counts = [count_of(one, where) for one, where in zip(given, self._targets, strict=True)]
        drawn = dict.fromkeys(target.name for where in self._targets for target in where)
        self._parameters = [name for name in drawn if name in parameters]
        self._fields = [name for name in drawn if name not in parameters]
        self._bounds = {name for one in given for name in one.distribution.parameters()}
        spread = {name: np.broadcast_to(value, (n, *value.shape)) for name, value in parameters.items()}
        #: Parameters as they were assigned [n, size].
        self.nominal = {name: value.reshape(n, -1).copy() for name, value in spread.items()}
        if varied is not None:
            varied.nominal = {name: varied.fields[name].copy() for name in self._fields}
        self._drawn_at_start = {k: np.ones((n, self._counts[k])) for k, one in enumerate(given) if one.on == "start"}
        self._undrawn = np.ones(n, bool)  # simulations whose values at the start are still to be drawn
        self._again = any(one.on == "reset" for one in given)
        self._make_room(n, groups, rows)

    def _make_room(self, n: int, groups: int, rows: NDArray[np.floating]) -> None:
        """Allocate memory for several episodes ahead."""
        size = rows.nbytes if self._fields else 1
        self._most = max(1, min(MOST_AHEAD, ROOM // size)) if self._again else 1
        self._ahead = np.zeros(n, np.int64)  # number of prepared episodes
        self._wanted = 1  # number of episodes to prepare
        self.slots = np.zeros(groups * self._width, np.int64)
        own = rows if self._fields else rows[:, :0]
        self.rows = np.zeros((self._most, *own.shape), rows.dtype)
        self.rows[0] = own  # for spare simulations
        self._values = (
            {}
            if self._varied is None
            else {name: np.zeros((self._most, *self._varied.fields[name].shape)) for name in self._fields}
        )
        numbers = sum(self.nominal[name].shape[1] for name in self._parameters)
        self.own = np.zeros((self._most, groups, numbers, self._width), rows.dtype)

    def lay_out(self, starts: Mapping[str, int]) -> None:
        """Set the first index of each parameter in the kept part of an episode."""
        spans = [starts[name] + np.arange(self.nominal[name].shape[1]) for name in self._parameters]
        self.places = np.concatenate([np.zeros(0, np.int64), *spans]).astype(np.int64)

    # ------------------------------------------------------------ invalidation

    def seeded(self, index: NDArray[np.int64]) -> None:
        """Discard the prepared episodes of simulations `index`, which have new seeds."""
        self._undrawn[index] = True
        self._forget(index)

    def assigned(self, name: str, values: NDArray[np.float64]) -> None:
        """Take over assigned values [n, size] of a parameter."""
        self.nominal[name][:] = values
        if name in self._parameters or name in self._bounds:
            self._forget(slice(None))

    def written(self, index: NDArray[np.int64]) -> None:
        """Discard the prepared episodes of simulations `index`, whose model fields were assigned."""
        if len(index):
            self._forget(index)

    def _forget(self, index: NDArray[np.int64] | slice) -> None:
        self._ahead[index] = 0
        self._wanted = 1

    def kept(self) -> list[NDArray[np.float64]]:
        """Nominal values, from which those of coming episodes are drawn: arrays [n, ...] to read and write."""
        return [*self.nominal.values(), *({} if self._varied is None else self._varied.nominal).values()]

    def begun(self, began: NDArray[np.bool_]) -> None:
        """Make the prepared models the present ones where episodes have begun [n]."""
        index = np.flatnonzero(began)
        slots = self.slots[index]
        if self._varied is not None:
            self._varied.replace(index, {name: values[slots, index] for name, values in self._values.items()})
        if self._again:
            self.slots[index] = (slots + 1) % self._most
            self._ahead[index] -= 1

    # ------------------------------------------------------------ drawing

    def prepare(self, wanted: NDArray[np.bool_] | None, random: NDArray[np.int64]) -> None:
        """Prepare the next episodes of all simulations, or of the wanted ones [n].

        `random`: the state of the random numbers of all simulations [n, NRANDOM]. OptionError: a drawn value is not
        valid.
        """
        missing = self._ahead == 0
        if wanted is not None:
            missing &= wanted
        if not missing.any():
            return
        lacking = missing * 1 if self._wanted == 1 else np.maximum(self._wanted - self._ahead, 0)
        index = np.repeat(np.arange(len(lacking)), lacking)
        # number of episodes from the next one to each
        later = self._ahead[index] + np.arange(len(index)) - np.repeat(np.cumsum(lacking) - lacking, lacking)
        self._draw_at_start(np.flatnonzero(self._undrawn & (lacking > 0)), random)
        values = self._drawn(index, later, random)
        slots = (self.slots[index] + later) % self._most
        place = slots, index // self._width, slice(None), index % self._width
        fields = {name: values[name] for name in self._fields}
        if self._varied is not None and fields:
            self.rows[place] = self._varied.numbers_for(index, fields)
        for name, value in fields.items():
            self._values[name][slots, index] = value
        if self._parameters:
            self.own[place] = np.concatenate([values[name] for name in self._parameters], axis=1)
        self._ahead += lacking
        self._wanted = min(2 * self._wanted, self._most)

    def _drawn(
        self, index: NDArray[np.int64], later: NDArray[np.int64], random: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """Draw values of fields and parameters for the episodes `later` after the next ones of simulations `index`."""
        nominal = self.nominal if self._varied is None else self.nominal | self._varied.nominal
        values = {name: nominal[name][index] for name in (*self._fields, *self._parameters)}
        for k, one in enumerate(self._given):
            once = one.on == "start"
            drawn = self._drawn_at_start[k][index] if once else self._draw(k, index, later, random)
            for target in self._targets[k]:
                flat = values[target.name].reshape(len(index), -1)
                each = np.repeat(drawn, len(target.places) // drawn.shape[1], axis=1)
                flat[:, target.places] = one.apply(flat[:, target.places], each)
        return values

    def _draw_at_start(self, index: NDArray[np.int64], random: NDArray[np.int64]) -> None:
        if not len(index):
            return
        for k, kept in self._drawn_at_start.items():
            kept[index] = self._draw(k, index, None, random)
        self._undrawn[index] = False

    def _draw(
        self, k: int, index: NDArray[np.int64], later: NDArray[np.int64] | None, random: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Draw numbers [simulations, count] of the k-th `Randomize`, for episodes `later`; None: once."""
        one, once = self._given[k], later is None
        episodes = np.zeros(len(index), np.int64) if later is None else random[index, EPISODE] + 1 + later
        u = probabilities(random[index], k + AT_START * once, episodes, self._counts[k])
        return one.distribution.draw(one.label, u, lookup_of(index, self.nominal))
