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
from saltus.simulate.engine.batch.varied_model import VariedModel

MOST_AHEAD, ROOM = 8, 1 << 26  # episodes that may be ready, and bytes that their models may take
AT_START = 1 << 30  # added to the numbers of the streams of what is drawn once


class NextEpisodes:
    """What n simulations take over when their next episodes begin.

    Several episodes may be ready ahead, more of them the longer nothing makes them void, since deriving many models
    together costs less.

    Attributes:
        rows: the kernels' fields of the models, as those of `VariedModel`, by episodes [ahead, groups, numbers, width];
            no numbers where no field is drawn.
        own: the parameters that are drawn, in the same way.
        places: where each of these lies in the kept part of an episode [numbers].
        slots: which of the episodes is the next one [simulations], spare ones included.
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
        self._undrawn = np.ones(n, bool)  # what is drawn once
        self._again = any(one.on == "reset" for one in given)
        self._make_room(n, groups, rows)

    def _make_room(self, n: int, groups: int, rows: NDArray[np.floating]) -> None:
        """Memory for several episodes ahead."""
        size = rows.nbytes if self._fields else 1
        self._most = max(1, min(MOST_AHEAD, ROOM // size)) if self._again else 1
        self._ahead = np.zeros(n, np.int64)  # how many are ready
        self._wanted = 1  # how many are to be ready
        self.slots = np.zeros(groups * self._width, np.int64)
        own = rows if self._fields else rows[:, :0]
        self.rows = np.zeros((self._most, *own.shape), rows.dtype)
        self.rows[0] = own  # of spare simulations
        self._values = (
            {}
            if self._varied is None
            else {name: np.zeros((self._most, *self._varied.fields[name].shape)) for name in self._fields}
        )
        numbers = sum(self.nominal[name].shape[1] for name in self._parameters)
        self.own = np.zeros((self._most, groups, numbers, self._width), rows.dtype)

    def lay_out(self, starts: Mapping[str, int]) -> None:
        """Learn where the parameters lie in the kept part of an episode."""
        spans = [starts[name] + np.arange(self.nominal[name].shape[1]) for name in self._parameters]
        self.places = np.concatenate([np.zeros(0, np.int64), *spans]).astype(np.int64)

    # ------------------------------------------------------------ what makes it void

    def seeded(self, index: NDArray[np.int64]) -> None:
        """Simulations with these numbers have new seeds."""
        self._undrawn[index] = True
        self._forget(index)

    def assigned(self, name: str, values: NDArray[np.float64]) -> None:
        """A parameter has been assigned [n, size]."""
        self.nominal[name][:] = values
        if name in self._parameters or name in self._bounds:
            self._forget(slice(None))

    def written(self, index: NDArray[np.int64]) -> None:
        """Fields of the models of simulations with these numbers have been assigned."""
        if len(index):
            self._forget(index)

    def _forget(self, index: NDArray[np.int64] | slice) -> None:
        self._ahead[index] = 0
        self._wanted = 1

    def begun(self, began: NDArray[np.bool_]) -> None:
        """Episodes have begun in some simulations [n]: their models are the present ones now."""
        index = np.flatnonzero(began)
        slots = self.slots[index]
        if self._varied is not None:
            self._varied.replace(index, {name: values[slots, index] for name, values in self._values.items()})
        if self._again:
            self.slots[index] = (slots + 1) % self._most
            self._ahead[index] -= 1

    # ------------------------------------------------------------ drawing

    def prepare(self, wanted: NDArray[np.bool_] | None, random: NDArray[np.int64]) -> None:
        """Have the next episodes ready, of all simulations or of those that are wanted [n].

        `random`: the rows of random numbers of all simulations [n, NRANDOM]. OptionError where something is drawn that
        cannot be.
        """
        missing = self._ahead == 0
        if wanted is not None:
            missing &= wanted
        if not missing.any():
            return
        lacking = missing * 1 if self._wanted == 1 else np.maximum(self._wanted - self._ahead, 0)
        index = np.repeat(np.arange(len(lacking)), lacking)
        # how many episodes after the next one each is
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
        """Values of fields and parameters for episodes that are so many after the next ones."""
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
        """Numbers [simulations, count] of a `Randomize`, for such episodes, or once."""
        one, once = self._given[k], later is None
        episodes = np.zeros(len(index), np.int64) if later is None else random[index, EPISODE] + 1 + later
        u = probabilities(random[index], k + AT_START * once, episodes, self._counts[k])
        return one.distribution.draw(one.label, u, lookup_of(index, self.nominal))
