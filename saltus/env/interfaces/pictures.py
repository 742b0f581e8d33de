"""Pictures of environments, drawn by Saltus's renderer."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import whole_number
from saltus.draw.scene.scene import not_drawn
from saltus.draw.scene.view import View
from saltus.env.environment import CameraChoice, declared
from saltus.env.run.episodes import Episodes
from saltus.errors import OptionError, warn
from saltus.simulate.batch_pictures import BatchPictures, of_their_own

RENDER_MODES = ("rgb_array",)


@dataclass
class Pictures:
    """Renders simulations. `render_mode`: "rgb_array" or None; size (pixels) and camera: see `View`."""

    render_mode: str | None = None
    width: int = 480
    height: int = 480
    camera: CameraChoice = None
    _drawing: BatchPictures = field(default_factory=BatchPictures, repr=False)
    _view: View | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.render_mode == "human":
            raise OptionError(
                'render_mode "human" is not supported; saltus.env.play shows an environment in the browser'
            )
        if self.render_mode not in (None, *RENDER_MODES):
            raise OptionError.unknown("render_mode", self.render_mode, RENDER_MODES)
        whole_number("width", self.width, 1)
        whole_number("height", self.height, 1)

    def __getstate__(self) -> dict[str, Any]:
        """The options alone: a copy draws by itself."""
        return {**vars(self), "_drawing": BatchPictures(), "_view": None}

    def of(self, episodes: Episodes) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture [height, width, 3] of each simulation; None without a render mode."""
        if self.render_mode is None:
            return None
        if self._view is None:
            camera = declared(episodes.environment, "camera") if self.camera is None else self.camera
            self._view = View.of(width=self.width, height=self.height, camera=camera)
            self._warn(episodes)
        return tuple(self._drawing.draw(episodes.model, episodes.lanes, episodes.read_all, self._view)[0])

    @staticmethod
    def _warn(episodes: Episodes) -> None:
        """Warn of what the pictures leave out, or do not show as it is."""
        if text := not_drawn(episodes.model):
            warn(text)
        varied = episodes.lanes.varied_model
        if own := of_their_own(() if varied is None else varied.names):
            warn(f"{own} may differ between simulations; pictures show the model's own")

    def close(self) -> None:
        """Release what draws."""
        self._drawing, self._view = BatchPictures(), None
