"""`saltus replay`: a recording again: its summary, the files that show it, or the lab's player."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from saltus.cli.outputs import Outputs
from saltus.cli.run import Done, finish
from saltus.errors import RecordError

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory


def replay(file: Path, outputs: Outputs, *, port: int, browser: bool) -> None:
    """Print what a recording is of, and write what is asked for; without a wish, show it in the lab."""
    outputs.check()
    from saltus.record.trajectory import Trajectory

    trajectory = Trajectory.load(file)
    if not len(trajectory):
        raise RecordError(file, "it holds no samples", action="replay")
    if outputs.video is not None or outputs.report is not None:
        _check_model(trajectory, outputs)
    finish(Done(trajectory), outputs)
    if "interrupted_at" in trajectory.attrs:
        hint = f"; saltus run --resume {file} goes on" if file.is_dir() else ""
        print(f"interrupted at t = {float(str(trajectory.attrs['interrupted_at'])):.6g} s{hint}")
    if not outputs.paths():
        _play(trajectory, port, browser)


def _check_model(trajectory: Trajectory, outputs: Outputs) -> None:
    """Raise what a video would raise; a report can do without."""
    from saltus.record.film.frames import model_of
    from saltus.record.table.trajectory_table import readable_model

    model = readable_model(trajectory)[0] if outputs.video is None else model_of(trajectory)
    if model is not None:
        outputs.check_model(model)


def _play(trajectory: Trajectory, port: int, browser: bool) -> None:
    """Show it in the lab until Ctrl-C."""
    from saltus import lab

    with lab.open(trajectory, port=port, browser=browser) as player, contextlib.suppress(KeyboardInterrupt):
        print(f"playing at {player.url} until Ctrl-C", flush=True)
        player.wait()
