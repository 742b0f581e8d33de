"""Pictures of poses and figures in displays."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

import numpy as np

from saltus.draw.renderer import make_renderer
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View
from saltus.model.model import Model
from saltus.notebook.html import Html, attempt, image, note
from saltus.record.film.picture import finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 320, 240  # size of a picture, pixels
FIGURE_WIDTH = 760  # largest width of a figure, pixels
DOTS = 110  # dots per inch of a figure


def picture(model: Model, still: Still) -> str:
    """Draw a pose; return "" if there is nothing to draw, a remark if drawing fails."""
    if not (model.ngeom or model.nsite or model.nflex or model.ntendon):
        return ""
    if not np.isfinite(still.qpos).all():
        return note("no picture: a position is not finite")
    return attempt("picture", lambda: _drawn(model, still))


def _drawn(model: Model, still: Still) -> Html:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about features that are not drawn
        drawing = make_renderer(model, View(width=WIDTH, height=HEIGHT))
        try:
            pixels = drawing.draw(still)
        finally:
            drawing.close()
    buffer = io.BytesIO()
    finished(pixels, None, None).save(buffer, format="PNG", optimize=True)
    return image(buffer.getvalue(), WIDTH, f"picture of {model.name}")


def figure_image(figure: Figure, alt: str) -> Html:
    """A Matplotlib figure as an image on its white background."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS)
    return image(buffer.getvalue(), FIGURE_WIDTH, alt)
