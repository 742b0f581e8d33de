"""Integrators and contact laws offered by a standalone page, and the simulations to compile for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from saltus.errors import OptionError
from saltus.integrate.registry import find_integrator, integrators
from saltus.lab.making.setup import LabStart, Settings, simulation

if TYPE_CHECKING:
    from saltus.integrate.integrator import Integrator
    from saltus.simulate.simulation import Simulation

# integrators of a page with contacts, whose loops are large, beside the scene's own and its ghosts'
WITH_CONTACTS = ("euler", "implicitfast", "rk4")
HARD = ("dopri5", "moreau_jean")
LARGE = 100  # degrees of freedom above which a page has only the scene's own integrator and law


def simulations(
    setup: LabStart, settings: Settings, chosen: Sequence[str] | None, laws: Sequence[str] | None
) -> list[Simulation]:
    """Create the simulations of a page in their initial state, the scene's own integrator and law first.

    chosen: names of integrators; None: a choice by the model's size. laws: names of contact laws; None: those that the
    integrators support. Combinations that nobody has named are left out where the model does not allow them.

    OptionError: there is no such integrator or law, or one that was named does not support the model.
    """
    for law in laws or ():
        if law not in ("soft", "hard"):
            raise OptionError.unknown("contact law", law, ["soft", "hard"])
    own = settings.integrator
    wanted = [own, *(_named(chosen) if chosen is not None else _usual(setup))]
    contacts = bool(setup.model.struct().nconmax)
    laws = sorted(laws or (), key=lambda law: law != settings.contact)
    offered = laws or ([settings.contact] if _is_large(setup) or not contacts else [settings.contact, "soft", "hard"])
    found: list[Simulation] = []
    for law in dict.fromkeys(offered):
        named, of_law, refusal = law in (laws or [settings.contact]), [], None
        for integrator in dict.fromkeys([*wanted, *(map(_by_name, HARD) if law == "hard" else ())]):
            if setup.suited(integrator, law) is not integrator:
                continue
            try:
                sim = simulation(setup, replace(settings, integrator=integrator, contact=law), integrator)
            except OptionError as error:
                if named and chosen is not None:
                    raise
                refusal = error
                continue
            setup.reset(sim, setup.key)
            of_law.append(sim)
        if named and refusal is not None and not of_law:
            raise refusal
        found += of_law
    if not found:
        raise OptionError(f"none of the integrators {', '.join(i.name for i in wanted)} supports this contact law")
    return found


def _usual(setup: LabStart) -> list[Integrator]:
    if _is_large(setup):
        return []
    names = WITH_CONTACTS if "constraint" in setup.model.struct().layout.features else tuple(integrators())
    return _named([*names, *setup.ghosts])


def _is_large(setup: LabStart) -> bool:
    return setup.model.nv > LARGE


def _named(names: Sequence[str]) -> list[Integrator]:
    return [_by_name(name) for name in dict.fromkeys(names)]


def _by_name(name: str) -> Integrator:
    return find_integrator(name, "")
