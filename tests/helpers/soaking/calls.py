"""Public calls and attributes of Saltus with one to three odd arguments, and what a changed simulation then does."""

import contextlib
import os
import random
from pathlib import Path
from unittest import mock

from helpers import odd_arguments
from helpers.odd_arguments import ATTRIBUTES, GOOD, ODD, PAIRS, called, instead_of_compiling, odd_values, parameters_of
from helpers.soaking.outcomes import Kind

#: Calls that are drawn more often than others.
OFTEN = ("Simulation", "Batch", "Simulation.run", "Batch.run", "Simulation.linearize", "Batch.linearize", "simulate")
SLOW = ("compare", "refine", "derive", "Equations.solve")  # seconds each
NAMES = sorted({name for name, _ in PAIRS})  # of calls that take arguments


@contextlib.contextmanager
def elsewhere(folder: Path):
    """Inside, files of odd names go into a folder, and no page is compiled, which takes seconds."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with mock.patch("saltus.lab.standalone.page.program", instead_of_compiling):
            yield
    finally:
        os.chdir(before)


def try_call(rng: random.Random, folder: Path) -> None:
    """Call something with odd arguments."""
    forget()
    frequent = [name for name in OFTEN if name in NAMES]
    name = rng.choice(frequent if rng.random() < 0.5 else [n for n in NAMES if n not in SLOW])
    parameters = parameters_of(name)
    chosen = rng.sample(parameters, min(len(parameters), rng.randint(1, 3)))
    odd = {parameter: rng.choice(sorted(odd_values(name, parameter))) for parameter in chosen}
    arguments = GOOD.get(name, {}) | {parameter: ODD[value] for parameter, value in odd.items()}
    with described(f"{name} with {odd}"), elsewhere(folder):
        called(name, arguments)


def try_attribute(rng: random.Random, folder: Path) -> None:
    """Set one or two attributes to odd values, then step, run and linearize."""
    forget()
    kind = rng.choice(["Simulation", "Batch"])
    subject = odd_arguments.OBJECTS[kind]()
    names = [name for name in ATTRIBUTES if name.startswith(f"{kind}.")]
    chosen = {name: rng.choice(sorted(ODD)) for name in rng.sample(names, rng.randint(1, 2))}
    acts = rng.sample(["step", "reset", "run", "linearize"], 2)
    with described(f"{chosen}, then {acts}"), elsewhere(folder):
        for name, odd in chosen.items():
            setattr(subject, name.partition(".")[2], ODD[odd])
        for act in acts:
            getattr(subject, act)(**(GOOD.get(f"{kind}.{act}", {}) if act == "run" else {}))


def forget() -> None:
    """Begin with new simulations: what one mutant does to them is nothing to the next."""
    odd_arguments.simulation.cache_clear()
    odd_arguments.batch.cache_clear()


@contextlib.contextmanager
def described(what: str):
    """Note on errors from inside: what the mutant was."""
    try:
        yield
    except Exception as error:
        error.add_note(f"mutant: {what}")
        raise


def prepare() -> None:
    """Make the objects whose methods are called."""
    for make in odd_arguments.OBJECTS.values():
        make()


KINDS = (Kind("call", try_call, prepare), Kind("attribute", try_attribute, prepare))
