"""Setup of a scene: its initial choices, what can be changed while it runs, and the resulting simulation."""

from __future__ import annotations

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


@dataclass(frozen=True, eq=False)
class Setup:
    """The start of a session: its model, laws and first settings.

    name, title: of the scene. integrator, contact, timestep (s), control: as those of `saltus.Simulation`.
    key: the keyframe to start from. start: a function that puts a simulation into another state after a reset.
    source: a simulation to go on from. ghosts: integrators that can run beside the chosen one.
    hard: the law of hard contact, where that is chosen by its name. restitution, friction: numbers of hard contact that
    take the place of those of the law, whichever that is; None: the law's own.
    plots: signals that the page plots at first (see `saltus.lab.data.signal_sources`); none: a choice by the model's
    joints.
    parameters: values of the model that get sliders besides those that its file marks, as texts (see
    `saltus.lab.controls.parameters`). speed: simulated seconds a second. playing: whether it starts at once.
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
    parameters: tuple[str, ...] = ()
    speed: float = 1.0
    playing: bool = True

    def simulation(self) -> Simulation:
        """The simulation at its start; nothing is compiled yet."""
        law = self.law(find_contact_law(self.contact).name)
        sim = Simulation(self.model, self.integrator, law, self.timestep, control=self.control)
        self.reset(sim, self.key)
        if self.source is not None:
            carry(self.source.engine, sim.engine)
        return sim

    def settings(self, sim: Simulation) -> Settings:
        """The settings of the simulation at its start."""
        hard: Any = self.law(Hard.name)
        numbers = {"restitution": hard.restitution, "friction": hard.friction}
        return Settings(sim.integrator, sim.timestep, sim.contact, **numbers)

    def law(self, name: str) -> Law:
        """The contact law of a name; where that is the setup's own, with its numbers."""
        own = find_contact_law(self.contact)
        if own.name != name or isinstance(self.contact, str):
            own = self.hard if name == Hard.name else find_contact_law(name)
        if not isinstance(own, Hard):
            return own
        given = {"restitution": self.restitution, "friction": self.friction}
        return replace(own, **{name: value for name, value in given.items() if value is not None})

    def suited(self, integrator: Integrator, contact: str) -> Integrator:
        """The integrator, or another where it does not go with a contact law."""
        law = self.law(contact)
        try:
            events = UserEvents((), self.control)
            hard_numbers(self.model, law, integrator, events, start_values(None, self.control))
        except OptionError:
            return find_integrator("dopri5" if contact == "hard" else None, self.model.opt.integrator)
        return integrator

    def reset(self, sim: Simulation, key: int | str | None) -> None:
        """Put a simulation into its starting state, or that of a keyframe."""
        sim.reset(key)
        if self.start is not None and key is None:
            self.start(sim)


@dataclass(frozen=True)
class Settings:
    """Choices that may change while a session runs: each other value means another simulation, which goes on."""

    integrator: Any
    timestep: float
    contact: str
    changes: tuple[tuple[str, float], ...] = ()  # of the model: gravity and marked parameters
    ghosts: tuple[str, ...] = ()  # those that are on
    restitution: float = 0.0  # under hard contact
    friction: float | None = None  # under hard contact; None: the model's

    def with_changes(self, changes: dict[str, float]) -> dict[str, Any]:
        """The field `changes` with some values replaced."""
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
    """Simulations that follow from settings, compiled and ready to go."""

    settings: Settings
    sim: Simulation
    ghosts: list[Simulation] = field(default_factory=list)


def simulation(setup: Setup, settings: Settings, integrator: Any) -> Simulation:
    """The simulation of some settings with an integrator; nothing is compiled yet."""
    model = setup.model.changed(dict(settings.changes)) if settings.changes else setup.model
    contact = setup.law(settings.contact)
    if isinstance(contact, Hard):
        contact = replace(contact, restitution=settings.restitution, friction=settings.friction)
    return Simulation(model, integrator, contact, settings.timestep, control=setup.control)


def build(setup: Setup, settings: Settings) -> Built:
    """The simulations of some settings; takes seconds where something has to be compiled."""
    main, *ghosts = (simulation(setup, settings, name) for name in (settings.integrator, *settings.ghosts))
    for sim in (main, *ghosts):
        setup.reset(sim, setup.key)  # the model's own start may be none, with bodies in each other
        _compile(sim)
    compile_judge(main)
    main.reset()
    return Built(settings, main, ghosts)


def _compile(sim: Simulation) -> None:
    """Have everything compiled that a session calls, and be as before."""
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
