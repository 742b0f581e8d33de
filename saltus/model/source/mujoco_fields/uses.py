"""Fields of the installed MuJoCo, their rows in the table, and the rooms of Saltus that read them.

Readers are found in the source text, so that they are those of today: attributes (`m.body_mass`), words in strings
("mass inertia", where the file also builds names with "body_" before them), and no docstrings.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import mujoco

from saltus.model.source.mujoco_fields.table import TABLE, Fields

OWNERS = {"MjModel": mujoco.MjModel, "MjOption": mujoco.MjOption, "MjStatistic": mujoco.MjStatistic}
HOLDERS = {"MjOption": "opt", "MjStatistic": "stat"}  # names of what holds the fields in a model
# rooms in which motion and readings of sensors are computed, lowest first
MOTION = ("model", "dynamics", "contact", "solve", "integrate", "sense", "simulate")
# files about fields that read none for a computation
ABOUT = ("model/source/", "model/model_fields.py")


class Field(NamedTuple):
    """One field: its owner, such as "MjModel", its name, and its row of TABLE."""

    owner: str
    name: str
    row: Fields


class _Words(NamedTuple):
    """Names in one file; `parts`: words of strings and names of annotated fields, which may be ends of names."""

    attributes: frozenset[str]
    held: frozenset[str]  # "opt.cone": attributes of holders
    words: frozenset[str]  # of strings
    parts: frozenset[str]
    prefixes: frozenset[str]  # beginnings of f-strings; "" for f"{kind}_{name}"


def existing(owner: str) -> list[str]:
    """Names of all fields of a class of the installed MuJoCo."""
    return sorted(name for name, value in vars(OWNERS[owner]).items() if isinstance(value, property) and name[0] != "_")


def fields() -> tuple[list[Field], list[str]]:
    """All fields of the installed MuJoCo with their rows, and faults of the table as "MjModel.name: fault"."""
    rows: dict[tuple[str, str], list[Fields]] = {}
    for row in TABLE:
        for name in row.names.split():
            rows.setdefault((row.owner, row.prefix + name), []).append(row)
    found, faults = [], []
    for owner in OWNERS:
        for name in existing(owner):
            of = rows.pop((owner, name), [])
            found += [Field(owner, name, row) for row in of[:1]]
            if len(of) != 1:
                faults.append(f"{owner}.{name}: {'no row' if not of else 'more than one row'}")
    return found, faults + [f"{owner}.{name}: MuJoCo {mujoco.__version__} has no such field" for owner, name in rows]


def readers(owner: str, name: str) -> list[str]:
    """Rooms of Saltus, such as "contact", with a file that reads the field; in alphabetical order.

    Where no file has the whole name: those with files that build names of this kind, and have the rest of it.
    """
    files = _files()
    rooms = {file.split("/")[0].removesuffix(".py") for file, words in files.items() if _names(words, owner, name)}
    if not rooms & set(MOTION):
        rooms |= {file.split("/")[0] for file, words in files.items() if _builds(words, name)}
    return sorted(rooms)


def named_in(owner: str, name: str) -> list[str]:
    """Files of Saltus, by their path in the package, with the whole name of the field."""
    return [file for file, words in _files().items() if _names(words, owner, name)]


def _names(file: _Words, owner: str, name: str) -> bool:
    if holder := HOLDERS.get(owner):
        return f"{holder}.{name}" in file.held
    return name in file.attributes or ("_" in name and name in file.words)


def _builds(file: _Words, name: str) -> bool:
    """Whether a file has "geom_" of f"geom_{name}", or f"{kind}_{name}", and the rest of the name somewhere."""
    prefix, _, rest = name.partition("_")
    return rest in file.parts and (f"{prefix}_" in file.prefixes or "" in file.prefixes)


@cache
def _files() -> dict[str, _Words]:
    """Names in each file of Saltus, by its path in the package."""
    root = Path(__file__).parents[3]
    paths = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.py"))}
    return {
        name: _mentioned(path.read_text(encoding="utf-8")) for name, path in paths.items() if not name.startswith(ABOUT)
    }


def _mentioned(text: str) -> _Words:
    attributes, held, words, annotated, prefixes = set(), set(), set(), set(), set()
    nodes = list(ast.walk(ast.parse(text)))
    described = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            attributes.add(node.attr)
            held |= {f"{holder}.{node.attr}" for holder in HOLDERS.values() if _is_called(node.value, holder)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            words |= set(re.findall(r"\w+", node.value))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            annotated.add(node.target.id)
        elif isinstance(node, ast.JoinedStr):
            prefixes |= _beginning(node)
    return _Words(*map(frozenset, (attributes, held, words, words | annotated, prefixes)))


def _beginning(node: ast.JoinedStr) -> set[str]:
    """The text before the first value: "geom_" of f"geom_{name}", "" of f"{kind}_{name}", none of others."""
    first, *others = [value.value if isinstance(value, ast.Constant) else "" for value in node.values[:2]]
    return {str(first)} if first or others == ["_"] else set()


def _is_called(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == name) or (isinstance(node, ast.Name) and node.id == name)
