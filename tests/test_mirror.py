"""Tests mirror the sources: rooms have their tests, test modules names that say what they test, modules a test.

Reference: the rule in CONTRIBUTING.md, "One physics source".
"""

import ast
import gc
import re
from functools import cache
from pathlib import Path

import pytest

import saltus

PACKAGE = Path(saltus.__file__).parent
TESTS = Path(__file__).parent
#: {module or folder: the test that reaches it through the public interface that it serves}, where no test of its room
#: imports it or a module that does: compiled loops of a higher room call it.
SERVED = {
    "saltus.contact.event.active_rows": "contact/event/test_contact_matching.py",
    "saltus.contact.mujoco.rays": "sense/test_ray.py",
    "saltus.contact.rows.acting": "contact/rows/test_adhesive_contacts.py",
    "saltus.dynamics.awake.trees": "solve/sleep/test_calls.py",
    "saltus.dynamics.flex.mean_dihedrals": "integrate/implicit/test_energy_momentum.py",
    "saltus.dynamics.flex.mean_forces": "integrate/implicit/test_energy_momentum.py",
    "saltus.dynamics.flex.tangent": "integrate/test_implicit_flex.py",
    "saltus.dynamics.flex.twist_tangent": "dynamics/flex/test_twist.py",
    "saltus.dynamics.rod_frames": "dynamics/flex/test_twist.py",
    "saltus.dynamics.zero_order_hold": "simulate/derivatives/test_linearize.py",
    "saltus.integrate.event.free_steps": "integrate/event/test_event_driven.py",
    "saltus.integrate.work": "simulate/running/test_work_ledger.py",
    "saltus.number.intrinsics.samples": "draw/raster/test_cover.py",
    "saltus.number.python.local_arrays": "dynamics/users/test_rewriting.py",
    "saltus.record.batch_recording": "simulate/running/test_batch_run.py",
    "saltus.record.comparison": "study/test_compare.py",
    "saltus.record.plot.comparison": "study/test_compare.py",
    "saltus.solve.acceleration": "solve/test_against_mujoco.py",
    "saltus.solve.constrain": "solve/test_against_mujoco.py",
    "saltus.solve.event.overlap": "simulate/engine/events/test_located.py",
    "saltus.solve.implicit": "integrate/implicit/test_discrete.py",
    "saltus.solve.inverse": "simulate/analysis/test_inverse_forces.py",
    "saltus.solve.sleep": "solve/sleep/test_against_mujoco.py",
    "saltus.solve.soft.choice": "solve/soft/test_iteration_limits.py",
    "saltus.solve.soft.discrete_rows": "integrate/implicit/test_discrete.py",
    "saltus.solve.stepping": "integrate/fixed/test_moreau_jean.py",
    "saltus.terminal.inline_page": "notebook/test_page.py",
}


def name_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("saltus", *parts)).removesuffix(".__init__")


def room(name):
    return name.split(".")[1:2]


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py") if path.name != "__main__.py"}
FILES = [path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0] != "helpers"]
HELPERS = {".".join(path.relative_to(TESTS).with_suffix("").parts): path for path in (TESTS / "helpers").rglob("*.py")}
PUBLIC = {f"saltus.{name}": home for name, home in vars(saltus)["_HOME"].items()} | {
    "saltus.__version__": "saltus.version"
}


@pytest.fixture(scope="module", autouse=True)
def _no_collection_of_garbage():
    """Syntax trees hold no cycles: looking for some in them would take five times as long as parsing."""
    gc.disable()
    yield
    gc.enable()


@cache
def imported_by(path):
    """Modules that a file names: in imports, in strings, as public names of the package."""
    names, beginnings, strings = set(), set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "saltus":
            names.add(f"saltus.{node.attr}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("saltus."):
            parts = node.value.split(".")
            names |= {".".join(parts[:k]) for k in range(2, len(parts) + 1)}
            beginnings |= {node.value} if node.value.endswith(".") else set()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    names |= {
        begin + string for begin in beginnings for string in strings
    }  # as in import_module(f"saltus.room.{name}")
    return frozenset(PUBLIC.get(name, name) for name in names)


def named_by(files):
    """Modules that files of tests name, or helpers that they import do."""
    names, seen, files = set(), set(), list(files)
    while files:
        path = files.pop()
        if path not in seen:
            seen.add(path)
            names |= imported_by(path)
            files += [HELPERS[name] for name in imported_by(path) if name in HELPERS]
    return names & MODULES.keys()


def reached(start, within=None):
    """Modules that some modules import, directly or by way of others; only those of one room, if it is named."""
    found, new = set(), {name for name in start if within is None or room(name) == within}
    while new:
        found |= new
        parts = {part for name in new for part in imported_by(MODULES[name]) if part in MODULES}
        new = {name for name in parts if within is None or room(name) == within} - found
    return found


@cache
def untested():
    """Modules that no test of their room names or is named after, nor a module of the room that one does."""
    left = set()
    for own in {tuple(room(name)) for name in MODULES if room(name)}:
        files = (TESTS / own[0]).rglob("*.py") if (PACKAGE / own[0]).is_dir() else TESTS.glob("*.py")
        mine = {name: path for name, path in MODULES.items() if room(name) == list(own)}
        named = {n for n, p in mine.items() if (TESTS / p.relative_to(PACKAGE)).with_name(f"test_{p.name}").exists()}
        found = reached(named | named_by(files), list(own))
        left |= {name for name, path in mine.items() if path.name != "__init__.py"} - found
    return left


def words_that_say_nothing(path):
    """Words of the name of a test module that is not named after a module or folder of its room, nor after a subject.

    A subject is what the first paragraph of the module names: each word of the name, or what begins like it, is there.
    """
    folder = PACKAGE / path.parent.relative_to(TESTS)
    name, tree = path.stem.removeprefix("test_"), ast.parse(path.read_text(encoding="utf-8"))
    if folder != PACKAGE and any(p.stem == name for p in folder.rglob("*")):
        return []
    if folder == PACKAGE and ((folder / f"{name}.py").exists() or (folder / name).is_dir()):
        return []
    said = re.findall(r"\w+", (ast.get_docstring(tree) or "").split("\n\n")[0].lower().replace("_", " "))
    return [word for word in name.split("_") if not any(s.startswith(word[: max(4, len(word) - 3)]) for s in said)]


def test_folders_of_tests_are_folders_of_the_package():
    folders = {path.parent.relative_to(TESTS) for path in FILES}
    assert [str(folder) for folder in sorted(folders) if not (PACKAGE / folder).is_dir()] == []


def test_names_of_test_modules_say_what_they_test():
    assert len(FILES) > 500, "the test finds what there is"
    assert [path.name for path in FILES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []
    wrong = {str(path.relative_to(TESTS)): words for path in FILES if (words := words_that_say_nothing(path))}
    assert wrong == {}, "name it after a module of its room, or after a subject that its first paragraph names"


def test_every_module_is_tested_in_its_room():
    left = untested()
    assert 20 < len(left) < len(MODULES) / 10, "the test finds what there is"
    served = {name for name in left if any(f"{name}.".startswith(f"{one}.") for one in SERVED)}
    assert sorted(left - served) == [], "no test of the room imports it: write one, or name in SERVED the one it serves"


@pytest.mark.parametrize("module", SERVED)
def test_modules_that_serve_the_public_interface_are_reached_by_it(module):
    mine = {name for name in untested() if f"{name}.".startswith(f"{module}.")}
    assert mine, "a test of its room imports it: its row can go"
    assert mine <= reached(named_by([TESTS / SERVED[module]]))
