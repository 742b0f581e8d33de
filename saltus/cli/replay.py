"""`saltus replay`: summarise a recording, render it, or play it back in the lab."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.run import Done, finish
from saltus.cli.shared.options import CameraName, DrawContacts, DrawnBy, Follow, Fps, Plot, Report, Size, Video
from saltus.cli.shared.outputs import Film, Outputs
from saltus.errors import RecordError

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording: a netCDF file or a Zarr store.")],
    plot: Plot = None,
    video: Video = None,
    report: Report = None,
    save: Annotated[Path | None, typer.Option(metavar="F", help="Save a copy (netCDF or .zarr).")] = None,
    fps: Fps = None,
    renderer: DrawnBy = "saltus",
    camera: CameraName = None,
    follow: Follow = None,
    contacts: DrawContacts = False,
    size: Size = "640x480",
    port: Annotated[int, typer.Option(metavar="N", help="Port of the player; 0: any free port.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the player in a browser.")] = True,
) -> None:
    """Summarise a recording and render it; with no output file, play it back in the browser."""
    outputs = Outputs(plot, save, video, report, Film(fps, renderer, camera, follow, contacts, size))
    outputs.check()
    from saltus.record.trajectory import Trajectory

    trajectory = Trajectory.load(file)
    if not len(trajectory):
        raise RecordError(file, "the recording has no samples", action="replay")
    if outputs.video is not None or outputs.report is not None:
        _check_model(trajectory, outputs)
    finish(Done(trajectory), outputs)
    if "interrupted_at" in trajectory.attrs:
        hint = f"; resume it with saltus run --resume {file}" if file.is_dir() else ""
        print(f"interrupted at t = {float(str(trajectory.attrs['interrupted_at'])):.6g} s{hint}")
    if not outputs.paths():
        _play(trajectory, port, browser)


def _check_model(trajectory: Trajectory, outputs: Outputs) -> None:
    """Raise the errors of outputs that need the model: a video must have it, a report need not."""
    from saltus.record.film.frames import model_of
    from saltus.record.table.trajectory_table import readable_model

    model = readable_model(trajectory)[0] if outputs.video is None else model_of(trajectory)
    if model is not None:
        outputs.check_model(model)


def _play(trajectory: Trajectory, port: int, browser: bool) -> None:
    """Play a recording in the lab until Ctrl-C."""
    from saltus import lab

    with lab.open(trajectory, port=port, browser=browser) as player, contextlib.suppress(KeyboardInterrupt):
        print(f"playing at {player.url} until Ctrl-C", flush=True)
        player.wait()
