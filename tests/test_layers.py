"""Layers where the linter of imports does not see: modules that are named in strings.

Reference: the layers in pyproject.toml. A module that another one names in a string, to import it late, is in the same
room or in a lower one. What higher rooms give to lower ones goes by way of `saltus.offered`.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import saltus
from saltus import composition, offered

PACKAGE = Path(saltus.__file__).parent
CONTRACTS = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
LAYERS = next(c["layers"] for c in CONTRACTS["contracts"] if c["id"] == "layers")
HEIGHT = {room: -k for k, layer in enumerate(LAYERS) for room in layer.split(" | ")}
#: They run modules that they are given, or begin a program of their own: what they name is data.
NAMED_BY_USERS = {"number/compile/worker.py", "moved.py"}
MODULE = re.compile(r"saltus\.(\w+)(?:\.\w+)*\.?")


def names_in_strings():
    """(file, room that a string names) of all strings that are names of modules, or begin one."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if str(path.relative_to(PACKAGE)) in NAMED_BY_USERS or "import_module" not in ast.dump(tree):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found = MODULE.fullmatch(node.value)
                if found and (found[1] in HEIGHT):
                    yield path, found[1]


def test_modules_named_in_strings_are_not_above():
    found = list(names_in_strings())
    assert len(found) > 10, "the test finds what there is"
    above = []
    for path, room in found:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if own != "__init__" and HEIGHT[room] > HEIGHT[own]:
            above.append(f"{path.relative_to(PACKAGE)} names saltus.{room}")
    assert not above


def test_what_is_offered_is_what_lower_rooms_ask_for():
    asked = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "offered":
                asked.add(ast.literal_eval(node.args[0]))
    made = {node.name for node in ast.parse(Path(composition.__file__).read_text()).body if hasattr(node, "name")}
    assert asked == made == {"make_page", "html_of", "batch", "declare_semantics"}
    for name in asked:
        assert callable(offered.offered(name))
    with pytest.raises(KeyError):
        offered.offered("nothing")
