"""Docstrings that can be read alone: none begins with words that lean on what stands beside it."""

import ast
from pathlib import Path

import saltus

PACKAGE = Path(saltus.__file__).parent
LEANING = (
    "All that ",
    "From now on",
    "How ",
    "Of ",
    "The same ",
    "Those ",
    "What ",
    "Where ",
    "Which ",
    "Who ",
    "Whose ",
)
DEFINED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings():
    """(file and line, docstring) of all modules, classes and functions of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, DEFINED) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 1)}", text


def test_docstrings_do_not_lean_on_their_neighbours():
    found = dict(docstrings())
    assert len(found) > 5000, "the test finds what there is"
    leaning = [f"{place}: {text.splitlines()[0]}" for place, text in found.items() if text.startswith(LEANING)]
    assert not leaning, "\n".join(leaning)
