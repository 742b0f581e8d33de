"""`saltus bench page`: time loops as WebAssembly under Node beside the same loops on this machine, in turn.

Each runs with the scene's own integrator and contact law through the same motion, from the scene's start. Tests compare
their results; here the page's size and the time of a step count. With `browser`, the pages are
also opened in a Chromium without a screen: when the first picture is drawn, and how many a second follow.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saltus.errors import SaltusError

if TYPE_CHECKING:
    from saltus.bench.harness.page_process import PageProcess
    from saltus.lab.scene.scenes import Scene
    from saltus.simulate.simulation import Simulation

QUICK_SCENES = ("pendulum", "newtons_cradle")
WINDOW = (1280, 800)  # pixels of the browser's window
PATIENCE = 60.0  # s for a page to show something
WATCHED = 5.0  # s in which pictures are counted, after as long to settle
WORK = 0.02  # s of steps that are timed at once: the message to Node takes some 0.1 ms of it


@dataclass(frozen=True)
class PageRow:
    """Row of a scene. `bytes`: of its page; `native`, `page`: seconds per step; `ratio`: time of the page over native.

    In a browser: `first`: seconds from the start of the page to the first picture; `fps`: pictures per second.
    """

    scene: str
    integrator: str
    contact: str
    bytes: int
    native: float
    page: float
    ratio: float
    first: float = math.nan
    fps: float = math.nan


def bench_page(*, quick: bool, json_path: Path | None, chosen: Sequence[str], browser: bool) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.lab.scene.scenes import scenes
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    names = chosen or (QUICK_SCENES if quick else [name for name, scene in scenes().items() if scene.standalone])
    rows, refused = [], []
    with screen.Activity() as activity, screen.collected_warnings():
        for k, name in enumerate(names):
            activity.progress(f"measuring {name}")(k / len(names))
            found = measure(name, repeats=3 if quick else 11, browser=browser)
            (refused if isinstance(found, str) else rows).append(found)
        activity.end("pages")
    about = machine.description(1)
    headers = ("scene", "integrator", "contact", "page", "a step here", "in the page", "slower")
    headers += ("first picture", "pictures/s") if browser else ()
    print_table(headers, [_cells(row) for row in rows], left=("scene", "integrator", "contact"))
    for reason in refused:
        print(reason)
    print(f"{about['cpu']}, 1 core; medians, in turn; the page under Node")
    if json_path is not None:
        content: dict[str, Any] = {"machine": about, "rows": [asdict(row) for row in rows], "refused": refused}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def measure(name: str, repeats: int, browser: bool = False) -> PageRow | str:
    """The row of a scene, or the reason why it cannot be a page."""
    from saltus.bench.harness.page_process import PageProcess
    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.errors import OptionError
    from saltus.lab.scene.choose import find_scene
    from saltus.lab.standalone.page import page_html
    from saltus.simulate.engine.snapshot import checkpoint, go_to

    scene = find_scene(name, {}, [])
    sim = _native(scene)
    contact = "soft" if sim.contact == "soft" else "hard"
    try:
        html = page_html(scene, {}, [sim.integrator.name], [contact])
    except OptionError as error:
        return str(error)
    with PageProcess(html) as page:
        steps = _steps(sim)
        begin = checkpoint(sim.engine)
        contenders = [
            Contender("native", lambda: go_to(sim.engine, begin), lambda: sim.step(steps), steps),
            Contender("page", lambda: _begin(page, sim, contact), lambda: page.advance(steps), steps),
        ]
        taken = in_turn(contenders, repeats=repeats, least=WORK)
    native, own = taken["native"], taken["page"]
    ratio = native.ratio_to(own)
    seen = _watched(html) if browser else ()
    return PageRow(name, sim.integrator.name, contact, len(html.encode()), native.median, own.median, ratio, *seen)


def _watched(html: str) -> tuple[float, float]:
    """Seconds until the first picture, and pictures per second, in a browser that opens the page from a file."""
    from saltus.bench.harness.browser import launched

    with tempfile.TemporaryDirectory(prefix="saltus-page-") as folder, launched() as browser:
        file = Path(folder) / "page.html"
        file.write_text(html, encoding="utf-8")
        tab = browser.new_page(viewport={"width": WINDOW[0], "height": WINDOW[1]})
        tab.goto(file.as_uri())
        end = time.monotonic() + PATIENCE
        while not tab.evaluate("Boolean(window.saltusLab?.ready)"):  # Playwright's own wait needs eval
            if time.monotonic() > end:
                raise SaltusError("the page shows nothing")
            tab.wait_for_timeout(10)
        first = tab.evaluate("window.saltusLab.firstDraw") / 1000
        if not tab.evaluate("window.saltusLab.status.playing"):
            tab.click("#play")
        tab.wait_for_timeout(1000 * WATCHED)
        drawn = tab.evaluate("[window.saltusLab.drawn, performance.now()]")
        tab.wait_for_timeout(1000 * WATCHED)
        after = tab.evaluate("[window.saltusLab.drawn, performance.now()]")
        return first, 1000 * (after[0] - drawn[0]) / (after[1] - drawn[1])


def _native(scene: Scene) -> Simulation:
    """The scene's simulation on this machine, at its start."""
    from saltus.lab.data.recording import Downloads
    from saltus.lab.session import LiveSession
    from saltus.lab.standalone.loops import simulations

    session = scene.open(Downloads(), {})
    assert isinstance(session, LiveSession)
    session.builder.give_up()
    settings = session.builder.settings
    own = simulations(session.setup, settings, [settings.integrator.name], [settings.contact])[0]
    session.close()
    return own


def _begin(page: PageProcess, sim: Simulation, contact: str) -> None:
    page.start(sim.integrator.name, contact)


def _steps(sim: Simulation) -> int:
    """Number of steps that take the native loop about WORK seconds; fewer if the motion diverges before."""
    import time

    from saltus.errors import DivergenceError
    from saltus.simulate.engine.snapshot import checkpoint, go_to

    begin, steps, spent = checkpoint(sim.engine), 1, 0.0
    sim.step(1)
    while spent < WORK:
        steps *= 2
        go_to(sim.engine, begin)
        started = time.perf_counter()
        try:
            sim.step(steps)
        except DivergenceError:
            steps = max(1, steps // 4)
            break
        spent = time.perf_counter() - started
    go_to(sim.engine, begin)
    return steps


def _cells(row: PageRow) -> tuple[str, ...]:
    times = (f"{1e6 * row.native:.3g} µs", f"{1e6 * row.page:.3g} µs", f"{row.ratio:.2f} x")
    seen = () if math.isnan(row.first) else (f"{row.first:.2f} s", f"{row.fps:.0f}")
    return row.scene, row.integrator, row.contact, f"{row.bytes / 1e6:.2f} MB", *times, *seen
