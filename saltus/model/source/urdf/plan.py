"""From a URDF text and the user's choices to what MuJoCo's compiler is given.

The text is changed at three places, without moving a line: meshes get names of their own, since MuJoCo cuts their
paths off and takes files of one name for one mesh; pictures of links are kept; links that are fixed to others stay
bodies. All else is done to MuJoCo's description (`saltus.model.source.urdf.build`), here or in another process.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from saltus.errors import ModelError, OptionError
from saltus.model.source.other_formats import XACRO
from saltus.model.source.urdf import checks
from saltus.model.source.urdf.files import Files, PackagePath, package_folders
from saltus.model.source.urdf.meshes import Triangles
from saltus.model.source.urdf.remarks import Remark, grouped
from saltus.model.source.urdf.tree import Element, attribute_places
from saltus.model.source.urdf.unread import unread

ACTUATORS = ("torque", "position", "none")
BASES = ("fixed", "floating")
APART = "not overlapping"
READABLE = (".obj", ".stl", ".msh", ".dae")  # meshes that are read, the last by `saltus.model.source.urdf.meshes`
DEFAULTS = {"discardvisual": "false", "fusestatic": "false"}  # of <compiler>, unless the file has others
CONVERT = "save it as .obj or .stl, under the same name beside it"

#: Actuators of a URDF's joints; see `saltus.load`.
Actuators = Literal["torque", "position", "none"]
#: Links that may touch each other; see `saltus.load`.
SelfCollision = bool | Literal["not overlapping"]


class Choices(NamedTuple):
    """Choices for a URDF file, as for `saltus.load`."""

    actuators: str | None = None
    base: str = "fixed"
    self_collision: bool | str = True
    package_path: tuple[Path, ...] = ()


class Joint(NamedTuple):
    """A joint that gets an actuator: name, greatest force (0 for any; N or N·m), limits (m or rad) or None."""

    name: str
    effort: float
    limits: tuple[float, float] | None


class Mesh(NamedTuple):
    """A mesh file, or None if it is missing; a link that has it.

    picture: no collision shape has it. weightless: no link's mass comes from it. given: its triangles, if MuJoCo does
    not read the file.
    """

    path: str | None
    link: str
    picture: bool
    weightless: bool
    given: Triangles | None = None


class Plan(NamedTuple):
    """Compiler input that is made of a file, and what is done with the result.

    text: the changed text. meshes: the mesh files, which the text names "mesh0x", "mesh1x", ... joints: those that get
    actuators. root: the base. integrator: whether the file chooses one. choices: the user's.
    """

    text: str
    meshes: list[Mesh]
    joints: list[Joint]
    root: str
    integrator: bool
    choices: Choices


def choices(actuators: Any, base: Any, self_collision: Any, package_path: PackagePath) -> Choices:
    """The checked choices of a user. OptionError: one is none of those that there are."""
    if actuators is not None and not (isinstance(actuators, str) and actuators in ACTUATORS):
        raise OptionError(f"actuators={actuators!r}: expected None, 'torque', 'position' or 'none'")
    if not (isinstance(base, str) and base in BASES):
        raise OptionError(f"base={base!r}: expected 'fixed' or 'floating'")
    if not isinstance(self_collision, bool) and not (isinstance(self_collision, str) and self_collision == APART):
        raise OptionError(f"self_collision={self_collision!r}: expected True, False or '{APART}'")
    return Choices(actuators, base, self_collision, package_folders(package_path))


def check_unused(chosen: Choices) -> None:
    """Raise OptionError, for a source that is not URDF, if a choice was made."""
    for name, value, default in zip(Choices._fields, chosen, Choices(), strict=True):
        if value != default:
            raise OptionError(f"{name}={value!r} is for URDF only, and this model is none")


def plan(content: bytes, root: Element, file: Path | None, chosen: Choices) -> tuple[Plan, list[Remark]]:
    """The plan for a parsed text, and remarks. ModelError: what it names cannot be found, or is no URDF yet."""
    _check_expanded(root, file)
    _check_base(root, chosen, file)
    found = unread(root) + checks.remarks(root, floating=chosen.base == "floating")
    edits, meshes, missing = _meshes(content, root, file, chosen)
    found += missing
    joints = root.all("joint")
    types = checks.types(joints)
    actuated = [
        Joint(joint.name, checks.effort(joint), checks.limits(joint))
        for joint in joints
        if joint.attributes.get("type") in checks.SCALAR and not checks.follows(joint, types)
    ]
    if chosen.actuators is None and actuated:
        meaning = "joints move by gravity, contacts and qfrc_applied alone; load with actuators='torque' or 'position'"
        found.append(Remark("no actuators", (), f"{meaning}, or with 'none' if that is meant"))
    text = _edited(content, edits + _compiler(content, root)).decode(errors="surrogateescape")
    option = next((e for part in root.all("mujoco") for e in part.all("option")), None)
    integrator = option is not None and "integrator" in option.attributes
    base = (checks.roots(root) or [""])[0]
    return Plan(text, meshes, actuated, base, integrator, chosen), found


def _check_expanded(root: Element, file: Path | None) -> None:
    """Raise ModelError if the text is still to be expanded by xacro."""
    for element in root:
        values = element.attributes.items()
        shown = next((f"{name}='{value}'" for name, value in values if "${" in value or "$(" in value), None)
        if shown is not None or element.tag.startswith("xacro:"):
            raise ModelError(
                f"{shown or 'macros'} {XACRO}",
                file=file,
                line=element.line,
                element=element.tag,
                name=element.attributes.get("name"),
            )


def _check_base(root: Element, chosen: Choices, file: Path | None) -> None:
    if chosen.base == "fixed":
        return
    names = checks.roots(root)
    if len(names) != 1:
        text = f"there are several roots ({', '.join(names)})" if names else "there is no link without a parent"
        raise ModelError(f"base='floating' needs one base, but {text}; join the links by joints", file=file)
    if names[0] == "world":
        raise ModelError(
            "base='floating': the root is the link 'world', which is the world itself; make the joint below it "
            'type="floating", or remove both',
            file=file,
        )


# ------------------------------------------------------------ edits

Edit = tuple[int, int, bytes]  # begin and end of the replaced bytes, and what replaces them


def _edited(content: bytes, edits: list[Edit]) -> bytes:
    parts, at = [], 0
    for begin, end, new in sorted(edits):
        parts += [content[at:begin], new]
        at = end
    return b"".join([*parts, content[at:]])


def _compiler(content: bytes, root: Element) -> list[Edit]:
    """Settings of <compiler> that the file leaves open."""
    mujoco = root.first("mujoco")
    compiler = mujoco.first("compiler") if mujoco is not None else None
    given = compiler.attributes if compiler is not None else {}
    new = "".join(f' {name}="{value}"' for name, value in DEFAULTS.items() if name not in given).encode()
    if compiler is not None:
        _, end = attribute_places(content, compiler)
        return [(end, end, new)]
    inside = b"<compiler" + new + b"/>"
    outer = mujoco if mujoco is not None else root
    _, end = attribute_places(content, outer)
    close = content.find(b">", end)
    if close < 0:
        return []
    whole = content[end:close].strip() == b"/"  # an element without content
    if mujoco is None:
        return [] if whole else [(close + 1, close + 1, b"<mujoco>" + inside + b"</mujoco>")]
    return [(end, close + 1, b">" + inside + b"</mujoco>")] if whole else [(close + 1, close + 1, inside)]


def _meshes(
    content: bytes, root: Element, file: Path | None, chosen: Choices
) -> tuple[list[Edit], list[Mesh], list[Remark]]:
    """Names for the mesh files, which are searched for; their paths; remarks on pictures without a file."""
    compiler = next((e for part in root.all("mujoco") for e in part.all("compiler")), None)
    given = compiler.attributes if compiler is not None else {}
    folder = Path() if file is None else file.parent
    folders = [folder, *(folder / given[key] for key in ("meshdir", "assetdir") if key in given)]
    files = Files(folders, chosen.package_path)
    pictures = given.get("discardvisual") != "true"
    places: dict[tuple[str | None, str], int] = {}
    meshes: list[Mesh] = []
    edits: list[Edit] = []
    absent: list[tuple[str, str, str]] = []
    refused: list[tuple[Element, str]] = []
    for mesh, picture in _mesh_elements(root):
        name = mesh.attributes.get("filename")
        if name is None or (picture and not pictures):
            continue
        path, reason = _readable(files, name)
        if path is None and not picture:
            refused.append((mesh, reason))
        if path is None and picture:
            absent.append(("picture without a mesh", mesh.owner, reason))
        key = (path, "" if path else name)
        at = places.setdefault(key, len(meshes))
        if at == len(meshes):
            meshes.append(Mesh(path, mesh.owner, True, True))
        weightless = meshes[at].weightless and (picture or _has_mass(mesh))
        meshes[at] = meshes[at]._replace(picture=meshes[at].picture and picture, weightless=weightless)
        value, _ = attribute_places(content, mesh)
        begin, end = value["filename"]
        edits.append((begin, end, f'"mesh{at}x{Path(path or ".obj").suffix.lower()}"'.encode()))
    if refused:
        raise _missing(refused, file)
    return edits, meshes, _pictures(absent)


def _has_mass(mesh: Element) -> bool:
    """Whether the link of a mesh has a mass of its own."""
    return any(element.tag == "link" and element.first("inertial") is not None for element in _around(mesh))


def _around(element: Element) -> list[Element]:
    """An element, and those that it is in."""
    found: list[Element] = []
    at: Element | None = element
    while at is not None:
        found.append(at)
        at = at.parent
    return found


def _mesh_elements(root: Element) -> list[tuple[Element, bool]]:
    """The meshes that MuJoCo reads, and whether each is only a picture."""
    shapes = [(e, e.tag == "visual") for link in root.all("link") for e in link.children]
    found = [(e, picture) for e, picture in shapes if e.tag in ("visual", "collision")]
    meshes = [(e.first("geometry"), picture) for e, picture in found]
    return [(mesh, picture) for e, picture in meshes if e is not None and (mesh := e.first("mesh")) is not None]


def _readable(files: Files, name: str) -> tuple[str | None, str]:
    """Path of a mesh that can be read, perhaps another format beside it; or None and the reason."""
    found = files.find(name)
    if found.path is None:
        return None, found.reason
    if found.path.suffix.lower() in READABLE:
        return os.fspath(found.path), ""
    for suffix in READABLE:
        if (other := found.path.with_suffix(suffix)).is_file():
            return os.fspath(other), ""
    return None, f"'{name}': meshes are not read from the format '{found.path.suffix}'; {CONVERT}"


def _missing(refused: list[tuple[Element, str]], file: Path | None) -> ModelError:
    """The error for shapes of links that cannot be read: all of them, shortly."""
    mesh, reason = refused[0]
    others = [element.owner for element, _ in refused[1:]]
    more = f"; also for the links {', '.join(dict.fromkeys(others))}" if others else ""
    return ModelError(f"{reason}{more}", file=file, line=mesh.line, element="collision of link", name=mesh.owner)


def _pictures(absent: list[tuple[str, str, str]]) -> list[Remark]:
    """One remark on all pictures that are not there."""
    if not absent:
        return []
    reasons = list(dict.fromkeys(reason for _, _, reason in absent))
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return grouped((kind, name, f"not drawn: {reasons[0]}{more}") for kind, name, _ in absent)
