"""The elements of a URDF file, with their places in its text.

Expat reads them without namespaces, as MuJoCo's reader does: `drake:compliant_hydroelastic` is a name like others.
"""

from __future__ import annotations

import re
import xml.parsers.expat
from collections.abc import Iterator
from dataclasses import dataclass, field

from saltus.model.source.attributes import attributes

TAG = re.compile(rb"<[^\s/>]+")
ROOT = re.compile(rb"<([A-Za-z_][\w:.-]*)")
AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
MOST = 1_000_000  # elements; each takes half a kilobyte of memory
OUTSIDE = re.compile(rb"<!--|<[?]")  # begin of what is no element
CLOSED = {b"<!--": b"-->", b"<?": b"?>"}  # its end


@dataclass(eq=False, slots=True)
class Element:
    """An element: its attributes, its place in the text (bytes; line from 1), and what it is in.

    `end`: the place of its last tag, or behind its only one.
    """

    tag: str
    attributes: dict[str, str]
    place: int
    line: int
    parent: Element | None = None
    end: int = 0
    children: list[Element] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The element's name, or the name that it refers to; "" for none."""
        return self.attributes.get("name") or self.attributes.get("reference") or ""

    @property
    def owner(self) -> str:
        """Name of the nearest element around it that has one, itself included; "" for none."""
        element: Element | None = self
        while element is not None and element.parent is not None:
            if element.name:
                return element.name
            element = element.parent
        return ""

    def all(self, tag: str) -> list[Element]:
        """The children of this kind."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child of this kind, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def number(self, attribute: str) -> float | None:
        """The value of an attribute; None if it is absent, or no number, which MuJoCo's reader reports."""
        try:
            return float(self.attributes[attribute])
        except (KeyError, ValueError):
            return None

    def extent(self, content: bytes) -> tuple[int, int]:
        """Places in its text at which the element begins and ends."""
        first = content.index(b">", attribute_places(content, self)[1])
        only = content[first - 1 : first] == b"/"
        return self.place, (first if only else content.index(b">", self.end)) + 1

    def __iter__(self) -> Iterator[Element]:
        """All elements inside, itself first, in the order of the file."""
        left: list[Element] = [self]
        while left:
            element = left.pop()
            yield element
            left += reversed(element.children)


class NotXml(Exception):
    """Text of a URDF that is not well-formed, or that has too many elements: why, and the line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def parse(content: bytes) -> Element | None:
    """The root of a URDF text; None for other texts. NotXml: it is not well-formed beyond what MuJoCo's reader allows.

    MuJoCo's reader also takes spaces before the declaration, "--" in comments, "&" in names, and text after the root.
    """
    text = AMPERSAND.sub(b"+", blanked(content))
    if not _is_urdf(text):
        return None
    roots: list[Element] = []
    inside: list[Element] = []
    count = 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST:
            raise NotXml(f"it has more than {MOST} elements", parser.CurrentLineNumber)
        parent = inside[-1] if inside else None
        place = parser.CurrentByteIndex
        element = Element(tag, attributes, place, parser.CurrentLineNumber, parent)
        (roots if parent is None else parent.children).append(element)
        inside.append(element)

    def finish(_: str) -> None:
        inside.pop().end = parser.CurrentByteIndex

    parser = xml.parsers.expat.ParserCreate("utf-8")  # regardless of the declared encoding, as in MuJoCo
    parser.StartElementHandler = begin
    parser.EndElementHandler = finish
    try:
        parser.Parse(text, True)
    except xml.parsers.expat.ExpatError as error:
        if inside or not roots:
            raise NotXml(xml.parsers.expat.ErrorString(error.code), error.lineno) from None
    return roots[0]


def is_urdf(content: bytes) -> bool:
    """Whether a text is URDF: its root is <robot>."""
    return _is_urdf(blanked(content))


def _is_urdf(text: bytes) -> bool:
    first = ROOT.search(text)
    return first is not None and first[1] == b"robot"


def blanked(content: bytes) -> bytes:
    """The text with comments and declarations replaced by as many spaces, lines kept."""
    parts, at = [], 0
    while found := OUTSIDE.search(content, at):
        end = content.find(CLOSED[found[0]], found.end())
        if end < 0:
            break
        end += len(CLOSED[found[0]])
        parts += [content[at : found.start()], re.sub(rb"[^\n]", b" ", content[found.start() : end])]
        at = end
    return b"".join([*parts, content[at:]])


def attribute_places(content: bytes, element: Element) -> tuple[dict[str, tuple[int, int]], int]:
    """Places (begin, end) of the quoted values of an element's attributes, and of the end of its last one."""
    opened = TAG.match(content, element.place)
    at = opened.end() if opened else element.place
    places: dict[str, tuple[int, int]] = {}
    for name, begin, end in attributes(content, at):
        places[name.decode(errors="replace")] = begin, end
        at = end
    return places, at
