"""Pictures of a model's states, by Saltus's rasteriser or by MuJoCo's renderer."""

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
        """Colours of ghosts as "#rrggbb", in their order, repeated if there are more ghosts."""
        ...

    def draw(self, still: Still, ghosts: Sequence[Still] = (), text: str = "") -> NDArray[np.uint8]:
        """Draw a new picture [height, width, 3] of one state.

        ghosts: other states of the model, drawn translucent in different colours. text: lines to write on the picture.
        """
        ...

    def close(self) -> None:
        """Release the renderer's external resources."""
        ...


def make_renderer(model: Model, view: View, renderer: str = "saltus") -> Renderer:
    """Make a renderer of the model from a view.

    renderer: "saltus" needs no other software; "mujoco" uses MuJoCo's renderer if OpenGL works, otherwise Saltus's with
    a SaltusWarning. A SaltusWarning names features that Saltus's renderer does not draw.
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
