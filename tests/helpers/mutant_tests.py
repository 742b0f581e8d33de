"""Tests that could see a fault in a file of the package, those first that most likely do."""

import ast
import functools
import itertools
from pathlib import Path

import saltus

PACKAGE = Path(saltus.__file__).parent
TESTS = Path(__file__).resolve().parents[1]
ROOMS = ("spatial", "dynamics", "contact", "solve", "integrate", "sense")
#: Folders and files of compiled tests that are tried in plain Python, too; tests that need the compiler, or long, are
#: left out.
ALSO_PLAIN = ("spatial", "dynamics", "contact", "solve", "integrate", "sense", "simulate/analysis")
ALSO_PLAIN += ("simulate/derivatives", "simulate/test_movers.py", "simulate/test_prescribed.py")
LAST = ("test_truth_table.py",)
ONLY_WITH_ALL = ("test_bits.py",)
INTERPRETED = (
    "helpers.interpreted",
    "helpers.plain_python.plain_python",
    "saltus.number.kernels.interpret",
)  # what tests without compiled kernels import


def likely_tests(file: Path, with_all: bool = False) -> list[list[Path]]:
    """Files of tests for one of the package, whose path is relative to it, in the order in which they are tried.

    First whole worlds in plain Python, the one of its name and those that import it; then those with the names of files
    that import it, those of its folder, of its room, and the table of truth. In each part, those come first that run
    kernels as plain Python.
    """
    room, name = file.parts[0], module_name(file)
    own = TESTS / file.parent / f"test_{file.stem}.py"
    every = [test for physics in ROOMS for test in sorted((TESTS / physics).rglob("test_*.py"))]
    users = [module for module, imported in _uses().items() if name in imported]
    of_users = {TESTS / Path(*user.split(".")[1:-1], f"test_{user.split('.')[-1]}.py") for user in users}
    stages = [
        plain_tests(),
        [own, *(test for test in every if name in imports(test))],
        [test for test in every if test in of_users],
        [test for test in every if test.is_relative_to(own.parent)],
        [test for test in every if test.is_relative_to(TESTS / room)],
        [TESTS / last for last in (*LAST, *(ONLY_WITH_ALL if with_all else ()))],
    ]
    found: list[list[Path]] = []
    for stage in stages:
        new = [test for test in dict.fromkeys(stage) if test.exists() and test not in itertools.chain(*found)]
        found.append(sorted(new, key=_compiles))
    return [stage for stage in found if stage]


def function_tests(file: Path) -> list[Path]:
    """Files of tests for one of the package without kernels: of its folder, and those of its name and of its users.

    Users are files that import it, and tests that do.
    """
    name, every = module_name(file), sorted(TESTS.rglob("test_*.py"))
    users = [module for module, imported in _uses(("",)).items() if name in imported]
    of_users = {TESTS / Path(*user.split(".")[1:-1], f"test_{user.split('.')[-1]}.py") for user in users}
    folder = TESTS / file.parent if len(file.parts) > 1 else None
    return [test for test in every if test.parent == folder or test in of_users or name in imports(test)]


def plain_tests() -> list[Path]:
    """Files of whole worlds in plain Python, without compiled kernels."""
    return sorted(TESTS.glob("test_plain_*.py"))


def also_plain() -> tuple[Path, ...]:
    """Files of compiled tests that are tried in plain Python, where those that need the compiler are left out."""
    named = [TESTS / name for name in ALSO_PLAIN]
    return tuple(path for one in named for path in ([one] if one.suffix else sorted(one.rglob("test_*.py"))))


def module_name(file: Path) -> str:
    """The module of a file, which is given by its path in the package."""
    return ".".join(("saltus", *file.with_suffix("").parts))


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Names of modules, and of what is in them, that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


@functools.cache
def _uses(rooms: tuple[str, ...] = ROOMS) -> dict[str, frozenset[str]]:
    """Imports of modules in rooms, by their names."""
    files = [path for room in rooms for path in sorted((PACKAGE / room).rglob("*.py"))]
    return {module_name(path.relative_to(PACKAGE)): imports(path) for path in files}


def _compiles(test: Path) -> bool:
    return not imports(test) & {*INTERPRETED}
