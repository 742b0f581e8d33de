"""Settings that all runs of a sweep share: to identify its store, and as a title."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saltus.integrate.registry import find_integrator
from saltus.model.model import Model
from saltus.model.xml_overrides import source_of
from saltus.record.table.stored_model import StoredModel
from saltus.study.jobs import Task
from saltus.study.settings import Start
from saltus.version import __version__


def identity(task: Task, base: Model, functions: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that all runs share, as they are stored to identify a sweep."""
    start, setup = task.start, task.start.setup
    image = hashlib.sha256(StoredModel.of(base).mjb)
    source = source_of(setup.model)
    image.update(b"" if source is None else source.text.encode())
    return {
        "version of Saltus": __version__,
        "model": f"{base.name} {image.hexdigest()[:16]}",
        "measures": {name: f if isinstance(f, str) else _code_of(f) for name, f in functions.items()},
        "duration": task.sampling.duration,
        "sample": task.sampling.sample,
        "integrator": _described(setup.integrator),
        "contact": _described(setup.contact),
        "timestep": setup.timestep,
        "key": start.key,
        "ignore": sorted(start.ignore),
    }


def _described(choice: Any) -> str | None:
    return choice if choice is None else choice.casefold() if isinstance(choice, str) else repr(choice)


def _code_of(function: Callable[..., Any]) -> str:
    """A function's name and a digest of its code."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", repr(type(function)))
    return (
        name
        if code is None
        else f"{name} {hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest()[:8]}"
    )


def title(base: Model, start: Start, duration: float, paths: Sequence[str]) -> str:
    """Settings that all runs share, in one line."""
    setup, parts = start.setup, [base.name]
    if "integrator" not in paths:
        parts.append(find_integrator(setup.integrator, base.opt.integrator).name)
    if not {"opt.timestep", "option/timestep"} & set(paths):
        parts.append(f"timestep {base.opt.timestep if setup.timestep is None else setup.timestep:.4g} s")
    return ", ".join([*parts, f"{duration:g} s"])
