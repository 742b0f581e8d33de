"""`saltus env`: list, describe and film the environments for reinforcement learning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.errors import OptionError
from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.env.environment import Environment
    from saltus.env.run.episodes import Episodes

ACTIONS = ("random", "zero")


def complete_environments(incomplete: str) -> list[str]:
    """Names of bundled environments that begin with a text."""
    return [name for name in _bundled() if name.startswith(incomplete)]


def env(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="Environment to describe (default: list all).", autocompletion=complete_environments
        ),
    ] = None,
    film: Annotated[
        Path | None, typer.Option(metavar="F", help="Film an episode (.mp4, .webm, .gif; needs NAME).")
    ] = None,
    actions: Annotated[str, typer.Option(metavar="random|zero", help="Actions of the film.")] = "random",
    steps: Annotated[int, typer.Option(metavar="N", help="Most steps of the film.", min=1)] = 200,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the film's start and actions.", min=0)] = 0,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the film in pixels.")] = "640x480",
) -> None:
    """List the environments for reinforcement learning, or describe one: spaces, rewards, parameters, episodes."""
    _bundled()
    if name is None:
        if film is not None:
            raise typer.BadParameter("--film needs the NAME of an environment")
        _list()
        return
    from saltus.env.making import found

    with screen.Activity():
        environment = found(name, {})
        screen.print_facts(_facts(environment, _episodes(environment)))
    if film is not None:
        _film(name, film, actions, steps, seed, size)


def _bundled() -> dict[str, Any]:
    """The bundled environments by name; OptionError without Gymnasium."""
    try:
        from saltus.env.making import BUNDLED
    except ImportError as error:
        raise OptionError(str(error)) from None
    return BUNDLED


def _episodes(environment: Environment) -> Episodes:
    from saltus.env.run.episodes import Episodes

    return Episodes(environment, 1, 1, "float64")


# ---------------------------------------------------------------- text


def _list() -> None:
    """Print a table with a line for each environment."""
    from saltus.bench.harness.report import print_table
    from saltus.env.making import BUNDLED, found, identifier

    rows, missing = [], []
    with screen.Activity() as activity:
        for k, name in enumerate(BUNDLED):
            activity.progress("reading the models")(k / len(BUNDLED))
            environment = found(name, {})
            try:
                what = _episodes(environment).declaration
                sizes = str(what.nobservation), str(len(what.action_low))
            except OptionError as error:  # the model is not part of Saltus
                sizes = "-", "-"
                missing.append(f"{name}: {error}")
            rows.append((name, identifier(name), *sizes, _first_line(type(environment))))
        activity.end("reading the models")
    print_table(("name", "in Gymnasium", "observation", "action", ""), rows, left=("name", "in Gymnasium", ""))
    for line in missing:
        print(line)


def _first_line(thing: Any) -> str:
    """First paragraph of the docstring of a class or function."""
    return (thing.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " ")


def _facts(environment: Environment, episodes: Episodes) -> list[tuple[str, str]]:
    """Facts about an environment: (name, text)."""
    from saltus.env.making import identifier

    name, what, model = type(environment).__name__, episodes.declaration, episodes.model
    end, dt = environment.term("terminated"), episodes.timestep * environment.frame_skip
    step = f"{screen.count(environment.frame_skip, 'step')} of {episodes.timestep:g} s ({episodes.integrator.name})"
    limit = environment.max_episode_steps
    length = "no limit" if limit is None else f"at most {limit} steps, {limit * dt:g} s"
    facts = [
        (name, _first_line(type(environment))),
        ("in Gymnasium", identifier(name)),
        ("model", f"{model.name}: {model.nq} positions, {model.nv} velocities, {screen.count(model.nu, 'actuator')}"),
        ("a step", f"{step}: {dt:g} s"),
        ("an episode", length),
        ("terminated", "never" if end is None else _term(end)),
        ("action", _range(what.action_low, what.action_high)),
        ("observation", f"{screen.count(what.nobservation, 'number')}: {', '.join(_seen(environment))}"),
    ]
    lists = {
        "rewards": {key.removeprefix("_"): _term(kernel) for key, kernel in what.rewards.items()},
        "infos": {key: _term(kernel) for key, kernel in what.infos.items()},
        "parameters": {key: _number(value) for key, value in environment.values.items()},
        "options": {key: str(value) for key, value in vars(environment.option).items()},
    }
    return facts + [(name, "\n".join(f"{k}: {v}" for k, v in lines.items())) for name, lines in lists.items() if lines]


def _term(kernel: Any) -> str:
    """First paragraph of a term's docstring, or else its name."""
    function = kernel.py_func
    return _first_line(function) or function.__name__


def _seen(environment: Environment) -> list[str]:
    """Names of the parts of the observation, fields and terms, with their clipping limits."""
    from saltus.env.environment import declared
    from saltus.env.observation import parts
    from saltus.env.terms import term_kernel

    found = []
    for part in parts(declared(environment, "observation")):
        text = part.source if isinstance(part.source, str) else term_kernel(part.source).py_func.__name__
        limits = f" within {part.clip[0]:g}, {part.clip[1]:g}" if part.clip else ""
        found.append(f"{text}{limits}")
    return found


def _range(low: Any, high: Any) -> str:
    """Describe the range of actions; equal limits are shown once."""
    count = screen.count(len(low), "number")
    if (low == low[0]).all() and (high == high[0]).all():
        return f"{count} from {low[0]:g} to {high[0]:g}"
    return f"{count} from {', '.join(f'{x:g}' for x in low)} to {', '.join(f'{x:g}' for x in high)}"


def _number(value: Any) -> str:
    return f"{float(value):g}" if value.ndim == 0 else ", ".join(f"{x:g}" for x in value)


# ---------------------------------------------------------------- a film


def _film(name: str, path: Path, actions: str, steps: int, seed: int, size: str) -> None:
    """Film an episode until it ends, at most `steps` steps."""
    from fractions import Fraction

    import numpy as np

    from saltus.cli.shared.outputs import Film
    from saltus.env.making import make
    from saltus.record.files.atomic_write import check_writable, written_whole
    from saltus.record.film.encode import check_size, encoder, film_suffix

    if actions not in ACTIONS:
        raise OptionError.unknown("--actions", actions, ACTIONS)
    suffix, view = film_suffix(path), Film(size=size).options()
    width, height = view["width"], view["height"]
    check_size(suffix, width, height)
    check_writable(path, what="video")
    one: Any = make(name, render_mode="rgb_array", width=width, height=height)
    one.action_space.seed(seed)
    one.reset(seed=seed)
    rate, total, taken = Fraction(one.metadata["render_fps"]), 0.0, 0
    with screen.Activity() as activity, written_whole(path, what="video") as temporary:
        update = activity.progress("filming")
        with encoder(temporary, suffix, rate, width, height) as film:
            film.add(one.render())
            for taken in range(1, steps + 1):
                chosen = one.action_space.sample() if actions == "random" else np.zeros(one.action_space.shape)
                _, reward, terminated, truncated, _ = one.step(chosen)
                total += reward
                film.add(one.render())
                update(taken / steps)
                if terminated or truncated:
                    break
        activity.end("filming")
    one.close()
    print(f"{screen.count(taken, 'step')} with {actions} actions, rewards {total:.4g}")
    print(f"wrote {path} (video)")
