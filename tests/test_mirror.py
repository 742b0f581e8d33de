"""Tests mirror the sources: their folders are those of the package, and each module is tested or part of one that is.

Reference: the rule in CONTRIBUTING.md, "One physics source". A module is tested if a test file has its name or imports
it; it is part of one if such a module, or in its own room a part of one, imports it.
"""

import ast
from pathlib import Path

import saltus

PACKAGE = Path(saltus.__file__).parent
TESTS = Path(__file__).parent
#: Modules that tests ask for by other doors: environments by their ids, displays by the type of what is displayed.
BY_OTHER_DOORS = ("saltus.env.bundled.", "saltus.env.registration", "saltus.notebook.state")


def name_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("saltus", *parts)).removesuffix(".__init__")


def imported_by(path):
    """Modules that a file names in its imports, or in strings, with the packages that hold them."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("saltus."):
            parts = node.value.split(".")
            names |= {".".join(parts[:k]) for k in range(2, len(parts) + 1)}
    return names


def room(name):
    return name.split(".")[1:2]


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py") if path.name != "__main__.py"}
FILES = [path for path in TESTS.rglob("test_*.py") if path.parent.name != "helpers"]


def test_folders_of_tests_are_folders_of_the_package():
    folders = {path.parent.relative_to(TESTS) for path in FILES}
    assert [str(folder) for folder in sorted(folders) if not (PACKAGE / folder).is_dir()] == []


def test_every_module_is_tested_or_is_part_of_one_that_is():
    by_tests = set().union(*(imported_by(path) for path in TESTS.rglob("*.py")))
    names = {path.stem.removeprefix("test_") for path in FILES}
    uses = {name: imported_by(path) & MODULES.keys() for name, path in MODULES.items()}
    tested = {name for name, path in MODULES.items() if path.stem in names or name in by_tests}
    assert len(tested) > len(MODULES) / 2, "the test finds what there is"
    found = tested.union(*(uses[name] for name in tested))
    while parts := {part for name in found for part in uses[name] if room(part) == room(name)} - found:
        found |= parts
    left = {name for name in MODULES.keys() - found if MODULES[name].name != "__init__.py"}
    assert [name for name in sorted(left) if not name.startswith(BY_OTHER_DOORS)] == []
