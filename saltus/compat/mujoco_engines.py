"""Simulations in batches of Saltus's engine, one batch for all that have the same values of what a batch shares."""

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.compat.mujoco_models import groups, shared_values
from saltus.errors import DivergenceError, SaltusError
from saltus.model.vary.fields import MAY_VARY
from saltus.offered import offered


class Engines:
    """`nsim` simulations of a model with the values [nsim, ...] of `expanded` fields.

    Simulations that differ in nothing but fields that may differ in a `saltus.Batch` are in one batch. `unusable` has
    the messages of simulations whose values no batch takes.
    """

    def __init__(self, model: mujoco.MjModel, nsim: int, threads: int | None, expanded: Mapping[str, NDArray[Any]]):
        self._expanded = expanded
        self._varying = varying(expanded)
        self._shared = {name: values.copy() for name, values in shared_values(expanded).items()}
        self._pushed: dict[str, NDArray[Any]] = {}
        self._nsim = nsim
        self._batches: list[tuple[Any, NDArray[np.int64]]] = []
        self.unusable: dict[int, str] = {}
        for own, sims in groups(model, self._shared, nsim):
            try:
                self._batches.append((offered("batch")(own, len(sims), threads, vary=self._varying), sims))
            except SaltusError as error:
                if not self._shared:
                    raise
                self.unusable |= dict.fromkeys(sims.tolist(), str(error))
        self.threads: int = max((batch.threads for batch, _ in self._batches), default=threads or 1)

    def hold(self, expanded: Mapping[str, NDArray[Any]]) -> bool:
        """Whether the batches are those for these values."""
        shared = shared_values(expanded)
        return (
            expanded is self._expanded
            and varying(expanded) == self._varying
            and shared.keys() == self._shared.keys()
            and all(np.array_equal(values, self._shared[name]) for name, values in shared.items())
        )

    def push_models(self) -> bool:
        """Write varying fields into the batches' models; whether any value is another than before."""
        known, values_of = self._pushed, self._expanded
        changed = [n for n in self._varying if n not in known or not np.array_equal(known[n], values_of[n])]
        for name in changed:
            values = self._expanded[name]
            for batch, sims in self._batches:
                setattr(batch.model.opt if "." in name else batch.model, name.rpartition(".")[2], values[sims])
            self._pushed[name] = values.copy()
        if changed:
            for batch, _ in self._batches:
                batch.model_of(0)  # lets it take effect
        return bool(changed)

    def has(self, name: str) -> bool:
        """Whether the engine keeps any numbers of a field."""
        return all(batch.read(name).shape[1:] != (0,) for batch, _ in self._batches)

    def read(self, names: Sequence[str]) -> list[NDArray[Any]]:
        """Values [nsim, ...] of fields; zeros for unusable simulations."""
        each = [(batch.read(tuple(names)), sims) for batch, sims in self._batches]
        found = []
        for k in range(len(names)):
            parts = [(values[k], sims) for values, sims in each]
            whole = np.zeros((self._nsim, *parts[0][0].shape[1:])) if parts else np.zeros((self._nsim, 0))
            for part, sims in parts:
                whole[sims] = part
            found.append(whole)
        return found

    def write(self, name: str, values: NDArray[Any]) -> None:
        """Set a field [nsim, ...] of the state."""
        for batch, sims in self._batches:
            batch.write(name, values[sims])

    def restart_failed(self) -> None:
        """Let simulations that have diverged begin anew."""
        for batch, _ in self._batches:
            batch.reset(batch.diverged)

    def step(self, nstep: int, chosen: NDArray[np.int64]) -> dict[int, str]:
        """Take steps of some simulations; return messages of those that have diverged, or cannot step."""
        failed = {int(i): self.unusable[i] for i in chosen.tolist() if i in self.unusable}
        for batch, sims in self._batches:
            own = np.flatnonzero(np.isin(sims, chosen))
            before = batch.diverged
            try:
                batch.step(nstep, None if len(own) == len(sims) else own)
            except DivergenceError as error:
                new = np.intersect1d(np.flatnonzero(batch.diverged & ~before), own)
                failed |= {int(i): str(error) for i in sims[new]}
        return failed


def varying(expanded: Mapping[str, NDArray[Any]]) -> tuple[str, ...]:
    """Names of the expanded fields that may differ in a batch."""
    return tuple(name for name, values in expanded.items() if name in MAY_VARY and values.size)
