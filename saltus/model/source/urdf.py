"""Elements of URDF files that MuJoCo's compiler ignores, and the consequences."""

from __future__ import annotations

import os
import xml.parsers.expat
from pathlib import Path
from typing import NamedTuple

SHOWN = 3  # number of names that are shown
MEANING = {
    "safety_controller": "soft limits, which a robot's own controller enforces; here joints move freely up to their "
    "hard limits",
    "velocity limit": "joint velocities are not limited here",
    "transmission": "motors and their gears; here there are no actuators, and forces are applied by qfrc_applied",
    "calibration": "reference positions of encoders; here coordinates are exact, and zero at the joint's zero",
    "gazebo": "read only by Gazebo: friction and stiffness of contacts, damping, sensors, plugins; here contacts "
    "have MuJoCo's defaults",
    "ros2_control": "interfaces to hardware, and limits of commands; here joints are commanded only by a "
    "controller that you provide",
}
OTHER = "not part of URDF as MuJoCo reads it; without effect here"
# elements, by their parents, that the compiler reads or that do not affect the motion
READ = {
    "robot": {"link", "joint", "material", "mujoco"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"},
}
WHERE = (["robot"], ["robot", "link"], ["robot", "joint"])
OF_JOINTS = {"safety_controller", "calibration"}  # elements that are named after their joint


class Dropped(NamedTuple):
    """An ignored part of a file: its kind, the names of its joints or elements, and the consequences."""

    kind: str
    names: tuple[str, ...]
    meaning: str

    @property
    def which(self) -> str:
        """The first few names, and the number of further ones."""
        names = ", ".join(repr(name) for name in self.names[:SHOWN] if name)
        more = f" and {len(self.names) - SHOWN} more" if len(self.names) > SHOWN else ""
        return names + more

    def __str__(self) -> str:
        return f"{self.kind} ({self.which}): {self.meaning}" if self.which else f"{self.kind}: {self.meaning}"


def dropped(text: str | bytes) -> list[Dropped]:
    """Parts of a URDF text that are not simulated, by kind; empty if it is not URDF, or not XML."""
    found: dict[str, list[str]] = {}
    try:
        for kind, name in _passed_over(text):
            found.setdefault(kind, []).append(name)
    except xml.parsers.expat.ExpatError:
        return []  # the compiler reports the error
    return [Dropped(kind, tuple(dict.fromkeys(found[kind])), MEANING.get(kind, OTHER)) for kind in sorted(found)]


def dropped_of_file(path: str | os.PathLike[str]) -> list[Dropped]:
    """Parts of a URDF file that are not simulated, by kind; empty if the file does not exist."""
    return dropped(Path(path).read_bytes()) if Path(path).is_file() else []


def warning(parts: list[Dropped]) -> str:
    """One sentence about all ignored parts."""
    return "elements of this URDF file are not simulated: " + "; ".join(map(str, parts))


def _passed_over(text: str | bytes) -> list[tuple[str, str]]:
    """(kind, name) of each ignored part, in the order of the file."""
    inside: list[tuple[str, str]] = []  # open elements with their names
    found: list[tuple[str, str]] = []

    def begin(element: str, attributes: dict[str, str]) -> None:
        path = [opened for opened, _ in inside]
        owner = inside[-1][1] if inside else ""
        own = attributes.get("name") or attributes.get("reference") or ""
        if path in WHERE and element not in READ[path[-1]]:
            found.append((element, owner if element in OF_JOINTS else own))
        if path == ["robot", "joint"] and element == "limit" and _number(attributes.get("velocity", "")):
            found.append(("velocity limit", owner))
        inside.append((element, own))

    parser = xml.parsers.expat.ParserCreate("utf-8")  # regardless of the declared encoding, as in MuJoCo
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: inside.pop()
    parser.Parse(text, True)
    return found


def _number(text: str) -> float:
    """A number of a file; zero, as for missing limits, if it is invalid."""
    try:
        return float(text)
    except ValueError:
        return 0.0
