"""Places in which MuJoCo's compiler looks for the files of a model that came without their folders."""

from __future__ import annotations

import html
import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from saltus.errors import ModelError
from saltus.model.source.urdf.tree import blanked

MOST_PLACES = 1000
MOST_COPIES = 64 * 2**20  # bytes of all files at their places
MOST_VALUES = 100_000  # of all models, as often as they are included
TAG = re.compile(rb"<\s*([\w:.-]+)")
NAMING = re.compile(rb"""\b(file\w*|meshdir|texturedir|assetdir|strippath)\s*=\s*("[^"]*"|'[^']*')""")
INCLUDED, ATTACHED = "include", "model"  # elements whose files are models, beside the model
OF_TEXTURES = "texture"  # the element whose files are in texturedir; those of others are in meshdir
LONGEST = 255  # bytes of one name in a path


class Value(NamedTuple):
    """A value of an element that names a file or a folder: the element, the attribute, the value."""

    element: str
    attribute: str
    value: str


def is_safe(name: str) -> bool:
    """Whether a name with slashes is that of a file inside a folder, on every system."""
    parts = name.split("/")
    return bool(name) and not name.startswith("/") and ".." not in parts and not any(c in name for c in "\\:\0")


def values(text: bytes) -> Iterator[Value]:
    """The names of files and folders in a model's text, comments left out, in the order of the text."""
    text, element, at = blanked(text), "", 0
    for found in NAMING.finditer(text):
        begin = text.rfind(b"<", at, found.start())  # not before the last value, so that each byte is searched once
        if begin >= 0 and (tag := TAG.match(text, begin)):
            element = tag[1].decode(errors="replace")
        at = found.end()
        yield Value(element, found[1].decode(), html.unescape(found[2][1:-1].decode(errors="replace")))


def references(text: bytes) -> set[str]:
    """Names of the files that a model names, without folders."""
    return {posixpath.basename(found.value) for found in values(text) if found.attribute.startswith("file")}


def places(main: str, files: Mapping[str, bytes]) -> dict[str, str]:
    """Names of files, by the places where the compiler looks for them and finds none.

    Each name in a model has one place; one in an included file has two, since for some elements the compiler looks only
    beside the included file.

    `main`: name of the model in `files`, which are those that there are, by name. ModelError: there are more places, or
    larger files for them, than any model needs.
    """
    layout = _Layout(files)
    layout.look_at(main)
    return layout.found


class _Layout:
    """The places of files, found by a walk through models from the main one."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.named = {posixpath.basename(name): name for name in files}
        self.found: dict[str, str] = {}
        self.size = 0  # of the files at places (bytes)
        self.read: dict[str, list[Value]] = {}  # what each file names
        self.seen = 0  # number of names

    def look_at(self, main: str) -> None:
        left, seen = [main], {main}
        while left:
            for place in self._of_model(left.pop()):
                if place not in seen:
                    seen.add(place)
                    left.append(place)

    def _of_model(self, place: str) -> list[str]:
        """Find the files of a model at a place, in which others are included; return the places of attached models."""
        folder = posixpath.dirname(place)
        folders = dict.fromkeys(("meshdir", "texturedir", "strippath"), "")
        given: list[tuple[Value, str | None]] = []
        for found, here in self._with_includes(place, folder):
            if found.attribute == "assetdir":
                folders["meshdir"] = folders["texturedir"] = found.value
            elif found.attribute in folders:
                folders[found.attribute] = found.value
            else:
                given.append((found, here))
        attached: list[str | None] = []
        for found, here in given:
            if found.element == ATTACHED:
                attached.append(self._put(found.value, (folder, here)))
            else:
                inside = folders["texturedir" if found.element == OF_TEXTURES else "meshdir"]
                name = posixpath.basename(found.value) if folders["strippath"] == "true" else found.value
                self._put(posixpath.join(inside, name), (folder, here))
                if here is not None:  # of some elements in included files, the compiler looks beside that file alone
                    self._put(name, (here, posixpath.join(folder, inside)))
        return [place for place in attached if place is not None]

    def _with_includes(self, place: str, folder: str) -> Iterator[tuple[Value, str | None]]:
        """The values in a model in the order in which they are read, each with the folder of an included file or None.

        `folder`: that of the model. Each file is included once, as in MuJoCo.
        """
        inside: list[tuple[Iterator[Value], str | None]] = [(iter(self._values(place)), None)]
        seen = {place}
        while inside:
            left, here = inside[-1]
            found = next(left, None)
            if found is None:
                inside.pop()
            elif found.element != INCLUDED:
                yield found, here
            elif (file := self._put(found.value, (folder, here))) is not None and file not in seen:
                seen.add(file)
                inside.append((iter(self._values(file)), posixpath.dirname(file)))

    def _put(self, name: str, folders: tuple[str, str | None]) -> str | None:
        """The place of a file that is named in a model; None if there is no such file.

        `folders`: where it is searched for. It is put into the first one, unless it came in one of them.
        """
        places = [posixpath.normpath(posixpath.join(folder, name)) for folder in folders if folder is not None]
        if (there := next((place for place in places if place in self.files), None)) is not None:
            return there
        place, came = places[0], self.named.get(posixpath.basename(name))
        if came is None or not is_safe(place) or any(len(part.encode()) > LONGEST for part in place.split("/")):
            return None
        if place not in self.found:
            self.found[place] = came
            self.size += len(self.files[came])
            self._check(len(self.found) <= MOST_PLACES and self.size <= MOST_COPIES)
        return place

    def _values(self, place: str) -> list[Value]:
        """Values in the file at a place that name other files."""
        name = self.found.get(place, place)
        if name not in self.read:
            self.read[name] = list(itertools.islice(values(self.files[name]), MOST_VALUES + 1))
        self.seen += len(self.read[name])
        self._check(self.seen <= MOST_VALUES)
        return self.read[name]

    def _check(self, few: bool) -> None:
        if not few:
            raise ModelError(
                "the model looks for its files at too many other places; upload the folder in which they are in theirs"
            )
