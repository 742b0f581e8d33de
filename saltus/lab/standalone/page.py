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
from pathlib import Path
from typing import TYPE_CHECKING

from saltus.arguments import flag, path_of, positive, words
from saltus.errors import OptionError, warn
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.choose import find_scene
from saltus.lab.session import LiveSession
from saltus.lab.standalone.description import description, fixed_cameras
from saltus.lab.standalone.loops import simulations
from saltus.record.files.atomic_write import check_writable, write_whole
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
    what: ModelSource | Simulation,
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
    progress: Callable[[float], object] | None = None,
) -> Path:
    """Write one HTML file that simulates a model in the reader's browser, without a server or a network.

    The file is the lab's page with the model's time loops as WebAssembly: integrators, step, gravity, sliders, keys,
    dragging, plots and recordings work as in the lab. Writing takes seconds for a pendulum, a minute or two for a
    humanoid.

    Args:
        what: the name of a scene of the lab, anything that `saltus.load` takes, or a `saltus.Simulation`, whose present
            state the page starts from.
        path: the file to write.
        integrator, contact, restitution, friction, timestep, key, ignore, speed, playing: see `saltus.lab.open`.
        integrators, contacts: names that readers can choose besides the first; None: all for models without contacts,
            else some (see `saltus.lab.standalone.loops`), and for large models the first only.
        progress: called with the completed fraction, 0 to 1.

    Returns the path.

    Raises:
        ModelError, OptionError: the model needs functions of MuJoCo (collisions of meshes), which a page does not have,
            or an integrator or law is unknown.
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
    options |= {"speed": pace} if (pace := positive("speed", speed)) != 1.0 else {}
    options |= {} if flag("playing", playing) else {"playing": False}
    scene = find_scene(what, dict(options), words("ignore", ignore))
    write_whole(path, page_html(scene, options, integrators, contacts, progress).encode(), what="page")
    return Path(path)


def page_html(
    scene: Scene,
    options: Mapping[str, object],
    integrators: Sequence[str] | None = None,
    contacts: Sequence[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> str:
    """HTML text of the page of a scene. options: replaced fields of its `Setup`; for the rest see `page`."""
    session = scene.open(Downloads(), options)
    try:
        if not isinstance(session, LiveSession):
            raise OptionError("a recording cannot be exported as a page; use saltus replay")
        session.builder.give_up()  # no need to compile for this machine
        return _page(session, integrators, contacts, progress)
    finally:
        session.close()


def _page(
    session: LiveSession,
    integrators: Sequence[str] | None,
    contacts: Sequence[str] | None,
    progress: Callable[[float], object] | None,
) -> str:
    _tell_what_is_left_out(session)
    sims = simulations(session.setup, session.builder.settings, integrators, contacts)
    made = program(sims, progress)
    text = json.dumps({"program": made.about, "page": description(session, sims)}, separators=(",", ":")).encode()
    whole = struct.pack("<II", len(text), len(made.wasm)) + text + made.wasm + made.image
    contents = base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode()
    if len(contents) > LARGEST:
        raise OptionError(f"the page would have {len(contents) / 1e6:.0f} MB; choose fewer integrators")
    page = PAGE.read_text(encoding="utf-8")
    title = html.escape(session.setup.title)
    page = page.replace("<title>Saltus lab</title>", f"<title>{title}</title>", 1)
    return page.replace(BEFORE, f'<script type="text/plain" id="simulation-data">{contents}</script>\n{BEFORE}', 1)


def _tell_what_is_left_out(session: LiveSession) -> None:
    m = session.sim.model.mujoco
    if m.ncam > len(fixed_cameras(m)):
        warn("cameras that follow or aim at something are left out of the page")
    if session.parameter_keys:
        warn(f"sliders of the model's values are left out of the page: {', '.join(session.parameter_keys)}")
