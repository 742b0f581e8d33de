"""Registry of the benchmarks by name, family by family."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from saltus.errors import OptionError
from saltus.verify.case import Benchmark
from saltus.verify.families import (
    bennett,
    conservation,
    contact_soft,
    flex,
    friction,
    joints,
    loop_energy,
    loops,
    muscle,
    oscillator,
    rods,
    servo,
    smooth,
)
from saltus.verify.families.contact_hard import belt, billiard, bouncing, impacts, sliding, turning
from saltus.verify.families.machines import bristles, drives, motors, transmissions
from saltus.verify.families.rolling import bicycle, discs, rimless, tops, walkers

#: Family -> its title and its modules, in the order in which they are shown.
FAMILIES: dict[str, tuple[str, *tuple[ModuleType, ...]]] = {
    "smooth": ("Smooth motion", smooth, conservation),
    "oscillator": ("Harmonic oscillator", oscillator),
    "joints": ("Joints and reactions", joints),
    "loops": ("Closed loops", loops, bennett, loop_energy),
    "servo": ("Servos", servo),
    "drives": ("Drives", drives, bristles, motors),
    "transmissions": ("Transmissions", transmissions),
    "contact_soft": ("Soft contact", contact_soft),
    "contact_hard": ("Hard contact", bouncing, sliding, turning, impacts, billiard, belt),
    "rolling": ("Rolling and walking", bicycle, discs, tops, rimless, walkers),
    "friction": ("Friction with many contacts", friction),
    "flex": ("Deformable bodies", flex),
    "rods": ("Rods", rods),
    "muscle": ("Muscles", muscle),
}


def benchmarks() -> dict[str, Benchmark]:
    """Benchmarks of all families by name."""
    modules = [module for _, *own in FAMILIES.values() for module in own]
    found = [x for module in modules for x in vars(module).values() if isinstance(x, Benchmark)]
    by_name = {one.name: one for one in found}
    if len(by_name) != len(found):
        raise ValueError("two benchmarks have one name")
    return by_name


def chosen(names: Iterable[str] = (), family: str | None = None) -> list[Benchmark]:
    """Benchmarks with these names, of a family, or all; OptionError for a name that is not known."""
    everything = benchmarks()
    if family is not None and family not in FAMILIES:
        raise OptionError.unknown("family", family, FAMILIES)
    for name in names:
        if name not in everything:
            raise OptionError.unknown("benchmark", name, everything)
    wanted = list(dict.fromkeys(names)) or list(everything)
    found = [everything[name] for name in wanted if family in (None, everything[name].family)]
    if not found:
        raise OptionError(f"none of {', '.join(wanted)} belongs to the family {family!r}")
    return found
