"""`saltus warm`: compile now what runs and batches would compile when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saltus.cli import screen
from saltus.cli.compare import names_in

if TYPE_CHECKING:
    from saltus.model.model import Model


def compile_ahead(models: list[str], integrators: str | None, batch: bool, ignore: list[str]) -> None:
    """Compile, showing what, and say what there is."""
    from saltus.model.load import load
    from saltus.number.cache import cache_directory

    loaded = [load(model, ignore=ignore) for model in models]
    chosen = _integrators(loaded, integrators)
    with screen.Activity() as activity:
        for integrator in chosen:
            _compile(integrator, batch)
    compiled = activity.compiled
    names = ", ".join(i.name for i in chosen)
    if compiled:
        print(f"compiled {screen.count(len(compiled), 'kernel')} in {sum(s for _, s in compiled):.1f} s")
    print(f"ready: {names}{' for runs and batches' if batch else ' for runs'}, in {cache_directory()}")


def _integrators(models: list[Model], choice: str | None) -> list[Any]:
    """By name those that are named; otherwise what the models' files ask for, or euler."""
    from saltus.integrate.registry import find_integrator, integrators

    if choice is not None:
        names = names_in(choice, "--integrators")
        found = list(integrators().values()) if names == ["all"] else [find_integrator(name, "") for name in names]
    else:
        found = [find_integrator(None, m.opt.integrator) for m in models] or [find_integrator("euler", "")]
    return list({i.name: i for i in found}.values())


def _compile(integrator: Any, batch: bool) -> None:
    """Everything that a run with certificate, or a batch, calls; on the smallest model, since code serves all."""
    from saltus.simulate.batch import Batch
    from saltus.simulate.simulation import Simulation

    sim = Simulation("pendulum", integrator)
    sim.step(1)
    sim.forward()
    sim.reset()
    sim.run(2 * sim.timestep, sim.timestep, certify=True, progress=False)
    if batch:
        for precision in ("float64", "float32"):
            Batch("pendulum", 1, threads=1, precision=precision, integrator=integrator).step(1)
