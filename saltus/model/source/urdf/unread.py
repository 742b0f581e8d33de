"""Elements and attributes of URDF files that MuJoCo's compiler does not read, and the consequences."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from saltus.model.source.mjcf import schema
from saltus.model.source.urdf.remarks import Remark, grouped
from saltus.model.source.urdf.tree import Element, parse

OTHER = "not part of URDF as MuJoCo reads it; without effect here"
CONTACTS = "here contacts have MuJoCo's defaults"
MEANING = {
    "safety_controller": "soft limits, which a robot's own controller enforces; here joints move freely up to their "
    "hard limits",
    "velocity limit": "joint velocities are not limited here",
    "limit acceleration": "joint accelerations are not limited here",
    "limit jerk": "the jerk of joints is not limited here",
    "dynamics spring_stiffness": "springs in joints, which are absent here",
    "dynamics spring_reference": "rest positions of springs in joints, which are absent here",
    "transmission": "motors and their gears; here there are no actuators but those of load's argument `actuators`, "
    "without gears",
    "calibration": "reference positions of encoders; here coordinates are exact, and zero at the joint's zero",
    "gazebo": f"read only by Gazebo: friction and stiffness of contacts, damping, sensors, plugins; {CONTACTS}",
    "ros2_control": "interfaces to hardware, and limits of commands; here joints are commanded only by a "
    "controller that you provide",
    "texture": "pictures show the material's color alone",
    "collision contact_coefficients": f"friction and stiffness of contacts; {CONTACTS}",
    "collision surface": f"friction and stiffness of contacts; {CONTACTS}",
    "contact": f"friction and stiffness of contacts; {CONTACTS}",
}
PREFIXES = {  # of names with a colon
    "drake:": "read only by Drake; without effect here",
}
SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")  # in the order in which MuJoCo looks for them
# attributes and children of elements that the compiler reads
READ: dict[str, tuple[str, str]] = {
    "robot": ("name", "link joint material mujoco"),
    "link": ("name", "inertial visual collision"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx iyy izz ixy ixz iyz", ""),
    "visual": ("name", "origin geometry material"),
    "collision": ("name", "origin geometry"),
    "geometry": ("", " ".join(SHAPES)),
    "box": ("size", ""),
    "cylinder": ("radius length", ""),
    "capsule": ("radius length", ""),
    "sphere": ("radius", ""),
    "mesh": ("filename scale", ""),
    "material": ("name", "color"),
    "color": ("rgba", ""),
    "joint": ("name type", "parent child origin axis limit dynamics mimic"),
    "parent": ("link", ""),
    "child": ("link", ""),
    "origin": ("xyz rpy", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper effort", ""),
    "dynamics": ("damping friction", ""),
    "mimic": ("joint multiplier offset", ""),
    "mujoco": ("", "compiler option size"),
}
HARMLESS = {"version"}  # attributes without a meaning for the motion, beside those of XML itself
OF_JOINTS = {"safety_controller", "calibration"}  # elements that are named after their joint


def unread(root: Element) -> list[Remark]:
    """Parts of a URDF file that are not simulated, one remark for each kind."""
    return grouped(_passed_over(root), read=False)


def dropped(text: str | bytes) -> list[Remark]:
    """Parts of a URDF text that are not simulated, by kind; empty if it is not URDF. NotXml: it is not well-formed."""
    root = parse(text if isinstance(text, bytes) else text.encode(errors="surrogatepass"))
    return [] if root is None else unread(root)


def _passed_over(root: Element) -> Iterator[tuple[str, str, str]]:
    """(kind, name, meaning) of each part that is not read, in the order of the file."""
    left = [root]
    while left:
        element = left.pop()
        attributes, children = _read(element)
        for attribute in element.attributes:
            if attribute not in attributes | HARMLESS and not attribute.startswith(("xmlns", "xml:", "xsi:")):
                yield from _attribute(element, attribute)
        for child in element.children:
            if child.tag not in children:
                yield _element(child)
        if element.tag == "geometry":
            yield from _other_shapes(element)
        left += reversed([child for child in element.children if child.tag in children])


def _read(element: Element) -> tuple[set[str], set[str]]:
    """Names of the attributes and children of an element that are read."""
    if element.parent is not None and element.parent.tag == "mujoco":
        return _mjcf()[element.tag]
    if element.tag not in READ:  # inside elements of MJCF
        return _mjcf().get(element.tag, (set(), set()))
    attributes, children = READ[element.tag]
    return set(attributes.split()), set(children.split())


@functools.cache
def _mjcf() -> dict[str, tuple[set[str], set[str]]]:
    """Attributes and children of the elements of MJCF that may stand in a URDF file, by their last name."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    attributes = {path: names for path, names in schema().items() if path.split("/")[0] in READ["mujoco"][1].split()}
    for path, names in attributes.items():
        children = {other.rpartition("/")[2] for other in attributes if other.rpartition("/")[0] == path}
        found[path.rpartition("/")[2]] = set(names), children
    return found


def _attribute(element: Element, attribute: str) -> Iterator[tuple[str, str, str]]:
    kind = f"{element.tag} {attribute}"
    if kind == "limit velocity":
        if not element.number("velocity"):  # zero, as where none is given, or no number
            return
        kind = "velocity limit"
    yield kind, element.owner, _meaning(kind, attribute)


def _element(element: Element) -> tuple[str, str, str]:
    """An element that is not read: its kind with what it is in, unless that is the robot, a link or a joint."""
    parent = element.parent
    assert parent is not None
    owner = element.owner if element.tag not in OF_JOINTS else parent.owner
    outer = parent.tag in ("robot", "link", "joint") or element.tag == "texture"
    kind = element.tag if outer else f"{parent.tag} {element.tag}"
    return kind, owner, _meaning(kind, element.tag)


def _other_shapes(geometry: Element) -> Iterator[tuple[str, str, str]]:
    found = sorted((child.tag for child in geometry.children if child.tag in SHAPES), key=SHAPES.index)
    for tag in found[1:]:
        yield f"geometry {tag}", geometry.owner, f"one shape is read of each geometry, here its {found[0]}"


def _meaning(kind: str, name: str) -> str:
    prefix = name.partition(":")[0] + ":"
    return MEANING.get(kind) or MEANING.get(name) or PREFIXES.get(prefix, OTHER)
