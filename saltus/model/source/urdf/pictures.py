"""The pictures of links (<visual>) that MuJoCo's compiler refuses: only these are left out of a URDF text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from saltus.model.source.urdf.remarks import Remark
from saltus.model.source.urdf.tree import NotXml, parse

Fault = Callable[[str], str | None]  # why the compiler refuses a text; None: it does not


class Picture(NamedTuple):
    """A <visual>: the link that it is of, and where it begins and ends in the text (bytes)."""

    link: str
    begin: int
    end: int


def pictures(content: bytes) -> list[Picture]:
    """The pictures of all links, in the order of the text."""
    try:
        root = parse(content)
    except NotXml:
        root = None
    links = [] if root is None else root.all("link")
    return [Picture(link.name, *visual.extent(content)) for link in links for visual in link.all("visual")]


def without_faulty(text: str, fault: Fault) -> tuple[str, list[Remark]]:
    """A refused text without the pictures that are to blame, and a remark on each.

    They are found by halving: a group of pictures that the compiler takes is not looked at again. If something else is
    to blame too, the text has no pictures: it is refused for that.
    """
    content = text.encode(errors="surrogateescape")
    there = pictures(content)
    if fault(bare := _without(content, there)) is not None:
        return bare, []
    faulty: dict[Picture, str] = {}
    groups = [there]
    while groups:
        group = groups.pop()
        others = set(there).difference(group)
        reason = fault(_without(content, others))
        if reason is not None and len(group) == 1:
            faulty[group[0]] = reason
        elif reason is not None:
            groups += [group[len(group) // 2 :], group[: len(group) // 2]]
    left = _without(content, faulty)
    if (reason := fault(left)) is not None:  # pictures that are taken alone but not together
        return bare, [Remark("pictures of links", (), f"not drawn: {reason}")]
    return left, [Remark("picture", (picture.link,), f"not drawn: {reason}") for picture, reason in faulty.items()]


def _without(content: bytes, left_out: Iterable[Picture]) -> str:
    """The text with these pictures replaced by spaces, lines kept, so that errors name the same lines."""
    parts, at = [], 0
    for picture in sorted(left_out, key=lambda picture: picture.begin):
        gone = content[picture.begin : picture.end]
        parts += [content[at : picture.begin], b"\n".join(b" " * len(line) for line in gone.split(b"\n"))]
        at = picture.end
    return b"".join([*parts, content[at:]]).decode(errors="surrogateescape")
