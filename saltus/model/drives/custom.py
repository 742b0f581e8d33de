"""Elements of <custom> in a model's text: tuples and numerics by name, made where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from saltus.errors import OptionError


def custom_section(root: ElementTree.Element) -> ElementTree.Element:
    """The section of custom data, made if there is none."""
    found = root.find("custom")
    return ElementTree.SubElement(root, "custom") if found is None else found


def custom_tuple(root: ElementTree.Element, title: str) -> ElementTree.Element:
    """The tuple of a name, made if there is none."""
    found = next((t for t in root.iter("tuple") if t.get("name") == title), None)
    return ElementTree.SubElement(custom_section(root), "tuple", name=title) if found is None else found


def put_curve(
    root: ElementTree.Element, title: str, name: str, points: Sequence[tuple[float, float]], given: str
) -> bool:
    """Write the points of a curve into a numeric, as `put_numbers` does."""
    return put_numbers(root, title, name, [x for point in points for x in point], given)


def put_numbers(root: ElementTree.Element, title: str, name: str, values: Sequence[float], given: str) -> bool:
    """Write numbers into a numeric; whether it was declared before, by a tuple whose name ends with `title`.

    Raises:
        OptionError: the numeric is one of the model's own.
    """
    data = " ".join(repr(float(x)) for x in values)
    declared = [e for t in root.iter("tuple") if (t.get("name") or "").endswith(title) for e in t]
    for old in [e for section in root.iter("custom") for e in section.iter("numeric") if e.get("name") == name]:
        if ("numeric", name) not in [(e.get("objtype"), e.get("objname")) for e in declared]:
            raise OptionError(
                f"{given}: the model has a numeric {name!r} of its own, and the drive writes one; rename it"
            )
        old.set("data", data)
        old.set("size", str(len(values)))
        return True
    ElementTree.SubElement(custom_section(root), "numeric", name=name, data=data)
    return False
