"""Which integrators and contact laws a page of its own offers, and the simulations to compile for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from saltus.errors import OptionError
from saltus.integrate.registry import find_integrator, integrators
from saltus.lab.making.setup import Settings, Setup, simulation

if TYPE_CHECKING:
    from saltus.integrate.integrator import Integrator
    from saltus.simulate.simulation import Simulation

# what a page offers where contacts make loops large, beside the scene's own integrator and its ghosts'
WITH_CONTACTS = ("euler", "implicitfast", "rk4")
HARD = ("dopri5", "moreau_jean")
LARGE = 100  # degrees of freedom, above which a page has the scene's own integrator and law alone


def simulations(
    setup: Setup, settings: Settings, chosen: Sequence[str] | None, laws: Sequence[str] | None
) -> list[Simulation]:
    """The simulations of a page, at the setup's start, the scene's own integrator and law first.

    chosen: names of integrators; None: a choice by the model's size. laws: names of contact laws; None: those that go.

    Raises OptionError: there is no such integrator or law, or none of them goes with the model.
    """
    for law in laws or ():
        if law not in ("soft", "hard"):
            raise OptionError.unknown("contact law", law, ["soft", "hard"])
    own = settings.integrator
    wanted = [own, *(_named(chosen) if chosen is not None else _usual(setup))]
    contacts = bool(setup.model.struct().nconmax)
    laws = sorted(laws or (), key=lambda law: law != settings.contact)
    offered = laws or ([settings.contact] if _is_large(setup) or not contacts else [settings.contact, "soft", "hard"])
    found = []
    for law in dict.fromkeys(offered):
        for integrator in dict.fromkeys([*wanted, *(map(_by_name, HARD) if law == "hard" else ())]):
            if setup.suited(integrator, law) is integrator:
                sim = simulation(setup, replace(settings, integrator=integrator, contact=law), integrator)
                setup.reset(sim, setup.key)
                found.append(sim)
    if not found:
        raise OptionError(f"none of the integrators {', '.join(i.name for i in wanted)} goes with this contact law")
    return found


def _usual(setup: Setup) -> list[Integrator]:
    if _is_large(setup):
        return []
    names = WITH_CONTACTS if "constraint" in setup.model.struct().layout.features else tuple(integrators())
    return _named([*names, *setup.ghosts])


def _is_large(setup: Setup) -> bool:
    return setup.model.nv > LARGE


def _named(names: Sequence[str]) -> list[Integrator]:
    return [_by_name(name) for name in dict.fromkeys(names)]


def _by_name(name: str) -> Integrator:
    return find_integrator(name, "")
