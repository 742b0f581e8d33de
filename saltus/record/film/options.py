"""Options of films, in addition to those that `saltus.draw.scene.view.View` has for their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saltus.draw.scene.view import ViewOptions

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable
    from saltus.terminal.progress import ProgressChoice


class PictureOptions(ViewOptions, total=False):
    """Options of pictures of a recording."""

    speed: float
    renderer: str
    text: bool | str
    ghosts: Sequence[TrajectoryTable]


class ReportOptions(PictureOptions, total=False):
    """Options of the film in a report."""

    fps: float


class FilmOptions(PictureOptions, total=False):
    """Options of a film in memory; `suffix`: its kind, ".mp4", ".webm" or ".gif"."""

    suffix: str
    progress: ProgressChoice
