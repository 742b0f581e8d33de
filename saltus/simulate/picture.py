"""Pictures of the present state of a simulation."""

import os
from typing import TYPE_CHECKING, Unpack

from saltus.arguments import text_of
from saltus.draw.renderer import make_renderer
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View, ViewOptions
from saltus.record.film.picture import finished, picture_format
from saltus.simulate.analysis.current_contacts import NONE, present_contacts
from saltus.simulate.engine.engine import Engine

if TYPE_CHECKING:
    from PIL.Image import Image


def picture(
    engine: Engine,
    path: str | os.PathLike[str] | None = None,
    *,
    renderer: str = "saltus",
    text: str = "",
    **view: Unpack[ViewOptions],
) -> "Image":
    """Draw the present state of an engine; see `Simulation.picture`."""
    file_format = None if path is None else picture_format(path)
    seen = View.of(**view)
    contacts, _, pressure = present_contacts(engine) if seen.contacts or seen.cop else NONE
    drawing = make_renderer(engine.model, seen, renderer)
    try:
        still = Still(engine.qpos, engine.mocap_pos, engine.mocap_quat, contacts, engine.tree_asleep, pressure)
        pixels = drawing.draw(still, text=text_of("text", text))
    finally:
        drawing.close()
    return finished(pixels, path, file_format)
