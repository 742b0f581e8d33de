"""Shell completion of what belongs to a model or a method: names and paths, without slow imports.

A model's names are read from its file as text, so that a shell answers at once; what its files include is not read.
"""

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import typer

#: Names of all integrators, without the import of the integrators.
INTEGRATORS = (
    *(
        "explicit_euler",
        "euler",
        "implicit",
        "implicitfast",
        "discrete",
        "verlet",
        "velocity_verlet",
        "midpoint",
        "rk4",
    ),
    *("dopri5", "radau", "implicit_midpoint", "energy_momentum", "moreau_jean"),
)
LAWS = ("soft", "hard")
FIELDS = {  # paths of --set by the kind of their object
    "joint": ("qpos[{}]=", "qvel[{}]=", "qfrc_applied[{}]="),
    "actuator": ("ctrl[{}]=",),
    "body": ("body_mass[{}]=", "body_scale_mass[{}]=", "xfrc_applied[{}]="),
    "geom": ("geom[{}]/size=", "geom_friction[{}]="),
}
OPTIONS = ("opt.timestep=", "opt.gravity=", "qpos=", "qvel=", "integrator=", "contact=")
KINDS = {"joint": "joint", "freejoint": "joint", "body": "body", "link": "body", "geom": "geom", "key": "key"}


def complete_integrators(incomplete: str) -> list[str]:
    """Integrators that begin with a text; after commas, the last of several."""
    return _last_of(INTEGRATORS, incomplete)


def complete_laws(incomplete: str) -> list[str]:
    """Contact laws that begin with a text; after commas, the last of several."""
    return _last_of(LAWS, incomplete)


def complete_keys(ctx: typer.Context, incomplete: str) -> list[str]:
    """Keyframes of the command's model that begin with a text."""
    return [name for kind, name in named_elements(model_of(ctx)) if kind == "key" and name.startswith(incomplete)]


def complete_paths(ctx: typer.Context, incomplete: str) -> list[str]:
    """Paths of --set in the command's model that begin with a text, each with "="; values are not completed."""
    if "=" in incomplete:
        return []
    found = [form.format(name) for kind, name in named_elements(model_of(ctx)) for form in FIELDS.get(kind, ())]
    return [path for path in (*OPTIONS, *sorted(set(found))) if path.startswith(incomplete)]


def model_of(ctx: typer.Context) -> str | None:
    """The model that a command line names so far: while an option waits for its value, still among the other words."""
    return ctx.params.get("model") or next((word for word in ctx.args if not word.startswith("-")), None)


def named_elements(model: str | None) -> list[tuple[str, str]]:
    """Kinds and names of the elements of a bundled model or a model file; [] where there is none to read."""
    from saltus.model.source.bundled_names import BUNDLED, models

    source = BUNDLED / f"{model}.xml" if model in models() else Path(model or "")
    try:
        root = ElementTree.fromstring(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, ElementTree.ParseError):
        return []
    actuators = {id(element) for group in root.iter("actuator") for element in group}
    kinds = (("actuator" if id(element) in actuators else KINDS.get(element.tag), element) for element in root.iter())
    return [(kind, element.attrib["name"]) for kind, element in kinds if kind and "name" in element.attrib]


def _last_of(names: Iterable[str], incomplete: str) -> list[str]:
    done, comma, begun = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in names if name.startswith(begun)]
