"""What one sees in a terminal while waiting."""

import warnings
from importlib import import_module
from pkgutil import walk_packages

import pytest

import saltus
from saltus.errors import SaltusWarning
from saltus.number.kernels import Entry
from saltus.terminal import screen


def test_compiling_is_announced(capsys):
    with screen.Activity() as activity:
        activity._on_compile("entry_advance_euler", 1, None)
        activity._on_compile("inner", 2, None)
        activity._on_compile(None, 0, None)
        activity._on_compile("entry_energy", 1, 7.9)
        activity._on_compile(None, 0, None)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("compiling (once per machine): the integrator euler ... ")
    assert second.startswith("compiling (once per machine, about 8 s): energy ... ")
    assert [what for what, _ in activity.compiled] == ["the integrator euler", "energy"]


@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        ("entry_advance_rk4", "the integrator rk4"),
        ("entry_batch_euler", "batch, euler"),
        ("entry_energy", "energy"),
        ("f", "f"),
    ],
)
def test_kernels_have_names_for_people(kernel, what):
    assert screen.purpose(kernel) == what


def test_warnings_of_saltus_are_held_back_and_others_are_not():
    with pytest.warns(UserWarning, match="theirs") as others, screen.collected_warnings() as found:
        for text in ("ours", "ours", "another"):
            warnings.warn(text, SaltusWarning, stacklevel=1)
        warnings.warn("theirs", UserWarning, stacklevel=1)
    assert found == ["ours", "another"]
    assert [str(w.message) for w in others] == ["theirs"]


def test_the_first_few_of_many_are_named():
    assert screen.some("abcd") == "a, b, c, d" and screen.some("abcdef") == "a, b, c, d and 2 more"
    facts = screen.ignored_facts(["contact: geom a", "limit: joint j", "contact: geom b"])
    assert facts == [("ignored", "contact: geom a, geom b"), ("ignored", "limit: joint j")]


def test_whatever_is_compiled_is_announced_by_what_it_is_for():
    """Not by the name of a function: every entry that is a module's own has a purpose."""
    rooms = ("simulate", "record", "study", "dynamics", "draw", "control")
    modules = [
        module.name for module in walk_packages(saltus.__path__, "saltus.") if module.name.split(".")[1] in rooms
    ]
    entries = [value for name in modules for value in vars(import_module(name)).values() if isinstance(value, Entry)]
    names = {entry.name for entry in entries}
    assert {"sample", "difference", "record_events"} <= names
    assert [name for name in sorted(names) if screen.purpose(name) == name and name != "energy"] == []
