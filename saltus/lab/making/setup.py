"""Setup of a scene: its initial choices, what can be changed while it runs, and the resulting simulation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from saltus.errors import DivergenceError, EventError, OptionError, SaltusError
from saltus.integrate.registry import find_integrator
from saltus.lab.data.signal_sources import simulation_sources
from saltus.lab.making.judge import compile_judge
from saltus.simulate.laws.contact import Hard, Law, find_contact_law, hard_numbers
from saltus.simulate.laws.events import UserEvents, start_values
from saltus.simulate.simulation import Simulation
from saltus.simulate.transfer_state import carry

if TYPE_CHECKING:
    from saltus.integrate.integrator import Integrator
    from saltus.model.model import Model
    from saltus.simulate.laws.control import Controller


def __getattr__(name: str) -> Any:
    """The class under its earlier name, which programs and pickles may hold."""
    if name == "Setup":
        warnings.warn("saltus.lab.making.setup.Setup is now LabStart", DeprecationWarning, stacklevel=2)
        return LabStart
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True, eq=False)
class LabStart:
    """The start of a session: its model, laws and first settings.

    name, title: those of the scene. integrator, contact, timestep (s), control: see `saltus.Simulation`.
    key: the keyframe to start from. start: a function that sets another initial state after a reset.
    source: a simulation whose state to start from. ghosts: integrators that can run beside the chosen one.
    hard: the law used when hard contact is chosen by name. restitution, friction: coefficients that replace those of
    any law of hard contact; None: the law's own.
    plots: signals plotted initially (see `saltus.lab.data.signal_sources`); empty: a choice by the model's joints.
    phase: the coordinate of the phase plot, by the name of its joint; None: the first one.
    parameters: values of the model that get sliders besides those marked in its file, as texts (see
    `saltus.lab.controls.parameters`). speed: simulated seconds per second. playing: whether time runs from the start.
    """

    name: str
    title: str
    model: Model
    integrator: Any = None
    contact: Any = "soft"
    timestep: float | None = None
    control: Controller | None = None
    key: int | str | None = None
    start: Callable[[Simulation], None] | None = None
    source: Simulation | None = None
    ghosts: tuple[str, ...] = ()
    hard: Hard = field(default_factory=Hard)
    restitution: float | None = None
    friction: float | None = None
    plots: tuple[str, ...] = ()
    phase: str | None = None
    parameters: tuple[str, ...] = ()
    speed: float = 1.0
    playing: bool = True

    def simulation(self) -> Simulation:
        """Create the simulation in its initial state, without compiling."""
        law = self.law(find_contact_law(self.contact).name)
        sim = Simulation(self.model, self.integrator, law, self.timestep, control=self.control)
        self.reset(sim, self.key)
        if self.source is not None:
            carry(self.source.engine, sim.engine)
        return sim

    def settings(self, sim: Simulation) -> Settings:
        """Initial settings, with the simulation's integrator, timestep and contact law."""
        hard: Any = self.law(Hard.name)
        numbers = {"restitution": hard.restitution, "friction": hard.friction}
        return Settings(sim.integrator, sim.timestep, sim.contact, **numbers)

    def law(self, name: str) -> Law:
        """The contact law with a name, using the setup's own law and coefficients where they apply."""
        own = find_contact_law(self.contact)
        if own.name != name or isinstance(self.contact, str):
            own = self.hard if name == Hard.name else find_contact_law(name)
        if not isinstance(own, Hard):
            return own
        given = {"restitution": self.restitution, "friction": self.friction}
        return replace(own, **{name: value for name, value in given.items() if value is not None})

    def suited(self, integrator: Integrator, contact: str) -> Integrator:
        """The integrator, or another one if it cannot handle a contact law."""
        law = self.law(contact)
        try:
            events = UserEvents((), self.control)
            hard_numbers(self.model, law, integrator, events, start_values(None, self.control))
        except OptionError:
            return find_integrator("dopri5" if contact == "hard" else None, self.model.opt.integrator)
        return integrator

    def reset(self, sim: Simulation, key: int | str | None) -> None:
        """Reset a simulation to its initial state, or to a keyframe."""
        sim.reset(key)
        if self.start is not None and key is None:
            self.start(sim)


@dataclass(frozen=True)
class Settings:
    """Settings that can change during a session; a change builds another simulation, which continues the motion."""

    integrator: Any
    timestep: float
    contact: str
    changes: tuple[tuple[str, float], ...] = ()  # values of the model: gravity and marked parameters
    ghosts: tuple[str, ...] = ()  # active ghosts
    restitution: float = 0.0  # of hard contact
    friction: float | None = None  # of hard contact; None: the model's

    def with_changes(self, changes: dict[str, float]) -> dict[str, Any]:
        """The field `changes` with these values replaced or added, as keyword arguments."""
        return {"changes": tuple({**dict(self.changes), **changes}.items())}

    def difference(self, before: Settings) -> str:
        """The differences from earlier choices, in words."""
        parts = []
        if self.integrator != before.integrator:
            parts.append(f"integrator {self.integrator.name}")
        if self.timestep != before.timestep:
            parts.append(f"timestep {self.timestep:g} s")
        if self.contact != before.contact:
            parts.append(f"contact {self.contact}")
        if self.restitution != before.restitution:
            parts.append(f"restitution {self.restitution:g}")
        if self.friction != before.friction:
            parts.append("the model's friction" if self.friction is None else f"friction {self.friction:g}")
        known = dict(before.changes)
        parts += [f"{key} = {value:g}" for key, value in self.changes if known.get(key) != value]
        return ", ".join(parts) or "ghosts"


@dataclass(frozen=True, eq=False)
class Built:
    """The compiled simulations of some settings."""

    settings: Settings
    sim: Simulation
    ghosts: list[Simulation] = field(default_factory=list)


def simulation(setup: LabStart, settings: Settings, integrator: Any) -> Simulation:
    """Create the simulation of some settings with an integrator, without compiling."""
    model = setup.model.changed(dict(settings.changes)) if settings.changes else setup.model
    contact = setup.law(settings.contact)
    if isinstance(contact, Hard):
        contact = replace(contact, restitution=settings.restitution, friction=settings.friction)
    return Simulation(model, integrator, contact, settings.timestep, control=setup.control)


def build(setup: LabStart, settings: Settings) -> Built:
    """Create and compile the simulations of some settings; takes seconds if kernels are not in the cache."""
    main, *ghosts = (simulation(setup, settings, name) for name in (settings.integrator, *settings.ghosts))
    for sim in (main, *ghosts):
        setup.reset(sim, setup.key)  # bodies may overlap in the model's own initial state
        _compile(sim)
    compile_judge(main)
    main.reset()
    return Built(settings, main, ghosts)


def _compile(sim: Simulation) -> None:
    """Compile everything that a session calls and reset the simulation."""
    with suppress(DivergenceError, EventError):
        sim.step()
    with suppress(DivergenceError, EventError):
        sim.energy()
    with suppress(DivergenceError, EventError):
        sim.forward()
    if sim.model.nbody > 1:
        with suppress(DivergenceError, EventError):
            sim.jacobian(1)
    for source in simulation_sources(sim):
        with suppress(SaltusError):
            source.read(sim)
    sim.reset()
