"""Pictures of all simulations of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.draw.many_pictures import ManyPictures, States
from saltus.draw.scene.view import View
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.simulate.batches.state import Ids, indices
from saltus.simulate.engine.batch.states import BatchStates

READ = ("qpos", "mocap_pos", "mocap_quat", "xpos", "xquat", "subtree_com")
SHOWN = ("geom_size", "geom_pos", "geom_quat", "site_pos", "site_quat")  # fields that a picture shows, beside poses
ONLY_SINGLE = ("contacts", "com", "cop")
Read = Callable[[Sequence[str]], Sequence[NDArray[np.floating]]]
SECONDS = 1e-4  # about the time of a small picture


class BatchPictures:
    """Draws a batch's simulations; what the last view needs is kept from call to call."""

    def __init__(self):
        self._last: tuple[View, Model, ManyPictures] | None = None

    def draw(
        self, model: Model, lanes: BatchStates, read: Read, view: View, depth: bool = False, ids: Ids = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32] | None]:
        """Pictures [m, height, width, 3] of some simulations, and depths [m, height, width] (m) if asked for.

        read: function of names that returns these fields [n, ...] at the present states.
        """
        for name in ONLY_SINGLE:
            if getattr(view, name):
                raise OptionError(f"render: {name} are drawn by Simulation.picture, for one simulation")
        chosen = indices("render", ids, lanes.n)
        states = States(*(np.asarray(field, np.float64)[chosen] for field in read(READ)))
        if len(bad := chosen[~np.isfinite(states.xpos).all(axis=(1, 2))]):
            raise OptionError(
                f"render: the pose of simulation {bad[0]} (and {len(bad) - 1} more of {len(chosen)}) is not finite; "
                "reset them, or leave them out by ids"
            )
        images = np.empty((len(chosen), view.height, view.width, 3), np.uint8)
        depths = np.empty(images.shape[:3], np.float32) if depth else None
        drawing = self._drawing(model, view)
        if len(chosen):
            lanes.share_among(drawing.work(states, images, depths), len(chosen), SECONDS * len(chosen))
        return images, depths

    def _drawing(self, model: Model, view: View) -> ManyPictures:
        if self._last is None or self._last[0] != view or self._last[1] is not model:
            self._last = view, model, ManyPictures(model, view)
        return self._last[2]


def of_their_own(vary: Iterable[str]) -> str:
    """Names of varying fields that pictures, whose simulations share one scene, show as they are in the model."""
    return ", ".join(name for name in vary if name in SHOWN)
