"""Pictures of environments, drawn by Saltus's renderer."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import whole_number
from saltus.draw.renderer import Renderer, make_renderer
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View
from saltus.env.environment import CameraChoice, declared
from saltus.env.run.episodes import Episodes
from saltus.errors import OptionError

RENDER_MODES = ("rgb_array",)


@dataclass
class Pictures:
    """Renders simulations. `render_mode`: "rgb_array" or None; size (pixels) and camera: see `View`."""

    render_mode: str | None = None
    width: int = 480
    height: int = 480
    camera: CameraChoice = None
    _renderer: Renderer | None = field(default=None, repr=False)

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
        """The options alone: a copy makes a renderer of its own."""
        return {**vars(self), "_renderer": None}

    def of(self, episodes: Episodes) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture [height, width, 3] of each simulation; None without a render mode."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            camera = declared(episodes.environment, "camera") if self.camera is None else self.camera
            view = View.of(width=self.width, height=self.height, camera=camera)
            self._renderer = make_renderer(episodes.model, view)
        fields = [episodes.read(name) for name in ("qpos", "mocap_pos", "mocap_quat")]
        return tuple(self._renderer.draw(Still(*(x[i] for x in fields))) for i in range(episodes.n))

    def close(self) -> None:
        """Release the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
