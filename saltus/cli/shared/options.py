"""Options and arguments shared by commands, and their shell completion."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.cli.shared.completion import complete_integrators, complete_keys, complete_laws
from saltus.cli.shared.units import seconds
from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.model.load import ModelSource


def complete_models(incomplete: str) -> list[str]:
    """Bundled names and model files that begin with a text; if there are none, the shell completes paths."""
    from saltus.model.source.bundled_names import models
    from saltus.model.source.other_formats import SUFFIXES

    folder, slash, _ = incomplete.rpartition("/")
    place = Path(f"{folder}{slash}")
    files = [f"{folder}{slash}{p.name}" for p in place.iterdir() if p.suffix in SUFFIXES] if place.is_dir() else []
    return [name for name in [*models(), *sorted(files)] if name.startswith(incomplete)]


def complete_scenes(incomplete: str) -> list[str]:
    """Scenes of the lab, bundled names and model files that begin with a text, scenes first."""
    from saltus.lab.scene.scene_names import MADE

    offered = [*(name for name in MADE if name.startswith(incomplete)), *complete_models(incomplete)]
    return list(dict.fromkeys(offered))


def complete_warmed(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names that can be compiled ahead of time: scenes with --lab, otherwise models."""
    return (complete_scenes if ctx.params.get("lab") else complete_models)(incomplete)


ACTUATORS = ("torque", "position", "none")  # as of `saltus.load`, which is not imported for the help
A_MODEL = {
    "metavar": "MODEL",
    "help": "A model file (.xml, .urdf), a bundled name or n_link:N.",
    "autocompletion": complete_models,
}
ModelArgument = Annotated[str, typer.Argument(**A_MODEL)]
Duration = Annotated[float, typer.Option(parser=seconds, metavar="S", help="Seconds to simulate.")]
Timestep = Annotated[
    float | None, typer.Option(parser=seconds, metavar="H", help="Timestep in s (default: the file's).")
]
IntegratorName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Integrator: euler, rk4, dopri5, ... (default: the model file's).",
        autocompletion=complete_integrators,
    ),
]
Law = Annotated[str, typer.Option(metavar="soft|hard", help="Contact law.", autocompletion=complete_laws)]
Key = Annotated[
    str | None, typer.Option(metavar="NAME", help="Initial keyframe, by name or number.", autocompletion=complete_keys)
]
Sample = Annotated[float, typer.Option(parser=seconds, metavar="S", help="Sampling period in s.", show_default="1/60")]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="FEATURE", help="Ignore a feature of the model (contact, limit, fluid, ...); repeatable."),
]
Actuators = Annotated[
    str | None,
    typer.Option(
        metavar="torque|position|none",
        help="URDF: motors or servos of its joints, or none and no warning of it.",
        autocompletion=lambda incomplete: [word for word in ACTUATORS if word.startswith(incomplete)],
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Smoke test: a few small models, short timings.")]
Json = Annotated[Path | None, typer.Option("--json", metavar="F", help="Also write the results to a JSON file.")]
Plot = Annotated[Path | None, typer.Option(metavar="F", help="Write a figure (.png, .svg, .pdf).")]
Video = Annotated[Path | None, typer.Option(metavar="F", help="Render a video (.mp4, .webm, .gif).")]
Report = Annotated[Path | None, typer.Option(metavar="F", help="Write a report with plots and a video (.html).")]
Fps = Annotated[float | None, typer.Option(metavar="N", help="Frame rate of the video (default: 60; GIF: 50).")]
DrawnBy = Annotated[str, typer.Option("--renderer", metavar="saltus|mujoco", help="Renderer; MuJoCo's needs OpenGL.")]
CameraName = Annotated[str | None, typer.Option("--camera", metavar="NAME", help="Camera of the model to render from.")]
Follow = Annotated[str | None, typer.Option(metavar="BODY", help="Body that the camera tracks.")]
Restitution = Annotated[float | None, typer.Option(metavar="E", help="Coefficient of restitution of hard contact.")]
Friction = Annotated[
    float | None,
    typer.Option(metavar="MU", help="Coefficient of friction of hard contact, for all geoms (default: the model's)."),
]
DrawContacts = Annotated[bool, typer.Option("--contacts", help="Show contact points and forces.")]
Size = Annotated[str, typer.Option(metavar="WxH", help="Size of the video in pixels.")]
Workers = Annotated[int | None, typer.Option(metavar="N", help="Number of worker processes (default: one per CPU).")]
Cluster = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster: its scheduler, as tcp://host:8786.")
]
AnyWorker = Annotated[
    bool,
    typer.Option("--any-worker", help="Allow workers with another processor or version, whose last digits may differ."),
]
Results = Annotated[
    Path | None,
    typer.Option(metavar="F.json|F.zarr", help="Store results as they arrive; an interrupted run resumes from them."),
]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="F", help="Write the table (.csv).")]
Threads = Annotated[int | None, typer.Option(metavar="N", help="Number of threads for batches (default: all).")]


def workers_of(workers: int | None, cluster: str | None) -> int | str | None:
    """The workers of the options: a number of processes, a cluster's address, or None. OptionError: both given."""
    if workers is not None and cluster is not None:
        raise OptionError("--workers is for this computer and --cluster for others; give one of them")
    return workers if cluster is None else cluster


def source_of(model: str, ignore: list[str] | None, actuators: Any) -> "ModelSource":
    """The source of a model for the options: the model itself, with the actuators of a URDF if they are chosen."""
    if actuators is None:
        return model
    from saltus.model.load import load

    return load(model, ignore=ignore or (), actuators=actuators)


def contact_of(contact: str | None, restitution: float | None, friction: float | None) -> Any:
    """The contact law of the options."""
    given = hard_numbers(contact, restitution, friction)
    if not given:
        return contact
    from saltus.simulate.laws.contact import Hard

    return Hard(**given)


def hard_numbers(contact: str | None, restitution: float | None, friction: float | None) -> dict[str, Any]:
    """The given coefficients of hard contact by name; a usage error if contact is not hard."""
    given = {name: x for name, x in (("restitution", restitution), ("friction", friction)) if x is not None}
    if given and contact != "hard":
        raise typer.BadParameter(f"{' and '.join(given)} requires --contact hard")
    return given


def excludes(context: typer.Context, option: str, others: tuple[str, ...]) -> None:
    """Raise a usage error if one of the other options was given too."""
    for other in others:
        source = context.get_parameter_source(other)
        if source is not None and source.name == "COMMANDLINE":
            hint = f"--{other.rstrip('_')}"
            raise typer.BadParameter(f"--{option} takes it from the recording", context, param_hint=hint)
