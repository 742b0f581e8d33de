"""The registry of features says what the kernels do: who looks at a feature is read from their sources."""

import ast
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import saltus
from saltus.model.contact.pair_table import PAIRS
from saltus.model.feature_keys import FEATURES, PREFIXES, unknown_keys
from saltus.model.layout import model_layout

PACKAGE = Path(saltus.__file__).parent
ROOMS = ("contact", "dynamics", "integrate", "sense", "solve")
LOOKING = ("has", "only_with", "looks_at")
FACTORIES = ("only_if",)  # functions that are given the features by the table of pairs, in the room "contact"


def looks():
    """Rooms by the features that their kernels name; constants are looked up in their modules."""
    found = defaultdict(set)
    for room in ROOMS:
        for path in (PACKAGE / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            made = [node for node in tree.body if getattr(node, "name", "") in FACTORIES]
            for node in set(ast.walk(tree)) - {inner for outer in made for inner in ast.walk(outer)}:
                if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") in LOOKING):
                    continue
                for argument in node.args[node.func.id == "has" :]:  # the first one is the struct
                    if isinstance(argument, ast.Constant):
                        found[argument.value].add(room)
                    else:
                        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                        found[getattr(import_module(name), ast.unparse(argument))].add(room)
    for row in PAIRS.values():
        found[row.feature].add("contact")
    del found[""]
    return found


def test_the_registry_names_who_looks():
    declared = {key: set(feature.rooms) for key, feature in (FEATURES | PREFIXES).items()}
    found = looks()
    assert found.keys() <= declared.keys()
    assert {key: rooms for key, rooms in declared.items() if rooms != found.get(key, set())} == {}


@pytest.mark.parametrize("name", saltus.models())
def test_features_of_models_are_known(name):
    assert unknown_keys(saltus.load(name).struct().layout.features) == []


def test_an_unknown_feature_is_refused():
    with pytest.raises(ValueError, match="no such feature: wings"):
        model_layout(frozenset({"tendon", "wings"}))
