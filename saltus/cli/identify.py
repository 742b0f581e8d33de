"""`saltus identify`: parameters of a model from recordings in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from saltus.cli.shared.options import IntegratorName, Json, ModelArgument, Timestep
from saltus.cli.shared.units import seconds
from saltus.errors import OptionError, RecordError

PARTS = ("time", "qpos", "qvel", "ctrl", "act", "qfrc", "mocap_pos", "mocap_quat")  # of a log in a .npz file


def identify(
    model: ModelArgument,
    recordings: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDING...", help="Recordings (.nc, .zarr), or logs: .npz with time, qpos, ctrl or qfrc."
        ),
    ],
    parameter: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=LOW,HIGH", help="A parameter and its bounds, e.g. 'body_mass[bob]=0.1,2'; repeatable."
        ),
    ],
    data: Annotated[str, typer.Option(metavar="motion|forces", help="What is fitted.")] = "motion",
    measured: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A degree of freedom that counts (default: all); repeatable."),
    ] = None,
    window: Annotated[
        float | None, typer.Option(parser=seconds, metavar="S", help="Length of a prediction in s (default: 1).")
    ] = None,
    cutoff: Annotated[
        float | None, typer.Option(metavar="HZ", help="Filter of positions and forces, with --data forces.")
    ] = None,
    holdout: Annotated[float, typer.Option(metavar="SHARE", help="Share of the data that is only predicted.")] = 0.2,
    integrator: IntegratorName = None,
    timestep: Timestep = None,
    report: Annotated[Path | None, typer.Option(metavar="F", help="Write a page with tables and figures.")] = None,
    json_path: Json = None,
) -> None:
    """Find masses, damping, friction, stiffness, ... with which a model moves as recorded."""
    bounds = dict(_bounds(text) for text in parameter)
    if len(bounds) < len(parameter):
        raise OptionError("--parameter: a name is given twice")
    from saltus.inverse.identification.identify import identify
    from saltus.record.files.atomic_write import check_writable, write_whole

    for path in (report, json_path):
        if path is not None:
            check_writable(path, what="result")
    logs = [_read(path) for path in recordings]
    kind: Any = data
    fit = identify(
        model,
        logs,
        bounds,
        data=kind,
        measured=measured or (),
        window=window,
        cutoff=cutoff,
        holdout=holdout,
        integrator=integrator,
        timestep=timestep,
    )
    typer.echo(repr(fit))
    for name, size in fit.noise.items():
        outside = f", {fit.holdout[name]:.3g} where not fitted" if name in fit.holdout else ""
        typer.echo(f"residual of {name}: {size:.3g}{outside}")
    if report is not None:
        fit.report(report)
        typer.echo(f"wrote {report} (report)")
    if json_path is not None:
        found = {"values": fit.values, "std": fit.std, "noise": fit.noise, "holdout": fit.holdout}
        found |= {"unidentified": list(fit.unidentified), "at_bound": fit.at_bound, "converged": fit.converged}
        write_whole(json_path, json.dumps(found, indent=1).encode(), what="result")
        typer.echo(f"wrote {json_path}")


def _bounds(text: str) -> tuple[str, list[float]]:
    """Name and bounds of "PATH=LOW,HIGH"; OptionError for other texts."""
    name, _, given = text.partition("=")
    try:
        low, high = (float(part) for part in given.split(","))
    except ValueError:
        raise OptionError(f"--parameter {text!r}: expected PATH=LOW,HIGH, as body_mass[bob]=0.1,2") from None
    return name.strip(), [low, high]


def _read(path: Path) -> Any:
    """A recording of a run, or the arrays of a log."""
    if path.suffix != ".npz":
        from saltus.record.trajectory import Trajectory

        return Trajectory.load(path)
    import zipfile

    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in PARTS if name in arrays}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise RecordError(path, getattr(error, "strerror", None) or str(error), action="read") from error
    if not {"time", "qpos"} <= set(found):
        raise RecordError(path, "it has no arrays time and qpos", action="read")
    return found
