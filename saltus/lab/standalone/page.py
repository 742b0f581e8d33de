"""Standalone pages: the lab's page with a simulation in one HTML file that needs no server and no network.

The file holds, compressed and in base64, the data of the page's worker: the description of the session and of the
module's memory as JSON, the WebAssembly module, and the initial contents of memory.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saltus.arguments import flag, path_of, positive, text_of, words
from saltus.errors import OptionError, warn
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.choose import find_scene
from saltus.lab.session import LiveSession
from saltus.lab.standalone.content_policy import with_policy
from saltus.lab.standalone.course_package import course_package
from saltus.lab.standalone.description import description, fixed_cameras
from saltus.lab.standalone.exercise import exercise
from saltus.lab.standalone.loops import simulations
from saltus.record.files.atomic_write import check_writable, reason_of, write_whole
from saltus.target.web.program import program

if TYPE_CHECKING:
    from saltus.integrate.registry import IntegratorChoice
    from saltus.lab.scene.scenes import Scene
    from saltus.model.load import ModelSource
    from saltus.simulate.laws.contact import ContactChoice
    from saltus.simulate.simulation import Simulation

PAGE = Path(__file__).resolve().parent.parent / "page.html"
BEFORE = '<script type="text/plain" id="worker-script">'  # the simulation is inserted before this
LARGEST = 20_000_000  # bytes of the largest page


def page(
    what: ModelSource | Simulation | Sequence[ModelSource | Simulation],
    path: str | os.PathLike[str],
    *,
    integrator: IntegratorChoice = None,
    contact: ContactChoice = None,
    restitution: float | None = None,
    friction: float | None = None,
    timestep: float | None = None,
    key: int | str | None = None,
    ignore: Iterable[str] = (),
    speed: float = 1.0,
    playing: bool = True,
    integrators: Sequence[str] | None = None,
    contacts: Sequence[str] | None = None,
    title: str | None = None,
    text: str | os.PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Path:
    """Write one HTML file that simulates a model in the reader's browser, without a server or a network.

    The file is the lab's page with the model's time loops as WebAssembly: integrators, step, gravity, sliders, keys,
    dragging, plots and recordings work as in the lab. Writing takes seconds for a pendulum, a minute or two for a
    humanoid.

    Args:
        what: the name of a scene of the lab, anything that `saltus.load` takes, or a `saltus.Simulation`, whose present
            state the page starts from; or a list of these, among which the reader chooses.
        path: the file to write. With the suffix .zip it is a package for learning platforms: a SCORM 1.2 manifest and
            the page as index.html.
        integrator, contact, restitution, friction, timestep, key, ignore, speed, playing: see `saltus.lab.open`; for
            all scenes of a list.
        integrators, contacts: names that readers can choose besides the first; None: all for models without contacts,
            else some (see `saltus.lab.standalone.loops`), and for large models the first only.
        title: of the page; None: that of the scene.
        text: Markdown that stands beside the simulation, or the path of a file with it (a `pathlib.Path`). A link such
            as `[start](#qpos[theta]=2)` starts the simulation anew from there, `#scene=NAME` another scene; a fenced
            block `task` is a question whose answer the page checks (`docs/howto/pages.md`).
        progress: called with the completed fraction, 0 to 1.

    Returns the path.

    Raises:
        ModelError, OptionError: the model needs functions of MuJoCo (collisions of meshes), which a page does not have,
            an integrator or law is unknown, or a task or a picture of the text cannot be read.
        RecordError: the file cannot be written.
    """
    check_writable(path_of("path", path), what="page")
    integrators, contacts = (
        None if chosen is None else words(name, chosen)
        for name, chosen in (("integrators", integrators), ("contacts", contacts))
    )
    given = {"integrator": integrator, "contact": contact, "timestep": timestep, "key": key}
    given |= {"restitution": restitution, "friction": friction}
    options: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    options |= {"speed": pace} if (pace := positive("speed", speed, "")) != 1.0 else {}
    options |= {} if flag("playing", playing) else {"playing": False}
    about = _about(title, text)
    left_out = words("ignore", ignore)
    several: list[Any] = list(what) if isinstance(what, list | tuple) else [what]
    scenes = [find_scene(one, dict(options), left_out) for one in several]
    if not scenes:
        raise OptionError("a page needs at least one scene")
    made = [
        _made(scene, options, integrators, contacts, _part(progress, k, len(scenes))) for k, scene in enumerate(scenes)
    ]
    whole = _assembled(made, about).encode()
    name = about.get("title") or made[0].title
    write_whole(path, course_package(whole, name) if Path(path).suffix == ".zip" else whole, what="page")
    return Path(path)


@dataclass(frozen=True)
class _Made:
    """A scene's simulation as text that stands in the page."""

    name: str
    title: str
    contents: str


def _about(title: str | None, text: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The page's title and text, as its script reads them."""
    about: dict[str, Any] = {} if title is None else {"title": text_of("title", title)}
    if text is None:
        return about
    if isinstance(text, os.PathLike):
        try:
            made = exercise(Path(text).read_text(encoding="utf-8"), Path(text).parent)
        except (OSError, UnicodeDecodeError) as error:
            raise OptionError(f"the text {os.fspath(text)} cannot be read: {reason_of(error)}") from None
    else:
        made = exercise(text_of("text", text))
    return about | {"html": made.html, "tasks": [asdict(task) for task in made.tasks]}


def _part(progress: Callable[[float], object] | None, k: int, count: int) -> Callable[[float], object] | None:
    """Progress of the k-th of several scenes."""
    return None if progress is None else lambda done: progress((k + done) / count)


def page_html(
    scene: Scene,
    options: Mapping[str, object],
    integrators: Sequence[str] | None = None,
    contacts: Sequence[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> str:
    """HTML text of the page of a scene. options: replaced fields of its `LabStart`; for the rest see `page`."""
    return _assembled([_made(scene, options, integrators, contacts, progress)], {})


def _made(
    scene: Scene,
    options: Mapping[str, object],
    integrators: Sequence[str] | None,
    contacts: Sequence[str] | None,
    progress: Callable[[float], object] | None,
) -> _Made:
    if not scene.standalone:
        raise OptionError(f"{scene.name} plans in Python, which a page does not have; show it with saltus lab")
    session = scene.open(Downloads(), options)
    try:
        if not isinstance(session, LiveSession):
            raise OptionError("a recording cannot be exported as a page; use saltus replay")
        session.builder.give_up()  # no need to compile for this machine
        _tell_what_is_left_out(session)
        sims = simulations(session.setup, session.builder.settings, integrators, contacts)
        made = program(sims, progress)
        text = json.dumps({"program": made.about, "page": description(session, sims)}, separators=(",", ":")).encode()
        whole = struct.pack("<II", len(text), len(made.wasm)) + text + made.wasm + made.image
        contents = base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode()
        return _Made(session.setup.name, session.setup.title, contents)
    finally:
        session.close()


def _assembled(made: Sequence[_Made], about: Mapping[str, Any]) -> str:
    """The page with its simulations, the first one being shown first."""
    names = [one.name for one in made]
    if len(set(names)) < len(names):
        raise OptionError(f"two scenes of a page have the same name, {max(names, key=names.count)}")
    if (size := sum(len(one.contents) for one in made)) > LARGEST:
        raise OptionError(f"the page would have {size / 1e6:.0f} MB; choose fewer integrators")
    scripts = [
        f'<script type="text/plain" class="simulation" data-name="{html.escape(one.name)}"'
        f' data-title="{html.escape(one.title)}" id="simulation-data{f"-{k}" if k else ""}">{one.contents}</script>'
        for k, one in enumerate(made)
    ]
    if about:
        # in base64, so that answers are not read by accident
        coded = base64.b64encode(json.dumps(about).encode()).decode()
        scripts.append(f'<script type="text/plain" id="page-about">{coded}</script>')
    page = with_policy(PAGE.read_text(encoding="utf-8"))
    title = html.escape(about.get("title") or made[0].title)
    page = page.replace("<title>Saltus lab</title>", f"<title>{title}</title>", 1)
    return page.replace(BEFORE, "\n".join([*scripts, BEFORE]), 1)


def _tell_what_is_left_out(session: LiveSession) -> None:
    m = session.sim.model.mujoco
    if m.ncam > len(fixed_cameras(m)):
        warn("cameras that follow or aim at something are left out of the page")
    if session.parameter_keys:
        warn(f"sliders of the model's values are left out of the page: {', '.join(session.parameter_keys)}")
