"""State and inputs of a batch as they lie in memory: arrays that see it, and what follows from writing into them."""

import numpy as np
from numpy.typing import NDArray

from saltus.simulate.batches.fields import check_state
from saltus.simulate.engine.batch.states import FORGETTING, BatchStates

FORCES = ("qfrc_applied", "xfrc_applied")


class Views:
    """What users see of the states in `lanes`, and what the last step left of it.

    Integrators and the constraint solver remember things between steps that belong to a state (an adaptive method its
    slopes, the solver where it ended). Whoever assigns to a batch makes it forget them; writing into a view is noticed
    by comparing it with what was left.
    """

    def __init__(self, lanes: BatchStates):
        self.lanes = lanes
        self._left: dict[str, np.ndarray] = {}  # a copy of what each view sees, in the order of the memory

    def of(self, name: str) -> NDArray[np.floating]:
        """A field as it lies in memory [groups, width, ...]."""
        check_state(name)
        if name not in self._left:
            self._left[name] = self._memory(name).copy()
        if name == "time":
            return self.lanes.clock.view()
        block = self._memory(name)
        groups, _, width = block.shape
        return np.moveaxis(block.reshape(groups, *self.lanes.shape(name), width), -1, 1)

    def notice(self) -> None:
        """Before anything is computed: what was written into views has its effect."""
        if not self._left:
            return
        lanes = self.lanes
        moved = np.zeros((lanes.groups, lanes.width), bool)
        for name, left in self._left.items():
            now = self._memory(name)
            if name in FORGETTING:
                changed = now != left
                moved |= changed if name == "time" else changed.any(axis=1)
            lanes.forced |= name in FORCES and bool(now.any())
        if "time" in self._left:
            lanes.states[:, lanes.span("time").start] = lanes.clock
        group, lane = np.nonzero(moved)
        lanes.states[group[:, None], lanes.remembered, lane[:, None]] = 0.0
        self.keep()

    def keep(self) -> None:
        """After the states have changed otherwise: from here on, differences are what was written into views."""
        for name, left in self._left.items():
            left[...] = self._memory(name)

    def _memory(self, name: str) -> np.ndarray:
        """Where a field lies [groups, rows, width]; times, in double precision, [groups, width]."""
        return self.lanes.clock if name == "time" else self.lanes.states[:, self.lanes.span(name)]
