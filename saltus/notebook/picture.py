"""Pictures in displays: of a model's pose, and figures."""

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

WIDTH, HEIGHT = 320, 240  # of a picture, pixels
FIGURE_WIDTH = 760  # of a figure, at most
DOTS = 110  # an inch, of a figure


def picture(model: Model, still: Still) -> str:
    """A picture of a pose; "" where there is nothing to draw, a remark where it cannot be drawn."""
    if not (model.ngeom or model.nsite or model.nflex or model.ntendon):
        return ""
    if not np.isfinite(still.qpos).all():
        return note("no picture: a position is not finite")
    return attempt("picture", lambda: _drawn(model, still))


def _drawn(model: Model, still: Still) -> Html:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what cannot be drawn
        drawing = make_renderer(model, View(width=WIDTH, height=HEIGHT))
        try:
            pixels = drawing.draw(still)
        finally:
            drawing.close()
    buffer = io.BytesIO()
    finished(pixels, None, None).save(buffer, format="PNG", optimize=True)
    return image(buffer.getvalue(), WIDTH, f"picture of {model.name}")


def figure_image(figure: Figure, alt: str) -> Html:
    """A figure of Matplotlib's, on its own white ground."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS)
    return image(buffer.getvalue(), FIGURE_WIDTH, alt)
