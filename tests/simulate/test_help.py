"""What editors, `help` and type checkers are told: signatures with types, docstrings, a package that is typed.

Reference: PEP 561 for the marker; Python's own `inspect` and `help`.
"""

import inspect
import pydoc
from importlib import resources

import pytest

import saltus

CLASSES = [saltus.Simulation, saltus.Batch, saltus.Trajectory]


def methods(kind):
    """Public methods of a class that are its own."""
    return [f for name, f in vars(kind).items() if inspect.isfunction(f) and not name.startswith("_")]


def test_the_package_says_that_it_is_typed():
    assert resources.files("saltus").joinpath("py.typed").is_file()


@pytest.mark.parametrize("method", [f for kind in CLASSES for f in methods(kind)], ids=lambda f: f.__qualname__)
def test_public_methods_say_what_they_take_and_give(method):
    signature = inspect.signature(method)
    parameters = list(signature.parameters.values())[1:]
    assert [p.name for p in parameters if p.annotation is inspect.Parameter.empty] == []
    assert signature.return_annotation is not inspect.Signature.empty
    assert inspect.getdoc(method)


def test_help_of_run_is_whole():
    shown = pydoc.plain(pydoc.render_doc(saltus.Simulation("pendulum").run))
    for name in list(inspect.signature(saltus.Simulation.run).parameters)[1:]:
        assert f"`{name}`" in shown and f"{name}: " in shown


def test_simulate_says_its_options():
    options = inspect.signature(saltus.simulate).parameters
    assert {"contact", "integrator", "certify"} <= options.keys()
    assert inspect.Parameter.VAR_KEYWORD not in {p.kind for p in options.values()}
