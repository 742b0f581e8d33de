"""Files that a URDF file names: paths, packages of ROS, models of Gazebo.

Packages are found as in ROS: `package://arm_description/meshes/hand.stl` is `meshes/hand.stl` in the folder of the
package `arm_description`, which is searched for in the folders that the user gives, around the file itself, and in
ROS_PACKAGE_PATH, AMENT_PREFIX_PATH (its `share`) and, for `model://`, GAZEBO_MODEL_PATH.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from saltus.errors import OptionError

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)$", re.DOTALL)  # of at least two letters: C:// is a drive
PACKAGES = ("package", "model")  # schemes that begin with the name of a package
ROS_PATH = ("ROS_PACKAGE_PATH",)  # environment variables: folders that hold packages, or are one
AMENT_PATH = ("AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH")  # environment variables: folders with share/PACKAGE
GAZEBO_PATH = ("GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH")  # environment variables: folders that hold models
DEEPEST = 4  # levels below a folder at which packages are searched for, as in catkin's workspaces
MOST_FOLDERS = 10_000  # of such a search
NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")  # in package.xml

#: A folder or several; see `saltus.load`.
PackagePath = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def package_folders(given: object) -> tuple[Path, ...]:
    """The folders of `package_path`: one path or several. OptionError: it is neither, or one does not exist."""
    several = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(several, Iterable) or isinstance(several, bytes):
        raise OptionError(f"package_path={given!r}: expected a folder, or several")
    found = []
    for folder in several:
        if not isinstance(folder, str | os.PathLike):
            raise OptionError(f"package_path: {folder!r} is not a folder")
        place = os.path.expanduser(os.fspath(folder))
        if not os.path.isdir(place):
            raise OptionError(f"package_path: {folder!r} is not a folder")
        found.append(Path(place).absolute())
    return tuple(found)


class Found(NamedTuple):
    """A file that was searched for: its path, or None and the reason with the remedy."""

    path: Path | None
    reason: str = ""


class Files:
    """The files named by a URDF file, or text, in a folder.

    `package_path`: folders that the user gives. `folders`: where names are searched for, first the file's own folder,
    then those of its <compiler>.
    """

    def __init__(self, folders: Sequence[Path], package_path: Sequence[Path] = ()) -> None:
        self._folders = tuple(folder.absolute() for folder in folders)
        self._given = tuple(package_path)
        self._packages: dict[tuple[str, str], list[Path]] = {}
        self._below: dict[Path, list[tuple[Path, set[str]]]] = {}  # what was found in folders, searched through once

    def find(self, name: str) -> Found:
        """The file of a `filename` attribute: a path, or a URL with file, package or model."""
        parts = SCHEME.match(name)
        scheme, rest = (parts[1].lower(), parts[2]) if parts else ("", name)
        if scheme in PACKAGES:
            return self._in_package(scheme, rest, name)
        if scheme == "file":
            rest = "/" + rest.partition("/")[2] if not rest.startswith("/") else rest
            rest = rest if os.path.isfile(rest) else unquote(rest)
        elif scheme:
            return Found(None, f"'{name}' is not fetched; download it, and write its path")
        path = self._beside(rest)
        where = ", ".join(f"'{folder}'" for folder in self._folders)
        return Found(path, "" if path else f"'{name}' is not in {where}")

    def _beside(self, name: str) -> Path | None:
        """A path, relative to the folders; else a file of that name in them, as for MuJoCo."""
        name = name.replace("\\", "/")
        for file in (name, name.rpartition("/")[2]):
            for folder in self._folders:
                if os.path.isfile(folder / file):
                    return folder / file
        return None

    def _in_package(self, scheme: str, rest: str, name: str) -> Found:
        package, _, file = rest.lstrip("/").partition("/")
        for folder in (*self.package(scheme, package), *self._given):  # a folder that is given may be the package
            for written in (file, unquote(file)):
                if os.path.isfile(folder / written):
                    return Found(folder / written)
        for around in self._folders[0].parents:  # a package in a folder of another name
            if "/" in file and os.path.isfile(around / unquote(file)):
                return Found(around / unquote(file))
        beside = self._beside(unquote(file))
        if beside is not None:
            return Found(beside)
        folders = ", ".join(f"'{folder}'" for folder in self.package(scheme, package))
        if folders:
            return Found(None, f"'{name}' is not in the package's folder {folders}")
        variables = GAZEBO_PATH if scheme == "model" else ROS_PATH + AMENT_PATH[:1]
        return Found(
            None,
            f"'{name}': the package '{package}' is not found; give the folder that holds it, package_path="
            f"'.../folder', or set {' or '.join(variables)}",
        )

    def package(self, scheme: str, name: str) -> list[Path]:
        """The folders of a package, best first."""
        if (scheme, name) not in self._packages:
            self._packages[scheme, name] = list(dict.fromkeys(self._candidates(scheme, name))) if name else []
        return self._packages[scheme, name]

    def _candidates(self, scheme: str, name: str) -> Iterator[Path]:
        for folder in self._given:
            yield from self._packages_in(folder, name)
        for folder in self._folders[:1]:
            for around in (folder, *folder.parents):
                if name in _names(around):
                    yield around
                if os.path.isdir(around / name):
                    yield around / name
        for folder in _of_environment(AMENT_PATH):
            if os.path.isdir(folder / "share" / name):
                yield folder / "share" / name
        for folder in _of_environment(GAZEBO_PATH if scheme == "model" else ROS_PATH):
            yield from self._packages_in(folder, name)

    def _packages_in(self, folder: Path, name: str) -> Iterator[Path]:
        """A package that is this folder, in it or in its `share`, or, with a package.xml, deeper inside."""
        if name in _names(folder):
            yield folder
        for inside in (folder / name, folder / "share" / name):
            if os.path.isdir(inside):
                yield inside
                return
        if folder not in self._below:
            self._below[folder] = list(_packages_below(folder))
        yield from (place for place, names in self._below[folder] if name in names)


def _of_environment(names: Sequence[str]) -> list[Path]:
    texts = [os.environ.get(name, "") for name in names]
    return [Path(folder) for text in texts for folder in text.split(os.pathsep) if folder]


def _names(folder: Path) -> set[str]:
    """The names under which a folder is a package: its own, and that in its package.xml."""
    try:
        with open(folder / "package.xml", "rb") as file:
            found = NAME.search(file.read(1 << 16))
    except OSError:
        found = None
    return {folder.name} if found is None else {folder.name, found[1].decode(errors="replace")}


def _packages_below(folder: Path) -> Iterator[tuple[Path, set[str]]]:
    """Packages with a package.xml some levels below a folder, and their names; hidden folders are passed over."""
    level, seen = [folder], 0
    for _ in range(DEEPEST):
        inside: list[Path] = []
        for place in level:
            try:
                entries = [entry for entry in os.scandir(place) if entry.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            inside += sorted(Path(entry.path) for entry in entries if not entry.name.startswith("."))
        seen += len(inside)
        if seen > MOST_FOLDERS:
            return
        for place in inside:
            if os.path.isfile(place / "package.xml"):
                yield place, _names(place)
        level = inside
