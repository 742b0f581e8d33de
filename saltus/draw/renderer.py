"""Pictures of a model's states, by the package's own rasteriser or by MuJoCo's renderer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import text_of
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View
from saltus.errors import OptionError, SaltusWarning
from saltus.model.model import Model

RENDERERS = ("saltus", "mujoco")


class Renderer(Protocol):
    """Draws a model's states as pictures."""

    @property
    def ghost_colours(self) -> tuple[str, ...]:
        """Colours that ghosts are drawn in, in their order and then again, as "#rrggbb"."""
        ...

    def draw(self, still: Still, ghosts: Sequence[Still] = (), text: str = "") -> NDArray[np.uint8]:
        """The picture [height, width, 3] of one moment, which the caller may keep.

        ghosts: other states of the model, drawn translucent, each in a colour of its own. text: lines to write on it.
        """
        ...

    def close(self) -> None:
        """Give back what the renderer holds outside Python's memory."""
        ...


def make_renderer(model: Model, view: View, renderer: str = "saltus") -> Renderer:
    """A renderer of the model from a view.

    renderer: "saltus" needs nothing but the package; "mujoco" draws by MuJoCo's where OpenGL works, and with a
    SaltusWarning by ours where it does not. A SaltusWarning names what ours cannot draw.
    Raises OptionError for an unknown renderer, camera or body.
    """
    if text_of("renderer", renderer) not in RENDERERS:
        raise OptionError.unknown("renderer", renderer, RENDERERS)
    if renderer == "mujoco":
        from saltus.draw.mujoco_renderer import mujoco_renderer

        found = mujoco_renderer(model, view)
        if found is not None:
            return found
    from saltus.draw.rasteriser import Rasteriser
    from saltus.draw.scene.scene import not_drawn

    if text := not_drawn(model):
        warnings.warn(text, SaltusWarning, stacklevel=2)
    return Rasteriser(model, view)
