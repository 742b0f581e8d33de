"""Views of a batch's state and inputs in memory, and the detection of values written into them."""

import numpy as np
from numpy.typing import NDArray

from saltus.simulate.batches.fields import check_state
from saltus.simulate.engine.batch.states import FORGETTING, BatchStates
from saltus.simulate.engine.switches import check_switches

FORCES = ("qfrc_applied", "xfrc_applied")


class Views:
    """Views of the states in `lanes`, and copies of what the last step left in them.

    Integrators and the constraint solver keep data between steps that belong to a state (slopes of an adaptive method,
    the solver's warm start). Assigning to a batch discards them; writing into a view is noticed by comparison with
    the copy.
    """

    def __init__(self, lanes: BatchStates):
        self.lanes = lanes
        self._left: dict[str, np.ndarray] = {}  # a copy of each view, in the order of the memory

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
        """Apply values that were written into views, before anything is computed."""
        if not self._left:
            return
        lanes = self.lanes
        moved = np.zeros((lanes.groups, lanes.width), bool)
        for name, left in self._left.items():
            now = self._memory(name)
            if name in FORGETTING:
                changed = now != left
                moved |= changed if name == "time" else changed.any(axis=1)
            if name == "eq_active":
                check_switches(lanes.model, lanes.m, np.moveaxis(now, 1, -1))
            lanes.forced |= name in FORCES and bool(now.any())
        if "time" in self._left:
            lanes.states[:, lanes.span("time").start] = lanes.clock
        group, lane = np.nonzero(moved)
        lanes.states[group[:, None], lanes.remembered, lane[:, None]] = 0.0
        self.keep()

    def keep(self) -> None:
        """Copy the views after the states have changed otherwise; later differences are values written into views."""
        for name, left in self._left.items():
            left[...] = self._memory(name)

    def _memory(self, name: str) -> np.ndarray:
        """Memory of a field [groups, rows, width]; of times, in double precision, [groups, width]."""
        return self.lanes.clock if name == "time" else self.lanes.states[:, self.lanes.span(name)]
