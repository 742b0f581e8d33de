"""Detection of model text that is not UTF-8, which MuJoCo accepts."""

from __future__ import annotations

import os
import re

import mujoco

from saltus.errors import ModelError
from saltus.model.source.attributes import cut_off

TAG = re.compile(rb"<\s*([\w:.-]+)")


def check_names(m: mujoco.MjModel, file: str | os.PathLike[str] | None = None) -> None:
    """Raise ModelError if a name in a compiled model is not UTF-8."""
    for name in m.names.split(b"\0"):
        try:
            name.decode()
        except UnicodeDecodeError:
            shown = name.decode(errors="backslashreplace")
            raise ModelError(f"the name '{shown}' is not UTF-8; rename it", file=file) from None


def check_utf8(content: bytes, file: str | os.PathLike[str] | None = None) -> None:
    """Raise ModelError, with line, element and attribute, if the text of a file is not UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        tag, attribute = before[before.rfind(b"<") :], None
        found = TAG.match(tag)
        element = found[1].decode(errors="backslashreplace") if found and b">" not in tag else None
        if found and element is not None and (named := cut_off(tag, found.end())):
            attribute = named.decode(errors="backslashreplace")
        where = "a comment" if before.rfind(b"<!--") > before.rfind(b"-->") else attribute or "this line"
        raise ModelError(
            f"{where} contains the byte 0x{content[error.start]:02x}, which is not UTF-8; save the file as UTF-8",
            file=file,
            line=before.count(b"\n") + 1,
            element=element if where != "a comment" else None,
        ) from None
