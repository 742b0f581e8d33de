"""Joints and links of a URDF file that do not act as its reader might think.

MuJoCo's compiler reads limits and <mimic> where it can, and is silent, or writes to the terminal, where it cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from saltus.model.source.urdf.remarks import Remark, grouped
from saltus.model.source.urdf.tree import Element

LIMITED = ("revolute", "prismatic")  # types of joints with limits
SCALAR = ("revolute", "continuous", "prismatic")  # types of joints with one coordinate
DENSITY = 1000  # kg/m³, MuJoCo's for links without <inertial>
FREE = "the joint moves without limits"
REMEDY = 'write lower < upper, or type="continuous" or "fixed" for what is meant'


def remarks(root: Element, *, floating: bool = False) -> list[Remark]:
    """Remarks on a file; `floating`: its base moves freely."""
    joints = root.all("joint")
    found = [*_limits(joints), *_mimics(joints), *_roots(root), *_masses(root, floating)]
    return grouped(found)


def limits(joint: Element) -> tuple[float, float] | None:
    """Lower and upper limit of a joint (rad or m) if MuJoCo's compiler limits it; None otherwise."""
    limit = joint.first("limit")
    if limit is None or joint.attributes.get("type") not in LIMITED:
        return None
    lower, upper = limit.number("lower"), limit.number("upper")
    return (lower, upper) if lower is not None and upper is not None and lower < upper else None


def effort(joint: Element) -> float:
    """The greatest force of a joint (N or N·m); 0 for no limit."""
    limit = joint.first("limit")
    return abs((limit.number("effort") if limit is not None else None) or 0.0)


def types(joints: list[Element]) -> dict[str, str]:
    """The types of joints, by name."""
    return {joint.name: joint.attributes.get("type", "") for joint in joints}


def follows(joint: Element, types: Mapping[str, str]) -> bool:
    """Whether a joint's <mimic> is an equality constraint; `types`: of all joints, by name."""
    mimic = joint.first("mimic")
    return mimic is not None and _mimic_fault(joint, mimic, types) is None


def roots(root: Element) -> list[str]:
    """Names of the links that are no joint's child."""
    children = {child.attributes.get("link") for joint in root.all("joint") for child in joint.all("child")}
    return [link.name for link in root.all("link") if link.name not in children]


# ------------------------------------------------------------ joints


def _limits(joints: list[Element]) -> Iterator[tuple[str, str, str]]:
    for joint in joints:
        kind, name, limit = joint.attributes.get("type", ""), joint.name, joint.first("limit")
        lower = None if limit is None else limit.number("lower")
        upper = None if limit is None else limit.number("upper")
        if kind in LIMITED:
            yield from _of_limited(kind, name, lower, upper)
        elif kind == "continuous" and (lower or upper):
            yield "limits of a continuous joint", name, f'{FREE}; write type="revolute" if it has any'
        if kind == "planar" and (lower or upper or effort(joint)):
            yield "limit of a planar joint", name, f"it holds for the first direction, '{name}_TX', alone"
        if kind in ("floating", "spherical") and limit is not None and (lower or upper or effort(joint)):
            yield f"limit of a {kind} joint", name, "without effect here"
        if kind in SCALAR and limit is not None and limit.number("effort") == 0:
            yield "effort limit 0", name, "taken as no limit; write the greatest force or torque"
        dynamics = joint.first("dynamics")
        if kind == "fixed" and ((limit is not None and (lower or upper)) or _dynamic(dynamics)):
            yield "limit or dynamics of a fixed joint", name, "without effect: it does not move"
        if kind == "floating" and _dynamic(dynamics):
            yield "dynamics of a floating joint", name, "damping and friction act on translation and rotation alike"


def _of_limited(kind: str, name: str, lower: float | None, upper: float | None) -> Iterator[tuple[str, str, str]]:
    """Limits of a revolute or prismatic joint that are none for MuJoCo's compiler."""
    if lower is None and upper is None:
        yield f"{kind} joint without limits", name, f"{FREE}; {REMEDY}"
    elif lower is None or upper is None:
        missing = "lower" if lower is None else "upper"
        yield (
            f"limits without {missing}",
            name,
            f"{FREE}, also without the other limit; write {missing}, even if it is 0",
        )
    elif lower == upper:
        yield f"limits {lower:g} {upper:g}", name, f"{FREE}; {REMEDY}"
    elif lower > upper:
        yield "limits with lower > upper", name, f"{FREE}; {REMEDY}"


def _dynamic(dynamics: Element | None) -> bool:
    return dynamics is not None and bool(dynamics.number("damping") or dynamics.number("friction"))


def _mimics(joints: list[Element]) -> Iterator[tuple[str, str, str]]:
    known = types(joints)
    for joint in joints:
        mimic = joint.first("mimic")
        fault = None if mimic is None else _mimic_fault(joint, mimic, known)
        if fault is not None:
            kind, meaning = fault
            yield kind, joint.name, meaning


def _mimic_fault(joint: Element, mimic: Element, types: Mapping[str, str]) -> tuple[str, str] | None:
    """Why a <mimic> has no effect: a kind and its meaning; None if it has one."""
    kind, leader = joint.attributes.get("type", ""), mimic.attributes.get("joint", "")
    moves = "it does not move" if kind == "fixed" else "it moves independently"
    if kind not in SCALAR:
        return f"mimic on a {kind} joint", f"without effect, only joints with one coordinate follow others: {moves}"
    if leader == joint.name:
        return "mimic of itself", f"without effect: {moves}"
    if leader not in types:
        return f"mimic of '{leader}'", f"there is no such joint: {moves}"
    if types[leader] not in SCALAR:
        return f"mimic of '{leader}'", f"a {types[leader]} joint, which has no coordinate to follow: {moves}"
    return None


# ------------------------------------------------------------ links


def _roots(root: Element) -> Iterator[tuple[str, str, str]]:
    for name in roots(root)[1:]:
        yield "several roots", name, "no joint has this link as its child, so it is fixed to the world"


def _masses(root: Element, floating: bool) -> Iterator[tuple[str, str, str]]:
    """Links that move and have no <inertial>: their mass comes from their shapes."""
    moving = _moving(root, floating)
    for link in root.all("link"):
        if link.name in moving and link.first("inertial") is None and link.first("collision") is not None:
            meaning = f"mass and inertia are those of its collision shapes with {DENSITY} kg/m³; write an <inertial>"
            yield "link without inertial", link.name, meaning


def _moving(root: Element, floating: bool) -> set[str]:
    """Names of the links that a joint moves."""
    children: dict[str, list[tuple[str, bool]]] = {}
    for joint in root.all("joint"):
        parent, child = (joint.first(end) for end in ("parent", "child"))
        if parent is not None and child is not None:
            moves = joint.attributes.get("type") != "fixed"
            at = children.setdefault(parent.attributes.get("link", ""), [])
            at.append((child.attributes.get("link", ""), moves))
    found: dict[str, bool] = {}
    left = [(name, floating) for name in roots(root)]
    while left:
        name, moves = left.pop()
        if name not in found:
            found[name] = moves
            left += [(child, moves or own) for child, own in children.get(name, [])]
    return {name for name, moves in found.items() if moves}
