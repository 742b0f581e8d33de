"""Pairs of geoms that passed each other within a step, as kernels record them, and the warning that names them."""

from saltus.errors import warn
from saltus.model.fields.constraint.passing import COUNT, SEEN
from saltus.model.model import Model
from saltus.number.structs import Struct


class PassedReader:
    """Reads pairs that have passed each other, and warns of each pair once."""

    def __init__(self, model: Model, m: Struct, d: Struct, located: bool):
        self._model, self._m, self._d, self._located = model, m, d, located
        self._told: set[int] = set()

    def forget(self) -> None:
        """Forget all warnings, so that every pair is warned of again."""
        self._told.clear()
        self._d.views["passing_count"][:] = 0

    def read(self, h: float) -> list[str]:
        """Warn of pairs that have passed since the last call, in steps of h seconds; returns the new warnings."""
        count = self._d.views["passing_count"]
        found = int(count[COUNT])
        if not found:
            return []
        count[COUNT] = 0
        texts = []
        for pair, time in zip(self._d.views["passed_pair"][:found], self._d.views["passed_time"], strict=False):
            if int(pair) not in self._told:
                self._told.add(int(pair))
                texts.append(self._text(int(pair), float(time), h))
        more = f" (and {found - SEEN} more passages)" if found > SEEN else ""
        for text in texts:
            warn(text + more)
        return texts

    def _text(self, pair: int, time: float, h: float) -> str:
        names, views = self._model.names("geom"), self._m.views
        first, second = (names[views[f"collision_geom{k}"][pair]] for k in (1, 2))
        thick = float(views["passing_least"][pair])
        if self._located:
            remedy = "choose a smaller dense_step"
        else:
            remedy = (
                f"choose a smaller timestep than {h:g} s, or hard contact under dopri5, which looks inside its steps"
            )
        return (
            f"geoms {first!r} and {second!r} passed through each other in the step at t = {time:.6g} s: contacts are "
            f"detected at the ends of steps, and the mean of their thicknesses is {thick:.3g} m; {remedy}"
        )
