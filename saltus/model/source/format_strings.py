"""Checks of a model's text before MuJoCo's parser reads it: UTF-8, and format strings that would crash the parser.

MuJoCo 4.0 uses the name of an unknown default class as a format string in its error message, so that a "%s" in it reads
invalid memory. The text is searched as bytes, because other XML readers may find other elements than MuJoCo's.
"""

import html
import os
import re
from pathlib import Path

from saltus.errors import ModelError
from saltus.model.source.encoding import check_utf8

CLASS = re.compile(rb"""\b(?:child)?class\s*=\s*("[^"]*"|'[^']*')""")
FILE = re.compile(rb"""<\s*(?:include|model)\b[^>]*?\bfile\s*=\s*("[^"]*"|'[^']*')""")
LONGEST = 2**27  # largest size of a file that is searched (bytes)


def check_text(text: str | bytes, path: str | os.PathLike[str] | None = None) -> None:
    """Raise ModelError, with file and line, if MJCF or an included file is not UTF-8 or names a class with a "%".

    `path`: the file of the text; included files are searched for beside it.
    """
    content = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    folder = Path() if path is None else Path(path).parent
    _check(content, path, folder, set())


def check_file(path: Path) -> None:
    """Raise ModelError, with file and line, if a file or its includes are not UTF-8 or name a class with a "%"."""
    _check(_content(path), path, path.parent, set())


def _check(content: bytes, path: str | os.PathLike[str] | None, folder: Path, seen: set[Path]) -> None:
    check_utf8(content, path)
    if b"%" in content or b"&#" in content:
        for found in CLASS.finditer(content):
            name = _value(found)
            if "%" in name:
                line = content.count(b"\n", 0, found.start()) + 1
                raise ModelError(f"the class '{name}' has a '%' in its name; rename it", file=path, line=line)
    for found in FILE.finditer(content):
        # MuJoCo searches beside the first file, or beside the including one
        here = folder if path is None else Path(path).parent
        for file in {(place / _value(found)).resolve() for place in (folder, here)} - seen:
            seen.add(file)
            if file.is_file():
                _check(_content(file), file, folder, seen)


def _value(found: re.Match[bytes]) -> str:
    return html.unescape(found[1][1:-1].decode(errors="replace"))


def _content(path: Path) -> bytes:
    """The text of a file; b"" if it cannot be read, which MuJoCo reports later."""
    try:
        with open(path, "rb") as file:
            return file.read(LONGEST)
    except OSError:
        return b""
