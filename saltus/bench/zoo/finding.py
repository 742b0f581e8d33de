"""Search for model files in folders, and for those that are parts of others."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from saltus.errors import OptionError

SUFFIXES = (".xml", ".mjcf")


@dataclass(frozen=True)
class ModelFile:
    """A file, and the name that it has in tables: its path from the folder that was given, that folder's name first.

    `root`: tag of its root element, None if it is not well-formed XML. `includes`: the files that it names in
    `<include>` and `<model>`.
    """

    name: str
    path: Path
    root: str | None
    includes: tuple[str, ...]


def find_files(places: Sequence[Path], patterns: Sequence[str] = ()) -> list[ModelFile]:
    """MJCF files in folders, and files that are given themselves, by name.

    `patterns`: globs; a file is taken if its name in tables or its bare name matches one of them. OptionError: a place
    does not exist, or nothing is found.
    """
    found: dict[Path, ModelFile] = {}
    for place in places:
        if not place.exists():
            raise OptionError(f"no such file or folder: {place}")
        base = place.resolve().parent
        files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.suffix.lower() in SUFFIXES)
        for file in files:
            path = file.resolve()
            if path not in found:
                name = path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name
                found[path] = ModelFile(name, path, *_outline(path))
    chosen = [f for f in found.values() if _matches(f, patterns)]
    if not chosen:
        what = f" that matches {' or '.join(map(repr, patterns))}" if patterns else ""
        raise OptionError(f"no MJCF file (.xml, .mjcf){what} in {', '.join(map(str, places))}")
    return chosen


def _matches(file: ModelFile, patterns: Sequence[str]) -> bool:
    names = (file.name, file.path.name)
    return not patterns or any(fnmatch.fnmatch(name, pattern) for name in names for pattern in patterns)


def _outline(path: Path) -> tuple[str | None, tuple[str, ...]]:
    """The root's tag and the files that are included."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError, ValueError):
        return None, ()
    parts = (e.get("file") for e in root.iter() if e.tag in ("include", "model"))
    return root.tag, tuple(file for file in parts if file)


def parts_of_others(files: Iterable[ModelFile]) -> set[Path]:
    """The files that others include.

    MuJoCo seeks an included file beside the model's file or beside the file that names it, so a file counts whose
    path ends in what is named, without "..".
    """
    files = list(files)
    ends: dict[str, list[tuple[str, ...]]] = {}
    for file in files:
        for included in file.includes:
            parts = tuple(p for p in PurePosixPath(included.replace("\\", "/")).parts if p not in ("..", "."))
            if parts:
                ends.setdefault(parts[-1], []).append(parts)
    return {f.path for f in files if any(f.path.parts[-len(parts) :] == parts for parts in ends.get(f.path.name, ()))}
