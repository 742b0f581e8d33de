"""Checks of a model's text before MuJoCo's parser reads it: UTF-8, and format strings that would crash the parser.

MuJoCo 4.0 uses the name of an unknown default class as a format string in its error message, so that a "%s" in it reads
invalid memory. The text is searched as bytes, because other XML readers may find other elements than MuJoCo's.
"""

import html
import os
import re
from collections.abc import Iterator
from pathlib import Path

from saltus.errors import ModelError
from saltus.model.source.attributes import attributes
from saltus.model.source.encoding import check_utf8

CLASS = re.compile(rb"""\b(?:child)?class\s*=\s*("[^"]*"|'[^']*')""")
INCLUDING = re.compile(rb"<\s*(?:include|model)\b")
LONGEST = 2**27  # largest size of a file that is searched (bytes)


def check_text(text: str | bytes, path: str | os.PathLike[str] | None = None) -> None:
    """Raise ModelError, with file and line, if MJCF or an included file is not UTF-8 or names a class with a "%".

    `path`: the file of the text; included files are searched for beside it.
    """
    content = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    _check(content, path, Path() if path is None else Path(path).parent)


def check_file(path: Path) -> None:
    """Raise ModelError, with file and line, if a file or its includes are not UTF-8 or name a class with a "%"."""
    _check(_content(path), path, path.parent)


def _check(content: bytes, path: str | os.PathLike[str] | None, folder: Path) -> None:
    """Check a text and all that it includes; MuJoCo searches beside the first file, or beside the including one."""
    left: list[Path] = []
    seen: set[Path] = set()
    while True:
        _check_alone(content, path)
        here = folder if path is None else Path(path).parent
        for name in _included(content):
            for file in _files(name, (folder, here)):
                if file not in seen:
                    seen.add(file)
                    left.append(file)
        if not left:
            return
        path = left.pop()
        content = _content(path)


def _check_alone(content: bytes, path: str | os.PathLike[str] | None) -> None:
    check_utf8(content, path)
    if b"%" not in content and b"&#" not in content:
        return
    for found in CLASS.finditer(content):
        name = _value(found[1])
        if "%" in name:
            line = content.count(b"\n", 0, found.start()) + 1
            raise ModelError(f"the class '{name}' has a '%' in its name; rename it", file=path, line=line)


def _included(content: bytes) -> Iterator[str]:
    """Names of the files that a text includes, those in comments too."""
    for element in INCLUDING.finditer(content):
        for attribute in attributes(content, element.end()):
            if attribute.name == b"file":
                yield _value(content[attribute.begin : attribute.end])


def _files(name: str, folders: tuple[Path, ...]) -> list[Path]:
    """The files of this name in some folders; none for a name that no file can have, which MuJoCo reports later."""
    try:
        found = {(folder / name).resolve() for folder in folders}
        return [file for file in found if file.is_file()]
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, links in a circle
        return []


def _value(quoted: bytes) -> str:
    return html.unescape(quoted[1:-1].decode(errors="replace"))


def _content(path: Path) -> bytes:
    """The text of a file; b"" if it cannot be read, which MuJoCo reports later."""
    try:
        with open(path, "rb") as file:
            return file.read(LONGEST)
    except OSError:
        return b""
