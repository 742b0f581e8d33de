"""`saltus bench film`: pictures and films of a run, beside MuJoCo's renderer where OpenGL works, in turn."""

from __future__ import annotations

import json
import tempfile
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.arguments import usable_cores
from saltus.bench.harness.timing import Contender, Timing, in_turn

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory

SECONDS, FPS, SIZE = 2.0, 60, (640, 480)  # s of the run that is filmed; frames per second of the film
SMALL, MANY = 64, 256  # pixels of a side of pictures of a batch; its simulations
MODELS = ("pendulum", "newtons_cradle", "humanoid")


@dataclass(frozen=True)
class Figure:
    """Seconds per frame, drawn, or drawn and written to a file; None for MuJoCo's renderer where it fails."""

    model: str
    what: str
    saltus: float
    mujoco: float | None
    ratio: float | None


def bench_film(*, quick: bool, json_path: Path | None, extra: list[str]) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    figures: list[Figure] = []
    repeats = 5 if quick else 7
    with screen.Activity() as activity, screen.collected_warnings() as said:
        for model in [*(MODELS[:1] if quick else MODELS), *extra]:
            progress = activity.progress(f"measuring {Path(model).stem}")
            figures += _measure(model, repeats, 0.05 if quick else 0.5, 0.25 if quick else SECONDS)
            progress(1.0)
    for warning in said:
        screen.say(f"warning: {warning}")
    about = machine.description(usable_cores())
    print(
        f"pictures and films of {SIZE[0]}x{SIZE[1]} pixels, {FPS} frames a second, with shadow and text, and small ones"
    )
    headers = ("model", "what", "Saltus", "frames a second", "MuJoCo's renderer", "faster")
    print_table(headers, [_cells(f) for f in figures], left=("model", "what"))
    cores = screen.count(about["cores"], "core")
    print(f"{about['cpu']}, {cores}; medians of {repeats} repeats; pictures are drawn on one core, the rest on all")
    if json_path is not None:
        content = {"machine": about, "figures": [asdict(f) for f in figures]}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def _measure(model: str, repeats: int, least: float, seconds: float) -> list[Figure]:
    from saltus.simulate.simulation import Simulation

    run = Simulation(model).run(seconds, sample=1 / FPS, progress=False)
    names = ("saltus", "mujoco") if _opengl(run) else ("saltus",)
    with tempfile.TemporaryDirectory() as folder:
        drawn = in_turn([_pictures(run, name) for name in names], repeats=repeats, least=least)
        filmed = in_turn([_film(run, name, Path(folder)) for name in names], repeats=repeats, least=least)
    figures = [_figure(run, "picture", drawn), _figure(run, "film, MP4", filmed)]
    for shadow in (True, False):
        small = in_turn([_small(run, name, shadow) for name in names], repeats=repeats, least=least)
        what = f"{SMALL}x{SMALL} of a batch, with depth" + ("" if shadow else ", no shadow")
        figures.append(_figure(run, what, small))
    return figures


def _opengl(run: Trajectory) -> bool:
    """Whether MuJoCo's renderer works here; a warning says so if not."""
    from saltus.draw.mujoco_renderer import MujocoRenderer
    from saltus.draw.renderer import make_renderer
    from saltus.draw.scene.view import View

    assert run.model is not None
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        renderer = make_renderer(run.model, View(*SIZE), "mujoco")
    found = isinstance(renderer, MujocoRenderer)
    renderer.close()
    return found


def _pictures(run: Trajectory, name: str) -> Contender:
    """Pictures of all samples, one after the other."""
    from saltus.draw.renderer import make_renderer
    from saltus.draw.scene.snapshot import Still
    from saltus.draw.scene.view import View

    assert run.model is not None
    renderer = make_renderer(run.model, View(*SIZE), name)

    def draw() -> None:
        for time, qpos in zip(run.time, run.qpos, strict=True):
            renderer.draw(Still(qpos), text=f"t = {time:.2f} s")

    return Contender(name, lambda: None, draw, len(run))


def _film(run: Trajectory, name: str, folder: Path) -> Contender:
    """A film of the run, from its samples to the file."""
    path = folder / f"{name}.mp4"
    view: dict[str, Any] = dict(width=SIZE[0], height=SIZE[1], renderer=name)
    return Contender(name, lambda: None, lambda: run.video(path, FPS, progress=False, **view), run.duration * FPS)


def _small(run: Trajectory, name: str, shadow: bool) -> Contender:
    """Small pictures of states of the run: with depths of a batch's simulations, or by MuJoCo's one by one, without."""
    from saltus.draw.renderer import make_renderer
    from saltus.draw.scene.snapshot import Still
    from saltus.draw.scene.view import View
    from saltus.simulate.batch import Batch

    assert run.model is not None
    states = np.asarray(run.qpos)[np.arange(MANY) % len(run)]
    if name == "saltus":
        batch = Batch(run.model, MANY)
        batch.qpos = states
        return Contender(name, lambda: None, lambda: batch.render(SMALL, SMALL, depth=True, shadow=shadow), MANY)
    renderer = make_renderer(run.model, View(SMALL, SMALL, shadow=shadow), name)

    def draw() -> None:
        for qpos in states:
            renderer.draw(Still(qpos))

    return Contender(name, lambda: None, draw, MANY)


def _figure(run: Trajectory, what: str, found: dict[str, Timing]) -> Figure:
    own, peer = found["saltus"], found.get("mujoco")
    known = (None, None) if peer is None else (peer.median, own.ratio_to(peer))
    return Figure(str(run.attrs["model_name"]), what, own.median, *known)


def _cells(figure: Figure) -> tuple[str, ...]:
    peer = ("no OpenGL", "") if figure.mujoco is None else (f"{figure.mujoco * 1e3:.3g} ms", f"{figure.ratio:.1f} x")
    return figure.model, figure.what, f"{figure.saltus * 1e3:.3g} ms", f"{1 / figure.saltus:.0f}", *peer
