"""Disturbances of an environment: noisy and delayed actions, delayed observations, pushes."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.env.disturb import delays, pushes
from saltus.env.disturb.delays import noise_of_actions
from saltus.env.disturb.pushes import AT, COUNT, FORCE, KIND, Push
from saltus.env.observation import Delay, delay_range
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.model.model import Model
from saltus.number.kernels import kernel


class Kernels(NamedTuple):
    """Kernels that the loop calls, each f(d, e, e_real, tables)."""

    begin: Any  # at the start of an episode
    act: Any  # before the term before_step
    push: Any  # after it
    release: Any  # after the substeps
    report: Any  # pushes into e.values
    first: Any  # after the first observation
    late: Any  # after each other one


class Disturbances:
    """Disturbances of an environment with actions of `naction` numbers and steps of `dt` seconds.

    `late`: whether any observation is delayed. `nmemory`: count of numbers that the integrator keeps between steps.

    `tables`: arrays for the kernels. `infos`: names of the pushes reported in infos, with the size of each.
    """

    def __init__(
        self,
        noise: ArrayLike,
        delay: Delay,
        late: bool,
        given: Sequence[Push],
        naction: int,
        model: Model,
        dt: float,
        nmemory: int,
    ):
        self._noise = noise_of_actions(noise, naction)
        self._delay = np.array(delay_range("action_delay", delay), np.int64)
        self._acts = bool(self._noise.any() or self._delay.any())
        self._pushes, self._given = pushes.tables(given, model, dt, nmemory), given
        rows = self._pushes.rows
        self.infos = {one.info: int(row[COUNT]) for one, row in zip(given, rows, strict=True) if one.info is not None}
        if len(self.infos) < sum(one.info is not None for one in given):
            raise OptionError("pushes: two pushes have the same name in infos")
        self.forces = bool((rows[:, KIND] == FORCE).any())
        self._late = late
        self.see([])

    def see(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Set the range of delays (steps) of each number of the observation."""
        self._columns, self._ranges, self._queue = delays.delayed_columns(ranges)

    @property
    def sizes(self) -> dict[str, int]:
        """Values of the named sizes in the shapes of `fields`."""
        acting = (int(self._delay[1]) + 1) * len(self._noise)
        return {"ndelay": len(self._ranges), "nqueue": self._queue, "nacting": acting}

    def fields(self) -> dict[str, tuple[int | str, ...]]:
        """Names and shapes of the fields that disturbances keep in the memory of an episode."""
        found: dict[str, tuple[int | str, ...]] = {}
        if self._acts:
            found |= {"action_delay": (), "action_queue": ("nacting",)}
        if self._late:
            found |= {"observation_delay": ("ndelay",), "observation_queue": ("nqueue",)}
        if self._given:
            each, total = (len(self._given),), (int(self._pushes.rows[:, COUNT].sum()),)
            found |= {"push_wait": each, "push_left": each, "pushed": total, "unpushed": total}
        return found

    def tables(
        self,
        parameters: Mapping[str, NDArray[np.float64]],
        starts: Mapping[str, int],
        spans: Mapping[str, slice | int],
    ) -> tuple[Any, ...]:
        """Arrays for the kernels.

        `starts`: first index of each parameter among the numbers of an episode; `spans`: indices of infos in `values`.
        """
        if not (self._acts or self._late or self._given):
            return ()
        rows, laws, directions, nmemory = self._pushes
        pushes.set_laws(laws, self._given, parameters, starts)
        shown = [np.zeros((0, 2), np.int64)]
        for one, row in zip(self._given, rows, strict=True):
            if one.info is not None:
                span = spans[one.info]
                first = span.start if isinstance(span, slice) else span
                shown.append(np.arange(row[COUNT])[:, None] + [first, row[AT]])
        late = self._columns, self._ranges
        return self._noise, self._delay, *late, rows, laws, directions, nmemory, np.concatenate(shown)

    def kernels(self) -> Kernels:
        """Kernels of the disturbances that are in use."""
        late, pushed = self._late, bool(self._given)
        begin = [
            one for one, there in ((_begin_actions, self._acts), (_begin_seen, late), (_begin_pushes, pushed)) if there
        ]
        return Kernels(
            begin=_in_turn(tuple(begin)),
            act=_act if self._acts else nothing,
            push=_in_turn(tuple([_given] * self._acts + [_push] * pushed)),
            release=_release if self.forces else nothing,
            report=_report if self.infos else nothing,
            first=_first if late else nothing,
            late=_late if late else nothing,
        )


@kernel
def nothing(d, e, e_real, tables):
    """Do nothing: there is no disturbance of a kind."""


@kernel(inline=True)
def _begin_actions(d, e, e_real, tables):
    delays.begin_actions(e, len(tables[0]), tables[1])


@kernel(inline=True)
def _begin_seen(d, e, e_real, tables):
    delays.begin_observations(e, tables[3])


@kernel(inline=True)
def _begin_pushes(d, e, e_real, tables):
    pushes.begin_pushes(e, e_real, tables[4], tables[5])


@kernel(inline=True)
def _act(d, e, e_real, tables):
    delays.late_action(e, tables[0], tables[1])


@kernel(inline=True)
def _given(d, e, e_real, tables):
    delays.given_action(e, tables[0])


@kernel(inline=True)
def _push(d, e, e_real, tables):
    pushes.next_pushes(e, e_real, tables[4], tables[5], tables[6])
    pushes.push(d, e, tables[4], tables[7])


@kernel(inline=True)
def _release(d, e, e_real, tables):
    pushes.release(d, e, tables[4])


@kernel(inline=True)
def _report(d, e, e_real, tables):
    shown = tables[8]
    for k in range(shown.shape[0]):
        e.values[shown[k, 0]] = e.pushed[shown[k, 1]]


@kernel(inline=True)
def _first(d, e, e_real, tables):
    delays.first_observation(e, tables[2])


@kernel(inline=True)
def _late(d, e, e_real, tables):
    delays.late_observation(e, tables[2])


def _in_turn(kernels: tuple[Any, ...]) -> Kernel:
    made: Any = nothing
    for one in reversed(kernels):
        made = one if made is nothing else _both(one, made)
    return made


@functools.cache
def _both(one: Any, rest: Any) -> Any:
    @kernel(inline=True)
    def both(d, e, e_real, tables):
        one(d, e, e_real, tables)
        rest(d, e, e_real, tables)

    return both
