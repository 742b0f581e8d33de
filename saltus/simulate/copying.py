"""Copies and pickles of simulations and batches: made anew as the original was, then brought to its state.

Their memory belongs to compiled code: it is aligned, and holds addresses of what works for it. So nothing of it is
copied but the numbers that a run goes on from.
"""

from typing import TYPE_CHECKING, Any

from saltus.simulate import checkpoint

if TYPE_CHECKING:
    from saltus.simulate.batch import Batch
    from saltus.simulate.simulation import Simulation

Reduced = tuple[Any, tuple[Any, ...]]  # what `__reduce__` returns


def reduced_simulation(sim: "Simulation") -> Reduced:
    """How to make a simulation again, for `copy` and `pickle`."""
    made = {"model": sim.model, "integrator": sim.integrator, "contact": sim.law, **sim._made}
    kept = {"timestep": sim.timestep, "unconverged": sim.unconverged, "events": sim.events.copy()}
    step = float(sim._struct.views["timestep"])
    own = {name: value for name, value in vars(sim).items() if name not in sim._made_attributes}
    return _simulation, (type(sim), made, kept, checkpoint.take(sim), sim.control, step, own)


def _simulation(kind, made, kept, state, control, step, own) -> "Simulation":
    from saltus.simulate.simulation import Simulation

    sim = kind.__new__(kind)
    Simulation.__init__(sim, **made)
    if control is not sim.control:
        sim.control = control
    checkpoint.put(sim, state)
    sim._struct.views["timestep"][...] = step
    for name, value in {**kept, **own}.items():
        setattr(sim, name, value)
    return sim


def reduced_batch(batch: "Batch") -> Reduced:
    """The same of a batch."""
    made = {name: getattr(batch, name) for name in ("model", "n", "threads", "precision", "integrator")}
    kept = {name: getattr(batch, name) for name in ("_forced", "unconverged", "timestep")}
    numbers = {name: getattr(batch, name).copy() for name in ("_states", "_clock", "_flags")}
    own = {name: value for name, value in vars(batch).items() if name not in batch._made_attributes}
    return _batch, (type(batch), {**made, **batch._made}, kept, numbers, own)


def _batch(kind, made, kept, numbers, own) -> "Batch":
    from saltus.simulate.batch import Batch

    batch = kind.__new__(kind)
    Batch.__init__(batch, **made)
    for name, values in numbers.items():
        getattr(batch, name)[...] = values
    for name, value in {**kept, **own}.items():
        setattr(batch, name, value)
    return batch
